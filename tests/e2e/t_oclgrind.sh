# Oclgrind in the driver's place runs OpenCL kernels work-item by work-item, and finds races, accesses outside of a buffer and reads of what nothing has written: in none of
# the kernels that dfc makes of formulas, of the examples and of GRIND=200 random programs, and in each where one is planted. make check-long.
# Each block of the pool is a buffer of its own (SHIM_APART of shim.c), outputs are small, and the bits are the CPU's.
long || { skip oclgrind 'in make check-long; a sample is in e2e-opencl'; exit 0; }
have_opencl oclgrind || exit 0
icd=$(ls /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/lib/*/liboclgrind-rt-icd.so /usr/local/lib/liboclgrind-rt-icd.so 2>/dev/null | head -n 1)
real=$(/sbin/ldconfig -p | awk '/libOpenCL\.so\.1 .*x86-64/ { print $NF; exit }')
case $icd,$(uname -m),$real,$(cat "$DF_BUILD/obj/flags") in *fsanitize*) icd= ;; /*,x86_64,/*) ;; *) icd= ;; esac
[ -n "$icd" ] || { skip oclgrind "needs liboclgrind-rt-icd.so, libOpenCL.so.1, x86-64 and no sanitizer"; exit 0; }
mkdir shim drivers 'my kernels'; echo "$icd" >drivers/oclgrind.icd
check shim ${CC:-cc} -shared -fPIC -Wl,-z,nodelete -Wl,-soname,libOpenCL.so.1 -I"$DF_SOURCE" -o shim/libOpenCL.so.1 "$here/programs/opencl/shim.c" -ldl -pthread
# Oclgrind is for one thread at a time, so no other pins memory. Of the 32 KiB of local memory that it has by default, a tile may need more. Its compiler is clang, which takes
# seconds for a kernel with barriers.
ground() {
    env LD_LIBRARY_PATH="$PWD/shim" SHIM_REAL="$real" SHIM_APART=1 SHIM_NAMES="$PWD/names" OCL_ICD_VENDORS="$PWD/drivers" DFC_CACHE=none OCLGRIND_BUILD_OPTIONS=-cl-opt-disable \
        OCLGRIND_LOCAL_MEM_SIZE=65536 OCLGRIND_MAX_ERRORS=100000 OCLGRIND_DATA_RACES=1 OCLGRIND_UNINITIALIZED=1 "$@"
}
grind() { ground "$@" --device=opencl --inexact --policy=all-gpu --gpu-mem=64MiB --pin=off 2>&1; }

# One of each in a kernel by hand, and in the code of formulas: the barrier that is missing, the element behind the last, what nothing has written.
cp "$here/programs/opencl/k.cl" 'my kernels'; cp "$here/programs/opencl/flow.df" .
plant() { # NAME SED WHAT-OCLGRIND-SAYS
    sed "$2" "$here/programs/opencl/k.cl" >"$1.cl"; sed "s/my kernels\/k.cl/$1.cl/" flow.df >"$1.df"
    check "$1-compiles" "$DFC" "$1.df" -o "$1"
    expect "$1" 0 "$3" grind "./$1" --waves=1
}
check compile "$DFC" flow.df -o flow
./flow --device=none --waves=1 >expected
grind ./flow --waves=1 >out; same quiet out expected
plant race '/^    part\[i\] = sum;/ { n; d; }' 'data race at local memory address'
plant overrun 's/d\[i\] = a\[i\]/d[i] = a[i + 1]/' '^Invalid read of size 4 at global memory address'
plant stale 's/= a\[y \* w + x\] \* by/= b[y * w + x] + a[y * w + x] * by/' '^Uninitialized value'
plant stale-local 's/^    part\[i\] = sum;/    if (i < 40)\n        part[i] = sum;/' '^Uninitialized value'
cat >planting-cc <<'X'
#!/bin/sh
for last; do :; done
case $last in *_formulas_opencl.c) sed -i "$PLANT" "$last" ;; esac
exec cc "$@"
X
chmod +x planting-cc
cp "$here/programs/formula_opencl/words.df" "$here/programs/formula_gpu/kernels.df" .
compiled() { "$DFC" "$1.df" -o "${2:-$1}" --nvcc=none -O0 -w "${@:3}"; }
PLANT='s/^\( *"\) *DF_BARRIER();\\n"$/\1\\n"/' CC="$PWD/planting-cc" check racing-compiles compiled words racing --cflags=-DDF_RACES=-1
expect formula-race 0 'data race at local memory' grind ./racing

# program NAME COMMAND…: what it writes to standard output and to the file `out` is that of the CPU, and Oclgrind says nothing.
program() {
    local name=$1 status; shift
    rm -f names out want; "$@" --device=none 2>&1 | sort >want.said; touch out; mv out want
    grind "$@" >said; status=$?
    touch out
    if [ $status != 0 ] || grep -qE '^(Invalid|Uninitialized|OCLGRIND|Work-group div|.* data race )' said; then
        fail "$name" "exit $status: $(grep -vE '^$|lacks denormals' said | head -n 4 | tr '\n' ' ')"
    elif ! cmp -s want out || ! grep -v 'lacks denormals' said | sort | cmp -s - want.said; then fail "$name" 'not the bits of the CPU'
    else pass "$name"; fi
    sed "s/ / ${name%-apart}:/" names >>all.names
}
# apart FILE FLAGS ARG…: the same for a program that dfc makes with these flags, whose kernels are not fused and take the ways of small ones.
apart() {
    local name; name=$(basename "$1" .df)
    # shellcheck disable=SC2086
    check "$name-apart-compiles" "$DFC" "$1" -o "$name-apart" --nvcc=none -O0 -w --no-fuse $2
    program "$name-apart" "./$name-apart" "${@:3}"
}
check words-compiles compiled words words --cflags=-DDF_RACES=-1; program words ./words; apart words.df '' # first as if all sizes were large
check kernels-compiles compiled kernels; program kernels ./kernels

# The examples.
ex=$DF_SOURCE/examples
synthetic() { ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o "make-$1" "$ex/$1/${2:-synthetic}.c" -lpng -ltiff -lm; }
example() { "$DFC" "$ex/$1.df" -o "${1#*/}" --nvcc=none -O0 -w --cflags=-DDF_RACES=-1 "${@:2}"; }
for e in photo nuclei nbia ferret; do check "make-$e" synthetic $e; done
check make-ct synthetic ct phantom
./make-photo 40 36 3 photo.png; ./make-nuclei 60 50 4 cells.png; ./make-ct 8 24 20 in.rct
for f in harris unsharp camera; do check "$f-compiles" example filters/$f -D tile=32; program $f ./$f --input=photo.png --output=out; done
for f in bilateral sobel canny; do
    with=(--input=photo.png --output=out --w=40 --h=36)
    check "$f-compiles" example filters/$f; program $f ./$f "${with[@]}"; apart "$ex/filters/$f.df" '' "${with[@]}"
