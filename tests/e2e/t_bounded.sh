# Extents that differ from wave to wave: random graphs under policies, devices, small memories and 1 to 8 waves in flight, beside what
# programs/bounded/draw.py computes; failures that name node, wave and port; dumps; the example of docs/language.md.
# DF_BOUNDED="FIRST LAST" gives other seeds.
formulas_for none
one=--nvcc-flags=-arch=compute_80    # for two of the programs, and one architecture: quicker; tests/e2e/t_sum.sh has them all
cp "$programs"/* .
read -r first last <<<"${DF_BOUNDED:-2 2}"
for ((seed = first; seed <= last; seed++)); do
    python3 draw.py "$seed" 20 12
    "$DFC" -w graph.df $one --no-opencl -o graph >err 2>&1 || { fail "random-$seed" "$(head -n 3 err)"; continue; }
    for o in --workers=1 '--workers=2 --inflight=1' '--workers=3 --policy=eager --inflight=8' '--workers=2 --policy=dmda --poison' \
             '--device=emu --emu-all --policy=all-gpu' '--device=emu --emu-all --policy=all-gpu --cuda-graphs=on --gpu-jobs=3' \
             '--device=emu --emu-all --policy=dmda --workers=2 --inflight=8 --gpu-mem=32768' '--device=emu --emu-all --policy=random --inflight=3'; do
        # shellcheck disable=SC2086
        timeout 150 ./graph --waves=12 $o 2>err | sort >got; same "random-$seed $o" got want
    done
done

# What the kernels decide is checked, and every failure says of whom it is.
cat >fails.df <<'X'
arg what: i32 = 0;
kernel load(out p: u8[h <= 9, w <= 5]; what: i32) cpu {{
    *h = what == 1 && df_wave(call) == 2 ? 10 : 4;
    *w = 3;
    memset(p, 1, 12);
}};
kernel other(out p: u8[h <= 9, w <= 5]; what: i32) cpu {{
    *h = what == 2 && df_wave(call) == 3 ? 5 : 4;
    *w = 3;
    memset(p, 1, 15);
}};
kernel add(in a: u8[h, w], in b: u8[h, w], out c: u8[h, w]) { c[y, x] = wrap_u8(a[y, x] + b[y, x]); }
kernel less(in a: u8[n], in b: u8[n - 1]) ordered cpu {{ (void)a; (void)b; }};
kernel list(out a: u8[n <= 9], out b: u8[m <= 8]; what: i32) cpu {{
    *n = 5;
    *m = what == 3 ? 3 : 4;
    a[0] = b[0] = 1;
}};
kernel grow(in a: u8[n], out b: u8[10 - n]) cpu {{ b[0] = a[0]; }};
kernel sink(in a: u8[h, w]) ordered cpu {{ (void)a; }};
kernel end(in a: u8[n]) ordered cpu {{ (void)a; }};
kernel first(out v: u8[n <= 3]; what: i32) once cpu {{ *n = what == 5 ? 0 : 2; v[0] = 1; }};
graph main {
    a = load(what);
    b = other(what);
    c = add(a, b);
    sink(c);
    (l, m) = list(what);
    less(l, m);
    v = first(what);
    end(v);
}
X
check fails-compile "$DFC" fails.df --nvcc=none --no-opencl -o fails
check fails-not ./fails --waves=4
for o in --workers=1 --workers=2 '--device=emu --emu-all --policy=all-gpu'; do
    # shellcheck disable=SC2086
    {
        expect "too-large $o" 1 "^fails: error: node 'main/load', wave 2: extent 1 of 'p' is 10, and it may be at most 9$" ./fails --waves=4 --what=1 $o
        expect "meet $o" 1 "^fails: error: node 'main/add', wave 3: dimension h is 4 from 'a', made by 'main/load', but 5 from 'b', made by 'main/other'$" \
            ./fails --waves=4 --what=2 $o
        expect "derived $o" 1 "^fails: error: node 'main/less', wave 0: extent 1 of 'b', made by 'main/list' is 3, but its other inputs make it 4$" \
            ./fails --waves=1 --what=3 $o
        expect "once $o" 1 "^fails: error: node 'main/first', wave 0: an extent of its outputs is 0, but it fires once, for all waves, and 1 is the least$" ./fails --waves=1 --what=5 $o
    }
done
sed 's/less(l, m);/g = grow(l); less(l, m); end(g);/; s/\*n = 5;/*n = what == 4 ? 3 : 9;/; s/\*m = what == 3 ? 3 : 4;/*m = *n - 1;/' fails.df >grow.df
check grow-compile "$DFC" grow.df --nvcc=none --no-opencl -o grow
expect grow 1 "^grow: error: node 'main/grow', wave 0: extent 1 of 'b' is 7, and it may be at most 1$" ./grow --waves=1 --what=4

# Whoever looks at tokens sees this wave's: dumps, comparing variants, profiles.
check dump ./fails --waves=2 --dump=main/load --dump-dir=.
python3 - <<'X' && pass dump-shape || fail dump-shape "$(head -c 128 main.load.p.0.npy | tr -d '\0')"
header = open("main.load.p.0.npy", "rb").read()
assert b"'shape': (4, 3)" in header and header.endswith(b"\1" * 12), header
X
check variants ./fails --waves=3 --check=variants --device=emu --emu-all
check profile "$DFC" profile fails.df --nvcc=none --max-time=5ms

# A kernel that could be divided reads tokens of each wave's extents.
printf '%s\n' '1 rows: 999, then -1' '2 rows: 2002, then -1' '3 rows: 3002, then -1' >want
for parts in '' --parts=3; do
    # shellcheck disable=SC2086
    check "split-compile $parts" "$DFC" split.df $parts --nvcc=none --no-opencl -o split
    for o in --workers=1 --workers=3 '--device=emu --emu-all --policy=all-gpu'; do
        # shellcheck disable=SC2086
        ./split --waves=3 $o >got 2>&1; same "split $parts $o" got want
    done
done

# The examples of docs/language.md.
awk '/^### /{ on = $0 == "### Extents of each wave" } /^```/{ if (!code && on) n++; code = !code; next } on && code { print > ("example" n) }' \
    "$DF_SOURCE/docs/language.md"
cp example1 peaks.df; check example "$DFC" peaks.df --nvcc=none --no-opencl -o peaks
for o in --workers=1 --workers=3 '--device=emu --emu-all --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./peaks --waves=4 $o >got 2>&1; same "example $o" got example2
done
cp example3 count.df; check example-bounds "$DFC" count.df --nvcc=none --no-opencl -o count
./count --waves=5 >got 2>&1; same example-bounds-of-calls got example4
# A number where a kernel leaves the bound open: the extent is exact, so readers may ask for that number.
cat >exact.df <<'X'
import "std/npy.df";
arg odd: i32 = 0;
kernel rows(out v: f32[n <= _, m <= _]; odd: i32) cpu {{
    *n = (size_t)df_wave(call) % 5 + 1;
    if (odd && df_wave(call) == 2) *m = 11;
    for (size_t i = 0; i < *n * *m; i++)
        v[i] = (float)i;
}};
kernel grow(in v: f32[n, 12], out w: f32[n, 12])  { w[i, j] = v[i, j] + 1; }
kernel both(in v: f32[n, m], out w: f32[n, m])    { w[i, j] = v[i, j] * 2; }
kernel mean(in v: f32[n, 12], out s: f32[12])     { s[j] = sum(i in 0..n: v[i, j]) / n; }
kernel first(in v: f32[n, m], out o: f32[m]) cpu {{ memcpy(o, v, m * sizeof *o); (void)n; }};
kernel show(in s: f32[12], in o: f32[12]) ordered cpu {{ printf("%lld: %g %g\n", (long long)df_wave(call), s[11], o[11]); }};
graph make(out v: f32[n <= 1000, 12]; odd: i32) { v = rows(odd); }
graph main {
    v = make(odd);
    w: f32[n <= 7, 12] = rows(0);
    a = grow(v);
    b = both(a);
    s = mean(b);
    o = first(w);
    write_npy_f32_2d(b, "b%d.npy");
    show(s, o);
}
X
check exact-compiles "$DFC" exact.df "$(long && echo $one || echo --nvcc=none)" -o exact
printf '0: 24 11\n1: 36 11\n2: 48 11\n3: 60 11\n' >want
for o in --workers=1 '--workers=2 --policy=eager' '--device=emu --emu-all --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./exact --waves=4 $o >got 2>&1; same "exact $o" got want
done
head -c 100 b2.npy | tr -d '\000' >head
expect exact-npy 0 "'shape': \(3, 12\)" cat head
expect exact-fails 1 "node 'main/make/rows', wave 2: extent 2 of 'v' is 11, and the call says that it is 12: 'm <= 12' takes less" ./exact --waves=4 --odd=1 --workers=1
mkdir called && cp example5 called/turn.df && cd called || exit 1
check example-inputs "$DFC" turn.df --nvcc=none --lib --python -o libturn.so
if has_modules numpy && ! grep -q fsanitize "$DF_BUILD/obj/flags"; then
    check example-inputs-called /usr/bin/python3 -c 'import numpy as np, turn
for size in (2, 3), (480, 640), (7, 1):
    p = np.arange(size[0] * size[1], dtype="u4").astype("u1").reshape(size)
    assert (turn.turn(p) == p.T).all()'
else
    skip example-inputs-called "no Python with NumPy, or a sanitizer"
fi
