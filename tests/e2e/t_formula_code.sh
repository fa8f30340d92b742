# The C that dfc makes of formulas: the same bits whatever the flags, the state of the floating-point unit and the device; text that a person
# can read. t_formulas.sh compares the values with an interpreter, t_filters.sh looks whether loops become vectors.
cp "$programs"/formula_code.df .

# ---- one result ----
sooner() { (formulas_for v4 -O1; "$@"); }       # for all levels, with which operations are contracted where flags allow it
one_level() { (formulas_for '' -O1; "$@"); }
check compile $(long || echo sooner) "$DFC" formula_code.df --nvcc=none --no-opencl -o code --keep
./code --waves=1 --workers=1 > expected 2>&1
echo 'ce2c20ee 1330 1680.96277 684619.625' > known
same known-result expected known
./code --waves=1 --workers=2 > two.out 2>&1
same two-workers two.out expected
./code --waves=1 --device=emu --policy=all-gpu > emulated.out 2>&1
same emulated emulated.out expected
./code --waves=1 --reach=1 > other.out 2>&1
if cmp -s other.out expected; then fail dynamic-param 'it changes nothing'; else pass dynamic-param; fi
for level in 1 3 4; do
    flag=$(sed 's/1/sse2/; s/3/avx2/; s/4/avx512vbmi/' <<<$level)
    if grep -qw $flag /proc/cpuinfo; then
        DF_ISA_LEVEL=$level ./code --waves=1 > level.out 2>&1
        same "level-$level" level.out expected
    else
        skip "level-$level" "this processor has no $flag"
    fi
done
expect level-wrong 1 "^code: error: DF_ISA_LEVEL is 'avx' in the environment: it is the greatest level of x86-64 to use, 1 to 4$" \
    env DF_ISA_LEVEL=avx ./code --waves=1
# What `dfc run` makes is for this machine alone; else code is made for every level that the compiler knows.
printf '#!/bin/sh\necho "$@" >>"$CALLS"\nexec %s "$@"\n' "${CC:-cc}" >calling; chmod +x calling
cat >blur.df <<'END'
kernel source(out g: f32[h, w]) { g[y, x] = (y * 7 + x * 13 + y * x) % 251; }
kernel blur(in g: f32[h, w] border mirror, out b: f32[h, w]) { b[y, x] = sum(j in -2..3: (j + 0.3) * sum(i in -2..3: (i + 0.7) * g[y + i, x + j])) / 3; }
kernel show(in b: f32[h, w]) cpu {{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < sizeof *b * h * w; i++) hash = (hash ^ ((const unsigned char *)b)[i]) * 16777619u;
    printf("%08x\n", hash);
}};
graph main { g: f32[40, 37] = source(); b = blur(g) @nofuse; show(b); }
END
levels() { # NAME LEVEL WANTED ARG…: for which levels the formulas are compiled: x86-64-v3, …, and - for what every processor has
    local name=$1 level=$2 want=$3; shift 3
    : >calls
    CALLS=$PWD/calls DF_ISA_LEVEL=$level "$DFC" "$@" >said 2>&1 || { fail "levels-$name" "$(tail -n 3 said)"; return; }
    local found; found=$(grep -- ' -c .*_formulas[0-9_v]*\.c$' calls | sed -E 's/.*-march=(x86-64-v[34]).*/\1/; t; s/.*/-/' | sort -u | tr '\n' ' ')
    [ "$found" = "$want" ] && pass "levels-$name" || fail "levels-$name" "$found"
}
known() { for v in "$@"; do ${CC:-cc} -march=x86-64-v$v -E -x c /dev/null >/dev/null 2>&1 && printf 'x86-64-v%s ' $v; done; }
if [ "$(uname -m)" = x86_64 ]; then
    code=(blur.df --nvcc=none --no-opencl --no-cache -O0 --cc="$PWD/calling")
    levels run-1 1 '- ' run "${code[@]}" -- --waves=1
    if grep -qw avx2 /proc/cpuinfo; then levels run-3 3 "$(known 3)" run "${code[@]}" -- --waves=1; else skip levels-run-3 "this processor has no avx2"; fi
    levels program 1 "- $(known 3 4)" "${code[@]}" -o levels
