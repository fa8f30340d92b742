# How kernels get their code: prototypes, existing functions unchanged, inline code, objects and archives, C and C++.
formulas_for none                               # how well it is compiled tells nothing here
cat > expected <<'X'
2
5
10
17
X
graph='graph main { a: i32[4] = count(); b = square(a); show(b); }'
count='kernel count(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i + 1; }};'
show='kernel show(in v: i32[k]) ordered cpu {{ for (size_t i = 0; i < k; i++) printf("%d\n", v[i]); }};'
kernel() { echo "kernel square(in a: i32[k], out b: i32[k]) $1;"; }
build() { # NAME VARIANT
    printf '%s\n' "$count" "$show" "$(kernel "$2")" "$graph" > "$1.df"
    check "$1-compile" "$DFC" "$1.df" -o "$1"
    ./"$1" > "$1.out" 2>&1
    same "$1" "$1.out" expected
}
body='for (size_t i = 0; i < k; i++) b[i] = a[i] * a[i] + 1;'

echo "int square_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { (void)call; $body return 0; }" > plain.c
build plain 'cpu "plain.c"'
cp plain.c plain.cpp && build plain-cpp 'cpu "plain.cpp"'
build inline "cpu {{ $body }}"

# Headers that inline code includes: two kernels the same ones, one within a condition, and a list of numbers that is no header.
printf '#ifndef TWICE\n#define TWICE\nstatic int twice(int v) { return 2 * v; }\n#endif\n' >twice.h
echo '1, 2, 3, 4' >numbers.inc
cat >headers.df <<'X'
kernel count(out v: i32[k]) cpu {{
    #include <unistd.h>
    #include "twice.h"
    static const int32_t numbers[] = {
    #include "numbers.inc"
    };
    v[0] = twice((int)sysconf(_SC_PAGESIZE) > 0) - 1;
    for (size_t i = 1; i < k; i++) v[i] = numbers[i];
}};
kernel square(in a: i32[k], out b: i32[k]) cpu {{
    # include <unistd.h>
#if 0
    #include <no/such/header.h>
#endif
    #include "twice.h"
    for (size_t i = 0; i < k; i++) b[i] = a[i] * a[i] + twice((int)(sysconf(_SC_PAGESIZE) > 0)) - 1;
}};
X
printf '%s\n' "$show" "$graph" >>headers.df
check headers-compile "$DFC" headers.df -o headers
./headers >headers.out && same headers headers.out expected
sed 's/^#if 0/#if 1/' headers.df >no-header.df
expect no-header 1 '^no-header.df:13:.* .?no/such/header.h.?(: No such file| file not found)' "$DFC" no-header.df -o headers

# Functions that were there before: no const, other order, int sizes, void or a status, their own feature macros and headers.
cat > old.h <<'X'
#define PLUS 1
X
cp "$programs/old.c" .
cp old.c kept.c
build void 'cpu "old.c": squares(k, b, a)'
build status 'cpu "old.c": squares_status(b, a, k)'
same old-unchanged old.c kept.c
sed -e '/PLUS 1/!b' old.c > old.cpp
! long || build void-cpp 'cpu "old.cpp": squares(k, b, a)'
build status-cpp 'cpu "old.cpp": squares_status(b, a, k)'
printf '%s\n' "$count" "$show" "$(kernel 'cpu "old.c": squares_fail(b, a, k)')" "$graph" > sfail.df
check status-failure-compile "$DFC" sfail.df -o sfail
expect status-failure 1 "square" ./sfail
printf '%s\n' "$count" "$show" "$(kernel 'cpu "old.c": squares_double(k)')" "$graph" > sdouble.df
expect status-type 1 "sdouble.df:3:.*squares_double" "$DFC" sdouble.df -o sdouble
printf '%s\n' "$count" "$show" "$(kernel 'cpu "old.c": nowhere(b, a, k)')" "$graph" > nowhere.df
expect target-missing 1 "^nowhere.df:3:[0-9]+: error: .*nowhere" "$DFC" nowhere.df -o nowhere

