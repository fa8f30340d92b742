# What users get wrong when compiling: the message, its place, the exit status, and that no output is touched.
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* .

sed 's/int add_cpu(struct df_call \*call, size_t k, const float \*a/int add_cpu(struct df_call *call, size_t k, const double *a/' vec.c > v && mv v vec.c
"$DFC" sum.df -o sum --nvcc=none >errors.log 2>&1; rc=$?
said() { cat errors.log; return $rc; }         # by the last call that wrote it
expect wrong-type-points-at-user-file 1 '^vec.c:[0-9]+:[0-9]+: error: .*add_cpu' said
expect wrong-type-says-which 1 "^dfc: error: the C compiler failed on 'vec.c'" said
[ -e sum ] && fail no-program-after-failure "sum exists" || pass no-program-after-failure
cp "$DF_SOURCE"/examples/sum/vec.c vec.c

grep -v nothing vec.c | sed 's/add_cpu/ad_cpu/' > v && mv v vec.c
"$DFC" sum.df -o sum --nvcc=none >errors.log 2>&1; rc=$?
expect missing-function 1 "^sum.df:7:[0-9]+: error: 'vec.c' does not define 'add_cpu'" said
expect missing-function-hint 1 'int add_cpu\(struct df_call \*call, size_t k, const float \*a, const float \*b, float \*c\)' said
cp "$DF_SOURCE"/examples/sum/vec.c vec.c

sed 's/"vec.c"/"vec.cpp"/' sum.df > cpp.df
{ echo '// first'; sed 's/size_t k, const float \*a, const float \*b/size_t k, const float *a, float *b/' vec.c; } > vec.cpp
line=$(grep -n 'int add_cpu' vec.cpp | cut -d: -f1)
expect cpp-overload-points-at-user-file 1 "^vec.cpp:$line:[0-9]+: error: .*'add_cpu' differs" "$DFC" cpp.df -o cpp --nvcc=none

sed 's/"vec.c"/"gone.c"/' sum.df > gone.df
expect missing-file 1 "gone.df:[0-9]+:[0-9]+: error: .*gone.c" "$DFC" gone.df -o gone --nvcc=none
expect missing-cc 1 "C compiler was not found: 'no-such-cc'" "$DFC" sum.df -o sum --nvcc=none --cc=no-such-cc
expect broken-flags 1 "C compiler failed" "$DFC" sum.df -o sum --nvcc=none --cflags=-no-such-flag

printf 'kernel a(out v: f32[k]) cpu "a.c";\nkernel b(in v: f32[k]) cost cpu 1ms;\ngraph main { x: f32[4] = a(); b(x); }\n' > costs.df
echo 'int a_cpu(struct df_call *c, size_t k, float *v) { (void)c; (void)k; (void)v; return 0; }' > a.c
expect costs-only 1 "^costs.df:2:8: error: kernel 'b' has costs and no code" "$DFC" costs.df -o costs
expect costs-only-plan 0 "predicted" "$DFC" costs.df --emit=plan

# Inline code: the compiler's message has the line and the column of the .df.
printf 'kernel a(out v: i32[k]) cpu {{\n    v[0] = nonsense;\n}};\nkernel b(in v: i32[k]) cpu {{ (void)v; }};\ngraph main { x: i32[4] = a(); b(x); }\n' > in.df
expect inline-line 1 '^in.df:2:12: error: .*nonsense' "$DFC" in.df -o in
printf 'kernel a(out v: i32[k]) cpu {{ v[0] = nonsense; }};\nkernel b(in v: i32[k]) cpu {{ (void)v; }};\ngraph main { x: i32[4] = a(); b(x); }\n' > in1.df
expect inline-column 1 '^in1.df:1:39: error: .*nonsense' "$DFC" in1.df -o in1

