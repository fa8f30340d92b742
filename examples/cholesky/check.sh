#!/usr/bin/env bash
# check.sh BUILDDIR OUTDIR - factors of many sizes, tile counts and both types, by the residual (check.c); and the same bits under every policy
# (policies.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc failed=0
mkdir -p "$2" && cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
verdict() { if [ "$1" = 0 ]; then echo "ok      $2"; else echo "FAILED  $2"; failed=1; fi; }
${CC:-cc} -std=c11 -O2 -o check "$here/check.c" -lm || exit 1

for graph in cholesky lu; do for real in f64 f32; do for tiles in 1 3 4; do
    "$dfc" "$here/$graph.df" --nvcc=none -w -D real=$real -D tiles=$tiles -o $graph-$real-$tiles 2>compile.log || { cat compile.log; exit 1; }
    for n in 4 61 256 $([ $real-$tiles != f64-3 ] || echo 1451); do   # 1451: larger than CACHE of tiles.c
        ./$graph-$real-$tiles --n=$n --matrix=a.npy --output=f.npy --device=none && residual=$(./check $graph a.npy f.npy)
        verdict $? "$tiles x $tiles tiles: ${residual:-}"
    done
done; done; done

for graph in cholesky lu; do
    program=./$graph-f64-4
    $program --n=128 --waves=8 --device=none --workers=1 --output=want%d.npy || failed=1
    try() {
        local w
        rm -f got*.npy
        $program --n=128 --waves=8 --output=got%d.npy "$@" || return 1
        for w in 0 1 2 3 4 5 6 7; do cmp want$w.npy got$w.npy || return 1; done
    }
    NO_OPENCL=1 everywhere "$graph" try
done

python3=$(for p in python3 /usr/bin/python3; do "$p" -c 'import numpy' 2>/dev/null && { echo "$p"; break; }; done)
if [ -n "$python3" ]; then
    "$python3" -c '
import numpy as np
x = np.random.default_rng(3).standard_normal((200, 200))
np.save("given.npy", x @ x.T + 200 * np.eye(200))' && ./cholesky-f64-3 --n=200 --input=given.npy --output=f.npy --device=none &&
        "$python3" -c '
import numpy as np
l = np.linalg.cholesky(np.load("given.npy"))
assert abs(np.load("f.npy") - l).max() < 1e-12 * abs(l).max()'
    verdict $? "NumPy's matrix, and NumPy's factor of it"
else
    echo "skipped: NumPy's own factor, because python3-numpy is not there"
fi
exit $failed
