# Variants in .cl files: the bytes are the CPU's, under every policy, with all and with little memory; the driver's errors name the user's file, when a program is compiled
# and when it starts; and without a driver a program says so.
if "$DFC" doctor --quick | grep -q 'built without OpenCL'; then skip opencl "this dfc was built without OpenCL's headers"; exit 0; fi
formulas_for none
mkdir 'my kernels'
cp "$programs/k.cl" 'my kernels'; cp "$programs/flow.df" .
check compiles "$DFC" flow.df -o flow -MD
expect dependencies 0 'my\\ kernels/k.cl' cat flow.d
expect identity 0 '^flags k\.cl -DPLUS=0\.25f$' grep -a -o 'flags k[.]cl -DPLUS=0[.]25f' flow
./flow --device=none --waves=20 >expected
expect prints 0 '^19 [0-9a-f]{16} ' cat expected
./flow --device=emu --policy=all-gpu --waves=20 >out; same emulated out expected
expect no-cuda 1 'no CUDA device: this program was linked without CUDA$' ./flow --device=cuda
mkdir drivers
expect no-driver 1 'no opencl device: libOpenCL finds no driver' env OCL_ICD_VENDORS="$PWD/drivers" ./flow --device=opencl
echo 'kernel make(out a: i32[n]) cpu {{ a[0] = 0; }}; graph main { a: i32[1] = make(); }' >none.df
check no-code-compiles "$DFC" none.df -o none
expect no-code 1 'no OpenCL device: this program has no OpenCL code$' ./none --device=opencl

# Errors of the .cl file and its launches.
sed 's/ + PLUS;/ + PLUSS;/' "$programs/k.cl" >wrong.cl
sed 's/my kernels\/k.cl/wrong.cl/' flow.df >wrong.df
check compiled-later env OCL_ICD_VENDORS="$PWD/drivers" "$DFC" wrong.df -o wrong
have_opencl runs || exit 0
sanitized=$(grep -c fsanitize "$DF_BUILD/obj/flags")
expect error-at-start 1 'wrong: error: no opencl device: opencl0: its driver cannot compile wrong.cl: .*wrong.cl:7:[0-9]+: ' ./wrong --device=opencl
expect error-at-compile 1 'dfc: error: opencl0: its driver cannot compile wrong.cl: .*wrong.cl:7:[0-9]+: ' "$DFC" wrong.df -o wrong --no-cache
sed -e 's/by);$/w);/' -e 's/scale<<</scales<<</' -e 's/h \* w \/ from, from>>>/h - 12, from>>>/' flow.df >launches.df
expect launch-checked 1 "launches.df:[0-9]+:[0-9]+: error: grid x is 0: it must be from 1 to 2147483647" "$DFC" launches.df -o launches
sed -e 's/(w, a, b, by);$/(w, a, b, w);/' flow.df >launches.df
check type-compiles "$DFC" launches.df -o launches
expect type 1 "node 'main/scale#?[0-9]*', wave [0-9]+: launching 'scale': opencl0: setting parameter 3 of a kernel: CL_INVALID_ARG_SIZE \(-51\)" ./launches --device=opencl --policy=all-gpu
sed -e 's/: scale<<</: scales<<</' flow.df >launches.df
check name-compiles "$DFC" launches.df -o launches
expect name 1 "launching 'scales': opencl0: there is no kernel 'scales' in my kernels/k.cl" ./launches --device=opencl --policy=all-gpu
sed -e 's/h \* w \/ from, from>>>/h * w \/ (from - 8), from>>>/' flow.df >launches.df
check divides-compiles "$DFC" launches.df -o launches
expect divides 1 "launching 'sum': grid x does not fit in 64 bits, or divides by zero" ./launches --device=opencl --policy=all-gpu
sed -e 's/h \* w \/ from, from>>>/from, from * 1000>>>/' flow.df >launches.df
check block-compiles "$DFC" launches.df -o launches
expect block 1 "launching 'sum': block x is 8000, it must be from 1 to 1024" ./launches --device=opencl --policy=all-gpu

