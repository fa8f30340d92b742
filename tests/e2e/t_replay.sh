# --record-job writes what a job got and made, and --replay and `dfc replay` run that job alone: on the CPU, on the emulated GPU and on OpenCL, from any
# folder and under gdb. Files that are damaged or of another program are refused.
formulas_for none
cp "$programs"/* .
check compile "$DFC" jobs.df -o jobs --nvcc=none
# Every job of four waves, of kernels with extents of each wave, scalars, a state, inout, an acc, of what is once, final, left out or skipped, and of
# parts; recorded on the CPU and on the emulated GPU, replayed on both.
count() { ls "$1" | wc -l; }
replay_all() { # FOLDER OPTIONS…
    local f said
    for f in "$1"/*.job; do
        said=$(./jobs --replay="$f" "${@:2}" 2>&1) || echo "$f: $said"
        matches ': (the same bits as recorded|it skips the wave, as recorded|it has no outputs to compare, and does not fail)' "$said" || echo "$f: $said"
    done >replayed
    [ ! -s replayed ] && pass "replay $*" || fail "replay $*" "$(head -n 3 replayed)"
}
mkdir cpu emu
./jobs --waves=4 --by=3 --n=20 --record-job='*' --dump-dir=cpu --workers=2 2>&1 | sort >recorded; ./jobs --waves=4 --by=3 --n=20 | sort >plain
same recording-changes-nothing recorded plain
./jobs --waves=4 --by=3 --n=20 --device=emu --emu-all --policy=all-gpu --record-job='*' --dump-dir=emu 2>&1 | sort >recorded
same recording-on-emu recorded plain
[ "$(count cpu)" = 57 ] && [ "$(count emu)" = 57 ] && pass recorded || fail recorded "$(count cpu) $(count emu): $(ls cpu)"
replay_all cpu
replay_all emu
! long || { replay_all cpu --device=emu --emu-all; replay_all emu --policy=all-cpu; }
expect replays-where-it-was 0 "^jobs: node 'main/turn', wave 2, on emu: the same bits as recorded; 5 elements compared$" ./jobs --replay=emu/main.turn.2.job
expect replays-elsewhere 0 "^jobs: node 'main/turn', wave 2, on cpu: the same bits as recorded; 5 elements compared$" ./jobs --replay=emu/main.turn.2.job --device=none
expect acc-on-emu 0 "^jobs: node 'main/add', wave 3, on emu: the same bits" ./jobs --replay=cpu/main.add.3.job --device=emu --emu-all
expect state-on-emu 0 "^jobs: node 'main/count', wave 3, on emu: the same bits" ./jobs --replay=cpu/main.count.3.job --device=emu --emu-all
check one-wave ./jobs --waves=3 --record-job='main/od*:1' --record-job=main/turn:0 --device=none --log=error
[ "$(echo ./*.job)" = './main.odd.1.job ./main.turn.0.job' ] && pass requests || fail requests "$(ls)"

# A job that fails, replayed from another folder by dfc. Fixed, it does not fail.
mkdir failed elsewhere
expect failed 1 "the job that failed is in 'failed/main.check.2.job'; 'dfc replay' runs it again" ./jobs --waves=5 --bad=2 --record-job=failed --dump-dir=failed
[ "$(ls failed)" = main.check.2.job ] && pass failed-alone || fail failed-alone "$(ls failed)"
expect fails-again 1 "^jobs: error: node 'main/check', wave 2: 9 is bad$" env -C elsewhere "$DFC" replay ../failed/main.check.2.job
expect fails-as-recorded 1 'on emu: it fails as it did when it was recorded$' "$DFC" replay failed/main.check.2.job -- --device=emu --emu-all
mkdir onemu
expect failed-on-emu 1 '^jobs: error:' ./jobs --waves=5 --bad=2 --record-job=failed --dump-dir=onemu --device=emu --emu-all --policy=all-gpu
same as-on-cpu <("$DFC" replay onemu/main.check.2.job -- --device=none 2>&1) <("$DFC" replay failed/main.check.2.job 2>&1)
sed 's/df_wave(call) == bad/df_wave(call) < bad/' jobs.df >mended.df
check compile-mended "$DFC" mended.df -o mended --nvcc=none
expect mended 0 "^mended: node 'main/check', wave 2, on cpu: it does not fail; when it was recorded, it did: 9 is bad$" "$DFC" replay failed/main.check.2.job --program=mended
expect changed-code 0 "^mended: warning: the code of kernel 'check' has changed since the job was recorded$" "$DFC" replay failed/main.check.2.job --program=./mended
# A kernel that crashes has been recorded before its call.
check compile-crash "$DFC" crash.df -o crash --nvcc=none
(./crash --waves=3 --record-job=main/boom:1; true) >crashed 2>&1
expect crashes-again 139 "^crash: error: node 'main/boom', wave 1: the kernel crashed" "$DFC" replay main.boom.1.job

# A wrong variant: the record is the CPU's.
check compile-wrong "$DFC" wrong.df -o wrong --emu-gpu-code --nvcc=none
check record-half ./wrong --waves=4 --device=none --record-job=main/half:3
expect right-variant 0 'on cpu: the same bits as recorded; 32 elements compared' ./wrong --replay=main.half.3.job
expect wrong-variant 1 "^wrong: error: node 'main/half', wave 3: output 'o'\[1,2\] \(index 10\): recorded 6.5, here 6.75, differs by 0.25, allowed [0-9.e-]+; 1 of 32 elements differ$" \
    "$DFC" replay main.half.3.job -- --policy=all-gpu --device=emu
check record-close ./wrong --waves=1 --device=none --record-job=main/close
expect tolerance 0 "on emu: within the tolerance of what was recorded; 32 elements compared$" ./wrong --replay=main.close.0.job --device=emu
if have_opencl opencl; then
    expect on-opencl 0 "^jobs: node 'main/spread.part\[1\]', wave 1, on opencl: the same bits as recorded; [67] elements compared$" \
        ./jobs --replay="$(echo cpu/main.spread.part*1*.1.job)" --device=opencl
    mkdir cl; ./jobs --waves=2 --device=opencl --policy=all-gpu --record-job='main/spread*' --dump-dir=cl >out 2>&1
    expect from-opencl 0 'on cpu: the same bits as recorded' ./jobs --replay="$(echo cl/main.spread.part*0*.1.job)" --device=none
fi

# Under gdb, which stops in the kernel.
if ! command -v gdb >/dev/null; then skip gdb 'gdb is not installed'
elif grep -q fsanitize "$DF_BUILD/obj/flags"; then skip gdb 'a sanitizer does not run under gdb'
else
    echo bt >commands
    expect gdb 0 '#0 .* in df_run_check_cpu ' "$DFC" replay failed/main.check.2.job --debug <commands
fi
expect no-gdb 1 "^dfc: error: --debug: gdb is not installed; without it, the command is: .*/jobs --replay=cpu/main.odd.1.job$" env PATH=/nowhere "$DFC" replay cpu/main.odd.1.job --debug

