# What could be meant otherwise is told: a warning or an error each, with its place or the command's name.
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* .

# Messages without a place begin with the command's name, those about a file with the file's.
expect param-unknown 1 "^dfc: error: -D m=3: there is no param 'm'$" "$DFC" sum.df -D m=3 --emit=graph
expect platform-unreadable 1 "^dfc: error: cannot read 'no.df': No such file or directory$" "$DFC" sum.df --emit=plan --platform=no.df
expect probe-platform 1 "^dfc: error: cannot read 'no.df': No such file or directory$" "$DFC" probe --device=emu --platform=no.df --db=p.db
mkdir folder
for input in folder -; do
    for what in graph ast; do expect "input-$input-$what" 1 "^dfc: error: cannot read '$input': " "$DFC" $input --emit=$what; done
done
"$DFC" sum.df -o sum --nvcc=none 2> note || cat note
expect program-platform 1 "^sum: error: cannot read 'no.df': No such file or directory$" ./sum --platform=no.df

# A named pipe is no file: reading it would wait for ever. What the shell pipes in is read.
mkfifo pipe.df pipe.c
expect pipe 1 "^dfc: error: cannot read 'pipe.df': it is a named pipe$" timeout 150 "$DFC" pipe.df --emit=graph
expect pipe-platform 1 "^dfc: error: cannot read 'pipe.df': it is a named pipe$" timeout 150 "$DFC" sum.df --emit=plan --platform=pipe.df
printf 'import "pipe.df";\ngraph main { }\n' > import.df
expect pipe-import 1 "^import.df:1:8: error: cannot import 'pipe.df': it is a named pipe$" timeout 150 "$DFC" import.df --emit=graph
printf 'kernel f(out a: i32) cpu "pipe.c";\ngraph main { _ = f(); }\n' > code.df
expect pipe-code 1 "^code.df:1:26: error: cannot read 'pipe.c': it is not a file$" timeout 150 "$DFC" code.df -o code
check pipe-code-graph timeout 150 "$DFC" code.df --emit=graph
expect pipe-of-the-shell 0 "main/add" bash -c '"$DFC" <(cat sum.df) --emit=graph'
expect piped 0 "main/add" bash -c 'cat sum.df | "$DFC" /dev/stdin --emit=graph'

# A file of bytes gets one message.
cp /bin/sh program.df
expect program 1 "^program.df:1:1: error: this file is a compiled program, library or object .ELF. and not a .df$" "$DFC" program.df --emit=graph
{ printf '\1'; tail -c +2 /bin/sh; } > binary.df
"$DFC" binary.df --emit=graph 2> said
[ "$(grep -c error said)" = 1 ] && [ "$(wc -l < said)" = 3 ] && pass binary-once || fail binary-once "$(wc -l < said) lines: $(head -n 3 said)"
expect binary 1 "^binary.df:1:1: error: this is no text file: from byte 0x[0-9a-f]+ on, [0-9]+ bytes in 4 KiB are no text in UTF-8$" "$DFC" binary.df --emit=graph
printf 'param n = 4;\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f;\ngraph main { }\n' > letters.df
expect letters-are-text 1 "^hint: letters other than a-z and A-Z may stand in strings and comments only$" "$DFC" letters.df --emit=graph
printf '// gr\xfcn, wei\xdf, sch\xf6n, \xdcber\nkernel f(out a: i32) cost cpu 1us;\ngraph main { _ = f(); }\n' > latin.df
expect latin-comments 0 "main/f" "$DFC" latin.df --emit=graph