fi
flags=('-ffast-math -fno-signed-zeros -march=native'); ! long || flags=('-ffast-math -fno-signed-zeros' -march=native)
for flags in "${flags[@]}"; do
    check "compile $flags" one_level "$DFC" formula_code.df --nvcc=none --no-opencl -o flags --cflags="$flags"
    ./flags --waves=1 > flags.out 2>&1
    same "bits $flags" flags.out expected
done
check compile-blur one_level "$DFC" blur.df --nvcc=none --no-opencl -o blur
./blur >blur.expected
formulas_for none                               # from here on values do not depend on how well it is compiled
check profile env DFC_PROFILE="$PWD/profile.db" "$DFC" profile --nvcc=none --no-opencl formula_code.df
# A compiler that does not know a level's flags, as gcc 10 does not: that level is left out.
for level in v4 v3; do
    printf '#!/bin/sh\ncase "$*" in *-march=x86-64-%s*|*-march=x86-64-v4*) echo "bad value" >&2; exit 1 ;; esac\nexec %s "$@"\n' $level "$FORMULA_CC" > old-cc
    chmod +x old-cc
    check "compile-without-$level" "$DFC" blur.df --nvcc=none --no-opencl --cc=./old-cc -O0 -o old
    ./old > old.out 2>&1
    same "bits-without-$level" old.out blur.expected
    nm old | grep -o 'df_formula_blur.*' | sort | tr '\n' ' ' > old.levels
    if [ $level = v4 ] && [ "$(uname -m)" = x86_64 ]; then echo -n 'df_formula_blur df_formula_blur_v3 '; else echo -n 'df_formula_blur '; fi > old.expected
    same "levels-without-$level" old.levels old.expected
done
"$DFC" --emit=c formula_code.df > emitted.c
expect emitted 0 'DF_LEVEL\(df_formula_blur\)' cat emitted.c

# ---- two rows at once, if they read the same rows ----
cat > pairs.df <<'END'
kernel window(in a: u8[h, w] border mirror, out b: u8[h, w]) { b[y, x] = u8(sum(j in -1..2: sum(i in -1..2: a[y + j, x + i])) / 9); }
kernel point(in a: u8[h, w], out b: u8[h, w]) { b[y, x] = u8(255 - a[y, x]); }
kernel slope(in a: u8[h, w] border clamp, out b: u8[h, w]) { let d = a[y, x + 1] - a[y, x - 1]; b[y, x] = u8(d * d / 99); }
kernel cube(in a: u8[k, h, w] border mirror, out b: u8[k, h, w]) { b[z, y, x] = u8(sum(j in -1..2: sum(i in -1..2: a[z, y + j, x + i])) / 9); }
kernel halve(in a: u16[h, w] border clamp, out b: f32[h, w]) { b[y, x] = (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]) / 2.0; }
graph halves(in a: u16[h, w], out b: f32[h, w]) { b = halve(a); }
graph pairs(in a: u8[h, w], out b: u8[h, w]) { c = window(a); d = point(c); b = slope(d); }
graph parts(in a: u8[h, w], out b: u8[h, w]) { b = window(a) @parts(3); }
graph cubes(in a: u8[k, h, w], out b: u8[k, h, w]) { b = cube(a); }
END
check pairs-compile "$DFC" pairs.df --lib --nvcc=none --no-opencl --no-fuse --keep -o libpairs.so
expect pairs-of-a-window 0 'df_rows0_window' cat libpairs.so.dfc/pairs_formulas.c
expect pairs-share-rows 0 'const uint8_t \*const df_a_3 = a \+ df_mirror_at\(y \+ 2, h\)' cat libpairs.so.dfc/pairs_formulas.c
grep -q 'df_rows0_point' libpairs.so.dfc/pairs_formulas.c && fail no-pairs-of-points 'there are' || pass no-pairs-of-points
expect numbers-of-16-bits 0 'const int16_t t[0-9]+ = df_a' cat libpairs.so.dfc/pairs_formulas.c

