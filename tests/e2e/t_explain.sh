# dfc explain: the reasons for a placement whose times are known beforehand, the bottleneck, and what a change would gain.
export DFC_PROFILE=$PWD/none.db
cat > chain.df <<'END'
platform study {
    cpu host { workers = 1; }
    gpu g    { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; }
}
kernel src(out v: f32[k]) cost cpu 0s;
kernel heavy(in v: f32[k], out w: f32[k]) cost cpu 10ms gpu 1ms;
kernel lone(in v: f32[k], out w: f32[k]) cost cpu 5ms;
kernel sink(in v: f32[k]) cost cpu 0s;
graph main { a: f32[250000] = src(); b = heavy(a); c = lone(b); sink(c); }
END
# 1 MB each way takes 1.01 ms: 1.01 + 1 + 1.01 + 5
expect whole 0 "placed by gp: 8.02 ms for one wave; no schedule is shorter than 8.02 ms" "$DFC" explain chain.df
expect bottleneck 0 "^bottleneck +the longest way through the graph, [34] nodes from main/src to main/(lone|sink): 100 %" "$DFC" explain chain.df
expect resource 0 "^g, copies to it +1.01 ms +13 %" "$DFC" explain chain.df
expect faster 0 "why +10x faster here; on host the wave would take 6.98 ms longer" "$DFC" explain chain.df
expect times 0 "time +1 ms here \(cost\), 10 ms on host \(cost\)" "$DFC" explain chain.df
expect copies 0 "copies +2.02 ms here, 0 s on host" "$DFC" explain chain.df
expect no-variant 0 "why +lone has no gpu variant" "$DFC" explain chain.df
expect top 0 "… and 3 more nodes: --top=4 shows all" "$DFC" explain chain.df --top=1
# the median speedup is that of heavy: lone takes 0.5 ms there, and one copy each way is left
expect node 0 "^main/heavy \\(heavy k=250000\\) on g" "$DFC" explain chain.df --node=heavy
for pattern in main/heavy 'h*y' b; do
    [ "$("$DFC" explain chain.df --node="$pattern" | grep -c '^[^ ]')" = 1 ] && pass "node-$pattern" || fail "node-$pattern" "not one node"
done
[ "$("$DFC" explain chain.df --node='*' | grep -c '^main/')" = 4 ] && pass node-all || fail node-all "not four nodes"
expect node-unknown 1 "^dfc: error: --node=havy: no node has this name; 'dfc explain --top=4' names all" "$DFC" explain chain.df --node=havy
expect if-variant 0 "2.28x faster  a gpu variant of lone, 10x as fast as its cpu variant: 3.52 ms" "$DFC" explain chain.df --what-if
expect if-link 0 "1.14x faster  link twice as fast .*: 7.01 ms" "$DFC" explain chain.df --what-if
expect if-gpu 0 "no gain +one more GPU like g$" "$DFC" explain chain.df --what-if
expect if-worker 0 "no gain +one more CPU worker \(2\)$" "$DFC" explain chain.df --what-if
expect csv 0 '^main/heavy,g,0.001,cost,0.00202,host,0.01,cost,0,0.00698,1,10x faster here' "$DFC" explain chain.df --format=csv
expect csv-if 0 '^"a gpu variant of lone.*",0.00352,2.27' "$DFC" explain chain.df --format=csv --what-if

# Side by side: two alike jobs, one worker and a GPU; the host takes one although it is slower. Two would be too many.
cat > wide.df <<'END'
platform study { cpu host { workers = 1; } gpu g { memory = 1 GiB; h2d = 1 GB/s, 1 us; d2h = 1 GB/s, 1 us; engines = 1; } }
kernel src(out v: f32[k]) cost cpu 0s;
kernel job(in v: f32[k], out w: f32[k]) cost cpu 15ms gpu 10ms;
kernel sink(in v: f32[k], in w: f32[k]) cost cpu 0s;
graph main { a: f32[250] = src(); b = job(a); c = job(a); sink(b, c); }
END
for pattern in job b; do "$DFC" explain wide.df --node=$pattern | grep -o '^main/[^ ]*' | tr '\n' ' '; echo; done >nodes
[ "$(cat nodes)" = $'main/job#1 main/job#2 \nmain/job#1 ' ] && pass node-calls || fail node-calls "$(cat nodes)"
expect balance 0 "why +balance: g would be faster for it alone, and is busy 67 % of the time; on g the wave would take 5 ms longer" "$DFC" explain wide.df
expect hosts-worker 0 "^bottleneck +host: its 1 worker: 100 %" "$DFC" explain wide.df
expect if-more 0 " 1.50x faster  one more GPU like g: 10 ms" "$DFC" explain wide.df --what-if
# one engine copies both ways: 1 MB in and 2 MB out in a wave of 4.003 ms
sed -e 's/250\]/250000]/' -e 's/gpu 10ms/gpu 1ms/' wide.df > large.df
expect one-engine 0 "^g, copies +3 ms +75 %" "$DFC" explain large.df
expect other-policy 0 "placed by all-gpu: 20 ms" "$DFC" explain wide.df --policy=all-gpu

