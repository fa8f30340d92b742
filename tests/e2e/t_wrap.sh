# dfc wrap: functions that exist become kernels. What a prototype does not tell is marked and refused until it is written.
cp "$programs"/* .
if "$DFC" wrap heat.cpp 2>&1 | grep -q 'built without libdw'; then
    skip wrap 'dfc was built without libdw'
    return 0
fi

formulas_for none
# What is written of C, of C++ and of an object.
spelled() { sed 's/long unsigned int/unsigned long/g; s/long int/long/g; s/short int/short/g' "$1"; } # as clang names these types; gcc has "int" in them
same_text() { spelled "$2" > got.spelled; spelled "$3" > expected.spelled; same "$1" got.spelled expected.spelled; }
for name in stencil.c shapes.cpp; do
    "$DFC" wrap $name > got 2> said
    same_text "text-$name" got "$name.expected"
done
cc -g -c stencil.c && c++ -g -c shapes.cpp && ar rc libshapes.a shapes.o
"$DFC" wrap shapes.o > got && same_text text-object got shapes.o.expected
"$DFC" wrap libshapes.a | sed 's/libshapes\.a/shapes.o/g' > got && same_text text-archive got shapes.o.expected
cp heat.cpp heat.cc && "$DFC" wrap heat.cc --cflags='-fopenmp -w' -o heat.df && pass text-cc || fail text-cc
expect globals 0 '^// The file has variables: n_threads\.' cat heat.df
expect flags 0 'cpu "heat.cc" flags "-fopenmp -w": heat\(' cat heat.df

# The marks are refused, at their places; once they are written, the program does what the file's own main() does.
cat > heat-main.df <<'X'
import "heat.df";
type grid = f32[8, 16];
graph main {
    t: grid = fill(1);
    p: grid = fill(2);
    (_: grid, u) = heat(t, p, 4);
    s = sum(u);
    show(s, "total");
}
kernel sum(in v: f32[h, w], out s: f32[1]) cpu "heat.cc" flags "-fopenmp -w" {{ s[0] = total(v, (int)(h * w)); }};
X
expect marks 1 "^heat.df:[0-9]+:[0-9]+: error: '\?' stands where 'dfc wrap' could not know what to write" "$DFC" heat-main.df -o heat
sed -i '/kernel fill/s/inout? v/out v/; s/inout? result/out result/; s/inout? temp/inout temp/; s/inout? power/in power/' heat.df
check heat-compile "$DFC" heat-main.df -o heat
c++ -fopenmp -w heat.cpp -o heat-own && ./heat-own total > expected
for policy in ws gp eager; do ./heat --policy=$policy > got && same "heat-$policy" got expected; done

"$DFC" wrap stencil.c -o stencil.df
cat > stencil-main.df <<'X'
import "stencil.df";
param h = 12;
param w = 20;
graph main {
    (alpha, a: f64[12, 20]) = init_array(h, w);
    use(alpha);
    b = kernel_stencil(a, 3, h, w, 0.25);
    print_array(b, h, w);
}
kernel use(in alpha: f64[1]) cpu {{ if (alpha[0] != 0.25) return df_fail(call, "alpha"); }};
X
sed -i '/init_array(/s/inout? alpha: f64\[?\], inout? A: f64\[?/out alpha: f64[1], out A: f64[n/; /print_array(/s/inout? A: f64\[?/in A: f64[n/
    /kernel_stencil(/s/A: f64\[?, 20\], inout? B: f64\[?/A: f64[n, 20], out B: f64[n/' stencil.df
check stencil-compile "$DFC" stencil-main.df -o stencil
cc stencil.c -o stencil-own && ./stencil-own > expected && ./stencil > got && same stencil got expected

# Every form of C++, from the source and from an object.
for from in shapes.cpp shapes.o; do
    "$DFC" wrap $from | sed 's/inout? sum/out sum/; s/inout? out_/out out_/; s/inout? v/inout v/' > all.df
    cat > shapes-main.df <<'X'
import "all.df";
kernel make(out f: f32[n], out d: f64[n], out i: u32[n], out m: u8[n]) cpu {{
    for (size_t k = 0; k < n; k++) { f[k] = d[k] = i[k] = (uint32_t)k; m[k] = k % 2; }
}};
kernel show(in f: f32[n], in d: f64[n], in best: f32[1], in o: i16[n], in s: f64[1]) cpu {{
    printf("%g %g %g %d %g\n", f[n - 1], d[n - 1], best[0], o[n - 1], s[0]);
}};
graph main {
    (f: f32[6], d: f64[6], i: u32[6], m: u8[6]) = make();
    f2 = image_scale_1(f, 2.0);
    d2 = image_scale_2(d, 3.0);
    b = most_float_(f2);
    (o, s) = mix(i, m, 1, 2.0);
    g = use(Filter_clear(f2));
    show(f2, d2, b, o, s);
}
X
    sed -i 's/g = use(Filter_clear(f2));/c = Filter_clear(f2);\n    _ = use(c);/' shapes-main.df
    check "$from-compile" "$DFC" shapes-main.df -o shapes -l stdc++
    expect "$from" 0 '^10 15 10 20 37$' ./shapes
done

# Structs of equal numbers and complex numbers are arrays of numbers, from the source and from an object; a plan is made
# by the function that makes it.
cc -g -c signal.c
for from in signal.c signal.o; do
    "$DFC" wrap $from > pairs.df
    expect "pairs-$from" 0 '^kernel swap_pairs\(in in_: f32\[n, 2 /\* a guess \*/\], inout\? out_: f32\[n, 2 ' cat pairs.df
    sed -i 's/inout? out_/out out_/; s/inout? z/inout z/' pairs.df
    cat > pairs-main.df <<'X'
import "pairs.df";
kernel make(out p: f32[n, 2], out z: f64[n, 2]) cpu {{ for (size_t i = 0; i < 2 * n; i++) p[i] = z[i] = i; }};
kernel show(in p: f32[n, 2], in z: f64[n, 2]) cpu {{ printf("%g %g %g %g\n", p[2 * n - 2], p[2 * n - 1], z[2 * n - 2], z[2 * n - 1]); }};
graph main {
    (p: f32[4, 2], z: f64[4, 2]) = make();
    q = swap_pairs(p);
    y = turn(z);
    show(q, y);
}
X
    check "pairs-$from-compile" "$DFC" pairs-main.df -o pairs
    expect "pairs-$from-run" 0 '^7 6 -7 6$' ./pairs
done
"$DFC" wrap signal.c > pairs.df
expect plan-made 0 'static _Thread_local struct plan \*plan; if \(!plan\) plan = plan_make\(\.\.\.\); plan_run\(plan, \.\.\.\);' cat pairs.df
expect plan-value 0 '^// Its value, a pointer, is ignored\. If the caller is to free what it points to' cat pairs.df
expect pairs-mixed 0 "^// Not wrapped: 'm' points to a struct" cat pairs.df

# C++ has a class for complex numbers.
cat > spin.cpp <<'X'
#include <complex>
void spin(const std::complex<float> *z, std::complex<float> *w, int n) { for (int i = 0; i < n; i++) w[i] = z[i] * z[i]; }
X
c++ -std=c++98 -g -c spin.cpp
for from in spin.o $(! long || echo spin.cpp); do
"$DFC" wrap $from | sed 's/inout? w/out w/' > spin.df
expect complex-class 0 '^kernel spin\(in z: f32\[n, 2 ' cat spin.df
printf '%s\n' 'import "spin.df";' 'kernel make(out z: f32[n, 2]) cpu {{ for (size_t i = 0; i < 2 * n; i++) z[i] = 1 + i; }};' \
    'kernel show(in z: f32[n, 2]) cpu {{ printf("%g %g\n", z[2], z[3]); }};' 'graph main { z: f32[2, 2] = make(); w = spin(z); show(w); }' > spin-main.df
check complex-class-compile "$DFC" spin-main.df -o spin -l stdc++
expect complex-class-run 0 '^-7 24$' ./spin
done

# An input that a function writes to, because nothing in C stops it, is found on the emulated GPU.
cat > sly.df <<'X'
kernel make(out v: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = i; }};
kernel sly(in v: f32[n], out w: f32[n]) cpu {{ ((float *)v)[0] = w[0] = 1; }};
kernel show(in v: f32[n], in w: f32[n]) cpu {{ printf("%g\n", v[0]); }};
graph main { v: f32[8] = make(); w = sly(v); show(v, w); }
X
check sly-compile "$DFC" sly.df -o sly
expect sly 1 "^sly: error: node 'main/sly', wave 0: it wrote to its input port 'v', which is read-only" ./sly --device=emu --emu-all --policy=all-gpu

