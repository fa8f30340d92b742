# The command lines that dfc refuses: each with its sentence and exit status 2, before anything is compiled or run.
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* .
# refused NAME SENTENCE ARGUMENTS…: the whole of what it says is "dfc: error: SENTENCE".
refused() {
    local name=$1 want="dfc: error: $2" said status; shift 2
    said=$("$DFC" "$@" 2>&1); status=$?
    [ "$status" = 2 ] && [ "$said" = "$want" ] && pass "$name" || fail "$name" "exit $status: $said"
}
refused nothing "nothing to do: name a .df file or a command; 'dfc --help' lists them"
refused no-file "a .df file is expected; 'dfc compile --help' says more" -o sum
for c in profile partition compare simulate; do refused "$c-no-file" "a .df file is expected; 'dfc $c --help' says more" $c; done
expect help-command 0 "^usage: dfc explain GRAPH.df" "$DFC" help explain
expect help-compile 0 "^usage: dfc GRAPH.df " "$DFC" help compile
refused help-unknown "there is no command 'explan'; did you mean 'explain'?" help explan
# Each command is found when its last letter is doubled.
for name in help $("$DFC" --help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    word=$name${name: -1}
    expect "close-$name" 2 "^dfc: error: there is no command '$word'; did you mean '$name'\?" "$DFC" "$word"
done
refused file-without-ending "there is no command and no file 'sum'; did you mean 'sum.df'?" sum
refused version "there is no command 'version'; did you mean '--version'?" version
refused run-close "unknown option '--path=x.npy'; did you mean '--parts'? Options of the program stand after '--'" run sum.df --path=x.npy
refused two-files "one .df file is expected, and 'sum.df' and 'b.df' were given" sum.df b.df
refused no-name "the name of './sum.graph' does not end in .df: name the file of a graph, or the program by -o PROGRAM if this is one" ./sum.graph
cp sum.df part.df && cp sum.df data.df && echo text >data && mkdir folder && cp sum.df folder.df
refused no-program-there "'data' is there already and is no program: give -o PROGRAM" data.df
refused folder-there "'folder' is there already and is no program: give -o PROGRAM" folder.df
refused program-to-stdout "a program cannot be written to the standard output: give -o a name" sum.df -o -
refused define "-D n: NAME=VALUE is expected" sum.df -D n --emit=plan
refused define-empty "-D n=: NAME=VALUE is expected" sum.df -Dn= --emit=plan
refused define-no-value "-D needs a value" sum.df --emit=plan -D
refused emit "--emit=picture: one of ast, graph, dot, c, metis, plan is expected" sum.df --emit=picture
refused emit-close "--emit=grpah: one of ast, graph, dot, c, metis, plan is expected; did you mean 'graph'?" sum.df --emit=grpah
refused policy "--policy=ws: a policy that places nodes before the run is expected: $("$DFC" sum.df --emit=plan --policy=ws 2>&1 |
    sed -n 's/.*is expected: \([a-z, -]*gp-thesis[a-z, -]*\) (others.*/\1/p') (others are chosen when the program is run)" sum.df -o sum --policy=ws
expect policy-of-partition 2 "^dfc: error: --policy: unknown policy 'fastest'" "$DFC" partition sum.df --policy=fastest
refused ratio "--ratio=half: one of total, per-worker is expected" partition sum.df --ratio=half
refused vertex-weight "--vertex-weight=both: one of gpu, cpu is expected" partition sum.df --vertex-weight=both
refused device "--device=gpu: one of auto, none, emu, cuda, opencl, sim is expected; 'none' uses the CPU alone, 'cuda' a GPU, 'opencl' a device of OpenCL, 'emu' an emulated one" sum.df -o sum --device=gpu
refused seed "--seed=x: a whole number from 0 to 4294967295 is expected" partition sum.df --seed=x
refused equals-after-letter "-o=x.svg: no '=' stands between -o and its value: write '-o x.svg'" sum.df -o=x.svg
refused equals-in-folder "-I=lib: no '=' stands between -I and its value: write '-I lib'" sum.df -I=lib -o sum
for o in -o -I -L -l --platform; do refused "empty$o" "$o needs a name, and this one is empty" sum.df $o '' --emit=graph; done
refused empty-platform "--platform needs a name, and this one is empty" sum.df --platform= --emit=graph
refused small-memory "--gpu-mem=12: a size is expected, such as 512MiB or 6GiB; a number without a unit is in bytes, at least 4096" simulate sum.df --gpu-mem=12
# An option that is not there, in every command, with the closest one it has.
refused option "unknown option '--frobnicate'; 'dfc compile --help' lists them" sum.df --frobnicate
refused option-close "unknown option '--kep'; did you mean '--keep'?" sum.df -o sum --kep
# An option of the program, or of another command.
for c in run compare profile; do
    refused "$c-programs" "'--trace=t.json' is an option of the program, so it stands after '--': 'dfc $c FILE.df -- --trace=t.json'" $c sum.df --trace=t.json
    refused "$c-args" "unknown option '--k=3'; 'dfc $c --help' lists them, and options of the program stand after '--'" $c sum.df --k=3
