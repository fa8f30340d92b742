# @worker: sources and sinks on the ranks that compute. The same files as of one process, also if ranks die; ranks with other files are refused; what
# cannot be there is told before anything is written; and the example of docs/clusters.md.
formulas_for none
export PATH=${DFC%/*}:$PATH NVCC=none
cat >tiles.df <<'END'
import "std/raw.df";
import "std/npy.df";
param n = 64;
arg input: str;
arg more: str = "";
arg output: str = "out/%03d.raw";
arg sums: str = "sums.raw";
arg us: i64 = 0;
kernel slow(in a: f32[n], out b: f32[n]; us: i64) cpu {{
#include <unistd.h>
    if (us > 0) usleep((useconds_t)us);
    for (size_t i = 0; i < n; i++) b[i] = a[i] + (float)df_wave(call);
}};
kernel few(in b: f32[n], out s: f32[k]) cpu {{ if (df_wave(call) % 5 == 2) return DF_SKIP; for (size_t i = 0; i < k; i++) s[i] = b[i] + b[i + 1]; }};
kernel tag(out t: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) t[i] = (float)df_wave(call); }};
kernel add(in b: f32[n], in t: f32[n], out c: f32[n]) { c[i] = b[i] + t[i]; }
graph main {
    a: f32[n] = read_raw_f32(input) @worker;
    t: f32[n] = tag() @worker;
    b = slow(a, us);
    c = add(b, t);
    s: f32[4] = few(c);
    write_raw_f32(c, output) @worker;
    write_npy_f32(s, more) @worker;
    write_raw_f32(s, sums);
}
END
check compile "$DFC" tiles.df --no-opencl -o tiles
mkdir one out
head -c $((256 * 120)) "$DFC" >in.raw           # 120 waves
check one ./tiles --input=in.raw --output=one/%03d.raw --more=one/s%d.npy --sums=one.raw --device=none
check one-files test "$(ls one | wc -l)" = 216  # 120, and 96 that are not empty

# ---- what needs no mpirun: it is shown where other hints are ----
expect shown-in-graph 0 '^n0 main/read_raw_f32 w0 \(\) -> v0 a @worker$' "$DFC" --emit=graph tiles.df
check picture "$DFC" partition tiles.df -o tiles.svg
expect shown-in-picture 0 '@worker' cat tiles.svg

have_ranks ranks || return 0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
ranks() { # N PROGRAM ARGS…
    local n=$1; shift
    timeout 150 mpirun -n "$n" "$@" --cluster --workers=1 --device=none
}
# as_one NAME: what ranks have written is what one process has, and nothing else is there.
as_one() {
    local got; got=$(diff -r out one 2>&1; cmp sums.raw one.raw 2>&1)
    [ -z "$got" ] && pass "$1" || fail "$1" "$(head -n 5 <<<"$got" | tr '\n' ' ') $(tail -n 3 said 2>/dev/null)"
    rm -rf out sums.raw; mkdir out
}
files='--input=in.raw --output=out/%03d.raw --more=out/s%d.npy'
for n in $(! long || echo 2 3) 4; do
    # shellcheck disable=SC2086
    check ranks-$n ranks $n ./tiles $files
    as_one ranks-$n-same
done
# shellcheck disable=SC2086
check inflight ranks 3 ./tiles $files --inflight=1 --window=5
as_one inflight-same
# shellcheck disable=SC2086
check fewer-waves ranks 3 ./tiles $files --waves=7
check fewer-waves-same test "$(ls out | wc -l) $(cmp out/006.raw one/006.raw 2>&1)" = "13 "
rm -rf out; mkdir out

# A list of pictures, of which a rank opens its own alone.
if grep -q png "$DF_BUILD/obj/flags" || [ -e /usr/include/png.h ]; then
    cat >pictures.df <<'END'
import "std/png.df";
import "std/raw.df";
arg input: str = "";
kernel paint(out p: u8[h, w]) cpu {{ for (size_t i = 0; i < h * w; i++) p[i] = (uint8_t)(df_wave(call) * 7 + (int64_t)i); }};
kernel invert(in p: u8[h, w], out q: u8[h, w]) { q[y, x] = u8(255 - p[y, x]); }
graph main {
#if 0
    p: u8[5, 9] = paint();
    write_png(p, "p%02d.png");
#else
    p: u8[5, 9] = read_png(input) @worker;
    q = invert(p);
    write_png(q, "out/%d.png") @worker;
#endif
}
END
    sed '/^#if/d; /^#else/,/^#endif/d' pictures.df >paint.df; sed '/^#if/,/^#else/d; /^#endif/d' pictures.df >invert.df
    check compile-pictures "$DFC" invert.df --no-opencl -o invert
    check paint "$DFC" run paint.df -- --waves=23
    check pictures-one ./invert --input='p*.png' --device=none
    rm -rf inverted; mv out inverted; mkdir out
    check pictures ranks 4 ./invert --input='p*.png'
    check pictures-same diff -r out inverted
    check pictures-many test "$(ls out | wc -l)" = 23
    rm -rf out; mkdir out
fi

# ---- what is refused ----
expect one-file 1 "^tiles: error: --cluster: node 'main/write_raw_f32#1' is '@worker', and writes one file for all waves, which no rank has in order: with %d in its name each wave has a file$" \
    ranks 2 ./tiles --input=in.raw --output=all.raw
check one-file-nothing test ! -e all.raw
mkfifo pipe
expect pipe 1 "^tiles: error: --cluster: 'pipe' can be read once only, and not by all ranks, as '@worker' says$" ranks 2 ./tiles --input=pipe
cat >late.df <<'END'
import "std/raw.df";
arg input: str;
kernel sum(in a: u8[n], out s: u8[n]) ordered cpu {{ for (size_t i = 0; i < n; i++) s[i] = a[i]; }};
kernel mine(in s: u8[n]) cpu {{
#include <df_io.h>
    struct df_output *to;
    char *path;
    int begins;
    if (df_wave(call) == 3) return df_output_append(call, "mine.raw", &to, &begins);
    if (df_output_path(call, "mine%d.raw", 0, &path) != DF_OK || df_output_open(call, path, &to) != DF_OK) return DF_FAILED;
    fputc(s[0], df_output_resume(to));
    if (df_wave(call) == 5 && df_output_pause(call, to) != DF_OK) { df_output_close(to, 0, NULL); return DF_FAILED; }
    return df_output_close_job(call, to, 1);
}};
graph main { a: u8[8] = read_raw_u8(input); s = sum(a); mine(s) @worker; }
END
check compile-late "$DFC" late.df --no-opencl -o late
expect behind-tail 1 "^late: error: --cluster: node 'main/mine' is '@worker', and reads what node 'main/sum' makes, which is on the first rank because all waves come there in order$" \
    ranks 2 ./late --input=in.raw
sed 's/s = sum(a); mine(s)/mine(a)/' late.df >appends.df
check compile-appends "$DFC" appends.df --no-opencl -o appends
expect appends 1 "wave 3: 'mine.raw' is one file that all waves make together, so ranks cannot write it \('@worker'\): with %d in the name each wave has a file of its own$" \
    ranks 2 ./appends --input=in.raw --window=1 --inflight=1
sed 's/== 3) return df_output_append/== -3) return df_output_append/' appends.df >stays.df
check compile-stays "$DFC" stays.df --no-opencl -o stays
expect stays 1 "wave 5: this file is open from wave to wave, so ranks cannot write it \('@worker'\): each wave needs a file of its own$" \
    ranks 2 ./stays --input=in.raw --window=1 --inflight=1
check refused-rooms test -z "$(ls -Ad .dfc-* 2>/dev/null)"
rm -f mine*.raw

# A rank sees another file: it takes no part, and the result is that of the others.
mkdir elsewhere; ln -s ../out elsewhere/out
# shellcheck disable=SC2016
other='[ $OMPI_COMM_WORLD_RANK != 2 ] || cd elsewhere; exec "$0" "$@"'
refused() { # NAME PATTERN
    # shellcheck disable=SC2086
    timeout 150 mpirun --enable-recovery -n 3 sh -c "$other" "$PWD/tiles" $files --cluster --workers=1 --device=none >said 2>&1
    grep -qE "^tiles: warning: rank 2 on .* is refused: $2\$" said && pass "$1" || fail "$1" "$(head -n 5 said)"
    as_one "$1-same"
}
refused no-file "it does not find 'in.raw'"
head -c 256 in.raw >elsewhere/in.raw; refused shorter "'in.raw' has 256 bytes there, and 30720 on rank 0"
cp in.raw elsewhere/in.raw; touch -d '2001-01-01' elsewhere/in.raw; refused other-time "'in.raw' was changed at another time there than on rank 0"

# ---- ranks that die, and runs that go on ----
wait_for() { for _ in $(seq 1000); do [ "$(ls "$1" 2>/dev/null | wc -l)" -ge "$2" ] && return; sleep 0.02; done; fail wait "$1 has not $2 files"; }
# shellcheck disable=SC2016
begin() { rm -f pid.*; mpirun --enable-recovery -n "$1" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec ./tiles "$@"' sh $files --cluster --workers=1 --device=none --heartbeat-timeout=1s --us=20000 "${@:2}" >said 2>&1 & launcher=$!; }
begin 4; wait_for out 20; kill -9 "$(cat pid.2)"
wait $launcher; as_one killed
expect killed-told 0 '^tiles: warning: rank 2 on .* counts as dead' cat said
begin 3 --resume; wait_for out 20
for _ in $(seq 1000); do grep -q '^done ' tiles.journal 2>/dev/null && break; sleep 0.02; done # a tile is written before its wave is accepted
kill -9 $launcher; wait $launcher 2>/dev/null
for rank in 0 1 2; do while kill -0 "$(cat pid.$rank)" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$(cat pid.$rank)/status" 2>/dev/null; do sleep 0.02; done; done
expect half 0 '^done ' cat tiles.journal
# shellcheck disable=SC2086
check resumed ranks 4 ./tiles $files --resume --us=20000
as_one resumed-same; rm -f tiles.journal
begin 3 --resume; wait_for out 20; kill -USR1 "$(cat pid.0)"; wait $launcher
expect stopped 0 '^tiles: stopped by SIGUSR1 after [0-9]+ waves; --resume goes on$' cat said
# shellcheck disable=SC2086
check in-one-process ./tiles $files --resume --us=20000 --device=none
as_one in-one-process-same; rm -f tiles.journal

# ---- the example of docs/clusters.md ----
mkdir page && cd page || exit 1
sed -n '/^## Files on the ranks/,/^## With Slurm/p' "$DF_SOURCE/docs/clusters.md" | awk '/^```/ { kind = kind ? "" : NF > 1 ? "file" : substr($1, 4)
    if (kind == "") next
    name = kind == "file" ? $2 : kind; printf "" > name; next }
    kind { print > name }'
if sh -e sh >said 2>&1; then pass page; else fail page "$(tail -n 5 said)"; fi
while IFS= read -r line; do grep -qxF -- "$line" said && pass "page-says-$line" || fail "page-says-$line" "$(head -n 5 said)"; done <text