# A library that is a header comes by a source that includes it. The functions of that header are written, and none of it
# where the source has its own.
"$DFC" wrap waves.c -o waves.df
expect header-globals 0 "^// The file has variables: waves_a, .*, waves_h and others. A kernel" cat waves.df
expect header-line 0 '^// .*waves\.h:7: void waves_fill\(float \*v, int n\)$' cat waves.df
grep -q 'kernel waves_at\|kernel main' waves.df && fail header-static || pass header-static
sed -i 's/waves_fill(inout? v/waves_fill(out v/' waves.df
printf '%s\n' 'import "waves.df";' 'kernel show(in peak: f32[1]) cpu {{ printf("%g\n", peak[0]); }};' \
    'graph main { v: f32[20] = waves_fill(); p = waves_peak(v); show(p); }' > waves-main.df
check header-compile "$DFC" waves-main.df -o waves
expect header 0 '^7$' ./waves
{ cat waves.c; echo 'void own(float *v, int n) { waves_fill(v, n); }'; } > mixed.c
"$DFC" wrap mixed.c > got && grep -q '^kernel own' got && ! grep -q waves_fill got && pass header-left-out || fail header-left-out "$(cat got)"
expect header-named 0 '^kernel waves_peak\(' "$DFC" wrap mixed.c --function=waves_peak