# Functions whose value is no status: "-> void" says so, and messages say how.
build no-status 'cpu "old.c": squares_sum(b, a, k) -> void'
build no-status-struct 'cpu "old.c": squares_count(b, a, k) -> void'
! long || build no-status-cpp 'cpu "old.cpp": squares_sum(b, a, k) -> void'
! long || build void-twice 'cpu "old.c": squares(k, b, a) -> void'
printf '%s\n' "$count" "$show" "$(kernel 'cpu "old.c": squares_sum(b, a, k)')" "$graph" > sum.df
check no-status-unsaid-compile "$DFC" sum.df -o sum
expect no-status-unsaid 1 "^sum: error: node 'main/square', wave 0: returned 34, which is no DF_... code; if the .df calls a function whose value is no status, '-> void' after that call says so$" ./sum
expect status-type-hint 1 "squares_double.* returns neither int nor void; -> void after its arguments ignores its value" "$DFC" sdouble.df -o sdouble

# A function that may end without its return does not compile, in C and in C++; whoever wants it so says so.
for suffix in c cpp; do
    echo "int square_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { (void)call; $body }" > forgot.$suffix
    printf '%s\n' "$count" "$show" "$(kernel "cpu \"forgot.$suffix\"")" "$graph" > forgot-$suffix.df
    expect forgotten-return-$suffix 1 "^forgot.$suffix:1:[0-9]+: error: .*return" "$DFC" forgot-$suffix.df -o forgot
    expect forgotten-return-$suffix-note 1 'note: a kernel ends with .return DF_OK;.; if the file is to stay as it is,.* flags "-Wno-error=return-type" after' "$DFC" forgot-$suffix.df -o forgot
    [ -e forgot ] && fail forgotten-return-$suffix-program "forgot exists" || pass forgotten-return-$suffix-program
    check forgotten-return-$suffix-wanted "$DFC" forgot-$suffix.df -o wanted-$suffix --cflags=-Wno-error=return-type
done

# One file used both ways, by two kernels.
{ cat old.c; cat plain.c; } > both.c
printf '%s\n' "$count" "$show" 'kernel square(in a: i32[k], out b: i32[k]) cpu "both.c";' \
    'kernel again(in a: i32[k], out b: i32[k]) cpu "both.c": squares(k, b, a);' \
    'graph main { a: i32[4] = count(); b = square(a); c = again(a); show(b); show(c); }' > both.df
check both-compile "$DFC" both.df -o both
./both | sort > both.out; sort expected expected > both.want
same both both.out both.want

# Objects and archives: by prototype and by the names of arguments.
cc -O1 -include stddef.h -include stdint.h -c plain.c -o plain.o 2> cc.log || cat cc.log
build object 'cpu "plain.o"'
cc -O1 -c old.c -o old.o
! long || build object-target 'cpu "old.o": squares_status(b, a, k)'
rm -f libold.a && ar rcs libold.a old.o plain.o
! long || build archive 'cpu "libold.a"'
build archive-target 'cpu "libold.a": squares_status(b, a, k)'
build object-no-status 'cpu "old.o": squares_sum(b, a, k) -> void'

# A folder of its own: paths are relative to the .df, includes to the file.
mkdir sub && cp old.c old.h plain.c sub/ && cp void.df sub/void.df
check elsewhere-compile "$DFC" sub/void.df -o elsewhere
./elsewhere > elsewhere.out; same elsewhere elsewhere.out expected

# Libraries: link by pkg-config's name or the linker's.
printf '%s\n' 'link "m";' 'link "libpng";' "$count" "$show" "$(kernel 'cpu "png.c"')" "$graph" > png.df
cp "$programs/png.c" .
if pkg-config --exists libpng; then
    check link-compile "$DFC" png.df -o png
    ./png > png.out; same link png.out expected
else
    skip link "no libpng here"
fi
printf '%s\n' 'link "no-such-library";' "$count" "$show" "$(kernel 'cpu "plain.c"')" "$graph" > nolib.df
expect link-missing 1 "no-such-library" "$DFC" nolib.df -o nolib

# Every type of scalar and element reaches the function as declared.
cat > types.df <<'X'
arg i: i32 = -3; arg l: i64 = 5000000000; arg f: f32 = 0.5; arg d: f64 = 0.1; arg s: str = "a \"b\"";
kernel make(out a: u8[h, w], out b: u16[h], out c: i64[w], out e: f64[h], out g: f16[w]; i: i32, l: i64, f: f32, d: f64, s: str) cpu "types.c";
kernel look(in a: u8[h, w], in b: u16[h], in c: i64[w], in e: f64[h], in g: f16[w], tmp t: f32[h, w]) ordered cpu "types.c";
graph main { (a: u8[2, 3], b, c, e, g) = make(i, l, f, d, s); look(a, b, c, e, g); }
X
cp "$programs/types.c" .
check types-compile "$DFC" types.df -o types
expect types 0 '^200 60000 5000000000 0.1 3c00$' ./types