# What cannot be replayed, recorded or read.
expect state-note 0 '^jobs: note: the job gets what its node kept by df_state\(\), 8 bytes; pointers in them lead nowhere$' ./jobs --replay=cpu/main.count.3.job
cat >none.df <<'X'
kernel load(out p: f32[m <= 8]) ordered cpu {{ *m = 0; (void)p; }};
kernel show(in p: f32[m]) ordered zero_extents cpu {{ (void)p; printf("%zu\n", m); }};
graph main { p = load(); show(p); }
X
check compile-none "$DFC" none.df -o none --nvcc=none
check record-none ./none --record-job=main/show
expect zero-extents 1 "^none: error: node 'main/show' was not called: an input is empty, or has an extent of 0, which cannot be given$" ./none --replay=main.show.0.job
check damaged python3 damage.py ./jobs failed/main.check.2.job
expect not-a-job 1 "^dfc: error: 'jobs.df' is not a job that --record-job has written$" "$DFC" replay jobs.df
expect no-file 1 "^dfc: error: cannot read 'nowhere.job': No such file or directory$" "$DFC" replay nowhere.job
expect a-folder 1 "^jobs: error: cannot read '/': Is a directory$" ./jobs --replay=/
expect other-program 1 "^crash: error: this program has no node 'main/odd': the job was recorded by '.*/jobs'$" "$DFC" replay cpu/main.odd.1.job --program=./crash
sed 's/f32\[4, 8\]/f32[4, 9]/' wrong.df >sized.df; sed 's/close(in v: f32/close(in v: i32/; s/make(out v: f32/make(out v: i32/; s/half(in v: f32/half(in v: i32/; s/v: f32.4, 8. = make/v: i32[4, 8] = make/; /^kernel/s/gpu "wrong.c"//' wrong.df >typed.df
for other in sized typed; do check compile-$other "$DFC" $other.df -o $other --emu-gpu-code --nvcc=none; done
expect other-size 1 "^sized: error: the job does not fit this program: 'w' of node 'main/close' is 9 here, and was 8 when it was recorded$" ./sized --replay=main.close.0.job
expect other-port 1 "^typed: error: the job does not fit this program: port 'v' of node 'main/close' is declared differently$" ./typed --replay=main.close.0.job
mv jobs away
expect program-gone 1 "^dfc: error: the program that recorded the job, '.*/jobs', is not there: 'dfc .*/jobs.df -o PATH' makes it, and --program=PATH names it$" "$DFC" replay cpu/main.odd.1.job
mv away jobs
expect no-program 1 "^dfc: error: --program: cannot start './away': No such file or directory$" "$DFC" replay cpu/main.odd.1.job --program=./away
expect no-job 2 "^dfc: error: a job is expected, as a program writes it with --record-job=NODE:WAVE; 'dfc replay --help' says more$" "$DFC" replay
expect two-jobs 2 "^dfc: error: one job at a time: 'a.job' and 'b.job' are given$" "$DFC" replay a.job b.job
expect arg-twice 2 '^jobs: error: --bad: the file of --replay says what it is$' ./jobs --replay=cpu/main.odd.1.job --bad=1
for option in --waves=2 --serial --record-job=failed --dump=main/odd --check=variants --stats --trace=t.json --device=sim; do
    expect "replay $option" 2 "^jobs: error: --replay runs one job, and does not go with ${option%%=*}" ./jobs --replay=cpu/main.odd.1.job $option
