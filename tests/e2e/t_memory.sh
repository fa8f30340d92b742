# Too little memory for dfc, METIS or a program: said in words with exit status 1. Nothing ends by a signal, no library aborts.
if nm "$DF_BUILD/lib/libdf.a" 2>/dev/null | grep -qE '__(asan|tsan)_'; then skip limits "a sanitizer reserves address space of its own"; exit 0; fi
cat > wave.df <<'X'
kernel src(out a: f32[k]) cost cpu 1us gpu 1us;
kernel f(in a: f32[k], in b: f32[k], out c: f32[k]) cost cpu 5us gpu 1us;
kernel sink(in a: f32[k]) cost cpu 1us;
graph main {
    for i in 0..100 {
        a[i, 0]: f32[64] = src();
        for j in 1..100 { if i == 0 { a[i, j] = f(a[i, j - 1], a[i, j - 1]); } else { a[i, j] = f(a[i, j - 1], a[i - 1, j]); } }
        sink(a[i, 99]);
    }
}
X
cp "$DF_SOURCE"/examples/sum/sum.df "$DF_SOURCE"/examples/sum/vec.* . && check compiles "$DFC" sum.df -o sum --nvcc=none

# limits NAME FIRST STEP LAST COMMAND…: under each limit of address space (KiB) it ends well, or with status 1 and a message.
limits() {
    local name=$1 first=$2 step=$3 last=$4 kib said status refused=0 done_well=0; shift 4
    for kib in $(seq "$first" "$step" "$last"); do
        said=$(ulimit -c 0; ulimit -v "$kib"; "$@" 2>&1 >/dev/null); status=$?
        if [ $status = 0 ]; then
            done_well=$((done_well + 1))
        elif [ $status = 1 ] && grep -q 'error: ' <<<"$said"; then
            refused=$((refused + 1))
        elif [ $status = 139 ] && ! (ulimit -c 0; ulimit -v "$kib"; "$1" --help) >/dev/null 2>&1; then
            continue                    # nor CUDA's runtime, which is linked into it and begins before main()
        elif [ $status != 127 ] || ! grep -qE 'shared librar|initial thread' <<<"$said"; then # not even the loader had enough
            fail "$name" "with $kib KiB: exit $status: $said"; return
        fi
    done
    [ $refused -gt 0 ] && [ $done_well -gt 0 ] && pass "$name" || fail "$name" "$refused refused, $done_well done: the limits test nothing"
}
limits partition 12000 1400 24600 "$DFC" partition wave.df
limits partition-picture 12000 3000 24000 "$DFC" partition wave.df --dot=wave.dot
limits app 5000 12000 101000 ./sum
limits app-emulated 5000 12000 101000 ./sum --device=emu
