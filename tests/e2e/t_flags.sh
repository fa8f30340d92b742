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
check lto-again "$DFC" lto.df -o lto --cflags='-flto -O2'
mkdir -p elsewhere && (cd elsewhere && check from-elsewhere "$DFC" ../both.df -o both && expect from-elsewhere-runs 0 '^30$' ./both)
grep -q start_timer scale.c && cmp -s scale.c "$programs/scale.c" && pass unedited || fail unedited

# Objects and archives, too. A function of a C++ object goes by its symbol.
cc -Iinclude -DADDED=2 -ffunction-sections -c scale.c && c++ -fopenmp -c threads.cpp && ar rc libthreads.a threads.o
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
    sed -i 's/^graph/kernel other(in a: f32[k], out b: f32[k]) { b[x] = a[x] * 2; }\n&/; s/show(x)/y = other(x); show(y)/' cuda.df
    printf '#!/bin/sh\necho "$*" >> "%s/nvcc.log"\nexec "%s" "$@"\n' "$PWD" "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" > logged && chmod +x logged
    check cuda-compile "$DFC" cuda.df -o cuda --here --nvcc="$PWD/logged" --nvcc-flags='-arch=sm_80 -use_fast_math -DUNUSED_TOO=1 -U NOTHING -lineinfo'
    expect cuda 0 '^60$' ./cuda
    # Those that would change the bits of formulas are left out where these are compiled.
    grep '_formulas.cu$' nvcc.log > line; grep -q -- -lineinfo line && ! grep -qE -- '-use_fast_math|-DUNUSED_TOO|NOTHING' line && pass gpu-formulas || fail gpu-formulas "$(cat line)"
else
    skip cuda 'no nvcc'
    skip gpu-formulas 'no nvcc'
fi

# A main() that cannot be hidden is said.
mkdir bin && for tool in ccache gcc g++ clang clang++ cc c++ as ld collect2; do ln -s "$(command -v $tool)" bin/ 2>/dev/null; done
expect no-objcopy 1 "^dfc: error: 'scale.c' may have a main\(\) of its own, and objcopy" env PATH="$PWD/bin" "$DFC" both.df -o none --cc=cc --nvcc=none

