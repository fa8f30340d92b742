#!/bin/sh
# build.sh OUT [LIBRARIES]: compiles the program that is written by hand. It needs libpng, FFTW, and nvcc; or, with the folder that has libdf.a, no nvcc: then
# dfc's emulated GPU takes the part of the GPU (../emulated.h).
set -eu
here=$(cd "$(dirname "$0")" && pwd) out=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$here/../../..
for f in "$root/runtime/std/fft.c" "$here/backproject.c" "$here/geometry.c"; do
    ${CC:-cc} -std=gnu11 -O3 -I"$root/runtime" -include df.h -include stddef.h -c "$f" -o "$work/$(basename "$f" .c).o"
done
${CC:-cc} -std=gnu11 -O2 -I"$root/runtime" -c "$here/../call.c" -o "$work/call.o"
if [ $# = 1 ]; then
    ${NVCC:-nvcc} -O3 -I"$root/runtime" "$here/ct.cu" "$work"/*.o -o "$out" -lpng -lfftw3f -lpthread
else
    ${CC:-cc} -std=gnu11 -O2 -I"$root" -I"$root/runtime" -c "$here/../emulated.c" -o "$work/emulated.o"
    ${CXX:-c++} -O3 -I"$root/runtime" -x c++ "$here/ct.cu" -x none "$work"/*.o -o "$out" "$2/libdf.a" -lpng -lfftw3f -lhwloc -lm -lpthread
fi
