# dfc scale --stream-policy: stages fed by demand with DDFCFS, DDWRR and ODDS, beside what Anthill (Teodoro et al. 2010) says of NBIA.
cluster=$DF_SOURCE/examples/cluster
tiles() { "$DFC" scale "$cluster/nbia-tiles.df" --waves=26742 --fires=high=8 "$@"; }
two() { tiles --platform="$cluster/anthill-two.df" "$@"; }
one() { tiles --platform="$cluster/anthill-one.df" "$@"; }
check two two --stream-policy=all --format=csv -o two.csv --plot=two.svg --sizes=two-sizes.csv
check one one --stream-policy=all --format=csv -o one.csv
check fourteen two --stream-policy=all -D pairs=7 --waves=8000 --format=csv -o fourteen.csv --sizes=sizes.csv --plot=sizes.svg
check homogeneous one --stream-policy=all -D nodes=14 --format=csv -o homogeneous.csv
two --stream-policy=odds --format=csv >again.csv
grep -v 'ddfcfs\|ddwrr' two.csv >two-less.csv
same deterministic again.csv two-less.csv
cat >check.py <<'END'
import csv
def read(name):
    runs = {}
    for r in csv.DictReader(open(name)):
        run = runs.setdefault(r["policy"], {"time": float(r["makespan_s"]), "alone": float(r["alone_s"]), "gpu": {}, "row": r})
        if r["type"] == "gpu.gpu":
            run["gpu"][r["stage"]] = 100 * int(r["items"]) / int(r["of"])
        assert int(r["most_waiting"]) <= 256 and int(r["most_held"]) <= int(r["held_bound"]), r
    return runs
one, two, fourteen, homogeneous = map(read, ("one.csv", "two.csv", "fourteen.csv", "homogeneous.csv"))
END
# On two nodes and on 14 unlike ones the order is the paper's, and on two ODDS is 44 times as fast as a core.
check order python3 -c "
from check import *
for runs in (two, fourteen):
    assert runs['odds']['time'] < runs['ddwrr']['time'] < runs['ddfcfs']['time'], runs
    assert runs['ddwrr']['time'] >= 1.4 * runs['odds']['time'], runs
assert 42 < two['odds']['alone'] / two['odds']['time'] < 44.5, two
# Two nodes cannot be faster than what the three cores and the GPU, which is 41 cores on large tiles, do together.
assert two['odds']['alone'] / two['odds']['time'] < 44"
# On like nodes DDWRR has the best of nine static sizes, and ODDS none: they are as fast.
check like-nodes python3 -c "
from check import *
for runs in (one, homogeneous):
    assert runs['odds']['time'] < 1.05 * runs['ddwrr']['time'] and 1.4 * runs['odds']['time'] < runs['ddfcfs']['time'], runs
    assert int(runs['odds']['row']['most_held']) * 2 < int(runs['ddwrr']['row']['most_held'])"
# Table 6: the GPU leaves small tiles to cores, most with ODDS, and with a second node nearly all; it has nearly all large ones.
check table-6 python3 -c "
from check import *
low, high = ({n: {p: r['gpu'][s] for p, r in runs.items()} for n, runs in (('one', one), ('two', two))} for s in ('low', 'high'))
assert low['two']['ddfcfs'] > 75 > 30 > low['two']['ddwrr'] > 10 > 1 > low['two']['odds'], low
assert low['one']['ddfcfs'] > 90 > 30 > low['one']['ddwrr'] >= low['one']['odds'] > low['two']['odds'], low
assert high['two']['ddfcfs'] < 90 < high['two']['ddwrr'] < high['two']['odds'], high
assert high['one']['ddfcfs'] < high['one']['ddwrr'] <= high['one']['odds'], high"
# The sizes over time: each worker begins with one, changes by one, and on 14 nodes some ask for more.
check sizes python3 -c "
import csv
last, seen = {}, 0
for r in csv.DictReader(open('sizes.csv')):
    worker, size, at = (r['node'], r['worker']), int(r['requests']), float(r['seconds'])
    assert size == 1 and at == 0 if worker not in last else abs(size - last[worker]) == 1 and size >= 1, r
    last[worker], seen = size, max(seen, size)
