# tests/baseline: what is written by hand makes the volume that examples/ct makes, on one and on two threads; it needs nvcc to be compiled. Its lines are counted.
base=$DF_SOURCE/tests/baseline ct=$DF_SOURCE/examples/ct
"$base/lines.sh" >lines.txt
fewer=$(awk '/beside all but/ { print int($(NF - 2)) }' lines.txt)
if [ "${fewer:-0}" -ge 80 ]; then pass lines; else fail lines "$(cat lines.txt)"; fi
sed 's/^/figure /' lines.txt
if ! command -v nvcc >/dev/null; then skip ct 'no nvcc here'; exit 0; fi
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