# Kernels in OpenCL C: types, vectors and pairs, what is in other memory, and what a launch cannot give.
"$DFC" wrap kernels.cl > got; same_text text-opencl got kernels.cl.expected
expect opencl-flags 0 '^    gpu "kernels.cl" flags "-DX=1": scale<<<\?, 64' "$DFC" wrap kernels.cl --function=scale --cflags=-DX=1
expect opencl-refused 1 "^dfc: error: 'two' cannot be wrapped as it is: 'a' is local memory, which a launch gives to the last parameter alone" "$DFC" wrap kernels.cl --function=two
expect opencl-image 1 "^dfc: error: 'images' cannot be wrapped as it is: 'image' is a struct or object" "$DFC" wrap kernels.cl --function=images
expect opencl-unknown 1 "^dfc: error: 'kernels.cl' defines no function 'helpr'" "$DFC" wrap kernels.cl --function=helpr
"$DFC" wrap kernels.cl --function=scale --function=rows -o cl.df
cat > cl-main.df <<'X'
import "cl.df";
kernel make(out a: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = i; }};
kernel show(in b: f32[k]) cpu {{ printf("%g\n", b[k - 1]); }};
graph main { a: f32[100] = make(); b = scale(a, by = 2.0); show(b); }
X
expect opencl-mark 1 "^cl.df:[0-9]+:[0-9]+: error: '\?' stands where 'dfc wrap' could not know what to write" "$DFC" cl-main.df
expect opencl-mark-hint 1 "write work-groups and work-items of each, as in '<<<\(n \+ 63\) / 64, 64>>>'" "$DFC" cl-main.df
sed -i '/^kernel rows/,/;$/d; s/inout? b/out b/; s/<<<?, 64 .. a guess ..>>>/<<<(n + 63) \/ 64, 64>>>/' cl.df
sed -i 's/helper((float4)(a\[i\], 0, 0, 0))/a[i]/' kernels.cl
if have_opencl wrapped-opencl; then
    check opencl-compiles "$DFC" cl-main.df -o cl
    expect opencl-runs 0 '^198$' ./cl --device=opencl --policy=all-gpu
