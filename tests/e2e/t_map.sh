# dfc map: stages of a graph, the mappings, files and pictures of them, and what is refused.
cluster=$DF_SOURCE/examples/cluster
study() { "$DFC" map "$cluster/hedpm.df" --platform="$cluster/hedpm-site.df" "$@"; }
if study --format=csv --show=hedpm -o h.map >study.csv 2>err; then pass study; else fail study "$(cat err)"; fi
# The case study of HeDPM through the whole command: its groups, and the period with all stages placed.
check study-figures python3 - <<'END'
import csv
rows = list(csv.DictReader(open("study.csv")))
groups = lambda name: [(r["stages"], r["processors"]) for r in rows if r["mapping"] == name]
period = lambda name: float(next(r["period_s"] for r in rows if r["mapping"] == name))
assert groups("hedpm") == [("s1 s2 s3", "p8"), ("s4", "p1 p2 p5"), ("s5", "p3"), ("s6", "p4"), ("s7", "p6"), ("s8", "p7")], groups("hedpm")
assert groups("identity") == [(f"s{i}", f"p{i}") for i in range(1, 9)]
assert abs(float(rows[0]["ideal_s"]) - 3.2478) < 5e-5 and abs(float(rows[0]["bound_s"]) - 94.1 / 122) < 1e-8
assert abs(period("hedpm") - (1.1 + 20.3 / 20 + 0.4 / 3 + 10 / (25 / 3))) < 1e-6, period("hedpm")
assert period("ours") == period("brute") <= min(map(period, ("identity", "bsc", "dpm", "hedpm")))
assert all(abs(float(r["simulated_s"]) / float(r["period_s"]) - 1) < 0.005 for r in rows)
END
study --budget=100 --show=hedpm >listed
expect ideal 0 '^ideal +a wave every 3\.25 s \(equation 6 of HeDPM\)$' cat listed
expect table 0 '^hedpm +6 +8 +3\.45 s' cat listed
expect listed 0 '^s1 s2 s3 +p8 +1 +3\.13 s +91 %$' cat listed
expect brute-left-out 0 '^brute: left out: there are too many mappings to try them all$' cat listed
for n in 1 2; do study --budget=1000 --format=csv >again-$n.csv; done
same deterministic again-1.csv again-2.csv

# The six stages of examples/ferret on 14 unlike processors, draw 5 of docs/results/mapping.md: ours over the mapping in order, and of the bound.
# HeDPM itself is 4.34 times as fast as that one; its paper says 9.2, of speeds that it does not print.
ferret() { "$DFC" map "$cluster/ferret-stages.df" --platform="$cluster/fourteen.df" --feeding=demand --budget=20000 --format=csv "$@"; }
check ferret-figures python3 - "$(ferret)" "$(ferret --replicate=groups)" <<'END'
import csv, sys
for text in sys.argv[1:]:
    rows = list(csv.DictReader(text.splitlines()))
    run = {r["mapping"]: float(r["simulated_s"]) for r in rows}
    assert abs(run["identity"] / run["hedpm"] - 4.34) < 0.01
    assert run["identity"] >= 9.2 * run["ours"] and float(rows[0]["bound_s"]) >= 0.95 * run["ours"], run
    assert all(run["ours"] <= other * (1 + 1e-9) for other in run.values()), run
END

# ---- files and pictures ----
quickly() { study --budget=100 "$@"; }
printf '%s\n' '# a mapping of dfc map: stages, a colon, and the processors that have them' 'feeding order' 's1 s2 s3: p8' 's4: p1 p2 p5' \
    's5: p3' 's6: p4' 's7: p6' 's8: p7' >h.expected
same map-file h.map h.expected
quickly --use=h.map --format=csv -o h2.map >given.csv
check given-is-hedpm python3 -c "
rows = [l.split(',', 1) for l in open('given.csv')]
assert [r for n, r in rows if n == 'given'] == [r for n, r in rows if n == 'hedpm'] != []"
same round-trip h2.map h.map
cp h2.map own.map; ln -s own.map link.map
for out in own.map ./own.map link.map; do
    expect "not-itself-$out" 1 "^dfc: error: '$out' is not written: it would replace 'own.map', which it is made of$" quickly --use=own.map -o other.map -o $out