# What the C compiler says of a written call is shown once, though the call is compiled three times.
printf 'kernel f(out a: f32[k]) cpu "few.c": few(a);\nkernel g(in a: f32[k]) cpu {{ }};\ngraph main { a: f32[4] = f(); g(a); }\n' > few.df
echo 'int few(float *a, int n) { return *a > n; }' > few.c
"$DFC" few.df -o few 2> said
[ "$(grep -c 'error:.*few' said)" = 2 ] && [ "$(grep -c '^few.df:1:\(38\|43\): error: too few arguments' said)" = 1 ] && pass few-arguments || fail few-arguments "$(cat said)"
printf 'int a_cpu(struct df_call *c, int32_t *v) { (void)c; *v = one; return two; }\n' > a.c
printf 'kernel a(out v: i32) cpu "a.c";\ngraph main { _ = a(); }\n' > two.df
"$DFC" two.df -o two 2> said
[ "$(grep -cE 'undeclared \(first use|use of undeclared' said)" = 2 ] && pass two-mistakes-twice || fail two-mistakes-twice "$(cat said)"

# A program that needs more memory than this machine has is told so when it is made.
expect memory-of-this-machine 0 "^sum.df:11:14: warning: the program cannot run on this machine: one job of 'main/generate#1' needs 364 TiB of memory, and it has " \
    "$DFC" sum.df -D n=99999999999999 -o large --nvcc=none
expect memory-at-run 1 "^large: error: node 'main/generate#1' \(kernel 'generate'\) cannot run: one job needs 364 TiB" ./large
echo 'platform big { cpu host { workers = 8; memory = 900 TiB; } }' > big.df
"$DFC" sum.df -D n=99999999999999 -o large --nvcc=none --platform=big.df 2> said
grep -q warning said && fail memory-of-another-machine "$(cat said)" || pass memory-of-another-machine

# --device=sim shows nothing by itself.
expect sim-unseen 0 "^sum: warning: --device=sim runs no kernel and nobody sees what it predicts: --stats or --trace=FILE shows it$" ./sum --device=sim
for option in --stats --stats=json --trace=t.json --log=error; do
    ./sum --device=sim $option 2>&1 | grep -q warning && fail "sim$option" "$(./sum --device=sim $option 2>&1)" || pass "sim$option"
done
expect small-memory 2 "^sum: error: --gpu-mem=12: a size is expected, .*; a number without a unit is in bytes, at least 4096$" ./sum --gpu-mem=12

# A file is never written twice, nor over the program that writes it.
cp sum sum.kept
expect trace-program 2 "^sum: error: --trace=./sum: it would replace this program$" ./sum --trace=./sum
ln -s sum link
expect trace-program-link 2 "^sum: error: --trace=link: it would replace this program$" ./sum --trace=link
same trace-program-kept sum sum.kept
echo 'platform small { cpu host { workers = 2; } }' > small.df
expect trace-platform 2 "^sum: error: --trace=small.df: it would replace the platform that --platform reads$" ./sum --trace=small.df --platform=small.df
check trace-again bash -c './sum --trace=again.json && ./sum --trace=again.json'
twice() { # NAME OPTION OTHER FILE COMMAND…
    local name=$1 said="^dfc: error: $2 and $3 would both write '$4'$"; shift 4
    expect "$name" 2 "$said" "$DFC" "$@"
}
twice picture-and-memory -o --memory q.svg partition sum.df -o q.svg --memory=q.svg
twice picture-by-another-name --svg --memory ./q.svg partition sum.df --svg=folder/../q.svg --memory=./q.svg
twice pictures-on-stdout --dot --svg - partition sum.df --dot=- --svg=-
[ -e q.svg ] && fail no-picture "q.svg exists" || pass no-picture
twice compare-twice --csv --svg q.svg compare sum.df --csv=q.svg --svg=q.svg
twice simulate-twice -o --gantt q.svg simulate sum.df --policy=gp -o q.svg --gantt=q.svg
check simulate-apart "$DFC" simulate sum.df --policy=gp,ws -o q.csv --gantt=q.svg; rm -f q.csv q-*.svg
for o in q-gp.svg ./q-ws.svg; do twice "simulate-policy $o" -o --gantt "q${o#*q}" simulate sum.df --policy=gp,ws --gantt=q.svg -o $o; done
twice probe-twice --db -o p.db probe --device=none --db=p.db -o p.db
twice report-twice --db -o p.db profile --report --db=p.db -o p.db
expect database-probe 2 "^dfc: error: the profile database and -o would both write 'own.db'$" env DFC_PROFILE=own.db "$DFC" probe --device=none -o own.db
expect database-report 2 "^dfc: error: the profile database and -o would both write 'own.db'$" env DFC_PROFILE=own.db "$DFC" profile --report -o own.db
echo kept > own.db
expect database-plan 1 "^dfc: error: 'own.db' is not written: it would replace 'own.db', which it is made of$" env DFC_PROFILE=own.db "$DFC" sum.df --emit=plan -o own.db
expect database-kept 0 '^kept$' cat own.db
cp small.df kept.df
expect probe-platform-twice 1 "^dfc: error: '.*' is not written: it would replace 'small.df', which it is made of$" "$DFC" probe --device=emu --platform=small.df --db=p.db -o ./small.df
same probe-platform-kept small.df kept.df
check nowhere-twice "$DFC" partition sum.df --dot=/dev/null --svg=/dev/null

