# Examples under mpirun give the same bytes on 1 to 4 ranks as in one process: photo and nuclei by tiles, cholesky in its one wave.
. "$here/ranks.sh"
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip ranks "MPI itself is not made for sanitizers"; return 0; fi
if ! command -v mpirun >/dev/null || [ ! -e "$DF_BUILD/lib/libdf-mpi.so" ]; then skip ranks "no mpirun, or dfc was made without mpicc"; return 0; fi
examples=$DF_SOURCE/examples
formulas_for v3 "$QUICKER"

if printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then
    cc -std=c11 -D_GNU_SOURCE -O2 -o pattern "$examples/photo/synthetic.c" -lpng -lm && ./pattern 500 400 7 picture.png
    check compile-photo "$DFC" "$examples/photo/photo.df" --nvcc=none -o photo -D tile=64
    on_ranks photo '1 2 3 4' photo --input=picture.png --output=output.png
    cc -std=c11 -D_GNU_SOURCE -O2 -o tissue "$examples/nuclei/synthetic.c" -lpng -lm && ./tissue 500 350 2 tissue.png
    check compile-nuclei "$DFC" "$examples/nuclei/nuclei.df" --nvcc=none -o nuclei -D tile=128
    on_ranks nuclei '1 2 3 4' nuclei --input=tissue.png --table=output.csv --overlay=output.png
    [ "$(wc -l <output.csv)" -gt 20 ] && pass nuclei-there || fail nuclei-there "$(wc -l <output.csv) lines"
else
    skip photo 'libpng is not installed'
    skip nuclei 'libpng is not installed'
fi

check compile-cholesky "$DFC" "$examples/cholesky/cholesky.df" --nvcc=none -w -o cholesky -D tiles=4
on_ranks cholesky '1 2 3 4' cholesky --n=150 --output=output.npy --matrix=output-matrix.npy
