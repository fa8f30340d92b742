# examples/matrix: generated graphs have the shape they promise, and print the same under every policy, equal to check.py's computation.
formulas_for none
matrix=$DF_SOURCE/examples/matrix
cp "$matrix"/*.c "$matrix"/*.cu "$matrix"/kernels.df .
cc -std=c11 -o generate generate.c
for kind in mm ma mixed; do
    ./generate --kind=$kind --n=24 >$kind.df
    [ "$(grep -cE ' = m[am]\(' $kind.df)" = 38 ] && pass "$kind-38-kernels" || fail "$kind-38-kernels" "$(grep -cE ' = m[am]\(' $kind.df)"
    deps=$(sed -nE 's/.*(d[0-9]+): matrix = m[am]\((d[0-9]+), (d[0-9]+)\).*/\1 \2\n\1 \3/p' $kind.df | sort -u | wc -l)
    [ "$deps" = 75 ] && pass "$kind-75-dependencies" || fail "$kind-75-dependencies" "$deps"
    check "$kind-compiles" "$DFC" $kind.df --nvcc=none -o $kind
    for set in '--device=none' '--device=emu'; do for policy in eager ws dmda gp-thesis; do
        # shellcheck disable=SC2086
        ./$kind --policy=$policy $set >out.txt 2>err.txt
        sort out.txt >sorted
        if [ -e $kind.want ]; then same "$kind-$policy${set#--device}" sorted $kind.want; continue; fi
        check "$kind-$policy${set#--device}" python3 "$matrix/check.py" $kind.df out.txt; mv sorted $kind.want
    done; done
done
# --std: the same graph, with formulas and std/blas.df in place of the C and CUDA.
./generate --kind=mixed --n=24 --std >std.df
check std-compiles "$DFC" std.df --nvcc=none -w -o std
./mixed --device=none | sort >want
for options in '--device=none --workers=2' '--device=emu --emu-all --policy=random' '--device=emu --policy=gp'; do
    # shellcheck disable=SC2086
    ./std $options >got; sort got >got.sorted; same "std ${options#--device=}" want got.sorted
done
# On OpenCL's device, alone, with more workers and beside the emulated GPU, with all and the least memory. check.sh has all policies, and the other examples.
if have_opencl opencl; then
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable   # kernels are compiled in less time
    try() { ./std "$@" >got && sort got | cmp - want; }
    verdict() { if [ "$1" = 0 ]; then pass "$2"; else fail "$2" "$(cat run.log)"; fi; }
    dfc=$DFC places=() policies=(eager ws dmda gp pams all-gpu)
    . "$DF_SOURCE/examples/policies.sh"
    opencl_places std try 4096
    for i in "${!places[@]}"; do
        # shellcheck disable=SC2086
        check "std --policy=${policies[i]} ${places[i]}" try --policy=${policies[i]} ${places[i]}
    done
    if [ ${#places[@]} = 6 ]; then pass opencl-places; else fail opencl-places "${places[*]}"; fi
fi
check std-right python3 "$matrix/check.py" std.df got
expect generate-std-costs 2 '[-]-costs, --titan and --std exclude each other' ./generate --costs --std
expect generate-titan-costs 2 '[-]-costs, --titan and --std exclude each other' ./generate --costs --titan
./generate --seed=2 >a.df; ./generate --seed=2 >b.df; same generate-repeatable a.df b.df
expect generate-bad-deps 2 'dependencies, not 5' ./generate --deps=5
expect generate-bad-option 2 "unknown option '--what'" ./generate --what