# A library that is not there, by the .df and by -l.
printf 'kernel a(out v: i32[k]) cpu {{ v[0] = 1; }};\nlink "no-such-lib";\ngraph main { _: i32[4] = a(); }\n' > lib.df
"$DFC" lib.df -o lib >errors.log 2>&1; rc=$?
expect link-missing 1 "^lib.df:2:6: error: there is no library 'no-such-lib'" said
expect link-missing-says-so 1 "^dfc: error: linking 'lib' failed" said
[ -e lib ] && fail link-missing-no-program "lib exists" || pass link-missing-no-program
sed '/link/d' lib.df > nolib.df
expect l-missing 1 "^dfc: error: linking 'nolib' failed" "$DFC" nolib.df -o nolib -l no-such-lib
mkdir libs && echo 'int seven(void) { return 7; }' > seven.c && cc -c seven.c && ar rc libs/libseven.a seven.o
printf 'kernel a(out v: i32) cpu {{ int seven(void); v[0] = seven(); }};\nkernel b(in v: i32) cpu {{ printf("%%d\\n", v[0]); }};\ngraph main { x = a(); b(x); }\n' > seven.df
check L-and-l "$DFC" seven.df -o seven -Llibs -l seven && expect L-and-l-run 0 '^7$' ./seven
expect L-missing 1 "^dfc: error: linking 'seven2' failed" "$DFC" seven.df -o seven2 -lseven

# What a file takes from another file of its program is asked for; with that file named, the program is made.
echo 'extern int n_parts; void part(float *v); void part(float *v) { v[0] = n_parts; }' > part.c
echo 'int n_parts = 3; int main(void) { return n_parts; }' > whole.c
printf 'kernel a(out v: f32[k]) cpu "part.c": part(v);\nkernel b(in v: f32[k]) cpu {{ printf("%%g\\n", v[0]); }};\ngraph main { x: f32[4] = a(); b(x); }\n' > part.df
expect other-file 1 '^dfc: note: what a file needs from other files comes with them: cpu "first.c" "other.c": f' "$DFC" part.df -o part
sed -i 's/"part.c"/"part.c" "whole.c"/' part.df && check other-file-compile "$DFC" part.df -o part && expect other-file-named 0 '^3$' ./part
"$DFC" sum.df -o sum --nvcc=none -l no-such-lib 2>&1 | grep -q 'comes with them' && fail other-file-only-then || pass other-file-only-then

# A param that is not there, or none at all; a file of dfc's own without its folder.
expect define-unknown 1 "^dfc: error: -D x=3: there is no param 'x'" "$DFC" sum.df -D x=3 --emit=graph
expect define-unknown-hint 1 "^hint: the params are n$" "$DFC" sum.df -D x=3 --emit=graph
expect define-none 1 "^hint: the file has no param: 'param NAME = VALUE;' declares one$" "$DFC" in.df -D x=3 --emit=graph
sed '1i import "io.df";' in.df > std.df
expect import-std 1 "^hint: did you mean 'std/io.df'\?$" "$DFC" std.df --emit=graph

# Outputs.
expect output-folder-missing 1 "cannot write 'no/where/sum': No such file or directory" "$DFC" sum.df -o no/where/sum --nvcc=none
mkdir folder
expect output-is-folder 1 "cannot write 'folder': it is a folder" "$DFC" sum.df -o folder --nvcc=none
expect output-is-device 1 "cannot write '/dev/null': it is not a regular file" "$DFC" sum.df -o /dev/null --nvcc=none
expect output-stdout 2 "standard output" "$DFC" sum.df -o - --nvcc=none
check output-is-input-kept test -s sum.df
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 555 locked
    expect output-locked 1 "cannot write 'locked/sum': Permission denied" "$DFC" sum.df -o locked/sum --nvcc=none
else
    expect output-unwritable 1 "cannot write '/proc/sum'" "$DFC" sum.df -o /proc/sum --nvcc=none
