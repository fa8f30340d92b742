# What ptxas makes of kernels (tests/gpu/report.py): generated code has neither spills nor local memory, or a reason. In make check one graph, in
# check-long all. A kernel with a frame is found.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -z "$nvcc" ]; then skip gpu_report "no nvcc here"; return 0; fi
formulas_for none                               # the CPU's code is no part of it
report() { NVCC=$nvcc python3 "$DF_SOURCE/tests/gpu/report.py" "$DF_BUILD" "$@"; }
if long; then check all report; else
    report examples/filters/harris.df >table; rc=$?
    expect harris 0 '^\| harris \| grey_gradient.*, fused \| 256 \| [0-9]{2}( / [0-9]{2})? \| 0 \| 0 \| [0-9]+ \| ([5-9].|100)%( / ([5-9].|100)%)? \| [34]\.[0-9] \| ' sh -c "cat table; exit $rc"
fi
cat >frame.df <<'Y'
kernel make(out a: i32[k]) cpu {{ memset(a, 0, k * 4); }};
kernel turn(in a: i32[k], out b: i32[k]) gpu "frame.cu": turn<<<1, 64>>>(k, a, b);
graph main { a: i32[64] = make(); b = turn(a); }
Y
cat >frame.cu <<'Y'
__global__ void turn(size_t k, const int *a, int *b)
{
    int own[64];
    for (size_t i = 0; i < 64; i++)
        own[a[i] & 63] = (int)i;
    b[threadIdx.x] = own[(b[0] + threadIdx.x) & 63] + (int)k;
}
Y
expect frame-found 1 '^frame: turn for sm_90: a frame of 256 bytes, spills of 0 bytes$' report "$PWD/frame.df"