done
check photo-compiles example photo/photo -D tile=32; program photo ./photo --input=photo.png --output=out
check nuclei-compiles example nuclei/nuclei -D tile=64; program nuclei ./nuclei --input=cells.png --table=out
mkdir apart; cp "$ex/ct/kernels.df" apart
for p in ct rabbitct; do
    with=(--n=16 --w=24 --h=20 --input=in.rct --volume=out)
    check "$p-compiles" example ct/$p; program $p ./$p "${with[@]}"
    sed '/hounsfield(/s/ @cpu//' "$ex/ct/$p.df" >apart/$p.df; apart apart/$p.df '' "${with[@]}"
done
./make-nbia 128 128 64 1 learn.png learn.raw; ./make-nbia 128 64 64 2 slide.png slide.raw
check train-compiles example nbia/train -D tile=64; program train ./train --input=learn.png --truth=learn.raw --output=out
cp want model.npy
check nbia-compiles example nbia/nbia -D tile=64; program nbia ./nbia --rate=1 --output=out
head -c 8000 "$DFC" >x.raw; check vi-compiles example nbia/vi -D chunk=1000; program vi ./vi --output=out
./make-ferret 2 24-32 1 pictures; ./make-ferret 1 24-32 2 queries
check index-compiles example ferret/index -D thumb=16; program index ./index --h=32 --w=32 --index=out
cp want pictures.ferret
apart "$ex/ferret/index.df" '-D thumb=16' --h=32 --w=32 --index=out
check ferret-compiles example ferret/ferret -D thumb=16; program ferret ./ferret --h=32 --w=32 --images=2 --table=out
apart "$ex/ferret/ferret.df" '-D thumb=16' --h=32 --w=32 --images=2 --table=out
echo "figure oclgrind: $(awk '$1 == "runs" { runs[$2] } $1 == "has" { has[$2] }
    END { for (k in runs) n++; for (k in has) if (!(k in runs)) left = left " " k; print n " kernels ran; not launched:" (left ? left : " none") }' all.names)"

# Random programs.
[ "${GRIND:-}" = 0 ] || ground python3 "$DF_SOURCE/tests/formula/compare.py" "$DF_BUILD" --plain --sizes=2 --batch=4 --modes=device=oclgrind --programs="${GRIND:-200}" --first="${GRIND_FIRST:-8000}" || failures=1
