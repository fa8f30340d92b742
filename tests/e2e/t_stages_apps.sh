# ferret, nbia and nuclei as stages on four ranks, and nuclei by tiles: the same bytes as in one process, also if one of the ranks is killed in the middle, and with --resume if
# that was rank 0. And a small program whose sources are on the ranks (@worker).
. "$here/ranks.sh"
have_ranks stages || return 0
if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip examples 'libpng is not installed'; return 0; fi
examples=$DF_SOURCE/examples
formulas_for none
kills=()
if command -v mpicc >/dev/null; then
    check compile-dying mpicc -std=c11 -D_GNU_SOURCE -fPIC -shared -I"$DF_SOURCE" "$here/programs/stages/dying.c" -o dying.so
else
    skip killed 'no mpicc'
fi

# killed NAME RANK WAVE PROGRAM ARGS…: begins a run in a folder of its own, with all files of this one but outputs. The rank is killed with that wave. The run waits
# for a silence most of the time, so it goes on beside others.
killed() {
    local name=$1 rank=$2 wave=$3 f; shift 3
    kills+=("$name")
    mkdir "folder-$name"
    for f in *; do case $f in output* | folder-*) ;; *) ln -s "../$f" "folder-$name" ;; esac; done
    (cd "folder-$name" && DIE_RANK=$rank DIE_WAVE=$wave DF_MPI=$PWD/dying.so timeout 300 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 4 \
         "./$@" --cluster --workers=1 --device=none >said.out 2>said.err; echo $? >rc) &
}
# try PROGRAM WAVE MAP ARGS…: as in one process on four ranks; and each rank but the first is killed in turn with that wave.
try() {
    local program=$1 wave=$2 map=$3 rank; shift 3
    how="--device=none --mapping=$map" on_ranks "$program" 4 "$program" "$@"
    [ -e dying.so ] || return
    for rank in $(long && echo 1 3) 2; do killed "$program-rank-$rank" $rank $wave "$program" --mapping="$map" "$@"; done
}

if ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1; then skip examples 'libpng is not installed'; return 0; fi
cc -std=c11 -D_GNU_SOURCE -o tissue "$examples/nuclei/synthetic.c" -lpng -lm && ./tissue 500 350 2 tissue.png
check compile-nuclei "$DFC" "$examples/nuclei/nuclei.df" --nvcc=none --no-opencl -w -o nuclei -D tile=128
printf 'tissue: a\nsegment: b\nfeatures outline select: c\n' >nuclei.map
nuclei='--input=tissue.png --table=output.csv --overlay=output.png'
# shellcheck disable=SC2086
on_ranks nuclei-tiles "$(long && echo '1 2 3 4' || echo 4)" nuclei $nuclei # ranks that share waves
[ "$(wc -l <output.csv)" -gt 20 ] && pass nuclei-there || fail nuclei-there "$(wc -l <output.csv) lines"
# shellcheck disable=SC2086
try nuclei 4 nuclei.map $nuclei
# shellcheck disable=SC2086
[ ! -e dying.so ] || killed nuclei-rank-0 0 6 nuclei --mapping=nuclei.map --journal $nuclei

if long; then
    cc -std=c11 -D_GNU_SOURCE -O2 -o pictures-of "$examples/ferret/synthetic.c" -lpng -lm && ./pictures-of 40 64-96 1 pictures && ./pictures-of 12 48-96 2 queries
    check compile-index "$DFC" "$examples/ferret/index.df" -O1 --nvcc=none --no-opencl -w -o index
    check compile-ferret "$DFC" "$examples/ferret/ferret.df" -O1 --nvcc=none --no-opencl -w -o ferret
    check index ./index --h=96 --w=96 --device=none
    printf 'segment: a\nextract probe: b\nrank picture: c\n' >ferret.map
    try ferret 4 ferret.map --h=96 --w=96 --images=40 --table=output.csv --page=output.html
fi

cc -std=c11 -o slides "$examples/nbia/synthetic.c" -lpng -ltiff -lm && ./slides 320 300 64 1 learn.png learn.raw && ./slides 300 280 64 2 slide.png slide.raw
check compile-train "$DFC" "$examples/nbia/train.df" --nvcc=none --no-opencl -w -D tile=64 -o train
check compile-nbia "$DFC" "$examples/nbia/nbia.df" --nvcc=none --no-opencl -w -D tile=64 -o nbia
check train ./train --input=learn.png --truth=learn.raw
printf 'analyse#1 classify#1: a\nagain#1 analyse#2 classify#2: b\nagain#2 analyse#3 classify#3 select line frame: c\n' >nbia.map
try nbia 9 nbia.map --sure=0.8 --output=output.csv --map=output.png

cp "$here/programs/stages/worker.df" . && check compile-worker "$DFC" worker.df --no-fuse --nvcc=none --no-opencl -w -o worker
head -c 1280 "$DFC" >in.raw; head -c 960 "$DFC" | tac >other.raw; truncate -s 960 other.raw    # 40 waves, and 30
printf 'read_raw_f32#1 twice: a\nread_raw_f32#2: b\nadd: c\n' >worker.map
try worker 20 worker.map --input=in.raw --other=other.raw

wait
if [ -e dying.so ]; then
    cd folder-nuclei-rank-0 || exit 1
    find . -name 'output*' | grep -qv '\.part$' && fail nuclei-rank-0-early 'a file is there before the run is complete'
    # shellcheck disable=SC2086
    ranks 4 ./nuclei --cluster --mapping=nuclei.map --device=none --resume $nuclei >said.out 2>said.err || fail nuclei-rank-0-resume "$(tail -n 5 said.err)"
    cd ..
fi
for name in "${kills[@]}"; do
    (cd "folder-$name" && { cat said.out; gather; }) >"$name.got"
    [ -e "folder-$name/died" ] || fail "$name-died" 'nobody was killed'
    if [ "$(cat "folder-$name/rc")" = 0 ]; then same "$name" "$name.got" "${name%-rank-*}.one"; else fail "$name" "$(tail -n 5 "folder-$name/said.err" | tr '\n' ' ')"; fi
    [ $name = nuclei-rank-0 ] || expect "$name-told" 0 "the stages are mapped anew: " cat "folder-$name/said.err"
done
