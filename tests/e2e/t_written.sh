# What is written beside a file's name: inline code that uses the file, and more files.
formulas_for none
printf '%s\n' 2 5 10 17 > expected
count='kernel count(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i + 1; }};'
show='kernel show(in v: i32[k]) ordered cpu {{ for (size_t i = 0; i < k; i++) printf("%d\n", v[i]); }};'
graph='graph main { a: i32[4] = count(); b = square(a); show(b); }'
program() { # NAME VARIANT
    printf '%s\n' "$count" "$show" "kernel square(in a: i32[k], out b: i32[k]) $2;" "$graph" > "$1.df"
}
build() { # NAME VARIANT
    program "$1" "$2"
    check "$1-compile" "$DFC" "$1.df" -o "$1"
    ./"$1" > "$1.out" 2>&1
    same "$1" "$1.out" expected
}
cp "$programs"/*.c .
cp old.c kept.c

# Inline code with a file: the file's types, macros and static functions are there; what it needs is in a second file.
uses='struct span s = { (int *)a, (int)k }; if (squares(s, b) != (int)k) return df_fail(call, "too few");'
build attached "cpu \"old.c\" \"half.c\" {{ $uses }}"
build attached-static 'cpu "old.c" "half.c" {{ for (size_t i = 0; i < k; i++) b[i] = square_of(a[i]); }}'
same attached-unchanged old.c kept.c
cp old.c old.cpp && sed 's/^int halve/extern "C" &/' kept.c > old.cpp
build attached-cpp "cpu \"old.cpp\" \"half.c\" {{ $uses }}"
cc -c half.c -o half.o
build attached-object 'cpu "half.o" {{ int halve(int); for (size_t i = 0; i < k; i++) b[i] = halve(2 * a[i] * a[i] + 2); }}'
mkdir -p sub && cp old.c half.c sub/
build attached-folder "cpu \"sub/old.c\" \"sub/half.c\" {{ $uses }}"
echo 'void plain(int *b, const int *a, int k); void plain(int *b, const int *a, int k) { for (int i = 0; i < k; i++) b[i] = a[i] * a[i] + 1; }' > more.c
build files-call 'cpu "more.c" "half.c": plain(b, a, k)'

# A gpu variant whose file is C, on the emulator.
printf '%s\n' "$count" "$show" 'kernel square(in a: i32[k], out b: i32[k]) cpu {{ }} gpu "old.c" "half.c" {{ (void)stream; for (size_t i = 0; i < k; i++) b[i] = square_of(a[i]); }};' "$graph" > emulated.df
check attached-gpu-compile "$DFC" emulated.df --nvcc=none --emu-gpu-code -o emulated
./emulated --device=emu --policy=all-gpu > emulated.out 2>&1
same attached-gpu emulated.out expected

# Mistakes: at their place in the .df.
program unknown 'cpu "old.c" "half.c" {{ no_such(a); }}'
expect attached-undeclared 1 '^unknown.df:3:[0-9]+: error: .*no_such' "$DFC" unknown.df -o unknown
program missing 'cpu "old.c" "none.c" {{ }}'
expect attached-missing 1 "^missing.df:3:[0-9]+: error: cannot read 'none.c': No such file" "$DFC" missing.df -o missing
program unlinked 'cpu "old.c" {{ for (size_t i = 0; i < k; i++) b[i] = halve(a[i]); }}'
expect attached-unlinked 1 "halve" "$DFC" unlinked.df -o unlinked
program kind 'cpu "old.c" "half.txt" {{ }}'
expect attached-kind 1 "^kind.df:3:[0-9]+: error: 'half.txt' is not a file of code" "$DFC" kind.df -o kind
expect attached-no-output-over-it 1 "would replace .half.c., which it is made of" "$DFC" attached.df -o half.c

# Expressions among the arguments of an existing function, converted as C does by its prototype.
cat > show.c <<'X'
#include <stdio.h>
#include <stdarg.h>
enum mode { PLAIN, ODD };
void told(const float *a, int n, size_t many, float f, double d, const char *text, const void *none, enum mode mode, long long last);
void told(const float *a, int n, size_t many, float f, double d, const char *text, const void *none, enum mode mode, long long last)
{
    printf("%g %d %zu %g %g %s %s %d %lld\n", (double)a[0], n, many, (double)f, d, text, none ? "some" : "none", (int)mode, last);
}
void sum(int n, ...);
void sum(int n, ...)
{
    va_list list;
    int s = 0;
    va_start(list, n);
    while (n--) s += va_arg(list, int);
    va_end(list);
    printf("%d\n", s);
}
X
cat > values.df <<'X'
param n = 8; param half = n / 2.0; param name = "quoted \"\\ \t?\?=";
arg z: i32 = 0;
kernel make(out a: f32[h, w]) cpu {{ for (size_t i = 0; i < h * w; i++) a[i] = 1; }};
kernel all(in a: f32[h, w]; x: i32, y: f32, s: str) ordered
    cpu "show.c": told(a, w * h - 1, n, half, x / 4 + y * 2, name, 0, w > 3 && s == "yes", -x % 7 + max(h, w, 2) - (!x || x != 3));
kernel more(in a: f32[h, w]) ordered cpu "show.c": sum(3, 1, -2, 70 / 7);
kernel risky(in a: f32[h, w]; x: i32) ordered cpu "show.c": sum(1, x == 0 || 10 / x > 1, 100 / x);
kernel large(in a: f32[h, w]; x: i64) ordered cpu "show.c": sum(1, x * x);
graph main { a: f32[3, 5] = make(); all(a, 9, 0.25, "yes"); more(a); risky(a, z + 5); large(a, z + 3); }
X
check values-compile "$DFC" values.df -o values
./values --workers=1 > out 2>&1; sort out > values.out
printf '%s\n' 9 1 9 '1 14 8 4 2.5 quoted "\ 	??= none 1 2' | sort > values.want
same values values.out values.want
sed 's/show.c/show.cpp/g' values.df > values-cpp.df && sed 's/enum mode mode/int mode/' show.c > show.cpp # C++ makes no enum of an integer
check values-cpp-compile "$DFC" values-cpp.df -o values-cpp
./values-cpp --workers=1 2>&1 | sort > values-cpp.out; same values-cpp values-cpp.out values.want
expect values-division 1 "calling 'sum': argument 3 does not fit in 64 bits, or divides by zero" ./values --z=-5
sed 's/z + 3)/4000000000)/' values.df > over.df
check values-overflow-compile "$DFC" over.df -o over
expect values-overflow 1 "calling 'sum': argument 2 does not fit in 64 bits" ./over
echo 'int scaled(int64_t k, double f, const char *s, const int *a, int *b); int scaled(int64_t k, double f, const char *s, const int *a, int *b) { for (int i = 0; i < k - 1; i++) b[i] = (int)(a[i] * f * a[i]) + (s[0] == 120); return 0; }' | cat <(echo '#include <stdint.h>') - > scaled.c
cc -c scaled.c -o scaled.o
build values-object 'cpu "scaled.o": scaled(k + 1, 1.0, "x", a, b)'
program pointer 'cpu "half.c": halve(b + 1)'
expect values-port 1 "^pointer.df:3:[0-9]+: error: port 'b' is an array: as an argument it stands alone" "$DFC" pointer.df -o pointer
program types 'cpu "more.c": plain(b, k + 1, k)'
expect values-types 1 "^types.df:3:[0-9]+: error: .*(plain|conversion passing)" "$DFC" types.df -o types
