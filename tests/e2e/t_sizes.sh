# Pictures and arrays of different sizes as one stream: what is written with the extents of each wave is read again up to a bound, and is the
# same; what is larger, or does not fit in one file, is refused in words; the example of docs/io.md.
formulas_for none
cp "$programs"/* .
compile() { check "compile-$1" "$DFC" "$1.df" --nvcc=none -o "$1"; }
listed() { for i in 0 1 2 3; do printf '%s\n' "$(printf "$1" $i)"; done; } # NAME%d.png

compile made; compile read
check made ./made
for name in grey%d.png colour%d.png deep%d.png grey%d.tif colour%d.tif real%d.tif v%d.npy w%d.npy; do listed "$name" >"${name/\%d./-}.txt"; done
for o in --workers=1 '--workers=3 --policy=eager' '--device=emu --emu-all --policy=all-gpu'; do
    rm -f back-*
    # shellcheck disable=SC2086
    check "read $o" ./read $o
    for name in grey%d.png colour%d.png deep%d.png grey%d.tif colour%d.tif real%d.tif v%d.npy w%d.npy; do
        for i in 0 1 2 3; do same "$o $(printf "$name" $i)" "$(printf "$name" $i)" "back-$(printf "$name" $i)"; done
    done
done

# In a library the graph's port says the bound.
echo 'kernel some(out v: i32[n <= _]; few: i32) cpu {{ *n = (size_t)few; memset(v, 0, 4 * *n); }};
graph some_of(out v: i32[n <= 5]; few: i32) { v = some(few); }' >some.df
check library "$DFC" some.df --lib -o libsome.so
expect library-header 0 'i32\[n <= 5\]' cat some.h

# Empty arrays are empty waves; a file may hold several waves; one file for all waves needs one size.
if has_modules numpy; then
    /usr/bin/python3 arrays.py
    compile arrays
    printf 'a.npy\nempty.npy\nb.npy\nc.npy\n' >arrays.txt
    expect arrays 0 '^0: 3, 0.5 1: 3, 10.5 3: 2, 100.5 4: 5, 1000.5 $' sh -c './arrays | tr "\n" " "'
    expect array-larger 1 "wave 0: 'd.npy' is f32\[6\], and the token is f32\[n <= 5\]: give --most=6$" ./arrays --input=d.npy
    expect array-rank 1 "'cube.npy' has 3 extents, and the token has 1" ./arrays --input=cube.npy
    expect array-type 1 "'wide.npy' holds f64, and the token f32" ./arrays --input=wide.npy
    head -c 140 a.npy >cut.npy
    expect array-cut 1 "'cut.npy' is cut off" ./arrays --input=cut.npy
    expect one-file 1 "write_npy_f32', wave 3: this token is f32\[2\], and 'all.npy' holds tokens f32\[3\]: with %d in its name each wave has a file$" \
        ./arrays --output=all.npy
    [ ! -e all.npy ] && pass one-file-none || fail one-file-none "$(ls -l all.npy)"
    check one-size ./arrays --input=a.npy --output=all.npy
else skip arrays 'no NumPy'; fi

# Larger than the bound: the message has the file, its size, the bound, and what to type.
compile limits
expect larger-param 1 "main/read_png_up_to', wave 1: 'grey1.png' is u8\[60, 90\], and the token is u8\[h <= 60, w <= 80\]: give --w=90$" ./limits --w=80
check larger-param-as-told ./limits --w=90
expect larger-both 1 "wave 1: 'grey1.png' is u8\[60, 90\], and the token is u8\[h <= 50, w <= 80\]: give --h=60 --w=90$" ./limits --h=50 --w=80
compile edit
expect larger-number 1 "main/read_tiff_up_to_rgb_u16', wave 0: 'colour1.tif' is u16\[60, 60, 3\], and the token is u16\[h <= 64, w <= 59, 3\]: annotate the stream with \[h <= 64, w <= 60, 3\]$" ./edit
sed -i 's/w <= 59/w <= 60/' edit.df; compile edit; check larger-number-as-told ./edit
compile channels
expect channels 1 "'colour1.tif' is u16\[60, 60, 3\], and the token is u16\[h <= 64, w <= 60, 4\]: annotate the stream with \[h <= 64, w <= 60, 3\]$" ./channels

# Sinks that need tokens of one size: tiles, and rows under a header.
compile tiles
expect tiles-unlike 1 "main/write_png_tiles', wave 1: a tile of 'out.png' has another size than those before it" ./tiles
compile rows
expect rows-unlike 1 "main/write_csv_u8', wave 1: the header 'a,b,c' names 3 columns, and a row has 2" ./rows
check rows-without-header ./rows --header=
printf '1,1,1\n1,1\n' >want; same rows-written rows.csv want

# The example of docs/io.md.
awk '/^## /{ on = $0 == "## Pictures of different sizes" } /^```/{ if (!code && on) n++; code = !code; next } on && code { print > ("example" n) }' \
    "$DF_SOURCE/docs/io.md"
cp example1 smaller.df; compile smaller
listed grey%d.png >list.txt
check example ./smaller
for i in 0 1 3; do [ -s "smaller000$i.png" ] && pass "example-$i" || fail "example-$i" "$(ls)"; done
[ ! -e smaller0002.png ] && pass example-empty || fail example-empty "$(ls)"