done
expect record-nothing 2 "^jobs: error: --record-job needs the name of a node, or 'failed'$" ./jobs --record-job=
expect record-unknown 1 "^jobs: error: --record-job: there is no node 'main/od'; did you mean 'main/odd'\?$" ./jobs --record-job=main/od
expect record-no-wave 0 '^jobs: warning: --record-job=main/odd:77: there was no such wave' ./jobs --waves=1 --record-job=main/odd:77
expect record-copy 1 "^jobs: error: --record-job=main/copy: it calls no kernel; name the nodes that read it$" ./jobs --record-job=main/copy
expect record-folder 1 "^jobs: error: --dump-dir: cannot write to 'nowhere': No such file or directory$" ./jobs --record-job=failed --dump-dir=nowhere
expect record-sim 2 '^jobs: error: --record-job: no kernel is called in the virtual time of --device=sim$' ./jobs --device=sim --record-job=failed

# A job of an application that fails, in another folder and under gdb.
long || exit 0
if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip nuclei 'libpng is not installed'; exit 0; fi
check compile-nuclei "$DFC" "$DF_SOURCE/examples/nuclei/nuclei.df" -o nuclei --nvcc=none -D tile=256 -D most=20
fails="^nuclei: error: node 'main/features/boxes', wave 0: more than 20 nuclei in one tile"
expect nuclei 1 "$fails" ./nuclei --device=none --input="$DF_SOURCE/examples/nuclei/nuclei.png" --record-job=failed
expect nuclei-again 1 "$fails" env -C elsewhere "$DFC" replay ../main.features.boxes.0.job
expect nuclei-on-emu 1 "$fails" env -C elsewhere "$DFC" replay ../main.features.boxes.0.job -- --device=emu --emu-all
! command -v gdb >/dev/null || grep -q fsanitize "$DF_BUILD/obj/flags" ||
    expect nuclei-gdb 0 '#0 .* in df_run_boxes_cpu ' env -C elsewhere "$DFC" replay ../main.features.boxes.0.job --debug <commands
