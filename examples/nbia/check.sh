#!/usr/bin/env bash
# nbia and vi against their oracles: check.sh BUILDDIR OUTDIR. And the same tables and pictures under every policy (policies.sh).
#   TILE=128 SIZE=900x700    the slide that is made
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../policies.sh
. "$here/../policies.sh"
dfc=$(realpath "$1")/bin/dfc; mkdir -p "$2"; cd "$2" || exit 1
tile=${TILE:-128} size=${SIZE:-900x700} failed=0
verdict() { if [ "$1" = 0 ]; then echo "ok $2"; else echo "FAILED $2"; failed=1; fi; }
python=python3; [ -x /usr/bin/python3 ] && python=/usr/bin/python3      # Debian's, which has Debian's packages

set -e
${CC:-cc} -std=c11 -O2 -o synthetic "$here/synthetic.c" -lpng -ltiff -lm
${CC:-cc} -std=c11 -O2 -ffp-contract=off -o check "$here/check.c" -lpng -lm
./synthetic ${size/x/ } "$tile" 1 learn.png learn.raw
./synthetic ${size/x/ } "$tile" 2 slide.png slide.raw
for program in train nbia vi; do
    "$dfc" "$here/$program.df" --nvcc="${NVCC:-none}" $([ $program = vi ] && echo -D chunk=1000 || echo -D tile=$tile) -o $program
done
"$dfc" "$here/nbia.df" --nvcc=none --no-fuse -D tile=$tile -o unfused       # all that is computed can be dumped
./train --input=learn.png --truth=learn.raw --progress=off
rm -rf dumps; mkdir dumps
./unfused --rate=1 --dump='main/analyse*' --dump-dir=dumps --output=all.csv --progress=off
./nbia --rate=1 --output=fused.csv --progress=off
./nbia --sure=0.8 --progress=off
set +e

./check slide.png "$tile" dumps model.npy classes.csv 0.8; verdict $? 'the definitions, in double precision'
said=$($python "$here/check.py" dumps); status=$?
echo "$said"; [[ $said == skipped:* ]] || verdict $status 'scikit-image'
cmp -s all.csv fused.csv; verdict $? 'fused and unfused'
cp classes.csv want.csv; cp map.png want.png
try() { rm -f classes.csv map.png; ./nbia --sure=0.8 --progress=off "$@" && cmp classes.csv want.csv && cmp map.png want.png; }
everywhere nbia try
for seed in 1 2; do ./nbia --rate=0.16 --seed=$seed --output=rate$seed.csv --map=rate.png --progress=off; done
cmp -s rate1.csv rate2.csv; verdict $((1 - $?)) 'another seed looks at other tiles again'

$python - <<'P'
import array
array.array('i', [(i * 7919) % 1000003 - 500000 for i in range(64000)]).tofile(open('x.raw', 'wb'))
P
./vi --progress=off --device=emu --policy=all-gpu && $python - <<'P'
import array
x, y = array.array('i'), array.array('i')
x.frombytes(open('x.raw', 'rb').read()); y.frombytes(open('y.raw', 'rb').read())
raise SystemExit(y != array.array('i', [v + 6 for v in x]))
P
verdict $? 'vi: x + 6'
# What is wrong is told, and nothing is written.
refused() { # PROGRAM PATTERN OPTION…
    local program=$1 pattern=$2 status; shift 2
    rm -f bad.*; ./"$program" --output=bad.out --progress=off "$@" >said.txt 2>&1; status=$?
    [ $status = 1 ] && grep -q "$pattern" said.txt && [ ! -e bad.out ] && [ ! -e bad.png ]; verdict $? "refused: $*"
}
for wrong in --sure=1.5 --sure=-1 --sure=nan --rate=2 --rate=nan --rate=-0.5; do refused nbia 'both are from 0 to 1' --map=bad.png $wrong; done
$python -c "
d = bytearray(open('learn.raw', 'rb').read()); d[20] = 7; open('seven.raw', 'wb').write(d)"
refused train "'seven.raw' says class 7, and there are 0, 1 and 2" --input=learn.png --truth=seven.raw
exit $failed