fi
echo kept > old && cp old old.copy
sed 's/return DF_OK;/return nonsense;/' vec.c > broken.c && sed 's/"vec.c"/"broken.c"/' sum.df > broken.df
expect broken 1 "failed on 'broken.c'" "$DFC" broken.df -o old --nvcc=none
same output-kept-on-failure old old.copy
left=$(ls -A | grep -c '^\.dfc-')
[ "$left" = 0 ] && pass nothing-left-behind || fail nothing-left-behind "$left temporary files"
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'dfc-??????' -newer old.copy -user "$(id -u)" 2>/dev/null | head -n 1)" ] \
    && pass no-work-folder-left || skip no-work-folder-left "another dfc may be running"

# The command line.
expect usage-none 2 "nothing to do" "$DFC"
expect no-file 1 "^dfc: error: cannot read 'nofile.df': No such file" "$DFC" nofile.df
expect usage-two-files 2 "one .df file" "$DFC" sum.df cpp.df -o x
expect usage-option 2 "unknown option '--emt=graph'; did you mean '--emit'" "$DFC" sum.df --emt=graph
expect usage-value 2 "-o needs a value" "$DFC" sum.df -o
expect usage-emit 2 "did you mean 'graph'" "$DFC" sum.df --emit=grpah
expect usage-policy 2 "gp-thesis" "$DFC" sum.df -o x --policy=fastest
expect usage-define 2 "NAME=VALUE" "$DFC" sum.df -D n -o x
expect command-unknown 2 "no command 'compre'; did you mean 'compare'" "$DFC" compre sum.df
expect command-none 2 "there is no command and no file 'elaborate'" "$DFC" elaborate sum.df
expect file-missing 1 "nofile.df" "$DFC" nofile.df -o x
expect help 0 "^  compare +" "$DFC" --help
expect help-compile 0 "--emit=ast.*plan" "$DFC" compile --help
expect version 0 "^dfc [0-9]+\.[0-9]+" "$DFC" --version
for c in probe profile partition compare; do expect "help-$c" 0 "usage: dfc $c" "$DFC" $c --help; done

# A kernel that fails at wave 3: node, wave, message, exit 1.
cat > fails.df <<'X'
kernel tick(out v: i64[k]) ordered cpu {{ for (size_t i = 0; i < k; i++) v[i] = df_wave(call); }};
kernel pick(in v: i64[k], out w: i64[k]) cpu {{ if (df_wave(call) == 3) return df_fail(call, "no more than %d", 3); memcpy(w, v, k * 8); }};
kernel last(in v: i64[k]) ordered cpu {{ printf("%lld\n", (long long)v[0]); }};
graph main { a: i64[8] = tick(); b = pick(a); last(b); }
X
check fails-compile "$DFC" fails.df -o fails
expect fails-node-and-wave 1 "main/pick.*wave 3|wave 3.*main/pick" ./fails --waves=10
expect fails-message 1 "no more than 3" ./fails --waves=10
expect fails-not 0 "^2$" ./fails --waves=3

# An output that is an input is refused.
cp "$DF_SOURCE"/examples/sum/vec.c vec.c && cp vec.c vec.copy
expect output-is-source 1 "would replace 'vec.c', which it is made of" "$DFC" sum.df -o vec.c --nvcc=none
same output-is-source-kept vec.c vec.copy
cp sum.df sum.copy
expect output-is-graph 1 "would replace" "$DFC" sum.df -o ./sum.df --nvcc=none
expect output-is-graph-emit 1 "would replace" "$DFC" sum.df --emit=ast -o ./sum.df
for c in "sum.df --emit=plan -o" "simulate sum.df -o" "explain sum.df -o" "compare sum.df --csv"; do
    expect "output-is-graph $c" 1 "^dfc: error: 'sum.df' is not written: it would replace 'sum.df', which it is made of" "$DFC" $c sum.df
    expect "output-is-source $c" 1 "^dfc: error: 'vec.c' is not written: it would replace 'vec.c'" "$DFC" $c vec.c
done
same output-is-graph-kept sum.df sum.copy
same output-is-source-still-kept vec.c vec.copy

