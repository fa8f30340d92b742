# cuBLAS is found when a kernel asks for it, wherever it is installed, and examples/matrix does without it. The libraries are stand-ins.
HERE=$PWD; export HERE
base=(runtime/base/error.c runtime/base/message.c)
compile() { "$@" -D_GNU_SOURCE -I"$DF_SOURCE" -I"$programs"; }
check find-compiles compile cc -std=c11 -Wall -Wextra -Werror -include "$programs/here.h" -c "$programs/find.c" "$DF_SOURCE/runtime/cuda/cuda_blas.c" "${base[@]/#/$DF_SOURCE/}"
base=({cuda_blas,error,message}.o)
cc -o find find.o "${base[@]}" -ldl
# install FOLDER VERSION PLACE [FLAGS]: libcublas, and libcublasLt beside it, which only its name finds.
install() {
    mkdir -p "$1"
    [ -e lt.$2 ] || cc -shared -fPIC -DLT -Wl,-soname,libcublasLt.so.$2 -o lt.$2 "$programs/fake.c" || fail "install-$3-lt" "the compiler"
    cp lt.$2 "$1/libcublasLt.so.$2" &&
        cc -shared -fPIC -DPLACE="\"$3\"" ${4:-} -Wl,-soname,libcublas.so.$2 -o "$1/libcublas.so.$2" "$programs/fake.c" "$1/libcublasLt.so.$2" || fail "install-$3" "the compiler"
}
# found NAME PLACE VERSION VARIABLE=VALUE…
found() { local name=$1 place=$2 version=$3; shift 3; expect "$name" 0 "^found $place\$" env -i HERE="$HERE" "$@" ./find "$version"; }

expect none 1 "^no cuBLAS found \(libcublas.so.13\): neither by the loader, nor in a toolkit, nor among Python's packages$" env -i HERE="$HERE" ./find 13
install loader 13 loader
install toolkit/lib64 13 toolkit
install conda/targets/x86_64-linux/lib 13 conda
install py/lib/python3.12/site-packages/nvidia/cu13/lib 13 python
install py/lib/python3.12/site-packages/nvidia/cublas/lib 12 python12
install pyenv/versions/3.11.7/lib/python3.11/site-packages/nvidia/cu13/lib 13 pyenv
install debian/lib/python3/dist-packages/nvidia/cu13/lib 13 debian
install home/.local/lib/python3.11/site-packages/nvidia/cu13/lib 13 home
mkdir -p toolkit/bin conda/bin py/bin pyenv/shims debian/bin empty
found loader loader 13 LD_LIBRARY_PATH="$HERE/loader" CUDA_HOME="$HERE/toolkit"
found cuda-home toolkit 13 CUDA_HOME="$HERE/toolkit" PATH="$HERE/py/bin"
found cuda-path toolkit 13 CUDA_PATH="$HERE/toolkit"
found beside-nvcc toolkit 13 PATH="$HERE/empty::$HERE/toolkit/bin:$HERE/py/bin"
found conda conda 13 PATH="$HERE/conda/bin"
found python python 13 PATH="$HERE/empty:$HERE/py/bin"
found virtual-env python 13 VIRTUAL_ENV="$HERE/py"
found python-12 python12 12 PATH="$HERE/py/bin"
found own-version-first python12 12 PATH="$HERE/py/bin" CUDA_HOME="$HERE/toolkit" LD_LIBRARY_PATH="$HERE/loader"
found pyenv pyenv 13 PATH="$HERE/pyenv/shims"
found debian debian 13 PATH="$HERE/debian/bin"
found python-path python 13 PYTHONPATH="$HERE/empty:$HERE/py/lib/python3.12/site-packages"
found home home 13 HOME="$HERE/home"
install old/lib64 12 old
found another-version old 13 CUDA_HOME="$HERE/old"
# What cannot be loaded is passed over; what lacks a function is told.
mkdir -p text/lib64 && echo text > text/lib64/libcublas.so.13
found unloadable python 13 CUDA_HOME="$HERE/text" PATH="$HERE/py/bin"
install lacking/lib64 13 lacking -DINCOMPLETE
expect lacking 1 '^the cuBLAS found lacks cublasCreate_v2 or its like$' env -i HERE="$HERE" CUDA_HOME="$HERE/lacking" ./find 13
# A program that is linked with one uses that.
linked=$HERE/py/lib/python3.12/site-packages/nvidia/cu13/lib
check linked-compiles cc -o linked find.o "${base[@]}" -ldl -Wl,--no-as-needed "$linked"/libcublas.so.13 "$linked"/libcublasLt.so.13
expect linked 0 '^found python$' env -i HERE="$HERE" LD_LIBRARY_PATH="$linked" CUDA_HOME="$HERE/toolkit" ./linked 13
# One handle, bound anew each time: the stream first, because it takes the workspace off the handle.
env -i HERE="$HERE" CUDA_HOME="$HERE/toolkit" ./find 13 > calls.out
printf '%s\n' 'found toolkit' create 'stream 1' 'workspace 256' 'stream 1' 'workspace 256' destroy > calls.want; same calls calls.out calls.want

