#!/usr/bin/env bash
# Checks nuclei: check.sh BUILDDIR OUTDIR. QUICK=1 leaves out most policies and the libraries, and compiles once; FULL=1 has every policy.
#   each operation against oracle.c, and against SciPy, OpenCV and scikit-image if they are installed (check.py)
#   the GPU variants against the CPU's bytes: compiled for the host (device.h), and run by the emulated GPU
#   policies, on CPUs, the emulated GPU and OpenCL, with all memory and the smallest possible, 1 and 8 waves in flight (policies.sh): the same bytes
set -u
here=$(cd "$(dirname "$0")" && pwd); build=$(realpath "$1"); mkdir -p "$2"; cd "$2" || exit 1
# shellcheck source=../policies.sh
. "$here/../policies.sh"
dfc=$build/bin/dfc failed=0 tile=256 many='700 500' one='250 180' nuclei=40 smallest=1000000 optimise=-O2
[ -z "${QUICK:-}" ] || { tile=128 many='350 250' one='120 100' nuclei=10 smallest=400000 optimise=-O1; }
export DFC_PROFILE=${DFC_PROFILE:-$PWD/profile.db}
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAILED $2"; failed=1; fi; }
must() { local said; said=$("${@:2}" 2>&1) || { echo "FAILED $1: $said"; exit 1; }; echo "ok $1"; }