# Heights 1 to 70 are right: one row, an odd number of rows, and heights around the ends of groups. So are parts, which begin at other rows. So are widths 1
# to 700, which are computed in pieces, on arrays that begin anywhere in a line of the cache.
expect pairs-in-groups 0 'df_group_end = df_group \+ 17 < df_to \? df_group \+ 16 : df_to' cat libpairs.so.dfc/pairs_formulas.c
expect pairs-in-pieces 0 'df_before = df_skew\(b \+ y \* w, 4, df_low, df_high, 32\)' cat libpairs.so.dfc/pairs_formulas.c
cat > sizes.c <<'END'
#include <stdio.h>
#include "pairs.h"
enum { HEIGHTS = 70, WIDTHS = 700, ALL = 5 * WIDTHS + 64 };
static long w;
static uint8_t a_room[ALL], window[ALL], slope[ALL], b_room[ALL], *a, *b;
static uint16_t p_room[ALL], *p;
static float q_room[ALL], *q;
static long mirror(long i, long n) { i = i < 0 ? -i : i; return n == 1 ? 0 : i < n ? i : 2 * n - 2 - i; }
static long clamp(long i, long n) { return i < 0 ? 0 : i < n ? i : n - 1; }
static void expect(long h)
{
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++) {
            int sum = 0;
            for (int k = 0; k < 9; k++)
                sum += a[mirror(y + k / 3 - 1, h) * w + mirror(x + k % 3 - 1, w)];
            window[y * w + x] = (uint8_t)(sum / 9);
        }
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++) {
            int by = window[y * w + clamp(x + 1, w)] - window[y * w + clamp(x - 1, w)], is = by * by / 99;
            slope[y * w + x] = (uint8_t)(is < 255 ? is : 255);
        }
}
static int wrong(const char *graph, long h, const uint8_t *is)
{
    for (long i = 0; i < h * w; i++)
        if (b[i] != is[i])
            return printf("%s, %ld x %ld: element %ld is %d, not %d\n", graph, h, w, i, b[i], is[i]);
    return b[h * w] != 77 && printf("%s, %ld x %ld: it writes behind the last element\n", graph, h, w);
}
static int wrong_half(long h)
{
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++) {
            int sum = p[y * w + clamp(x - 1, w)] + p[y * w + clamp(x + 1, w)] + p[clamp(y - 1, h) * w + x] + p[clamp(y + 1, h) * w + x];
            if (q[y * w + x] != (float)sum / 2)
                return printf("halves, %ld x %ld: element (%ld, %ld) is %g, not %g\n", h, w, y, x, q[y * w + x], (float)sum / 2);
        }
    return q[h * w] != -1 && printf("halves, %ld x %ld: it writes behind the last element\n", h, w);
}
int main(void)
{
    struct pairs_session *one;
    struct parts_session *three;
    struct cubes_session *two;
    struct halves_session *half;
    unsigned state = 1;
    if (pairs_open("--workers=1", &one) || parts_open("--workers=1", &three) || cubes_open("--workers=1", &two) || halves_open("--workers=1", &half))
        return puts("a session cannot be opened"), 1;
    for (long i = 1; i <= HEIGHTS + WIDTHS; i += i < HEIGHTS + 140 ? 1 : STEP) {
        const long h = i <= HEIGHTS ? i : 5, at = i % 64;
        w = i <= HEIGHTS ? 9 : i - HEIGHTS;
        a = a_room + at, b = b_room + (63 - at), p = p_room + at, q = q_room + (63 - at);
        for (long k = 0; k < h * w; k++)
            a[k] = (uint8_t)((state = state * 1103515245 + 12345) >> 16), p[k] = (uint16_t)(state >> 8);
        b[h * w] = 77, q[h * w] = -1;
        expect(h);
        if (pairs_run(one, a, (size_t)h, (size_t)w, b) || wrong("pairs", h, slope))
            return puts(pairs_error()), 1;
        if (h >= 3 && (parts_run(three, a, (size_t)h, (size_t)w, b) || wrong("parts", h, window)))
            return puts(parts_error()), 1;
        if (halves_run(half, p, (size_t)h, (size_t)w, q) || wrong_half(h))
            return puts(halves_error()), 1;
        if (h % 2 == 0) {
            expect(h / 2);              /* of two pictures only the first */
            if (cubes_run(two, a, 2, (size_t)h / 2, (size_t)w, b))
                return puts(cubes_error()), 1;
            b[h / 2 * w] = 77;          /* the second one begins there */
            if (wrong("cubes", h / 2, window))
                return 1;
        }
    }
    return pairs_close(one) || parts_close(three) || cubes_close(two) || halves_close(half);
}
END
check sizes-compile ${CC:-cc} $(grep -oE -- "-fsanitize=[a-z]+" "$DF_BUILD/obj/flags") -Wall -O1 -DSTEP=$(long && echo 1 || echo 7) sizes.c -o sizes -L. -lpairs -Wl,-rpath,"$PWD"
check pairs-of-every-size ./sizes

