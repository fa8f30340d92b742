# Every variant of PNG and TIFF that libpng and libtiff can write, by every kernel that reads it: what comes is what was drawn. IMAGE_FILES=all: all
# of them, in minutes, and compared with Pillow and netpbm, if they are here.
formulas_for none
all=${IMAGE_FILES:-}

# reads GROUP ELEM KERNEL EXTENTS…: the lines of a graph that read the group's files by kernels of several channels, and write what they give.
reads() { # GROUP KERNEL ELEM CHANNELS
    local name=$2-$3 suffix=$([ "$3" = u8 ] || echo "_$3") kind=$([ "$2" = grey ] || echo _rgb) format=${1%%-*} rank=2d bounds='h <= h, w <= w'
    if [ "$kind" ]; then rank=3d bounds="$bounds, $4"; fi
    echo "    ${name//-/_}: $3[$bounds] = read_${format}_up_to$kind$suffix(list); write_raw_$3_$rank(${name//-/_}, \"$1.$name.got\");"
}
# differs GROUP: compares what was read with what was drawn, and names the first file that differs.
compare() { # GROUP
    local want
    for want in "$1".*.want; do
        if cmp -s "${want%want}got" "$want"; then pass "$(wc -l <"$1.txt")-${want%.want}"; else fail "${want%.want}" "$(python3 "$programs/first.py" "$1" "$want" 2>&1)"; fi
    done
}

cc -std=c11 -O1 -o png "$programs/png.c" -lpng && ./png $all || fail png-made "png.c"
for group in png-grey png-colour; do
    { printf 'import "std/png.df";\nimport "std/raw.df";\nparam h = 37;\nparam w = 53;\narg list: str = "@%s.txt";\ngraph main {\n' $group
      for elem in u8 u16 f32; do
          if [ $group = png-grey ]; then reads $group grey $elem; fi
          for c in 1 2 3 4; do if [ $group = png-grey ] || [ $c -gt 2 ]; then reads $group rgb$c $elem $c; fi; done
      done; echo '}'; } >$group.df
    check $group-compile "$DFC" $group.df --nvcc=none -o $group
    check $group ./$group
    compare $group
done

# doors FORMAT ELEM CHANNELS FILE…: one picture by whole, once, with bounds and as a tile.
doors() {
    local format=$1 elem=$2 c=$3 file size; shift 3
    sed "s/FORMAT/$format/g; s/ELEM/$elem/g; s/SUFFIX/$([ $elem = u8 ] || echo _$elem)/g" "$programs/doors.df" >doors.df
    check "$format-doors-$elem" "$DFC" doors.df --nvcc=none -o doors
    for file; do
        size=${file##*-}; size=${size%.*}
        expect "${file%.*}-doors-$elem" 0 '^same$' ./doors --input="$file" --w="${size%x*}" --h="${size#*x}" --c="$c"
    done
}
some() { for file in "$@"; do echo "$file"; done | awk '!seen[substr($0, 7)]++' | head -n 8; } # as many as there are kinds, and not more than eight
doors png u16 3 $(some *-trns-adam7*-13x11.png *-type6-*-13x11.png)
