# DF_SKIP and select, in the shape of NBIA: tiles that are not sure at one resolution go on to the next finer one. The counts of each level
# are exact, and results come in order, in every loop and under every policy.
cp "$programs"/nbia.* .
: >none.cu
formulas_for none
check compile "$DFC" nbia.df -o nbia --nvcc=none --no-opencl
./nbia --device=none --waves=300 --workers=1 --print=1 >want
[ "$(tail -n 1 want)" = '253 41 5 right' ] && pass counts || fail counts "$(tail -n 1 want)"
for set in --workers=1 '--workers=1 --inflight=1' --workers=3 '--workers=3 --policy=ws' '--workers=2 --inflight=1' --serial --poison '--workers=2 --trace=t.json'; do
    # shellcheck disable=SC2086
    timeout 150 ./nbia --device=none --waves=300 --print=1 $set >got 2>err
    same "$set" got want
done
# On an emulated device, under every policy: with little memory, launched ahead, replayed, stirred.
./nbia --device=none --waves=100 --workers=1 >counts
for policy in eager ws dmda gp all-gpu $(! long || echo ddfcfs ddwrr random dmdas dmdar pats padas pams heft peft gp-thesis all-cpu); do
    for set in 'DF_EMU_TRIAL=reorder=5 --emu-all --gpu-jobs=3'; do
        # shellcheck disable=SC2086
        timeout 150 env ${set%%--*} ./nbia --device=emu --workers=2 --waves=100 --policy=$policy --${set#*--} >got 2>err
        cmp -s got counts || fail "$policy $set" "$(tail -n 2 got err)"
    done
    pass "$policy on a device"
done
for set in '--serial' '--policy=all-gpu --cuda-graphs=on --inflight=1' '--policy=all-gpu --poison' '--sync-kernels' '--check=variants'; do
    case $set in --serial | --sync*) long || continue ;; esac
    # shellcheck disable=SC2086
    timeout 150 ./nbia --device=emu --waves=100 $set >got 2>err
    same "device $set" got counts
done

# What sinks and ordered nodes got. The tiles of which no level was sure are empty.
./nbia --device=none --waves=300 --stats=json --stats-file=/dev/stderr 2>&1 >/dev/null | grep -o '"sinks": [^]]*]' >got
echo '"sinks": [{"name": "main/report", "waves": 299, "empty": 1}]' >want
same sinks-json got want
./nbia --device=none --waves=300 --stats 2>&1 >/dev/null | grep -A1 '^sink or ordered' | tr -s ' ' >got
printf '%s\n' 'sink or ordered waves empty' 'main/report 299 1' >want
same sinks-text got want

# The example of docs/language.md.
awk '/^```skip$/ { on = 1; next } /^```/ { on = 0 } on' "$DF_SOURCE/docs/language.md" >example.df
check example "$DFC" example.df "$(long && echo --nvcc-flags=-arch=compute_80 || echo --nvcc=none)" -o example
./example --waves=8 --workers=2 >got
printf '%s\n' '0: 1' '1: 1' '2: 1' '3: 103' '4: 1' '5: 1' '6: 1' '7: 107' >want
same example-prints got want

# Streams of different lengths end with the shortest, which is logged once; a stream may skip, and its wave counts. What looks into a run.
cat >streams.df <<'X'
kernel a(out v: i32) stream cpu {{ if (df_wave(call) == 5) return DF_END; if (df_wave(call) == 2) return DF_SKIP; *v = 1; }};
kernel b(out v: i32) stream cpu {{ if (df_wave(call) == 9) return DF_END; *v = (int)df_wave(call); }};
kernel add(in x: i32, in y: i32) ordered cpu {{ printf("%d ", *x + *y); }};
graph main { y = b(); x = a(); add(x, y); }
X
check streams "$DFC" streams.df -o streams
for set in --workers=1 --workers=2 '--workers=2 --policy=ws'; do
    # shellcheck disable=SC2086
    [ "$(./streams --device=none $set)" = '1 2 4 5 ' ] && pass "streams $set" || fail "streams $set" "$(./streams --device=none $set)"
done
[ "$(./streams --device=none --workers=1 --log=info 2>&1 >/dev/null | grep -c "streams differ in length: 'main/a' ended after 5 waves; waves that not all of them have are discarded")" = 1 ] &&
    pass told-once || fail told-once "$(./streams --device=none --workers=1 --log=info 2>&1)"
expect dump-of-nothing 0 'there was no such wave, or it was empty there' ./streams --device=none --dump=main/a:2
expect dump-of-a-token 0 '1 2 4 5' ./streams --device=none --dump=main/a:3
[ -e main.a.v.3.npy ] && pass dumped || fail dumped "$(ls)"