# A kernel takes as long in every program: wherever it lies, its function begins with a cache line, and a short loop does not cross one.
cat > lines.c <<'EOT'
#include <stddef.h>
__asm__(".text\n.skip 16, 0x90");
int halve_cpu(struct df_call *call, size_t k, const float *a, float *b)
{
    (void)call;
    float last = 1; /* so that it is one loop, and no vectors */
    for (size_t i = 0; i < k; i++)
        b[i] = last = (a[i] + last) * 0.5f;
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

# Formulas have the same bits under all flags of the user's, and flags that make the code disagree with libdf are refused.
formulas_for none
cat > bits.df <<'X'
kernel src(out a: f64[n]) cpu {{ *(long long *)a = 0x403cc624dd2f1aa0; }};
kernel k(in a: f64[n], out o: f64[n]) { o[x] = log(a[x]) * 0.1 + pow(a[x], 0.3) / 3; }
kernel show(in a: f64[n]) cpu {{ printf("%llx\n", *(long long *)a); }};
graph main { a: f64[1] = src(); b = k(a); show(b); }
X
"$DFC" bits.df -o bits --nvcc=none --no-opencl && ./bits > bits.want || fail bits "exit $?"
knows() { echo 'int x;' | cc -Werror "$@" -c -x c -o /dev/null - 2>/dev/null; }
for flags in '-fsingle-precision-constant -funsigned-char' '-mfpmath=387 -mpc32' '-Ofast -mrecip=all' '-Dlog=exp -D pow=atan2 -include math.h'; do
    # shellcheck disable=SC2086
    [ "${flags#-D}" != "$flags" ] || knows $flags || { skip "bits $flags" 'this compiler does not have these flags'; continue; }
    check "bits-compile $flags" "$DFC" bits.df -o bits --nvcc=none --no-opencl --cflags="$flags"
    expect "bits $flags" 0 "^$(cat bits.want)$" ./bits
done
check bits-compile-cc "$DFC" bits.df -o bits --nvcc=none --no-opencl --cc="$CC -Ofast -include math.h -Dlog=exp" && expect bits-cc 0 "^$(cat bits.want)$" ./bits
printf 'kernel one(out a: f64[n]) cpu {{ a[0] = 28.774; }};\nkernel show(in a: f64[n]) cpu {{ printf("%%.17g\\n", a[0]); }};\ngraph main { a: f64[1] = one(); show(a); }\n' > inline.df
if knows -fsingle-precision-constant; then
    check inline-compile "$DFC" inline.df -o inline --nvcc=none --no-opencl --cflags=-fsingle-precision-constant && expect inline 0 '^28.774000000000001$' ./inline
else
    skip inline 'this compiler has no -fsingle-precision-constant'
fi
assertion='(static assertion failed: |static_assert failed due to requirement .*)' # as gcc says it, and clang
refuse() { # FLAG PATTERN
    expect "refused $1" 1 "$2" "$DFC" bits.df -o refused --nvcc=none --no-opencl --cflags="$1"
    [ ! -e refused ] && pass "refused-nothing $1" || fail "refused-nothing $1"
}
for flag in -fshort-enums -fpack-struct=1; do refuse $flag "$assertion.a flag changes how data is laid out, as -fshort-enums and -fpack-struct do: libdf has another layout"; done
for flag in -Dint=long -Dwhile=if; do
    word=${flag#-D}; word=${word%=*}
    refuse "$flag" "error: (#error )?.a flag, as -D$word=\.\.\., makes '$word' another word: it is a keyword of C"
done
for flag in -fexec-charset=latin1 -finput-charset=latin1; do
    if knows $flag; then refuse $flag "$assertion.a flag changes the characters of texts, as -finput-charset and -fexec-charset do"
    else skip "refused $flag" 'this compiler has UTF-8 alone'; fi
done
echo '_Static_assert(!__builtin_types_compatible_p(void (*)(int), void (__attribute__((sysv_abi)) *)(int)), "");' > abi.c
if [ "$(uname -m)" != x86_64 ] || grep -q fsanitize "$DF_BUILD/obj/flags" 2>/dev/null || ! cc -mabi=ms -fsyntax-only abi.c 2>/dev/null; then
    skip 'refused -mabi=ms' 'with a sanitizer, or a compiler for which it changes nothing'
else
    refuse -mabi=ms "$assertion.a flag changes how functions are called, as -mabi=ms does: libdf has another way"
fi
echo 'int k_cpu(struct df_call *c, size_t n, const float *a, float *o) { (void)c; for (size_t i = 0; i < n; i++) o[i] = a[i] * 2; return DF_OK; }' > own.c
printf 'kernel k(in a: f32[n], out o: f32[n]) cpu "own.c" flags "%s";\ngraph g(in a: f32[n], out o: f32[n]) { o = k(a); }\n' -fshort-enums > own.df
expect refused-own 1 "own.df.h:.*$assertion.a flag changes how data is laid out" "$DFC" own.df --lib -o libown.so --nvcc=none --no-opencl

# Flags for kernels change kernels alone: the linker gets none that sets denormal numbers to zero in the thread that loads a library, or in a program.
cat > load.c <<'X'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    volatile double small = 1e-310;
    for (int i = 1; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW))
            return puts(dlerror()) < 0 || 1;
    return printf("%g\n", small * 0.5) < 0;
}
X
# shellcheck disable=SC2046
check load cc load.c -o load $(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1) -ldl
printf 'kernel show(in a: f32) cpu {{ volatile double s = 1e-310; (void)a; printf("%%g\\n", s * 0.5); }};\nkernel one(out a: f32) cpu {{ *a = 1; }};\ngraph main { a = one(); show(a); }\n' > small.df
printf 'kernel k(in a: f32[n], out o: f32[n]) { o[x] = a[x] * 2; }\ngraph g(in a: f32[n], out o: f32[n]) { o = k(a); }\n' > plain.df
for flags in $(! long || echo -ffast-math) '-funsafe-math-optimizations -Ofast -flto'; do
    check "arithmetic-library $flags" "$DFC" plain.df --lib -o libplain.so --nvcc=none --no-opencl --cflags="$flags"
    expect "arithmetic-of-host $flags" 0 '^5e-311$' ./load ./libplain.so
    check "arithmetic-program $flags" "$DFC" small.df -o small --nvcc=none --no-opencl --cflags="$flags"
    expect "arithmetic $flags" 0 '^5e-311$' ./small
done
sed -i 's/-fshort-enums/-ffast-math/' own.df
check arithmetic-own-library "$DFC" own.df --lib -o libown.so --nvcc=none --no-opencl && expect arithmetic-own 0 '^5e-311$' ./load ./libown.so
check arithmetic-cc-library "$DFC" plain.df --lib -o libplain.so --nvcc=none --no-opencl --cc="$CC -Ofast" && expect arithmetic-cc 0 '^5e-311$' ./load ./libplain.so
if command -v clang >/dev/null; then check llvm-flags "$DFC" own.df --lib -o libown.so --nvcc=none --no-opencl --cc=clang --cflags='-mllvm -inline-threshold=300'; else skip llvm-flags "no clang here"; fi
