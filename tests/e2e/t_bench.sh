# `make bench` on graphs of a few nodes: its programs build, run and agree; that a node that ran wrongly is noticed; what is missing, late or
# broken is skipped and counted, or an error; and the table that is made of it all. No figure is looked at.
bench=$DF_SOURCE/tests/bench
cp "$programs/order.c" .
check order-builds cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$bench" -o order order.c
for shape in chain tree wavefront independent random; do
    wrong=
    ./order $shape forwards || wrong+=' forwards'
    for how in twice less again backwards; do
        [ $shape-$how = independent-backwards ] || { ./order $shape $how; [ $? = 1 ] || wrong+=" $how"; }
    done
    if [ -z "$wrong" ]; then pass "order $shape"; else fail "order $shape" "not as it should be:$wrong"; fi
done

columns=shape,threads,system,nodes,work_ns,ns_per_node,cpu_over_wall,bytes_per_node,times_faster,rounds,clean
made() { # DIR: files as the parts leave them
    mkdir -p "$1/starpu"
    printf '%s\n' $columns chain,1,oneTBB,10000,0,50,1.00,,,5,5 chain,1,OpenMP,10000,0,200,0.30,,,5,0 chain,1,ws,10000,0,10,1.00,60,5.00,5,4 \
        chain,1,all-cpu,10000,0,2,1.00,60,25.00,5,4 >"$1/dispatch.csv"
    printf '%s\n' $columns chain,1,StarPU,1000,0,90000,0.50,,,5,0 chain,1,OpenCL,1000,0,2000,1.00,,,5,5 chain,1,all-gpu,1000,0,8000,1.00,,,5,5 >"$1/opencl.csv"
    printf '%s\n' row,ours_ns,cpu/wall,ck_ns,cpu/wall,ratio,runs,clean pairs,20,1.00,30,1.00,0.5,9,4 >"$1/queue.csv"
    printf '%s\n' '| nodes | policy | x | planning | share |' '|---|---|---|---|---|' '| 1,000 | `gp` | 1.01 | 100 ms | 1.00 |' \
        '| 1,000 | `gp-thesis` | 2.02 | 50 ms | 0.50 |' >"$1/scale.md"
    printf '%s\n' system,threads,run,wall_s,cpu_s dfc,1,0,0.4,0.4 dfc,1,1,9,0.5 'plain loop,1,0,0.2,0.2' 'plain loop,1,1,0.3,0.3' >"$1/endtoend.csv"
    printf '%s\n' n,system,policy,run,wave_s,cpu_over_wall 64,StarPU,eager,1,0.004,1 64,StarPU,dmda,1,0.009,1 64,dfc,eager,1,0.002,1 64,dfc,default,1,0.003,1 >"$1/starpu/starpu.csv"
    printf '%s\n' 'skip dispatch beside StarPU: libstarpu-dev is not installed' >"$1/skipped.txt"
}
made good; n=0
expect table 0 '^14 rows, 1 skipped$' python3 "$bench/bench.py" good
for line in 'dispatch | chain, 10,000 nodes, 1 worker | ns/node | ws | 10 | 1.00 | oneTBB | 50 | 1.00 | 5 | 4 of 5' \
            'dispatch | chain, 10,000 nodes, 1 worker | ns/node | ws | 10 | 1.00 | OpenMP | 200 | 0.30 | ~20 | 4 of 5' \
            'dispatch | chain, 10,000 nodes, 1 worker | ns/node | all-cpu | 2 | 1.00 | oneTBB | 50 | 1.00 | 25 | 4 of 5' \
            'OpenCL | chain, 1,000 nodes, 1 worker | ns/node | all-gpu | 8,000 | 1.00 | OpenCL | 2,000 | 1.00 | 0.25 | 5 of 5' \
            "dispatch | chain, 10,000 nodes, a run's memory | bytes/node | ws | 60 | 1.00 |  |  |  |  | 4 of 5" \
            'queue | pairs | ns/item | ours | 20 | 1.00 | ck_fifo_mpmc | 30 | 1.00 | 2 | 4 of 9' \
            'plan | layered, 1,000 nodes: planning | ms | gp | 100 | 1.00 | METIS alone | 50 | 0.50 | ~0.5 | 3 of 3' \
            'plan | layered, 1,000 nodes: makespan / bound |  | gp | 1.01 | 1.00 | METIS alone | 2.02 | 0.50 | 2 | 3 of 3' \
            'end to end | photo, 1 worker | ms | dfc | 400 | 1.00 | plain loop | 250 | 1.00 | 0.625 | 1 of 2' \
            "end to end | matrix, 38 of 64 rows, dfc unasked, StarPU's best | ms/wave | dfc default | 3 | 1.00 | StarPU eager | 4 | 1.00 | 1.33 | 1 of 1" \
            'end to end | matrix, 38 of 64 rows, the best policy of each | ms/wave | dfc eager | 2 | 1.00 | StarPU eager | 4 | 1.00 | 2 | 1 of 1'; do
    if grep -qF -- "| $line |" good/bench.md; then pass "row $((++n))"; else fail "row $((++n))" "$line: $(grep "| ${line%%|*}" good/bench.md)"; fi