# What the file includes, by a name in quotes and from beside it, is in the text; a driver's errors name that file, and a change of it is seen.
mkdir -p inc/deep; echo '#include "deep/plus.h"' >inc/all.h
printf '#pragma once\n#ifndef PLUS_H\n#define PLUS_H\n#include "plus.h"\n#include "../all.h"\nconstant float plus = PLUS;\n#endif\n' >inc/deep/plus.h
{ printf '/* as in\n#include "none.h"\n*/\n#include "all.h"\n # include "deep/plus.h"\n'; sed 's/ + PLUS;/ + plus;/' "$programs/k.cl"; } >inc/k.cl
sed 's/my kernels\/k.cl/inc\/k.cl/' flow.df >includes.df
check include "$DFC" includes.df -o includes -MD
./includes --device=opencl --policy=all-gpu --waves=20 >out; same include-runs out expected
expect include-listed 0 'inc/deep/plus.h' cat includes.d
sed -i 's/= PLUS;/= PLUSS;/' inc/deep/plus.h
expect include-error 1 "its driver cannot compile inc/k.cl: .*plus.h:6:[0-9]+: " "$DFC" includes.df -o includes
sed -i '5s/plus/absent/' inc/k.cl; sed -i 's/= PLUSS;/= PLUS;/' inc/deep/plus.h
expect include-absent 1 "its driver cannot compile inc/k.cl: .*k.cl:5:[0-9]+: .*'deep/absent.h' file not found" "$DFC" includes.df -o includes

# Runs.
for policy in all-gpu eager ws dmda dmdas heft gp; do
    ./flow --device=opencl --policy=$policy --waves=20 >out; same "$policy" out expected
done
./flow --device=opencl --policy=all-gpu --waves=20 --gpu-mem=48KiB --stats >out 2>stats; same little-memory out expected
evicted=$(awk '/evictions/ { getline; for (i = NF; i > 0; i--) if ($i ~ /^[0-9]+$/) { n++; if (n == 2) { print $i; exit } } }' stats)
if [ "${evicted:-0}" -gt 0 ]; then pass evicts; else fail evicts "$(cat stats)"; fi
./flow --device=opencl --policy=all-gpu --waves=20 --pin=off --gpu-jobs=1 >out; same not-pinned out expected
./flow --device=opencl --policy=all-gpu --waves=20 --sync-kernels --trace=t.json >out; same traced out expected
expect trace 0 'main/scale' cat t.json
cat >rows.py <<'X'
import json, sys
rows = {}
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    if e["ph"] == "X":
        rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
late = sum(a[1] - b[0] > 0.6 for row in map(sorted, rows.values()) for a, b in zip(row, row[1:]))
print(sum(map(len, rows.values())) > 200, late)
X
./flow --device=opencl --policy=all-gpu --waves=20 --gpu-jobs=4 --trace=t.json >out; same traced-streams out expected
expect trace-rows 0 '^True 0$' python3 rows.py t.json        # jobs of two queues overlap, and no events of a row do
expect variants 0 'jobs of 4 kernels agree' ./flow --device=opencl --check=variants --waves=2
expect which 1 'there is no opencl device 9[:,]' ./flow --device=opencl --gpus=9

# Devices of two back ends in one run; each kind that is named must have one.
for policy in all-gpu eager dmda random heft gp; do
    ./flow --device=emu,opencl --policy=$policy --waves=20 --stats >out 2>stats; same "both-$policy" out expected
    [ $policy != random ] || cp stats both
done
expect both-work 0 '^cpu 0 +[1-9].*[^0-9]+emu0 +[1-9]' sh -c "grep -E '^(cpu 0|emu0) ' both | tr '\n' ' '"
opencl_jobs=$(awk '/^worker/ { on = 1; next } on && NF == 0 { exit } on && !/^(cpu|emu)/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) { print $i; exit } }' both)
if [ "${opencl_jobs:-0}" -gt 0 ]; then pass both-opencl-works; else fail both-opencl-works "$(cat both)"; fi
./flow --device=emu,opencl --policy=all-gpu --waves=20 --gpu-mem=48KiB >out; same both-little-memory out expected
./flow --device=emu,opencl --gpus=emu0 --policy=all-gpu --waves=20 --stats >out 2>stats; same both-one-named out expected
expect both-named 0 '^emu0 +[1-9][0-9]+ ' cat stats
expect both-variants 0 'jobs of 4 kernels agree' ./flow --device=emu,opencl --check=variants --waves=2   # on the first of them
expect both-misnamed 1 'error: there is no device cuda0 here$' ./flow --device=emu,opencl --gpus=cuda0
expect both-no-driver 1 'error: no opencl device: libOpenCL finds no driver' env OCL_ICD_VENDORS="$PWD/drivers" ./flow --device=emu,opencl
expect both-no-code 1 'error: no OpenCL device: this program has no OpenCL code$' ./none --device=emu,opencl
expect both-no-cuda 1 'error: no CUDA device: this program was linked without CUDA$' ./flow --device=opencl,cuda

