# dfc scale: runs on many machines in virtual time, what clusters are declared like, and the figures of a paper.
cat > st.df <<'END'
kernel read(out t: u8[n]) stream cost cpu 1ms;
kernel work(in t: u8[n], out r: f32[m]) cost cpu 900ms gpu 100ms;
kernel write(in r: f32[m]) ordered cost cpu 10us;
graph main { t: u8[50000000] = read(); r: f32[1000] = work(t); write(r); }
END
cat > site.df <<'END'
param n = 100;
platform site {
    node big { count = n; net = 5 GB/s, 2 us; cpu host { workers = 9; } }
    node gpus { count = n / 5; net = 5 GB/s, 2 us; cpu host { workers = 9; } gpu a { h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; } }
    network qdr { manager = 10 GB/s, 2 us; total = 40 GB/s; files = 8 GB/s; message = 5 us; }
}
END
scale() { "$DFC" scale st.df --platform=site.df "$@"; }
expect types 0 '^node big: a wave every 113 ms, 900 ms alone$' scale --waves=100 --nodes=6
expect types-gpu 0 '^node gpus: a wave every 100 ms' scale --waves=100 --nodes=6
expect rank-0 0 "^rank 0: 1.00 ms to make a wave's inputs, 10.0 us to take its results; sends 47.7 MiB, gets 3.91 KiB$" scale --waves=100 --nodes=6
expect nodes-limit 0 '^6 +20000 .* nodes$' scale --waves=20000 --nodes=6 --window=20
expect link-limit 0 "^120 +2000 .* 9[0-9] % .* rank 0's link$" scale --waves=2000 --nodes=6,120 -D n=120
# A found window begins at the waves in flight, so that waves soon come as fast as nodes take them.
expect window-begins 0 '^6 +2000 .* 9[0-9]\.. % ' scale --waves=2000 --nodes=6
# Of two types, one of which has no node in the run.
expect type-without-nodes 0 '^1 +100 .* 83\.6 % +84 % ' scale --waves=100 --nodes=1
expect declared 0 '^120 +1000 ' scale
expect param 0 '^12 +1000 ' scale -D n=10
expect weak 0 '^2 +200 ' scale --weak --waves=100 --nodes=1,2
expect files 0 '^12 .* the file system$' scale -D n=10 --read=900MB --window=2
sed 's/message = 5 us/message = 5 ms/' site.df >slow.df
expect thread-limit 0 "rank 0's thread$" "$DFC" scale st.df --platform=slow.df --nodes=60
check csv scale --nodes=1,2,4 --format=csv -o a.csv
check again scale --nodes=1,2,4 --format=csv -o b.csv --plot=a.svg
same deterministic a.csv b.csv
check json scale --nodes=1,2 --format=json -o a.json
check figures python3 -c "
import csv, json
rows = list(csv.DictReader(open('a.csv')))
assert [int(r['nodes']) for r in rows] == [1, 2, 4] and all(float(r['ideal_s']) <= float(r['makespan_s']) for r in rows)
assert all(abs(float(r['efficiency']) - float(r['ideal_s']) / float(r['makespan_s'])) < 1e-5 for r in rows)
j = json.load(open('a.json'))
assert [r['nodes'] for r in j['rows']] == [1, 2] and j['give_bytes'] == 5e7 and {t['name'] for t in j['types']} == {'big', 'gpus'}"
expect picture 0 '<polyline' cat a.svg
expect vary 0 '^4 ' scale --nodes=4 --vary=30 --seed=3

