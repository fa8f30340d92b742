# dfc simulate: the figures of every policy in virtual time, their formats, and the Gantt chart.
cp "$programs/graph.df" .
header=graph,platform,policy,makespan_s,lower_bound_s,h2d_bytes,d2h_bytes,copies,evictions,cpu_busy_s,gpu_busy_s,plan_ms
no_plan_ms() { sed 's/,[^,]*$//' "$1"; }

check csv "$DFC" simulate graph.df --format=csv -o a.csv
"$DFC" simulate graph.df --policy=all --format=csv >b.csv 2>err || fail again "$(cat err)"
no_plan_ms a.csv >a.cut; no_plan_ms b.csv >b.cut
same repetition b.cut a.cut
if [ "$(head -n 1 a.csv)" = "$header" ]; then pass columns; else fail columns "$(head -n 1 a.csv)"; fi

# One line per policy, in the order of --help; nobody beats the bound; the GPU and its engines are never over-used.
tail -n +2 a.csv | cut -d, -f3 >policies
for p in eager ws dmda gp-thesis all-cpu all-gpu; do
    if [ "$(grep -cx "$p" policies)" = 1 ]; then pass "line $p"; else fail "line $p" "$(cat policies)"; fi
done
if awk -F, 'NR > 1 { n++; if (NF != 12 || $4 < $5 || $5 <= 0 || $10 > 3 * $4 || $11 > $4) bad = 1 } END { exit bad || !n }' a.csv
then pass bound; else fail bound "$(cat a.csv)"; fi
if awk -F, '$3 == "all-cpu" && ($6 || $7 || $8 || $11) || $3 == "all-gpu" && $10 { bad = 1 } END { exit bad }' a.csv
then pass sides; else fail sides "$(cat a.csv)"; fi

# A static policy's run is what its planner predicted.
"$DFC" partition graph.df --policy=gp-thesis >partition.txt 2>/dev/null
predicted=$(awk '$1 == "predicted" { print $2, $3 }' partition.txt)
"$DFC" simulate graph.df --policy=gp-thesis --format=csv 2>err | awk -F, 'NR == 2 { printf "%.3g ms\n", 1e3 * $4 }' >simulated
if [ "$predicted" = "$(cat simulated)" ]; then pass predicted; else fail predicted "$predicted, simulated $(cat simulated)"; fi

# The same of all of them, where the order of jobs counts, and with two devices of which the second is better.
cat >two.df <<'DF'
platform two {
    cpu host { workers = 1; }
    gpu a { h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; launch = 50 us; }
    gpu b { h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; }
}
kernel make(out y: bytes[n]) cost cpu 1ms;
kernel work(in x: bytes[n], out y: bytes[n]) cost cpu 3ms gpu 1ms;
kernel last(in x: bytes[n]) cost cpu 1ms;
graph main { for i in 0..4 { a[i]: bytes[100000] = make(); b[i] = work(a[i]); last(b[i]); } }
DF
three() { awk -v s="$1" 'BEGIN { printf "%.3g\n", s }'; }
for p in all-cpu all-gpu heft peft gp-thesis gp; do
    for g in "$DF_SOURCE/examples/graphs/cholesky.df -D T=$(long && echo 10 || echo 7) --workers=8" two.df; do
        read -r value unit <<<"$("$DFC" partition $g --policy=$p 2>/dev/null | awk '$1 == "predicted" { print $2, $3 }')"
        case $unit in s) ;; ms) value=${value}e-3 ;; *) value="$value $unit" ;; esac
        simulated=$("$DFC" simulate $g --policy=$p --format=csv 2>err | awk -F, 'NR == 2 { print $4 }')
        if [ "$(three "$value")" = "$(three "$simulated")" ]; then pass "predicted $p"; else fail "predicted $p" "$g: $value, simulated $simulated"; fi
    done
done