fi

# What no kernel can call is said in words, with what a person could write.
expect refused-struct 1 "^dfc: error: 'blur' cannot be wrapped as it is: 'image' points to a struct" "$DFC" wrap refused.c
expect refused-rows 1 "^dfc: error: 'rows' cannot be .*: 'm' is a pointer to a pointer" "$DFC" wrap refused.c
expect refused-function 1 "^dfc: error: 'each' cannot be .*: 'f' is a function" "$DFC" wrap refused.c
expect refused-variadic 1 "^dfc: error: 'say' cannot be .*: it takes any number of arguments" "$DFC" wrap refused.c
expect refused-value 1 "^dfc: error: 'area' cannot be .*: 'image' is a struct" "$DFC" wrap refused.c
expect refused-type 1 "^dfc: error: 'wide' cannot be .*: 'x' is of a type that kernels do not have" "$DFC" wrap refused.c
expect refused-member 1 "^dfc: error: 'Filter::apply' cannot be .*: it is a member function" "$DFC" wrap shapes.cpp --function=Filter::apply
expect refused-static 1 "'kernel_stencil' cannot be .*: it is static, .*name the source" "$DFC" wrap stencil.o --function=kernel_stencil
echo 'void fine(int *v, int n) { v[n - 1] = 0; }' >> refused.c
expect shim-struct 0 '^//     cpu "refused.c" \{\{ struct image image = \{ data, w, h \}; blur\(&image, \.\.\.\); \}\}$' "$DFC" wrap refused.c
expect shim-rows 0 'float \*m\[h\]; for \(size_t i = 0; i < h; i\+\+\) m\[i\] = data \+ i \* w; rows\(m, ' "$DFC" wrap refused.c
# A pointer to a pointer may be where the function puts the address of what it allocates: what is shown then frees it.
cat > allocates.c <<'X'
#include <stdlib.h>
int encode(const unsigned char *in, int n, unsigned char **out) { return (*out = malloc((size_t)n)) ? in[0] : 1; }
unsigned char *twice(const unsigned char *in, int n) { unsigned char *p = malloc((size_t)n); return p ? p + in[0] * 0 : p; }
void sums(const float *const *rows, int h, float *sum) { for (int y = 0; y < h; y++) sum[y] = rows[y][0]; }
X
"$DFC" wrap allocates.c > allocates.df
expect allocates-rows 0 '^//     cpu "allocates.c" \{\{ unsigned char \*out\[h\]; .* encode\(\.\.\., out\); \}\}$' cat allocates.df
expect allocates-frees 0 '^//     cpu "allocates.c" \{\{ unsigned char \*out = NULL; encode\(\.\.\., &out\); memcpy\(PORT, out, BYTES\); free\(out\); \}\}$' cat allocates.df
expect allocates-value 0 '^// copies it .*value = twice\(\.\.\.\); memcpy\(PORT, value, BYTES\); free\(value\);' cat allocates.df
expect allocates-not 0 "^//     cpu \"allocates.c\" \{\{ const float \*rows\[h\]; " cat allocates.df
[ "$(grep -c 'rows = NULL' allocates.df)" = 0 ] && pass allocates-const || fail allocates-const "$(grep rows allocates.df)"