assert len(last) == 28 and 2 < seen <= 256, (len(last), seen)"
check picture python3 -c "
text = open('sizes.svg').read()
assert text.count('<polyline') == 28 and 'on 14 nodes' in text and 'gpu.gpu' in text and 'cpu.cpu' in text"
expect stages 0 '^high +8 % +768 KiB +16 B +285 ms +6\.95 ms +285 ms$' two --stream-policy=odds
expect row 0 '^2 +odds +1 to [0-9]+ +1[45]\.. s +1[78].. +43' two --stream-policy=odds
few() { two --waves=2000 "$@"; }
expect static 0 '^2 +ddwrr +8 ' few --stream-policy=ddwrr --requests=8
expect most 0 '^14 +odds +1 to [123] ' few --stream-policy=odds -D pairs=7 --most=3
expect several 0 '^4 +odds ' few --stream-policy=odds --nodes=2,4
expect weak 0 '^4 +odds +low +8000 ' few --stream-policy=odds --nodes=2,4 --weak --format=text
expect homes 0 '^2 +odds .* [1-9][0-9.]+ MiB$' few --stream-policy=odds --homes=1
expect seed 0 '^2 +odds ' few --stream-policy=odds --seed=5 --places=64

# ---- what is refused ----
expect no-policy 2 '--stream-policy=oods: there is no such policy; they are ddfcfs, ddwrr, odds, and all' few --stream-policy=oods
expect empty-policy 2 '--stream-policy: no policy is given' few --stream-policy=,
expect alone 2 'scale: --fires goes with --stream-policy' tiles --platform="$cluster/anthill-two.df"
expect alone-requests 2 'scale: --requests goes with --stream-policy' "$DFC" scale "$cluster/nbia-tiles.df" --platform="$cluster/anthill-two.df" --requests=best
expect window 2 'scale: --window does not go with --stream-policy' few --stream-policy=odds --window=3
expect vary-zero 2 'scale: --vary does not go with --stream-policy' few --stream-policy=odds --vary=0
expect read 2 'scale: --read does not go with --stream-policy' few --stream-policy=odds --read=3MB
expect json 2 '--format=json does not go with --stream-policy; --format=csv does' few --stream-policy=odds --format=json
expect percent 2 '--fires=high=108: a stage and a percentage from 0 to 100 are expected, as --fires=high=8' few --stream-policy=odds --fires=high=108
expect no-percent 2 '--fires=high: a stage and a percentage' few --stream-policy=odds --fires=high
expect no-stage 1 "--fires=hihg=8: the graph has no stage 'hihg'; did you mean 'high'\?" few --stream-policy=odds --fires=hihg=8
expect other-stage 1 "--fires=zzzzz=8: the graph has no such stage; its first one is 'low'" few --stream-policy=odds --fires=zzzzz=8
expect requests 2 "--requests=0: 'best' or a whole number from 1 to 4096 is expected" few --stream-policy=ddwrr --requests=0
expect one-file 2 's.csv' few --stream-policy=odds -o s.csv --sizes=s.csv
expect graph-file 1 'nbia-tiles.df' few --stream-policy=odds --sizes="$cluster/nbia-tiles.df"
expect nodes 1 'streams by demand take 1 to 1024 nodes' few --stream-policy=odds --nodes=2000
cat >serial.df <<'END'
kernel read(out t: u8[n]) cost cpu 0us;
kernel sum(in t: u8[n]) ordered cost cpu 1ms;
graph main { t: u8[10] = read(); sum(t); }
END
expect serial 1 '^serial.df:3:34: error: this keeps something from wave to wave, and with --stream-policy any worker may do any wave' "$DFC" scale serial.df --platform="$cluster/anthill-two.df" --stream-policy=odds
sed 's/ ordered cost cpu 1ms/ cost gpu 1ms/' serial.df >gpu.df
cat >cpus.df <<'END'
platform cpus { node a { net = 1 GB/s; cpu h { workers = 2; } } }
END
expect nowhere 1 "no worker of platform 'cpus' can do stage 'sum' alone" "$DFC" scale gpu.df --platform=cpus.df --stream-policy=odds
cat >mixed.df <<'END'
platform mixed {
    node plain { count = 2; net = 1 GB/s; cpu h { workers = 2; } }
    node fast { net = 1 GB/s; cpu h { workers = 2; } gpu g { h2d = 1 GB/s; d2h = 1 GB/s; } }
}
END
expect few-nodes 1 "^dfc: error: --nodes=1: no worker of this node can do stage 'sum' alone$" \
    "$DFC" scale gpu.df --platform=mixed.df --stream-policy=odds --nodes=3,1
# If no stage fires, there are no rates, and no picture of them.
expect no-time 1 '^dfc: error: the 2000 waves take no time: no stage fires in them, as --fires says$' \
    timeout 150 "$DFC" scale "$cluster/nbia-tiles.df" --platform="$cluster/anthill-two.df" --waves=2000 --stream-policy=all --fires=low=0 --fires=high=0 --plot=none.svg
expect help 0 '^  --stream-policy' "$DFC" scale --help