# Options that change the machine or the run.
makespan() { "$DFC" simulate graph.df --format=csv "$@" 2>err | awk -F, 'NR == 2 { print $4 }'; }
evictions() { "$DFC" simulate graph.df --format=csv "$@" 2>err | awk -F, 'NR == 2 { print $9 }'; }
less() { # NAME A B: A < B
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'; then pass "$1"; else fail "$1" "$2, $3"; fi
}
less workers "$(makespan --policy=all-cpu --workers=6)" "$(makespan --policy=all-cpu)"
less memory 0 "$(evictions --policy=dmda --gpu-mem=17MiB)"
less waves "$(makespan --policy=eager)" "$(makespan --policy=eager --waves=4)"
less inflight "$(makespan --policy=eager --waves=8 --inflight=4)" "$(makespan --policy=eager --waves=8)"
less define "$(makespan --policy=dmda)" "$(makespan --policy=dmda -D n=12)"
cat >fast.df <<'DF'
platform fast { cpu host { workers = 3; } gpu g { memory = 8 GiB; h2d = 100 GB/s, 1 us; d2h = 100 GB/s, 1 us; engines = 2; } }
DF
sed 's/platform fast {/& npu n { workers = 1; h2d = 1 GB\/s, 1 us; d2h = 1 GB\/s, 1 us; }/' fast.df >npu.df
same third-class <(makespan --policy=all-gpu --platform=npu.df) <(makespan --policy=all-gpu --platform=fast.df)
less platform "$(makespan --policy=all-gpu --platform=fast.df)" "$(makespan --policy=all-gpu)"

# Formats.
expect text 0 '^dmda +[0-9.]+ (us|ms) +[0-9.]+ +[0-9.]+ ' "$DFC" simulate graph.df
check json python3 "$programs/json_and_csv.py" "$DFC" a.csv

# Between peers: such copies count, and where there are none nothing is said of them.
cat >pair.df <<'DF'
platform pair {
    cpu host { workers = 1; }
    gpu a { h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; peer = 50 GB/s, 2 us; }
    gpu b { h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; peer = 50 GB/s, 2 us; }
}
DF
check peers python3 "$programs/peers.py" "$DFC"
expect peers-text 0 'from gpu +to peers +evictions' "$DFC" simulate graph.df --platform=pair.df --policy=dmda
if "$DFC" simulate graph.df --policy=dmda --format=json | grep -q peer; then fail no-peers "peers where there are none"; else pass no-peers; fi

# The chart: well-formed, a row for each worker and engine, a bar for each job, the critical path, and the same each time.
"$DFC" simulate graph.df --policy=dmda --gantt=g.svg >/dev/null 2>err || fail gantt "$(cat err)"
cp g.svg h.svg; "$DFC" simulate graph.df --policy=dmda --gantt=g.svg >/dev/null
same "gantt repetition" g.svg h.svg
check gantt python3 "$programs/gantt.py"
"$DFC" simulate graph.df --platform=pair.df --policy=dmda --gantt=p.svg >/dev/null 2>err || fail gantt-peers "$(cat err)"
check gantt-peers python3 "$programs/gantt-peers.py" "$DFC"
# The legend has what there is in the picture. Nor is a load below its bound, which rounding may say.
cat >stream.df <<'DF'
kernel src(out v: f32[k]) stream cost cpu 1us;
kernel work(in v: f32[k], out w: f32[k]) cost cpu 0.7ms;
kernel fin(in v: f32[k]) ordered cost cpu 1us;
graph main { a: f32[256] = src(); b = work(a); c = work(b); fin(c); }
DF
in_legend() { grep -c 'width="14" height="12".*>'"$2<" "$1"; }
"$DFC" simulate stream.df --workers=1 --policy=ws --gantt=s.svg >/dev/null 2>err || fail gantt-alone "$(cat err)"
"$DFC" simulate stream.df --workers=1 --policy=ws --waves=3000 --gantt=m.svg >/dev/null 2>err || fail gantt-many "$(cat err)"
keys="$(for f in s m g; do for key in work copy; do in_legend $f.svg "$key"; done; grep -c ' short ones<' $f.svg; done | tr '\n' ' ')"
if [[ "$keys" =~ ^1\ 0\ 0\ 1\ 0\ [1-9][0-9]*\ 0\ 1\ 0\ $ ]]; then pass gantt-legend; else fail gantt-legend "keys: $keys"; fi
expect no-less-than-bound 0 'loaded .* a wave, 0.00 % above the bound' "$DFC" simulate stream.df --workers=3 --policy=gp --waves=9
# Long names: rows and legend have room.
python3 - >long.df <<'PY'
print("platform long { cpu host { workers = 2; }")
print("    gpu %s { h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; } }" % ("g" * 47))
for k in range(12):
    print(f"kernel {'k' * 70}{k}(out y: bytes[8]) cost cpu {k + 1}ms gpu {k + 1}ms;")
