# dfc --format: the canonical layout of files. That it loses nothing is shown on random programs by unit-print; how it looks, by unit-format.
cp "$DF_SOURCE"/examples/*/*.df .
mkdir kept && cp ./*.df kept/

# The examples are in this layout; to check changes nothing.
expect examples-are-formatted 0 '^$' "$DFC" --format --check ./*.df
for file in *.df; do cmp -s "$file" "kept/$file" || fail "check-changes-nothing-$file" "it differs"; done
rm -r kept
awk '/^```$/ && !n++ { block = 1; next } /^```$/ { block = 0 } block' "$DF_SOURCE/README.md" > readme.df
awk '/^```$/ && !n++ { block = 1; next } /^```$/ { block = 0 } block' "$DF_SOURCE/docs/language.md" > language.df
expect pages-are-formatted 0 '^$' "$DFC" --format --check readme.df language.df
rm ./*.df

# The right programs of the tests, in make check every fourth: the same tree, and formatted it stays as it is.
mkdir right wrong
declare -A are_right are_wrong                  # by their names: some files have the same
n=0
for file in "$DF_SOURCE"/tests/golden/*.df "$DF_SOURCE"/tests/e2e/programs/*/*.df "$DF_SOURCE"/tests/fuzz/seeds/*.df "$DF_SOURCE"/tests/gpu/flows/*.df; do
    ((n++ % 4 == 0)) || long || continue
    if "$DFC" --emit=ast "$file" > "${file##*/}.ast" 2> ignored; then are_right[${file##*/}]=$file; else are_wrong[${file##*/}]=$file; fi
done
cp "${are_right[@]}" right/ && cp "${are_wrong[@]}" wrong/
cp -r wrong wrong-kept
check formats-in-place "$DFC" --format -i right/*.df
for file in right/*.df; do
    "$DFC" --emit=ast "$file" > ast 2>&1
    cmp -s ast "${file##*/}.ast" || fail "same-tree-${file##*/}" "$(diff "${file##*/}.ast" ast | head -n 4)"
done
expect formatted-stays 0 '^$' "$DFC" --format --check right/*.df
"$DFC" --format right/*.df > all.out
cat right/*.df > all.want
same prints-several all.out all.want

# A file with errors of syntax is left alone, and so are those that are right already; others are changed all the same.
ls -li right > before
printf 'param n=4;' > last.df && chmod 640 last.df && ln -s last.df link.df
expect wrong-are-told 1 '^wrong/.*:[0-9]+:[0-9]+: error: ' "$DFC" --format -i wrong/*.df right/*.df link.df
diff -r wrong wrong-kept > differ && pass wrong-are-left || fail wrong-are-left "$(head -n 5 differ)"
ls -li right > after; same right-are-left before after
echo 'param n = 4;' > last.want; same last-is-changed last.df last.want
expect link-and-mode-stay 0 '^640 l' stat -c '%a l' last.df
[ -L link.df ] && pass link-stays || fail link-stays "$(ls -l link.df)"

# --check names what would change; mistakes on the command line.
printf 'param n=4;\n' > a.df
expect check-names 1 '^a.df$' "$DFC" --format --check last.df a.df
echo 'param n=4;' > a.want; same check-writes-nothing a.df a.want
expect check-and-in-place 2 'does not go together with -i' "$DFC" --format -i --check a.df
expect no-file 2 'a .df file is expected' "$DFC" --format
expect missing-file 1 "cannot read 'none.df': No such file" "$DFC" --format none.df
expect unknown-option 2 "unknown option '--chekc'; did you mean '--check'" "$DFC" --format --chekc a.df
expect help 0 '^usage: dfc --format' "$DFC" --format --help
printf '\xEF\xBB\xBFparam n = 4;\r\n' > mark.df
"$DFC" --format mark.df > mark.out; same mark-and-returns-go mark.out last.want
mkdir closed && cp a.df closed/ && chmod 555 closed
if [ -w closed ]; then skip closed-folder "this user may write anywhere"; else
    expect closed-folder 1 "error: cannot" "$DFC" --format -i closed/a.df
fi
chmod 755 closed
