# OpenCL runs whose process is killed, drivers that are broken or lack something, and caches that several processes fill: clear messages, and nothing is lost. KILLED=50 kills so
# often (make check-long); KILLED_SEED chooses the moments.
if "$DFC" doctor --quick | grep -q 'built without OpenCL'; then skip opencl-faults "this dfc was built without OpenCL's headers"; exit 0; fi
cp "$programs"/* "$here/programs/formula_opencl/words.df" .; cp "$here/programs/opencl/flow.df" .; mkdir 'my kernels'; cp "$here/programs/opencl/k.cl" 'my kernels'
formulas_for none
check compile "$DFC" k.df --nvcc=none -o k
head -c 600000 "$DFC" >in.raw                   # 300 waves
./k --input=in.raw --device=none; mv out.raw want.raw

# Drivers that are none: files that are not there, are no libraries, or lack the entry points. One that works beside them is used.
mkdir broken
echo 'int nothing;' >nothing.c; ${CC:-cc} -shared -fPIC -o broken/nothing.so nothing.c; echo text >broken/text.so
for f in nothing text absent; do echo "$PWD/broken/$f.so" >broken/$f.icd; done
expect broken 1 'k: error: no opencl device: libOpenCL finds no driver that works by OCL_ICD_VENDORS, which is set$' env OCL_ICD_VENDORS="$PWD/broken" ./k --input=in.raw --device=opencl
expect broken-doctor 0 'absent OpenCL +libOpenCL finds no driver that works by OCL_ICD_VENDORS, which is set$' env OCL_ICD_VENDORS="$PWD/broken" "$DFC" doctor --quick

# A device without double (icd.c): what needs it does not run there, also with --inexact, and other devices are used in its place.
have_opencl opencl-faults || exit 0
case $(cat "$DF_BUILD/obj/flags") in *fsanitize*) skip icd 'a sanitizer' ;; *)
    mkdir single
    check icd-compiles ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o single/icd.so icd.c; echo "$PWD/single/icd.so" >single/a.icd
    single() { env OCL_ICD_VENDORS="$PWD/single" "$@"; }
    check words-compiles "$DFC" words.df -o words --nvcc=none -O0 -w
    expect single-doctor 0 'ok +OpenCL +0: Single, .* f32 with the CPU.s bits; no f64$' single "$DFC" doctor --quick
    for inexact in '' --inexact; do
        expect "single$inexact" 1 'words: error: no opencl device: opencl0 \(Single\) lacks double, with denormals$' single ./words --device=opencl $inexact
    done
    # What needs none gets as far as this driver goes. And what the driver says of a file that has double is shown.
    expect single-loads 1 'k: error: opencl0: making a command queue: CL_OUT_OF_HOST_MEMORY \(-6\)$' single ./k --input=in.raw --device=opencl
    sed -i 's/float by)$/float by, double x)/' 'my kernels/k.cl'
    expect single-log 1 "dfc: error: opencl0: its driver cannot compile my kernels/k.cl: k.cl:3:5: error: use of type 'double'" single "$DFC" flow.df -o flow
    found=$(grep -l pocl /etc/OpenCL/vendors/*.icd 2>/dev/null | head -n 1)
    if ! long; then :
    elif [ -n "$found" ]; then
        cp "$found" single/z.icd; cp broken/*.icd single
        ./words --device=none | sort >expected
        single env POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable ./words --device=opencl --policy=all-gpu --stats >out 2>stats; sort out | cmp -s - expected && pass others-used || fail others-used "$(cat stats)"
        expect others-work 0 '^blur.edges +gpu +1 ' cat stats
    else skip others-used 'no PoCL in /etc/OpenCL/vendors'; fi ;;
esac

# Several processes compile the same kernels at once, and all caches are empty.
export POCL_CACHE_DIR=$PWD/pocl DFC_CACHE=$PWD/kept
mkdir pocl run1 run2
if long; then
    for n in 1 2; do (cd run$n && exec ../k --input=../in.raw --device=opencl --policy=all-gpu) >said$n 2>&1 & done; wait
    for n in 1 2; do cmp -s run$n/out.raw want.raw && pass fills-$n || fail fills-$n "$(cat said$n)"; done
fi

# Killed in the middle, and gone on with; caches and outputs are whole. A moment is from the start of the process (compiling, opening) to its last waves.
RANDOM=${KILLED_SEED:-41} hits=0 resumed=0
kill_once() { # NAME
    local pid tries=0
    rm -f out.raw k.journal ./.dfc-*
    while :; do
        ./k --input=in.raw --device=opencl --policy=all-gpu --ms=2 --workers=1 --journal --resume >said 2>&1 & pid=$!
        if [ $((RANDOM % 4)) != 0 ]; then for ((t = 0; t < 6000; t++)); do grep -q '^run ' k.journal 2>/dev/null && break; kill -0 $pid 2>/dev/null || break; nap 0.01; done; fi
        [ $tries != 0 ] || { nap "$(printf 0.%03d $((RANDOM % 500)))"; kill -9 $pid 2>/dev/null && ! grep -q '^end ' k.journal 2>/dev/null && hits=$((hits + 1)); }
        wait $pid 2>/dev/null && break
        tries=$((tries + 1)); [ $tries -le 3 ] || { fail "$1" "$(cat said)"; return; }
        resumed=$((resumed + 1))
    done
    cmp -s out.raw want.raw && pass "$1" || fail "$1" "$(cmp out.raw want.raw 2>&1) $(cat said)"
}
n=${KILLED:-1}
for ((i = 0; i < n; i++)); do kill_once killed-$i; done
left=$(find . -name '.dfc-*' | wc -l)
if [ $((2 * hits)) -ge $n ]; then pass killed; else fail killed "$hits of $n signals came in time"; fi
[ "$left" = 0 ] && pass killed-left || fail killed-left "$left unfinished files"
echo "figure opencl-faults: $hits of $n signals in the middle of a run, $resumed runs were resumed"
