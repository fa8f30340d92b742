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

# A file of bytes gets one message.
cp /bin/sh binary.df
"$DFC" binary.df --emit=graph 2> said
[ "$(grep -c error said)" = 1 ] && [ "$(wc -l < said)" = 3 ] && pass binary-once || fail binary-once "$(wc -l < said) lines: $(head -n 3 said)"
expect binary 1 "^binary.df:1:1: error: this is no text file: from byte 0x7f on, [0-9]+ bytes in 4 KiB are no text in UTF-8$" "$DFC" binary.df --emit=graph
printf 'param n = 4;\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f;\ngraph main { }\n' > letters.df
expect letters-are-text 1 "^hint: letters other than a-z and A-Z may stand in strings and comments only$" "$DFC" letters.df --emit=graph
printf '// gr\xfcn, wei\xdf, sch\xf6n, \xdcber\nkernel f(out a: i32) cost cpu 1us;\ngraph main { _ = f(); }\n' > latin.df
expect latin-comments 0 "main/f" "$DFC" latin.df --emit=graph

# What the C compiler says of a written call is shown once, though the call is compiled three times.
printf 'kernel f(out a: f32[k]) cpu "few.c": few(a);\nkernel g(in a: f32[k]) cpu {{ }};\ngraph main { a: f32[4] = f(); g(a); }\n' > few.df
echo 'int few(float *a, int n) { return *a > n; }' > few.c
"$DFC" few.df -o few 2> said
[ "$(grep -c 'error:.*few' said)" = 2 ] && [ "$(grep -c '^few.df:1:38: error: too few arguments' said)" = 1 ] && pass few-arguments || fail few-arguments "$(cat said)"
printf 'int a_cpu(struct df_call *c, int32_t *v) { (void)c; *v = one; return two; }\n' > a.c
printf 'kernel a(out v: i32) cpu "a.c";\ngraph main { _ = a(); }\n' > two.df
"$DFC" two.df -o two 2> said
[ "$(grep -c 'undeclared (first use' said)" = 2 ] && pass two-mistakes-twice || fail two-mistakes-twice "$(cat said)"

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
expect small-memory 2 "^sum: error: --gpu-mem: '12' is not a size; write a number with B, .*, or bytes alone, at least 4096$" ./sum --gpu-mem=12
