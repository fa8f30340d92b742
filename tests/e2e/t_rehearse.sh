# --rehearse: waits in place of kernels and copies. Rehearsed makespans are compared with predicted ones, on platforms that this machine
# is not; refusals; the figures' scale; memory that is never touched.
graphs=$DF_SOURCE/examples/graphs
export DFC_PROFILE=/nonexistent/profile.db

# close NAME MOST POLICIES OPTIONS…: each policy's rehearsal is within MOST of its prediction, in one of six comparisons: this machine may be
# late. A comparison in which it was more than 1 ms late says nothing. If fewer than three of them say something, or three times as many processes as there
# are cores want to run, the test is skipped.
close() {
    local name=$1 most=$2 policies=$3 try why load off= n_off=0; shift 3
    for try in 1 2 3 4 5 6; do
        if ! "$DFC" compare "$@" --rehearse --runs=1 --policy="$policies" --csv=c.csv >out 2>err; then
            fail "$name" "$(cat err)"; return
        fi
        why=$(awk -F, -v most="$most" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { off = $at["median_s"] / $at["predicted_s"] - 1; late += $at["late"]
              if (off > most || off < -most) print $1 ": " off }
            END { if (late) print "late" }' c.csv)
        case $why in
        '') pass "$name"; return ;;
        *late*) ;;
        *) off=$why n_off=$((n_off + 1)) ;;
        esac
    done
    read -r load _ </proc/loadavg
    if [ $n_off -lt 3 ]; then skip "$name" "this machine is late in $((6 - n_off)) of 6 runs"
    elif [ "${load%.*}" -ge $((3 * $(nproc))) ]; then skip "$name" "this machine is busy, its load is $load: $off"
    else fail "$name" "$off"; fi
}

close placed 0.03 gp,heft,peft,gp-thesis,all-cpu "$graphs/cholesky.df" -D T=5 --device=none --workers=8
close online 0.10 dmda,dmdas,eager,ws "$graphs/cholesky.df" -D T=5 --device=none --workers=8
close device 0.05 heft,gp-thesis,all-gpu "$graphs/cholesky.df" -D T=5
close device-online 0.10 dmda,random "$graphs/cholesky.df" -D T=5

# Policies that decide while the graph runs do what they do in virtual time, unless jobs end at the same time.
close all 0.05 gp,heft,peft,gp-thesis,all-cpu,dmda,dmdas,pats,eager,ws "$graphs/cholesky.df" -D T=5

# A plan that says eager --dl --prefetch, in memory for little more than one wave: the threads follow its options. With locality alone the rehearsal takes a quarter longer.
close options 0.03 gp "$DF_SOURCE/tests/e2e/programs/waves/options.df" --inflight=8 --waves=32

# Data for jobs of the host comes from a device while the only CPU worker is busy. The first to come is for the less urgent job, which must
# not be taken first: the other has a long job behind it.
cat > urgent.df <<'EOF'
platform p { cpu host { workers = 1; } gpu a { memory = 1 GB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; } }
kernel busy(out v: bytes[8])                cost cpu 10ms;
kernel one(out v: bytes[8])                 cost gpu 1ms;
kernel two(in u: bytes[8], out v: bytes[8]) cost gpu 1ms;
kernel low(in v: bytes[8])                  cost cpu 5ms;
kernel high(in v: bytes[8], out w: bytes[8]) cost cpu 5ms;
kernel long(in w: bytes[8])                 cost gpu 30ms;
kernel end(in v: bytes[8])                  cost cpu 1ms;
graph main { e = busy(); end(e); a = one(); b = two(a); low(a); h = high(b); long(h); }
EOF
close urgent 0.03 heft urgent.df
expect urgent-s 0 '0\.045' sh -c '"$DFC" simulate urgent.df --policy=heft --format=csv'

