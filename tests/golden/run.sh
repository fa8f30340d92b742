#!/usr/bin/env bash
# run.sh - wrong programs and the exact messages they get.
#
#   run.sh DFC [--update] [NAME…]
#
# Each NAME.df is given to `DFC --emit=graph NAME.df` (or with what its first line says: `// args: …`) from inside this
# folder; what comes on stderr, and a last line with the exit status, must be NAME.err. Programs too large or too odd to keep
# are made by the function of their name below. --update writes the .err files anew: read the difference before keeping it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dfc=${1:?usage: run.sh DFC [--update] [NAME...]}
shift
case $dfc in */*) dfc=$(cd "$(dirname "$dfc")" && pwd)/$(basename "$dfc") ;; esac
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# ---- programs that are made ----

made="empty-file nested-parentheses nested-blocks random-bytes unclosed-comment unclosed-string unclosed-code nul-bytes
      long-name param-chain else-if-chain deep-graphs exploding-graphs many-errors many-warnings crlf no-such-main-file nul-in-code nuls-in-comment too-large
      unknown-many code-open-comments entangled-formulas"

repeat() { # TEXT COUNT
    awk -v text="$1" -v count="$2" 'BEGIN { for (i = 0; i < count; i++) printf "%s", text }'
}
base='kernel src(out a: f32[k]) cost cpu 1us;
kernel f(in a: f32[k], out b: f32[k]) cost cpu 1us;
kernel sink(in a: f32[k]) cost cpu 1us;'
make_empty_file() { :; }
make_nested_parentheses() { printf 'param n = '; repeat '(' 100000; printf 1; repeat ')' 100000; echo ';'; }
make_nested_blocks() { echo 'graph main {'; repeat 'if 1 {' 5000; repeat '}' 5000; echo '}'; }
make_random_bytes() { # the same on every machine
    awk 'BEGIN { x = 12345; for (i = 0; i < 2000; i++) { x = (x * 1103515245 + 12345) % 2147483648
                 printf "%o\n", int(x / 65536) % 256 } }' | while read -r octal; do printf "\\$octal"; done
}
make_unclosed_comment() { echo "$base"; echo 'graph main { /* never closed'; echo 'sink(a); }'; }
make_unclosed_string() { echo 'import "lib.df;'; echo 'graph main { }'; }
make_unclosed_code() { echo 'kernel h(in a: f32[k]) cpu {{ if (1) { return 0;'; echo 'graph main { }'; }
make_nul_bytes() { printf 'param n = 1;\0\0\nparam m = 2;\n'; }
make_long_name() { printf 'param '; repeat x 300; echo ' = 1;'; }
make_param_chain() { # no recursion over params: 20000 of them refer to the next, the last divides by zero
    echo "$base"
    awk 'BEGIN { for (i = 0; i < 20000; i++) printf "param p%d = p%d + 1;\n", i, i + 1; print "param p20000 = 1 / 0;" }'
    echo 'graph main { a: f32[p0] = src(); sink(a); }'
}
make_else_if_chain() { # nor over the arms of a chain
    echo "$base"
    echo 'param n = 20000;'
    echo 'graph main { a: f32[4] = src();'
    awk 'BEGIN { for (i = 0; i < 20000; i++) printf "if n == %d { b = f(a); } else ", i; print "{ sink(a); }" }'
    echo 'sink(b); }'
}
make_entangled_formulas() { # each let is used under two conditions of its own
    echo "$base"
    echo 'kernel g(in v: f32[n], in z: f32[m], out o: f32[n]) {'
    awk 'BEGIN { printf "let a0 = 0"; for (i = 0; i < 60; i++) printf " + v[max(i - %d, 0)]", i; print ";"
                 for (i = 1; i < 40; i++)
                     printf "let a%d = (i > %d || i * 2 > m + %d ? a%d : 1.0) + (i < %d && i * 3 != m ? a%d : 2.0);\n",
                            i, i, i, i - 1, 200 - i, i - 1 }'
    echo 'o[i] = a39; }'
    echo 'graph main { a: f32[4] = src(); sink(a); }'
}
make_deep_graphs() {
    echo "$base"
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "graph g%d(in t: f32[n]) { g%d(t); }\n", i, i + 1 }'
    echo 'graph g3000(in t: f32[n]) { sink(t); }'
    echo 'graph main { a: f32[4] = src(); g0(a); }'
}
make_exploding_graphs() { # 2^60 rounds, said in 60 lines
    echo "$base"
    echo 'graph g60(in t: f32[n]) { for i in 0..1000000 { } if 0 { sink(t); } }'
    awk 'BEGIN { for (i = 59; i >= 0; i--) printf "graph g%d(in t: f32[n]) { g%d(t); g%d(t); }\n", i, i + 1, i + 1 }'
    echo 'graph main { a: f32[4] = src(); g0(a); }'
}
make_many_errors() {
    echo "$base"
    echo 'graph main {'
    awk 'BEGIN { for (i = 0; i < 30; i++) printf "    sink(x%d);\n", i }'
    echo '}'
}
make_many_warnings() {
    echo "$base"
    echo 'graph main {'
    awk 'BEGIN { for (i = 0; i < 30; i++) printf "    x%d: f32[4] = src();\n", i }'
    echo '}'
}
make_crlf() { printf 'param n = 4;\r\nparam m = n +;\r\ngraph main { }\r\n'; }
make_nul_in_code() { printf 'kernel h(in a: f32[k]) cpu {{ int \0x; }};\ngraph main { }\n'; }
make_nuls_in_comment() { # the scanner takes a second for them, not an hour
    printf 'param n = 1; /*'; head -c 1000000 /dev/zero; printf '*/\nparam m = n +;\n'
}
make_unknown_many() { # nobody looks for names close to those that are not shown: that would take minutes
    echo "$base"
    echo 'graph main {'
    awk 'BEGIN { for (i = 0; i < 60000; i++) printf "    stream_%d: f32[4] = src();\n    sink(sttream_%dx);\n", i, i }'
    echo '}'
}
make_code_open_comments() { # nor is the file read to its end for each
    printf 'kernel h(in a: f32[k]) cpu {{ '; repeat '/* open ' 200000; echo
    echo 'graph main { }'
}
make_too_large() { truncate -s 67108865 /dev/stdout; }
make_no_such_main_file() { return 1; }

