#!/usr/bin/env bash
# Filter chains beside Halide and OpenCV, on one thread: filters.sh BUILDDIR [OUT]. Makes the graphs of examples/filters into libraries, fused
# and not, and runs each in turns with its peers on the same picture in one process (filters/bench.c). Leaves OUT/filters.csv (OUT is
# BUILDDIR/filters) and prints it as a table: medians of ms, of those of the first contender in the same pairs, and of the pairs' ratios.
#   FILTERS="…"    of harris unsharp bilateral sobel canny camera: these alone
#   HOW="…"        of fused unfused: ours so alone
#   PAIRS=21       pairs of calls that count
#   QUICK=1        small pictures and 3 pairs: does it run at all?
#   PEERS="…"      of hand Halide OpenCV: these alone; what is not installed is skipped and counted
# Halide: libhalide14-0-dev, with its autoscheduler of Mullapudi; OpenCV: libopencv-dev. If more than one sample in a thousand differs from a
# peer's that is on the same scale (bench.c), that is an error.
set -uo pipefail
build=$(realpath "$1") && mkdir -p "${2:-$build/filters}" && out=$(realpath "${2:-$build/filters}") || exit 2
cd "$(dirname "$0")" || exit 1
filters=${FILTERS:-harris unsharp bilateral sobel canny camera} peers=${PEERS:-hand Halide OpenCV} pairs=${PAIRS:-21} failed=0
[ -z "${QUICK:-}" ] || pairs=3
export HL_NUM_THREADS=1 OMP_NUM_THREADS=1 DFC_PROFILE=$out/profile.db
cc=${CC:-cc} cxx=${CXX:-c++}
c_flags=(-std=c11 -D_GNU_SOURCE -shared -fPIC -Ifilters) theirs=()
rm -f "$out"/*.so "$out"/filters.csv

made() { # PEER COMMAND…: a peer's shared object, if it can be made
    local peer=$1; shift
    case " $peers " in *" $peer "*) ;; *) return 0 ;; esac
    if "$@" -o "$out/$peer.so" >"$out/$peer.log" 2>&1; then theirs+=("$out/$peer.so"); else echo "skip $peer: $(head -n 1 "$out/$peer.log")"; fi
}
ours() { # FILTER NAME OPTION…: the library of a graph, behind a contender called NAME
    local filter=$1 name=$2 dir=$out/$1-$2 stem=$1_$2 more=(); shift 2 # two libraries of one name would be one for the loader
    mkdir -p "$dir"
    case $filter in unsharp) more=(-DPLANES=3) ;; canny) more=(-DSCALARS=",CANNY_LOW,CANNY_HIGH") ;; esac
    "$build/bin/dfc" "../../examples/filters/$filter.df" --lib --graph="$filter" --nvcc=none "$@" -o "$dir/lib$stem.so" &&
        $cc "${c_flags[@]}" -DFILTER="$filter" -DHEADER="\"$dir/$stem.h\"" -DNAME="\"dfc, $name\"" "${more[@]}" \
            filters/ours.c -o "$out/ours-$filter-$name.so" -L"$dir" -l"$stem" -Wl,-rpath,"$dir"
}
size_of() {
    # Halide 14's code of sobel by Mullapudi's schedule ends by SIGILL on small pictures
    if [ -n "${QUICK:-}" ] && [ "$1" != sobel ]; then echo '212 332'; return; fi
    case $1 in harris | sobel | canny) echo '4096 4096' ;; unsharp) echo '2052 2052' ;; bilateral) echo '2048 2048' ;; camera) echo '1980 2604' ;; esac
}

$cc -std=c11 -D_GNU_SOURCE -O2 filters/bench.c -o "$out/bench" -ldl -lm || exit 1
made hand $cc "${c_flags[@]}" -O3 -march=native -ffp-contract=off filters/hand.c
case " $peers " in *" Halide "*) mullapudi=$(find /usr/lib -name libautoschedule_mullapudi2016.so 2>/dev/null | head -n 1) ;; *) mullapudi= ;; esac
made Halide $cxx -std=c++17 -O1 -shared -fPIC -Ifilters -I/usr/include/halide14 -DMULLAPUDI="\"$mullapudi\"" filters/halide.cpp -lHalide14
# shellcheck disable=SC2046
made OpenCV $cxx -std=c++17 -O1 -shared -fPIC -Ifilters $(pkg-config --cflags opencv4 2>/dev/null) filters/opencv.cpp -lopencv_imgproc -lopencv_core
echo 'filter,contender,ms,first_ms,ratio,differ' >"$out/filters.csv"
for filter in $filters; do
    mine=()
    for how in ${HOW:-fused unfused}; do
        option=(); [ $how = fused ] || option=(--no-fuse)
        if ! ours "$filter" $how "${option[@]}"; then echo "filters: error: $filter, $how: not compiled" >&2; failed=1; continue; fi
        mine+=("$out/ours-$filter-$how.so")
    done
    # shellcheck disable=SC2046
    "$out/bench" "$filter" $(size_of "$filter") "$pairs" "${mine[@]}" "${theirs[@]}" >>"$out/filters.csv" || failed=1
done
sed 's/, / /' "$out/filters.csv" | column -t -s,
awk -F, 'NR > 1 && $NF != "-" && $NF > 0.001 {
    print "filters: error: another result:", $0; bad = 1 } END { exit bad }' "$out/filters.csv" || failed=1
exit "$failed"