# The gpu code of examples/matrix, on the host: with cuBLAS and without.
{ cat "$programs/host.h" "$programs/calls.h"; sed -E 's/^( *)(average|multiply)<<<(.*)>>>\(/\1launch(\2, \3, /' "$DF_SOURCE/examples/matrix/matrix.cu"; cat "$programs/main.cpp"; } > matrix.cpp
check matrix-compiles compile c++ -std=c++14 -o matrix matrix.cpp "${base[@]}" -ldl -pthread
env -i HERE="$HERE" ./matrix > plain.out
printf '%s\n' 'log 1: no cuBLAS was found: a plain kernel multiplies, which takes longer' '70: 0 wrong' '16: 0 wrong' > plain.want; same matrix-plain plain.out plain.want
env -i HERE="$HERE" CUDA_HOME="$HERE/toolkit" ./matrix > blas.out
printf '%s\n' create 'stream 1' 'workspace 256' 'sgemm 70' '70: 0 wrong' 'stream 1' 'workspace 256' 'sgemm 16' '16: 0 wrong' > blas.want; same matrix-cublas blas.out blas.want

# The gpu code of std/blas.df, likewise: it needs cuBLAS.
{ cat "$programs/host.h" "$programs/calls.h" "$DF_BUILD/share/dfc/std/blas.h"; grep -v '^#include "blas.h"' "$DF_BUILD/share/dfc/std/blas.cu"; cat "$programs/blas.cpp"; } > blas.cpp
check blas-compiles compile c++ -std=c++14 -Wall -Wextra -Werror -Wno-unused-function -o blas blas.cpp "${base[@]}" -ldl -pthread
large='BLAS multiplies matrices of at most 2147483647 rows and columns, not 2147483648'
env -i HERE="$HERE" ./blas > blas.out
for kind in S D; do printf 'no cuBLAS was found that has cublas%sgemm_v2: put its folder into LD_LIBRARY_PATH, or run with --device=none\n' $kind; done > blas.want
{ printf '%s\n' "$large" "$large" "$large"; cat blas.want; } > none.want; same blas-none blas.out none.want
env -i HERE="$HERE" CUDA_HOME="$HERE/toolkit" ./blas > blas.out
bound() { printf 'stream 1\nworkspace 256\n%s\n%s\n' "$@"; }
{ printf '%s\n' "$large" "$large" "$large" create; bound 'sgemm 3' 'f32: 0 wrong'; bound 'dgemm 3' 'f64: 0 wrong'; } > blas.want; same blas blas.out blas.want

# nvcc compiles it without a header of cuBLAS, and nothing is linked with the library.
long || return 0
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip matrix-cuda "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip matrix-cuda "this dfc was built without CUDA"; exit 0; fi
cp "$DF_SOURCE"/examples/matrix/matrix.c "$DF_SOURCE"/examples/matrix/matrix.cu . && cc -std=c11 -o generate "$DF_SOURCE/examples/matrix/generate.c"
./generate --kind=mixed --n=24 > mixed.df
check matrix-cuda "$DFC" mixed.df -o mixed --nvcc-flags='-arch=compute_80 -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror'
readelf -d mixed | grep -iE 'NEEDED.*cu(blas|solver)' > needs; same matrix-needs-no-cublas needs /dev/null
