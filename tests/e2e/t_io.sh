# std/io.df: each format written and read again, against NumPy, libtiff's tools or libpng; wrong files, in words; nothing half-written.
cp "$programs"/* .
python=/usr/bin/python3; has_modules numpy || python=
formulas_for none # make check-long compiles the files of std/ once as users do: `as_is`
compile() { check "compile-$1" "$DFC" "$1.df" --nvcc=none --no-opencl -o "$1" "${@:2}"; }
nothing_left() { [ -z "$(ls -A | grep -E "^([.]dfc-|$2)")" ] && pass "$1" || fail "$1" "$(ls -A | grep -E "^([.]dfc-|$2)")"; }

# All kernels compile, and a program is linked with what it uses.
{ echo 'import "std/io.df"; graph main {'
  for format in raw npy png jpeg tiff csv records; do grep '^kernel ' "$DF_BUILD/share/dfc/std/$format.df"; done | awk '{
      name = $2; sub(/\(.*/, "", name); match($0, /: [a-z0-9]+\[[^]]*\]/); split(substr($0, RSTART + 2, RLENGTH - 3), port, "[")
      elem = port[1]; extents = port[2]; rank = split(extents, each, ", "); ones = extents; gsub(/[a-z]/, "1", ones); d = rank > 1 ? "_" rank "d" : ""
      if (name ~ /^write.*tiles/)
          printf "w%d: %s[%s] = load_raw_%s_%dd(\"x\"); p%d: i64[4] = load_raw_i64(\"x\"); %s(w%d, p%d, \"y\");\n", NR, elem, ones, elem, rank, NR, name, NR, NR
      else if (name ~ /^write/)
          printf "w%d: %s[%s] = load_raw_%s%s(\"x\"); %s(w%d, \"y\"%s);\n", NR, elem, ones, elem, d, name, NR, name ~ /csv/ ? ", \"\"" : ""
      else if (name ~ /^read_records/) {
          split(name, part, "_"); printf "(a%d: %s[1, 1], r%d: %s[1, 1%s]) = %s(\"x\", \"\");\n", NR, part[3], NR, part[4], part[5] ? ", 1" : "", name
      } else if (name ~ /_at_/) printf "r%d: %s[1] = %s(\"x\", 0);\n", NR, elem, name
      else if (name ~ /up_to/) { gsub(/_/, "1", extents); sub(/c$/, "1", extents); printf "r%d: %s[%s] = %s(\"x\");\n", NR, elem, extents, name }
      else if (name ~ /^read.*tiles/) printf "(r%d: %s[%s], q%d: i64[4]) = %s(\"x\", 0);\n", NR, elem, ones, NR, name
      else printf "r%d: %s[%s] = %s(\"x\");\n", NR, elem, ones, name
  }'; echo '}'; } >all.df
[ "$(grep -c '= \|write' all.df)" -ge 270 ] && pass all-kernels || fail all-kernels "$(grep -c = all.df) lines"
if long; then as_is compile all; else compile all; fi
compile raw
expect raw-needs-no-library 1 '^$' sh -c 'ldd ./raw | grep -E "png|tiff"'

# raw: three tokens of four floats; a list of files; a pipe
printf 'abcdefghijkl' >a.raw; printf 'mnop' >b.raw; printf 'a.raw\r\n\nb.raw\n' >list.txt
./raw --input=a.raw; same raw a.raw out.raw
./raw --input=@list.txt; cat a.raw b.raw >want; same raw-list want out.raw
rm out.raw; printf '\357\273\277a.raw\r\nb.raw' >marked.txt; check raw-list-marked-run ./raw --input=@marked.txt; same raw-list-marked want out.raw
./raw --input=@marked.txt --journal=marked.journal; expect raw-list-marked-journal 0 '^input [0-9]+ [0-9]+ a.raw #' cat marked.journal
printf '\377\376a\0.\0r\0a\0w\0\n\0' >wide.txt; printf '\376\377\0a\0.\0r\0a\0w\0\n' >wide-big.txt; printf '\357\273\277\r\n' >mark.txt
for list in wide wide-big; do expect list-$list 1 "the list '$list.txt' is UTF-16: save it as UTF-8$" ./raw --input=@$list.txt; done
expect list-of-a-mark 1 "the list 'mark.txt' names no file$" ./raw --input=@mark.txt
./raw --input='?.ra*'; same raw-pattern want out.raw
expect raw-pattern-none 1 "no file matches '\*[.]none'$" ./raw --input='*.none'
cp a.raw '[*].raw'; ./raw --input='[*].raw'; same raw-name-like-a-pattern a.raw out.raw; rm '[*].raw'
cat a.raw b.raw | ./raw --input=/dev/stdin; same raw-pipe want out.raw
./raw --input=a.raw --output='part%03d.raw'; cat part000.raw part001.raw part002.raw >got; same raw-file-a-wave a.raw got
rm -f out.raw; printf 'abcde' >odd.raw; : >empty.raw; : >empty.txt
expect raw-odd 1 "main/read_raw_u8', wave 0: 'odd.raw' has 5 bytes, and a token u8.4. has 4$" ./raw --input=odd.raw
expect raw-empty 1 "'empty.raw' has 0 bytes" ./raw --input=empty.raw
expect raw-missing 1 "cannot read 'nowhere': No such file" ./raw --input=nowhere
expect raw-folder 1 "cannot read '[.]': it is a folder" ./raw --input=.
expect list-empty 1 "the list 'empty.txt' names no file" ./raw --input=@empty.txt
expect list-missing 1 "cannot read 'nowhere'" ./raw --input=@nowhere
expect list-binary 1 "it holds a zero byte" ./raw --input=@raw
expect pipe-ends-within 1 "ends within a token: 2 of its 4 bytes" sh -c 'printf abcdef | ./raw --input=/dev/stdin'
expect full-disk 1 "main/write_raw_u8', wave 0: cannot write '/dev/full': No space left" ./raw --input=a.raw --output=/dev/full
# A token that is longer than the file's buffer is written at once.
cat >long.df <<'END'
import "std/raw.df";
arg output: str;
kernel count(out v: u8[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = (uint8_t)i; }};
graph main { v: u8[1000000] = count(); write_raw_u8(v, output); }
END
compile long
expect full-disk-long 1 "main/write_raw_u8', wave 0: cannot write '/dev/full': No space left" ./long --output=/dev/full
expect full-disk-long-file 1 "main/write_raw_u8', wave 0: cannot write 'long-0': File too large" sh -c 'ulimit -f 100; ./long --output=long-%d'
expect no-folder 1 "wave 0: cannot write 'no/out': No such file" ./raw --input=a.raw --output=no/out
expect bad-pattern 1 "after a % stands d" ./raw --input=a.raw --output=x%s
expect percent 0 '^$' ./raw --input=a.raw --output=100%%
same percent-name a.raw '100%'; rm -f '100%'
nothing_left nothing-half-written 'out[.]raw'
printf 'a.raw\nodd.raw\n' >wrong.txt
expect list-looked-at-first 1 "wave 0: 'odd.raw'" ./raw --input=@wrong.txt