# A device does not take a job whose data is still on its way from another device to the host: it has a job that can run.
cat > by_host.df <<'EOF'
platform p {
    cpu host { workers = 1; }
    gpu a { memory = 1 GB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; }
    fpga b { memory = 1 GB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; }
}
kernel make(out v: bytes[10000000])         cost gpu 2ms;
kernel soon(out v: bytes[8])                cost cpu 3ms;
kernel next(in v: bytes[10000000], out w: bytes[8]) cost fpga 5ms;
kernel last(in w: bytes[8])                 cost fpga 20ms;
kernel meanwhile(in v: bytes[8])            cost fpga 15ms;
graph main { v = make(); w = next(v); last(w); s = soon(); meanwhile(s); }
EOF
close by-host 0.03 heft by_host.df

# Sinks that cost nothing take no worker, even if their data is on a device and all workers are busy. Here they are among the copies that
# others wait for.
cat > sinks.df <<'EOF'
platform p { cpu host { workers = 2; } gpu a { memory = 1 GB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; } }
kernel init(out v: bytes[1000000])          cost cpu 0us;
kernel step(in v: bytes[1000000], out w: bytes[1000000]) cost gpu 2ms;
kernel host(in v: bytes[1000000], out w: bytes[1000000]) cost cpu 9ms;
kernel fetch(in v: bytes[1000000])          cost cpu 0us;
graph main { for i in 0..6 { a[i] = init(); b[i] = step(a[i]); fetch(b[i]); c[i] = host(b[i]); d[i] = step(c[i]); fetch(d[i]); } }
EOF
close sinks 0.03 eager,dmda,ws,heft sinks.df

# A device has just taken a job of 10 us when a job of the host ends. In virtual time the device takes p, because q becomes ready 40 us after that,
# 16 times. In a rehearsal 40 us are a race.
cat > brief.df <<'EOF'
platform p { cpu host { workers = 1; } gpu a { memory = 1 GB; h2d = 1 GB/s, 1 us; d2h = 1 GB/s, 1 us; engines = 2; } }
kernel begin(out v: bytes[8])               cost cpu 0us;
kernel x(in u: bytes[8], out v: bytes[8])   cost cpu 5.05ms;
kernel a(in u: bytes[8], out v: bytes[8])   cost gpu 5ms;
kernel b(in u: bytes[8], out v: bytes[8])   cost gpu 10us;
kernel p(in u: bytes[8], out v: bytes[8])   cost cpu 15ms gpu 10ms;
kernel q(in u: bytes[8], out v: bytes[8])   cost cpu 20ms gpu 10ms;
kernel join(in u: bytes[8], in v: bytes[8], in w: bytes[8], out y: bytes[8]) cost cpu 0us;
kernel end(in v: bytes[8])                  cost cpu 1ms;
graph main {
    j[0] = begin();
    for i in 0..16 {
        s[i] = a(j[i]); t[i] = b(s[i]); r[i] = p(j[i]); u[i] = x(j[i]); w[i] = q(u[i]);
        j[i + 1] = join(t[i], r[i], w[i]);
    }
    end(j[16]);
}
EOF
expect brief-s 0 'pats,0\.4018' sh -c '"$DFC" simulate brief.df --policy=pats --format=csv'

# Two jobs of the host end 1 us after each other, and the second makes two jobs ready. The device takes the first of these, although its
# thread sleeps then, and although it will see the end of a copy soon after.
cat > asleep.df <<'EOF'
platform p { cpu host { workers = 2; } gpu a { memory = 1 GB; h2d = 1 GB/s, 1 us; d2h = 1 GB/s, 1 us; engines = 2; } }
kernel m(out v: bytes[8])                   cost cpu 10ms;
kernel n(out v: bytes[8])                   cost cpu 10.001ms;
kernel z(out v: bytes[100000])              cost gpu 9.95ms;
kernel fetch(in v: bytes[100000])           cost cpu 0us;
kernel first(in v: bytes[8])                cost cpu 30ms gpu 5ms;
kernel second(in v: bytes[8])               cost cpu 5ms gpu 30ms;
graph main { _ = m(); y = n(); w = z(); fetch(w); first(y); second(y); }
EOF
close asleep 0.03 eager asleep.df
expect asleep-s 0 'eager,0\.01500' sh -c '"$DFC" simulate asleep.df --policy=eager --format=csv'

