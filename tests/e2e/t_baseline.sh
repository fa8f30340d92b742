# tests/baseline: what is written by hand with CUDA and pthreads makes what examples/ct and examples/matrix make, on one and on two threads and
# on the emulated GPU. In make check-long, with nvcc both are compiled for CUDA, too, and run on the CPU. Their lines are counted.
base=$DF_SOURCE/tests/baseline ct=$DF_SOURCE/examples/ct matrix=$DF_SOURCE/examples/matrix
"$base/lines.sh" >lines.txt
fewer=$(awk '/^ct: all|^matrix: all  |^matrix: the graph/ && $(NF - 2) >= 80 { n++ } END { print n }' lines.txt)
if [ "${fewer:-0}" = 4 ]; then pass lines; else fail lines "$(cat lines.txt)"; fi
sed 's/^/figure /' lines.txt
cc -std=c11 -o generate "$matrix/generate.c"
cp "$matrix"/matrix.c "$matrix"/matrix.cu "$matrix"/kernels.df .
./generate --kind=mixed --n=96 >mixed.df
./generate --kind=mixed --n=96 --std >std.df
formulas_for none
for graph in mixed std; do check "matrix-dfc-$graph" "$DFC" $graph.df --nvcc=none -w -o $graph; ./$graph | sort >$graph.out; done
same matrix-std mixed.out std.out
check matrix-compile "$base/matrix/build.sh" ./matrix_by_hand "$DF_BUILD/lib"
for options in '' threads=2 cpu 'cpu threads=2'; do
    check "matrix-by-hand $options" eval "./matrix_by_hand 96 $options | sort >hand.out"
    same "matrix-same $options" mixed.out hand.out
done

if pkg-config --exists fftw3f; then
    check ct-compile "$base/ct/build.sh" ./ct_by_hand "$DF_BUILD/lib"
    cc -o phantom "$ct/phantom.c" -lm
    cc -o compare "$ct/check.c" -lm
    ./phantom 20 156 120 v.rct
    check ct-dfc "$DFC" "$ct/ct.df" --nvcc=none --no-opencl -w -o ct
    check ct-run ./ct --input=v.rct --n=80 --w=156 --h=120 --density=ct.f32 --picture=ct.png
    # Without `cpu` it runs on the GPU: the volume as a whole, or with too little memory for that, in several slabs.
    for options in '' memory=5 memory=4 cpu 'cpu threads=2'; do
        check "ct-by-hand $options" eval "./ct_by_hand v.rct 80 hand.f32 hand.png $options 2>log"
        check "ct-same $options" ./compare same ct.f32 hand.f32 5e-5
        [ -e first.f32 ] || cp hand.f32 first.f32
        same "ct-the-same-bytes $options" first.f32 hand.f32
    done
    expect ct-memory 1 'too little for one slab' ./ct_by_hand v.rct 80 x.f32 x.png memory=3
    head -c 9000 v.rct >cut.rct
    for options in '' cpu; do expect "ct-truncated $options" 1 'cut.rct: is truncated' ./ct_by_hand cut.rct 80 x.f32 x.png $options; done
else
    skip ct 'no libfftw3-dev'
fi

long || return 0
if ! command -v nvcc >/dev/null; then skip cuda 'no nvcc here'; exit 0; fi
check matrix-nvcc "$base/matrix/build.sh" ./matrix_cuda
check matrix-cuda eval './matrix_cuda 96 cpu | sort >hand.out'
same matrix-cuda-same mixed.out hand.out
[ -e first.f32 ] || exit 0
check ct-nvcc "$base/ct/build.sh" ./ct_cuda
check ct-cuda ./ct_cuda v.rct 80 hand.f32 hand.png cpu
same ct-cuda-same first.f32 hand.f32
