# The gpu code of examples/cholesky on the host: with a stand-in for cuSOLVER, and with the plain kernel. What is cuBLAS is a stand-in in both.
cholesky=$DF_SOURCE/examples/cholesky
cc -std=c11 -c -o fake.o "$programs/fake.c"
{ cat "${programs%/*}/cublas/host.h" "$programs/begin.h"
  sed -E 's/^( *)(factor|move_ones)<<<(.*)>>>\(/\1launch(\2<T>, \3, /' "$cholesky/tiles.cu"; cat "$programs/main.cpp"; } >gpu.cpp
check gpu-compiles c++ -std=gnu++14 -O1 -D_GNU_SOURCE -I"$DF_SOURCE" -rdynamic -o gpu gpu.cpp fake.o -lopenblas -ldl -pthread
cc -std=c11 -shared -fPIC -DSOLVER -o solver.so "$programs/fake.c" -lopenblas
right=$(printf '%s\n' 'lu f64: right' 'cholesky f64: right' 'lu f32: right' 'cholesky f32: right')
./gpu >plain.out; printf 'plain kernels\n%s\n' "$right" >plain.want; same gpu-plain plain.out plain.want
SOLVER=$PWD/solver.so ./gpu >solver.out; printf 'cuSOLVER\n%s\n' "$right" >solver.want; same gpu-solver solver.out solver.want

long || return 0                        # lu.df with nvcc
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip cuda "no nvcc here"; exit 0; fi
if [ ! -e "$DF_BUILD/lib/libdf-cuda.a" ]; then skip cuda "this dfc was built without CUDA"; exit 0; fi
check cuda "$DFC" "$cholesky/lu.df" -w -o lu --gpu-arch=sm_80 --nvcc-flags='-Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror'