# Mistakes.
expect unknown 1 "^dfc: error: 'heat.cpp' defines no function 'haet'; did you mean 'heat'\?" "$DFC" wrap heat.cpp --function=haet --cflags=-fopenmp
cc -c stencil.c -o plain.o
expect no-debug 1 "^dfc: error: 'plain.o' has no debug information" "$DFC" wrap plain.o
expect no-debug-note 1 '^dfc: note: compile it with -g' "$DFC" wrap plain.o
echo text > text.o
expect no-object 1 "^dfc: error: cannot read 'text.o' as an object file or archive" "$DFC" wrap text.o
expect no-file 1 "^dfc: error: cannot read 'none.c': No such file" "$DFC" wrap none.c
expect no-kind 1 "^dfc: error: 'heat.h' cannot be wrapped: its name must end in" "$DFC" wrap heat.h
expect no-kind-header 1 '^dfc: note: a header is wrapped by way of a source .*#include "heat.h"' "$DFC" wrap heat.h
expect no-kind-cuda 1 '^dfc: note: a __global__ function needs no wrapping: gpu "heat.cu": NAME<<<' "$DFC" wrap heat.cu
expect nothing 2 '^dfc: error: a file of C, C\+\+ or OpenCL C, an object or an archive is expected' "$DFC" wrap
expect two 2 "'b.c' were given" "$DFC" wrap a.c b.c
expect option 2 "^dfc: error: unknown option '--functoin=f'; did you mean '--function'\?" "$DFC" wrap heat.cpp --functoin=f

# A source without functions. Names that are words of the language, or keywords of C++, and names that belong to the compiler.
: > empty.c; expect no-functions 1 "^dfc: error: 'empty.c' has no function that can be wrapped as it is" "$DFC" wrap empty.c
cat > words.c <<'X'
void link(const float *in, float *new, int n, float class, float _Scale, int df_least)
{
    for (int i = 0; i < n; i++)
        new[i] = class * in[i] + _Scale > df_least ? 1 : 0;
}
void import(float *v, int n) { for (int i = 0; i < n; i++) v[i] = 2 * (i == n - 1); }
X
check words "$DFC" wrap words.c -o words.df
sed -i 's/inout?/out/' words.df
echo 'kernel show(in v: f32[k]) cpu {{ printf("%g %g\n", v[0], v[k - 1]); }};
graph main { a: f32[4] = import_(); b = link_(a, 1.0, 0.5, 1); show(b); }' >> words.df
check words-compile "$DFC" words.df -o words -w && expect words-run 0 '^0 1$' ./words
echo 'void select(float *v, int n) { v[n - 1] = 0; }' > built.cpp
expect built-in-word 0 '^kernel select_\(' "$DFC" wrap built.cpp

# What the compiler dislikes about the file is no matter: it is said when the file is compiled for a program.
echo 'int forgets(int n) { if (n) return 1; } void fill(float *v, int n) { v[n - 1] = putchar(n); }' > sloppy.c
"$DFC" wrap sloppy.c > got 2> said && [ ! -s said ] && pass quiet || fail quiet "$(cat said)"
cp heat.df kept && echo 'int f(' > broken.c
expect broken 1 "^dfc: error: the C compiler failed on 'broken.c'" "$DFC" wrap broken.c -o heat.df
expect over-itself 1 "would replace 'stencil.c'" "$DFC" wrap stencil.c -o stencil.c
expect refused-output 1 'cannot be wrapped' "$DFC" wrap heat.cpp --cflags='-fopenmp -w' --function=main -o heat.df
same output-kept heat.df kept
mkdir -p sub && "$DFC" wrap stencil.c -o sub/s.df && expect elsewhere 0 "cpu \"$(realpath stencil.c)\"" cat sub/s.df
cp stencil.c sub && "$DFC" wrap sub/stencil.c -o sub/s.df && expect beside 0 'cpu "stencil.c"' cat sub/s.df