# records: a header, and numbers beside an array; two records a wave, the last wave filled up; two files; a pipe; what is wrong
compile records
compile values
record() { printf "$1"; printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@'; } # 1 to 6
{ printf '\3\0\0\0\2\0\0\0\3\0\0\0tags'; for i in 1 2 3; do record "\\$i\0\0\0\7\0\0\0"; done; } >a.rec
expect records 0 "^1 7: 1 6 2 7: 1 6 tags 3 7: 1 6 0 0: 0 0 tags $" ./records --input=a.rec
printf 'a.rec\na.rec\n' >records.txt
expect records-list 0 "^1 7: 1 6 2 7: 1 6 tags 3 7: 1 6 1 7: 1 6 tags 2 7: 1 6 3 7: 1 6 tags $" ./records --input=@records.txt
expect records-pipe 0 "3 7: 1 6 0 0: 0 0 tags $" sh -c 'cat a.rec | ./records --input=/dev/stdin'
expect records-pipe-cut 1 "'/dev/stdin' ends within a record" sh -c 'head -c 100 a.rec | ./records --input=/dev/stdin'
expect records-no-number 0 "3 7: 1 6 0 0: 0 0 tags $" ./records --input=a.rec --header='w h 8'
# The same from a later wave on, as chunks need it, and in two passes.
compile again
check again ./again --input=@records.txt
sed '/sum/d; /"s.raw"/d' "$programs/again.df" >later.df && check compile-later "$DFC" later.df --nvcc=none --no-opencl -o later
mv labels.raw whole.labels; mv arrays.raw whole.arrays
for range in 0:1 1:2 2:9; do check "records-$range" ./later --input=@records.txt --waves=$range --out=chunk${range%:*}; done
check records-merged "$DFC" merge chunk0 chunk1 chunk2
same records-later-labels labels.raw whole.labels
same records-later-arrays arrays.raw whole.arrays
got=$(od -An -w48 -tf4 s.raw | tr -s ' '); want=' 12 24 36 24 48 72 36 72 108 48 96 144'
[ "$got" = "$want" ] && pass records-passes || fail records-passes "$got"
printf '\3\0\0\0\0\0\0\0\0\0\370?\1\0\2\0\11\0' >v.rec
expect values 0 '^1.5 9 $' ./values
expect records-size 1 "'a.rec' is f32\[2, 3\], and the token is f32\[4, 3\]: give --h=2$" ./records --input=a.rec --h=4
head -c 100 a.rec >cut.rec
expect records-cut 1 "'cut.rec' has 84 bytes behind its header, but 3 records of 2 numbers and f32\[2, 3\] have 96: it is truncated$" ./records --input=cut.rec
{ cat a.rec; echo; } >more.rec
expect records-more 1 "'more.rec' has 97 bytes .* have 96: something follows them$" ./records --input=more.rec
expect records-odd 1 "'cut.rec' has 84 bytes behind its header, and a record of 2 numbers and f32\[2, 3\] has 32$" ./records --input=cut.rec --header='w h 8'
printf '\3\0\0\0\0\0\0\0\3\0\0\0tags' >zero.rec; head -c 10 a.rec >short.rec; head -c 14 a.rec >shorter.rec
expect records-header 1 "'short.rec' ends within its header, of which 12 bytes were asked for$" ./records --input=short.rec
expect records-skipped 1 "'shorter.rec' ends within its header, of which 16 bytes were asked for$" ./records --input=shorter.rec
expect records-zero 1 "the header of 'zero.rec' says that 'h' is 0$" ./records --input=zero.rec
expect records-word 1 "'width' in a header is neither h nor w nor 'records' nor a number of bytes$" ./records --input=a.rec --header='width h'
expect records-negative 1 "'-4' in a header is neither h nor w nor 'records' nor a number of bytes$" ./records --input=a.rec --header='-4 h'
expect records-missing 1 "cannot read 'nowhere': No such file" ./records --input=nowhere
head -c 15 a.rec >b.rec; cp a.rec kept.rec; cp b.rec a.rec
expect part-short 1 "'a.rec' has no 4 bytes from byte 12 on$" ./records --input=kept.rec
nothing_left nothing-for-no-path '[.]tmp'
if pkg-config --exists fftw3f; then
    ! long || compile rows -O0; compile rows -O0 -D batch=3; expect rows-filtered 0 '^same $' ./rows --waves=1
    if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip rows-no-plan "a sanitizer must be loaded first"; else
        for f in alloc_real alloc_complex plan_dft_r2c_1d plan_dft_c2r_1d; do
            echo "void *fftwf_$f(void) { return 0; }" | cc -shared -fPIC -xc - -o no_$f.so
            expect rows-no-$f 1 "error: .*FFTW has no plan for rows of 26$" env LD_PRELOAD=./no_$f.so ./rows --waves=1
        done
    fi
else skip rows 'no libfftw3-dev'; fi

# blas: products of both types, of one row and of several, against their definition
if pkg-config --exists openblas; then
    for rows in $(! long || echo 1) 7; do
        compile products -O0 -D rows=$rows
        expect products-$rows 0 '^0 0 0 0 0 0 $' ./products --waves=3
        expect products-$rows-emu 0 '^0 0 0 0 0 0 $' ./products --waves=3 --device=emu --emu-all --workers=2
    done
else skip products 'no libopenblas-dev'; fi

# npy, both ways, all elements; dynamic sizes; what is refused
compile npy
compile elements
if [ "$python" ]; then
    check npy-made "$python" npy.py make
    compared=() cases=() # by one Python in the end
    for file in a one v2; do ./npy --input=$file.npy --n=3 --h=4; mv out.npy out-$file.npy; compared+=($file.npy out-$file.npy); done; cases+=(npy npy-one npy-version-2)
    expect npy-extents 1 "'a.npy' is f32\[3, 4\], and the token is f32\[5, 6\]: give --n=3 --h=4$" ./npy --input=a.npy
    expect npy-flat 1 "'flat.npy' is f32\[3, 0\], .*: a fixed size is 1 or more; one with a bound, as of 'read_npy_up_to_...', may be 0$" ./npy --input=flat.npy --n=3 --h=4
    expect npy-fortran 1 "'fortran.npy' is in Fortran order.*ascontiguousarray" ./npy --input=fortran.npy
    expect npy-dtype 1 "'f64.npy' holds f64, and the token f32: a kernel ..._npy_f64" ./npy --input=f64.npy
    expect npy-complex 1 "has elements of the type '<c8'" ./npy --input=complex.npy
    expect npy-records 1 "'records.npy' holds records" ./npy --input=records.npy
    expect npy-big 1 "in the other order .*save a.astype\('<f4'\)" ./npy --input=big.npy
    expect npy-rank 1 "'rank.npy' has 1 extents, and the token has 2" ./npy --input=rank.npy
    expect npy-not 1 "'a.raw' is not a .npy file" ./npy --input=a.raw
    head -c 200 a.npy >cut.npy
    expect npy-cut 1 "'cut.npy' is cut off: its header says 2 tokens of 48 bytes, and 72 bytes are there" ./npy --input=cut.npy --n=3 --h=4
    head -c 40 a.npy >cut.npy; expect npy-cut-header 1 "'cut.npy' ends in its header" ./npy --input=cut.npy
    mkfifo npy.pipe; timeout 150 cat npy.pipe >piped & expect npy-pipe 1 "so 'npy.pipe' cannot be a pipe" ./npy --input=a.npy --n=3 --h=4 --output=npy.pipe; wait $!
    [ ! -s piped ] && pass npy-pipe-gets-nothing || fail npy-pipe-gets-nothing "$(od -c piped | head -n 2)"
    expect npy-to-null 0 '' ./npy --input=a.npy --n=3 --h=4 --output=/dev/null
    nothing_left npy-nothing-half-written 'out[.]npy'
    ./elements; for e in u8 u16 i32 i64 f16 f32 f64; do compared+=($e.npy out-$e.npy); cases+=(npy-$e); done
    mapfile -t found < <("$python" npy.py compare "${compared[@]}")
    for i in "${!cases[@]}"; do [ "${found[i]:-}" = same ] && pass "${cases[i]}" || fail "${cases[i]}" "${found[i]:-nothing is said}"; done
else skip npy 'no NumPy'; fi

# csv
compile csv
./csv; printf 'wave,third\n0,0\n1,0.33333334\n2,0.6666667\n' >want; same csv want out.csv
expect csv-header 1 "the header 'a,b,c' names 3 columns, and a row has 2" ./csv --header=a,b,c
check csv-each ./csv --output=row%02d.csv; printf 'wave,third\n1,0.33333334\n' >want; same csv-each-row want row01.csv
expect csv-each-names 0 '^row00.csv row01.csv row02.csv$' bash -c 'echo row0*'
check csv-percent ./csv --output=100%%.csv && check csv-percent-name [ -e 100%.csv ]
expect csv-pattern 1 "after a % stands d" ./csv --output=a%s.csv
expect csv-to-stdout 0 '^2,0.6666667$' ./csv --output=/dev/stdout

# PNG and TIFF: what was written comes back, in each element and number of channels; other programs agree
for format in png tiff; do
    for step in made read; do
        sed "s/FORMAT/$format/g" "$programs/$step.df" >$format-$step.df; compile $format-$step
        check $format-is-$step ./$format-$step
    done
done
cat >channels.df <<'EOT'
import "std/png.df";
import "std/tiff.df";
kernel give(out p: u8[h, w, c <= 6], out t: u8[h, w, d <= 6]; n: i64, m: i64) cpu {{ *c = (size_t)n; *d = (size_t)m; memset(p, 7, h * w * *c); memset(t, 7, h * w * *d); }};
arg png: i64;
arg tiff: i64;
graph main { (p: u8[2, 3, c <= 6], t: u8[2, 3, d <= 6]) = give(png, tiff); write_png_rgb(p, "channels.png"); write_tiff_rgb(t, "channels.tiff"); }
EOT
compile channels
expect png-channels-5 1 'a PNG has 1 to 4 channels, and the token has 5$' ./channels --png=5 --tiff=4
expect tiff-channels-5 1 'a TIFF is written with 1 to 4 channels, and the token has 5$' ./channels --png=4 --tiff=5
rm -f channels.*; expect channels-0 0 "write_png_rgb' was not called: what it reads was empty in the only wave$" ./channels --png=0 --tiff=4
nothing_left channels-0-none 'channels[.]png'; [ -s channels.tiff ] && pass channels-4 || fail channels-4 'no channels.tiff'
if command -v tiffcp >/dev/null; then
    tiffcp -t -w 16 -l 16 -c lzw tiff.rgb tiled.tif; sed 's/FORMAT/tiff/g' "$programs/tiles.df" >tiles.df; compile tiles
    ./tiles --input=tiled.tif --output=again.tif; check tiff-tiles tiffcmp tiff.rgb again.tif
    tiffcp tiff.rgb tiff.rgb tiff.rgb pages.tif; sed 's/FORMAT/tiff/g' "$programs/copy.df" >copy.df; compile copy
    ./copy --input=pages.tif --output=page%d.tif; check tiff-pages tiffcmp tiff.rgb page2.tif
    [ ! -e page3.tif ] && pass tiff-pages-end || fail tiff-pages-end 'a fourth page'
    expect tiff-element 1 "has samples of 16 bits: the kernel for it is ..._u16" ./copy --input=tiff.u16
    expect tiff-channels 1 "'tiff.grey' has 1 channel, and a tile has 3$" ./tiles --input=tiff.grey
    head -c 300 tiff.rgb >cut.tif
    expect tiff-cut 1 "'cut.tif'" ./copy --input=cut.tif
    expect tiff-not 1 "'a.raw' is not a TIFF file" ./copy --input=a.raw
    expect tiff-full-disk 1 "cannot write '/dev/full': No space left on device" ./copy --input=tiff.rgb --output=/dev/full
    # What libtiff refuses leaves no descriptor open: good files behind many bad ones are read.
    for i in $(seq 80); do echo "no picture" >no$i.tif; echo no$i.tif; done >nos.txt; { cat nos.txt; echo tiff.rgb; } >mixed.txt
    expect tiff-descriptors 3 "error: 80 files could not be read" bash -c 'ulimit -n 60; ./copy --workers=1 --input=@mixed.txt --output=mixed%d.tif --bad-files=nots.txt'
    same tiff-descriptors-list nots.txt nos.txt; check tiff-descriptors-last tiffcmp tiff.rgb mixed80.tif
    if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip tiff-no-room "a sanitizer has an allocator of its own"; else
    # No memory for what is stored from its bottom up is told, and is no fault of the file
    cp tiff.rgb turned.tif; tiffset -s 274 4 turned.tif
    cat >no_room.c <<'END'
#include <errno.h>
#include <stddef.h>
void *__libc_calloc(size_t, size_t);
void *calloc(size_t n, size_t bytes)
{
    if (n != ROWS || bytes != ROW_BYTES)
        return __libc_calloc(n, bytes);
    errno = ENOMEM;
    return NULL;
}
END
    cc -shared -fPIC -DROWS=37 -DROW_BYTES=159 -o no_room.so no_room.c
    expect tiff-no-room 1 "error: .*out of memory for 'turned.tif', which is stored turned$" env LD_PRELOAD=./no_room.so ./copy --input=turned.tif --bad-files=room.txt
    [ ! -s room.txt ] && pass tiff-no-room-list || fail tiff-no-room-list "$(cat room.txt)"
    fi
    mkfifo tiff.pipe; timeout 150 cat tiff.pipe >piped & expect tiff-pipe 1 "so 'tiff.pipe' cannot be a pipe" ./copy --input=tiff.rgb --output=tiff.pipe; wait $!
    [ ! -s piped ] && pass tiff-pipe-gets-nothing || fail tiff-pipe-gets-nothing "$(od -c piped | head -n 2)"
else skip tiff 'no libtiff-tools'; fi
sed 's/FORMAT/png/g' "$programs/tiles.df" >tiles.df; compile tiles; sed 's/FORMAT/png/g' "$programs/copy.df" >copy.df; compile copy
./tiles --input=png.rgb --output=again.png; cmp png.rgb again.png >/dev/null && pass png-tiles || fail png-tiles differs
printf 'png.rgb\npng.rgb\n' >list.txt
./copy --input=@list.txt --output='page%d.png'; same png-list png.rgb page1.png
# Whole bands are packed when a row of tiles has ended, although more rows could be held, and the bytes are the same.
cp "$DF_BUILD/share/dfc/std/png_pack.h" .
check packs-compile cc -std=c11 -D_GNU_SOURCE -O1 -I"$DF_BUILD/include" -o packs packs.c -lz
check packs ./packs $(long && echo 10 || echo 37)
# What is compressed in bands, on all idle workers, comes back, and its bytes are the same for any number of workers.
for step in made found; do sed "s/STEP/$step/" "$programs/bands.df" >bands-$step.df; compile bands-$step; done
./bands-made --workers=1; cp high.png high1.png; cp wide.png wide1.png
check png-bands-found ./bands-found
for workers in 2 4; do
    ./bands-made --workers=$workers
    cmp high.png high1.png && cmp wide.png wide1.png && pass png-bands-$workers || fail png-bands-$workers differs
done
rm -f out.png
# --bad-files: what cannot be read is listed and left out, whatever is wrong with it; the rest is written; without it nothing is
head -c 60 png.rgb >stub.png; head -c $(($(stat -c %s png.rgb) / 2)) png.rgb >half.png
printf 'png.rgb\nstub.png\nabsent.png\nhalf.png\npng.grey\npng.rgb\n' >some.txt
expect bad-ends-run 1 "wave 1: cannot read 'stub.png'" ./copy --input=@some.txt --output='some%d.png'
expect bad-warned 3 "copy: warning: node 'main/read_png_rgb', wave 2 is empty: cannot read 'absent.png': No such file" ./copy --input=@some.txt --output='some%d.png' --bad-files=bad.txt
expect bad-counted 3 "error: 3 files could not be read and made empty waves; 'bad.txt' lists what to repair, and @bad.txt reads it again$" \
    ./copy --input=@some.txt --output='some%d.png' --bad-files=bad.txt --journal
printf 'stub.png\nabsent.png\nhalf.png\n' >want; same bad-list bad.txt want
same bad-last png.rgb some5.png; expect bad-others 0 '^some0.png some4.png some5.png $' sh -c 'ls some*.png | tr "\n" " "'
expect bad-resumed 3 "^copy: error: 3 files could not be read" ./copy --input=@some.txt --output='some%d.png' --bad-files=bad.txt --resume
rm -f some?.png; expect on-error-skip 3 "^absent[.]png  cannot read 'absent[.]png': No such file" ./copy --input=@some.txt --output='some%d.png' --on-error=skip
expect on-error-skip-others 0 '^some0.png some4.png some5.png $' sh -c 'ls some*.png | tr "\n" " "'
expect on-error-skip-counted 3 "copy: error: 3 files could not be read and made empty waves$" ./copy --input=@some.txt --output='some%d.png' --on-error=skip
expect on-error-skip-none 0 '^$' ./copy --input=png.rgb --output='some%d.png' --on-error=skip
expect on-error-stop 1 "wave 1: cannot read 'stub.png'" ./copy --input=@some.txt --output='some%d.png' --on-error=stop
expect on-error-stop-list 2 "error: --bad-files lists what is skipped, and --on-error=stop skips nothing$" ./copy --input=png.rgb --on-error=stop --bad-files=bad2.txt
expect on-error-ranks 2 "error: --on-error is for a run in one process, and --cluster runs in several$" ./copy --input=png.rgb --on-error=skip --cluster
expect on-error-word 2 "error: --on-error=go: " ./copy --on-error=go
{ for i in $(seq 25); do echo gone$i.png; done; echo png.rgb; } >gone.txt
expect on-error-many 3 '^[.][.][.] and 5 more; --bad-files=FILE lists them all$' ./copy --input=@gone.txt --output='some%d.png' --on-error=skip
rm some.txt copy.journal; cp png.rgb stub.png; cp png.rgb absent.png; cp png.rgb half.png
check bad-repaired ./copy --input=@bad.txt --output='more%d.png' --bad-files=worse.txt; same bad-repaired-last png.rgb more2.png
[ -e worse.txt ] && [ ! -s worse.txt ] && pass bad-none || fail bad-none "$(cat worse.txt)"
# The list of a run before is kept until another one begins, and is never emptied before it is read
printf 'png.rgb\nabsent.png\n' >kept.txt; cp kept.txt want; ln -sf kept.txt link.txt
# No option writes over a file that the run reads, nor over one that it writes otherwise, by whatever name
cp png.rgb precious.png; ln -s precious.png soft.png; ln precious.png hard.png; mkdir -p in; echo ./precious.png >listed.txt
for option in trace stats-file bad-files journal 'waves=0:1 --out'; do
    o=${option##*--}
    over() { expect "over-$1-$o" 2 "^copy: error: --$o=$2: it would replace '$3', which the run reads: name another file$" ./copy --input="$4" --output=over%d.png --$option="$2"; }
    over list kept.txt kept.txt @kept.txt
    over list-link link.txt kept.txt @kept.txt
    over picture precious.png precious.png 'prec*.png'
    over listed precious.png ./precious.png @listed.txt
    over soft soft.png precious.png precious.png
    over hard hard.png precious.png precious.png
    over folder in/../precious.png precious.png precious.png
    expect "over-sink-$o" 2 "^copy: error: --$o and node 'main/write_png_rgb' would both write 'in/../over007.png'$" ./copy --input=png.rgb --output=over%03d.png --$option=in/../over007.png
    [ "$option" = trace ] || expect "over-other-$o" 2 "^copy: error: --trace and --$o would both write './new'$" ./copy --input=png.rgb --output=over%d.png --trace=new --$option=./new
done
for to in . in; do
    cp png.rgb $to/main.read_png_rgb.image.0.npy
    expect "over-dump-$to" 2 "^copy: error: --dump would replace '$to/main.read_png_rgb.image.0.npy', which the run reads: name another folder by --dump-dir$" ./copy --input=$to/main.read_png_rgb.image.0.npy --output=over%d.png --dump='main/*' --dump-dir=in/../$to
done
same over-dumped in/main.read_png_rgb.image.0.npy png.rgb
check over-dump-apart ./copy --input=in/main.read_png_rgb.image.0.npy --output=over%d.png --dump=main/*; check over-dump-wave ./copy --input=in/main.read_png_rgb.image.0.npy --output=over%d.png --waves=1 --dump=main/read_png_rgb:1 --dump-dir=in
rm -f main.*.npy in/main.*.npy over0.png
same over-list kept.txt want; same over-picture precious.png png.rgb; [ -z "$(ls | grep '^over\|^new')" ] && pass over-nothing || fail over-nothing "$(ls)"
check over-apart ./copy --input=png.rgb --output=over%d.png --trace=over.json --stats-file=/dev/null --bad-files=over2.txt
check over-again ./copy --input=png.rgb --output=over%d.png --trace=over.json --stats-file=/dev/null --bad-files=over2.txt
check over-piped-list bash -c 'echo png.rgb | ./copy --input=@/dev/stdin --output=over%d.png --trace=over.json'
rm over*
check bad-sim ./copy --input=png.rgb --output=sim%d.png --bad-files=kept.txt --device=sim --stats=totals; check bad-rehearse ./copy --input=png.rgb --bad-files=kept.txt --rehearse --waves=2
mkdir -p taken0.png
expect bad-refused 1 "cannot write 'taken0.png'" ./copy --input=png.rgb --output=taken%d.png --bad-files=kept.txt; same bad-refused-kept kept.txt want
expect bad-refused-new 1 "cannot write 'taken0.png'" ./copy --input=png.rgb --output=taken%d.png --bad-files=never.txt; check bad-refused-none [ ! -e never.txt ]
printf 'half.png\nhalf.png\nhalf.png\n' >thrice.txt; head -c 60 png.rgb >half.png
expect bad-once 3 "error: 1 file could not be read" ./copy --input=@thrice.txt --output='thrice%d.png' --bad-files=kept.txt; echo half.png >want; same bad-once-list kept.txt want
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip bad-own "a sanitizer must be loaded first"; else
cat >no_file.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    if (strcmp(path, "png.rgb") != 0)
        return next(path, mode);
    errno = EMFILE;
    return NULL;
}
END
# What the process itself lacks is no fault of the file
expect bad-own 1 "error: .*cannot read 'png.rgb': Too many open files" bash -c 'cc -shared -fPIC -o no_file.so no_file.c && LD_PRELOAD=./no_file.so ./copy --input=@list.txt --bad-files=own.txt'
[ ! -s own.txt ] && pass bad-own-none || fail bad-own-none "$(cat own.txt)"
fi
expect bad-folder 1 "cannot write 'no/bad.txt': No such file" ./copy --input=png.rgb --bad-files=no/bad.txt
expect bad-device 1 "cannot list files in '/dev/full': it is no regular file" timeout 150 ./copy --input=nowhere.png --bad-files=/dev/full
expect bad-ranks 2 "error: --bad-files is for a run in one process, and --cluster runs in several$" ./copy --input=png.rgb --bad-files=bad.txt --cluster
expect bad-unnamed 2 "error: --bad-files needs a name, and this one is empty$" ./copy --bad-files=
rm -f out.png
cat >final.df <<'EOT'
import "std/png.df";
kernel give(out p: u8[h, w]) cpu {{ memset(p, 40 + (int)df_wave(call), h * w); }};
kernel most(in p: u8[h, w], acc s: u8[h, w]) { s[y, x] max= p[y, x]; }
graph main { p: u8[4, 5] = give(); s = most(p); write_png(s, "final.png"); }
EOT
compile final
for workers in 1 2; do rm -f final.png; check "png-final-$workers" ./final --waves=3 --workers=$workers; [ -s final.png ] || fail png-final "no final.png"; done
# Two nodes and one file: in the same wave, one after the other, by another path, in each wave. What is no file they may share.
cat >both.df <<'EOT'
import "std/png.df";
import "std/raw.df";
arg first: str;
arg second: str;
kernel give(out p: u8[h, w]) cpu {{ memset(p, 40 + (int)df_wave(call), h * w); }};
kernel most(in p: u8[h, w], acc s: u8[h, w]) { s[y, x] max= p[y, x]; }
graph main {
    p: u8[4, 5] = give();
    s = most(p);
    write_png(p, first);
    if late { write_raw_u8_2d(s, second); } else { write_raw_u8_2d(p, second); }
}
param late = 0;
EOT
mkdir sub; ln -s sub way
for late in 0 1; do
    compile both -D late=$late
    expect "two-nodes-one-file-$late" 1 "cannot write '(same.png|[.]/same.png)': node 'main/write_[a-z0-9_]*' writes it, too" ./both --first=same.png --second=./same.png
    expect "two-nodes-two-folders-$late" 1 "cannot write '(sub|way)/x': node 'main/write_[a-z0-9_]*' writes it, too" ./both --first=sub/x --second=way/x
    check "two-nodes-two-files-$late" ./both --first=x --second=sub/x
    check "two-nodes-one-device-$late" ./both --first=/dev/null --second=/dev/null
done
compile both
expect two-nodes-each-wave 1 "cannot write 'x[0-2]': node" ./both --waves=3 --first=x%d --second=x%d
check two-nodes-other-waves ./both --waves=3 --first=x%d --second=y%d
expect png-one-file-for-two 1 "wave 1: 'out.png' is written already: with %d" ./copy --input=@list.txt
# Of the waves of one file, the first that comes may be another than wave 0; and a final node comes after the last.
cat >late.df <<'EOT'
import "std/io.df";
kernel late(out a: u8[n, m], out v: i32[k]) cpu {{ if (df_wave(call) != 2) return DF_SKIP; memset(a, 9, n * m); memset(v, 0, 4 * k); }};
kernel add(in v: i32[k], acc s: i32[k]) { s[i] += v[i] + 5; }
graph main {
    (a: u8[3, 4], v: i32[2]) = late();
    write_png(a, "late.png");
    write_npy_i32(v, "late.npy");
    s = add(v);
    write_npy_i32(s, "final.npy");
}
EOT
compile late
check late-waves ./late --waves=4
[ "$(tail -c 8 final.npy | od -An -tx1 | tr -d ' ')" = 0500000005000000 ] && pass late-final || fail late-final "$(od -c final.npy)"
{ [ -s late.png ] && [ -s late.npy ]; } && pass late-files || fail late-files "$(ls)"
rm -f out.png
expect png-extents 1 "'png.grey' is u8\[37, 53, 3\], and the token is u8\[38, 53, 3\]: give --h=37$" ./copy --input=png.grey --h=38
head -c 300 png.rgb >cut.png; expect png-cut 1 "cannot read 'cut.png'" ./copy --input=cut.png
expect png-full-disk 1 "wave 0: cannot write '/dev/full': No space left" ./copy --input=png.rgb --output=/dev/full
# A write fails long before the file is closed: libpng's, and one of a kernel that looks at nothing.
cat >much.df <<'EOT'
import "std/png.df";
arg output: str = "/dev/full";
kernel noise(out p: u8[h, w]) cpu {{ for (size_t i = 0; i < h * w; i++) p[i] = (uint8_t)(i * i * 2654435761u >> 13); }};
kernel careless(in p: u8[h, w]; path: str) cpu {{
    #include <df_io.h>
    struct df_output *output;
    if (df_output_open(call, path, &output) != DF_OK)
        return DF_FAILED;
    fwrite(p, w, h, df_output_resume(output));
    return df_output_close_job(call, output, 1);
}};
graph main { p: u8[512, 512] = noise(); if png { write_png(p, output); } else { careless(p, output); } }
param png = 1;
EOT
limited() { (ulimit -f 8; exec "$@"); }
for png in 1 0; do
    compile much -D png=$png
    expect "much-full-disk-$png" 1 "wave 0: cannot write '/dev/full': No space left" ./much
    expect "much-limit-$png" 1 "wave 0: cannot write 'much.out': File too large" limited ./much --output=much.out
done
nothing_left much-leaves-nothing much.out
python3 chunks.py png.rgb
./copy --input=many.png --output=many-out.png; same png-many-chunks png.rgb many-out.png
for more in beyond behind open; do ./copy --input=$more.png --output=$more-out.png; same png-$more png.rgb $more-out.png; done
expect png-sum 1 "cannot read 'sum.png': incorrect data check" ./copy --input=sum.png
expect png-header 1 "cannot read 'header.png': incorrect header check" ./copy --input=header.png
expect png-crc 1 "cannot read 'crc.png': IDAT: CRC error" ./copy --input=crc.png
expect png-short 1 "cannot read 'short.png': Not enough image data" ./copy --input=short.png
expect png-deflate 1 "cannot read 'deflate.png': invalid block type" ./copy --input=deflate.png
head -c $(($(stat -c %s png.rgb) - 20)) png.rgb >cut.png
expect png-cut-at-end 1 "cannot read 'cut.png': it ends too early" ./copy --input=cut.png
nothing_left png-nothing-half-written 'out[.]png'
expect tiles-halo 1 "a tile of 16 x 16 has no pixel inside a halo of 8" ./tiles --input=png.rgb --halo=8
expect tiles-of-another-size 1 "is the token as large as a core" ./tiles --input=png.rgb --halo=1
expect tiles-too-many 1 "'out' has all its tiles of 16 x 16, and one more comes for row 0, column 2: is the token as large" ./tiles --input=final.png --halo=7
compile grey
expect png-in-colour 1 "'png.rgb' is in colour: a kernel ..._rgb reads it" ./grey --input=png.rgb

# A folder of one's own called std/ comes first.
mkdir -p own/std; echo 'kernel read_raw_u8(out v: u8[n]; path: str) stream cpu "mine.c";' >own/std/io.df
echo 'int read_raw_u8_cpu(struct df_call *c, size_t n, unsigned char *v, const char *p) { return df_fail(c, "mine"); }' >own/std/mine.c
printf 'import "std/io.df";\nkernel drop(in v: u8[n]) cpu {{ }};\ngraph main { v: u8[4] = read_raw_u8("x"); drop(v); }\n' >own/own.df
"$DFC" own/own.df --nvcc=none --no-opencl -o own/own; expect own-std-first 1 ': mine$' own/own

# What an imported file declares and nobody uses is not compiled, and its libraries are not linked.
printf 'link "no_such_library";\nkernel a(out v: u8[n]) cpu "broken.c";\n' >one.df; echo 'int a_cpu(' >broken.c
printf 'link "m";\nkernel b(out v: u8[n]) cpu "b.c";\n' >two.df
printf '#include <math.h>\nint b_cpu(struct df_call *c, size_t n, uint8_t *v) { v[0] = (uint8_t)cbrt((double)n); return DF_OK; }\n' >b.c
printf 'import "one.df";\nimport "two.df";\ngraph main { v: u8[8] = %%s(); drop(v); }\nkernel drop(in v: u8[n]) cpu {{ }};\n' >use
printf "$(cat use)" b >use-b.df; compile use-b
printf "$(cat use)" a >use-a.df; expect used-is-compiled 1 "the C compiler failed on 'broken.c'" "$DFC" use-a.df --nvcc=none --no-opencl -o use-a

# --progress: on a terminal, and not without one
slow='./slow --waves=8'; compile slow
expect progress-no-terminal 0 '^$' sh -c "$slow 2>&1"
if command -v script >/dev/null; then
    script -qec "$slow" /dev/null </dev/null | tr '\r' '\n' >tty.txt
    expect progress 0 'slow: [1-7] of 8 waves, [0-9.]+/s, [0-9]+ s left' cat tty.txt
    expect progress-last 0 'slow: 8 of 8 waves, ' cat tty.txt
    expect progress-off 0 '^$' script -qec "$slow --progress=off" /dev/null </dev/null
    script -qec "$slow --fail=7" /dev/null </dev/null | tr '\r' '\n' | tail -n 2 >tty.txt
    expect progress-before-error 0 "^.\[Kslow: error: .*wave 7: as asked" cat tty.txt
else skip progress 'no script(1)'; fi
expect progress-on 0 'of 8 waves' sh -c "$slow --progress=on 2>&1"
expect progress-stream 0 'raw: 3 of 3 waves' sh -c './raw --input=a.raw --progress=on 2>&1'
expect progress-wrong 2 "--progress=x: one of auto, on, off is expected" ./slow --progress=x

# What a file claims is compared with the token before anything is taken for it, and is never decoded when it is larger. A sanitizer takes memory of its own.
python3 "$programs/bombs.py"
for format in png tiff; do
    printf 'import "std/%s.df"; param h = 16 dynamic; param w = 16 dynamic; arg input: str; arg output: str = "bomb-%%d.npy"; import "std/npy.df";\ngraph main { a: u8[h, w] = read_%s(input); write_npy_u8_2d(a, output); }\n' \
        $format $format >bomb-$format.df
    check "bomb-$format-compile" "$DFC" bomb-$format.df --nvcc=none --no-opencl -o bomb-$format
done
within=(python3 -ISE "$programs/within.py"); if grep -q fsanitize "$DF_BUILD/obj/flags"; then within=(); fi
while read -r file words; do
    case $file in *.png) program=bomb-png ;; *) program=bomb-tiff ;; esac
    expect "bomb-$file" 1 "error: node .* wave 0: .*'$file' .*$words|error: node .* wave 0: cannot read '$file': $words" "${within[@]}" ./$program --input="$file"
done <bombs
[ -z "$(ls | grep '^bomb-[0-9]')" ] && pass bomb-nothing || fail bomb-nothing "$(ls bomb-*)"
cat >empty.df <<'END'
import "std/npy.df";
param h = 4096 dynamic;
param w = 4096 dynamic;
arg input: str;
graph main { a: u8[h <= h, w <= w] = read_npy_up_to_u8_2d(input); write_npy_u8_2d(a, "empty-out.npy"); }
END
check empty-compile "$DFC" empty.df --nvcc=none --no-opencl -o empty
expect empty-forever 1 "the header of 'forever.npy' says 9000000000000000000 tokens without elements, and at most 1000000 are read$" "${within[@]}" ./empty --input=forever.npy
check empty-three ./empty --input=empty.npy; expect empty-three-again 0 '[(]3, 0, 5[)]' strings empty-out.npy

# Pages of a TIFF: each is read once, past 65,536 of them, and as many reads as pages
paged() { "$@" --h=2 --w=2 --output=pages.raw; }
sed 's/npy/raw/g' bomb-tiff.df >pages.df; check pages-compile "$DFC" pages.df --nvcc=none --no-opencl -o pages
check pages-many paged ./pages --input=many.tif --serial
expect pages-are 0 '^same$' python3 -c 'print("same" if open("pages.raw", "rb").read() == bytes(i % 256 for i in range(65538) for _ in range(4)) else "differ")'
for case in reduced:00020405 back:00010203040506; do
    check "pages-${case%:*}" paged ./pages --input=${case%:*}.tif
    expect "pages-${case%:*}-are" 0 "^${case#*:}$" sh -c 'od -An -v -tx1 -w4 pages.raw | cut -c 2-3 | tr -d "\n"'
done
expect pages-cut 1 "wave 3: 'cut.tif' ends before its page 4$" paged ./pages --input=cut.tif
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip pages-linear "a sanitizer must be loaded first"; else
    cc -shared -fPIC -O1 -o reads.so "$programs/reads.c" -ldl
    reads() { LD_PRELOAD=$PWD/reads.so paged ./pages --input="$1" | sed -n 's/^reads //p'; }
    few=$(reads p1000.tif) many=$(reads p4000.tif)
    if [ "$few" -gt 1000 ] && [ "$many" -lt $((5 * few)) ]; then pass pages-linear; else fail pages-linear "$few reads for 1,000 pages, $many for 4,000"; fi
fi
