#!/bin/bash
# bench.sh BUILDDIR OUTDIR: the mixed graph of examples/matrix by dfc and by hand, both on dfc's emulated GPU and the CPU: the time from the first job to the
# last, N (512) rows, in turns, the least and the median of ROUNDS (15), and the median of the rounds' ratios. dfc's program is planned by gp with measured
# times; by hand the placement is gp's, too. STD=1: dfc's has products of std and a formula in place of the kernels of matrix.c and matrix.cu.
set -u
here=$(cd "$(dirname "$0")" && pwd) root=$here/../../.. build=$(cd "$1" && pwd) n=${N-512}
. "$here/../../../examples/turns.sh"
mkdir -p "$2" && cd "$2" || exit 1
cc -std=c11 -O2 -o generate "$root/examples/matrix/generate.c" && cp "$root"/examples/matrix/{matrix.c,matrix.cu,kernels.df} . || exit 1
./generate --kind=mixed --n="$n" ${STD:+--std} >mixed.df
export DFC_PROFILE=$PWD/profile.db
[ -e profile.db ] || "$build/bin/dfc" profile mixed.df --nvcc=none -w --device=emu --max-time=0.5s >profile.log 2>&1 || exit 1
"$build/bin/dfc" mixed.df --nvcc=none -w --device=emu -o dfc_matrix && "$here/build.sh" ./by_hand "$build/lib" || exit 1
: >dfc.ms; : >hand.ms
for _ in $(seq "${ROUNDS-15}"); do
    ./dfc_matrix --device=emu --emu-check=off --stats=json,totals --stats-file=stats.json >dfc.out
    sed -nE 's/.*"makespan_s": ([0-9.e-]+).*/\1/p' stats.json | awk '{ print 1000 * $1 }' >>dfc.ms
    ./by_hand "$n" 2>&1 >hand.out | awk '/makespan/ { print $2 }' >>hand.ms
    cmp -s <(sort dfc.out) <(sort hand.out) || { echo 'FAILED: the results differ'; exit 1; }
done
beside "matrix${STD:+ --std}" dfc.ms hand.ms
