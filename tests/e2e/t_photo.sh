# examples/photo against check.c, which filters the whole picture by direct double loops: on the cpu and the emulated GPU, on pictures whose
# sides are no multiple of the tile, with memory for one job only, and refused in words where @gpu does not fit. A trace shows the overlap.
pictures=${DF_PHOTO:-}                 # further pictures to try, by path
photo=$DF_SOURCE/examples/photo
cp "$photo"/photo.df .
cc -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$photo/synthetic.c" -lpng -lm
cc -std=c11 -D_GNU_SOURCE -O2 -o oracle "$photo/check.c" -lpng -lm
formulas_for '' -O1
check compile "$DFC" photo.df --nvcc=none -o photo -D tile=128
largest=$((53248 + 20480))             # grey: 134 x 134 x 3 in, 134 x 134 out, each rounded up to pages of 4096

edges() { # PICTURE ARGS…
    local picture=$1; shift
    rm -f out.png
    timeout 120 ./photo --input="$picture" --output=out.png "$@" && ./oracle "$picture" out.png
}
n=0
for size in '300 200' '128 256' '1 1' '5 400'; do
    # shellcheck disable=SC2086
    ./synthetic $size 7 "$((++n)).png"; pictures="$pictures $n.png"
done
for picture in $pictures; do
    for set in '--device=none' '--device=emu --policy=all-gpu' "--device=emu --policy=all-gpu --gpu-mem=$largest" \
               "--device=emu --policy=dmda --gpu-mem=$largest --gpu-jobs=1"; do
        # shellcheck disable=SC2086
        check "$(basename "$picture" .png) $set" edges "$picture" $set
    done
done
# The same filters written in C, which took 111 lines with their CUDA: the formulas give the same bytes in a quarter of that at most.
"$DF_SOURCE/tests/photo/written.sh" "$DF_SOURCE/tests/photo" >written.df
check compile-written "$DFC" written.df --nvcc=none -o written -D tile=128
check written ./written --input=1.png --output=written.png --device=none
check formulas ./photo --input=1.png --output=formulas.png --device=none
same as-written written.png formulas.png
lines=$(sed -n '/^table/p; /^kernel/,/^}/p' photo.df | wc -l) before=$(cat "$DF_SOURCE"/tests/photo/filter.c "$DF_SOURCE"/tests/photo/filter.cu | wc -l)
if [ $((4 * lines)) -le "$before" ]; then pass lines; else fail lines "$lines of $before"; fi
echo "figure lines: $lines of formulas, $before of C and CUDA"

for policy in eager ws dmda gp-thesis; do check "emu-$policy" edges 1.png --device=emu --policy=$policy; done

sed 's/= blur(g);/= blur(g) @gpu;/' photo.df >gpu.df
check compile-@gpu "$DFC" gpu.df --nvcc=none -o gpu -D tile=128
rm -f out.png
expect @gpu-too-little 1 "error: .*main/edges/blur.*(needs|bytes|KiB)" ./gpu --input=1.png --output=out.png --device=emu --gpu-mem=8192
[ ! -e out.png ] && pass @gpu-too-little-writes-nothing || fail @gpu-too-little-writes-nothing 'out.png is there'
expect small-without-@gpu-warns 0 "warning: .*cpu|warning: .*CPU" ./photo --input=1.png --output=out.png --device=emu --policy=all-gpu --gpu-mem=8192

printf 'not a picture' >bad.png
expect bad-picture 1 "main/read_png_tiles_rgb.*wave 0.*'bad.png' is not a PNG file" ./photo --input=bad.png --output=out.png
expect no-such-picture 1 "main/read.*nowhere.png" ./photo --input=nowhere.png --output=out.png
expect unwritable 1 "main/write.*wave.*/nowhere/out.png" ./photo --input=1.png --output=/nowhere/out.png
expect too-few-tiles 1 "main/write_png_tiles', after the last wave: 3 of 6 tiles came, so no picture is written" ./photo --input=1.png --output=few.png --waves=3
[ -z "$(ls -A | grep -E '^(few.png|[.]dfc-)')" ] && pass too-few-tiles-writes-nothing || fail too-few-tiles-writes-nothing "$(ls -A)"
expect input-missing 2 "input" ./photo

# The link is so slow that copies take most of the time, also where a sanitizer slows the filters down.
speed=0.01; grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null && speed=0.002
cat >slow.df <<EOT
platform slow { cpu host { workers = 2; } gpu emu { h2d = $speed GB/s, 50 us; d2h = $speed GB/s, 50 us; engines = 2; } }
EOT
./synthetic 800 600 3 large.png
check trace-run edges large.png --device=emu --policy=all-gpu --platform=slow.df --emu-check=off --inflight=4 --trace=t.json
expect trace-overlaps 0 'beside computation' python3 "$DF_SOURCE/tests/e2e/trace_check.py" t.json
grep -h 'beside' <(python3 "$DF_SOURCE/tests/e2e/trace_check.py" t.json) | sed 's/^/figure trace: /'
