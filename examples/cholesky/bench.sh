#!/usr/bin/env bash
# bench.sh BUILDDIR OUTDIR - the factorisation alone of a 4096 x 4096 matrix, in turns with OpenBLAS's potrf on one and two threads, in f64 and f32, and in
# f32, which is all that it has, with StarPU's cholesky_implicit if Debian's starpu-examples is there (PEERS=1 installs it). Ratios are medians of the rounds' ratios.
# Programs with one thread are on the same core in a round.
#   N=4096 rows    TILES= a side (f64: 16, f32: 8)    BLOCKS="8 12 16" tiles of StarPU    ROUNDS=11
set -u
here=$(cd "$(dirname "$0")" && pwd) dfc=$(cd "$1" && pwd)/bin/dfc
n=${N:-4096} blocks_of_starpu=${BLOCKS:-8 12 16} rounds=${ROUNDS:-11}
mkdir -p "$2" && cd "$2" || exit 1
. "$here/../peers.sh"; . "$here/../turns.sh"
peers starpu-examples
peer=$(command -v cholesky_implicit || find /usr/lib -path '*starpu*' -name cholesky_implicit 2>/dev/null | head -n 1)
for real in f64 f32; do
    tiles=${TILES:-16}; [ $real = f64 ] || tiles=${TILES:-8}
    mkdir -p $real && "$dfc" "$here/cholesky.df" --lib --nvcc=none -w -D real=$real -D tiles="$tiles" -o $real/libcholesky.so 2>compile.log || { cat compile.log; exit 1; }
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 $([ $real = f64 ] || echo -DSINGLE) -I$real -o $real/bench "$here/bench.c" -L$real -lcholesky -lopenblas -Wl,-rpath,"$PWD/$real" || exit 1
done
rm -f times-* scaling.*
starpu() { OPENBLAS_NUM_THREADS=1 STARPU_NCPU=$1 STARPU_NCUDA=0 STARPU_SCHED=dmda STARPU_SILENT=1 "$peer" -size "$n" -nblocks "$2" 2>&1 | awk '/^[0-9]+[ \t]/ { print $2 / 1000 }'; }
ours() { "./$1/bench" dfc "$n" "$2" 1; }
for ((r = 0; r < rounds; r++)); do
    for w in 1 2; do
        where=; [ $w = 2 ] || where="on $(core_of $r)"
        for real in f64 f32; do
            $where ./$real/bench openblas "$n" $w 1 >>times-openblas-$real-$w && $where ours $real $w >>times-dfc-$real-$w || exit 1
        done
        [ -z "$peer" ] || for blocks in $blocks_of_starpu; do $where starpu $w "$blocks" >>"times-starpu.$blocks-f32-$w"; done
    done
    scaling f64 ours f64; scaling f32 ours f32
done
for real in f64 f32; do for w in 1 2; do for times in times-*-$real-$w; do
    [ -s "$times" ] || continue
    who=${times#times-}
    awk -v who="${who%%-*}" -v real=$real -v w=$w -v t="$(median "$times")" -v least="$(sort -g "$times" | head -n 1)" -v ratio="$(ratio "$times" times-dfc-$real-$w)" -v n="$n" 'BEGIN {
        printf "%s, %d threads, %-10s median %6.1f ms, least %6.1f ms, %5.1f GF/s", real, w, who, 1e3 * t, 1e3 * least,
            n * n * n / 3 / t * 1e-9
        print who == "dfc" ? "" : sprintf("; dfc is %.2f times as fast", ratio) }'
done; done; done
gain f64; gain f32
[ -n "$peer" ] || echo "left out: StarPU, because starpu-examples is not installed (PEERS=1 installs it)"