done
same not-itself-stays own.map h2.map
expect given-listed 0 '^given:$' quickly --use=h.map
check pictures quickly -o m.svg -o m.dot -o m.map --show=dpm
expect picture-stages 0 '>s1</text>' cat m.svg
expect picture-busy 0 '100 % busy' cat m.svg
expect picture-dot 0 'label="10 B"' cat m.dot
printf '# a mapping of dfc map: stages, a colon, and the processors that have them\nfeeding order\ns1 s2 s3 s4 s5 s6 s7 s8: p8\n' >one.map
check picture-of-one quickly --use=one.map --show=given -o one.dot; expect picture-idle 0 'idle: p1, p2, p3, p4, p5, p6, p7' cat one.dot
expect picture-stdout 0 '<table|DOCTYPE|digraph|feeding order' quickly -o -
sed 's/feeding order/feeding demand/' h.map >d.map
expect demand-of-file 0 'fed by demand$' quickly --use=d.map
expect demand-overruled 0 'fed in order$' quickly --use=d.map --feeding=order
# Replicas of several stages, which HeDPM has not: in a file, or when they are asked for.
expect groups 0 'fed in order, groups replicated$' quickly --replicate=groups
sed 's/^s1.*/s1 s2: p8 p2/; s/^s4: p1 p2/s3 s4: p1/' h.map >r.map
expect groups-of-file 0 '^s1 s2 +p2 p8 +2 ' quickly --use=r.map
expect replicate 2 "--replicate=all: one of stages, groups is expected" study --replicate=all
expect budget 0 'at most 7 mappings that were tried' study --budget=7

# ---- stages of a graph: nested ones, what fires once, serial ones, tokens that pass by ----
cat >g.df <<'END'
kernel read(out t: u8[n]) stream cost cpu 1ms;
kernel light(out t: u8[n]) once cost cpu 5ms;
kernel near(in t: u8[n], in l: u8[m], out r: u8[n]) cost cpu 2ms;
kernel far(in t: u8[n], out r: u8[n]) cost cpu 3ms;
kernel both(in a: u8[n], in b: u8[n], out r: u8[m]) cost cpu 7ms;
kernel write(in r: u8[m]) ordered cost cpu 1ms;
graph middle(in t: u8[n], in l: u8[m], out r: u8[n]) { x = near(t, l); r = far(x); }
graph main { l: u8[10] = light(); a: u8[1000] = read(); b = middle(a, l); r: u8[10] = both(a, b); write(r); }
END
cat >s.df <<'END'
platform s {
    node big { count = 2; speed = 2; net = 1 MB/s, 1 ms; cpu h { workers = 1; } }
    node wide { net = 2 MB/s, 1 ms; cpu h { workers = 4; } }
    network n { manager = 1 MB/s, 1 ms; }
}
END
"$DFC" map g.df --platform=s.df --format=csv >g.csv
# identity: read on big.0; middle on big.1; both and write, 8 ms, on wide, which has 4 workers, of which write takes one at a time. The token of
# `a` passes by the boundary behind middle.
check graph python3 - <<'END'
import csv
rows = [r for r in csv.DictReader(open("g.csv")) if r["mapping"] == "identity"]
assert [(r["stages"], r["processors"]) for r in rows] == [("read", "big.0"), ("middle", "big.1"), ("both write", "wide")], rows
take = lambda nbytes: 1e-3 + nbytes / 1e6
wanted = [0.5e-3 + take(1000), 2.5e-3 + take(1000) + take(2000), 7e-3 / 4 + 1e-3 + take(2000)]
assert all(abs(float(r["group_period_s"]) - w) < 1e-6 for r, w in zip(rows, wanted)), (rows, wanted)
END
printf '\nfeeding demand\nread: big.0 wide\n' >serial.map
expect serial 1 "^serial.map:3:13: error: processor 'wide' is one too many$" \
    "$DFC" map g.df --platform=s.df --use=serial.map
expect demand 0 'fed by demand$' "$DFC" map g.df --platform=s.df --feeding=demand
expect budget-times 0 'at most 200000 mappings that were tried' "$DFC" map g.df --platform=s.df --budget=2x
expect speed-of-scale 0 '^node big: a wave every 6\.' "$DFC" scale g.df --platform=s.df

