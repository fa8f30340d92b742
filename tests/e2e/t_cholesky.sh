# examples/cholesky: factors by the residual bound of check.c, in both types, with tiles of unlike sizes; the same bits under policies of every kind; what is
# wrong with an input is said. examples/cholesky/check.sh does all policies.
cholesky=$DF_SOURCE/examples/cholesky
cc -std=c11 -o check "$cholesky/check.c" -lm
for graph in cholesky lu; do
    for real in f64 f32; do
        check "$graph-$real-compiles" "$DFC" "$cholesky/$graph.df" --nvcc=none -w -D real=$real -D tiles=3 -o $graph-$real
        check "$graph-$real-runs" ./$graph-$real --n=100 --matrix=a.npy --output=want.npy --device=none --workers=1
        expect "$graph-$real-residual" 0 "^$graph, 100 rows, $real: residual 0[.]0[0-9]*$" ./check $graph a.npy want.npy
    done
    ./$graph-f64 --n=100 --output=want%d.npy --waves=3 --device=none --workers=1
    for set in '--device=none --workers=2' '--device=emu --policy=all-gpu --gpu-mem=36864' '--device=emu --policy=dmda --inflight=8' \
               '--device=emu --policy=gp --inflight=1'; do
        rm -f got*.npy
        # shellcheck disable=SC2086
        check "$graph $set" ./$graph-f64 --n=100 --waves=3 --output=got%d.npy $set
        for w in 0 1 2; do same "$graph $set wave $w" got$w.npy want$w.npy; done
    done
done
# The check sees what is wrong: a factor of another matrix, and the upper triangle of L·U for a Cholesky factor.
./cholesky-f64 --n=100 --seed=2 --output=other.npy --device=none
./cholesky-f64 --n=100 --matrix=a.npy --device=none
expect check-other 1 'residual [0-9.e+]*$' ./check cholesky a.npy other.npy
expect check-above 1 'numbers above the diagonal' ./check cholesky a.npy want0.npy
# A matrix of the program's own is read back; others are refused, and nothing is written.
check read-back ./cholesky-f64 --n=100 --input=a.npy --output=back.npy --waves=1
expect read-back-residual 0 'residual 0[.]' ./check cholesky a.npy back.npy
head -c 3000 a.npy >cut.npy
expect cut 1 "main/positive', wave 0: 'cut.npy' is cut off: fewer than 100 x 100 elements are there" ./cholesky-f64 --n=100 --input=cut.npy
expect other-size 1 "'a.npy' is f64\[100, 100\], and the token is f64\[64, 64\]: give --n=100$" ./cholesky-f64 --n=64 --input=a.npy
head -c 128 /dev/zero | cat <(python3 -c "
import sys
header = b\"{'descr': '<f8', 'fortran_order': False, 'shape': (8, 2), }\".ljust(117) + b'\\n'
sys.stdout.buffer.write(b'\\x93NUMPY\\1\\0' + bytes([len(header), 0]) + header)") - >oblong.npy
expect oblong 1 "'oblong.npy' is f64\[8, 2\], and the token is f64\[64, 64\]: no --n gives both$" ./cholesky-f64 --n=64 --input=oblong.npy
expect other-type 1 "'a.npy' is f64\[100, 100\], and this program computes in f32" ./cholesky-f32 --n=100 --input=a.npy
expect no-file 1 "cannot read 'nowhere.npy'" ./cholesky-f64 --n=100 --input=nowhere.npy
# Minus the matrix is not positive definite: the sign bit of each number is turned.
python3 - <<'END'
data = bytearray(open('a.npy', 'rb').read())
begin = len(data) - 8 * 100 * 100
data[begin + 7::8] = bytes(byte ^ 128 for byte in data[begin + 7::8])
open('minus.npy', 'wb').write(data)
data[begin:] = bytes(8 * 100 * 100)
open('zero.npy', 'wb').write(data)
END
expect indefinite 1 "main/cholesky/potrf\[0\]', wave 0: the matrix is not positive definite: so says row 0" ./cholesky-f64 --n=100 --input=minus.npy --output=no.npy
expect no-pivot 1 "main/lu/getrf\[0\]', wave 0: the pivot of row 0 is 0: this matrix needs pivoting" ./lu-f64 --n=100 --input=zero.npy --output=no.npy
[ ! -e no.npy ] && pass nothing-written || fail nothing-written 'no.npy is there'
