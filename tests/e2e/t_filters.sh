# examples/filters against check.c, which computes each filter by a second way, on pictures of many sides: below the reach, of one pixel, no
# multiple of the tile; with one worker, with two, and on the emulated GPU. Their inner loops become vectors. tests/bench/filters.sh runs.
filters=$DF_SOURCE/examples/filters
cp "$filters"/*.df "$filters"/follow.c .
cc -std=c11 -D_GNU_SOURCE -o synthetic "$DF_SOURCE/examples/photo/synthetic.c" -lpng -lm
cc -std=c11 -D_GNU_SOURCE -ffp-contract=off -o oracle "$filters/check.c" -lpng -lm
sizes='300x200 1x1 5x131 13x13'; ! long || sizes+=' 71x1'
n=0
for size in $sizes; do ./synthetic "${size%x*}" "${size#*x}" $((++n)) "$size.png"; done

made() { # FILTER SIZE OPTION…: makes out.png
    local filter=$1 size=$2 extents=(); shift 2
    case $filter in bilateral | sobel | canny) extents=(--w="${size%x*}" --h="${size#*x}") ;; esac
    rm -f out.png
    "./$filter" --input="$size.png" --output=out.png "${extents[@]}" "$@"
}
filtered() { made "$@" && ./oracle "$1" "$2.png" out.png; }                          # is the picture the one that the oracle makes?
again() { made "$@" && cmp out.png right.png; }                                      # is it the one that was?

# Of each formula, the loop over the columns of MAIN. One that only reads bytes at computed places is no vector, as no instruction does that; the
# loop before it, which computes the places, has the same line.
scalar_loops() { # FILTER WORDS: the loops of the filter of which vectors.txt does not say WORDS
    awk '/^#line .*\.df"$/ { line = $2; at = NR } /for \(int64_t [A-Za-z_0-9]* = (df_from|df_strip)/ && NR == at + 1 { last = line }
         /^}/ && main { print last } /^static/ { main = /DF_ALONE void df_row/; last = "" }' "$1.dfc/$1_formulas.c" | sort -u | grep . >all.lines
    grep -o "\.df:[0-9]*:[0-9]*$2" vectors.txt | cut -d: -f2 | sort -u | comm -23 all.lines - |
        while read -r line; do echo "$1.df:$line: $(sed -n "${line}p" "$1.df")"; done
}
flags= # a sanitizer's loops are no vectors
grep -q fsanitize "$DF_BUILD/obj/flags" || case $(uname -m)-$(cc --version) in x86_64-*'Free Software Foundation'*) flags=-fopt-info-vec-optimized=$PWD/vectors.txt ;; esac
# How well each loop of these four is compiled takes long.
for filter in harris unsharp camera bilateral sobel canny; do
    quick=; long || case $filter in unsharp | camera | bilateral | canny) quick=1 ;; esac
    if [ -n "$quick" ]; then formulas_for none; else formulas_for v3 $flags $(long || quicker); fi
    options=(); [ -n "$quick" ] || options=(--here --keep); case $filter in harris | unsharp | camera) options+=(-D tile=64) ;; esac
    check "compile-$filter" "$DFC" $filter.df --nvcc=none --no-opencl -o $filter "${options[@]}"
    [ -n "$quick" ] || scalar_loops $filter ': optimized: loop vectorized' >scalar.out
    if [ -n "$quick" ]; then :
    elif [ -z "$flags" ]; then skip "$filter-vectors" 'cc is no gcc for x86-64 (e2e-clang_vectors has those of clang), or there is a sanitizer'
    elif [ -s all.lines ] && [ ! -s scalar.out ]; then pass "$filter-vectors"
    else fail "$filter-vectors" "$(cat scalar.out)"; fi
    rm -f right.png
    for size in $sizes; do
        check "$filter-$size" filtered $filter "$size" --device=none --workers=1
        [ -e right.png ] || mv out.png right.png    # 300x200
    done
    check $filter-two-workers again $filter 300x200 --device=none --workers=2
    check $filter-emulated again $filter 300x200 --device=emu --policy=all-gpu
done

# Two rows of corners are made of 24 vectors around them. With the flags of level 4 the loop reads few of these twice.
formulas_for none
sed '/^import/d; /^graph main/,$d' harris.df >alone.df
check compile-library "$DFC" alone.df --lib --graph=harris --nvcc=none --no-opencl -o libharris.so --keep -w
level4=$(sed -n 's/.*{ "v4", "\([^"]*\)".*/\1/p' "$DF_SOURCE/compiler/generate/generate.c")
if [ -n "$flags" ] && cc -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -w $level4 -I"$DF_BUILD/include" -c libharris.so.dfc/alone_formulas.c; then
    n=$(objdump -d --no-show-raw-insn alone_formulas.o | awk '/^[0-9a-f]+ </ { name = $2 } /zmm/ && /\(%/ { n[name]++ } END { for (k in n) print n[k] }' |
        sort -n | tail -n 1)
    if [ "$n" -ge 26 ] && [ "$n" -le 32 ]; then pass harris-loads; else fail harris-loads "$n loads and stores"; fi
else
    skip harris-loads 'no gcc that knows level 4, or a sanitizer'
fi
expect other-size 1 "give --h=200 --w=300" ./sobel --input=300x200.png --output=out.png
expect oracle-usage 2 'usage: check FILTER' ./oracle blur 1x1.png 1x1.png
./harris --input=300x200.png --output=corners.png --device=none
expect oracle-tells 1 'harris, 300 x 200: [0-9]+ samples differ' ./oracle harris 300x200.png 300x200.png
! long || expect bench 0 'harris +"C by hand" .* 0$' env PEERS=hand FILTERS=harris HOW=fused QUICK=1 bash "$DF_SOURCE/tests/bench/filters.sh" "$DF_BUILD" bench