print("graph main {", " ".join(f"y{k} = {'k' * 70}{k}();" for k in range(12)), "}")
PY
"$DFC" simulate long.df --policy=dmda --gantt=l.svg >/dev/null 2>err || fail gantt-long "$(cat err)"
check gantt-long python3 "$programs/gantt-long.py"
check "gantt for each" "$DFC" simulate graph.df --policy=eager,dmda --gantt=both.svg
if [ -s both-eager.svg ] && [ -s both-dmda.svg ]; then pass "gantt files"; else fail "gantt files" "$(ls)"; fi

# A third class of workers, which only the simulator has: by hand 1 + 2 (copy) + 4 ms there, and 3 of them at once.
cat >classes.df <<'DF'
platform three {
    cpu host { workers = 2; }
    gpu g { memory = 1 GiB; h2d = 1 GB/s, 1 ms; d2h = 1 GB/s, 1 ms; engines = 2; }
    phi p { workers = 3; memory = 1 GiB; h2d = 1 GB/s, 1 ms; d2h = 1 GB/s, 1 ms; engines = 2; }
}
kernel make(out y: bytes[1000000])  cost cpu 1ms;
kernel work(in y: bytes[1000000])   cost phi 4ms;
graph main { y = make(); work(y); work(y); work(y); }
DF
"$DFC" simulate classes.df --policy=all --format=csv >classes.csv 2>err || fail classes "$(cat err)"
if awk -F, 'NR > 1 { n++; if ($4 != 0.007 || $11 != 0.012 || $8 != 1) bad = 1 } END { exit bad || n < 6 }' classes.csv
then pass classes; else fail classes "$(cat classes.csv err)"; fi

# Where there is no GPU, "all" leaves out what would need one.
if [ "$("$DFC" simulate graph.df --device=none --format=csv 2>err | grep -c all-)" = 1 ]; then pass "no gpu"; else
    fail "no gpu" "$(cat err)"; fi

# Graphs with code are simulated too, and nothing of it is run.
check code "$DFC" simulate "$DF_SOURCE/examples/sum/sum.df" --policy=eager --workers=2

# What is wrong is said.
expect "wrong policy" 2 "unknown policy 'dmad'; did you mean 'dmda'\?" "$DFC" simulate graph.df --policy=eager,dmad
expect "no policy" 2 'no policy is named' "$DFC" simulate graph.df --policy=,
expect "wrong format" 2 'one of text, csv, json is expected' "$DFC" simulate graph.df --format=xml
expect "wrong waves" 2 'a whole number from 1' "$DFC" simulate graph.df --waves=0
expect "wrong option" 2 "unknown option '--gant'" "$DFC" simulate graph.df --gant
expect "no file" 2 'a .df file is expected' "$DFC" simulate
expect "too large" 1 "^/dev/stdin:4:18: error: node 'main/big' fits nowhere: one job of it needs 4194304 bytes, 'g' has 1048576, and it has no cpu variant$" "$DFC" simulate /dev/stdin --policy=eager <<'DF'
platform p { cpu h { workers = 1; } gpu g { memory = 1 MiB; h2d = 1 GB/s, 1 us; d2h = 1 GB/s, 1 us; engines = 2; } }
kernel big(out y: bytes[4194304]) cost gpu 1ms;
kernel end(in y: bytes[4194304]) cost cpu 0us;
graph main { y = big(); end(y); }
DF