# ---- one program ----

run_one() { # NAME, in the folder where NAME.df is; result in $work/out
    local args=''
    { IFS= read -r args < "$1.df"; } 2> "$work/ignored"
    case $args in '// args: '*) args=${args#// args: } ;; *) args='' ;; esac
    # shellcheck disable=SC2086 # the line holds several words
    "$dfc" ${args:---emit=graph} "$1.df" > "$work/stdout" 2> "$work/out"
    local status=$?
    echo "exit $status" >> "$work/out"
    if [ $status != 0 ] && [ -s "$work/stdout" ]; then # nothing may be made of a wrong program
        echo "and yet it wrote $(wc -c < "$work/stdout") bytes" >> "$work/out"
    fi
}

same() { # FILE FILE: whether they have the same text; no process is started, which would take as long as dfc. If a file has a zero byte: no
    local a='' b=''
    { ! IFS= read -rd '' a < "$1" && ! IFS= read -rd '' b < "$2"; } 2> "$work/ignored" && [ "$a" = "$b" ]
}

check() { # NAME
    local name=$1
    if [ -e "$here/$name.df" ]; then
        cd "$here" || exit 1
    else
        cd "$work" || exit 1
        "make_${name//-/_}" > "$name.df" || rm "$name.df"
    fi
    run_one "$name"
    if [ "$update" = yes ]; then
        cp "$work/out" "$here/$name.err"
    elif same "$here/$name.err" "$work/out" || diff -u "$here/$name.err" "$work/out" > "$work/diff" 2>&1; then
        echo "ok $name"
    else
        failed=$((failed + 1))
        echo "not ok $name: its messages differ"
        sed 's/^/#   /' "$work/diff"
    fi
}

failed=0
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046,SC2086
    set -- $(cd "$here" && ls ./*.df | sed 's,^\./,,; s,\.df$,,') $made
fi
for name; do
    check "$name"
done
[ "$failed" -eq 0 ]