done
refused run-waves "'--waves=1' is an option of the program, so it stands after '--': 'dfc run FILE.df -- --waves=1'" run sum.df --waves=1
refused compile-programs "'--stats' is an option of the program: './PROGRAM --stats', or 'dfc run FILE.df -- --stats'" sum.df --stats
refused other-command "'--csv=x' is an option of 'dfc compare'; 'dfc compile --help' lists those of this command" sum.df --csv=x
refused other-letter "'-i' is an option of 'dfc --format'; 'dfc compile --help' lists those of this command" sum.df -i
# What other programs call so.
for o in "--output=x -o" "--out -o" "--D -D" "--threads=4 --workers" "-j4 --workers" "--gpu --device=cuda" "-Wall --cflags=-W..."; do
    refused "elsewhere ${o% *}" "unknown option '${o% *}'; did you mean '${o#* }'?" sum.df ${o% *}
done
refused two-code "one .df file is expected, and 'sum.df' and 'vec.c' were given; the kernels of a .df name their files of code" sum.df vec.c
refused two-picture "one .df file is expected, and 'sum.df' and 'x.svg' were given; -o names what is written" partition sum.df x.svg
for c in compile partition simulate; do
    refused "$c-rest" "'--' stands before options of a graph's program, and 'dfc $c' runs none" $c sum.df -- --seed=3
done
refused option-value "unknown option '--polcy=gp'; did you mean '--policy'?" sum.df -o sum --polcy=gp
refused option-profile "unknown option '--max-rus=3'; did you mean '--max-runs'?" profile sum.df --max-rus=3
refused option-partition "unknown option '--svgg=x'; did you mean '--svg'?" partition sum.df --svgg=x
refused option-compare "unknown option '--polcy=ws'; did you mean '--policy'?" compare sum.df --polcy=ws
refused option-probe "unknown option '--devic=none'; did you mean '--device'?" probe --devic=none
refused option-short "unknown option '-z'; 'dfc compile --help' lists them" sum.df -z
# probe
refused probe-graph "probe: 'sum.df' is one argument too many: it measures the machine and reads no graph" probe sum.df
for o in --workers=3 -Dn=4 --policy=gp --emu-all; do refused "probe$o" "unknown option '$o'; 'dfc probe --help' lists them" probe $o; done
refused probe-sim "probe: a simulated device has nothing to measure" probe --device=sim
# profile
refused goal "--goal=0: a share such as 0.01 or 1% is expected" profile sum.df --goal=0
refused goal-word "--goal=1x: a share such as 0.01 or 1% is expected" profile sum.df --goal=1x
refused max-time "--max-time=2x: a time is expected, such as 500ms, 30s or 2min; a number without a unit is in seconds" profile sum.df --max-time=2x
refused value-option "--max-time needs a value" profile sum.df --max-time --force
refused max-runs "--max-runs=0: a whole number from 1 to 10000000 is expected" profile sum.df --max-runs=0
refused profile-output "-o: profile writes to the database; --db=FILE names another one" profile sum.df -o x
refused profile-sim "--device=sim: a simulated device has nothing to measure" profile sum.df --device=sim
refused profile-policy "--policy: profile runs each kernel by itself, under no policy" profile sum.df --policy=nonsense
"$DFC" profile --help | grep -q -- --policy && fail profile-policy-help "--help offers --policy" || pass profile-policy-help
# partition
refused picture-name "-o x.jpg: a name that ends in .dot, .gv, .svg or .png is expected" partition sum.df -o x.jpg
# Nothing is called a PNG that is none.
refused picture-svg "--svg=x.gif: SVG is written, so a name that ends in .svg or .png is expected" partition sum.df --svg=x.gif
refused picture-dot "--dot=a/x.SVG: DOT is written, so a name that ends in .dot or .gv is expected" partition sum.df --dot=a/x.SVG
refused picture-memory "--memory=x.pdf: SVG is written, so a name that ends in .svg or .png is expected" partition sum.df --memory=x.pdf
refused picture-emit "-o x.svg: DOT is written, so a name that ends in .dot or .gv is expected" sum.df --emit=dot -o x.svg
refused picture-compare "--svg=x.jpg: SVG is written, so a name that ends in .svg or .png is expected" compare sum.df --svg=x.jpg
refused picture-gantt "--gantt=x.eps: SVG is written, so a name that ends in .svg or .png is expected" simulate sum.df --gantt=x.eps
refused gantt-empty "--gantt needs a name, and this one is empty" simulate sum.df --gantt=
for o in --format=json --gantt=x.svg --schedule=x.csv; do
    refused "simulate-error$o" "--error: prints its table as text or csv, draws no picture and writes no schedule" simulate sum.df --error=sigma:0.1 $o