done
expect skipped 0 'skipped: dispatch beside StarPU: libstarpu-dev is not installed' cat good/bench.md
expect csv 0 '^dispatch,"chain, 10,000 nodes, 1 worker",ns/node,ws,10,1,OpenMP,200,0.3,20,5,4,0$' cat good/bench.csv
check plot python3 -c 'import xml.dom.minidom as m; t = m.parse("good/bench.svg").toxml(); assert "OpenMP: ~20" in t and "ck_fifo_mpmc" in t'
printf 'before\n<!-- bench -->\nold\n<!-- end -->\nafter\n' >page.md
check update python3 "$bench/bench.py" good page.md
if [ "$(head -n 1 page.md)$(tail -n 1 page.md)" = beforeafter ] && ! grep -q '^old' page.md && cmp -s bench.svg good/bench.svg &&
    grep -qF '| chain, 10,000 nodes | 1 | 10 (1.00) | 2 (1.00) | 50 (1.00) | ~200 (0.30) |' page.md; then pass updated; else fail updated "$(cat page.md)"; fi
echo nothing >page.md
expect no-place 1 'page.md has 0 places' python3 "$bench/bench.py" good page.md
mkdir empty
expect nothing 1 'bench: error: nothing was measured' python3 "$bench/bench.py" empty
expect usage 1 '^usage: bench.py OUT' python3 "$bench/bench.py"

# A part that fails, and one that does not end: a dfc that does so.
mkdir -p broken/bin broken/lib; printf '#!/bin/sh\nexit 3\n' >broken/bin/dfc; chmod +x broken/bin/dfc
expect broken 1 'bench: error: large: exit status' env PARTS=large bash "$bench/run.sh" broken broken/out
printf '#!/bin/sh\nexec sleep 60\n' >broken/bin/dfc
expect late 1 '^skip large: not done after 1 s' env PARTS=large LIMIT_S=1 bash "$bench/run.sh" broken broken/out

if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then
    skip programs 'the benchmarks are not built with a sanitizer'
    return 0 2>/dev/null || exit $((failures > 0))
