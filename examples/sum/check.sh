#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - sums of several lengths and seeds, against check.py; and the same under every policy (policies.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
for n in 1 1024 5000; do
    "$dfc" "$here/sum.df" --nvcc=none -w -D n=$n -o sum 2>compile.log || { cat compile.log; exit 1; }
    for seed in 1 7; do for device in none emu; do
        ./sum --seed=$seed --device=$device --policy=dmda >sum.out && python3 "$here/check.py" $seed $n <sum.out >check.log || { cat check.log; false; }
        verdict $? "sum of $n, --seed=$seed --device=$device"
    done; done
done
# With the variant for OpenCL devices, too. sum.df itself has none, so that nobody needs a driver to compile it.
cp "$here"/vec.* . && sed 's/gpu "vec.cu"/& gpu "vec.cl": add_elements<<<(k + 255) \/ 256, 256>>>(k, a, b, c)/' "$here/sum.df" >both.df
"$dfc" both.df --nvcc=none -w -o sum 2>compile.log || { cat compile.log; exit 1; }
./sum --waves=8 --device=none --workers=1 >sum.want
try() { ./sum --waves=8 "$@" >sum.out && cmp sum.want sum.out; }
everywhere sum try
exit $failed
