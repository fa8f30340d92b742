#!/usr/bin/env bash
# Checks ferret: check.sh BUILDDIR OUTDIR. QUICK=1 makes fewer pictures and leaves out most policies, and Python; FULL=1 has every policy.
#   regions, features, distances and the search against check.c: the nearest of all pictures must be found, nine of ten at least
#   distances against SciPy's linear programming, if it is installed (check.py)
#   the GPU variants against the CPU's bytes: compiled for the host (kernels/device.h), and run by the emulated GPU
#   policies, on CPUs, the emulated GPU and OpenCL, with much and little memory, with 1 and 8 waves in flight (policies.sh): the same index, table and page
#   wrong files
set -u
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
dfc=$build/bin/dfc failed=0 count=${COUNT:-400} wanted=${WANTED:-40} optimise=-O2
[ -z "${QUICK:-}" ] || { count=40 wanted=6 optimise=-O1; }
export DFC_PROFILE=${DFC_PROFILE:-$PWD/profile.db}
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAILED $2"; failed=1; fi; }
must() { local said; said=$("${@:2}" 2>&1) || { echo "FAILED $1: $said"; exit 1; }; echo "ok $1"; }
png=$(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng")

# shellcheck disable=SC2086
must make-synthetic ${CC:-cc} -std=c11 -D_GNU_SOURCE $optimise -o synthetic "$here/synthetic.c" $png -lm
# shellcheck disable=SC2086
must make-check ${CC:-cc} -std=c11 -D_GNU_SOURCE $optimise -I"$build/include" -o check "$here/check.c" $png -lm
# shellcheck disable=SC2086
must make-check-probes ${CC:-cc} -std=c11 -D_GNU_SOURCE $optimise -I"$build/include" -o check_probes "$here/check_probes.c" -lm
./check_probes; verdict $? probes
mkdir -p gpu/kernels; cp "$here"/*.df gpu/; cp "$here"/kernels/* gpu/kernels/
for file in segment extract rank; do
    echo "#include \"$file.cu\"" >"gpu/kernels/on_host_$file.cpp"
    sed -i "s,gpu \"kernels/$file.cu\",gpu \"kernels/on_host_$file.cpp\"," gpu/*.df
done
if [ -n "${QUICK:-}" ]; then            # one program of each; ferret's has all kernels with GPU variants, which the emulated GPU runs, and the tokens of every operation
    must compile-index "$dfc" "$here/index.df" --no-opencl -O1 --nvcc=none -w -o index
    must compile-ferret "$dfc" gpu/ferret.df --no-opencl -O1 --emu-gpu-code --no-fuse -w -o ferret
    ln -sf index index_gpu; ln -sf ferret ferret_gpu; ln -sf ferret ferret_unfused
else
    for program in index ferret; do
        must compile-$program "$dfc" "$here/$program.df" --nvcc=none -w -o $program
        must compile-$program-with-gpu-variants "$dfc" gpu/$program.df --no-opencl --emu-gpu-code -w -o ${program}_gpu
    done
    must compile-unfused "$dfc" "$here/ferret.df" --no-opencl -O1 --nvcc=none --no-fuse -w -o ferret_unfused     # its tokens are those of every operation
fi
rm -rf pictures queries dumps; mkdir dumps
must make-pictures ./synthetic "$count" 64-96 1 pictures
must make-queries ./synthetic "$wanted" 48-96 2 queries
ls queries/*.png >queries.txt
sizes="--h=96 --w=96"

# ---- the definitions ----
# shellcheck disable=SC2086
must index ./index $sizes --device=none
# shellcheck disable=SC2086
must search ./ferret_unfused $sizes --device=none --images=$count --dump='main/segment*' --dump='main/extract*' --dump='main/picture/pack*' --dump-dir=dumps
./check emd; verdict $? emd
for wave in 0 1 2 3 4; do ./check picture "$(sed -n $((wave + 1))p queries.txt)" dumps $wave; verdict $? "picture $wave"; done
./check search pictures.ferret ferret.csv dumps; verdict $? search
for wave in 0 1 2 3 4; do                # a picture in the page is the one that was made; a .npy says at byte 8 how long its head is
    dump=dumps/main.picture.pack.png.$wave.npy
    sed -n "s/^<style>[.]q$wave{.*base64,\(.*\))}<\/style>\$/\1/p" ferret.html | base64 -d |
        cmp -s - <(tail -c +$((11 + $(od -An -tu2 -j8 -N2 $dump))) $dump)
    verdict $? "page $wave"
done
if [ -z "${QUICK:-}" ]; then
    for python in python3 /usr/bin/python3; do "$python" -c 'import scipy' 2>/dev/null && break; done
    "$python" "$here/check.py" pictures.ferret ferret.csv dumps
    case $? in 0) ;; 77) echo 'skipped: python3-scipy is not installed' ;; *) verdict 1 'linear programming' ;; esac
fi

# ---- same bits ----
cp pictures.ferret want.ferret; cp ferret.csv want.csv; cp ferret.html want.html
made() { # INDEX FERRET OPTION…: all three files are those of the first run
    local index=$1 ferret=$2; shift 2
    rm -f pictures.ferret ferret.csv ferret.html
    # shellcheck disable=SC2086
    timeout 120 $index $sizes "$@" && timeout 120 $ferret $sizes --images=$count "$@" && cmp pictures.ferret want.ferret && cmp ferret.csv want.csv && cmp ferret.html want.html
}
run() { # NAME INDEX FERRET OPTION…
    if made "${@:2}" >log 2>&1 && ! grep -q 'runs on the CPU' log; then verdict 0 "$1"; else verdict 1 "$1: $(tail -n 2 log | tr '\n' ' ')"; fi
}
[ -n "${QUICK:-}" ] || run gpu-variants ./index_gpu ./ferret_gpu --device=emu --policy=all-gpu
[ -n "${QUICK:-}" ] || for order in 1 -1; do    # eight items a work-group, in both orders: none reads what another wrote in the phase
    must compile-with-items-$order "$dfc" gpu/ferret.df --no-opencl -O1 --emu-gpu-code --cflags=-DDF_RACES=$order -w -o ferret_items
    run gpu-variants-of-items-$order ./index_gpu ./ferret_items --device=emu --policy=all-gpu
done
try() { made ./index ./ferret "$@"; }
from=4096; [ -z "${QUICK:-}" ] || from=100000                # nearer, so that fewer runs say what they lack
least_memory try emu $from
run gpu-variants-little-memory ./index_gpu ./ferret_gpu --device=emu --policy=all-gpu --gpu-mem="$least" --gpu-jobs=1
everywhere ferret try "${QUICK:+$least}"
run one-worker ./index ./ferret --device=none --workers=1

# ---- wrong files ----
refused() { # NAME TEXT COMMAND…: it fails with that text, and writes nothing
    local name=$1 text=$2; shift 2
    rm -f no.ferret no.csv no.html
    "$@" >log 2>&1; local status=$?
    [ $status = 1 ] && grep -qE "$text" log && [ ! -e no.ferret ] && [ ! -e no.csv ] && [ ! -e no.html ]; verdict $? "$name"
}
looks() { local index=$1; shift; ./ferret $sizes --table=no.csv --page=no.html --index="$index" "$@"; }
bytes=$(stat -c %s want.ferret)
head -c $((bytes - 8)) want.ferret >cut.ferret; head -c 40 want.ferret >head.ferret; cp want.ferret damaged.ferret
printf '\377\377\377\177' | dd of=damaged.ferret bs=1 seek=$((bytes - 16)) conv=notrunc 2>/dev/null
cp want.ferret hole.ferret               # a region without a share, and behind it one with all of it
read -r images _ names pngs <<<"$(od -An -v -td8 -w32 -j40 -N32 want.ferret)"
known=$((72 + 2 * 8 * (images + 1) + (names + 7) / 8 * 8 + (pngs + 7) / 8 * 8))
for region in {0..11}; do
    if [ "$region" = 1 ]; then printf '\000\000\200\107'; else printf '\000\000\000\000'; fi |
        dd of=hole.ferret bs=1 seek=$((known + 60 * region + 56)) conv=notrunc 2>/dev/null
done
printf 'no picture' >bad.png; head -c 900 "$(head -n 1 queries.txt)" >cut.png; : >empty.txt; mkdir -p empty
refused no-index "cannot open the index 'no.ferret': No such file or directory; the program of index.df makes it" looks no.ferret
refused wrong-index "'ferret.csv' is no index of ferret" looks ferret.csv
refused folder-as-index "'pictures' is no index of ferret" looks pictures
refused cut-index "'cut.ferret' is an index that was cut off" looks cut.ferret
refused cut-header "'head.ferret' is no index of ferret" looks head.ferret
refused damaged-index "'damaged.ferret' is an index that is damaged" looks damaged.ferret
refused region-behind-the-end "'hole.ferret' is an index that is damaged" looks hole.ferret
refused large-index "has $count pictures, and memory is planned for 20: give --images=$count" looks want.ferret --images=20
refused no-probes "probes is from 1 to" looks want.ferret --probes=0
refused empty-folder "no file matches 'empty/[*].png'" ./index --input='empty/*.png' --index=no.ferret
refused empty-list "the list 'empty.txt' names no file" ./index --input=@empty.txt --index=no.ferret
refused no-list "cannot read 'nowhere.txt'" ./index --input=@nowhere.txt --index=no.ferret
refused bad-picture "'bad.png' is not a PNG" ./index --input=bad.png --index=no.ferret
refused cut-picture "cannot read 'cut.png'" ./index --input=cut.png --index=no.ferret
refused large-picture "give --h=.* --w=" ./index --h=40 --w=40 --index=no.ferret
refused no-folder "cannot write 'nowhere/no.ferret'" ./index $sizes --index=nowhere/no.ferret
if [ -z "${QUICK:-}" ]; then
    must compile-other-numbers "$dfc" "$here/ferret.df" --no-opencl --nvcc=none -w -D tables=3 -o other
    refused other-numbers "made with other numbers: compile with -D regions=12 -D tables=4 -D bits=12 -D width=4.8" ./other $sizes --table=no.csv --page=no.html --index=want.ferret
fi
exit $failed