# Two devices at work on what one of them made, 1 MB: by way of the host 2.02 ms each time, directly 1.01.
cat > pair.df <<'END'
platform pair {
    cpu host { workers = 1; }
    gpu a { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; }
    gpu b { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; }
}
kernel make(out v: f32[k]) cost gpu 1ms;
kernel twist(in v: f32[k], out w: f32[k]) cost gpu 30ms;
kernel join(in v: f32[k], in w: f32[k]) cost gpu 1ms;
graph main { v: f32[250000] = make(); x = twist(v); y = twist(v); join(x, y); }
END
expect if-peers 0 "1.03x faster  direct links between all devices of a class, as fast as to the host: 33 ms" "$DFC" explain pair.df --what-if
sed -e 's/10 us; }$/10 us; peer = 10 GB\/s, 5 us; }/' pair.df > peers.df
expect peers 0 "placed by gp: 32.1 ms for one wave" "$DFC" explain peers.df
expect peers-resource 0 "^[ab], copies to peers +210 us +1 %" "$DFC" explain peers.df
expect peers-copies 0 "copies  105 us here, 105 us on [ab]" "$DFC" explain peers.df
expect peers-bottleneck 0 "^bottleneck +the longest way through the graph, 3 nodes" "$DFC" explain peers.df
if "$DFC" explain peers.df --what-if | grep -q 'direct links'; then fail if-no-more-peers "links that are there"; else pass if-no-more-peers; fi

sed -e 's/c = job(a)/c = job(a) @cpu/' wide.df > hint.df
expect hint 0 "why +it says @cpu" "$DFC" explain hint.df
sed -e 's/memory = 1 GiB/memory = 4 KiB/' chain.df > small.df
expect memory 0 "why +its job does not fit in g's memory" "$DFC" explain small.df
sed -e 's/gpu g .*;  *}$//' -e 's/gpu g    .*//' chain.df > alone.df
expect alone 0 "why +the platform has nothing else" "$DFC" explain alone.df
# A hint that a first GPU makes binding: nothing else runs there, and the wave is no shorter for it.
sed -e 's/heavy(a)/heavy(a) @gpu/' -e 's/gpu 1ms/gpu 20ms/' alone.df > wait.df
expect if-hint 0 "no gain +a GPU" "$DFC" explain wait.df --what-if
sed -e 's/workers = 1;/workers = 256;/' alone.df > full.df
expect if-full 0 "faster +a GPU" "$DFC" explain full.df --what-if
# A device's memory has no room for all: a wave takes as long as is simulated with it, and so it does beside every change.
cat > short.df <<'END'
platform p { cpu host { workers = 1; } gpu g { memory = 10 MB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; } }
kernel make(out v: u8[k]) cost gpu 1ms;
kernel last(in v: u8[k], in w: u8[k]) cost gpu 1ms;
graph main { for i in 0..4 { a[i]: u8[4000000] = make(); } last(a[0], a[1]); last(a[2], a[3]); last(a[0], a[3]); }
END
expect short 0 "placed by gp: 15 ms for one wave" "$DFC" explain short.df
expect if-short 0 "no gain +one more CPU worker" "$DFC" explain short.df --what-if
if "$DFC" explain full.df --what-if | grep -q 'one more CPU'; then fail if-no-more-workers "257 workers"; else pass if-no-more-workers; fi
expect if-first-gpu 0 "faster  a GPU \(12 GB/s and 10 us each way\)" "$DFC" explain alone.df --what-if