check left-out "$DFC" flow.df -o without --no-opencl
expect left-out-of-formulas 1 '^0$' sh -c "strings -a without | grep -c __kernel"
./without --device=none --waves=20 >out; same left-out-cpu out expected
expect left-out-none 1 'error: no OpenCL device: this program has no OpenCL code$' ./without --device=opencl

# A library, called from Python: sessions of one process on different devices.
if has_modules numpy && [ $sanitized = 0 ]; then
    cat >lib.df <<'X'
kernel scale(in a: f32[h, w], out b: f32[h, w]; by: f32)
    cpu {{ for (size_t i = 0; i < h * w; i++) b[i] = a[i] * by + 0.25f; }}
    gpu "my kernels/k.cl" flags "-DPLUS=0.25f": scale<<<(w + 15) / 16, h, 16, 1>>>(w, a, b, by);
graph twice(in a: f32[h, w], out c: f32[h, w]) { b = scale(a, by = 3.0); c = scale(b, by = 0.5); }
X
    cat >use.py <<'X'
import dfc, numpy
a = numpy.arange(600, dtype=numpy.float32).reshape(15, 40)
kinds = ["none", "opencl", "emu,opencl", "opencl"]
graphs = [dfc.compile("lib.df", "twice", options=f"--device={kind}" + (" --policy=all-gpu" if kind != "none" else "")) for kind in kinds]
print(all((g(a + n) == graphs[0](a + n)).all() for g in graphs for n in range(3)), [w["name"] for w in graphs[2].stats["workers"] if w["name"] == "emu0"])
X
    expect library 0 "^True \\['emu0'\\]$" env PATH="$(dirname "$DFC"):$PATH" PYTHONPATH="$DF_BUILD/share/dfc/python" /usr/bin/python3 use.py
else skip library 'no NumPy, or a sanitizer'; fi

# A class of a platform that is neither cpu nor gpu is an OpenCL device: costs decide which class gets the jobs.
cat >three.df <<'X'
platform three {
    cpu host { workers = 1; }
    gpu card { memory = 16 MiB; h2d = 50 GB/s, 1 us; d2h = 50 GB/s, 1 us; launch = 1 us; }
    mic phi { memory = 16 MiB; h2d = 50 GB/s, 1 us; d2h = 50 GB/s, 1 us; launch = 1 us; }
}
X
for cheap in gpu mic; do
    dear=$([ $cheap = gpu ] && echo mic || echo gpu)
    sed "s/^    gpu \"my kernels\(.*\);\$/    gpu \"my kernels\1 cost cpu 5ms $cheap 10us $dear 5ms;/" flow.df >"costs-$cheap.df"
    check "costs-$cheap-compiles" "$DFC" "costs-$cheap.df" --platform=three.df -o "costs-$cheap"
    for policy in heft gp dmda pams; do
        ./costs-$cheap --platform=three.df --device=emu,opencl --policy=$policy --waves=20 --stats >out 2>stats; same "class-$cheap-$policy" out expected
        [ $policy != pams ] || continue      # gives each class some
        on_emu=$(awk '$1 == "emu0" { print $2; exit }' stats)
        if { [ $cheap = gpu ] && [ "${on_emu:-0}" -gt 100 ]; } || { [ $cheap = mic ] && [ "${on_emu:-1000}" -lt 20 ] && ! grep -q '^cpu 0 *[0-9]\{3\}' stats; }; then
            pass "class-$cheap-$policy-place"; else fail "class-$cheap-$policy-place" "$(cat stats)"; fi
    done
done

