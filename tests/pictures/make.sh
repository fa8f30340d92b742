#!/bin/bash
# make.sh BUILD OUT WORK: every kind of picture that dfc draws, of graphs of about 5, 50, 300 and 5,000 nodes, as PNG into OUT. The SVG
# that they are made of stays in WORK. Where Chromium is installed, it draws each SVG as well, into WORK/chromium, to be looked at beside
# the PNG, which librsvg draws. pngquant makes the files smaller, where it is installed.
set -euo pipefail
build=$(realpath "$1"); mkdir -p "$2" "$3"; out=$(realpath "$2"); work=$(realpath "$3")
source=$(realpath "$(dirname "$0")/../.."); dfc=$build/bin/dfc; graphs=$source/examples/graphs
export DFC_PROFILE=$work/profile.db
cd "$work"
rm -f -- *.svg *.png "$DFC_PROFILE"

# NAME GRAPH OPTIONS…: the partition, the memory plan, and a simulated run.
planned() {
    local name=$1; shift
    "$dfc" partition "$@" --policy=gp -o "partition-$name.svg" -o "partition-$name.png" \
        --memory="memory-$name.svg" --memory="memory-$name.png" >/dev/null
    "$dfc" simulate "$@" --policy=gp --gantt="gantt-$name.svg" >/dev/null
    "$dfc" simulate "$@" --policy=gp --gantt="gantt-$name.png" >/dev/null
}

# NAME COLUMNS STEPS: a real run and its trace, and real runs under several policies.
ran() {
    local params=(-D columns="$2" -D steps="$3")
    "$dfc" "$source/tests/pictures/blocks.df" "${params[@]}" -o blocks --nvcc=none
    ./blocks --workers=2 --policy=ws --trace="run-$1.json" >/dev/null
    for end in svg png; do "$dfc" gantt "run-$1.json" -o "run-$1.$end"; done
    for end in svg png; do
        "$dfc" compare "$source/tests/pictures/blocks.df" "${params[@]}" --workers=2 --device=none --nvcc=none --runs=5 \
            --svg="compare-$1.$end" >/dev/null 2>&1
    done
}

planned 5 "$graphs/fft.df" -D N=2 -D stages=1
planned 50 "$graphs/cholesky.df" -D T=4
planned 300 "$graphs/image.df" -D strips=30
planned 5000 "$graphs/cholesky.df" -D T=28
for end in svg png; do
    "$dfc" partition "$graphs/cholesky.df" -D T=4 --policy=gp --waits -o "partition-50-waits.$end" >/dev/null
    "$dfc" partition "$graphs/image.df" -D strips=500 --policy=gp -o "partition-5000-nested.$end" >/dev/null
    "$dfc" compare "$graphs/cholesky.df" -D T=4 --rehearse --runs=3 --svg="compare-50-rehearsed.$end" >/dev/null 2>&1
done
ran 5 1 3
ran 50 5 8
ran 300 10 28
ran 5000 20 248

if command -v pngquant >/dev/null; then
    for p in *.png; do pngquant --nofs --force --skip-if-larger --ext .png 64 -- "$p" || [ $? -ge 98 ]; done
else
    echo "pictures: pngquant is not installed, so the files are larger than they need be"
fi
cp -- *.png "$out"
if command -v chromium >/dev/null; then
    mkdir -p chromium
    for p in *.svg; do
        read -r width height < <(python3 -c 'import re, sys
size = [float(n) * (96 / 72 if unit else 1) for n, unit in re.findall(r" (?:width|height)=\"([0-9.]+)(pt)?\"", open(sys.argv[1]).read(2000))[:2]]
print(*(min(round(s), 8000) for s in size))' "$p")
        chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$width,$height" \
            --screenshot="chromium/${p%.svg}.png" "file://$work/$p" >/dev/null 2>&1 || echo "pictures: chromium cannot draw $p"
    done
else
    echo "pictures: chromium is not installed, so only librsvg draws them"
fi
du -ch "$out"/*.png | tail -n 1 | sed 's/total/of pictures in '"${out##*/}"'/'
