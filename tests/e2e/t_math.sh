# The functions of df_math.h as generated kernels use them: gcc and clang make vector code of a loop over each, for every level of x86-64, and C, C++ and
# CUDA's compiler make the same bits of their one text. What they compute is tested by unit-math.
flags='-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math'
if [ "$(uname -m)" = x86_64 ]; then levels=$(long && echo x86-64 x86-64-v3 x86-64-v4 || echo x86-64-v3); else levels=native; fi
loops=$(grep -cE '^(ONE|TWO|FAR)\(' "$programs/loops.h")
include="-I$DF_BUILD/include -I$programs"

for level in $levels; do
    # A line of loops.h has one loop that must be in the list; FAR's second loop is not meant to be.
    # shellcheck disable=SC2086
    vector_lines loops.h cc $flags -march=$level $include -o $level.bin "$programs/bits.c" >vec || { fail compile "$(head -n 3 vec)"; return; }
    if [ "$(wc -l <vec)" = "$loops" ]; then pass "vectorised-$level"; else fail "vectorised-$level" "$(wc -l <vec) of $loops loops: $(tr '\n' ' ' <vec)"; fi
done

# shellcheck disable=SC2086
build() { # NAME COMMAND…: prints the hashes into NAME, and compares them with those of the first
    local name=$1; shift
    if ! "$@" $include -o "$name.bin" 2>err || ! ./"$name.bin" >"$name"; then fail "$name" "$(head -n 3 err)"; return; fi
    if [ -e first ]; then same "$name" "$name" first; else cp "$name" first; expect hashes 0 '^16$' wc -l <"$name"; fi
}
compiled() { cp "$1" "${@: -1}"; }              # PROGRAM … FILE: that was made for the list of vectors
# shellcheck disable=SC2086
{
    build scalar cc -O1 -ffp-contract=off "$programs/bits.c"
    ! long || build baseline cc $flags "$programs/bits.c"
    ! long || build undefined cc -O1 -ffp-contract=off -fsanitize=undefined -fno-sanitize-recover=undefined "$programs/bits.c"
    if grep -qw avx2 /proc/cpuinfo && [ "$(uname -m)" = x86_64 ]; then build v3 compiled x86-64-v3.bin; else skip v3 "no AVX2 here"; fi
    if ! long; then :; elif grep -qw avx512vbmi /proc/cpuinfo && [ "$(uname -m)" = x86_64 ]; then build v4 cc $flags -march=x86-64-v4 -mprefer-vector-width=512 "$programs/bits.c"
    else skip v4 "no AVX-512 here"; fi
    if command -v c++ >/dev/null; then
        build cuda-text c++ -O1 -ffp-contract=off -D__CUDACC__ -D__host__= -D__device__= -D__forceinline__=inline -x c++ "$programs/bits.c"
    else skip cuda-text "no c++ here"; fi
    if is_clang; then other=gcc; else other=clang; fi
    if command -v $other >/dev/null; then build $other $other $flags "$programs/bits.c"; else skip $other "no $other here"; fi
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
    if ! long; then :; elif [ -n "$nvcc" ]; then
        cat > kernels.cu <<'X'
#include "bits.c"
#define ON_ONE(name) __global__ void name(float *a, double *b) { *a = df_##name##_f32(*a); *b = df_##name##_f64(*b); }
#define ON_TWO(name) __global__ void name(float *a, double *b) { *a = df_##name##_f32(a[0], a[1]); *b = df_##name##_f64(b[0], b[1]); }
namespace k { ON_ONE(exp) ON_ONE(log) ON_ONE(tanh) ON_ONE(sin) ON_ONE(cos) ON_ONE(tan) ON_TWO(pow) ON_TWO(atan2) }
X
        build nvcc "$nvcc" -O2 -arch=sm_80 -Xcompiler -ffp-contract=off --fmad=false --ftz=false --prec-div=true --prec-sqrt=true --keep kernels.cu
        # Nothing is contracted, and every division is rounded as IEEE 754 says.
        if [ "$(grep -c 'div.rn.f' kernels.ptx)" -ge 4 ] && ! grep -E 'fma\.rn\.f(32|64)|div\.(approx|full)|\.ftz' kernels.ptx >wrong; then pass nvcc-exact
        else fail nvcc-exact "$(head -n 2 wrong)"; fi
    else skip nvcc "no nvcc here"; fi
}