# shellcheck disable=SC2046
must make-synthetic ${CC:-cc} -std=c11 -D_GNU_SOURCE $optimise -o synthetic "$here/synthetic.c" $(pkg-config --cflags --libs libpng 2>/dev/null || echo "-I$build/include -L$build/lib -Wl,-rpath,$build/lib -lpng") -lm
must make-oracle ${CC:-cc} -std=c11 $optimise -o oracle "$here/oracle.c" -lm
# QUICK: one program, whose GPU variants the emulated GPU runs, and whose tokens are those of every operation, is all.
mkdir -p gpu/kernels; cp "$here"/*.df gpu/; cp "$here"/kernels/* gpu/kernels/
for file in components flood features; do
    echo "#include \"$file.cu\"" >"gpu/kernels/on_host_$file.cpp"
    sed -i "s,gpu \"kernels/$file.cu\",gpu \"kernels/on_host_$file.cpp\"," gpu/*.df
done
if [ -n "${QUICK:-}" ]; then
    must compile-gpu-variants "$dfc" gpu/nuclei.df --no-opencl --emu-gpu-code --no-fuse -o nuclei_gpu -D tile=$tile
    ln -sf nuclei_gpu nuclei; ln -sf nuclei_gpu nuclei_unfused
else
    must compile-gpu-variants "$dfc" gpu/nuclei.df --no-opencl --emu-gpu-code -o nuclei_gpu -D tile=$tile
    must compile "$dfc" "$here/nuclei.df" --nvcc=none -o nuclei -D tile=$tile
    must compile-unfused "$dfc" "$here/nuclei.df" --no-opencl --nvcc=none --no-fuse -o nuclei_unfused -D tile=$tile   # its tokens are those of every operation
fi
# shellcheck disable=SC2086
must picture ./synthetic $many 2 many.png          # 3 x 2 tiles; those at the right are background, those below are cut off
# shellcheck disable=SC2086
must small-picture ./synthetic $one 5 one.png

run() { # NAME PROGRAM OPTION…: the table and the overlay are those of the first run
    local name=$1; shift
    rm -f t.csv t.png
    if timeout 120 "$@" --input=many.png --table=t.csv --overlay=t.png >log 2>&1 && cmp -s t.csv all.csv && cmp -s t.png all.png; then verdict 0 "$name"
    else verdict 1 "$name: $(tail -n 2 log | tr '\n' ' ')"; fi
}

# ---- operations ----
rm -rf dumps; mkdir dumps
must dump ./nuclei_unfused --device=none --input=one.png --dump='main/*' --dump-dir=dumps --table=one.csv --overlay=one-out.png
./oracle dumps | sed 's/^\(ok\|FAILED\) /\1 oracle: /'; verdict "${PIPESTATUS[0]}" oracle
must all ./nuclei --device=none --input=many.png --table=all.csv --overlay=all.png
[ "$(wc -l <all.csv)" -gt $nuclei ]; verdict $? 'there are nuclei'

head -n 1 all.csv >names.csv; echo old >t.csv
python3 - <<'PY'
import struct, zlib
def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
rows = (b'\0' + b'\xf0' * 900) * 300
open('bright.png', 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 300, 300, 8, 2, 0, 0, 0)) +
                               chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
PY
must background ./nuclei --device=none --input=bright.png --table=t.csv --overlay=t.png
cmp t.csv names.csv; verdict $? 'background alone: the table has its first line'

if [ -z "${QUICK:-}" ]; then
    for python in python3 /usr/bin/python3; do "$python" -c 'import cv2, scipy, skimage' 2>/dev/null && break; done
    "$python" "$here/check.py" one.png dumps one.csv | sed 's/^\(ok\|FAILED\) /\1 libraries: /'
    case ${PIPESTATUS[0]} in 0) ;; 77) echo 'skipped: python3-opencv, python3-scipy or python3-skimage is not installed' ;; *) verdict 1 libraries ;; esac
fi

# ---- GPU variants ----
[ -n "${QUICK:-}" ] || run gpu-variants ./nuclei_gpu --device=emu --policy=all-gpu
[ -n "${QUICK:-}" ] || for order in 1 -1; do    # eight items a work-group, in both orders: none reads what another wrote in the phase
    must compile-with-items-$order "$dfc" gpu/nuclei.df --no-opencl -O1 --emu-gpu-code --cflags=-DDF_RACES=$order -o nuclei_items -D tile=$tile
    run gpu-variants-of-items-$order ./nuclei_items --device=emu --policy=all-gpu
done
[ -n "${QUICK:-}" ] || run gpu-variants-small-memory ./nuclei_gpu --device=emu --policy=all-gpu --gpu-mem=2MiB --gpu-jobs=1

# ---- policies ----
try() { rm -f t.csv t.png; timeout 120 ./nuclei "$@" --input=many.png --table=t.csv --overlay=t.png && cmp t.csv all.csv && cmp t.png all.png; }
from=4096; [ -z "${QUICK:-}" ] || from=$smallest             # nearer, so that fewer runs say what they lack
least_memory try emu $from
run gpu-variants-smallest-memory ./nuclei_gpu --device=emu --policy=all-gpu --gpu-mem="$least"
[ "$least" -gt $smallest ]; verdict $? "the smallest memory is $least bytes"
everywhere nuclei try "${QUICK:+$least}"     # where OpenCL needs less, it gets less
[ -n "${QUICK:-}" ] || run unfused ./nuclei_unfused --device=none
run one-worker ./nuclei --device=none --workers=1

# ---- wrong input ----
printf 'not a picture' >bad.png; head -c 9000 many.png >cut.png
refused() { # NAME TEXT FILE
    rm -f refused.csv refused.png
    ./nuclei --input="$3" --table=refused.csv --overlay=refused.png >log 2>&1; local status=$?
    [ $status = 1 ] && grep -q "$2" log && [ ! -e refused.csv ] && [ ! -e refused.png ]; verdict $? "$1"
}
refused bad-picture 'is not a PNG' bad.png
refused cut-picture "cannot read 'cut.png'" cut.png
refused no-picture 'No such file' nowhere.png
if [ -z "${QUICK:-}" ]; then
    must compile-few "$dfc" "$here/nuclei.df" --no-opencl --nvcc=none -o few -D tile=$tile -D most=3
    ./few --input=many.png --table=few.csv --overlay=few.png >log 2>&1; status=$?
    [ $status = 1 ] && grep -q 'more than 3 nuclei in one tile: compile with -D most=12' log; verdict $? too-many-nuclei
fi
exit $failed
