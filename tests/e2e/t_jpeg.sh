# std/jpeg.df against Pillow, which has the same library behind it: what is read has its bits; what is written is near the original, and read again alike;
# damaged files, in words; nothing half-written.
cp "$programs"/* .
python=/usr/bin/python3
has_modules numpy PIL || { skip jpeg "$python has no NumPy or Pillow (python3-pil)"; exit 0; }
pkg-config --exists libjpeg || { skip jpeg 'no libjpeg-dev'; exit 0; }
"$python" jpeg.py make || { fail make 'Pillow cannot write JPEG'; exit 0; }
names=(colour grey any tiles)
for kind in 0 1 2 3; do check "compile-${names[kind]}" "$DFC" jpeg.df -D kind=$kind --nvcc=none --no-opencl -w -o "${names[kind]}"; done
expect needs-libjpeg 0 libjpeg sh -c 'ldd ./colour | grep -E "jpeg|png|tiff"'

for file in colour full progressive noise upright; do
    check "run-$file" ./colour --input=$file.jpg --output=$file.npy --reals=$file-f32.npy --again=$file-again.jpg
    check "run-$file-again" ./colour --input=$file-again.jpg --output=$file-again.npy
    printf '%s\n' "same-$file same $file.jpg $file.npy" "reals-$file same $file.jpg $file-f32.npy" "again-$file same $file-again.jpg $file-again.npy" >>compared
    [ $file = noise ] || echo "near-$file near $file.jpg $file-again.jpg" >>compared
done
check run-grey ./grey --input=grey.jpg --output=grey.npy --again=grey-again.jpg
check run-grey-as-colour ./colour --input=grey.jpg --output=both.npy
check run-one ./colour --h=1 --w=1 --input=one.jpg --output=one.npy
printf '%s\n' colour.jpg small.jpg >list.txt
check run-any ./any --input=@list.txt --output='any%d.npy'
check run-tiles ./tiles --input=full.jpg --again=tiles.jpg
printf '%s\n' cut.jpg colour.jpg >list.txt
expect bad-files 3 'error: 1 file could not be read' ./any --input=@list.txt --output='good%d.npy' --bad-files=bad.txt
printf '%s\n' 'same-grey same grey.jpg grey.npy' 'near-grey near grey.jpg grey-again.jpg' 'grey-as-colour same grey.jpg both.npy' 'one same one.jpg one.npy' \
    'any same small.jpg any1.npy' 'tiles near full.jpg tiles.jpg' 'good-file same colour.jpg good1.npy' >>compared
while read -r how name why; do if [ "$how" = pass ]; then pass "$name"; else fail "$name" "$why"; fi; done < <("$python" jpeg.py compare <compared 2>&1)

expect turned 0 "'turned.jpg' is to be shown turned or mirrored, as its Exif data says; it is read as it is stored$" ./any --input=turned.jpg
expect cmyk 1 "'cmyk.jpg' is in CMYK, and the kernels read grey and RGB$" ./any --input=cmyk.jpg
expect in-colour 1 "'colour.jpg' is in colour: a kernel [.][.][.]_rgb reads it, and one of yours says what is grey$" ./grey --input=colour.jpg
expect another-size 1 "'colour.jpg' .*37.*53" ./colour --h=38 --input=colour.jpg
for file in cut head; do expect $file 1 "cannot read '$file.jpg': Premature end of " ./any --input=$file.jpg; done
expect broken 1 "cannot read 'broken.jpg': " ./any --input=broken.jpg
printf 'no picture' >none.jpg; expect not-jpeg 1 "'none.jpg' is not a JPEG file$" ./any --input=none.jpg
expect full-disk 1 "cannot write '/dev/full': No space left on device" ./colour --input=colour.jpg --again=/dev/full
rm -f again.jpg; ./colour --input=cut.jpg --again=again.jpg 2>/dev/null; [ -z "$(ls -A | grep -E '^(again[.]jpg|[.]dfc-)')" ] && pass nothing-left || fail nothing-left "$(ls -A)"
