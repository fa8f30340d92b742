# What is written beside a file's name: inline code that uses the file, and more files.
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
