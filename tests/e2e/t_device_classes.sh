# dfc takes several kinds of devices, as its programs do: it measures each kernel on each of them, and plans, simulates and explains with the times of each class.
# Without a description OpenCL's devices are of class opencl; a platform may have another class for them.
formulas_for none
export DFC_PROFILE=$PWD/profile.db NVCC=none
cat >two.df <<'E'
param n = 5000;
kernel make(out a: f32[n]; k: i32) cpu {{ for (size_t i = 0; i < n; i++) a[i] = (float)(i * 7 % 31 + (size_t)k); }};
kernel mul(in a: f32[n], out b: f32[n]) { b[i] = sqrt(a[i] * 3) + 0.5; }
kernel look(in b: f32[n], in d: f32[n]) ordered cpu {{ float s = 0; for (size_t i = 0; i < n; i++) s += b[i] - 2 * d[i]; printf("%.9g\n", (double)s); }};
graph main { a: f32[n] = make(k = 1); c: f32[n] = make(k = 2); b = mul(a); d = mul(c); look(b, d); }
E
sed 's/^param n = 5000/& dynamic/' two.df >sizes.df
sed 's/0.5; }$/0.5; } cost cpu 5ms gpu 5ms opencl 20us;/' two.df >priced.df
cat >mic.df <<'E'
platform three {
    cpu host { workers = 1; }
    gpu card { memory = 16 MiB; h2d = 50 GB/s, 1 us; d2h = 50 GB/s, 1 us; launch = 1 us; }
    mic phi { memory = 16 MiB; h2d = 50 GB/s, 1 us; d2h = 50 GB/s, 1 us; launch = 1 us; }
}
E
both=(--no-fuse --parts=1 "--device=emu,opencl")

# What needs no device.
expect twice 2 '--device=emu,emu: a kind is named twice' "$DFC" partition two.df --device=emu,emu
expect none 2 '--device=none: one of emu, cuda, opencl is expected; ' "$DFC" simulate two.df --device=opencl,none
expect no-word 2 '--device=: one of emu, cuda, opencl is expected; ' "$DFC" profile two.df --device=emu,
expect probe-one 2 '--device=emu,opencl: one of auto, none, emu, cuda, opencl, sim is expected' "$DFC" probe --device=emu,opencl
expect order 0 'target shares by total times: host [^,]*, gpu0 [^,]*, opencl0 [^,]*, emu0 ' "$DFC" partition two.df --no-fuse --device=emu,opencl,cuda
expect priced 0 '^opencl0 +1 +2 ' "$DFC" partition priced.df "${both[@]}" --policy=heft
expect priced-others 0 '^gpu0 +1 +1 +5 ms ' "$DFC" partition priced.df --no-fuse --parts=1 --device=emu --policy=heft
expect priced-plan 0 '"main/mul#1": \{"unit": "opencl0", .*"times": \{"cpu": 0.005, "gpu": 0.005, "opencl": 2e-5\}' "$DFC" plan priced.df "${both[@]}" --policy=heft
expect priced-explain 0 '^    time    25 us here \(cost\), 5 ms on host \(cost\)$' "$DFC" explain priced.df "${both[@]}" --policy=heft
expect simulated 0 '^priced,default,heft,[5-9]\.[0-9]*e-05,' "$DFC" simulate priced.df "${both[@]}" --policy=heft --format=csv
expect simulated-others 0 '^priced,default,heft,0.005' "$DFC" simulate priced.df --no-fuse --parts=1 --device=emu --policy=heft --format=csv
expect file-class 0 '^phi +1 +[0-9]' "$DFC" partition two.df "${both[@]}" --platform=mic.df
"$DFC" partition two.df "${both[@]}" --platform=mic.df 2>&1 | grep -c 'nothing can run' >warned; expect file-served 0 '^0$' cat warned
expect file-unserved 0 "nothing can run on class 'mic'" "$DFC" partition two.df --no-fuse --device=emu --platform=mic.df
cat mic.df two.df >declared.df
expect declared 0 '"mic": ' "$DFC" plan declared.df "${both[@]}"
"$DFC" plan declared.df --no-fuse --parts=1 --device=emu -w >emulated.json; if grep -q '"mic": ' emulated.json; then fail declared-emulated "$(cat emulated.json)"; else pass declared-emulated; fi