# ---- texts that are looked at; all are in one library ----
check texts-compile "$DFC" "$programs/texts.df" --lib --nvcc=none --no-opencl --no-fuse -O0 --keep -o libtexts.so
texts=libtexts.so.dfc/texts_formulas.c

# ---- a sum of gathered elements that is added to an acc: its loop stands around those of the columns, and a row without a term is passed over ----
sed -n '/ df_row0_views(/,/^}/p' "$texts" | grep -vE '^#' > views.c
expect sums-around-columns 0 'for \(int64_t k = 0; k < 3; k\+\+\) \{ +if \(!.* > 9\)\) +continue;.* for \(int64_t x = df_strip; .*df_column0\[x - df_strip\] = ' \
    eval "tr '\n' ' ' <views.c"
grep -q 'for (int64_t k' <(sed -n '/ df_row0_plain(/,/^}/p' "$texts") && fail sums-of-an-out 'a loop stands around columns' || pass sums-of-an-out

# ---- four elements that lie side by side are gathered at once, and turned where that is quicker ----
expect fours-gathered 0 'DF_FOURS\(df_column[0-9]+, df_strip_columns, x, df_strip, df_strip_end, &df_r_0\[df_column0\[x - df_strip\]\]\);' cat "$texts"
expect fours-read 0 'df_column[0-9]+\[DF_FOUR\(df_strip_columns, 3, x - df_strip\)\]' cat "$texts"

# ---- the least and greatest of bytes are found as bytes ----
sed -n '/ df_[a-z]*[0-9]*_k_ordered(/,/^}/p' "$texts" | grep -oE 'df_(min|max)_[a-z0-9]+' | sort -u > ordered.functions
printf 'df_max_u16\ndf_max_u8\ndf_min_i32\ndf_min_u8\n' > ordered.expected
same ordered-functions ordered.functions ordered.expected

# ---- values that two elements have for each other ----
grep -oE '^static DF_ALONE void df_(half|shared)[0-9]+_[a-z_]+' "$texts" | sed 's/.* //' > mutual.functions
printf 'df_half0_square\ndf_shared0_square\n' > mutual.expected
same mutual-functions mutual.functions mutual.expected
sed -n '/^static DF_ALONE void df_half0_square/,/^    }/p' "$texts" > half.c
if [ "$(grep -c 'df_plane_[0-9]*\[x\] = ' half.c)" = 4 ]; then pass mutual-half; else fail mutual-half 'not 4 of 8 neighbours'; fi