# Interrupted while the compiler runs: nothing is left, an older program stays.
printf '#!/bin/sh\nexec sleep 200\n' > slow-cc && chmod +x slow-cc && mkdir tmp
TMPDIR=$PWD/tmp "$DFC" sum.df -o old --nvcc=none --cc=./slow-cc & victim=$!
for _ in $(seq 2000); do [ -n "$(ls tmp)" ] && break; sleep 0.05; done
sleep 0.2; kill -TERM $victim; wait $victim; got=$?
[ "$got" = 143 ] && pass interrupted || fail interrupted "exit $got"
[ -z "$(ls tmp)$(ls -A | grep '^\.dfc-')" ] && pass interrupted-leaves-nothing || fail interrupted-leaves-nothing "$(ls -A . tmp | tr '\n' ' ')"
same interrupted-keeps-output old old.copy
# What the compiler says goes to a pipe that nobody reads any more, as in `dfc … 2>&1 | head`; a file that may not grow.
{ echo 'kernel z() cpu {{'; for i in $(seq 600); do echo "const char x$i = \"long enough to fill a pipe\";"; done; echo '}}; graph main { z(); }'; } > loud.df
{ TMPDIR=$PWD/tmp env --default-signal=PIPE "$DFC" loud.df -o old 2>&1; echo $? > piped; } | head -n 1 > first
[ -s first ] && [ "$(cat piped)" = 141 ] && pass pipe || fail pipe "exit $(cat piped): $(cat first)"
[ -z "$(ls tmp)$(ls -A | grep '^\.dfc-')" ] && pass pipe-leaves-nothing || fail pipe-leaves-nothing "$(ls -A . tmp | tr '\n' ' ')"
(ulimit -f 1; TMPDIR=$PWD/tmp "$DFC" sum.df --emit=c -o old 2>/dev/null); got=$?
[ "$got" = 1 ] && [ -z "$(ls tmp)$(ls -A | grep '^\.dfc-')" ] && pass file-limit || fail file-limit "exit $got: $(ls -A | tr '\n' ' ')"
same pipe-keeps-output old old.copy
# Interrupted while a graph is read for --emit, its output begun; and while it is planned for a program, before there is anything.
exec 9< <(exec sleep 200); opener=$!
"$DFC" /dev/fd/9 --emit=ast -o never.out & victim=$!
for _ in $(seq 2000); do ls -A | grep -q '^\.dfc-' && break; sleep 0.05; done
kill -TERM $victim; wait $victim; got=$?; kill $opener; exec 9<&-
[ "$got" = 143 ] && [ -z "$(ls -A | grep -e '^\.dfc-' -e '^never.out')" ] && pass interrupted-emit || fail interrupted-emit "exit $got: $(ls -A | tr '\n' ' ')"
echo 'kernel f(inout a: f32[k]) cpu {{ }} cost cpu 9us gpu 8us; kernel src(out a: f32[k]) cpu {{ }} cost cpu 1us;
graph main { for j in 0..40 { a[j, 0]: f32[99] = src(); for i in 0..50 { a[j, i + 1] = f(a[j, i]); } } }' > plan.df
TMPDIR=$PWD/tmp timeout -k 10 -s TERM 0.4 "$DFC" plan.df -o plan --budget=1000000x 2>/dev/null; got=$?
[ "$got" = 124 ] && [ -z "$(ls tmp)$(ls -A | grep '^\.dfc-')" ] && pass interrupted-plan || fail interrupted-plan "exit $got: $(ls -A . tmp | tr '\n' ' ')"

# No example has a warning, whatever else its file lacks: a main(), code, a platform.
find "$DF_SOURCE/examples" -name '*.df' | while read -r file; do "$DFC" "$file" --emit=graph 2>&1 >graph.txt | grep 'warning: '; done >warnings.txt
[ -s warnings.txt ] && fail examples-warn "$(head -n 3 warnings.txt)" || pass examples-warn
