#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - sums of several lengths and seeds under every kind of device, against check.py.
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
for n in 1 1024 5000; do
    "$dfc" "$here/sum.df" --nvcc=none -w -D n=$n -o sum 2>compile.log || { cat compile.log; exit 1; }
    for seed in 1 7; do for device in none emu; do
        ./sum --seed=$seed --device=$device --policy=dmda >sum.out && python3 "$here/check.py" $seed $n <sum.out >check.log || { cat check.log; false; }
        verdict $? "sum of $n, --seed=$seed --device=$device"
    done; done
done
exit $failed
