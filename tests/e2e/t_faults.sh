# Faults: for each call of the emulated GPU that can fail, its N-th failure for N = 1, 2, ... until the flow succeeds. Each must end soon, with
# exit 1 and an error that names the node, or what was done for none. DF_FAULTS=all takes every N; else the steps grow, so that few are run.
cp "$DF_SOURCE"/examples/sum/* .
cp "$DF_SOURCE"/examples/matrix/*.c "$DF_SOURCE"/examples/matrix/*.cu .
cp "$DF_SOURCE"/examples/photo/photo.df "$DF_SOURCE"/examples/photo/synthetic.c .
cc -std=c11 -o generate generate.c && ./generate --kind=mixed --n=16 >matrix.df
cc -std=c11 -D_GNU_SOURCE -o synthetic synthetic.c -lpng -lm && ./synthetic 150 130 7 in.png
formulas_for none
for app in sum matrix; do check "compile-$app" "$DFC" $app.df --nvcc=none -o $app; done
check compile-photo "$DFC" photo.df --nvcc=none --no-opencl -o photo -D tile=64

args_sum=() args_matrix=() args_photo=(--input=in.png --output=out.png)
little_sum=--gpu-mem=12KiB little_matrix=--gpu-mem=16KiB little_photo=--gpu-mem=64KiB

step() { # N: the next one
    if [ "${DF_FAULTS:-}" = all ]; then echo $(($1 + 1)); else echo $(($1 < 2 ? $1 + 1 : $1 * 3)); fi
}

# One failure after the other; says why it is not as it should be.
flow() { # APP CALL OPTIONS...
    local app=$1 call=$2 n=1 failed=0 named="node '[^']+', wave [0-9]+" rc line told; shift 2
    local -n own=args_$app
    case $call in open | alloc) named='emu0: ' ;; event) named="beginning: emu0: |$named" ;; esac
    while :; do
        DF_EMU_TRIAL=fail=$call:$n timeout 150 ./"$app" "${own[@]}" --device=emu "$@" >out.txt 2>err.txt; rc=$?
        [ $rc = 0 ] && break
        [ $rc = 1 ] || { echo "$call:$n: exit $rc: $(<err.txt)"; return 1; }
        told=0
        while IFS= read -r line; do
            [[ $line =~ ^$app:\ error:\ ($named).*$call\ $n\ failed,\ as\ asked\ for || $line == "$app: error: emu0: out of memory at alloc $n, as asked for"* ]] && told=1
        done <err.txt
        [ $told = 1 ] || { echo "$call:$n: $(<err.txt)"; return 1; }
        failed=$((failed + 1)); n=$(step $n)
        [ $n -lt 100000 ] || { echo "$call: no end"; return 1; }
    done
    # whether a launch must wait for a copy, and where dmda places jobs, is a matter of time
    [ $failed -gt 0 ] || [[ "$call $*" = wait* || "$*" = *dmda* ]] || { echo "$call never failed"; return 1; }
    echo "$failed" >>failed.txt
    ./"$app" "${own[@]}" --device=emu "$@" 2>/dev/null | sort | cmp -s - <(sort out.txt) || { echo "$call:$n: other output"; return 1; }
}

# The same for the program's own allocations, at most $stride apart: exit 1 and a sentence, or, if there is another way, the same output; and none
# is left.
memory() { # APP OPTIONS...
    local app=$1 n=1 failed=0 what left kept next rc; shift
    local -n own=args_$app
    LD_PRELOAD=./fail_malloc.so FAIL_MALLOC_SAYS=said ./"$app" "${own[@]}" "$@" 2>/dev/null | sort >whole.txt
    read -r what kept <said
    while :; do
        timeout 150 env LD_PRELOAD=./fail_malloc.so FAIL_MALLOC=$n FAIL_MALLOC_SAYS=said ./"$app" "${own[@]}" "$@" >out.txt 2>err.txt; rc=$?
        if [ $rc = 0 ]; then
            sort out.txt | cmp -s - whole.txt || { echo "malloc:$n: other output"; return 1; }
        elif [ $rc = 139 ] && grep -q -- --coverage "$DF_BUILD/obj/flags" 2>/dev/null; then
            break                                       # the allocations of gcov itself at the end of the process, which it does not check
        elif [ $rc != 1 ] || ! grep -q "^$app: error: .*memory" err.txt; then
            echo "malloc:$n: exit $rc: $(cat err.txt)"; return 1
        fi
        read -r what left <said
        [ $left -le $kept ] || { echo "malloc:$n: $left allocations left, else $kept"; return 1; }
        [ $what = failed ] || break
        failed=$((failed + 1)); next=$(step $n)
        n=$((n < 7 ? n + 1 : next > n + stride ? n + stride : next))
    done
    [ $failed -gt 10 ] || { echo "only $failed allocations"; return 1; }
    echo "$failed" >>failed.txt
}

: >failed.txt
for app in sum matrix photo; do
    little=little_$app
    calls=(open alloc copy launch event wait query late-copy late-launch)
    long || [ $app != photo ] || calls=(alloc copy late-launch)
    for call in "${calls[@]}"; do
        check "$app-$call" flow $app $call --policy=all-gpu
        # with memory for one job, so that copies are written back; one worker and one job leave no choice of order
        case $call in *copy | query) check "$app-$call-little" flow $app $call --policy=all-gpu "${!little}" --gpu-jobs=1 ;; esac
    done
    check "$app-dmda" flow $app late-copy --policy=dmda --emu-all
done
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then skip malloc "a sanitizer has its own malloc"; else
    cc -O1 -shared -fPIC -o fail_malloc.so "$DF_SOURCE/tests/e2e/fail_malloc.c"
    for app in sum matrix photo; do stride=$(long && echo 97 || echo 197) check "$app-malloc" memory $app --device=emu --policy=all-gpu; done
    stride=$(long && echo 281 || echo 601) check "matrix-malloc-gp" memory matrix --device=emu --policy=gp
fi
expect bad-call 1 "DF_EMU_TRIAL: nothing called 'paint' can fail; there are: open, alloc, .*late-launch" env DF_EMU_TRIAL=fail=paint:1 ./sum --device=emu
expect bad-slow 1 "DF_EMU_TRIAL: '0.5' is neither a factor from 1 to" env DF_EMU_TRIAL=slow=0.5 ./sum --device=emu
expect bad-seed 1 "DF_EMU_TRIAL: '0' is no seed" env DF_EMU_TRIAL=reorder=0 ./sum --device=emu
./sum >want; DF_EMU_TRIAL=slow=2 ./sum --device=none >got; same without-emu got want
DF_EMU_TRIAL=slow=5,reorder=9 ./sum --device=emu --policy=all-gpu >got; same slow-and-stirred got want
echo "figure faults: $(awk '{ n += $1 } END { print n }' failed.txt) runs that failed"