# ---- reductions over numbers are loops: the text does not grow with the extent ----
cat > otsu.df <<'END'
param n = 256;
type bins = i32[n];
kernel fill(out hist: bins) { hist[b] = (b * b * 7 + 13 * b) % 41 + (b < n / 2 ? 40 - b % 16 : 0); }
kernel otsu(in hist: bins, out at: i32, out most: f64) {
    let all = sum(i in 0..n: hist[i]);
    let mass = sum(i in 0..n: i * f64(hist[i]));
    let below[b] = sum(i in 0..n if i <= b: hist[i]);
    let part[b] = sum(i in 0..b + 1: i * f64(hist[i]));
    let apart[b] = mass * below[b] - part[b] * all;
    let f[b] = below[b] == 0 || below[b] == all ? 0 : apart[b] * apart[b] / (f64(below[b]) * (all - below[b]));
    at = argmax(b in 0..n: f[b]);
    most = max(b in 0..n: f[b]);
}
kernel show(in hist: i32[bins], in at: i32, in most: f64) cpu {{
    double all = 0, mass = 0, below = 0, part = 0, best = 0;
    int where = 0;
    for (size_t b = 0; b < bins; b++)
        all += hist[b], mass += (double)b * hist[b];
    for (size_t b = 0; b < bins; b++) {
        below += hist[b], part += (double)b * hist[b];
        const double apart = mass * below - part * all, is = below == 0 || below == all ? 0 : apart * apart / (below * (all - below));
        if (is > best)
            best = is, where = (int)b;
    }
    printf("%d %s\n", *at, *at == where && *most == best ? "right" : "wrong");
}};
graph main { hist = fill(); (at, most) = otsu(hist); show(hist, at, most); }
END
lines_of() { "$DFC" --emit=c otsu.df -D n=$1 | sed -n '/_formulas.c - made by dfc/,/_formulas.cu - made by dfc/p' | wc -l; }
for n in $(! long || echo 16) 256 $(! long || echo 1000); do
    check otsu-compile-$n "$DFC" otsu.df --nvcc=none --no-opencl -D n=$n -o otsu
    expect otsu-$n 0 '^[1-9][0-9]* right$' ./otsu --waves=1
done
printf '%s\n' "$(lines_of 256)" "$(lines_of 256)" > lines.expected
printf '%s\n' "$(lines_of 16)" "$(lines_of 1000)" > lines
same otsu-lines lines lines.expected

# So are those for each element of a row: their loops stand around that of the columns, which is a vector then.
cat > taps.df <<'END'
param n = 256;
kernel fill(out g: f32[2000]) { g[x] = x % 7; }
kernel taps(in g: f32[w] border mirror, out o: f32[w]) { o[x] = sum(i in 0..n: g[x + i] * (i + 1)); }
kernel show(in g: f32[w], in o: f32[w]) cpu {{
    double sum = 0;
    int i = 0;
    for (; o[999] != sum && i < 1001; i++)
        sum = (float)sum + (float)(g[999 + i < (int)w ? 999 + i : 2 * (int)w - 1 - 999 - i] * (float)(i + 1));
    printf("%d terms\n", i);
}};
graph main { g = fill(); o = taps(g); show(g, o); }
END
for n in 16 203 256 1000; do
    "$DFC" --emit=c taps.df -D n=$n | sed -n '/_formulas.c - made by dfc/,/_formulas.cu - made by dfc/p' > taps.$n
    ! long && [ $n != 203 ] && [ $n != 256 ] && continue
    check taps-compile-$n "$DFC" taps.df --nvcc=none --no-opencl -D n=$n -o taps
    expect taps-$n 0 "^$n terms\$" ./taps --waves=1
done
printf '%s\n' "$(wc -l <taps.256)" > lines.expected; printf '%s\n' "$(wc -l <taps.1000)" > lines
same taps-lines lines lines.expected
if [ $(($(wc -l <taps.1000) - $(wc -l <taps.16))) -lt 40 ]; then pass taps-lines-16; else fail taps-lines-16 "$(wc -l taps.16 taps.1000)"; fi
expect taps-around 0 'for \(int64_t i = 0; i < 256; i \+= 8\) \{ .*for \(int64_t x = df_strip; x < df_strip_end; x\+\+\)' eval "tr '\n' ' ' <taps.256"

