# Promises: `dfc check` gives or refuses them, with what prevents them and what would make them hold.
cat >frames.df <<'END'
platform box { cpu cpu0 { workers = 2; } gpu gpu0 { memory = 1 GiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; } }
param frames = 41;
kernel read(out v: u8[1000000]) stream cost cpu 2ms;
kernel blur(in v: u8[n], out w: u8[n]) cost cpu 40ms gpu 10ms;
kernel write(in v: u8[n]) ordered cost cpu 3ms;
graph main {
    promise { rate >= frames / s; latency <= 90 ms; memory gpu0 <= 30 MB; }
    v = read();
    w = blur(v);
    x = blur(w);
    write(x);
}
END
expect in-graph 0 '^promise latency <= 90 ms, confidence 0.99$' "$DFC" --emit=graph frames.df
expect given 0 ': 2 of 2 promises given \(1 simulated run, 64 waves each, 8 in flight\)$' "$DFC" check <(sed 's/latency <= 90 ms;//' frames.df)
"$DFC" check frames.df >report; [ $? = 1 ] && pass refused-status || fail refused-status "$(<report)"
cat >report.want <<'END'
frames.df on box, placed by gp: 2 of 3 promises given (1 simulated run, 64 waves each, 8 in flight)

promise                   derived  confidence    spare  verdict
rate >= 41 / s           69.5 / s       0.990  +69.4 %    given
latency <= 90 ms           138 ms       0.990  -53.1 %  refused
memory gpu0 <= 28.6 MiB  15.3 MiB       0.990  +46.5 %    given

latency <= 90 ms is refused: a wave that takes 138 ms computes for 55.0 ms on its longest way, of which main/blur#1 takes 40.0 ms on cpu0 (40.0 ms on average), and waits for 82.8 ms, most of it (47.4 ms) before main/write

each of these changes makes all promises hold

