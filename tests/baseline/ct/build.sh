#!/bin/sh
# build.sh OUT: compiles the program that is written by hand. It needs nvcc, libpng and FFTW.
set -eu
here=$(cd "$(dirname "$0")" && pwd) out=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for f in "$here/../../../runtime/std/fft.c" "$here/backproject.c" "$here/geometry.c"; do
    ${CC:-cc} -std=gnu11 -O3 -I"$here/../../../runtime" -include df.h -include stddef.h -c "$f" -o "$work/$(basename "$f" .c).o"
done
${CC:-cc} -std=gnu11 -O2 -I"$here/../../../runtime" -c "$here/../call.c" -o "$work/call.o"
${NVCC:-nvcc} -O3 -I"$here/../../../runtime" "$here/ct.cu" "$work"/*.o -o "$out" -lpng -lfftw3f -lpthread
