# The steps of a first run on a GPU (tests/bench/gpu/step4.sh, step5.sh, step6.sh) on the emulated one: the programs that they list are all that
# they need; each figure is measured; a second call goes on where the first ended; and what fails or is not there is counted as what it is.
# No figure is looked at. GPU_STEPS=all (make check-long) probes, and runs the whole bench, too.
steps=$DF_SOURCE/tests/bench/gpu
check sources sh "$steps/sources.sh" src
mkdir -p programs
formulas_for none
[ "${GPU_STEPS:-}" = all ] || cat >kept <<'X'
platform kept { cpu host { workers = 2; memory = 4 GiB; bandwidth = 20 GB/s; }
    gpu emu0 { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }
X
figures="4 6"; ! long || figures="4 5 6"
for step in $figures; do sh "$steps/step$step.sh" --programs; done | tr -s ' ' | sort -u >listed
while read -r name how; do
    case $how in
    *nvcc*) ;;                          # not on the emulator
    'dfc itself:'*)                     # which probes once, because it takes seconds, or is said to have found this
        printf '#!/bin/sh\nfor to; do :; done\n[ -s "%s" ] || "%s" "$@" || exit\n[ -s "%s" ] || cp "$to" "%s"\ncp "%s" "$to"\n' \
            "$PWD/kept" "$DFC" "$PWD/kept" "$PWD/kept" "$PWD/kept" >programs/dfc; chmod +x programs/dfc ;;
    *)  read -ra arguments <<<"${how#dfc }"
        arguments=("${arguments[@]//SOURCES/src}"); arguments[-1]=programs/${arguments[-1]}
        check "builds-$name" "$DFC" "${arguments[@]}" --nvcc=none ;;
    esac
done <listed
export SIZES=32 POLICIES=gp; ! long || SIZES='32 48'
for step in $figures; do
    dash=$(command -v dash || echo sh)
    "$dash" "$steps/step$step.sh" programs out$step emu >said 2>&1 && tail -n 1 said | grep -qE '^[1-9][0-9]* passed, 0 failed, [01] skipped$' &&
        ! grep '^skip' said | grep -v 'dmda gave the GPU no job' && pass "step$step" ||
        fail "step$step" "$(grep -v '^ok' said | head -n 5)"
    n=$(ls "out$step" | wc -l)
    if [ "$n" -le 4 ]; then pass "step$step-files"; else fail "step$step-files" "$n files"; fi
    cp "out$step/step$step.csv" before
    BUDGET_S=0 sh "$steps/step$step.sh" programs out$step emu >said 2>&1
    same "step$step-goes-on" "out$step/step$step.csv" before
    [ $step = 4 ] && ! long || expect "step$step-without-a-gpu" 0 '^0 passed, 0 failed, [1-9][0-9]* skipped$' sh "$steps/step$step.sh" programs none cuda
    expect "step$step-usage" 2 "^usage: step$step.sh PROGRAMS OUT cuda" sh "$steps/step$step.sh" programs out
done
mkdir drivers
OCL_ICD_VENDORS=$PWD/drivers expect step4-without-opencl 0 '^0 passed, 0 failed, [1-9][0-9]* skipped$' sh "$steps/step4.sh" programs none opencl
expect step6-without-opencl 2 '^usage: step6.sh PROGRAMS OUT cuda\|emu, or' sh "$steps/step6.sh" programs none opencl
if long && have_opencl step4-opencl; then expect step4-opencl 0 '^10 passed, 0 failed, 0 skipped$' env TURNS=1 sh "$steps/step4.sh" programs cl opencl; fi
expect no-time 0 '^0 passed, 0 failed, [1-9][0-9]* skipped$' env BUDGET_S=0 sh "$steps/step6.sh" programs late emu
mkdir long few; cp out6/* long/; grep -v ' under gp,' out6/step6.csv >long/step6.csv # so the predictions are there, and gp itself is to be run
expect too-long 0 '^skip matrix of 32 under gp: .* is predicted to take ' env WAVE_LIMIT_S=1e-9 sh "$steps/step6.sh" programs long emu
TURNS=2 sh "$steps/step6.sh" programs out6 emu >said 2>&1
if grep -q '^ok matrix of 32 under default = .* (median of 2)$' said; then pass turns; else fail turns "$(tail -n 3 said)"; fi
cp programs/chain few/
expect missing-program 1 '^skip product of 32 rows on the GPU: there is no program times in ' env SIZES=32 sh "$steps/step6.sh" few out7 emu
printf '#!/bin/sh\necho broken >&2; exit 3\n' >programs/chain300
cp out4/step4.csv before; grep -v ' of 300 ' before >out4/step4.csv
expect broken-program 1 '^not ok chain of 300 with --cuda-graphs=off \(32 LAZY\): chain300 .* exit 3 broken' sh "$steps/step4.sh" programs out4 emu

expect bench-usage 2 '^usage: run.sh BUILDDIR OUT cuda\|emu\|opencl' "$steps/run.sh" "$DF_BUILD"
[ "${GPU_STEPS:-}" = all ] || exit 0

# The bench compares policies once the machine was probed and the kernels were profiled: so the default is gp, by times that were measured.
TURNS=1 MATRIX_N=32 MATRIX_POLICIES='gp dmda' "$steps/run.sh" "$DF_BUILD" bench emu >bench.csv 2>said || fail bench "$(tail -n 3 said)"
for line in 'h2d through a graph (32 LAZY),[0-9.]+,GB/s' 'times of the matrix graph measured,[1-9][0-9]*,times' 'matrix under gp predicted,[0-9.]+,ms a wave' \
    'matrix under default \(gp\),[0-9.]+,ms a wave' 'matrix under dmda,[0-9.]+,ms a wave'; do
    if grep -qE "^${line/(32 LAZY)/\\(32 LAZY\\)}\$" bench.csv; then pass "bench ${line%%,*}"; else fail "bench ${line%%,*}" "$(cat bench.csv said)"; fi
done
expect bench-plan 0 'times: +[0-9]+ measured|[0-9]+ measured' env DFC_PROFILE=bench/profile.db "$DFC" partition bench/src/measured.df -D n=32 --device=emu --platform=bench/probe.df
