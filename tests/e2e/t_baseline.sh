# tests/baseline: what is written by hand with CUDA and pthreads makes what examples/ct and examples/matrix make, on one and on two threads. ct needs nvcc to
# be compiled; matrix runs on the emulated GPU. Their lines are counted.
base=$DF_SOURCE/tests/baseline ct=$DF_SOURCE/examples/ct matrix=$DF_SOURCE/examples/matrix
"$base/lines.sh" >lines.txt
fewer=$(awk '/^ct: all|^matrix: all  |^matrix: the graph/ && $(NF - 2) >= 80 { n++ } END { print n }' lines.txt)
if [ "${fewer:-0}" = 4 ]; then pass lines; else fail lines "$(cat lines.txt)"; fi
sed 's/^/figure /' lines.txt
cc -std=c11 -O2 -o generate "$matrix/generate.c"
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
if ! command -v nvcc >/dev/null; then skip ct 'no nvcc here'; exit 0; fi
check matrix-nvcc "$base/matrix/build.sh" ./matrix_cuda
check matrix-cuda eval './matrix_cuda 96 cpu | sort >hand.out'
same matrix-cuda-same mixed.out hand.out
pkg-config --exists fftw3f || { skip ct 'no libfftw3-dev'; exit 0; }
check compile "$base/ct/build.sh" ./by_hand
cc -O2 -o phantom "$ct/phantom.c" -lm
cc -O2 -o compare "$ct/check.c" -lm
./phantom 20 156 120 v.rct
check dfc "$DFC" "$ct/ct.df" --nvcc=none -w -o ct
check run ./ct --input=v.rct --n=40 --w=156 --h=120 --density=ct.f32 --picture=ct.png
for threads in 1 2; do
    check "by-hand-$threads" ./by_hand v.rct 40 hand$threads.f32 hand.png cpu threads=$threads
    check "same-$threads" ./compare same ct.f32 hand$threads.f32 5e-5
done
same by-hand-threads hand1.f32 hand2.f32
head -c 9000 v.rct >cut.rct
expect truncated 1 'cut.rct: is truncated' ./by_hand cut.rct 40 x.f32 x.png cpu
