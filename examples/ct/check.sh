#!/bin/bash
# check.sh BUILDDIR OUTDIR: reconstructs the phantom, and holds the volume against the phantom, against plain loops in double precision, and
# against itself on other units. QUICK=1 takes 64^3 of 96 views instead of 128^3 of 496, and no policies. RABBITCT=DIR compares with RabbitCT's own algorithm, whose
# source is in that folder. FULL=1 has every policy (policies.sh). CXX and CC are the compilers.
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
bad=0 optimise=-O2
[ -z "${QUICK-}" ] || optimise=-O1
ok() { echo "ok     $1"; }
failed() { echo "FAILED $1"; bad=1; }
try() { # NAME COMMAND…: its lines of ok and FAILED, or one with its name
    local name=$1 status; shift
    "$@" >said 2>&1; status=$?
    if grep -qE '^(ok|FAILED)' said; then sed -E "s/^(ok|FAILED) +/&$name: /" said; elif [ $status = 0 ]; then ok "$name"; else failed "$name: $(tail -n 3 said)"; fi
    [ $status = 0 ] || bad=1
}
build() { # NAME FILE.df OPTIONS…
    local name=$1 opencl=--no-opencl; shift
    [ "$name" != ct ] || [ "${QUICK-}" ] || opencl=     # policies.sh runs it on OpenCL's device
    try "compiled: $name" "$dfc" "$@" $opencl -o "$name"
    [ -x "$name" ] || exit 1
}
${CC:-cc} -O3 -ffast-math -o phantom "$here/phantom.c" -lm && ${CC:-cc} $optimise -o check "$here/check.c" -lm || exit 1
build ct "$here/ct.df" --nvcc=none -w
build floor "$here/rabbitct.df" --nvcc=none -w -D truncate=0
build truncate "$here/rabbitct.df" --nvcc=none -w

reconstruct() { # PROGRAM N VIEWS WIDTH HEIGHT OUT OPTIONS…
    local program=$1 n=$2 views=$3 w=$4 h=$5 out=$6; shift 6
    [ -e "$views.$w.rct" ] || ./phantom "$views" "$w" "$h" "$views.$w.rct" || return 1
    ./"$program" --n="$n" --w="$w" --h="$h" --input="$views.$w.rct" --density="$out.f32" --volume="$out.vol" --picture="$out.png" "$@"
}
# The phantom, at the sizes for which the bounds are known.
if [ "${QUICK-}" ]; then sizes='64 96 156 120 0.02 0.07'; else sizes='128 496 312 240 0.01 0.02'; fi
read -r n views w h points rms <<<"$sizes"
try "$n^3 of $views views" reconstruct ct "$n" "$views" "$w" "$h" large
try "$n^3 of $views views" ./check phantom "$n" large.f32 "$points" "$rms"
try "$n^3 of $views views" ./check vol "$n" large.f32 large.vol

# Plain loops in double precision: weights and filter by convolution, then back-projection by both rules.
try filtered reconstruct ct 40 30 156 120 small
./check filter 30.156.rct filtered.rct
try 'FDK in double precision' ./check plain 40 filtered.rct small.f32 floor 5e-5
for rule in floor truncate; do
    try "$rule" ./$rule --input=filtered.rct --n=40 --w=156 --h=120 --density=rule.f32 --volume=rule.vol
    try "rabbitct, $rule" ./check plain 40 filtered.rct rule.f32 $rule 5e-5
done
# Matrices of no circle: each view's is turned and sheared a little.
python3 - <<'PY'
import struct
data = bytearray(open('filtered.rct', 'rb').read())
record = 96 + 4 * 156 * 120
for i in range(30):
    a = list(struct.unpack_from('<12d', data, 20 + i * record))
    for r in range(3):
        x, y, z = a[r], a[3 + r], a[6 + r]
        a[r], a[3 + r], a[6 + r] = x + 0.1 * z + 0.02 * y, y - 0.07 * z, z - 0.1 * x + 0.05 * y
    struct.pack_into('<12d', data, 20 + i * record, *a)
open('oblique.rct', 'wb').write(data)
PY
try oblique ./floor --input=oblique.rct --n=40 --w=156 --h=120 --density=oblique.f32 --volume=
try 'matrices of no circle' ./check plain 40 oblique.rct oblique.f32 floor 5e-5
# RabbitCT's own reference algorithm, if RABBITCT names a folder with its program's source.
if [ "${RABBITCT-}" ]; then
    rm -rf rabbit && cp -r "$RABBITCT" rabbit && cp rabbit/mk/config-default.mk rabbit/config.mk && make -C rabbit >rabbit.log 2>&1
    runner=$(ls rabbit/rabbitRunner-* 2>/dev/null)
    for views in filtered oblique; do
        try "LolaBunny, $views" "${runner:-false}" -i $views.rct -m LolaBunny -s 128 -o lola.f32
        try "LolaBunny, $views" ./truncate --input=$views.rct --n=128 --w=156 --h=120 --density=rule.f32 --volume=
        try "beside LolaBunny, $views" ./check same lola.f32 rule.f32 5e-5
    done