# ---- what is refused ----
cat >three.df <<'END'
kernel s1(out t: u8[n]) stream cost cpu 1ms;
kernel s2(in t: u8[n], out r: u8[n]) cost cpu 1ms;
kernel s3(in t: u8[n]) cost cpu 1ms;
graph main { a: u8[9] = s1(); b = s2(a); s3(b); }
END
cat >two.df <<'END'
platform two { node p1 { net = 1 MB/s; cpu h { workers = 1; } } node p2 { net = 1 MB/s; cpu h { workers = 1; } } }
END
wrong() { # NAME LINE:COL MESSAGE: the mapping on standard input
    cat >w.map
    expect "$1" 1 "^w.map:$2: error: $3" "$DFC" map three.df --platform=two.df --use=w.map
}
wrong stage 1:1 "there is no stage 's0'" <<<'s0: p1'
wrong processor 1:5 "there is no processor 'p9'" <<<'s1: p9'
wrong early 1:1 "stage 's2' stands here too early" <<<'s2: p1'
wrong second 2:1 "stage 's1' stands here a second time, or too late" <<<$'s1: p1\ns1: p2'
wrong taken 2:5 "processor 'p1' has stages already" <<<$'s1: p1\ns2: p1'
expect serial-hint 1 "^hint: stage 'read' keeps something from wave to wave, so it has no replicas$" "$DFC" map g.df --platform=s.df --use=serial.map
wrong no-processor 1:4 "a processor is missing behind ':'" <<<'s1:'
wrong no-colon 1:3 "':' is missing" <<<'s1'
wrong no-stage 1:1 "a stage is missing before ':'" <<<': p1'
wrong colons 1:8 "a second ':' in a line" <<<'s1: p1 : p2'
wrong feeding 1:9 "'often' is no way of feeding" <<<'feeding often'
wrong words 1:15 "'now' is one word too many" <<<'feeding order now'
wrong left-out 1:1 "stage 's3' has no processor" <<<'s1 s2: p1'
printf 's1: p11\n' >w.map
expect suggested 1 "^hint: did you mean 'p1'\?$" study --use=w.map
expect no-file 1 "cannot read 'none.map'" study --use=none.map
expect no-platform 2 'map: which machines\? --platform=FILE' "$DFC" map g.df
expect one-machine 1 "platform 'p' is one machine, and here a cluster is needed" sh -c 'echo "platform p { cpu h { workers = 1; } }" >p.df; "$0" map g.df --platform=p.df' "$DFC"
expect show 2 "--show=hedmp: one of identity, .*, ours is expected; did you mean 'hedpm'\?" study --show=hedmp
expect show-far 2 "--show=x: one of identity, bsc, dpm, hedpm, brute, given, ours is expected" study --show=x
expect show-given 2 '--show=given: --use=FILE gives it' study --show=given
expect feed 2 '--feeding=x: one of order, demand is expected' study --feeding=x
expect one-output 2 'a.svg' study -o a.svg -o a.svg
expect no-folder 1 'none/a.map' study -o none/a.map
expect onto-input 1 'g.df' "$DFC" map g.df --platform=s.df -o g.df
# A mapping may have any name, so an import, a kernel's code and the profile database are looked after, too.
printf 'import "part.df";\n' | cat - <(grep -v '^kernel far' g.df) >whole.df; echo 'kernel far(in t: u8[n], out r: u8[n]) cpu "far.c" cost cpu 3ms;' >part.df
echo 'int far(struct df_call *call, const uint8_t *t, uint8_t *r, size_t n) { return 0; }' >far.c
cp part.df part.before; cp far.c far.before
expect onto-import 1 "'part.df' is not written: it would replace 'part.df', which it is made of" "$DFC" map whole.df --platform=s.df -o part.df
expect onto-kernel 1 "'far.c' is not written: it would replace 'far.c', which it is made of" "$DFC" map whole.df --platform=s.df -o far.c
same import-stays part.df part.before; same kernel-stays far.c far.before
expect many-outputs 2 'more than 8 outputs' study -o 1 -o 2 -o 3 -o 4 -o 5 -o 6 -o 7 -o 8 -o 9
cat >cycle.df <<'END'
kernel read(out t: u8[n]) stream cost cpu 1ms;
kernel f(in t: u8[n], out r: u8[n]) cost cpu 1ms;
graph two(in a: u8[n], in b: u8[n], out x: u8[n], out y: u8[n]) { x = f(a); y = f(b); }
kernel write(in t: u8[n]) ordered cost cpu 1ms;
graph main { a: u8[9] = read(); (x, y) = two(a, z); z = f(x); write(y); }
END
expect cycle 1 "^cycle.df:3:71: error: no order of stages: what is called with 'main/two/f#1' in graph main reads what another call makes, and that reads what it makes" \
    "$DFC" map cycle.df --platform=s.df
sed 's/1ms/0ms/' cycle.df | sed 's/^graph main.*/graph main { a: u8[9] = read(); write(a); }/' >zero.df
expect nothing 1 'no stage: all calls in graph main fire once or cost nothing' "$DFC" map zero.df --platform=s.df
sed 's/count = 2/count = 600/' s.df >many.df
expect many-nodes 1 "^many.df:1:10: error: platform 's' has 601 nodes, and a mapping takes at most 512" "$DFC" map g.df --platform=many.df
sed 's/^graph main.*/graph main { x[0]: u8[9] = read(); for i in 0..300 { x[i + 1] = f(x[i]); } write(x[300]); }/' cycle.df >long.df
expect many-stages 1 'graph main has more than 256 calls, and a mapping takes at most so many stages' "$DFC" map long.df --platform=s.df
sed 's/ cost cpu 7ms/ cpu {{ (void)a; (void)b; (void)r; }}/' g.df >unknown.df
expect unknown-times 0 'of 1 work nothing is known, and a stated default stands for the time' "$DFC" map unknown.df --platform=s.df
sed 's/ cost cpu 7ms/ gpu "f.cu" cost cpu 7ms/' g.df >no-gpu.df     # and no node has one
"$DFC" map no-gpu.df --platform=s.df 2>&1 | grep -q 'nothing is known' && fail unknown-elsewhere 'a warning' || pass unknown-elsewhere
