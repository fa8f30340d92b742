# What a terminal gets of odd names and texts: control bytes are escaped, UTF-8 stays, and no message is long.
# line NAME STATUS LINE COMMAND…: the command ends with STATUS, says the LINE, and no control byte, and not more than 9000 bytes in all.
line() {
    local name=$1 status=$2 line=$3 got; shift 3
    "$@" >said 2>&1; got=$?
    if [ "$got" != "$status" ]; then fail "$name" "exit $got, expected $status: $(head -c 600 said | cat -v)"
    elif ! grep -qxF -- "$line" said; then fail "$name" "no line '$line': $(head -c 600 said | cat -v)"
    elif grep -q $'[\x01-\x08\x0b-\x1f\x7f]' said; then fail "$name" "control bytes: $(cat -v said)"
    elif [ "$(wc -c <said)" -gt 9000 ]; then fail "$name" "$(wc -c <said) bytes"
    else pass "$name"; fi
}

# ---- names of files and options ----
odd=$'r\x1b[31m é'
expect missing 1 "cannot read 'a\\\\x1b\[31m\\\\x0ab é.df': No such file or directory$" "$DFC" $'a\x1b[31m\nb é.df' --emit=graph
echo 'graph main { x = ; }' >"$odd.df"
line place 1 "r\\x1b[31m é.df:1:18: error: expected a call after '=', found ';'" "$DFC" "$odd.df" --emit=graph
line option 2 "dfc: error: unknown option '--x\\x07'; 'dfc compile --help' lists them" "$DFC" $'--x\a'
line output 1 "dfc: error: cannot write 'no\\x9b/x': No such file or directory" "$DFC" "$odd.df" --emit=ast -o $'no\x9b/x'
line database 1 "dfc: error: profile database '/proc/x\\x1b.db': cannot open it: unable to open database file" "$DFC" profile "$odd.df" --db=$'/proc/x\x1b.db'

# ---- the source line and the caret ----
printf 'param n = 1;\tk = \x1b[31m; // \xff\n' >line.df
line source 1 $'    param n = 1;\tk = \\x1b[31m; // \\xff' "$DFC" line.df --emit=graph
line caret 1 $'                \t    ^~~~' "$DFC" line.df --emit=graph

# ---- length ----
python3 -c 'print("import \"" + "a" * 5000000 + "\";")' >long.df
line long-import 1 "    import \"$(printf 'a%.0s' {1..102})..." "$DFC" long.df --emit=graph
expect long-import-place 1 "^long.df:1:8: error: cannot import 'aaaa.*a \.\.\.\(49[0-9]{5} bytes left out\)\.\.\. aaa+'" "$DFC" long.df --emit=graph

# ---- texts of kernels, and the name of the program ----
cat >text.df <<'END'
arg t: str;
kernel a(out v: i32[k]; t: str) cpu {{ df_log(call, DF_LOG_WARNING, "%s", t); return df_fail(call, "%s", t); }};
kernel b(in v: i32[k]) cpu {{ (void)v; }};
graph main { x: i32[4] = a(t); b(x); }
END
check build "$DFC" text.df -o "$odd"
text=$'one é\ntwo\x1b[2J\xff\n'
line fail 1 "r\\x1b[31m é: error: node 'main/a', wave 0: one é two\\x1b[2J\\xff" "./$odd" --t="$text"
line log 1 "r\\x1b[31m é: warning: node 'main/a', wave 0: one é two\\x1b[2J\\xff" "./$odd" --t="$text"
line unknown-option 2 "r\\x1b[31m é: error: unknown option '--z\\x1b'; --help lists the options" "./$odd" $'--z\x1b'
line help 0 "Usage: r\\x1b[31m é [--option[=value] ...]" "./$odd" --help
kept=$("./$odd" --t="$(printf 'x%.0s' {1..5000})end" 2>&1 | sed -n 's/.*error: .*: x/x/p' | wc -c) # at most 255 bytes, and the end of the line
[ "$kept" -gt 200 ] && [ "$kept" -le 256 ] && pass long-fail-length || fail long-fail-length "$kept"
expect long-fail 1 "error: node 'main/a', wave 0: xxx+ \.\.\.\([0-9]+ bytes left out\)\.\.\. x+end$" "./$odd" --t="$(printf 'x%.0s' {1..5000})end"

# ---- what compilers say, and headings ----
printf 'kernel a(out v: i32[k]) cpu "o\\033dd.c";\ngraph main { _: i32[4] = a(); }\n' >odd.df
echo 'int a_cpu(void) { return x; }' >$'o\x1bdd.c'
line compiler 1 "dfc: error: the C compiler failed on 'o\\x1bdd.c'" env GCC_COLORS= "$DFC" odd.df -o odd
cp text.df "$odd.df"
line partition 0 "r\\x1b[31m é.df: 2 nodes, 1 arcs" "$DFC" partition "$odd.df"
for command in explain simulate; do
    "$DFC" $command "$odd.df" >said 2>&1
    if grep -q '^r\\x1b\[31m é.df on default' said; then pass $command; else fail $command "$(head -n 2 said | cat -v)"; fi
done

# ---- colours: none unless stderr is a terminal or they are asked for; without them the same bytes ----
echo 'graph main { x = ; }' >c.df
"$DFC" c.df --emit=graph 2>plain
"$DFC" c.df --emit=graph --color=always 2>coloured
expect colours-error 0 $'^c.df:1:18: \x1b\\[1;31merror:\x1b\\[m expected' cat coloured
expect colours-caret 0 $'^ +\x1b\\[1;32m\\^\x1b\\[m$' cat coloured
sed $'s/\x1b\\[[0-9;]*m//g' coloured >stripped; same colours-alone stripped plain
expect colours-dfc 2 $'^dfc: \x1b\\[1;31merror:\x1b\\[m' "$DFC" --color=always --nowhere
expect colours-when 2 "^dfc: error: --color=yes: one of auto, always, never is expected$" "$DFC" c.df --color=yes
terminal() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" </dev/null | tr -d '\r'; }
TERM=xterm NO_COLOR='' terminal "$DFC" c.df --emit=graph >got; same colours-terminal got coloured
TERM=xterm NO_COLOR=1 terminal "$DFC" c.df --emit=graph >got; same colours-no-color got plain
TERM=xterm NO_COLOR='' terminal "$DFC" c.df --emit=graph --color=never >got; same colours-never got plain
