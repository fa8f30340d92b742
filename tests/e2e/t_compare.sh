# dfc compare: table, CSV and SVG of real runs; failures are shown; nothing is left behind.
export TMPDIR=$PWD/tmp
mkdir tmp
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu} .
quick="--runs=3 --nvcc=none"

"$DFC" compare sum.df $quick --device=emu --csv=c.csv --svg=c.svg >table 2>err; rc=$?
if [ $rc = 0 ]; then pass run; else fail run "exit $rc: $(cat err)"; fi
for policy in eager ws dmda gp-thesis gp 'default \((gp|dmda)\)'; do
    expect "row-$policy" 0 "^$policy +~?[0-9.]+ [mun]?s +[0-9.]+ % +[0-9.]+( +[0-9]+){3} +[0-9.]+ [KM]?i?B" cat table
done
expect head 0 "sum.df, with the emulated GPU: 3 runs of 1 wave" cat table
expect warm-up 0 "^warming up" cat err
if grep -q '^[0-9.]*$' table && grep -qE '^[0-9]+\.[0-9]{6}$' table; then fail output-thrown-away "$(head -n 3 table)"; else pass output-thrown-away; fi

expect emulated-says-nothing 0 "^the emulated GPU computes on this machine's own cores: these times say nothing about schedules with a GPU;$" cat table
expect help-names-the-default-list 0 "policies to compare \(eager,ws,dmda,gp-thesis,gp,default\)" "$DFC" compare --help

cp "$programs/check.py" .
check figures python3 check.py c.csv c.svg 4 4

# 'default' is a run without --policy. On one worker without devices that is all-cpu, with more of them ws.
expect default-one 0 "^default \(all-cpu\) +" "$DFC" compare sum.df $quick --policies=default --device=none --workers=1
expect default-two 0 "^default \(ws\) +" "$DFC" compare sum.df $quick --policy=default --device=none --workers=2 --waves=5
"$DFC" compare sum.df $quick --policy=ws --device=none --workers=1 >table
if grep -q 'emulated' table; then fail emulated-alone "$(cat table)"; else pass emulated-alone; fi

check form "$DFC" compare "$DF_SOURCE/examples/graphs/cholesky.df" -D T=3 --rehearse=1x --runs=1 --policy=gp,ws --format=csv -o form.csv --csv=too.csv
expect form-csv 0 "^ws,1,1,[0-9.e-]+," cat form.csv
same form-too form.csv too.csv

# Rehearsed: predicted beside rehearsed, in the table, in the CSV and as pairs of bars. The default is what a program would choose: gp's
# plan if all times are known; dmda for several waves, for which the program carries no plan.
graphs=$DF_SOURCE/examples/graphs
"$DFC" compare "$graphs/cholesky.df" -D T=3 --rehearse --runs=1 --csv=r.csv --svg=r.svg >table 2>err; rc=$?
if [ $rc = 0 ]; then pass rehearse; else fail rehearse "exit $rc: $(cat err)"; fi
for policy in eager ws dmda gp-thesis gp 'default \(gp\)'; do
    expect "rehearsed-$policy" 0 "^$policy +[0-9.]+ [mun]?s +[0-9.]+ % +[0-9.]+ +[0-9.]+ [mun]?s +[+-][0-9.]+ %( +[0-9]+){3} " cat table
done
if grep -q 'emulated' table; then fail rehearsed-alone "$(cat table)"; else pass rehearsed-alone; fi
check rehearsed-figures python3 check.py r.csv r.svg 10 22     # 12 of the 22 nodes cost nothing
"$DFC" simulate "$graphs/cholesky.df" -D T=3 --policy=eager,ws,dmda,gp-thesis,gp --format=csv >s.csv
expect predicted-as-simulated 0 '^6 agree$' python3 - <<'END'
import csv
simulated = {r["policy"]: float(r["makespan_s"]) for r in csv.DictReader(open("s.csv"))}
rows = list(csv.DictReader(open("r.csv")))
wrong = [r for r in rows if abs(float(r["predicted_s"]) / simulated["gp" if r["policy"] == "default (gp)" else r["policy"]] - 1) > 1e-6]
print(wrong or f"{len(rows)} agree")
END
expect rehearsed-waves 0 "^default \(dmda\) +" "$DFC" compare "$graphs/cholesky.df" -D T=3 --rehearse --runs=1 --waves=3 --policy=default
one="$graphs/cholesky.df -D T=3 --device=none --workers=1"
predicted=$("$DFC" simulate $one --policy=all-cpu --format=csv | awk -F, 'NR == 2 { print $4 }')
expect rehearsed-one 0 "^default \(all-cpu\),.*,$predicted," "$DFC" compare $one --rehearse --runs=1 --policy=default --csv=/dev/stdout

