#!/bin/bash
# filters.sh BUILD OUT.png [PICTURE.png]: what the filters of examples/filters make of a picture of 320 x 240, on one sheet. Without a picture
# examples/photo/synthetic.c makes one.
set -euo pipefail
dfc=$(realpath "$1")/bin/dfc out=$(realpath "$2") picture=$(realpath -m "${3:-in.png}")
source=$(realpath "$(dirname "$0")/../..") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/examples/filters/{*.df,*.c} "$source/tests/pictures/sheet.df" "$work"
cd "$work"
export DFC_PROFILE=$work/profile.db
if [ $# -ge 3 ]; then cp "$picture" in.png; else
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$source/examples/photo/synthetic.c" -lpng -lm && ./synthetic 320 240 7 in.png; fi
for filter in harris unsharp camera bilateral sobel canny; do
    size=(); case $filter in bilateral | sobel | canny) size=(--h=240 --w=320) ;; esac
    "$dfc" $filter.df --nvcc=none -o $filter && ./$filter --output=$filter.png --device=none "${size[@]}"
done
"$dfc" sheet.df --nvcc=none -w -o sheet && ./sheet --output="$out" --device=none