fi
formulas_for none; export CXX=$FORMULA_CXX  # a word that peers are looked for with
peers=${BENCH_PEERS:-OpenMP}               # check-long has all; the photo has oneTBB
NODES=60 ROUNDS=1 POLICIES="ws all-cpu" PEERS=$peers bash "$bench/dispatch.sh" "$DF_BUILD" dispatch >out 2>&1 || fail dispatch "$(tail -n 3 out)"
n=$(awk -F, 'NR > 1 && $6 > 0' dispatch/dispatch.csv | wc -l) missing=$(grep -c '^skip dispatch beside' out)
if [ "$n" = $((10 * (2 + $(wc -w <<<"$peers") - missing))) ]; then pass dispatch; else fail dispatch "$n rows, $missing skipped: $(tail -n 3 out)"; fi
grep '^skip dispatch beside' out
bash "$bench/queue.sh" "$DF_BUILD" queue --csv --runs=1 >out 2>&1 || fail queue "$(cat out)"
if grep -q '^skip' out; then grep '^skip' out; elif [ "$(grep -cE '^[12a-z]+(,[0-9.]+){7}$' out)" = 4 ]; then pass queue; else fail queue "$(cat out)"; fi
mkdir photo
expect photo 0 'programs, 1 rounds: the same picture of 300 x 300' python3 "$bench/endtoend.py" "$DF_BUILD" photo --rounds=1 --side=300

# Without peers: nothing fails, each is counted.
mkdir nothing; printf '#!/bin/sh\nexit 1\n' >nothing/pkg-config; chmod +x nothing/pkg-config
printf '#!/bin/sh\ncase " $* " in *" -fopenmp "*) exit 1 ;; esac\nexec cc "$@"\n' >nothing/gcc-without; chmod +x nothing/gcc-without
expect no-peers 0 '^1 programs run, 3 skipped' env PATH="$PWD/nothing:$PATH" CXX=false CC=gcc-without NODES=9 ROUNDS=1 WORKERS=1 bash "$bench/dispatch.sh" \
    "$DF_BUILD" alone

# What a turn of editing costs is asked of a graph, which finds its spots.
expect edits-graph 0 '^88 spots, 2400 pixels, mean 0\.1947, most 0\.5296$' "$DFC" run "$bench/edits/spots.df" --nvcc=none
long || return 0

# Nodes on an OpenCL device: rows of all that are installed, and each program finds the value of the last node.
if have_opencl dispatch-opencl; then
    DEVICE=opencl NODES=60 WORKERS=1 SHAPES=wavefront ROUNDS=1 POLICIES="all-gpu default" bash "$bench/dispatch.sh" "$DF_BUILD" opencl >out 2>&1 || fail dispatch-opencl "$(tail -n 3 out)"
    n=$(awk -F, 'NR > 1 && $6 > 0 { print $3 }' opencl/dispatch.csv | tr '\n' ' ') missing=$(grep -o '^skip dispatch beside [A-Za-z]*' out)
    case $n:$missing in *'all-gpu default :') [[ $n = 'StarPU OpenCL OpenCL+finish '* ]] ;; *StarPU) [[ $n = 'OpenCL OpenCL+finish all-gpu'* ]] ;; *) [ -n "$missing" ] ;; esac &&
        pass dispatch-opencl || fail dispatch-opencl "$n: $(tail -n 3 out)"
fi

# Tiles on one worker and two.
expect two-workers 0 '^2 tiles of 256: one worker [0-9.]+ ms, two [0-9.]+ ms, [0-9.]+ times as quick' python3 "$bench/two_workers.py" "$DF_BUILD" two --turns=1 \
    --size=300x200 --tiles=256

# Harris divided over two workers beside two processes: it runs, and all give the same bits.
expect divided 0 '^64 x 64: two processes .* ratio [0-9.]*$' python3 "$bench/divided.py" "$DF_BUILD" . --side=64 --rounds=1 --calls=1

# What a turn of editing costs: each row is there.
check edits sh -c 'N=1 "$0" "$1" >edits.md' "$bench/edit_cycle.sh" "$DF_BUILD"
for row in 'nine kernels, empty cache' 'one formula edited' 'unchanged' 'one formula, empty cache'; do
    expect "edits ${row//,/}" 0 "^\\| $row \\| [0-9]+\\.[0-9]+ \\| [0-9.]+ \\|$" cat edits.md
done
