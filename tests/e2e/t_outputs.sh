# Where results go: full disks, closed descriptors, devices, links and folders. What could not be written is said, with exit status 1.
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* .
check compiles "$DFC" sum.df -o sum --nvcc=none
echo 'kernel seven(out v: u8) cpu {{ v[0] = 7; }}; kernel say(in v: u8) cpu {{ printf("%d\n", v[0]); }};
graph main { v = seven(); say(v); }' > careless.df
check compiles-careless "$DFC" careless.df -o careless
# said NAME PATTERN COMMAND…: as expect, with the standard output on a full disk, then closed.
said() {
    local name=$1 pattern=$2; shift 2
    expect "$name-full" 1 "$pattern" bash -c '"$@" 2>&1 >/dev/full' _ "$@"
    expect "$name-closed" 1 "$pattern" bash -c '"$@" 2>&1 >&-' _ "$@"
}
lost='error: cannot write to the standard output'
if [ -c /dev/full ]; then
    said help "$lost" "$DFC" --help
    said help-command "$lost" "$DFC" compile --help
    said version "$lost" "$DFC" --version
    said emit "$lost" "$DFC" sum.df --emit=plan
    said partition "$lost" "$DFC" partition sum.df
    said app "$lost" ./careless
    said app-help "$lost" ./sum --help
    expect version-why 1 "$lost: No space left on device$" bash -c '"$1" --version 2>&1 >/dev/full' _ "$DFC"
    printf 'kernel f(out a: u8) cost cpu 1us;\ngraph main { for i in 0..200 { _ = f(); } }\n' >many.df
    expect long-why 1 "$lost: Input/output error$" bash -c '"$1" many.df --emit=metis 2>&1 >/dev/full' _ "$DFC" # one write, too long to be kept, is not tried again
    ln -s /dev/full full.svg
    expect picture-full 1 "error: cannot write 'full.svg': No space left on device" "$DFC" partition sum.df -o full.svg
else
    skip full-disk "no /dev/full here"
fi

# Each option of a command that names a file: in a folder that is not there, and on a full disk. The command says so, and ends with exit status 1.
echo 'void f(int *a, int n) { a[n - 1] = 0; }' >f.c
echo '[{"name":"a","ph":"X","pid":1,"tid":1,"ts":0,"dur":2}]' >t.json
cluster=$DF_SOURCE/examples/cluster
writes() { # FILE COMMAND…, where FILE is a word of the command, or the end of one
    local file=$1 name=${*:2} ending=${1##*.}; shift
    expect "no-folder $name" 1 "^dfc: error: cannot write 'no/$file': No such file or directory$" "$DFC" "${@/%$file/no/$file}"
    [ -c /dev/full ] || return 0
    [ -e "full.$ending" ] || ln -s /dev/full "full.$ending"
    expect "full $name" 1 "^dfc: error: cannot write '(full.$ending|/dev/full)': No space left on device$" "$DFC" "${@/%$file/full.$ending}"
}
writes x.svg partition sum.df -o x.svg
writes x.dot partition sum.df --dot=x.dot
writes x.svg partition sum.df --svg=x.svg
writes x.svg partition sum.df --memory=x.svg
writes x.csv partition sum.df --schedule=x.csv
writes x.csv simulate sum.df --format=csv -o x.csv
writes x.svg simulate sum.df --policy=gp --gantt=x.svg
writes x.json simulate sum.df --policy=gp --schedule=x.json
writes x.txt explain sum.df -o x.txt
writes x.txt doctor --quick -o x.txt
writes x.svg gantt t.json -o x.svg
writes x.df probe --quick --device=none -o x.df
writes x.df wrap f.c -o x.df
writes x.txt sum.df --emit=plan -o x.txt
writes x.csv compare sum.df --policy=eager --nvcc=none --csv=x.csv
for o in -o\ x.csv --sizes=x.csv --plot=x.svg; do
    writes x.${o##*.} scale "$cluster/nbia-tiles.df" --platform="$cluster/anthill-two.df" --waves=100 --stream-policy=odds $o
done
for o in -o\ x.csv --plot=x.svg; do writes x.${o##*.} scale "$cluster/hedpm.df" --platform="$cluster/hedpm-site.df" --waves=10 --nodes=1 $o; done
for o in map svg; do writes x.$o map "$cluster/hedpm.df" --platform="$cluster/hedpm-site.df" --budget=10 --show=hedpm -o x.$o; done

# A file opened while stdout is closed does not get what is printed.
"$DFC" partition sum.df --dot=closed.dot >&- 2>/dev/null
"$DFC" partition sum.df --dot=open.dot >/dev/null 2>&1
same closed-stdout-spares-files closed.dot open.dot

# A trace: a wrong place is found before the run, devices and links are not replaced.
expect trace-no-folder 1 "error: cannot write 'no/t.json': No such file or directory" ./sum --trace=no/t.json
[ "$(./sum --trace=no/t.json 2>/dev/null | wc -l)" = 0 ] && pass trace-refused-before-the-run || fail trace-refused-before-the-run "it ran"
expect trace-folder 1 "error: cannot write '.': it is a folder" ./sum --trace=.
expect trace-empty 2 "error: --trace needs a name, and this one is empty" ./sum --trace=
[ -c /dev/full ] && expect trace-full 1 "error: cannot write '/dev/full': No space left on device" ./sum --trace=/dev/full
echo old > real.json && ln -s real.json linked.json && check trace-through-link ./sum --trace=linked.json
[ -L linked.json ] && grep -q traceEvents real.json && pass trace-link-kept || fail trace-link-kept "$(ls -l linked.json real.json)"
mkfifo pipe && { cat pipe > piped.json & } && check trace-into-pipe ./sum --trace=pipe && wait $!
[ -p pipe ] && grep -q traceEvents piped.json && pass trace-pipe-kept || fail trace-pipe-kept "$(ls -l pipe piped.json)"
[ -z "$(find . -name '.dfc-*')" ] && pass no-temporaries || fail no-temporaries "$(find . -name '.dfc-*')"

# hwloc says nothing where there is no /sys, unless it is asked to.
mkdir nosys; export OCL_ICD_VENDORS=$PWD/nosys # PoCL does not start without it
unset HWLOC_SYNTHETIC
if HWLOC_FSROOT=$PWD/nosys HWLOC_HIDE_ERRORS=0 "$DFC" doctor --quick 2>&1 | grep -q hwloc; then
    for c in "$DFC doctor --quick" "./sum --device=none --policy=eager --workers=$(nproc)"; do
        said=$(HWLOC_FSROOT=$PWD/nosys $c 2>&1 >/dev/null)
        [ -z "$said" ] && pass "no-sys ${c##*/}" || fail "no-sys ${c##*/}" "$said"
    done
else
    skip no-sys "this hwloc does not mind"
fi
unset OCL_ICD_VENDORS

# Options that describe the machine have the same bounds in dfc as in the program.
for o in workers=0 workers=257 inflight=0 inflight=1000001 gpu-jobs=0 gpu-jobs=1025 workers=-1 workers= workers=2x; do
    expect "bound-$o" 2 "error: --${o%%=*}=.*: ('[a-z]+' or )?a whole number from 1 to [0-9]+ is expected" "$DFC" sum.df --emit=plan "--$o"
done
for o in gpu-mem=0 gpu-mem=-1 gpu-mem=1QB gpu-mem=; do
    expect "bound-$o" 2 "error: --gpu-mem=.*: a size is expected" "$DFC" sum.df --emit=plan "--$o"
done