change                                 option  then
5 waves in flight in place of 8  --inflight=5  rate 66.7 / s, latency 85.0 ms, memory gpu0 9.57 MiB
4 CPU workers in place of 2       --workers=4  rate 89.7 / s, latency 89.6 ms, memory gpu0 15.3 MiB
2 GPUs like gpu0 in place of 1              -  rate 114 / s, latency 68.0 ms, memory gpu0 15.3 MiB
kernel blur in 60 % of its time             -  rate 112 / s, latency 73.0 ms, memory gpu0 15.3 MiB
promise { latency <= 138 ms; }              -  as derived above
END
same report report report.want
"$DFC" check frames.df >again; same same-again again report
# Each remedy makes all promises hold.
check fewer-waves "$DFC" check frames.df --inflight=5
expect more-waves 1 'refused' "$DFC" check frames.df --inflight=6
check workers "$DFC" check frames.df --workers=4
expect fewer-workers 1 'refused' "$DFC" check frames.df --workers=3
sed 's/gpu gpu0 {[^}]*}/& gpu gpu1 { memory = 1 GiB; h2d = 6 GB\/s, 10 us; d2h = 6 GB\/s, 10 us; }/' frames.df >two.df; check gpus "$DFC" check two.df
sed 's/cpu 40ms gpu 10ms/cpu 24ms gpu 6ms/' frames.df >faster.df; check kernel "$DFC" check faster.df
sed 's/latency <= 90 ms/latency <= 138 ms/' frames.df >weaker.df; check weaker "$DFC" check weaker.df
# What no placement can do is said; and memory, whose remedy is fewer waves in flight.
expect rate-limit 1 '^rate >= 80 / s is refused: it is limited by gpu0: its 1 worker; no placement on this machine reaches more than 70.6 / s$' "$DFC" check frames.df -D frames=80
sed 's/30 MB/8 MB/; s/latency <= 90 ms;//' frames.df >less.df
expect memory 1 '^memory gpu0 <= 7.63 MiB is refused: 8 waves in flight and the jobs that run meanwhile need it$' "$DFC" check less.df
n=$("$DFC" check less.df | sed -nE 's/^([0-9]+) waves? in flight in place.*/\1/p'); check memory-remedy "$DFC" check less.df --inflight="$n"
expect no-unit 1 "^dfc: error: memory of 'gpu0' is promised, and platform 'box' has no unit of this name$" "$DFC" check less.df --device=none
# The converse: the least machines that would do.
"$DFC" check frames.df -D frames=120 --machines --format=json >machines.json
check machines python3 - <<'PY'
import json
said = json.load(open("machines.json"))
assert said["given"] is False and [p["verdict"] for p in said["promises"]] == ["refused", "refused", "given"]
machines = [(m["workers"], m["gpus"]) for m in said["machines"]]
assert machines[0] == (4, 2) and all(m["gpu_bytes"] <= 30e6 for m in said["machines"]), machines
PY
check machine "$DFC" check two.df -D frames=120 --workers=4
expect smaller-machine 1 'refused' "$DFC" check two.df -D frames=120 --workers=3
expect csv 1 '^latency <= 90 ms,0.137[0-9]+,0.09,0.99,-0.53[0-9]*,refused,"a wave that takes ' "$DFC" check frames.df --format=csv
# A plan that was written down is kept.
"$DFC" plan frames.df --inflight=5 -o five.lock && check lock "$DFC" check frames.df --lock=five.lock --inflight=5
expect lock-promises 0 '"promises": "rate >= 41 / s; latency <= 90 ms; memory gpu0 <= 28.6 MiB; confidence 0.99;",$' cat five.lock
expect lock-changed 0 '^promises +rate >= 41 / s; latency <= 90 ms; .* rate >= 41 / s; latency <= 138 ms; .* changed$' "$DFC" plan --check five.lock weaker.df
expect lock-no-more 0 '^promises +rate >= 41 / s; .* changed$' "$DFC" plan --check five.lock <(sed 's/promise {.*}//' frames.df)
# One wave, if nothing streams and no rate is promised.
cat >one.df <<'END'
kernel a(out v: u8[9]) cost cpu 5ms;
kernel b(in v: u8[n], out w: u8[n]) cost cpu 10ms;
kernel c(in v: u8[n], in w: u8[n]) cost cpu 1ms;
graph main { promise { latency <= 16 ms; } v = a(); w = b(v); x = b(v); c(w, x); }
END
check one-wave "$DFC" check one.df --device=none --workers=2
expect one-wave-refused 1 '^2 CPU workers in place of 1' "$DFC" check one.df --device=none --workers=1
# Errors.
expect nothing 1 "^dfc: error: .*: the graph promises nothing$" "$DFC" check <(sed 's/promise {.*}//' frames.df)
cat >profiled.df <<'END'
kernel read(out v: f32[5000]) stream cpu {{ for (size_t i = 0; i < 5000; i++) v[i] = (float)i; return df_wave(call) < 50 ? DF_OK : DF_END; }};
kernel work(in v: f32[n], out w: f32[n]) { w[i] = sqrt(v[i]); }
kernel write(in v: f32[n]) ordered cpu {{ if (v[3] < 0) return DF_FAILED; }};
graph main { promise { rate >= 0.001 / s; latency <= 1000 s; } v = read(); w = work(v); write(w); }
END
export DFC_PROFILE=$PWD/promises.db
expect unknown 1 "^profiled.df:4:.*error: kernel 'read' has no profile on cpu for these sizes$" "$DFC" check profiled.df
expect unknown-command 1 "^hint: 'dfc profile profiled.df' measures it, a cost states it: 'cost cpu 2ms'$" "$DFC" check profiled.df
check profile "$DFC" profile profiled.df -w --max-time=20ms
expect profiled 0 ': 2 of 2 promises given \(300 simulated runs, 64 waves each, ' "$DFC" check profiled.df --device=none
expect unknown-gpu 1 "^hint: 'dfc profile profiled.df' measures it on a machine with that device, .*; --device=none leaves the GPU out$" "$DFC" check profiled.df
python3 -c 'import sqlite3; db = sqlite3.connect("promises.db"); db.execute("UPDATE samples SET quantiles = NULL"); db.commit()'
expect no-spread 1 "error: kernel 'read' was measured on cpu without the spread of its times$" "$DFC" check profiled.df --device=none
python3 -c 'import sqlite3; db = sqlite3.connect("promises.db"); db.execute("UPDATE samples SET quantiles = \"1 0.5\""); db.commit()'
expect bad-spread 1 "error: kernel 'read' was measured on cpu without the spread of its times$" "$DFC" check profiled.df --device=none
cat >parts.df <<'END'
kernel make(out v: f32[1000]) stream restart cost cpu 1ms;
kernel add(in v: f32[n], acc s: f32[y] split y) cost cpu 1ms gpu 1ms;
kernel show(in s: f32[y]) cost cpu 1ms;
graph main { promise { rate >= 1 / s; } v = make(); s: f32[200000] = add(v) @passes(4); show(s); }
END
expect passes 1 "^dfc: error: the waves go by in 4 passes: nothing can be promised of such runs$" "$DFC" check parts.df

