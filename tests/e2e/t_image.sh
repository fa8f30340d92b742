# std/image.df against NumPy, SciPy and scikit-image, for some elements here and for all of them in make check-long; its help; and that nothing of it is checked or
# compiled that no graph calls.
python=/usr/bin/python3
elements='-O0 u8'; if long; then elements=; fi
if ! has_modules numpy scipy skimage; then
    skip functions "$python has no NumPy, SciPy or scikit-image (python3-skimage)"
elif grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then
    skip functions "Python is not linked with the sanitizer"
else
    # shellcheck disable=SC2086
    env NVCC=none PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" "$here/programs/image/check.py" $elements >said 2>&1
    while read -r how name why; do
        case $how in pass) pass "$name" ;; fail) fail "$name" "$why" ;; *) fail functions "$how $name $why" ;; esac
    done <said
fi

# Each file is right as a whole: as the main file it is checked whether something calls it or not, and then lacks a graph 'main' alone.
for name in filters morphology threshold geometry levels colour; do
    cp "$DF_BUILD/share/dfc/std/$name.df" .
    "$DFC" explain "$name.df" >said 2>&1
    if [ "$(grep 'error:' said)" = "$name.df:1:1: error: no graph 'main' in '$name.df'" ]; then pass "right-$name"; else fail "right-$name" "$(head -n 5 said | tr '\n' ' ')"; fi
done

# What comes with dfc is checked when a graph calls it, by way of another graph, too; what is in the user's files always.
mkdir -p home/share/dfc/std
ln -s "$DF_BUILD/include" "$DF_BUILD/lib" home/
cp "$DF_BUILD/share/dfc/std/io.df" home/share/dfc/std/
cat >home/share/dfc/std/mine.df <<'EOF'
kernel right(out o: i32[4]) { o[i] = i; }
kernel wrong(in a: i32[n], out o: i32[n]) { o[i] = a[i + 1]; }
graph by_way(in a: i32[n], out o: i32[n]) { o = wrong(a); }
EOF
main() { printf 'import "%s";\nkernel show(in a: i32[n]) cpu {{ printf("%%d\\n", a[3]); }};\ngraph main { a = right(); %s }\n' "$1" "$2"; }
main std/mine.df 'show(a);' >unused.df
main std/mine.df 'b = wrong(a); show(b);' >used.df
main std/mine.df 'b = by_way(a); show(b);' >by_way.df
cp home/share/dfc/std/mine.df own.df; main own.df 'show(a);' >own_main.df
expect not-called 0 '^3$' env DFC_HOME="$PWD/home" "$DFC" run unused.df
expect called 1 'mine.df:2:52: error: ' env DFC_HOME="$PWD/home" "$DFC" run used.df
expect called-by-a-graph 1 'mine.df:2:52: error: ' env DFC_HOME="$PWD/home" "$DFC" run by_way.df
expect users-own 1 'own.df:2:52: error: ' "$DFC" run own_main.df

expect help 0 '^  pyramid_down\(in a: u8\[h, w\], out o: f32\[\(h \+ 1\) / 2, \(w \+ 1\) / 2\]\)$' "$DFC" help std/image
expect help-one-file 0 '^      The median of 3 by 3 pixels, where none is NaN\.$' "$DFC" help std/filters.df
expect help-unknown 2 "dfc comes with no 'std/images'; 'dfc help std/io' and 'dfc help std/image' list what graphs can import" "$DFC" help std/images
expect help-outside 2 "dfc comes with no 'std/\.\./x'" "$DFC" help std/../x

# The programs of docs/image.md.
awk '/^```df /{ name = $2; next } /^```$/{ name = ""; next } name { print > name }' "$DF_SOURCE/docs/image.md"
for name in spots otsu; do check "page-$name" "$DFC" "$name.df" --emit=plan; done