# The data of 60 jobs is sent to a device at once. The most urgent job is taken first, and its data goes before what waits for the link.
cat > ahead.df <<'EOF'
platform p { cpu host { workers = 2; } gpu a { memory = 1 GB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; } }
kernel init(out v: bytes[990000])           cost cpu 0us;
kernel step(in v: bytes[990000])            cost gpu 100us;
kernel urgent(in v: bytes[990000], out w: bytes[8]) cost gpu 100us;
kernel long(in w: bytes[8])                 cost cpu 50ms;
graph main { for i in 0..60 { a[i] = init(); step(a[i]); } b = init(); c = urgent(b); long(c); }
EOF
close ahead 0.03 dmdas ahead.df
expect ahead-s 0 'dmdas,0\.084' sh -c '"$DFC" simulate ahead.df --policy=dmdas --format=csv'

# Waves, an ordered node, a gang of three, and a limited memory.
cat > all.df <<'EOF'
platform p {
    cpu host { workers = 6; }
    gpu a { memory = 24 MB; h2d = 10 GB/s, 10 us; d2h = 10 GB/s, 10 us; peer = 20 GB/s, 5 us; engines = 2; }
    gpu b { memory = 24 MB; h2d = 10 GB/s, 10 us; d2h = 10 GB/s, 10 us; peer = 20 GB/s, 5 us; engines = 1; }
}
kernel make(out v: bytes[k])                cost cpu 2ms;
kernel twist(in v: bytes[k], out w: bytes[k]) cost cpu 9ms gpu 3ms;
kernel join(in v: bytes[k], in w: bytes[k], out s: bytes[k])  cost cpu 9ms gpu 3ms;
kernel last(in v: bytes[k]) ordered        cost cpu 1ms;
graph main {
    for i in 0..4 { a[i]: bytes[4000000] = make(); b[i] = twist(a[i]); c[i] = twist(b[i]); s[i] = join(b[i], c[i]); last(s[i]); }
}
EOF
expect waves 0 "1 run of 12 waves" "$DFC" compare all.df --rehearse=1x --runs=1 --waves=12 --policy=heft,dmda,ws,all-gpu --csv=w.csv
expect jobs 0 '^([^,]+,){10}(240|[0-9]+,)' cat w.csv
expect all-jobs 0 '^ok$' awk -F, 'NR > 1 && $11 + $12 != 240 { print "jobs: " $0; bad = 1 } END { print bad ? "not ok" : "ok" }' w.csv
expect evictions 0 '^[1-9]' awk -F, '$1 == "all-gpu" { print $17 }' w.csv
expect lateness 0 "rehearsed at [0-9.]+x, given at 1x; wake-ups late by" cat out
expect chart 0 "rehearsed" sh -c '"$DFC" compare all.df --rehearse=1x --runs=1 --policy=heft --svg=r.svg >/dev/null && cat r.svg'

# 10 tokens of 50 GB each: their addresses are reserved, and nothing of them is touched. The thread sanitizer has room for no larger ones.
cat > huge.df <<'EOF'
platform p { cpu host { workers = 40; } gpu a { memory = 64 TB; h2d = 1 PB/s, 1 us; d2h = 1 PB/s, 1 us; engines = 2; } }
kernel make(out v: bytes[50000000000]) cost cpu 3ms gpu 2ms;
kernel take(in v: bytes[50000000000])  cost cpu 3ms gpu 2ms;
graph main { for i in 0..10 { a[i] = make(); take(a[i]); } }
EOF
sed -i 's/1 PB/1000000 GB/g' huge.df
expect huge 0 "^heft" sh -c 'ulimit -t 20; "$DFC" compare huge.df --rehearse=2x --runs=1 --policy=heft,dmda'

