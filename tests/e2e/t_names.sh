# Ports, dimensions and scalars may have the names of macros, in every position, however a kernel gets its code. The macros stay what they are for
# other code. make.py writes a chain of kernels, of which each has one name as its dimension, the next as its input, and so on.
formulas_for none
cp "$programs/make.py" .
for way in inline file written bare cpp cpp-written object formulas; do
    n=$((${n:-0} + 1)); half=; long || half=$((n % 2))     # in make check every second name, the others for the next way
    python3 make.py $way $half || fail "$way-made" "exit $?"
    [ $way != object ] || cc -O1 -include stddef.h -include stdint.h -c object.c -o object.o 2> cc.log || cat cc.log
    check "$way-compile" "$DFC" $way.df -o $way --nvcc=none --no-opencl
    expect "$way" 0 '^4 names as they should be$' ./$way
done

# The GPU code of formulas, too.
check formulas-gpu-compile "$DFC" formulas.df -o formulas --emu-gpu-code --nvcc=none --no-opencl
expect formulas-gpu 0 '^4 names as they should be$' ./formulas --device=emu --policy=all-gpu

# Macros of the user's own file and of the command line: a dimension stays a dimension.
cat > own.c <<'X'
#define n 1000
#define a_b own
static int own;
int sum(int times, const int *values) { int s = own; for (int i = 0; i < times; i++) s += values[i]; return s - n; }
X
cat > own.df <<'X'
kernel count(out v: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = 400; }};
kernel total(in a_b: i32[n]) cpu "own.c": sum(n, a_b);
graph main { v: i32[3] = count(); total(v); }
X
check own-compile "$DFC" own.df -o own --cflags='-Dcount=7 -Da=1 -Db=2 -Dv=8 -Dbad=9'
expect own 1 "node 'main/total', wave 0: returned 200, which" ./own
if command -v clang > clang.path; then check own-clang "$DFC" own.df -o own --cc=clang; else skip own-clang "no clang here"; fi