# Two emulated GPUs, which send to each other what the plan has them exchange.
cat > pair.df <<'END'
platform pair {
    cpu host { workers = 1; }
    gpu a { memory = 64 MiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; peer = 10 GB/s, 5 us; engines = 2; }
    gpu b { memory = 64 MiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; peer = 10 GB/s, 5 us; engines = 2; }
}
kernel make(out v: f32[k])                cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }} gpu {{ }} cost gpu 1ms;
kernel twist(in v: f32[k], out w: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) w[i] = v[i] + 1; }} gpu {{ }} cost gpu 30ms;
kernel join(in v: f32[k], in w: f32[k])   cpu {{ (void)v, (void)w; }} gpu {{ }} cost gpu 1ms;
graph main { v: f32[1000] = make() @gpu; a = twist(v) @gpu; b = twist(v) @gpu; join(a, b) @gpu; }
END
expect between 0 "from gpu +bytes +between +bytes +evictions" "$DFC" compare pair.df --runs=1 --nvcc=none --policy=heft --device=emu --csv=p.csv
expect between-csv 0 "^heft,.*,2,8000$" cat p.csv
if grep -q between table; then fail no-between "copies between devices where there is one"; else pass no-between; fi

expect waves 0 "2 runs of 5 waves" "$DFC" compare sum.df --runs=2 --nvcc=none --policy=ws,dmda --waves=5 --device=none
expect args 0 "1 run of 1 wave" "$DFC" compare sum.df --runs=1 --nvcc=none --policy=ws --device=none -- --seed=5
expect twice-named 2 "^dfc: error: --policy and --policies are one option: give one of them$" "$DFC" compare sum.df --policies=ws --policy=eager
cat >free.df <<'END'
platform study { cpu host { workers = 1; } }
kernel src(out v: f32[k]) cost cpu 0s;
kernel sink(in v: f32[k]) cost cpu 0s;
graph main { a: f32[1] = src(); sink(a); }
END
expect predicted-zero 0 "^ws +0 s +0.0 % +1.00 +0 s +- +0$" "$DFC" compare free.df --rehearse --runs=1 --policy=ws
expect no-gpu-note 0 "compare with --device=emu|with one GPU|with several GPUs" "$DFC" compare sum.df --runs=1 --policy=ws --nvcc-flags=-arch=compute_80
expect unknown-policy 2 "unknown policy 'eagre'; did you mean 'eager'" "$DFC" compare sum.df --policy=ws,eagre
expect bad-runs 2 "--runs=0" "$DFC" compare sum.df --runs=0
expect no-file 2 "a .df file is expected" "$DFC" compare
expect unwritable 1 "cannot write '/nowhere/c.svg'" "$DFC" compare sum.df --svg=/nowhere/c.svg
expect program-option 1 "unknown option '--bad'" "$DFC" compare sum.df $quick -- --bad=1
cat > bad.df <<'END'
kernel src(out v: i32[k]) cpu {{ v[0] = (int)df_wave(call); }};
kernel last(in v: i32[k]) ordered cpu {{ if (v[0] == 3) return df_fail(call, "no %d", 3); }};
graph main { a: i32[4] = src(); last(a); }
END
expect kernel-fails 1 "node 'main/last', wave 3: no 3" "$DFC" compare bad.df --runs=1 --waves=5 --device=none
expect kernel-fails-status 1 "policy eager: the program failed with status 1" "$DFC" compare bad.df --runs=1 --waves=5 --device=none

cat > slow.df <<'END'
kernel src(out v: i32[k]) cpu {{ v[0] = 0; }};
kernel last(in v: i32[k]) cpu {{ volatile double x = v[0]; for (long i = 0; i < 20000000000L; i++) x += 1; }};
graph main { a: i32[4] = src(); last(a); }
END
"$DFC" compare slow.df --device=none >out 2>&1 & pid=$!
for i in $(seq 1000); do grep -q warming out && break; sleep 0.1; done
sleep 0.2; kill -TERM $pid; wait $pid
expect ended-by-signal 0 143 echo $?
for i in $(seq 200); do pgrep -f "$PWD/tmp/" >/dev/null || break; sleep 0.1; done
if pgrep -f "$PWD/tmp/" >/dev/null; then fail program-ended "it still runs"; else pass program-ended; fi
if [ -z "$(ls tmp)" ]; then pass nothing-left; else fail nothing-left "$(ls tmp)"; fi
