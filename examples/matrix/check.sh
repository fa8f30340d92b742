#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - graphs of additions, of products and of both, against check.py; and the same under every policy (policies.sh). The generated
# declarations get their variants for OpenCL devices, too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
cp "$here"/matrix.c "$here"/matrix.c[lu] "$here"/kernels.df . && ${CC:-cc} -std=c11 -O2 -o generate "$here/generate.c" || exit 1
for kind in ma mm mixed; do
    products='/^kernel mm/s/gpu "matrix.cu"/& gpu "matrix.cl": multiply<<<(m + 15) \/ 16, (m + 15) \/ 16, 16, 16>>>(m, a, b, c)/'
    [ $kind != mixed ] || products=        # there they round, and OpenBLAS adds in another order
    ./generate --kind=$kind --n=96 | sed -e '/^kernel ma/s/gpu "matrix.cu"/& gpu "matrix.cl": average<<<(m * m + 255) \/ 256, 256>>>(m, a, b, c)/' -e "$products" >$kind.df && "$dfc" $kind.df --nvcc=none -w -o $kind 2>compile.log || { cat compile.log; exit 1; }
    for device in none emu; do
        ./$kind --device=$device >$kind.out && python3 "$here/check.py" $kind.df $kind.out 96 >check.log || { cat check.log; false; }
        verdict $? "$kind --device=$device"
    done
    ./$kind --waves=8 --device=none --workers=1 | sort >$kind.want
    try() { ./$kind --waves=8 "$@" | sort >$kind.out && cmp $kind.want $kind.out; }
    everywhere $kind try
    ./generate --kind=$kind --n=96 --std >std.df && "$dfc" std.df --nvcc=none -w -o $kind 2>compile.log || { cat compile.log; exit 1; }
    try
    verdict $? "$kind, with std/blas.df"
    NO_OPENCL=$([ $kind != mm ] || echo 1) everywhere "$kind, with std/blas.df" try
done
exit $failed
