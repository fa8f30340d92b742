# Every variant of PNG and TIFF that libpng and libtiff can write, by the kernels that read it: what comes is what was drawn. IMAGE_FILES=all: all of them,
# in minutes, and compared with Pillow and netpbm, too, if they are here.
formulas_for none
all=${IMAGE_FILES:-}

compiled() { # PROGRAM FORMAT KERNEL-ELEM…: each kernel reads the list, of which each file has its own size, and writes GROUP.KERNEL-ELEM.got. rgb has C channels
    local program=$1 format=$2 kernel elem suffix kind rank bounds name; shift 2
    { printf 'import "std/%s.df";\nimport "std/raw.df";\nparam h = 53;\nparam w = 53;\nparam c = 3 dynamic;\narg list: str;\n' "$format"
      for kernel; do echo "arg ${kernel//-/_}_got: str;"; done
      echo 'graph main {'
      for kernel; do
          elem=${kernel#*-} suffix=_$elem kind=_rgb rank=3d bounds="h <= h, w <= w, $(tr -dc 0-9 <<<"${kernel%-*}")" name=${kernel//-/_}
          case $kernel in grey*) kind='' rank=2d bounds='h <= h, w <= w' ;; rgb-*) bounds='h <= h, w <= w, c' ;; esac
          if [ "$elem" = u8 ]; then suffix=''; fi
          echo "    $name: $elem[$bounds] = read_${format}_up_to$kind$suffix(list); write_raw_${elem}_$rank($name, ${name}_got);"
      done
      echo '}'; } >"$program.df"
    check "$program-compile" "$DFC" "$program.df" --nvcc=none -o "$program"
}
compared() { # GROUP PROGRAM CHANNELS KERNEL-ELEM…: runs the program on the group, compares with what was drawn, and names the first file that differs
    local group=$1 program=$2 c=$3 kernel want options=(); shift 3
    for kernel; do options+=("--${kernel//-/_}_got=$group.$kernel.got"); done
    check "$group" "./$program" --list="@$group.txt" --c="$c" "${options[@]}"
    for kernel; do
        want=$group.$kernel.want
        if cmp -s "${want%want}got" "$want"; then pass "$(wc -l <"$group.txt")-${want%.want}"; else fail "${want%.want}" "$(python3 "$programs/first.py" "$group" "$want" "$c" 2>&1)"; fi
    done
}
doors() { # FORMAT ELEM CHANNELS FILE…: each file as a whole, once, with bounds and as a tile
    local format=$1 elem=$2 c=$3 file size; shift 3
    sed "s/FORMAT/$format/g; s/ELEM/$elem/g; s/SUFFIX/$([ $elem = u8 ] || echo _$elem)/g" "$programs/doors.df" >doors.df
    check "$format-doors-$elem" "$DFC" doors.df --nvcc=none -o doors
    for file; do
        size=${file##*-}; size=${size%.*}
        expect "${file%.*}-doors-$elem" 0 '^same$' ./doors --input="$file" --w="${size%x*}" --h="${size#*x}" --c="$c"
    done
}
some() { for file; do echo "$file"; done | awk '!seen[substr($0, 7)]++' | head -n 8; } # files that differ by more than their number, at most eight

# PNG: whatever the file says of gamma, its background or its significant bits, no sample is another
cc -std=c11 -o png "$programs/png.c" -lpng && ./png $all || { fail png-made png.c; return; }
for group in png-grey png-colour; do
    kernels=({rgb3,rgb4}-{u8,u16,f32})
    if [ $group = png-grey ]; then kernels+=({grey,rgb1,rgb2}-{u8,u16,f32}); fi
    compiled $group png "${kernels[@]}"
    compared $group $group 3 "${kernels[@]}"
done
doors png u16 3 $(some *-trns-adam7*-13x11.png *-type6-*-13x11.png)

# TIFF: samples of 1 to 16 bits, colours, layouts, compressions, orders and orientations
cc -std=c11 -o tiff "$programs/tiff.c" -ltiff && ./tiff $all || { fail tiff-made tiff.c; return; }
for elem in u8 u16 f32; do
    for kernel in grey rgb; do compiled tiff-$kernel-$elem tiff $kernel-$elem; done
    for group in tiff-$elem-*.txt; do
        group=${group%.txt} c=${group##*-}; group=${group%.txt}
        compared "$group" tiff-$([ $c = 1 ] && echo grey || echo rgb)-$elem $c $([ $c = 1 ] && echo grey || echo rgb)-$elem
    done
done
doors tiff u8 3 $(some *-{palette-4,cmyk-8,lab-8,ycbcr22,rgb-8-tiles}-*-turn[2-8]-*.tif *-rgb-8-*-planes-*.tif)

# What is assumed of a page without PhotometricInterpretation is a warning, of the first one that a node reads
warnings() { "./tiff-$1" --list="@$2.txt" --c=3 --"${1//-/_}"_got= 2>&1 | sed -n "s/.*warning: .*'[0-9]*-\(untagged[^']*\)-.*' has no PhotometricInterpretation: its samples are taken for /\1: /p" | sed 's/-[^:]*:/:/'; }
for case in grey-u8:tiff-u8-1:'grey with white at 0' grey-u16:tiff-u16-1:'grey with white at 0' rgb-u8:tiff-u8-3:RGB rgb-u16:tiff-u16-3:RGB grey-f32:tiff-f32-1:; do
    IFS=: read -r program group words <<<"$case"
    said=$(warnings "$program" "$group")
    if [ "$said" = "${words:+untagged: $words}" ]; then pass "$program-assumed"; else fail "$program-assumed" "$said"; fi
done

# What is refused, by its name; and no kind that is read is refused
sed 's/FORMAT/tiff/g' "$programs/../io/copy.df" >copy.df
check refused-compile "$DFC" copy.df --nvcc=none -o copy
while read -r file words; do expect "refused-${file#*-}" 1 "'$file' .*$words" ./copy --input="$file"; done <tiff.refused

# What Pillow and netpbm read of these files, where they are here, is what was drawn; and nothing is refused that Pillow reads with 8 or 16 bits.
python=/usr/bin/python3; has_modules PIL || python=$(python3 -c 'import sys; print(sys._base_executable)')
if [ -z "$all" ]; then skip other-readers 'only with IMAGE_FILES=all'
elif "$python" -c 'import PIL' 2>/dev/null; then expect other-readers 0 '^0 differ; Pillow: [1-9]' "$python" "$programs/oracle.py" 20
else skip other-readers 'no Pillow'; fi
