#!/bin/bash
# check.sh FOLDER: compiles the graphs of this folder, runs each under three policies and on the emulated GPU, and compares
# what they write with what the programs themselves write. FOLDER holds their sources (docs/results/strangers.md). dfc is
# $DFC, or that of the path.
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "${1:?the folder with the four sources}" && pwd) || exit 2
DFC=${DFC:-dfc}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && cd "$work" || exit 2
for name in gpu-rodinia PolyBenchC-4.2.1 kissfft stb; do
    [ -d "$sources/$name" ] || { echo "there is no $sources/$name" >&2; exit 2; }
    ln -s "$sources/$name" .
done
cp "$here"/*.df "$here"/*.c .
failed=0

python3 - <<'X'
import random, struct
random.seed(4)
for name, low, high in (("temp.txt", 320, 340), ("power.txt", 0, 0.01)):
    with open(name, "w") as f:
        f.writelines("%.6f\n" % random.uniform(low, high) for _ in range(512 * 512))
with open("in.cpx", "wb") as f:
    f.write(struct.pack("65536f", *(random.uniform(-1, 1) for _ in range(65536))))
X

compare() { # NAME HOW OUTPUT…: each OUTPUT.out is the same as OUTPUT.ref
    local output
    for output in "${@:3}"; do
        cmp "$output.out" "$output.ref" || { echo "not ok $1 $2"; failed=1; return; }
    done
    echo "ok $1 $2"
}

graph() { # NAME OUTPUT…
    "$DFC" "$1.df" -o "$1.run" --gpu-arch=sm_90 2> log || { cat log; echo "not ok $1"; failed=1; return; }
    for how in --policy=eager --policy=ws --policy=gp '--device=emu --emu-all --policy=all-gpu'; do
        rm -f ./*.out
        ./"$1.run" --workers=2 $how > /dev/null 2> "$1.out" || { cat "$1.out"; echo "not ok $1 $how"; failed=1; continue; }
        compare "$1" "$how" "${@:2}"
    done
}

rodinia=gpu-rodinia/openmp
${CXX:-c++} -w -O2 -fopenmp $rodinia/hotspot/hotspot_openmp.cpp -o own && ./own 512 512 8 2 temp.txt power.txt hotspot.ref > /dev/null
${CC:-cc} -w -O2 -fopenmp -include omp.h $rodinia/hotspot3D/3D.c -lm -o own && ./own 64 8 5 power.txt temp.txt hotspot3d.ref > /dev/null
${CC:-cc} -w -O3 -fopenmp -I$rodinia/lud/common lud_own.c $rodinia/lud/omp/lud_omp.c $rodinia/lud/common/common.c -lm -o own && ./own > /dev/null
graph hotspot hotspot
graph hotspot3d hotspot3d
graph lud lud
if command -v nvcc > /dev/null; then
    "$DFC" nw.df -o nw --gpu-arch=sm_90 && echo "ok nw compiled" || { echo "not ok nw"; failed=1; }
fi

for path in linear-algebra/kernels/2mm/2mm linear-algebra/kernels/atax/atax stencils/jacobi-2d/jacobi-2d datamining/correlation/correlation; do
    name=${path##*/}
    ${CC:-cc} -w -O2 -IPolyBenchC-4.2.1/utilities PolyBenchC-4.2.1/utilities/polybench.c PolyBenchC-4.2.1/$path.c -DMEDIUM_DATASET \
        -DPOLYBENCH_DUMP_ARRAYS -lm -o own && ./own 2> "$name.ref"
    graph "$name" "$name"
done

${CC:-cc} -w -O2 -Ikissfft kissfft/tools/fftutil.c kissfft/kiss_fft{,r,nd,ndr}.c -lm -o own
./own -n 1024 in.cpx fft.ref && ./own -n 1024 -i fft.ref ifft.ref && ./own -n 1024 -R in.cpx fftr.ref &&
    ./own -n 1024 -R -i fftr.ref fftri.ref && ./own -n 32,32 in.cpx nd.ref
graph fft fft ifft
graph fftr fftr fftri
graph nd nd

${CC:-cc} -w -O2 -I. stb_own.c -lm -o own && ./own
graph stb png dxt
exit $failed