# A kernel that skips is measured, and so are its readers.
cat >measured.df <<'X'
kernel src(out v: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = 1; }};
kernel never(in v: i32[n], out w: i32[n]) cpu {{ (void)v, (void)w; return DF_SKIP; }};
kernel reader(in w: i32[n], out x: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) { if (w[i]) return df_fail(call, "no zero"); x[i] = 1; } }};
kernel sink(in x: i32[n]) cpu {{ (void)x; }};
graph main { v: i32[64] = src(); w = never(v); x = reader(w); y = select(x, v); sink(y); }
X
expect profile 0 '^reader  *1 ' "$DFC" profile measured.df

# Variants of which one skips a wave, and the other does not.
for first in 0 1; do
    printf '%s\n' 'kernel src(out v: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) v[i] = 1; }};' \
        "kernel turns(in v: i32[n], out w: i32[n]) cpu {{ static _Atomic int calls; memcpy(w, v, n * sizeof *w); if (calls++ % 2 == $first) return DF_SKIP; }};" \
        'kernel sink(in w: i32[n]) cpu {{ (void)w; }};' 'graph main { v: i32[4] = src(); w = turns(v); sink(w); }' >turns.df
    "$DFC" turns.df --nvcc=none --no-opencl -o turns
    which=(cpu gpu)
    expect "skips-alone $first" 1 "node 'main/turns', wave 0: the ${which[first]} variant skips this wave, and the ${which[1 - first]} variant does not" \
        ./turns --device=emu --emu-all --check=variants
done

# What fires once may not skip.
sed 's/^kernel src(out v: i32\[n\])/& once/' measured.df >once.df
check once "$DFC" once.df -o once
expect once-skips 1 "node 'main/never', wave 0: returned 2 \(DF_SKIP\), but it fires once, for all waves" ./once

# What fires in a quarter of the waves takes a quarter of the time, and so do the copies of what it reads.
cat >rate.df <<'X'
platform p { cpu h { workers = 1; } gpu g { memory = 1 GiB; h2d = 1 GB/s, 0 us; d2h = 1 GB/s, 0 us; engines = 2; } }
kernel src(out v: f32[k]) cost cpu 1us;
kernel gate(in v: f32[k], out w: f32[k]) cost cpu 1us;
kernel fine(in w: f32[k], out x: f32[k]) cost gpu 1ms;
kernel sink(in x: f32[k]) cost cpu 1us;
graph main { v: f32[100000] = src(); w = gate(v); x = fine(w) @rate(0.25); sink(x) @rate(0.25); }
X
# The readers of what fires so often need no rate of their own.
sed 's/ @rate(0.25); }$/; }/' rate.df >inherited.df
sed '$ s/.*/graph main { v: f32[100000] = src(); w = gate(v); x = fine(w) @rate(0.2); y = fine(w) @rate(0.05); z = select(x, y); sink(z); }/' rate.df >select.df
expect rates-of-graph 0 'fine#2 .*@rate\(0.05\)' "$DFC" select.df --emit=graph
for policy in gp dmda; do for graph in rate inherited; do
    "$DFC" simulate $graph.df --waves=100 --policy=$policy --format=json -o "rates $graph $policy" 2>err || fail "$graph $policy" "$(tail -n 1 err)"
done; done
python3 -c "
import json
def find(x):
    if isinstance(x, dict):
        if 'h2d_bytes' in x: return x
        x = list(x.values())
    for y in x if isinstance(x, list) else []:
        if find(y): return find(y)
for name in 'rate gp', 'inherited gp', 'rate dmda', 'inherited dmda':
    r = find(json.load(open('rates ' + name)))
    print('ok ' + name if r['h2d_bytes'] == 100 * 100000 and 0.025 <= r['makespan_s'] < 0.026 else 'not ok %s: %s' % (name, r))" >rates 2>&1 || fail rates "$(tail -n 1 rates)"
cat rates; ! grep -q '^not ok' rates || failures=$((failures + 1))

# A library says which tokens of its outputs are empty; Python gives None, or a mask.
cp "$programs"/gate.* .
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"
elif grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then skip python "Python is not linked with the sanitizer"
else
    for set in $(! long || echo --workers=2) '' '--device=emu --policy=all-gpu --emu-all'; do
        NVCC=none PYTHONPATH=$DF_BUILD/share/dfc/python "$python" gate.py "$set" >got 2>err
        [ "$(cat got)" = right ] && pass "python $set" || fail "python $set" "$(tail -n 1 err)"
    done
fi

# Kernels of formulas are fused only if all that leaves them is empty in the same waves.
cp "$DF_SOURCE/tests/e2e/programs/skip/unlike.df" .
check unlike-compile "$DFC" unlike.df --nvcc=none --no-opencl -o unlike
expect unlike-waves 0 '^0: 1 0: 101 1: 2 2: 103 2: 3 3: 4 $' sh -c "./unlike --waves=4 | sort | tr '\\n' ' '"
expect unlike-told 0 '^not fused: one and both, line 6: what leaves them may be empty in unlike waves' "$DFC" unlike.df --emit=plan