# Programs.
cat > p.df <<'EOF'
platform p { cpu host { workers = 3; } gpu a { memory = 64 MiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; } }
kernel src(out v: i32[k]) stream cpu {{ if (df_wave(call) == 5) return DF_END; v[0] = 1; }} gpu {{ }} cost cpu 1ms gpu 1ms;
kernel work(in v: i32[k], out w: i32[k]) cpu {{ w[0] = v[0]; }} gpu {{ }} cost cpu 4ms gpu 2ms;
kernel team(in v: i32[k], out w: i32[k]) threads(3) cpu {{ w[0] = v[0]; }} cost cpu 4ms;
kernel say(in v: i32[k]) ordered cpu {{ return df_fail(call, "called with %d", v[0]); }} cost cpu 1ms;
graph main { a: i32[1000] = src(); b = work(a); c = team(b); say(c); }
EOF
check make-program "$DFC" p.df -o p --nvcc=none
expect program 0 "^rehearsed +at 2x" sh -c './p --rehearse=2x --waves=10 --stats --policy=ws 2>&1'
expect no-output 0 '^$' sh -c './p --rehearse=2x --waves=10 --policy=eager; echo'
expect all-waves 0 "^waves +10$" sh -c './p --rehearse=2x --waves=10 --stats --policy=dmda 2>&1'
expect json 0 '"rehearsal": \{"scale": 2, "waits": [0-9]+, "late": [0-9]+, "late_median_s": ' sh -c './p --rehearse=2x --waves=10 --stats=json 2>&1'
expect chosen 0 "^rehearsed +at [0-9.]+x" sh -c './p --rehearse --waves=10 --stats 2>&1'
# A trace is at 1x: a job of 4 ms takes 4 ms, and longer only if a thread wakes up late.
./p --rehearse=5x --waves=10 --policy=heft --trace=t.json
expect trace 0 '^ok$' python3 - <<'EOF'
import json
events = [e for e in json.load(open("t.json"))["traceEvents"] if e.get("ph") == "X"]
team = sorted(e["dur"] for e in events if "team" in e["name"])
good = len(team) == 10 and team[0] > 3995 and team[4] < 4005
print("ok" if good else f"{len(events)} events, {team}")
EOF

# What cannot be rehearsed.
expect stream 1 "nobody knows when a stream ends: say how many waves to run" ./p --rehearse
for option in --check=variants --dump=main/work --record-job=failed --poison --watchdog=10s --serial --learn; do
    expect "no$option" 2 "--rehearse calls no kernel: it does not go with ${option%%=*}" ./p --rehearse --waves=2 $option
done
for device in emu cuda opencl sim; do
    expect "no-$device" 2 "--rehearse has the platform's devices: it does not go with --device" ./p --rehearse --device=$device
done
for scale in 0x 10 x -1x nanx infx 1e10x ''; do
    expect "scale-$scale" 2 "--rehearse: '$scale' is not a scale; write how many times longer" ./p "--rehearse=$scale"
done
expect compare-scale 2 "rehearse: 'fast' is not a scale" "$DFC" compare all.df --rehearse=fast
expect compare-program 2 "no program is made" "$DFC" compare all.df --rehearse -- --seed=3
expect compare-device 2 "does not go with --device=emu" "$DFC" compare all.df --rehearse --device=emu
expect compare-waves 2 "--waves" "$DFC" compare all.df --rehearse --waves=0
cat > many.df <<'EOF'
platform two { cpu host { workers = 2; } mic mic { workers = 2; memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; } }
kernel make(out v: i32[k]) cost cpu 1ms mic 1ms;
kernel take(in v: i32[k])  cost cpu 1ms mic 1ms;
graph main { a: i32[4] = make(); take(a); }
EOF
expect many-workers 1 "unit 'mic' of platform 'two' has 2 workers: only devices with one worker can be rehearsed" \
    "$DFC" compare many.df --rehearse --runs=1 --policy=ws
