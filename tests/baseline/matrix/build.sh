#!/bin/sh
# build.sh OUT [LIBRARIES]: compiles the program that is written by hand. It needs OpenBLAS, and nvcc; or, with the folder that has libdf.a, no nvcc: then
# dfc's emulated GPU takes the part of the GPU (../emulated.h).
set -eu
here=$(cd "$(dirname "$0")" && pwd) out=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$here/../../.. blas=$(pkg-config --cflags --libs openblas)
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -O2 -I"$root/runtime" -include df.h -include stddef.h $blas -c "$root/examples/matrix/matrix.c" -o "$work/matrix.o"
${CC:-cc} -std=gnu11 -O2 -I"$root/runtime" -c "$here/../call.c" -o "$work/call.o"
if [ $# = 1 ]; then
    ${CC:-cc} -std=gnu11 -O2 -I"$root/runtime" -c "$here/cublas.c" -o "$work/cublas.o"
    # shellcheck disable=SC2086
    ${NVCC:-nvcc} -O3 -I"$root/runtime" -include df.h "$here/matrix.cu" "$work"/*.o -o "$out" $blas -ldl -lpthread
else
    ${CC:-cc} -std=gnu11 -O2 -I"$root" -I"$root/runtime" -c "$here/../emulated.c" -o "$work/emulated.o"
    # shellcheck disable=SC2086
    ${CXX:-c++} -O3 -I"$root/runtime" -x c++ "$here/matrix.cu" -x none "$work"/*.o -o "$out" "$2/libdf.a" $blas -lhwloc -lm -lpthread
fi