# Options that exclude each other end with 2.
expect belady-program 2 "^sum: error: --evict=belady needs a policy that orders jobs before the run: 'ws' does not$" ./sum --policy=ws --evict=belady --device=emu
expect belady-simulate 2 "^dfc: error: --evict=belady needs a policy that orders jobs before the run: 'ws' does not$" "$DFC" simulate sum.df --policy=gp,ws --evict=belady
check belady-all "$DFC" simulate sum.df --evict=belady

# A name that is no text stands in no output as it is: pictures are XML in UTF-8, JSON is JSON, a comment stays one line.
check_forms() { # FILE, of Python
    check "$1-xml" python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in ("n.svg", "m.svg", "g.svg")]'
    check "$1-json" python3 -c 'import json; json.load(open("n.json", encoding="utf-8"))'
}
printf 'kernel a(out v: f32[n]) cost cpu 1us gpu 2us;\nkernel c(in v: f32[n]) cost cpu 1us gpu 1us;\ngraph main { x: f32[10] = a(); c(x); }\n' > plain.df
for name in $'new\nline' $'byte\xff' 'quote"<&>' $'tab\t\x01'; do
    cp plain.df "$name.df"; label=${name//[^a-z]/}
    "$DFC" partition "$name.df" -o n.svg --memory=m.svg > out 2>&1 && "$DFC" simulate "$name.df" --policy=gp --gantt=g.svg --format=json -o n.json >> out 2>&1 || fail "$label-made" "$(cat out)"
    check_forms "$label"
    "$DFC" "$name.df" --emit=metis | head -n 1 | grep -q '^% .*: 2 of 2 nodes' && pass "$label-comment" || fail "$label-comment" "$("$DFC" "$name.df" --emit=metis | head -n 2)"
done

# With little memory a picture ends with a message, whatever Graphviz and its libraries would do without it.
if grep -qE 'fsanitize=(address|thread)' "$DF_BUILD/obj/flags" 2>/dev/null; then skip little-memory "this sanitizer needs all address space"; else
    for kib in 28000 36000 48000 64000; do
        (ulimit -c 0; ulimit -v $kib; exec timeout 150 "$DFC" partition plain.df -o little.svg --policy=gp-thesis) > out 2> said; status=$?
        if [ $status = 1 ] && grep -qE '^dfc: error: .*out of memory' said; then pass "little-memory-$kib"; else fail "little-memory-$kib" "exit $status: $(head -c 300 said)"; fi
    done
    check enough-memory bash -c 'ulimit -v 160000; "$DFC" partition plain.df -o enough.svg'
    [ -e little.svg ] && fail little-memory-nothing "little.svg exists" || pass little-memory-nothing
fi
