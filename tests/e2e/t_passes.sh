# Passes whose sources are called again (`restart`), so that nothing is kept; and runs that are refused because too much would be.
export NVCC=none DFC_PROFILE=$PWD/profile.db
formulas_for none
programs=$DF_SOURCE/tests/e2e/programs/volume
for n in 1 8; do "$DFC" "$programs/restart.df" --parts=$n -o restart-$n; done
"$DFC" "$programs/restart.df" --parts=8 -D ordered=1 -o restart-ordered
for n in 1 8; do "$DFC" "$programs/parts.df" --parts=$n -o parts-$n; done

# The stream ends early, at the cap, in the first wave, or there is no cap; it skips. Its state is a new one in each pass.
for shape in "30 20 100" "20 50 3" "20 0 5" "1000000000000 9 2" "7 1 1" "0 20 4"; do
    read -r waves end gaps <<<"$shape"
    cap=--waves=$waves
    if [ "$waves" = 0 ]; then cap=--inflight=2; fi
    ./restart-1 "$cap" --end="$end" --gaps="$gaps" --device=none >want 2>said
    turn=$((${turn:-0} + 1))            # in make check the first shape has gp with all four sets, and each policy with two; each other shape one of the policies with two
    for policy in eager dmda gp; do
        case $((turn % 3))$policy in 1eager | 2dmda | 0gp) ;; *) [ $turn = 1 ] || long || continue ;; esac
        for options in "4 --device=none --workers=1 --passes=4" "8 --device=emu --emu-all --passes=8" \
            "3 --device=none --workers=2 --passes=3" "4 --device=emu --emu-all --workers=2 --gpu-mem=272KiB"; do
            set=$((${set:-0} + 1)); [ $turn$policy = 1gp ] || long || [ $(((turn + set) % 2)) = 0 ] || continue
            states=${options%% *}
            if [ "$end" = 0 ]; then states=1; fi
            if timeout 150 ./restart-8 "$cap" --end="$end" --gaps="$gaps" --policy="$policy" ${options#* } >got 2>said && cmp -s want got &&
                [ "$(grep -c '^state [0-9]*: [0-9]*$' said)" = "$states" ]; then pass "restart-$policy"
            else fail "restart-$policy $shape" "$options: $(head -c 300 said)"; fi
        done
    done
done
./restart-1 --device=none >want 2>said
expect late 1 "node 'main/project', wave 18: the stream is 'restart' and ended here in pass 1; in pass 0 it had 20 waves" \
    ./restart-8 --passes=2 --late=18 --device=none
# What is behind a kernel in order is kept.
./restart-ordered --passes=4 --device=none >got 2>said
same ordered got want
expect ordered-once 0 '^1$' grep -c "^state 0: 20" said
./restart-ordered --passes=4 --gaps=5 --device=none --stats >got 2>said
check empty grep -q "^main/in_turn  *16  *4$" said

# A state that cannot be ended between two passes.
cat >ends.c <<'EOF'
#include <stdio.h>
static int end(void *state, int good, struct df_error *error)
{
    (void)state, (void)good;
    snprintf(error->text, sizeof error->text, "the file is gone");
    return DF_FAILED;
}
int project_cpu(struct df_call *call, size_t n, int32_t *p)
{
    (void)n;
    if (!df_state(call, 4, end))
        return DF_FAILED;
    p[0] = 1;
    return DF_OK;
}
EOF
cat >ends.df <<'EOF'
kernel project(out p: i32[n]) restart ordered cpu "ends.c";
kernel add(in p: i32[n], acc s: i32[z] split z) cpu {{ for (size_t k = 0; k < z; k++) s[k] += p[0]; }};
kernel tell(in s: i32[z]) cpu {{ printf("%d\n", s[0]); }};
graph main { p: i32[4] = project(); s: i32[4] = add(p) @parts(2); tell(s); }
EOF
"$DFC" ends.df -o ends
expect ends 1 "node 'main/project', wave 0: at the end of a pass: the file is gone" ./ends --waves=3 --passes=2 --device=none

# A trace says wave and pass.
./restart-8 --passes=2 --device=emu --end=3 --trace=trace.json >got 2>said
check trace python3 -c "
import json, sys
got = [(e['args']['pass'], e['args']['wave']) for e in json.load(open('trace.json'))['traceEvents'] if e['name'] == 'main/project']
if got[:3] != [(0, 0), (0, 1), (0, 2)] or got[-3:] != [(1, 0), (1, 1), (1, 2)]: sys.exit(str(got))"

# A source that is no stream is called again, too. What is copied: the volume once, and a projection once a pass.
sed 's/out p: f32\[n\]) cpu/out p: f32[n]) restart cpu/' "$programs/parts.df" >again.df
"$DFC" again.df --parts=8 -o again && ./parts-1 --waves=20 >want 2>said
for policy in $(! long || echo ws random gp) eager dmda all-gpu; do
    ./again --waves=20 --policy=$policy --device=emu --emu-all --gpu-mem=272KiB --stats=json,totals --stats-file=stats >got 2>said
    same "again-$policy" got want
    are "again-bytes-$policy" "20 4 $((20 * 4096 * 4)) $((1 << 20))" stats waves passes h2d_bytes d2h_bytes
done

# Two passes do not fit together. A part that has had its last wave goes, and none that this pass still changes: policies that know the next use
# of each block count it over all passes.
"$DFC" "$programs/parts.df" --parts=16 -o parts-16
for policy in $(! long || echo peft gp-thesis) heft gp all-cpu; do
    ./parts-16 --waves=20 --policy=$policy --device=emu --emu-all --gpu-mem=256KiB --stats=json,totals --stats-file=stats >got 2>said
    same "apart-$policy" got want
    are "apart-bytes-$policy" "20 6 $((20 * 4096 * 6)) $((1 << 20))" stats waves passes h2d_bytes d2h_bytes
done

# 100 tokens of 1 MiB are kept, or none is.
printf %s 'kernel large(out p: u8[n]) WORD cpu {{ memset(p, (int)df_wave(call), n); }};
kernel add(in p: u8[n], acc t: i64[z] split z) cpu {{ for (size_t k = 0; k < z; k++) t[k] += p[n - 1]; }};
kernel tell(in t: i64[z]) cpu {{ printf("%lld\n", (long long)t[z - 1]); }};
graph main { p: u8[1048576] = large(); t: i64[2] = add(p) @parts(2); tell(t); }' >large.df
for word in "" restart; do
    sed "s/WORD/$word/" large.df >"large-$word.df"
    "$DFC" "large-$word.df" -o "large-$word"
done
check memory python3 -c "
import os, subprocess
def mib(name):
    p = subprocess.Popen([name, '--waves=100', '--passes=2', '--device=none'], stdout=subprocess.PIPE)
    out = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    assert status == 0 and out == b'4950\n', out
    return usage.ru_maxrss / 1024
kept, again = mib('./large-'), mib('./large-restart')
assert kept > 100 and again < 50, (kept, again)"

# What would have to be kept is more than half of the host's memory.
expect refused 1 "to keep what they read of 1000000000000 waves for the later passes takes .*PiB of host memory, of which .*iB may be used; 'restart' at the source of 'main/project' keeps nothing" \
    ./parts-8 --waves=1000000000000 --device=emu --emu-all --gpu-mem=272KiB
cat >small.df <<'EOF'
platform p { cpu host { workers = 2; memory = 128 KiB; } gpu emu0 { memory = 272 KiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; engines = 2; launch = 8 us; } }
EOF
expect refused-before 1 "to keep what they read of 50 waves for the later passes takes 200 KiB of host memory, of which 64.0 KiB may be used" \
    "$DFC" simulate "$programs/parts.df" --platform small.df --parts=8 --waves=50
expect restart-before 0 '"passes": 4' "$DFC" simulate again.df --platform small.df --parts=8 --waves=50 --policy=gp --format=json
expect restart-said 0 "part by part: several waves go by 4 times, because 8 parts of an acc .*; the sources are called again" \
    "$DFC" explain again.df --platform small.df --parts=8

# While a part leaves the device, the next one is changed, and the first projection of a pass is fetched before the pass before it ends. So the
# device waits for the first projection of all alone, and for the last part: jobs of 1 ms / n and 8 us, copies at 6 GB/s and 10 us. With a
# quarter of the memory the parts of two passes of 8 fit in it. Those of 4 do not, so nothing overlaps.
for how in "1 1 1" "1 4 4" "1 8 8" "4 8 8"; do
    read -r limit parts passes <<<"$how"
    "$DFC" simulate "$programs/overlap.df" -D limit=$limit --parts=$parts --passes=$passes --waves=40 --policy=gp --format=json -o "overlap $how"
done
check overlap python3 -c "
import json
for how in (1, 1, 1), (1, 4, 4), (1, 8, 8), (4, 8, 8):
    row = json.load(open('overlap %d %d %d' % how))['policies'][0]
    parts, passes = how[1:]
    want = 1e-6 + (1 << 18) / 6e9 + 10e-6 + 40 * (1e-3 + parts * 8e-6) + (1 << 26) / parts / 6e9 + 10e-6 + 1e-6
    assert row.get('passes', 1) == passes and abs(row['makespan_s'] - want) < 1e-9, (how, row, want)"
expect overlap-not 0 '"makespan_s": 0.0527215733, ' "$DFC" simulate "$programs/overlap.df" -D limit=4 --parts=4 --waves=40 --policy=gp --format=json

# The same in runs: the part leaves before the last pass, and at some boundary of passes the first projection is there early.
./parts-8 --waves=48 --passes=8 --policy=gp --device=emu --emu-all --trace=overlap.json >got 2>said
./parts-1 --waves=48 >want 2>said
same overlap-same got want
check overlap-run python3 -c "
import json
jobs = [e for e in json.load(open('overlap.json'))['traceEvents'] if e['ph'] == 'X']
ends = [max(e['ts'] + e['dur'] for e in jobs if e['cat'] == 'job' and e['name'] == 'main/back.part[%d]' % k) for k in range(8)]
first = {e['args']['pass']: e['ts'] for e in jobs if e['cat'] == 'h2d' and e['args']['node'] == 'main/project' and e['args']['wave'] == 0}
out = {e['name']: e['ts'] for e in jobs if e['cat'] == 'd2h'}
assert len(first) == 8 and any(first[k] < ends[k - 1] for k in range(1, 8)), (first, ends)
assert any(out['main/back.part[%d]' % k] < ends[k + 1] for k in range(7)), (out, ends)"

# dfc simulate divides the acc by itself, if that is faster by 2 %.
overlap=$programs/overlap.df
expect chosen 0 '^divided: main/back in 8 parts, because a part leaves its device while the next one is changed: 40 waves in 8 passes take 44.0238 ms in place of 51.5705 ms$' \
    "$DFC" simulate "$overlap" --waves=40 --policy=gp
expect chosen-gp 0 '"makespan_s": 0.044023792, .*"passes": 8,' "$DFC" simulate "$overlap" --waves=40 --policy=gp --format=json
for options in "--parts=1 --policy=gp" "--passes=1 --policy=gp"; do
    expect "declined $options" 0 '"makespan_s": 0.0515705013, ' "$DFC" simulate "$overlap" --waves=40 --format=json $options
done
expect declined-online 0 '"makespan_s": 0.0536644373, ' "$DFC" simulate "$overlap" --waves=40 --format=json --policy=dmda
"$DFC" simulate "$overlap" --waves=4000 --policy=gp >got 2>said
check declined-long bash -c '! grep -q "^divided" got'

# '@passes(n)' says how often the waves go by, and '@parts' in how many parts; without it there are as many parts as passes.
./parts-1 --waves=20 >want 2>said
for hint in "@passes(4)" "@passes(1)" "@parts(8) @passes(4)"; do # the last one is for what follows, too
    sed "s/back(p)/back(p) $hint/" "$programs/parts.df" >hint.df
    passes=$(sed 's/.*passes(\([0-9]*\)).*/\1/' <<<"$hint")
    "$DFC" hint.df -o hint
    for device in "--device=none" $(! long || echo "--device=sim") "--device=emu --emu-all"; do
        ./hint --waves=20 $device --stats=json,totals --stats-file=stats >got 2>said
        [ "$device" != --device=none ] || same "hint-bits $hint" got want
        check "hint $hint $device" grep -q "\"passes\": $passes," stats
    done
done
for passes in 1 2; do
    ./hint --waves=20 --passes=$passes --device=none --stats=json,totals --stats-file=stats >got 2>said
    check "hint-option-$passes" grep -q "\"passes\": $passes," stats
done
./hint --waves=20 --poison --device=none >got 2>said
same hint-poison got want
check hint-poison-quiet bash -c '! grep passes said'
expect hint-simulate 0 '"passes": 4' "$DFC" simulate hint.df --waves=50 --policy=dmda --format=json
expect hint-too-long 1 "'@passes\(4\)': to keep what the parts read of all waves takes .*PiB of host memory" ./hint --waves=1000000000000 --device=none
sed -i "s/ @parts(8)//" hint.df
expect hint-parts 0 "warning: '@passes\(4\)', and the node has 2 parts" "$DFC" hint.df --parts=2 --emit=graph

# A program is divided unasked, as for 100 waves, and chooses its passes when it knows how many waves come; --waves says it before. What is copied is
# the volume once, and a projection once a pass, and the simulator copies as much.
early=$programs/early.df
"$DFC" "$early" -o early && "$DFC" "$early" --waves=20 -o early-20 && "$DFC" "$early" --parts=1 -o early-1
./early-1 --waves=20 --device=none >want 2>said
for run in "early 2 20" "early-20 8 20" "early 1 20 --passes=1" "early 1 20 --policy=dmda" "early 2 20 --policy=gp" "early 2 20 --policy=heft" "early 1 1" \
    "early 1 4000 --policy=gp"; do
    read -r program passes waves options <<<"$run"
    for device in emu sim; do
        if [ "$waves $device" = "4000 emu" ]; then continue; fi
        ./$program --waves=$waves $options --device=$device --emu-all --workers=2 --stats=json,totals --stats-file=$device >got 2>said
        check "unasked $run $device" grep -q "\"passes\": $passes," $device
        if [ "$waves $device" = "20 emu" ]; then same "unasked-bits $run" got want; fi
    done
    if [ "$passes" -gt 1 ]; then
        for device in emu sim; do are "unasked-bytes $run $device" "$((waves * 4096 * passes)) $((1 << 20))" $device h2d_bytes d2h_bytes; done
    fi
done
./early --waves=20 --device=none --stats=json,totals --stats-file=none >got 2>said
check unasked-no-device grep -q '"passes": 1,' none
for what in explain partition "--emit=plan"; do
    expect "unasked-said $what" 0 "^divided: main/back in 2 parts, because a part leaves its device while the next one is changed: 100 waves in 2 passes take" "$DFC" $what "$early"
    expect "unasked-guess $what" 0 "^part by part: 100 waves go by 2 times, if so many come \(--waves says how many\); each wave leaves 4.* KiB in host memory" "$DFC" $what "$early"
    expect "unasked-known $what" 0 "^part by part: 20 waves go by 8 times; each wave leaves" "$DFC" $what "$early" --waves=20
    expect "unasked-parts $what" 0 "^part by part: 20 waves go by 4 times; a part leaves its device while the next one is changed, so they take .* in place of .* once" \
        "$DFC" $what "$early" --waves=20 --parts=4
    "$DFC" $what "$early" --waves=1 >got 2>said
    check "unasked-one $what" bash -c '! grep -q "part by part\|^divided" got'
done
check unasked-drawn "$DFC" partition "$early" --waves=20 -o early.svg
expect unasked-picture 0 '>part by part: 20 waves go by 8 times; each wave leaves' cat early.svg
expect waves-number 2 "--waves=0: a whole number from 1 to 4294967295 is expected" "$DFC" explain "$early" --waves=0
for options in "--device=emu --emu-all --workers=2" "--device=emu --emu-all --workers=2 --policy=gp"; do
    "$DFC" run "$early" --emu-all -- --waves=20 $options --stats=json,totals --stats-file="$PWD/stats" >got 2>said
    check "unasked-run $options" grep -q '"passes": 8,' stats
done
# An acc that was divided to fit goes by more often than it must, if that is faster.
for limit in 2 4; do
    expect "more-$limit" 0 "^part by part: 40 waves go by [0-9]* times; a part leaves .* so they take 4[0-9.]* ms in place of 5[0-9.]* ms in $((limit == 2 ? 2 : 5)) passes" \
        "$DFC" explain "$overlap" -D limit=$limit --waves=40
done
# gp weighs no online policies for waves that go by several times, because a run keeps the placement then.
for limit in 2 4; do
    "$DFC" explain "$overlap" -D limit=$limit --parts=8 --waves=40 >got 2>said
    check "gp-places-$limit" bash -c 'grep -q "^part by part" got && ! grep -q "In a run\|gp found" got'
done

# Files are read again in each pass, and nothing of them is kept; what comes from a pipe is kept.
cat >files.df <<'END'
import "std/raw.df";
arg input: str;
kernel back(in p: f32[n], acc vol: f32[z, 4, n] split z) cpu {{
    struct df_part part = df_part(call);
    for (size_t k = 0; k < z; k++)
        for (size_t i = 0; i < 4 * n; i++)
            vol[k * 4 * n + i] = vol[k * 4 * n + i] * 0.999f + p[(i + (part.first + k) * 3) % n];
}} cost cpu 500us gpu 50us;
kernel save(in v: f32[z, 4, n]) cpu {{ fwrite(v, sizeof *v, z * 4 * n, stdout); }};
graph main {
    p: f32[1024] = read_raw_f32(input) @cpu;
    vol: f32[64, 4, 1024] = back(p) @gpu;
    save(vol) @cpu;
}
END
python3 -c "
import array
for k in range(2):
    array.array('f', [(i * 7 + k) % 101 / 7 for i in range(10 * 1024)]).tofile(open('in%d.raw' % k, 'wb'))"
"$DFC" files.df --parts=8 -o files
cat in0.raw in1.raw >both.raw
printf 'in0.raw\r\n\nin1.raw\n' >list.txt
mkfifo pipe.raw
printf 'in0.raw\npipe.raw\n' >pipes.txt
./files --input=both.raw --device=none >want 2>said
files() { # NAME FIRES OPTION… : 20 waves go by 4 times, and the reader is called so often
    local name=$1 fires=$2; shift 2
    timeout 150 ./files "$@" --device=emu --emu-all --gpu-mem=272KiB --stats=json --stats-file=stats >got 2>said
    same "files-$name" got want
    are "files-waves-$name" "20 4" stats waves passes
    [[ $(<stats) =~ \"name\":\ \"main/read_raw_f32\"[^\}]*\"jobs\":\ ([0-9]+) ]] && [ "${BASH_REMATCH[1]}" = "$fires" ] && pass "files-fires-$name" ||
        fail "files-fires-$name" "${BASH_REMATCH[1]} times"
}
files file 80 --input=both.raw
! long || files list 80 --input=@list.txt
files pattern 80 --input='in?.raw'
files stdin 80 --input=/dev/stdin <both.raw
cat both.raw | files pipe 20 --input=/dev/stdin
cat in1.raw >pipe.raw & files fifo 20 --input=@pipes.txt
cat list.txt | files list-pipe 20 --input=@/dev/stdin
expect files-missing 1 "cannot read 'none.raw'" ./files --input=none.raw --device=emu --emu-all --gpu-mem=272KiB
expect files-said 0 "part by part: several waves go by 4 times, because 8 parts of an acc .*; the sources are called again" \
    "$DFC" explain files.df --platform small.df --parts=8