# A program says how long its waves took, which were late and why. The bound is a param: 1 ns is missed by all waves, 1000 s by none.
cat >late.df <<'END'
param limit = 1000000000000 dynamic;
kernel read(out v: i64[64]) stream cpu {{ v[0] = df_wave(call); return df_wave(call) < 40 ? DF_OK : DF_END; }} cost cpu 1us;
kernel work(in v: i64[n], out w: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) w[i] = v[i] + 1; }} cost cpu 2us gpu 1us;
kernel write(in w: i64[n]) ordered cpu {{ printf("%ld\n", (long)w[0]); }} cost cpu 1us;
graph main {
    promise { latency <= limit * 1 ns; rate >= 0.001 / s; confidence 0.9; }
    v = read();
    w = work(v);
    write(w);
}
END
check compile-late "$DFC" late.df -o late --nvcc=none
seq 40 >forty
late() { # NAME LATE ARG…: the statistics of a run in which so many waves are late, and its output
    local name=$1 n=$2; shift 2
    ./late --stats=json --stats-file=stats.json "$@" >out 2>err || fail "$name-run" "$(<err)"
    same "$name-output" out forty
    python3 - "$n" >said 2>&1 <<'PY' && pass "$name" || fail "$name" "$(tail -n 2 said err | tr '\n' ' ')"
import json, re, sys
stats = json.load(open("stats.json"))
latency, late = stats["latency"], int(sys.argv[1])
assert latency["waves"] == 40 and latency["late"] == late and len(latency["causes"]) == min(8, late), latency
assert 0 < latency["p50_s"] <= latency["p99_s"] <= latency["worst_s"] and latency["rate"] > 0 and latency["promised_rate"] == 0.001 and latency["confidence"] == 0.9
assert all(c["latency_s"] > latency["promised_s"] and re.fullmatch(r"main/\w+ (took .* on \w+(, .* expected)?|waited .* for a worker or a copy)", c["cause"]) for c in latency["causes"])
PY
}
late none-late 0 --workers=2
late all-late 40 --workers=2 --limit=1
for way in --policy=ws --policy=dmda --workers=1 --serial "--device=emu --emu-all" "--device=emu --emu-all --policy=all-gpu --cuda-graphs=on" --trace=t.json --inflight=1; do late "late$way" 40 --limit=1 $way; done
expect stats-text 0 '^promised +1 ns: 40 of 40 waves took longer \(100 %; 10 % may\)$' ./late --limit=1 --stats
expect stats-percentiles 0 '^latency +[0-9.]+ .?s \(median\), [0-9.]+ .?s \(99 %\), [0-9.]+ .?s \(worst\)$' ./late --stats
expect stats-causes 0 '^    … and 32 more$' ./late --limit=1 --stats
expect stats-rate 0 '^rate +[0-9.e+]+ / s, 0.001 / s promised$' ./late --stats
./late --limit=1 --stats=totals 2>err >out; grep -q '^latency' err && fail not-by-totals "$(<err)" || pass not-by-totals
expect warn 0 '^warning: wave 0 took .*, and 1 ns is promised: main/(read took .* on |work waited |write waited |work took |write took )' ./late --limit=1 --on-late=warn
./late --limit=1 --on-late=warn >out 2>err; same warn-output out forty
./late --on-late=warn >out 2>err; [ ! -s err ] && pass no-warning || fail no-warning "$(<err)"
check not-late ./late --on-late=fail
expect fail 1 '^late: error: --on-late=fail: wave [0-9]+ took .*, and 1 ns is promised: main/' ./late --limit=1 --on-late=fail
expect drop 2 '^late: error: --on-late=drop: one of warn, fail is expected$' ./late --on-late=drop
expect virtual 2 "^late: error: --on-late: 'dfc check' derives latencies in virtual time, and --device=sim is that$" ./late --on-late=warn --device=sim
expect rehearsed 1 '^late: error: --on-late: the waves of this run have no latency, because it is a rehearsal$' ./late --on-late=warn --rehearse=1x --waves=5
expect by-plan 0 "^policy +gp \(default: the graph makes promises, which were derived for the program's plan, and that fits\)$" ./late --stats --device=emu --emu-all
check compile-cpu "$DFC" late.df --device=none --workers=2 -o late-cpu
expect by-plan-on-cpus 0 "^policy +gp \(default: the graph makes promises, " ./late-cpu --stats --workers=2
in_flight=$("$DFC" check late.df --device=none --workers=2 | sed -n 's/.*, \([0-9]*\) in flight)$/\1/p')
expect as-many-in-flight 0 "^waves in flight +${in_flight:-none}$" ./late-cpu --stats --workers=2
sed 's/latency <= limit \* 1 ns; //' late.df >rate.df; check compile-rate "$DFC" rate.df -o rate --nvcc=none
expect no-latency 1 '^rate: error: --on-late: the graph promises no latency$' ./rate --on-late=warn
expect rate-alone 0 '^rate +[0-9.e+]+ / s, 0.001 / s promised$' ./rate --stats