# ---- formulas of the planes of a picture are one row function: no more text than of a formula over the channels ----
lines_of_kernel() { sed -n "/ df_row.*_$1(/,/^}/p; / df_edge.*_$1(/,/^}/p" "$texts" | wc -l; }
if [ "$(lines_of_kernel three)" -gt 50 ] && [ "$(lines_of_kernel three)" -le "$(lines_of_kernel one)" ]; then pass planes-in-one
else fail planes-in-one "$(lines_of_kernel three) lines, $(lines_of_kernel one) over the channels"; fi

# ---- the state of the floating-point unit ----
cat > state.df <<'END'
kernel change(out a: f32[n]) cpu "state.c";
kernel third(in a: f32[n], out b: f32[n]) { b[i] = a[i] / 3; }
kernel tell(in b: f32[n]) cpu "state.c";
graph main { a: f32[4] = change(); b = third(a); tell(b); }
END
cat > state.c <<'END'
#include <fenv.h>
#include <stdio.h>
int change_cpu(struct df_call *call, size_t n, float *a)
{
    (void)call;
    for (size_t i = 0; i < n; i++)
        a[i] = i < 2 ? 1.0f : 2e-38f; /* a third of which is denormal */
    fesetround(FE_UPWARD);
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
    return DF_OK;
}
int tell_cpu(struct df_call *call, size_t n, const float *b)
{
    (void)call; (void)n;
    const uint32_t *bits = (const uint32_t *)b;
    printf("%08x %08x, %s, %x\n", bits[0], bits[2], fegetround() == FE_UPWARD ? "up" : "changed", __builtin_ia32_stmxcsr() & 0x8040u);
    fesetround(FE_TONEAREST);
    return DF_OK;
}
END
if [ "$(uname -m)" = x86_64 ]; then
    check state-compile "$DFC" state.df --nvcc=none --no-opencl -o state
    ./state --waves=1 --workers=1 > state.out 2>&1
    echo '3eaaaaab 004897f4, up, 8040' > state.expected
    same state state.out state.expected
fi

# ---- equal kernels share their code ----
cat > twice.df <<'END'
kernel source(out a: i32[n]) { a[i] = i; }
kernel one(in a: i32[n], out b: i32[n]) { b[i] = 3 * a[i]; }
kernel two(in a: i32[n],
           out b: i32[n]) { b[i] = 3 * a[i]; }
kernel show(in b: i32[n]) cpu {{ printf("%d\n", b[n - 1]); }};
graph main { a: i32[9] = source(); b = one(a); c = two(b); show(c); }
END
check twice-compile "$DFC" twice.df --nvcc=none --no-opencl -o twice --keep --no-fuse
expect twice-shared 0 'df_formula_one.*/\* the same \*/' cat twice.dfc/twice_formulas.c
expect twice-runs 0 '^72$' ./twice --waves=1

# ---- names that are C's ----
cat > names.df <<'END'
kernel half(in t0: f32[NULL, INT32_MAX] border clamp, out floor: f32[NULL, INT32_MAX]) {
    floor[y, DF] = sum(exp in -1..2: t0[y, DF + exp]);
}
END
sed -i 's/DF\b/EOF/g' names.df
cat >> names.df <<'END'
kernel source(out a: f32[h, w]) { a[y, x] = 1; }
kernel show(in a: f32[h, w]) cpu {{ printf("%g\n", a[0]); }};
graph main { a: f32[2, 3] = source(); b = half(a); show(b); }
END
check names-compile "$DFC" names.df --nvcc=none --no-opencl -o names
expect names-run 0 '^3$' ./names --waves=1

