#!/bin/sh
# Writes the declarations of std/raw.df, std/npy.df, std/png.df, std/jpeg.df, std/tiff.df, std/csv.df and std/records.df: kernels.sh NAME. A kernel is typed by element and
# number of extents, so there are many; elements.h and the .c files have their C side. docs/io.md explains them.
set -eu
format=$1
elements=$(sed -n 's/^DF_ELEMENT([A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' "$(dirname "$0")/../elements.def")
case $format in raw | npy) zero_extents=' zero_extents' ;; *) zero_extents= ;; esac # there is no picture without pixels

arrays() { # raw and npy: each element, one to four extents
    for elem in $elements; do
        for extents in n 'h, w' 'd, h, w' 't, d, h, w'; do
            case $extents in n) rank= ;; h*) rank=_2d ;; d*) rank=_3d ;; *) rank=_4d ;; esac
            three "_$elem$rank" "v: $elem[$extents]"
            if [ $format = npy ]; then up_to "_$elem$rank" "v: $elem[$(bounds "$extents")]"; fi
        done
    done
}
parts() { # some elements of a file, from a byte on
    for elem in $elements; do
        echo "kernel load_raw_at_$elem(out v: $elem[n]; path: str, at: i64) once cpu \"raw.c\";"
    done
}
records() { # numbers and an array, k records a wave
    for label in i32 i64 f32 f64; do
        for elem in $elements; do
            echo "kernel read_records_${label}_$elem(out a: $label[k, l], out v: $elem[k, n]; path: str, header: str) stream restart resume cpu \"records.c\";"
            echo "kernel read_records_${label}_${elem}_2d(out a: $label[k, l], out v: $elem[k, h, w]; path: str, header: str) stream restart resume cpu \"records.c\";"
        done
    done
}
three() { # SUFFIX PORT
    echo "kernel read_$format$1(out $2; path: str) stream restart resume cpu \"$format.c\";"
    echo "kernel load_$format$1(out $2; path: str) once cpu \"$format.c\";"
    echo "kernel write_$format$1(in $2; path: str) ordered resume$zero_extents cpu \"$format.c\";"
}
bounds() { # 'h, w' is 'h <= _, w <= _': a call's annotation says how large they may be
    echo "$1" | sed 's/[a-z]/& <= _/g'
}
up_to() { # SUFFIX PORT
    echo "kernel read_${format}_up_to$1(out $2; path: str) stream restart resume cpu \"$format.c\";"
}
pictures() { # ELEM...: png, jpeg and tiff: grey and with channels, whole and as tiles
    for elem; do
        suffix=$([ $elem = u8 ] || echo _$elem)
        for kind in '' _rgb; do
            extents=$([ "$kind" ] && echo 'h, w, c' || echo 'h, w')
            three "$kind$suffix" "image: $elem[$extents]"
            up_to "$kind$suffix" "image: $elem[$(bounds 'h, w')${extents#h, w}]"
            echo "kernel read_${format}_tiles$kind$suffix(out tile: $elem[$extents], out at: i64[4]; path: str, halo: i32) stream restart resume cpu \"$format.c\";"
            echo "kernel write_${format}_tiles$kind$suffix(in tile: $elem[$extents], in at: i64[4]; path: str) ordered cpu \"$format.c\";"
        done
    done
}

printf "// $format.df: made by kernels.sh; docs/io.md explains the kernels\n\n"
case $format in
raw | npy) arrays; if [ $format = raw ]; then parts; fi ;;
records) records ;;
png) printf 'link "png";\nlink "z";\n'; pictures u8 u16 f32 ;;
jpeg) echo 'link "libjpeg";'; pictures u8 f32 ;;
tiff) echo 'link "tiff";'; pictures u8 u16 f32 u32 i8 i16 i32 i64 f16 f64 ;;
csv) for elem in $elements; do echo "kernel write_csv_$elem(in row: $elem[n]; path: str, header: str) ordered resume zero_extents cpu \"csv.c\";"; done ;;
*) echo "kernels.sh: no format '$format'" >&2; exit 2 ;;
esac
