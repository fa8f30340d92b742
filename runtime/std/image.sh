#!/bin/sh
# Writes std/NAME.df from NAME.df.in: image.sh NAME.df.in. What stands there is written once for each element: ELEM is the element, REAL the type in which
# its sums are exact enough, WIDE one that holds a sum of many elements. At the end of a name, _ELEM is as in the names of std/png.df: nothing for u8. The first
# element alone has the comments, which `dfc help std/NAME` prints.
set -eu
template=$1
elements=$(sed -n 's/^DF_ELEMENT([A-Z0-9]*, \([a-z0-9]*\),.*/\1/p' "$(dirname "$0")/../elements.def")
echo "// $(basename "$template" .in): made by image.sh; docs/image.md explains the functions"
sed '/^$/,$d' "$template"
echo
comments=
for elem in $elements; do
    case $elem in u8 | u16 | i8 | i16 | f16 | f32) real=f32 ;; *) real=f64 ;; esac
    case $elem in u8 | i8) wide=i32 ;; u* | i*) wide=i64 ;; *) wide=$real ;; esac
    suffix=_$elem
    [ $elem != u8 ] || suffix=
    sed '1,/^$/d' "$template" | sed "s/_ELEM/$suffix/g; s/_REAL/_$real/g; s/ELEM/$elem/g; s/REAL/$real/g; s/WIDE/$wide/g$comments"
    comments='; /^\/\/ /d'
done