done
# A place that cannot be written is told before any work.
for c in "partition sum.df --svg" "partition sum.df --memory" "compare sum.df --csv"; do
    [ "$("$DFC" $c=no/x 2>&1)" = "dfc: error: cannot write 'no/x': No such file or directory" ] && pass "unwritable $c" || fail "unwritable $c" "$("$DFC" $c=no/x 2>&1)"
done
expect unwritable-gantt 1 "^dfc: error: cannot write 'no/x-ws.svg': No such file or directory" "$DFC" simulate sum.df --gantt=no/x.svg --policy=ws,gp
# compare
refused compare-runs "--runs=0: a whole number from 1 to 1000 is expected" compare sum.df --runs=0
refused compare-none "--policy: no policy is named" compare sum.df --policy=,
refused compare-sim "--device=sim: compare runs programs for real" compare sum.df --device=sim
expect compare-policy 2 "--policy: unknown policy 'egaer'; did you mean 'eager'" "$DFC" compare sum.df --policy=egaer

# What is found out later ends with 1.
expect platform-missing 1 "^dfc: error: cannot read 'no.df': No such file or directory" "$DFC" sum.df --emit=plan --platform=no.df
expect platform-none 1 "^sum.df:1:1: error: 'sum.df' declares no platform" "$DFC" sum.df --emit=plan --platform=sum.df
printf 'platform many { cpu host { workers = 1; }\n' > many.df
for i in $(seq 6); do echo "fpga$i f$i { memory = 1 GiB; h2d = 1 GB/s, 1 us; d2h = 1 GB/s, 1 us; }" >> many.df; done; echo '}' >> many.df
printf 'kernel a(out v: u8[4]) cost cpu 1us tpu 1us;\ngraph main { _ = a(); }\n' > tpu.df
expect platform-classes 1 "^dfc: error: platform 'many' and the graph have more than 8 classes together" "$DFC" tpu.df --emit=plan --platform=many.df
for home in "$PWD" /nonexistent; do expect "home-$home" 1 "error: \\\$DFC_HOME is '$home', and there is no '$home/include'|error: \\\$DFC_HOME is '$home', and there is no" env DFC_HOME="$home" "$DFC" sum.df -o sum --nvcc=none; done
for c in "probe --device=none" "profile sum.df" "profile --report"; do expect "db-empty $c" 1 "^dfc: error: the profile database has no name" "$DFC" $c --db=; done
printf 'not a database, but long enough to be taken for one by its size\n' > bad.db
expect database-broken 0 "warning: the profile database is not used: .*'bad.db'.*is not a database" env DFC_PROFILE=bad.db "$DFC" sum.df --emit=plan
# --help says -o once where the command takes it, and not at all where it does not.
for c in "compile 1" "probe 1" "profile 1" "partition 1" "compare 1" "simulate 1" "explain 1"; do
    n=$("$DFC" ${c% *} --help | grep -c '^  -o FILE')
    [ "$n" = "${c#* }" ] && pass "help-output-${c% *}" || fail "help-output-${c% *}" "$n lines"
