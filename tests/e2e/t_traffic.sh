# What crosses the link, to the byte: a version that copies more than it must is a failure here, however right its results are.
formulas_for none
cat > traffic.df <<'X'
param n = 4096;
kernel make(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i; }};
kernel table(out v: i32[k]) once cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }};
kernel zero(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = 0; }};
kernel add(in a: i32[k], in b: i32[k], out c: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) c[i] = a[i] + b[i]; }} gpu {{ }};
kernel bump(inout v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i]++; }} gpu {{ }};
kernel check(in v: i32[k]; more: i32) ordered cpu {{
    for (size_t i = 0; i < k; i++)
        if (v[i] != (int32_t)i + more)
            return df_fail(call, "element %zu is %d", i, v[i]);
}};
X
graph() { cp traffic.df "$1.df"; echo "graph main { $2 }" >> "$1.df"; "$DFC" "$1.df" -o "$1" --nvcc=none 2>/dev/null || fail "$1-compiles" "exit $?"; }
# a graph's copies in and out of the GPU: NAME WAVES H2D-BLOCKS D2H-BLOCKS OPTIONS…
block=16384
traffic() {
    local name=$1 waves=$2 in=$3 out=$4 got want; shift 4
    got=$("./${name%%-*}" --device=emu --waves="$waves" --stats=json "$@" 2>&1 | sed -n 's/.*"h2d_copies": \([0-9]*\), "h2d_bytes": \([0-9]*\), "d2h_copies": \([0-9]*\), "d2h_bytes": \([0-9]*\).*/\1 \2 \3 \4/p')
    want="$in $((in * block)) $out $((out * block))"
    [ "$got" = "$want" ] && pass "$name" || fail "$name" "copies in, bytes, copies out, bytes: $got; expected $want"
}
graph chain 'v: i32[n] = make(); t: i32[n] = table(); a = add(v, t) @gpu; b = bump(a) @gpu; c = bump(b) @gpu; check(c, 3);'
for policy in eager ws dmda gp-thesis all-gpu; do
    traffic "chain-$policy" 10 11 10 --policy=$policy   # a block in and one out for each wave; the table once for all of them
done
# Several readers on the GPU share one copy in; what only the GPU reads never leaves it.
graph shared 'v: i32[n] = make(); t: i32[n] = table(); a = add(v, t) @gpu; b = add(v, t) @gpu; c = add(a, t) @gpu; _ = add(b, c) @gpu; check(c, 2);'
for policy in eager dmda all-gpu; do traffic "shared-$policy" 10 11 10 --policy=$policy; done
# All on the CPU: nothing crosses.
graph host 'v: i32[n] = make(); t: i32[n] = table(); a = add(v, t) @cpu; b = bump(a) @cpu; check(b, 2);'
for policy in eager ws dmda; do traffic "host-$policy" 10 0 0 --policy=$policy; done
# A GPU with room for one job at a time evicts, and writes back only what is read again.
graph tight 'v: i32[n] = make(); t: i32[n] = table(); a = add(v, t) @gpu; b = bump(a) @gpu; check(b, 2);'
traffic tight-once 1 2 1 --policy=all-gpu --gpu-mem=$((3 * block))
traffic tight-waves 10 11 10 --policy=all-gpu --inflight=1 --gpu-mem=$((3 * block))
# A job's inputs that the host has go to the device together, if the link can move them in its latency. A trace wants each copy's own times.
graph pair 'v: i32[n] = make(); w: i32[n] = zero(); a = add(v, w) @gpu; check(a, 0);'
check far-compiles "$DFC" pair.df -o far --nvcc=none -D n=65536
batched() { # NAME PROGRAM COPIES OPTIONS…
    local name=$1 program=$2 want=$3 got; shift 3
    got=$("./$program" --device=emu --policy=ws --waves=10 --inflight=1 --stats=json "$@" 2>&1 | sed -n 's/.*"batched_copies": \([0-9]*\).*/\1/p')
    [ "$got" = "$want" ] && pass "$name" || fail "$name" "copies in batches: $got; expected $want"
}
batched together pair 20
batched too-large far 0
batched traced pair 0 --trace=t.json
expect together-said 0 '^emu0: 20 copies went in 10 batches ' ./pair --device=emu --policy=ws --waves=10 --inflight=1 --stats=totals

# The simulator copies what the engine copies: accs, what final nodes read, parts with and without halo, and waves that are empty.
agree() { # NAME GRAPH
    local name=$1 options=(--policy=all-gpu --waves=8) got want
    cp "$programs/agree.df" "$name.df"; echo "graph main { v: i32[64, 16] = make(); $2 }" >>"$name.df"
    "$DFC" "$name.df" -o "$name" --nvcc=none -w --parts=1 2>/dev/null || fail "$name-compiles" "exit $?"
    got=$("./$name" --device=emu --platform="$name.df" --stats=json "${options[@]}" 2>&1 | grep -oE '"(h2d_bytes|d2h_bytes)": [0-9]+' | head -n 2)
    want=$("$DFC" simulate "$name.df" --parts=1 -w --format=json "${options[@]}" | grep -oE '"(h2d_bytes|d2h_bytes)": [0-9]+')
    if [ "$got" = "$want" ] && [ "$got" = "$(printf '"h2d_bytes": %d\n"d2h_bytes": %d' "$3" "$4")" ]; then pass "agree-$name"
    else fail "agree-$name" "engine: ${got//$'\n'/ }; simulator: ${want//$'\n'/ }; expected $3 $4"; fi
}
agree acc '(s, n) = collect(v); count(n); check(s);' 32768 4128
agree final '(s, n) = collect(v); b = twice(s) @parts(2); check(b); count(n);' 36864 8224
agree parts 'b = blur(v) @parts(3); c = twice(b) @parts(3); check(c);' 36864 32768
agree halo 'b = blur(v) @parts(4); c = blur(b) @parts(4); check(c);' 77824 65536
agree skip 'w = gate(v); b = blur(w) @rate(0.25); check(b) @rate(0.25);' 8192 8192
agree skipped-acc 'w = gate(v); b = twice(w) @rate(0.25) @parts(2); (s, n) = collect(b) @rate(0.25); count(n) @rate(0.25); check(s);' 16384 12296