have_opencl measured || exit 0
few=(--max-runs=20 --max-time=0.2s --workers=1)
"$DFC" profile two.df "${both[@]}" "${few[@]}" >profile.out 2>profile.err
expect profile-emu 0 '^emu: 5 measured; in ' cat profile.out
expect profile-opencl 0 '^opencl: 1 measured, 4 known before; in ' cat profile.out
expect profile-columns 0 '^kernel +jobs a wave +a job here +on the GPU +its copies +on OpenCL +its copies$' cat profile.out
expect profile-ways 0 '^1 worker and the devices ' cat profile.out
expect profile-words 0 "^Offloading 'mul' to OpenCL " cat profile.out
expect profile-again 0 '^opencl: 0 measured, 5 known before' "$DFC" profile two.df "${both[@]}" "${few[@]}"
if long; then
"$DFC" profile two.df "${both[@]}" "${few[@]}" --force --db=forced.db >/dev/null; "$DFC" profile two.df "${both[@]}" "${few[@]}" --force --db=forced.db >forced.out 2>&1
expect profile-forced 0 '^opencl: 1 measured, 4 known before' cat forced.out     # the cpu variants were measured beside the emulator
expect profile-cost 0 '^opencl: 0 measured, 3 known before' "$DFC" profile priced.df "${both[@]}" "${few[@]}"
fi
sed 's/ opencl 20us//' priced.df >other.df; expect profile-other-cost 0 '^opencl: 1 measured, 3 known before' "$DFC" profile other.df "${both[@]}" "${few[@]}" --db=other.db

expect times 0 '^times +6 measured$' "$DFC" partition two.df "${both[@]}"
"$DFC" plan two.df "${both[@]}" >plan.json
python3 - >classes <<'E'
import json
plan = json.load(open("plan.json"))
mul = plan["nodes"]["main/mul#1"]["times"]
print([u["class"] for u in plan["units"].values()], sorted(mul), len(set(mul.values())), plan["nodes"]["main/mul#1"]["from"])
E
expect plan-classes 0 "^\['cpu', 'opencl', 'gpu'\] \['cpu', 'gpu', 'opencl'\] 3 measured$" cat classes
expect file-times 0 '^times +6 measured$' "$DFC" partition two.df "${both[@]}" --platform=mic.df
check compiles "$DFC" two.df "${both[@]}" -o two
./two --device=none --waves=3 >expected
./two --device=emu,opencl --policy=gp --waves=3 >out; same runs out expected
"$DFC" run two.df "${both[@]}" -- --waves=3 >out; same dfc-run out expected
expect compares 0 'with devices of several kinds: 1 run' "$DFC" compare two.df "${both[@]}" --runs=1 --policies=heft,dmda --workers=1
check learns-compiles "$DFC" other.df "${both[@]}" -o other          # mul has a cost on gpu, and none on opencl
DFC_PROFILE=$PWD/learned.db ./other --device=emu,opencl --gpus=opencl0 --policy=all-gpu --waves=5 --learn >out
expect learns 0 'the profile database has 4 times more, from 1 run with --learn' env DFC_PROFILE="$PWD/learned.db" "$DFC" partition other.df "${both[@]}"
check dynamic-compiles "$DFC" sizes.df "${both[@]}" -o dynamic        # it makes graph and times again for other sizes
./dynamic --device=none --n=7000 >expected; ./dynamic --device=emu,opencl --policy=heft --n=7000 >out; same dynamic out expected
