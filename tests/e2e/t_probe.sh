# dfc probe: its table of figures in every form, and the times of formulas that follow from figures.
cat > small.df <<'END'
platform small { cpu host { workers = 1; } gpu g { memory = 2 MiB; h2d = 2 GB/s, 20 us; d2h = 2 GB/s, 20 us; engines = 2; launch = 5 us; } }
END
check text "$DFC" probe --quick --device=emu --platform=small.df -o probe.df
expect heads 0 '^// unit +threads +copy +scale +add +triad +f32 +f64 +dependent +dependent +random +random +shared +spread$' cat probe.df
expect units 0 '^// +GB/s +GB/s +GB/s +GB/s +Gflop/s +Gflop/s +ns +GB/s +ns +GB/s +M/s +M/s$' cat probe.df
expect host 0 '^// host +1( +[0-9.e+-]+){12}$' cat probe.df
expect method 0 'STREAM, f64, arrays of [0-9.]+ [KMG]iB' cat probe.df
expect shares 0 "^// emu0 +is emulated: it shares the host's cores and memory$" cat probe.df
expect small-copies 0 '^// emu0 h2d of 1 MiB: pinned memory' cat probe.df

check csv "$DFC" probe --quick --device=emu --platform=small.df --format=csv -o probe.csv
cat > look.py <<'END'
import csv, json, os, sys
names = ['copy_bytes_per_s', 'scale_bytes_per_s', 'add_bytes_per_s', 'triad_bytes_per_s', 'f32_flops', 'f64_flops', 'dependent_read_s',
         'dependent_bytes_per_s', 'random_read_s', 'random_bytes_per_s', 'shared_updates_per_s', 'spread_updates_per_s']
cores = len(os.sched_getaffinity(0))
counts = [2 ** i for i in range(10) if 2 ** i < cores] + [cores]
rows = list(csv.DictReader(open('probe.csv')))
assert list(rows[0]) == ['unit', 'threads'] + names + ['shares']
host = [r for r in rows if r['unit'] == 'host']
assert [int(r['threads']) for r in host] == counts and all(float(r[n]) > 0 for r in host for n in names) and not any(r['shares'] for r in host)
for r in host: # both are of the same reads
    assert abs(float(r['random_read_s']) * float(r['random_bytes_per_s']) / (8 * int(r['threads'])) - 1) < 1e-6
emu = [r for r in rows if r['unit'] == 'emu0']
assert len(emu) == 1 and emu[0]['shares'] == 'host' and not any(emu[0][n] for n in names + ['threads'])
j = json.load(open('probe.json'))
assert j['machine'] and j['array_bytes'] >= 4 * j['cache_bytes'] or j['array_bytes'] > 0
assert [u['unit'] for u in j['units']] == ['host'] and [f['threads'] for f in j['units'][0]['figures']] == counts
assert all(f[n] > 0 for f in j['units'][0]['figures'] for n in names)
END
check json "$DFC" probe --quick --device=none --format=json -o probe.json
check columns python3 look.py
expect wrong-form 2 "--format=xml: one of text, csv, json is expected" "$DFC" probe --format=xml

# ---- estimates ----
cat > f.df <<'END'
param n = 1024;
kernel make(out g: f32[h, w]) { g[y, x] = f32(x + y); }
kernel blur(in g: f32[h, w] border mirror, out b: f32[h, w]) { b[y, x] = (g[y - 1, x] + g[y, x] + g[y + 1, x]) / 3; }
kernel powers(in g: f32[h, w], out b: f32[h, w]) { b[y, x] = exp(g[y, x]) * exp(2 * g[y, x]) + sin(g[y, x]); }
kernel show(in b: f32[h, w]) cost cpu 1us;
graph main { g: f32[n, n] = make(); b = blur(g); p = powers(b); show(p); }
END
cat > there.df <<'END'
platform there {
    cpu h { workers = 2; bandwidth = 20 GB/s, 10 GB/s, 20 GB/s; flops = 32 / ns, 16 / ns; random = 100 ns, 10 ns; }
    gpu g { h2d = 10 GB/s, 10 us; d2h = 10 GB/s, 10 us; bandwidth = 500 GB/s; flops = 10000 / ns; launch = 5 us; }
}
END
expect probed 0 "^platform .*measured by 'dfc probe'" "$DFC" partition f.df --no-fuse --device=none
expect unknown 0 '^times +1 from cost clauses, 6 by the stated default' "$DFC" partition f.df --no-fuse --platform=small.df
expect known 0 '^times +1 from cost clauses, 6 estimated from other sizes or devices, from operations or from rates$' "$DFC" partition f.df --no-fuse --platform=there.df
# 8 MiB by 10 GB/s, or by 500 GB/s and a launch; 76 additions (three functions of 24, and four) by 32 / ns.
expect memory-bound 0 'time +21\.8 us here \(estimated\), 839 us on h \(estimated\)' "$DFC" explain f.df --no-fuse --platform=there.df
expect compute-bound 0 'time .*2\.49 ms on h \(estimated\)' "$DFC" explain f.df --no-fuse --platform=there.df
expect other-size 0 'time .*210 us on h \(estimated\)' "$DFC" explain f.df --no-fuse -D n=512 --platform=there.df
expect probed-known 0 '^times +1 from cost clauses, [36] estimated from other sizes or devices, from operations or from rates' "$DFC" partition f.df --no-fuse --parts=1 --device=none
expect emulated 0 '^times +1 from cost clauses, 6 estimated' "$DFC" partition f.df --no-fuse --parts=1 --device=emu --platform=there.df
