#!/bin/bash
# bench.sh BUILDDIR OUTDIR: ct beside `plastimatch fdk`: the same views (VIEWS=496 of W=312 x H=240 pixels), the same volume (N=128 voxels a side), whole
# processes, in turns. Ours run twice, of which the second counts. Times are medians of ROUNDS (5), and ratios are medians of the rounds' ratios. PEERS=1
# installs plastimatch by apt if it is missing; PEERS=0 leaves it out. HAND=PROGRAM is the program by hand, which tests/baseline/ct/build.sh makes; it takes its turns, too.
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc
n=${N-128} views=${VIEWS-496} w=${W-312} h=${H-240} hand=${HAND:+$(realpath "$HAND")}
mkdir -p "$2" && cd "$2" || exit 1
. "$here/../peers.sh"; . "$here/../turns.sh"
peers plastimatch
${CC:-cc} -O3 -ffast-math -o phantom "$here/phantom.c" -lm && ${CC:-cc} -O2 -o check "$here/check.c" -lm || exit 1
"$dfc" "$here/ct.df" --nvcc=none -w -o ct || exit 1
[ -e "$views.$w.rct" ] || ./phantom "$views" "$w" "$h" "$views.$w.rct" || exit 1

# plastimatch reads an image and a matrix for each view. Its matrices have the principal point apart, and w in units of the detector's distance.
views_of_plastimatch() {
    rm -rf views && mkdir views && python3 - $views.$w.rct <<'PY'
import struct, sys
with open(sys.argv[1], 'rb') as f:
    width, height, n = struct.unpack('<3I8x', f.read(20))
    for i in range(n):
        a, pixels = struct.unpack('<12d', f.read(96)), f.read(4 * width * height)
        rows = [[a[3 * j + r] for j in range(4)] for r in range(3)]
        centre = rows[0][3], rows[1][3]
        for r in 0, 1:
            rows[r] = [x - centre[r] * y for x, y in zip(rows[r], rows[2])]
        scaled = [[x * 785 / 1200 for x in row] for row in rows]
        normal = [785 * x for x in rows[2][:3]]
        u = [x * 785 / (1200 / (1248 * .308 / width)) for x in rows[0][:3]]
        numbers = lambda rows: ''.join(' '.join('%.8e' % x for x in row) + '\n' for row in rows)
        with open('views/p_%04d.txt' % i, 'w') as t:
            t.write(numbers([centre]) + numbers(scaled) + '785\n1200\n' + numbers([normal]) + 'Extrinsic\n' +
                    numbers([u + [0], [0, 0, 1, 0], normal + [785], [0, 0, 0, 1]]) + 'Intrinsic\n' +
                    numbers([[1 / (1248 * .308 / width), 0, 0, 0], [0, 1 / (1248 * .308 / width), 0, 0], [0, 0, 1 / 1200, 0]]))
        with open('views/p_%04d.pfm' % i, 'wb') as p:
            p.write(b'Pf\n%d %d\n-1\n' % (width, height) + pixels)
PY
}
ours() { ./ct --input="$views.$w.rct" --n="$n" --w="$w" --h="$h" --density=ours.f32 --picture=ours.png --device=none --workers="$1" --stats >stats 2>&1; }
theirs() { OMP_NUM_THREADS=$1 plastimatch fdk -I views -O theirs.mha -r "$n $n $n" -z '256 256 256' >theirs.log 2>&1; }
by_hand() { "$hand" "$views.$w.rct" "$n" hand.f32 hand.png threads="$1" cpu >hand.log 2>&1; }
wall_and_busy() { # COMMAND…: seconds of the wall, and of processors
    local TIMEFORMAT='%R %U %S'
    { time "$@"; } 2>took || { echo "FAILED $*: $(tail -qn 2 stats theirs.log hand.log 2>/dev/null)" >&2; exit 1; }
    awk '{ print $1, $2 + $3 }' took
}
alone() { seconds ours "$1"; }
column() { cut -d' ' -f"$2" "$1" | median; }
walls() { cut -d' ' -f1 "$1" >"walls.$1"; echo "walls.$1"; }
peer=; [ "${PEERS-}" != 0 ] && command -v plastimatch >/dev/null && peer=1
if [ "$peer" ]; then views_of_plastimatch; else echo 'left out: plastimatch (PEERS=1 installs it)'; fi
rm -f ours.[12] theirs.[12] hand.[12] scaling.*
for round in $(seq "${ROUNDS-5}"); do for threads in 1 2; do
    where=; [ $threads = 2 ] || where="on $(core_of "$round")"
    for who in ours "${hand:+by_hand}" "${peer:+theirs}"; do
        [ "$who" ] || continue
        # shellcheck disable=SC2086
        { [ "$who" = theirs ] || $where "$who" "$threads" # not counted: the first run behind another program clears the pages that it gave back
          $where wall_and_busy "$who" "$threads" >>"${who/by_hand/hand}.$threads"; } || exit 1
        [ "$who" != ours ] || cp stats stats.$threads
    done
done; scaling ct alone; done
for threads in 1 2; do
    echo "ct, $threads workers: $(column ours.$threads 1) s, of processors $(column ours.$threads 2) s; back-projection $(awk -v g="$n" -v v=$views '$1 == "backproject" { s = $7 == "ms" ? $6 / 1000 : $6; printf "%.2f GUPS a core", g * g * g * v / s / 1024 ^ 3; exit }' stats.$threads)"
    [ "$hand" ] && echo "by hand, $threads threads: $(column hand.$threads 1) s, of processors $(column hand.$threads 2) s"
    [ "$peer" ] && echo "plastimatch fdk, OMP_NUM_THREADS=$threads: $(column theirs.$threads 1) s, which is $(ratio "$(walls theirs.$threads)" "$(walls ours.$threads)") of ct's"
done
gain ct
${CC:-cc} -O3 -march=native -ffast-math -o check_native "$here/check.c" -lm && ./check_native loop $n $views.$w.rct
[ "$n $views" != '128 496' ] || ./check phantom $n ours.f32 0.01 0.02 | tail -n 2
if [ "$peer" ]; then
    tail -c $((4 * n * n * n)) theirs.mha >theirs.f32
    ./check shape $n ours.f32 theirs.f32 0.25
fi