# ---- extents that a program gets when it starts, in a port and in its type ----
cat > started.df <<'END'
param w = 8 dynamic;
type  rows = f32[3, w];
kernel fill(out v: rows) { v[y, x] = f32(10 * y + x); }
kernel wider(in v: f32[3, x], out o: f32[3, w + 1]) { o[i, j] = v[i, min(j, x - 1)] + 100 * (j / x); }
kernel show(in v: rows, in o: f32[y, x]) cpu {{ for (size_t i = 0; i < y; i++) printf("%g %g ", v[i * (x - 1)], o[i * x + x - 1]); printf("\n"); }};
graph main { v = fill(); o = wider(v); show(v, o); }
END
check started-compile "$DFC" started.df --nvcc=none --no-opencl -o started
expect started 0 '^0 107 10 117 20 127 $' ./started
expect started-smaller 0 '^0 102 10 112 20 122 $' ./started --w=3
expect started-larger 0 '^0 50099 10 50109 20 50119 $' ./started --w=50000

# ---- vectors: of trigonometry, and around reads of four neighbours at a computed place; e2e-filters looks at those of the filters ----
if [ "$(uname -m)" = x86_64 ] && command -v gcc > gcc.path; then
    cat > vectors.df <<'END'
kernel turn(in a: f32[h, w], in r: f64[h, w], out x: f32[h, w], out y: f64[h, w]) {
    x[j, i] = cos(a[j, i]) - tan(a[j, i]) * sin(2 * a[j, i]);
    y[j, i] = r[j, i] * sin(r[j, i] + j);
}
kernel warp(in q: f32[h, w] border clamp, in u: f32[h, w], out o: f32[h, w]) {
    let row[k] = q[i32(floor(u[j, i])) + k, i32(floor(u[j, i])) + i] - q[i32(floor(u[j, i])) + k, i32(floor(u[j, i])) - i];
    o[j, i] = row[1] + u[j, i] * (row[1] - row[0]);
}
kernel zero(out a: f32[9, 9], out r: f64[9, 9]) cpu {{ a[0] = 0; r[0] = 0; }};
kernel show(in x: f32[h, w], in y: f64[h, w], in o: f32[h, w]) cpu {{ printf("%g %g %g\n", x[0], y[0], o[0]); }};
kernel beside(in q: f32[m, n + 1], in u: f32[h, n], in z: f32[m, 2], out o: f32[h, n]) {
    let at = clamp(u[j, i] / 3, 0, 9000);
    let row = clamp(i32(floor(at)), 0, m - 1);
    o[j, i] = q[row, min(row, n - 1)] + (at - floor(at)) * q[row, min(row, n - 1) + 1];
}
kernel table(out q: f32[9, 10], out z: f32[9, 2]) cpu {{ q[0] = z[0] = 0; }};
graph main { (a, r) = zero(); (x, y) = turn(a, r); o = warp(x, a); (q, z) = table(); p = beside(q, o, z); show(x, y, p); }
END
    "$DFC" --emit=c vectors.df | sed -n '/_formulas.c - made by dfc/,/_formulas.cu - made by dfc/p' > formulas.c
    gcc -c -w -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -march=x86-64-v3 -I"$DF_BUILD/include" -fopt-info-vec-optimized \
        -o vectors.o formulas.c 2>&1 | grep -o '\.df:[0-9]*:[0-9]*: optimized: loop vectorized' | cut -d: -f2 | sort -u > vector.lines
    if [ "$(tr '\n' ' ' < vector.lines)" = '14 2 3 7 ' ]; then pass vectors; else fail vectors "$(cat vector.lines)"; fi
    # A strip has as many columns as keep its arrays in the first cache: of 32 bytes a column, of 48, of 16 and of 20.
    sed -n '/void df_row0_\(warp\|beside\)(/,/^}/p' formulas.c | grep -o 'df_strip_columns = [0-9]*' | tr -dc '0-9\n' | tr '\n' ' ' > strips
    echo -n '256 128 512 256 ' > strips.expected
    same strips strips strips.expected
    # Elements side by side are copied at once, and what a place is made of is computed once: in a loop with places as int32_t, and as int64_t.
    sed -n '/void df_row0_beside(/,/^}/p' formulas.c > beside.c
    if [ "$(grep -c __builtin_memcpy beside.c) $(grep -c 'df_floor' beside.c) $(grep -c ' / 3' beside.c)" = '2 2 2' ]; then pass beside
    else fail beside "$(cat beside.c)"; fi