# Every policy keeps the bound, on graphs of all families.
check families "$DF_SOURCE/examples/graphs/families.sh" dags
of_each=3; ! long || of_each=99
awk -F, -v most=$of_each 'NR > 1 && n[$2]++ < most { print $1 }' dags/families.csv >chosen
while read -r name; do
    "$DFC" simulate "dags/$name.df" --policy=eager,ws,dmda,gp-thesis --format=csv | tail -n +2
done <chosen >dags.csv
below=$(awk -F, '$4 < $5 * (1 - 1e-9)' dags.csv)
if [ "$(wc -l <dags.csv)" = $(($(wc -l <chosen) * 4)) ] && [ "$(wc -l <chosen)" -ge 20 ] && [ -z "$below" ]; then pass families-keep-the-bound; else fail families-keep-the-bound "$(wc -l <dags.csv) rows; below: $below"; fi

# What leaves a device's memory: the rule by name, for those policies that can.
expect evict-word 2 'error: --evict=fifo: one of auto, lru, belady is expected' "$DFC" simulate graph.df --evict=fifo
expect evict-eager 2 "^dfc: error: --evict=belady needs a policy that orders jobs before the run: 'eager' does not" \
    "$DFC" simulate graph.df --policy=eager --evict=belady --gpu-mem=17MiB
expect evict-all 0 '^eager ' "$DFC" simulate graph.df --evict=belady --gpu-mem=17MiB
# What fires once has its share in the bound of many waves: one worker has 1 ms once and 2 ms in each of 10 waves to do.
cat > once.df <<'X'
platform one { cpu host { workers = 1; } }
kernel load(out t: u8[1000]) once cost cpu 1ms;
kernel tick(out v: u8[1000]) cost cpu 1ms;
kernel work(in t: u8[k], in v: u8[k], out o: u8[k]) cost cpu 1ms;
graph main { t = load(); v = tick(); _ = work(t, v); }
X
expect bound-once 0 '^once,one,gp,0\.021,0\.021,' "$DFC" simulate once.df --waves=10 --policy=gp --format=csv
# A graph's name that CSV would take for two is in quotes, in the study of wrong times too.
cp once.df 'a,b.df'
for o in "" "--error=sigma:0.1 --draws=2"; do expect "csv-name $o" 0 '^"a,b",one,gp,' "$DFC" simulate a,b.df --policy=gp --format=csv $o; done
# Nor is a picture spoilt by the name that it has from its file.
cp once.df 'o\.df' && cp once.df $'\033.df'
if command -v dot >/dev/null; then check picture-name bash -c '"$DFC" "o\\.df" --emit=dot | dot -Tplain'; else skip picture-name "no dot here"; fi
check picture-control "$DFC" partition $'\033.df' --svg=control.svg
grep -q $'\033' control.svg && fail picture-no-control "$(grep -n $'\033' control.svg | cat -v | head -n 1)" || pass picture-no-control

# Hand-overs: a kernel on a device and the way there and back. Each of the two copies is seen 2 ms later, by every policy and in the plan.
cat >over.df <<'DF'
kernel load(out a: f32[k]) cost cpu 1ms;
kernel work(in a: f32[k], out b: f32[k]) cost gpu 3ms;
kernel save(in a: f32[k]) cost cpu 1ms;
graph main { a: f32[250000] = load(); b = work(a); save(b); }
DF
for over in '' ' handover = 2 ms;'; do
    echo "platform over { cpu h { workers = 1; } gpu g { h2d = 1 GB/s; d2h = 1 GB/s;$over } }" >over-platform.df
    "$DFC" simulate over.df --platform=over-platform.df --policy=all --format=csv 2>>err | tail -n +2 | cut -d, -f4 | sort -u >>over.got
    "$DFC" over.df --platform=over-platform.df --policy=heft --emit=plan 2>>err | grep -o ', handover [^;]*' >>over.plan
done
printf '0.007\n0.011\n' >over.want; same handover over.got over.want
echo ', handover 2 ms' >over.want; same handover-plan over.plan over.want