# Parts of accs. A node reads each wave, 1 ms, and changes its parts, 80 ms each: with n nodes the largest share has ceil(8 / n) of 8 parts, and ends after
# waves * (1 ms + 80 ms * parts). Then its parts go to rank 0, which all send to: 3.2 MB each at 100 MB/s.
cat > parts.df <<'END'
kernel read(out q: f32[n]) stream restart resume cost cpu 1ms;
kernel back(in q: f32[n], acc vol: f32[z, n] split z) cost cpu 80ms;
kernel write(in vol: f32[z, n]) cost cpu 1ms;
graph main { q: f32[8000] = read(); vol: f32[800, 8000] = back(q) @parts(8); write(vol); }
END
echo 'platform site { node a { count = 16; net = 100 MB/s, 10 us; cpu host { workers = 1; } } network n { manager = 100 MB/s, 10 us; files = 100 MB/s; message = 5 us; } }' >one.df
check shares "$DFC" scale parts.df --platform=one.df --share=parts --waves=100 --nodes=1,2,3,4,5,8,16 --format=csv -o shares.csv
check shares-formula python3 -c "
import csv, math
for r in csv.DictReader(open('shares.csv')):
    n = min(int(r['nodes']), 8)
    parts = [8 * (k + 1) // n - 8 * k // n for k in range(n)]
    most = max(parts)
    last = 3.2e6 / 100e6 * sum(p for p in parts if p == most)   # the largest shares end together, and send over one link
    want = 100 * (0.001 + 0.08 * most) + last
    got = float(r['makespan_s'])
    assert int(r['shares']) == n and abs(got - want) < 0.005, (r, want)
    assert abs(float(r['ideal_s']) - 100 * 0.641 / int(r['nodes'])) < 1e-6, r"
expect shares-found 0 '^2 +100 .* 2 +nodes$' "$DFC" scale parts.df --platform=one.df --waves=100 --nodes=2
expect shares-not-found 0 '^1 +100 .* - +rank 0.s sinks$' "$DFC" scale parts.df --platform=one.df --waves=100 --nodes=1
expect shares-read 0 '^8 +100 +20\.[0-9] s .* the file system$' "$DFC" scale parts.df --platform=one.df --waves=100 --nodes=8 --read=2500000B
expect shares-none 1 "^dfc: error: node 'big': --share=parts: no acc is divided, or its kernel makes something else in each wave$" scale --share=parts
expect shares-wrong 2 '^dfc: error: --share=all: one of waves, parts is expected$' scale --share=all
# Where a GPU has little memory dfc divides accs by itself.
sed -e 's/ @parts(8)//' -e 's/cost cpu 80ms/& gpu 8ms/' parts.df >own.df
node() { echo "node $1 { net = 100 MB/s; cpu host { workers = 2; } gpu g { memory = $2 MiB; h2d = 6 GB/s; d2h = 6 GB/s; } }"; }
echo "platform site { $(node a 8) $(node b 16) }" >unlike.df
expect shares-unlike 1 "^dfc: error: node 'b': accs have [0-9]+ parts here, and [0-9]+ on other nodes: @parts\(n\) in the graph says how many$" \
    "$DFC" scale own.df --platform=unlike.df --share=parts

# Hierarchical pipelines (Teodoro et al. 2012) on 100 nodes: 36,848 tiles in less than 4 minutes. The file system's bandwidth is fitted to that. Published efficiency: 77 %.
paper() { "$DFC" scale "$DF_SOURCE/examples/graphs/microscopy.df" --platform="$DF_SOURCE/examples/studies/nuclei/keeneland-100.df" --waves=36848 --window=16 --inflight=15 --policy=pats "$@"; }
expect paper 0 '^100 +36848 +229 s +161\.. +78\.9 % .* the file system$' paper --read=50331648B
expect paper-no-files 0 '^100 +36848 +183 s +20[01]\.. +98\.[67] % .* nodes$' paper

# ---- wrong input ----
wrong() { # NAME LINE:COL MESSAGE: the cluster on standard input is refused there
    cat >w.df
    expect "$1" 1 "^w.df:$2: error: $3" "$DFC" scale st.df --platform=w.df
}
wrong one-machine 1:10 "platform 'p' is one machine, and here a cluster is needed" <<<'platform p { cpu h { workers = 1; } }'
wrong beside 1:52 "device 'h' stands beside the nodes of a cluster" <<<'platform p { node a { net = 1 GB/s; cpu h {} } cpu h { } }' 
wrong no-net 1:19 "node 'a' has no 'net'" <<<'platform p { node a { cpu h { } } }'
wrong no-node 1:10 "cluster 'p' has a network and no node" <<<'platform p { network n { } }'
wrong no-host 1:19 "platform 'a' has no host" <<<'platform p { node a { net = 1 GB/s; } }'
wrong count 1:31 "'count' must be a whole number from 1 to 100000" <<<'platform p { node a { count = 0; net = 1 GB/s; cpu h { } } }'
wrong twice 1:48 "'count' is given twice" <<<'platform p { node a { count = 1; net = 1 GB/s; count = 2; cpu h { } } }'
wrong property 1:23 "unknown property 'cuont' of a node" <<<'platform p { node a { cuont = 1; net = 1 GB/s; cpu h { } } }'
wrong speed 1:31 "'speed' must be a number from 1e-06 to 1e\+06" <<<'platform p { node a { speed = 0; net = 1 GB/s; cpu h { } } }'
wrong speed-unit 1:31 "" <<<'platform p { node a { speed = 2 s; net = 1 GB/s; cpu h { } } }'
sed 's/node big {/node big { speed = 2;/' site.df >twice.df
expect twice-as-fast 0 '^node big: a wave every 56\.' "$DFC" scale st.df --platform=twice.df --waves=100 --nodes=6
wrong network-property 1:67 "unknown property 'speed' of a network" <<<'platform p { node a { net = 1 GB/s; cpu h { } } network n       { speed = 1 GB/s; } }'
wrong rate 1:29 "a link's bandwidth must be given like '6 GB/s'" <<<'platform p { node a { net = 1 s; cpu h { } } }'
wrong two-values 1:77 'this property takes one value' <<<'platform p { node a { net = 1 GB/s; cpu h { } } network n { files = 1 GB/s, 2 us; } }' 
wrong two-networks 1:71 'a cluster has one network, and this is the second' <<<'platform p { node a { net = 1 GB/s; cpu h { } } network n { } network m { } }'
wrong two-alike 1:54 "node 'a' is declared twice" <<<'platform p { node a { net = 1 GB/s; cpu h { } } node a { net = 1 GB/s; cpu h { } } }'
wrong in-network 1:65 "device 'h' stands in a network" <<<'platform p { node a { net = 1 GB/s; cpu h { } } network n { cpu h { } } }'
wrong in-device 1:49 "device 'x' stands in a device" <<<'platform p { node a { net = 1 GB/s; cpu h { gpu x { } } } }'
{ echo 'platform p {'; for i in $(seq 17); do echo "node n$i { net = 1 GB/s; cpu h { } }"; done; echo '}'; } | wrong many-types 18:6 'a cluster has at most 16 kinds of nodes'
expect elsewhere 1 "platform 'site' is a cluster, and here one machine is needed" "$DFC" simulate st.df --platform=site.df
expect elsewhere-hint 1 "'dfc scale GRAPH.df --platform=FILE' and 'dfc map' take a cluster" "$DFC" partition st.df --platform=site.df
expect formatted 0 '^    network qdr' "$DFC" --format site.df
expect no-platform 2 'scale: which machines\? --platform=FILE' "$DFC" scale st.df
expect no-number 2 '--nodes=x: a whole number from 1 to 100000 is expected' scale --nodes=x
expect no-numbers 2 '--nodes: no number is given' scale --nodes=,
expect no-size 2 '--read=fast: a size is expected, such as 512MiB' scale --read=fast
expect one-file 2 'a.svg' scale -o a.svg --plot=a.svg
expect no-picture 2 'a.pdf' scale --plot=a.pdf