else
    echo 'left out: RABBITCT=DIR, a clone of github.com/HPC-Dwarfs/RabbitCT, to compare with its LolaBunny'
fi
# The same bits however it is run.
same() { # NAME PROGRAM OPTIONS…
    local name=$1 program=$2; shift 2
    try "$name" reconstruct "$program" 40 30 156 120 other "$@"
    try "$name" ./check same small.f32 other.f32 0
}
same 'one worker' ct --workers=1
same 'emu, gp' ct --device=emu --policy=gp
same 'emu, one wave in flight, all on the GPU' ct --device=emu --emu-all --policy=all-gpu --inflight=1
same 'emu, eight waves in flight' ct --device=emu --emu-all --policy=dmda --inflight=8
verdict() { if [ "$1" = 0 ]; then ok "$2"; else failed "$2"; fi; }
again() { reconstruct ct 40 30 156 120 other "$@" && ./check same small.f32 other.f32 0; }
[ "${QUICK-}" ] || everywhere ct again
# Other numbers of projections in a wave: in the last one there are 2 of 4, 2 of 7, and 30 of 40.
if [ "${QUICK-}" ]; then batches=7; else batches='1 7 40'; fi
for b in $batches; do
    build ct_batch "$here/ct.df" --nvcc=none -w -D batch="$b"
    try "$b projections a wave" reconstruct ct_batch 40 30 156 120 batch
    try "$b projections a wave" ./check same small.f32 batch.f32 5e-5
    try "$b projections a wave, emu" reconstruct ct_batch 40 30 156 120 other --device=emu --emu-all --policy=all-gpu
    try "$b projections a wave, emu" ./check same batch.f32 other.f32 0
done
# The volume in parts, which are slabs of z; and in a GPU's memory that holds a few of 16 slabs.
if [ "${QUICK-}" ]; then parts=; else parts='1 2 8 16'; fi
for p in $parts; do
    build ct_parts "$here/ct.df" --nvcc=none -w -D parts="$p"
    same "$p parts" ct_parts
    same "$p parts, emu" ct_parts --device=emu --emu-all --policy=all-gpu
done
build ct_parts "$here/ct.df" --nvcc=none -w -D parts=16
same "16 parts, little memory" ct_parts --device=emu --emu-all --policy=all-gpu --gpu-mem=1536000

# The code for GPUs, run on the host, with cuFFT's calls done by FFTW. A folder std beside the program comes before dfc's.
rm -rf gpu && mkdir gpu && cp "$here"/*.df gpu && cp -r "$(dirname "$dfc")/../share/dfc/std" gpu/std && mv gpu/std/fft.cu gpu/std/fft.gpu.cpp
sed -i 's/fft[.]cu/fft.gpu.cpp/' gpu/std/fft.df
${CC:-cc} -O2 -shared -fPIC -o gpu/libcufft.so.12 "$here/cufft_host.c" -lfftw3f
build ct_gpu gpu/ct.df --nvcc=none --emu-gpu-code -w
export LD_LIBRARY_PATH=$PWD/gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
try "the code for GPUs" reconstruct ct_gpu 40 30 156 120 other --device=emu --policy=all-gpu
try "the code for GPUs, beside the CPU's" ./check same small.f32 other.f32 5e-5

# What is wrong is told, and nothing is written.
refused() { # NAME PATTERN OPTIONS…
    local name=$1 pattern=$2 status; shift 2
    rm -f out.vol out.png
    ./ct --n=40 --volume=out.vol --picture=out.png "$@" >said 2>&1; status=$?
    if [ $status = 1 ] && grep -qE "$pattern" said && [ ! -e out.vol ] && [ ! -e out.png ]; then ok "refused: $name"; else failed "refused: $name: $status, $(head -c 300 said)"; fi
}
head -c 100000 30.156.rct >cut.rct; printf abc >tiny.rct; head -c 4000 /dev/zero >zero.rct
refused truncated "cut.rct.* has 99980 bytes behind its header, but 30 records of 12 numbers and f32.120, 156. have .*truncated" --input=cut.rct --w=156 --h=120
refused tiny "tiny.rct' has no (4 bytes from byte 8|8 bytes from byte 12) on" --input=tiny.rct
refused zeros "the header of 'zero.rct' says that 'w' is 0" --input=zero.rct
refused missing "nowhere.rct" --input=nowhere.rct
refused size "30.156.rct' is f32\[120, 156\], and the token is f32\[240, 312\]: give --h=120 --w=156" --input=30.156.rct
refused side "lies in the volume: give a smaller --side" --input=30.156.rct --w=156 --h=120 --side=3000
for side in 0 -256 nan; do refused "side $side" "side=$side is not above 0" --input=30.156.rct --w=156 --h=120 --side=$side; done
python3 - <<'PY'
import struct
data = bytearray(open('30.156.rct', 'rb').read())
struct.pack_into('<d', data, 20 + 29 * (96 + 4 * 156 * 120) + 8, float('inf'))
open('matrix.rct', 'wb').write(data)
PY
refused matrix "view 30: .*the matrix is not finite" --input=matrix.rct --w=156 --h=120
exit $bad