done
# The tables of options: what --help shows is completed and taken. (What is in no table is refused; the cases of unknown options are above.)
"$DFC" --completion=bash > dfc.bash && bash -n dfc.bash && pass completion-bash || fail completion-bash "$(bash -n dfc.bash 2>&1)"
for c in $("$DFC" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p') compile; do
    completed=$(bash -c ". ./dfc.bash; _dfc_options $c" | tr ' ' '\n' | grep .)
    shown=$("$DFC" "$c" -h | sed -n 's/^  \(-[^ =[]*\).*/\1/p')
    [ -n "$shown" ] && [ "$shown" = "${completed//=/}" ] && pass "completes-$c" || fail "completes-$c" "$(diff <(echo "$shown") <(echo "${completed//=/}"))"
    manual=$("$DFC" --man="${c#--}" | sed -n 's/^\.B \\-/-/p' | sed 's/\\-/-/g; s/[ =[].*//')
    [ "$shown" = "$manual" ] && pass "manual-$c" || fail "manual-$c" "$(diff <(echo "$shown") <(echo "$manual"))"
    wrong=
    for o in $completed; do
        said=$("$DFC" "$c" nofile.df "$o" 2>&1 >/dev/null)
        case $said in *'internal error'* | *'unknown option'*) wrong+=" $said" ;; esac
    done
    [ -z "$wrong" ] && pass "takes-$c" || fail "takes-$c" "$wrong"
done
refused manual-unknown "there is no command 'compar'; did you mean 'compare'?" --man=compar
refused completion-shell "--completion=fish: one of bash, zsh is expected" --completion=fish
refused flag-value "--keep takes no value" sum.df --keep=yes
# What is completed where: words WANT typed… (the last word is what is being typed).
words() {
    local want=$1 got; shift
    got=$(bash -c '. ./dfc.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dfc; printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "' - "$@")
    [ "$got" = "$want" ] && pass "completion $*" || fail "completion $*" "'$got', not '$want'"
}
words "part.df partition" dfc part
words "explain" dfc expl
words "part.df" dfc partition par
words "--memory=" dfc partition --mem
words "--what-if" dfc explain sum.df --wh
words "" dfc explain sum.df --mem
words "emu" dfc sum.df --device = e
words "auto cuda emu none opencl sim" dfc sum.df --device =
words "graph" dfc sum.df --emit = gr
words "gp gp-thesis" dfc simulate sum.df --policy = gp
words "folder" dfc sum.df -I fold
words "data data.df" dfc sum.df -o dat
if command -v zsh >/dev/null; then
    "$DFC" --completion=zsh > _dfc && zsh -n _dfc && pass completion-zsh || fail completion-zsh "$(zsh -n _dfc 2>&1)"
else
    skip completion-zsh 'no zsh'
fi
# Args without defaults are asked for before anything is compiled: the compiler here would fail.
printf 'arg input: str; arg n: i32;\nkernel a(out v: i32[4]; input: str, n: i32) cpu {{ v[0] = n; (void)input; }};\ngraph main { _ = a(input, n); }\n' >args.df
for c in profile compare run; do
    expect "$c-args" 1 "^dfc: error: the graph has args without defaults: add -- --input=… --n=…$" "$DFC" $c args.df --cc=false
    expect "$c-args-one" 1 "^dfc: error: the graph has args without defaults: add -- … --n=…$" "$DFC" $c args.df --cc=false -- --input=x
    expect "$c-args-both" 1 "^dfc: error: .*compiler" "$DFC" $c args.df --cc=false -- --input x --n=3
done
# A graph with an error: each command says what is wrong with it, and nothing more.
echo 'graph main { a = nothing(); }' >wrong.df
"$DFC" wrong.df --syntax-only >wrong.want 2>&1
expect wrong-graph 0 "^wrong.df:1:18: error: unknown kernel or graph 'nothing'$" cat wrong.want
cluster=$DF_SOURCE/examples/cluster
wrong() { # COMMAND…
    "$DFC" "$@" >wrong.got 2>&1; local status=$?
    [ $status = 1 ] && cmp -s wrong.got wrong.want && pass "wrong-graph $*" || fail "wrong-graph $*" "exit $status: $(tail -n 3 wrong.got | tr '\n' ' ')"
}
for c in compile partition simulate explain profile compare run; do wrong $c wrong.df; done
for o in graph dot c metis plan; do wrong wrong.df --emit=$o -o x; done
wrong wrong.df --lib -o x.so
for c in "simulate wrong.df --policy=all" "partition wrong.df --memory=x.svg" "explain wrong.df --what-if" "compare wrong.df --rehearse" "profile --report wrong.df"; do wrong $c; done
wrong scale wrong.df --platform="$cluster/hedpm-site.df"
wrong scale wrong.df --platform="$cluster/anthill-two.df" --stream-policy=odds
wrong map wrong.df --platform="$cluster/hedpm-site.df"
[ ! -e x ] && [ ! -e x.so ] && pass wrong-graph-none || fail wrong-graph-none "$(ls)"