# Planned for rate: what a wave takes in steady state, not when the first one ends. src 1 us, twice 1 ms, fin 1 us: 2.002 ms of work.
cat > st.df <<'END'
kernel src(out v: f32[k]) stream cost cpu 1us;
kernel work(in v: f32[k], out w: f32[k]) cost cpu 1ms;
kernel fin(in v: f32[k]) ordered cost cpu 1us;
graph main { a: f32[256] = src(); b = work(a); c = work(b); fin(c); }
END
"$DFC" explain st.df --workers=1 --what-if > st.txt 2>&1
for line in 'waves +2 ms a wave in steady state with 8 in flight; .* 2 ms, 0.0 % above the bound$' 'bottleneck +host: its 1 worker: 100 % of the time' \
    'longest way, 8 waves in flight +2 ms +1[23] %' '  2.00x faster  one more CPU worker \(2\): 1 ms a wave' 'no gain +a GPU'; do
    expect rate 0 "$line" cat st.txt
done
if grep -qE 'better than|decides|on the longest way$' st.txt; then fail rate-quiet "$(cat st.txt)"; else pass rate-quiet; fi
expect rate-latency 0 'no gain +one more CPU worker' "$DFC" explain st.df --workers=1 --what-if --objective=latency
expect rate-csv 0 '^one more CPU worker \(2\),0.001001' "$DFC" explain st.df --workers=1 --what-if --format=csv
expect rate-policy 0 '2.00x faster  one more CPU worker' "$DFC" explain st.df --workers=1 --what-if --policy=all-cpu
# 34 ms of work for six workers, of which whoever is in order does 9 ms for each wave; alone in flight a wave goes the longest way.
sed -e 's/cpu 1us;/cpu 9ms;/' -e 's/cpu 1ms/cpu 8ms/' st.df > order.df
expect rate-in-order 0 'bottleneck +main/(src|fin), which takes one wave after the other: 100 % of the time' "$DFC" explain order.df --workers=6
sed -e 's/stream cost cpu 9ms/stream cost cpu 1us/' -e 's/(in v: f32\[k\]) ordered/(in v: f32[k], acc s: f32[k])/' -e 's/fin(c);/s = fin(c) @quiet;/' order.df >acc.df
expect rate-acc 0 'bottleneck +main/fin, which takes one wave after the other: 100 % of the time' "$DFC" explain acc.df --workers=6
expect rate-in-flight 0 'bottleneck +1 wave in flight on the longest way through the graph, 4 nodes from main/src to main/fin: 100 %' \
    "$DFC" explain order.df --workers=6 --inflight=1
# One wave alone is soonest with both jobs on the device, which takes 4 ms for each. Many waves need the host's two workers beside it.
cat > rate.df <<'END'
platform rate { cpu host { workers = 2; } gpu g { memory = 1 GiB; h2d = 10 GB/s, 1 us; d2h = 10 GB/s, 1 us; engines = 2; } }
kernel src(out v: f32[k]) stream cost cpu 1us;
kernel work(in v: f32[k], out w: f32[k]) cost cpu 10ms gpu 4ms;
kernel fin(in v: f32[k]) ordered cost cpu 1us;
graph main { a: f32[256] = src(); b = work(a); c = work(b); fin(c); }
END
expect rate-reason 0 'why .*on (g|host) each wave would take [0-9.]+ [mu]s longer' "$DFC" explain rate.df
if "$DFC" explain rate.df | grep -q 'less$'; then fail rate-less "$("$DFC" explain rate.df)"; else pass rate-less; fi
expect wave-less 0 'on g the wave would take .* less' "$DFC" explain rate.df --objective=latency --policy=all-cpu

# Who is ahead of all placements, by how much, in what was planned for.
cp "$DF_SOURCE/examples/graphs/study.df" . && cc -std=c11 -D_GNU_SOURCE -o layered "$DF_SOURCE/examples/graphs/layered.c" -lm && ./layered 12 0.5 4 >online.df
expect online 0 'gp found dmda 4 % faster than any placement \(9.49 ms\); the best placement is what follows' \
    "$DFC" explain online.df --workers=3 --budget=1
