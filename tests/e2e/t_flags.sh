# Files as they are found: with a main() of their own, and with flags that only they are compiled with.
cp -r "$programs"/* .
program() { # NAME SCALE SHIFT: their variants
    printf '%s\n' 'kernel count(out v: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (float)i; }};' \
        "kernel scale(in v: f32[k], out w: f32[k]) $2;" "kernel shift(inout v: f32[k]) $3;" \
        'kernel show(in v: f32[k]) cpu {{ printf("%g\n", v[k - 1]); }};' \
        'graph main { v: f32[10] = count(); w = scale(v); x = shift(w); show(x); }' > "$1.df"
}
scale='cpu "scale.c" flags "-Iinclude -DADDED=2 -O3": scale(w, v, k)'
shift='cpu "threads.cpp" flags "-fopenmp": shift(v, k)'
build() { # NAME [OPTION…]
    check "$1-compile" "$DFC" "$1.df" -o "$1" "${@:2}"
    expect "$1" 0 '^30$' "./$1"
}
program both "$scale" "$shift" && build both
cp both.df lto.df && build lto --cflags='-flto -O2'
mkdir -p elsewhere && (cd elsewhere && check from-elsewhere "$DFC" ../both.df -o both && expect from-elsewhere-runs 0 '^30$' ./both)
grep -q start_timer scale.c && cmp -s scale.c "$programs/scale.c" && pass unedited || fail unedited

# Objects and archives, too. A function of a C++ object goes by its symbol.
gcc -Iinclude -DADDED=2 -ffunction-sections -c scale.c && g++ -fopenmp -c threads.cpp && ar rc libthreads.a threads.o
objects='cpu "scale.o": scale(w, v, k) -> void'
program object "$objects" 'cpu "threads.o": _Z5shiftPfi(v, k) -> void' && build object --cflags=-fopenmp
program archive "$objects" 'cpu "libthreads.a": _Z5shiftPfi(v, k) -> void' && build archive --cflags=-fopenmp
cp scale.o kept.o && "$DFC" object.df -o object --cflags=-fopenmp && same objects-unchanged scale.o kept.o

# The other file of a variant has flags of its own, and -MD still names the files.
program more 'cpu "call.c" flags "-DCALLED=scale" "scale.c" flags "-Iinclude -DADDED=2": through(w, v, k)' "$shift"
echo 'void CALLED(float *, const float *, int); void through(float *w, const float *v, int k); void through(float *w, const float *v, int k) { CALLED(w, v, k); }' > call.c
build more -MD
expect more-dependencies 0 'scale\.c.*include/factor\.h|include/factor\.h' cat more.d

# Flags after the last of several files are for that file: if another one then fails, it is said.
program last 'cpu "scale.c" "call.c" flags "-DCALLED=scale -Iinclude -DADDED=2": scale(w, v, k)' "$shift"
expect flags-of-the-last 1 "^dfc: note: flags \"-DCALLED=scale -Iinclude -DADDED=2\" are for 'call.c' alone: each file has flags of its own" "$DFC" last.df -o last

if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    cp threads.cpp threads.cu
    program cuda "$scale" 'cpu "threads.cu" flags "-Xcompiler=-fopenmp,-Wall -DUNUSED -arch=sm_80": shift(v, k)'
    sed -i 's/^graph/kernel other(in a: f32[k]) gpu {{ (void)a; }};\n&/' cuda.df
    build cuda --nvcc-flags=-arch=sm_80
else
    skip cuda 'no nvcc'
fi

# A main() that cannot be hidden is said.
mkdir bin && for tool in gcc g++ cc c++ as ld collect2; do ln -s "$(command -v $tool)" bin/ 2>/dev/null; done
expect no-objcopy 1 "^dfc: error: 'scale.c' may have a main\(\) of its own, and objcopy" env PATH="$PWD/bin" "$DFC" both.df -o none --cc=gcc --nvcc=none

# A kernel takes as long in every program: wherever it lies, its function begins with a cache line, and a short loop does not cross one.
cat > lines.c <<'EOT'
#include <stddef.h>
__asm__(".text\n.skip 16, 0x90");
int halve_cpu(struct df_call *call, size_t k, const float *a, float *b)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        b[i] = (a[i] + 1) * 0.5f;
    return DF_OK;
}
EOT
cat > lines.df <<'EOT'
kernel count(out v: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (float)i; }};
kernel halve(in a: f32[k], out b: f32[k]) cpu "lines.c";
kernel show(in v: f32[k]) cpu {{ printf("%g\n", v[k - 1]); }};
graph main { v: f32[10] = count(); w = halve(v); show(w); }
EOT
build_lines() { "$DFC" lines.df -o lines "$@" && nm lines | sed -n 's/^0*\([0-9a-f]*\) T halve_cpu$/\1/p'; }
if [ "$(uname -m)" != x86_64 ]; then
    skip lines 'no x86-64'
else
    at=$(build_lines)
    ((16#${at:-1} % 64 == 0)) && pass lines-function || fail lines-function "halve_cpu is at ${at:-nowhere}"
    loop=$(objdump -d --no-show-raw-insn lines | awk '/<halve_cpu>:/ { inside = 1 } /^$/ { inside = 0 }
        inside && $2 ~ /^j/ { sub(":", "", $1); print $1, $3 }' |
        while read -r from to; do ((16#$to < 16#$from)) && echo "$to"; done | tail -1)
    ((16#${loop:-1} % 32 == 0)) && pass lines-loop || fail lines-loop "its loop is at ${loop:-nowhere}"
    at=$(build_lines --cflags=-falign-functions=16)
    ((16#${at:-0} % 64 != 0)) && pass lines-asked || fail lines-asked "halve_cpu at $at although 16 was asked for"
fi