# Two jobs that are the first to skip, both at once.
check first-compile "$DFC" "$programs/first.df" --nvcc=none --no-opencl -o first
runs=$(long && echo 40 || echo 4)
for run in $(seq $runs); do
    timeout 150 ./first --workers=2 --device=none 2>err || { fail first "run $run: $(head -n 1 err)"; break; }
    [ "$run" = $runs ] && pass first
done

# A sink that nothing reaches is named: a picture needs pixels, and a row of 3 numbers has no extent of 0. One that some wave reaches is not named.
cat > nothing.df <<'X'
import "std/io.df";
kernel some(out a: f32[n <= 5, 3]; from: i32) cpu {{ *n = df_wave(call) < from ? 0 : 1; for (size_t i = 0; i < 3 * *n; i++) a[i] = (float)i; }};
kernel row(in a: f32[n, 3], out r: f32[3])     cpu {{ (void)n; memcpy(r, a, sizeof *a * 3); }};
kernel grey(in a: f32[n, 3], out g: u8[n, 3])  { g[y, x] = u8(a[y, x]); }
arg from: i32 = 9;
graph main {
    a = some(from);
    r = row(a);
    g = grey(a);
    write_npy_f32_2d(a, "a.npy");
    write_raw_f32_2d(a, "a.raw");
    write_csv_f32(r, "r.csv", "");
    write_png(g, "g.png");
    write_tiff(g, "g.tiff");
}
X
check nothing-compile "$DFC" nothing.df -o nothing --nvcc=none --no-opencl
for run in --workers=1 "--workers=2 --policy=gp" --device=emu; do
    rm -f a.npy a.raw
    ./nothing --waves=3 $run >nothing.out 2>&1
    if [ $? = 0 ] && [ "$(grep -cE "^nothing: warning: node 'main/write_(csv_f32|png|tiff)' was not called: what it reads was empty in all waves$" nothing.out)" = 3 ] &&
        [ "$(wc -l <nothing.out)" = 3 ] && grep -aq "'shape': (3, 0, 3)" a.npy && [ "$(wc -c <a.npy)" = 256 ] && [ -f a.raw ] && [ ! -s a.raw ] &&
        ! ls ./*.csv *.png *.tiff >/dev/null 2>&1; then pass "nothing$run"; else fail "nothing$run" "$(head -3 nothing.out)"; fi
done
expect something 0 '^0$' sh -c './nothing --waves=3 --from=2 2>&1 | grep -c "was not called"; [ -s a.npy ]'

# Writers are called for arrays of which an extent is 0, also behind kernels that are left out for them. What a kernel skips is no array.
cat > zeros.df <<'X'
import "std/io.df";
arg rows: str = "";             // of each wave: how many, or s: it is skipped
kernel find(out v: f32[n <= 100, 3], out row: i32[n]; rows: str) cpu {{
    const char c = rows[df_wave(call)], *stop = getenv("STOP_AT");
    int kill(int, int), getpid(void);
    if (stop && atoi(stop) == df_wave(call))
        kill(getpid(), 15);
    if (c == 's')
        return DF_SKIP;
    *n = (size_t)(c - '0');
    for (size_t i = 0; i < 3 * *n; i++)
        v[i] = (float)df_wave(call);
    for (size_t i = 0; i < *n; i++)
        row[i] = 7;
}};
kernel twice(in v: f32[n, m], out w: f32[n, m])    { w[i, j] = 2 * v[i, j]; }
kernel more(in v: f32[n, m], out w: f32[n, m]) cpu {{ for (size_t i = 0; i < n * m; i++) w[i] = v[i] + 1; }};
kernel half(in v: f32[n, m], out w: f32[n / 2, m]) { w[i, j] = v[2 * i, j]; }
kernel first(out r: i32[k]) cpu {{ r[0] = (int32_t)df_wave(call); r[k - 1] = 0; }};
kernel tell(in r: i32[k], in v: f32[n, 3]) ordered resume zero_extents cpu {{
    float sum = 0;
    for (size_t i = 0; i < 3 * n; i++)
        sum += v[i];
    printf("%zu at %d of %zu: %g\n", n, r[0], k, sum);
}};
graph main {
    (v, row) = find(rows);
    r: i32[2] = first();
    tell(r, v);
    t = twice(v);
    w = more(t);
    h = half(v);
    write_npy_f32_2d(v, "all.npy");
    write_npy_f32_2d(w, "w%d.npy");
    write_npy_f32_2d(h, "h%d.npy");
    write_npy_i32(row, "row%d.npy");
    write_raw_i32(row, "row.raw");
    write_raw_i32(row, "row%d.raw");
    write_csv_i32(row, "row.csv", "a,b");
    write_csv_i32(row, "row%d.csv", "a,b");
}
X
check zeros-compile "$DFC" zeros.df -o zeros.run --nvcc=none --no-opencl
mkdir zeros && cd zeros || exit
shapes() { # of the .npy files that are there, and the sizes of the other ones
    grep -aoH "'shape': ([0-9, ]*)" ./*.npy 2>/dev/null | sed "s,^./,,; s/:'shape': / /"
    stat -c '%n %s' *.raw *.csv 2>/dev/null
}
printf '%s\n' 'all.npy (0, 3)' 'h0.npy (0, 3)' 'row0.npy (0,)' 'w0.npy (0, 3)' 'row.raw 0' 'row0.raw 0' 'row.csv 4' 'row0.csv 4' >../want.0
printf '%s\n' '0 at 0 of 2: 0' >../said.0
printf '%s\n' 'all.npy (2, 0, 3)' 'h0.npy (0, 3)' 'h2.npy (0, 3)' 'row0.npy (0,)' 'row2.npy (0,)' 'w0.npy (0, 3)' 'w2.npy (0, 3)' \
    'row.raw 0' 'row0.raw 0' 'row2.raw 0' 'row.csv 4' 'row0.csv 4' 'row2.csv 4' >../want.0s0
printf '%s\n' '0 at 0 of 2: 0' '0 at 2 of 2: 0' >../said.0s0
printf '%s\n' 'all.npy (2, 2, 3)' 'h0.npy (0, 3)' 'h1.npy (1, 3)' 'h2.npy (0, 3)' 'h3.npy (1, 3)' 'row0.npy (0,)' 'row1.npy (2,)' 'row2.npy (0,)' 'row3.npy (2,)' \
    'w0.npy (0, 3)' 'w1.npy (2, 3)' 'w2.npy (0, 3)' 'w3.npy (2, 3)' 'row.raw 16' 'row0.raw 0' 'row1.raw 8' 'row2.raw 0' 'row3.raw 8' \
    'row.csv 12' 'row0.csv 4' 'row1.csv 8' 'row2.csv 4' 'row3.csv 8' >../want.0202
printf '%s\n' '0 at 0 of 2: 0' '2 at 1 of 2: 6' '0 at 2 of 2: 0' '2 at 3 of 2: 18' >../said.0202
: >../want.sss; : >../said.sss
few=(--workers=1 --policy=gp '--device=emu --emu-all --policy=all-gpu')
some=("${few[@]}" '--workers=2 --policy=eager' --serial '--device=emu --emu-all --inflight=4')
for rows in 0 0s0 0202 sss; do
    for run in --workers=1 '--workers=2 --policy=eager' --policy=ws --policy=gp --inflight=1 --serial --device=emu '--device=emu --emu-all --inflight=4' \
        '--device=emu --emu-all --policy=all-gpu' '--device=emu --emu-all --policy=all-gpu --inflight=1' '--device=emu --emu-all --policy=gp'; do
        long || [[ " ${few[*]/%/,} " == *" $run, "* ]] || { [ $rows = 0202 ] && [[ " ${some[*]/%/,} " == *" $run, "* ]]; } || continue
        rm -f ./*
        # shellcheck disable=SC2086
        timeout 150 ../zeros.run --rows=$rows --waves=${#rows} $run --log=error >../zeros.out 2>&1 || fail "zeros $rows $run" "$(head -n 3 ../zeros.out)"
        shapes >../got; same "zeros $rows $run" ../got ../want.$rows
        same "zeros-said $rows $run" ../zeros.out ../said.$rows
    done
done
# A run that goes on behind empty arrays has the same files; in chunks a file for all waves has none of them.
for cut in 0 1 2; do
    rm -f ./*
    run=(../zeros.run --rows=0202 --waves=4 --inflight=1 --workers=1)
    STOP_AT=$cut timeout 150 "${run[@]}" --journal >../zeros.out 2>&1
    grep -q 'stopped by SIGTERM after [1-3] waves; --resume goes on' ../zeros.out || fail "zeros-stop $cut" "$(head -n 3 ../zeros.out)"
    check "zeros-resume $cut" timeout 150 "${run[@]}" --resume
    shapes >../got; same "zeros-resumed $cut" ../got ../want.0202
    rm -f ./*
    check "zeros-chunk $cut" ../zeros.run --rows=0202 --waves=0:$((cut + 1)) --out=a
    check "zeros-rest $cut" ../zeros.run --rows=0202 --waves=$((cut + 1)):4 --out=b
    check "zeros-merge $cut" "$DFC" merge --waves=4 a b
    shapes >../got; same "zeros-chunks $cut" ../got ../want.0202
done
cd ..
