#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - pictures whose sides are and are not multiples of the tile, against check.c, on the CPU and the emulated GPU; and the same under
# every policy (policies.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$here/synthetic.c" -lpng -lm && ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o check "$here/check.c" -lpng -lm || exit 1
"$dfc" "$here/photo.df" --nvcc=none -w -D tile=128 -o photo 2>compile.log || { cat compile.log; exit 1; }
for size in '1 1' '5 400' '256 128' '900 700'; do
    # shellcheck disable=SC2086
    ./synthetic $size 7 in.png || exit 1
    for device in none emu; do
        rm -f out.png
        ./photo --input=in.png --output=out.png --device=$device && ./check in.png out.png >check.log || { cat check.log; false; }
        verdict $? "${size% *} x ${size#* } pixels, --device=$device"
    done
done
cp out.png want.png
try() { rm -f out.png; ./photo --input=in.png --output=out.png "$@" && cmp want.png out.png; }
everywhere photo try
exit $failed
