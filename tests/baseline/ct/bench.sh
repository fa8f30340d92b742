#!/bin/bash
# bench.sh BUILDDIR OUTDIR: examples/ct by dfc and by hand, both on dfc's emulated GPU: whole processes, VIEWS (496) views of W (312) x H (240) pixels, N (128)
# voxels a side, in turns, the least and the median of ROUNDS (7), and the median of the rounds' ratios. dfc's program has times that `dfc profile` measured;
# without a profile it takes its turns, too. By hand the GPU computes, and threads read, copy and wait.
set -u
here=$(cd "$(dirname "$0")" && pwd) ct=$here/../../../examples/ct build=$(cd "$1" && pwd)
n=${N-128} views=${VIEWS-496} w=${W-312} h=${H-240}
. "$here/../../../examples/turns.sh"
mkdir -p "$2" && cd "$2" || exit 1
${CC:-cc} -O3 -ffast-math -o phantom "$ct/phantom.c" -lm && ${CC:-cc} -O2 -o check "$ct/check.c" -lm || exit 1
[ -e "$views.$w.rct" ] || ./phantom "$views" "$w" "$h" "$views.$w.rct" || exit 1
sizes=(-D "n=$n" -D "w=$w" -D "h=$h")
DFC_PROFILE=none.db "$build/bin/dfc" "$ct/ct.df" --nvcc=none -w --device=emu "${sizes[@]}" -o unprofiled || exit 1
export DFC_PROFILE=profile.db
[ -e profile.db ] || "$build/bin/dfc" profile "$ct/ct.df" --nvcc=none -w --device=emu "${sizes[@]}" -- --input="$views.$w.rct" >profile.log 2>&1 ||
    { cat profile.log; exit 1; }
"$build/bin/dfc" "$ct/ct.df" --nvcc=none -w --device=emu "${sizes[@]}" -o profiled && "$here/build.sh" ./by_hand "$build/lib" || exit 1
profiled() { ./profiled --input="$views.$w.rct" --density=profiled.f32 --picture=ours.png --device=emu --emu-check=off; }
unprofiled() { ./unprofiled --input="$views.$w.rct" --density=unprofiled.f32 --picture=ours.png --device=emu --emu-check=off; }
by_hand() { ./by_hand "$views.$w.rct" "$n" hand.f32 hand.png; }
ms() { # COMMAND: the wall's time
    local TIMEFORMAT=%R
    { time "$1" >log 2>&1; } 2>took || { echo "FAILED $1"; cat log; exit 1; }
    awk '{ print 1000 * $1 }' took
}
for who in profiled unprofiled by_hand; do : >$who.ms; done
for _ in $(seq "${ROUNDS-7}"); do
    for who in profiled unprofiled by_hand; do
        $who >/dev/null                 # not counted: the first run behind another program clears the pages that it gave back
        ms $who >>$who.ms
    done
done
# At 128 they differ by 1.3e-5. By hand places are more precise than single precision; the fewer views and the more pixels, the more that is.
./check same profiled.f32 hand.f32 2e-4 && ./check same unprofiled.f32 hand.f32 2e-4 || exit 1
beside ct profiled.ms by_hand.ms
beside 'ct without a profile' unprofiled.ms by_hand.ms
