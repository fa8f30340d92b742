# The signatures of graph edges changed in CUDA 13. What uses them compiles for CUDA 12, too: with a header that says what CUDA 12's does
# (tests/mock/cuda12.h), and, so that this test can fail, not with that header and the calls of CUDA 13.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
home=${nvcc:+$(dirname "$(dirname "$(realpath "$nvcc")")")}
if [ ! -e "$home/include/cuda_runtime_api.h" ]; then skip cuda12 "no headers of CUDA here"; exit 0; fi
if ! grep -q '^#define CUDART_VERSION *1[3-9]' "$home/include/cuda_runtime_api.h"; then skip cuda12 "the headers here are of CUDA 12"; exit 0; fi
compile() { gcc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$DF_SOURCE" -isystem "$home/include" "$@"; }
check graphs-for-13 compile "$DF_SOURCE/runtime/cuda/cuda_graph.c"
check graphs-for-12 compile -include "$DF_SOURCE/tests/mock/cuda12.h" "$DF_SOURCE/runtime/cuda/cuda_graph.c"
sed 's/CUDART_VERSION >= 13000/1/' "$DF_SOURCE/runtime/cuda/cuda_graph.c" >always13.c
if compile -include "$DF_SOURCE/tests/mock/cuda12.h" always13.c 2>err; then fail not-13-for-12 "it compiles"; else pass not-13-for-12; fi
