#!/usr/bin/env bash
# Makes a folder that runs on a Linux x86-64 machine with only a C compiler and, for GPU code, nvcc: bundle.sh BUILDDIR BUNDLE.
# dfc finds its headers and libraries beside itself; every shared library that dfc, the tests and the examples need lies in lib/, with the
# headers of those that examples are compiled against. CUDA's own libraries stay out: they belong to the machine with the GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 bundle=$2
rm -rf "$bundle"; mkdir -p "$bundle"/{bin,lib/graphviz,include,tests/unit}
cp "$build/bin/dfc" "$bundle/bin/"; strip "$bundle/bin/dfc"
# Of the unit tests those that meet the device: each carries all of libdf, and together they would be larger than the rest.
for t in cuda emu engine; do cp "$build/tests/test_$t" "$bundle/tests/unit/"; strip "$bundle/tests/unit/test_$t"; done
for a in "$build"/lib/*.a; do [ "${a##*/}" = libdfdriver.a ] || { cp "$a" "$bundle/lib/"; strip -g "$bundle/lib/${a##*/}"; }; done
cp "$build"/include/*.h "$bundle/include/"
cp -r "$build/share" "$bundle/"
git ls-files examples tests ':!tests/unit' ':!tests/golden' ':!tests/fuzz' ':!tests/rig' ':!tests/mock' ':!tests/model' | while read -r f; do mkdir -p "$bundle/$(dirname "$f")"; cp "$f" "$bundle/$f"; done
cp tests/bundle.mk "$bundle/Makefile"; cp LICENSE README.md "$bundle/"

multiarch=$(${CC:-cc} -print-multiarch)
copy_library() { # SONAME's file under its soname
    local path; path=$(realpath "$1"); [ -e "$bundle/lib/$2" ] || { cp "$path" "$bundle/lib/$2"; chmod u+w "$bundle/lib/$2"; strip -g "$bundle/lib/$2"; }
}
needed_by() { ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3, $1 }' | sort -u |
    grep -vE ' (libc|libm|libdl|librt|libpthread|ld-linux-x86-64|libgcc_s|libstdc\+\+)\.so'; }
plugins=(/usr/lib/"$multiarch"/graphviz/libgvplugin_{core,dot_layout}.so.?)
linked=(/usr/lib/"$multiarch"/lib{metis,hwloc,png,z}.so)
needed_by "$build/bin/dfc" "$build"/tests/test_parse "${plugins[@]}" "${linked[@]}" | while read -r path name; do copy_library "$path" "$name"; done
for l in "${linked[@]}"; do # as the linker looks for them
    soname=$(objdump -p "$(realpath "$l")" | awk '$1 == "SONAME" { print $2 }'); copy_library "$l" "$soname"; ln -sf "$soname" "$bundle/lib/${l##*/}"
done
# OpenBLAS without its LAPACK, which is a quarter of it and needs Fortran's libraries: made of its static library.
openblas=$(dirname "$(realpath /usr/lib/"$multiarch"/libopenblas.so)")
mapfile -t calls < <(nm "$openblas/libopenblas.a" 2>/dev/null | awk '$2 == "T" && $3 ~ /^cblas_/ { print "-Wl,-u," $3 }' | sort -u)
${CC:-cc} -shared -s -o "$bundle/lib/libopenblas.so.0" -Wl,-soname,libopenblas.so.0 "${calls[@]}" -Wl,-u,openblas_set_num_threads "$openblas/libopenblas.a" -lpthread -lm
ln -sf libopenblas.so.0 "$bundle/lib/libopenblas.so"
for p in "${plugins[@]}"; do cp "$(realpath "$p")" "$bundle/lib/graphviz/${p##*/}"; done
GVBINDIR=$(realpath "$bundle/lib/graphviz") dot -c                   # writes config6a: what these plugins offer
for h in png.h pngconf.h pnglibconf.h zlib.h zconf.h "$multiarch"/zconf.h "$multiarch"/cblas.h "$multiarch"/openblas_config.h; do
    [ -e /usr/include/$h ] && cp -L "/usr/include/$h" "$bundle/include/"
done
# Programs made beforehand, for a GPU whose machine has no nvcc: packed, as each carries libdf and CUDA's runtime.
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}
if [ -n "$nvcc" ] && [ "$nvcc" != none ] && [ -e "$bundle/lib/libdf-cuda.a" ]; then
    NVCC=$nvcc RUN_PATH='$ORIGIN/../../lib' tests/gpu/programs.sh "$bundle" "$bundle/programs" ways random-1 -- --cflags='-static-libstdc++ -static-libgcc -s' |
        { ! grep -v '^ok'; } >&2
    tar -cf - -C "$bundle" programs | gzip -9 >"$bundle/programs.tar.gz"; rm -r "$bundle/programs"
fi
size=$(du -sm "$bundle" | cut -f1)
needs=$(objdump -T "$bundle"/bin/dfc "$bundle"/lib/*.so.* "$bundle"/lib/graphviz/*.so.* | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
echo "$bundle: $size MiB, for glibc ${needs#GLIBC_} or newer"
[ "$size" -le 50 ] || { echo "bundle: error: larger than 50 MiB" >&2; exit 1; }