made() { python3 "$DF_SOURCE/tests/e2e/programs/whatif/whatif.py" "$DFC" stream gp text "$1"; }
made 67 | sed 's/{ *h2d/{ memory = 20 MB; h2d/' > ahead.df
expect online-rate 0 'gp found dmda [0-9]+ % faster than any placement \([0-9.]+ ms a wave\); the best placement is what follows' "$DFC" explain ahead.df --budget=1
expect online-waves 0 '^waves +.* a wave with 8 in flight as dmda decides in the run' "$DFC" partition ahead.df --budget=1
made 3 > even.df
expect online-even 0 'In a run ddfcfs decides; the best placement is no slower in steady state, and is what follows' "$DFC" explain even.df --budget=300

"$DFC" explain "$DF_SOURCE/examples/photo/photo.df" --what-if >a.txt 2>&1; "$DFC" explain "$DF_SOURCE/examples/photo/photo.df" --what-if >b.txt 2>&1
same same-again a.txt b.txt
expect no-file 2 "a .df file is expected" "$DFC" explain
expect places 2 "places nodes before the run" "$DFC" explain chain.df --policy=eager
expect format 2 "one of text, csv" "$DFC" explain chain.df --format=json
expect option 2 "unknown option '--whatif'" "$DFC" explain chain.df --whatif

# Two passes of two parts each: the figures of a wave are sums over the passes. 1 kB there takes 11 us; 0.1 + 2 * (0.011 + 2) ms.
cat > passes.df <<'END'
platform study {
    cpu host { workers = 1; }
    gpu g    { memory = 100 KiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; }
}
kernel src(out p: f32[n]) cost cpu 100us;
kernel back(in p: f32[n], acc vol: f32[z, n] split z) cpu {{ }} cost gpu 1ms;
kernel save(in vol: f32[z, n]) cost cpu 5ms;
graph main { p: f32[250] = src(); vol: f32[160, 250] = back(p) @gpu @parts(4); save(vol); }
END
"$DFC" explain passes.df --objective=throughput --inflight=1 >said 2>&1
check passes-wave grep -q '^waves  *4.12 ms a wave in steady state with 1 in flight, in 2 passes together; the busiest unit .* is loaded 4 ms' said
check passes-bottleneck grep -q '^bottleneck  g: its 1 worker: 97 % of the time' said
check passes-host grep -q '^host, workers  *100 us  *2 %' said
check passes-busy grep -q '^g, computing  *4 ms  *97 %' said
check passes-copies grep -q '^g, copies to it  *22 us  *1 %' said
check passes-way grep -q '^longest way, 1 wave in flight  *2.12 ms  *51 %' said
# What fires once, as save does, is on no way of a wave.
sed -e 's/cost gpu 1ms/cost gpu 1us/' passes.df >short.df
expect passes-limit 0 '^bottleneck +1 wave in flight on the longest way through the graph in each of 2 passes, at most 2 nodes from main/src to main/back.part\[[01]\]' \
    "$DFC" explain short.df --objective=throughput --inflight=1
cat > once.df <<'END'
kernel a(out x: f32[n]) once cost cpu 1ms;
kernel b(in x: f32[n]) cost cpu 1ms;
graph main { x: f32[4] = a(); b(x); }
END
expect once 0 '^bottleneck +none, because every node fires once: 0 % of the time' "$DFC" explain once.df --objective=throughput

# ---- shared resources ----
cat >resource.df <<'EOF'
resource hdf5 = 1;
kernel load(out v: i64[1]) uses(hdf5) cost cpu 5ms;
kernel work(in v: i64[1], out w: i64[1]) cost cpu 2ms;
kernel store(in v: i64[1]) uses(hdf5) cost cpu 1ms;
graph main { for i in 0..4 { v[i]: i64[1] = load(); w[i] = work(v[i]); store(w[i]); } }
platform p { cpu c { workers = 4; } }
EOF
expect resource-bound 0 '^resource.df on p, placed by gp: 24 ms for one wave; no schedule is shorter than 24 ms$' "$DFC" explain resource.df --top=0
expect resource-limits 0 '^bottleneck  hdf5, which 1 job may use at a time: 100 % of the time$' "$DFC" explain resource.df --top=0 --objective=throughput
expect resource-row 0 '^hdf5, shared    24 ms        100 %$' "$DFC" explain resource.df --top=0
expect resource-waves 0 '^dmda +240 ms +1.000 +1.000 ' "$DFC" simulate resource.df --policy=gp,dmda --waves=10
expect resource-two 0 ': 13 ms for one wave; no schedule is shorter than 12 ms$' "$DFC" explain <(sed 's/hdf5 = 1/hdf5 = 2/' resource.df) --top=0
