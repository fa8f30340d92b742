# examples/filters against check.c, which computes each filter by a second way, on pictures of many sides: below the reach, of one pixel, no
# multiple of the tile; with one worker, with two, and on the emulated GPU. tests/bench/filters.sh runs.
filters=$DF_SOURCE/examples/filters
cp "$filters"/*.df "$filters"/follow.c .
cc -std=c11 -D_GNU_SOURCE -O2 -o synthetic "$DF_SOURCE/examples/photo/synthetic.c" -lpng -lm
cc -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -o oracle "$filters/check.c" -lpng -lm
sizes='300x200 1x1 71x1 5x131 13x13'
n=0
for size in $sizes; do ./synthetic "${size%x*}" "${size#*x}" $((++n)) "$size.png"; done

filtered() { # FILTER SIZE OPTION…: is the picture the one that the oracle makes?
    local filter=$1 size=$2 extents=(); shift 2
    case $filter in bilateral | sobel | canny) extents=(--w="${size%x*}" --h="${size#*x}") ;; esac
    rm -f out.png
    "./$filter" --input="$size.png" --output=out.png "${extents[@]}" "$@" && ./oracle "$filter" "$size.png" out.png
}
for filter in harris unsharp camera bilateral sobel canny; do
    tile=(); case $filter in harris | unsharp | camera) tile=(-D tile=64) ;; esac
    check "compile-$filter" "$DFC" $filter.df --nvcc=none -o $filter "${tile[@]}"
    for size in $sizes; do check "$filter-$size" filtered $filter "$size" --device=none --workers=1; done
    check $filter-two-workers filtered $filter 300x200 --device=none --workers=2
    check $filter-emulated filtered $filter 300x200 --device=emu --policy=all-gpu
done
expect other-size 1 "give --h=200 --w=300" ./sobel --input=300x200.png --output=out.png
expect oracle-usage 2 'usage: check FILTER' ./oracle blur 1x1.png 1x1.png
./harris --input=300x200.png --output=corners.png --device=none
expect oracle-tells 1 'harris, 300 x 200: [0-9]+ samples differ' ./oracle harris 300x200.png 300x200.png
expect bench 0 'harris +"C by hand" .* 0$' env PEERS=hand FILTERS=harris HOW=fused QUICK=1 bash "$DF_SOURCE/tests/bench/filters.sh" "$DF_BUILD" bench
