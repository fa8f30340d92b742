# The signatures of graph edges and of batches of copies changed in CUDA 13, and batches came with 12.8. What uses them compiles for CUDA 12, too:
# with a header that says what CUDA 12's does (tests/mock/cuda12.h), and, so that this test can fail, not with that header and the calls of CUDA 13.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
home=${nvcc:+$(dirname "$(dirname "$(realpath "$nvcc")")")}
if [ ! -e "$home/include/cuda_runtime_api.h" ]; then skip cuda12 "no headers of CUDA here"; exit 0; fi
if ! grep -q '^#define CUDART_VERSION *1[3-9]' "$home/include/cuda_runtime_api.h"; then skip cuda12 "the headers here are of CUDA 12"; exit 0; fi
compile() { cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$DF_SOURCE" -isystem "$home/include" "$@"; }
old() { local version=$1; shift; compile -DCUDA12="$version" -include "$DF_SOURCE/tests/mock/cuda12.h" "$@"; }
fails() { local name=$1; shift; if "$@" 2>err; then fail "$name" "it compiles"; else pass "$name"; fi; }
for file in cuda_graph cuda_work; do
    check $file-for-13 compile "$DF_SOURCE/runtime/cuda/$file.c"
    for version in 12000 12080; do check $file-for-$version old $version "$DF_SOURCE/runtime/cuda/$file.c"; done
    sed 's/CUDART_VERSION >= 13000/1/' "$DF_SOURCE/runtime/cuda/$file.c" >$file-13.c
    fails $file-not-13-for-12 old 12080 $file-13.c
done
sed 's/CUDART_VERSION >= 12080/1/' "$DF_SOURCE/runtime/cuda/cuda_work.c" >always.c
fails no-batches-before-12.8 old 12000 always.c