else
    skip vectors 'no gcc for x86-64'
fi

# Columns that an index divides have a text for each residue, in which places are sums of the loop's variable and numbers, without a border.
cat > wider.df <<'END'
kernel wider(in d: f32[h, w] border clamp, out o: f32[2 * h, 2 * w]) {
    o[y, x] = d[y / 2, x / 2] + d[(y + 1) / 2, (x + 1) / 2];
}
kernel zero(out d: f32[9, 9]) cpu {{ d[0] = 0; }};
kernel show(in o: f32[h, w]) cpu {{ printf("%g\n", o[0]); }};
graph main { d = zero(); o: f32[18, 18] = wider(d); show(o); }
END
"$DFC" --emit=c wider.df >wider.c
sed -n '/void df_row0_wider(/,/^}/p' wider.c >row.c
expect phases 0 'o\[2 \* t[0-9]* \+ 1\] = df_d_0\[t[0-9]*\] \+ df_d_1\[t[0-9]* \+ 1\];' cat row.c
grep -Eq 'clamp|>> 1|/ 2\]' row.c && fail phases-are-plain "$(cat row.c)" || pass phases-are-plain

# ---- values of a range alone ----
# f[b] of `once` depends on no index: it is computed once for a row, into an array, in place of 64 times for each element, and stands in the text once: in vectors of
# 16 and the rest. That of `each` depends on the column: it is a row of terms.
cat >ranged.df <<'END'
kernel once(in v: f32[h, w], in t: f32[k], out o: f32[h, w]) {
    let f[b] = sum(j in 0..k: t[j] * cos(0.1 * b * j));
    o[y, x] = sum(b in 0..64: f[b] * v[y, x] * b);
};
kernel each(in v: f32[h, w], in t: f32[k], out o: f32[h, w]) {
    let f[b] = sum(j in 0..k: t[j] * cos(0.1 * b * j + v[y, x]));
    o[y, x] = sum(b in 0..k: f[b]);
};
kernel source(out v: f32[h, w], out t: f32[k]) { v[y, x] = x; t[i] = i; };
kernel sink(in v: f32[h, w]) ordered cpu {{ (void)v; }};
// The condition of a sum that gathers keeps t[k, 0] inside: exp() of it stays behind the condition.
kernel behind(in g: i32[n, n], in x: f32[n, 1], acc far: f32[n, n]) {
    far[i, j] += sum(k in 0..40 if k < n: exp(x[k, 0]) * x[clamp(g[i, j] + k, 0, n - 1), 0]);
};
kernel places(out g: i32[n, n], out x: f32[n, 1]) { g[i, j] = j; x[i, j] = i; };
graph main { (g: i32[30, 30], x: f32[30, 1]) = places(); far: f32[30, 30] = behind(g, x); sink(far); (v: f32[8, 40], t: f32[9]) = source(); a: f32[8, 40] = once(v, t); b: f32[8, 40] = each(a, t); sink(b); }
END
check ranged-emit "$DFC" ranged.df --nvcc=none --no-fuse --emit=c -o ranged.c
awk '/df_row[0-9]*_behind\(/ { on = 1 } on && /continue;/ { tested = 1 } on && /df_exp/ { print tested + 0; exit }' ranged.c >ranged-behind
[ "$(cat ranged-behind)" = 1 ] && pass ranged-behind || fail ranged-behind "$(grep -n df_exp ranged.c)"
for name in once each; do
    awk -v head="df_row[0-9]*_$name\\(" '$0 ~ head { on = 1 } on { print } /^}/ { on = 0 }' ranged.c >ranged-$name
    counts="$(grep -c df_cos ranged-$name) $(grep -cE '^    float t[0-9]+\[64\];$' ranged-$name)"
    case $name in once) want='2 1' ;; each) want='1 0' ;; esac
    [ "$counts" = "$want" ] && pass ranged-$name || fail ranged-$name "$counts: $(head -n 40 ranged-$name)"
done
