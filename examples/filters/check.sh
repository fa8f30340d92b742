#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - each filter of pictures of several sizes, against check.c, on the CPU and the emulated GPU; and the same
# under every policy (policies.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/../photo/synthetic.c" -lpng -lm &&
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -o check "$here/check.c" -lpng -lm || exit 1
for filter in harris unsharp camera bilateral sobel canny; do
    tile=() whole=1; case $filter in harris | unsharp | camera) tile=(-D tile=64) whole= ;; esac
    "$dfc" "$here/$filter.df" --nvcc=none -w -o $filter "${tile[@]}" 2>compile.log || { cat compile.log; exit 1; }
    for size in '1 1' '300 200' '71 133'; do
        # shellcheck disable=SC2086
        ./synthetic $size 3 in.png || exit 1
        for device in none emu; do
            rm -f out.png
            ./$filter --input=in.png --output=out.png --device=$device ${whole:+--w=${size% *} --h=${size#* }} && ./check $filter in.png out.png >check.log || { cat check.log; false; }
            verdict $? "$filter: ${size% *} x ${size#* } pixels, --device=$device"
        done
    done
    cp out.png want.png
    try() { rm -f out.png; ./$filter --input=in.png --output=out.png ${whole:+--w=${size% *} --h=${size#* }} "$@" && cmp want.png out.png; }
    everywhere $filter try
done
exit $failed