# Oclgrind in the driver's place checks the kernels: these have no race, and one without its barrier has.
icd=$(ls /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/lib/*/liboclgrind-rt-icd.so /usr/local/lib/liboclgrind-rt-icd.so 2>/dev/null | head -n 1)
if [ -n "$icd" ]; then
    mkdir grind; echo "$icd" >grind/oclgrind.icd
    grind() { env OCL_ICD_VENDORS="$PWD/grind" OCLGRIND_DATA_RACES=1 DFC_CACHE=none "$@" --device=opencl --policy=all-gpu --waves=1 --gpu-mem=1MiB; }
    head -n 1 expected >one
    grind ./flow >out 2>said; same oclgrind out one
    if [ -s said ]; then fail oclgrind-quiet "$(cat said)"; else pass oclgrind-quiet; fi
    sed '/^    part\[i\] = sum;/ { n; d; }' "$programs/k.cl" >raced.cl
    sed 's/my kernels\/k.cl/raced.cl/' flow.df >raced.df
    check raced-compiles "$DFC" raced.df -o raced
    grind ./raced >out 2>said
    expect oclgrind-race 0 'data race at local memory address' cat said
else skip oclgrind 'no liboclgrind-rt-icd.so'; fi

# What drivers may lack, refuse or lose: a library between the program and the real one.
real=$(/sbin/ldconfig -p | awk '/libOpenCL\.so\.1 .*x86-64/ { print $NF; exit }')
case $(uname -m),$sanitized,$real in x86_64,0,/*) ;; *) skip shim "needs x86-64, no sanitizer, and libOpenCL.so.1: $real"; exit 0 ;; esac
mkdir shim
check shim-compiles ${CC:-cc} -shared -fPIC -Wl,-z,nodelete -Wl,-soname,libOpenCL.so.1 -I"$DF_SOURCE" -o shim/libOpenCL.so.1 "$programs/shim.c" -ldl
shim() { env LD_LIBRARY_PATH="$PWD/shim" SHIM_REAL="$real" "$@"; }
run() { shim "$@" ./flow --device=opencl --policy=all-gpu --waves=20; }
run DFC_CACHE=none >out; same shim-runs out expected
for most in 65536 98304; do             # the pool is in several buffers
    run SHIM_MOST=$most >out; same "small-buffers-$most" out expected
    shim SHIM_MOST=$most ./flow --device=opencl --policy=all-gpu --waves=20 --gpu-mem=128KiB --stats >out 2>stats; same "small-buffers-$most-evicted" out expected
done
shim SHIM_MOST=65536 ./flow --device=opencl --check=variants --waves=2 >out 2>variants; expect small-buffers-variants 0 'jobs of 4 kernels agree' cat variants
sed 's/\[12, 200\]/[1200, 200]/' flow.df >large.df
check larger-compiles "$DFC" large.df -o large
larger() { shim SHIM_MOST=1048576 ./large --device=opencl --policy=all-gpu --waves=1 2>&1 >/dev/null; }
expect larger-than-buffers 0 "main/scale#1' .* runs on the CPU: one job needs 1925120 bytes of GPU memory, more than there is" larger
expect full 1 'opencl0: allocating its pool of [0-9.]+ MiB \(--gpu-mem takes less\): CL_MEM_OBJECT_ALLOCATION_FAILURE \(-4\)' run SHIM_FULL=1
for n in 1 2 30; do
    expect "lost-$n" 1 'opencl0: launching it: CL_OUT_OF_RESOURCES \(-5\)' run SHIM_LOST=$n
    expect "fault-$n" 1 'opencl0: work that was given to it failed: an error that only its driver knows \(-9999\)' run SHIM_FAULT=$n
done
inexact() { shim SHIM_INEXACT=1 CMOCKA_MESSAGE_OUTPUT=STDOUT "$DF_BUILD/tests/test_opencl" 2>&1; }
expect inexact 0 'lacks denormals or correctly rounded division of float' inexact # and what --inexact does then is that test's
run SHIM_INEXACT=1 >out; same own-kernels-on-inexact out expected # what a .cl file needs is its author's matter
expect own-kernels-stats 0 '"inexact": 0, ' shim SHIM_INEXACT=1 ./flow --device=opencl --policy=all-gpu --waves=2 --inexact --stats=json,totals
cat >thirds.df <<'X'
kernel make(out a: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) a[i] = (float)i; }};
kernel third(in a: f32[n], out b: f32[n]) { b[i] = a[i] / 3; }
kernel look(in b: f32[n]) ordered cpu {{ printf("%a\n", b[n - 1]); }};
graph main { a: f32[100] = make(); b = third(a); look(b); }
X
check inexact-compiles "$DFC" thirds.df -o thirds
differ="results of formulas may differ from the CPU's in the last bits \(--inexact\)$" with="./thirds --device=opencl --policy=all-gpu --waves=4 --inexact"
expect inexact-refused 1 'lacks denormals or correctly rounded division of float: .*\(--inexact allows it\)' shim SHIM_INEXACT=1 ${with% *}
expect inexact-stats 0 "^[^:]+: $differ" shim SHIM_INEXACT=1 $with --stats=totals
expect inexact-json 0 '"inexact": 1, ' shim SHIM_INEXACT=1 $with --stats=json,totals
expect exact-stats 1 '^0$' sh -c "$with --stats=totals 2>&1 | grep -c inexact"
if have_ranks inexact-ranks; then expect inexact-ranks 0 "^rank 1, [^:]+: $differ" shim SHIM_INEXACT=1 bash -c ". '$here/ranks.sh'; ranks 2 $with --cluster --stats=totals"; fi

# What is measured of OpenCL's devices is kept apart, and planned with where they are asked for.
export DFC_PROFILE=$PWD/profile.db
check probe shim SHIM_MOST=16777216 "$DFC" probe --device=opencl --quick -o probed.platform # small, so that it is not measured for long
expect probe-figures 0 'was not measured: opencl0: its driver gives no buffer that is large enough to measure it' cat probed.platform
expect probe-link 0 'gpu [A-Za-z0-9_]+ \{ memory = [0-9]+ MiB; h2d = [0-9.]+ GB/s, .*; d2h = .* launch = [0-9.]+ [un]s;' cat probed.platform
expect profile 0 'scale h=12 w=200 by=2 gpu' "$DFC" profile flow.df --device=opencl --goal=10% --max-runs=20 --workers=1
expect plan-opencl 0 '^platform +.*_opencl, measured by .dfc probe.$' "$DFC" partition flow.df --device=opencl
expect plan-times 0 '^times +18 measured$' "$DFC" partition flow.df --device=opencl
expect plan-others 0 '^platform +default' "$DFC" partition flow.df
expect plan-half 0 '^platform +default' "$DFC" partition flow.df --device=emu,opencl     # the emulator's was not probed
check probe-emu "$DFC" probe --device=emu --quick
expect plan-both 0 '^platform +.*_emu_opencl, measured by .dfc probe.$' "$DFC" partition flow.df --device=emu,opencl
python3 - <<'X'
import sqlite3
db = sqlite3.connect("profile.db")          # a GPU that CUDA and OpenCL both have
old, = db.execute("SELECT max(id) FROM platforms WHERE emulated = 2").fetchone()
new = db.execute("INSERT INTO platforms (machine, emulated, name, time) SELECT machine, 0, 'own', time FROM platforms WHERE id = ?", (old,)).lastrowid
db.execute("CREATE TEMP TABLE t AS SELECT * FROM units WHERE platform = ?", (old,))
db.execute("UPDATE t SET platform = ?", (new,))
db.execute("INSERT INTO units SELECT * FROM t")
db.commit()
X
units=$("$DFC" plan flow.df --device=cuda,opencl,emu | grep -c '"class": "\(gpu\|opencl\)"')
[ "$units" = 2 ] && pass plan-gpu-once || fail plan-gpu-once "$units"
expect plan-both-times 0 '^times +18 measured, ' "$DFC" partition flow.df --device=emu,opencl
unset DFC_PROFILE

# Binaries are kept: whole, for this driver and text alone. Not those of PoCL, which keeps what it compiles.
export DFC_CACHE=$PWD/kept
check cached-compiles env OCL_ICD_VENDORS="$PWD/drivers" "$DFC" flow.df -o flow
got=$(run SHIM_TELLS=1 2>&1 >out | tr '\n' ' '); [ "$got$(find kept -name '*.opencl')" = 'shim: source ' ] && pass binary-pocl || fail binary-pocl "$got"
export SHIM_PLATFORM=another
tells() { run SHIM_TELLS=1 "$@" 2>&1 >out | tr '\n' ' '; cmp -s out expected || echo 'wrong output'; }
for name in first:source second:binary; do got=$(tells); [ "$got" = "shim: ${name#*:} " ] && pass "binary-${name%:*}" || fail "binary-${name%:*}" "$got"; done
got=$(tells SHIM_REFUSES=1); [ "$got" = 'shim: binary shim: source ' ] && pass binary-refused || fail binary-refused "$got"
for entry in kept/*.opencl; do printf x | dd of="$entry" bs=1 seek=200 conv=notrunc 2>/dev/null; done
got=$(tells); [ "$got" = 'shim: source ' ] && pass binary-damaged || fail binary-damaged "$got"
got=$(tells DFC_CACHE=none); [ "$got" = 'shim: source ' ] && pass binary-none || fail binary-none "$got"
rm -f kept/*.opencl; old=kept/0123456789abcdef.opencl; truncate -s 65M $old; touch -d 2001-01-01 $old
got=$(tells)$(ls kept/*.opencl); if [ ! -e $old ] && [ "$(wc -w <<<"$got")" = 3 ]; then pass binary-bounded; else fail binary-bounded "$got"; fi
rm -f kept/*.opencl
for i in 1 2 3 4; do run >"out$i" & done; wait
if cmp -s out1 expected && cmp -s out2 expected && cmp -s out3 expected && cmp -s out4 expected; then pass several-fill-the-cache; else fail several-fill-the-cache; fi
got=$(tells); [ "$got" = 'shim: binary ' ] && pass binary-after || fail binary-after "$got"
