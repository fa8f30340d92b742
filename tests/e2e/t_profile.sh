# dfc probe and dfc profile: what is measured is stored, found again, used, and measured again once its source has changed.
export DFC_PROFILE=$PWD/profile.db TMPDIR=$PWD/tmp
mkdir tmp
cp "$DF_SOURCE"/examples/sum/{sum.df,vec.c,vec.cu} .
few="--goal=10% --max-runs=20 --max-time=200ms --nvcc=none" quick="$few --workers=1" # with one worker no runs follow that compare
rows() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM samples").fetchone()[0])' "${1:-$DFC_PROFILE}"; }

# ---- profile ----
expect default-before 0 "default" "$DFC" partition sum.df
expect first 0 "^4 measured; in .*profile.db" "$DFC" profile sum.df $few
expect second 0 "^0 measured, 4 known before" "$DFC" profile sum.df $quick

# ---- locked databases: what waits for them runs beside all that follows; the answers are looked at in the end ----
holders=() waiting=()
hold() { # FILE KIND SECONDS, as lock.py takes them
    cp "$DFC_PROFILE" "$1"
    python3 "$programs/lock.py" "$@" >"$1.lock" & holders+=($!)
    for _ in {1..600}; do [ -s "$1.lock" ] && break; sleep 0.1; done
}
begin() { # NAME COMMAND…: what it says goes to NAME.said, its exit status and its seconds to NAME.end
    local name=$1; shift
    ( start=$EPOCHREALTIME; "$@" >"$name.said" 2>&1; rc=$?; awk -v r=$rc -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print r, b - a }' >"$name.end" ) &
    waiting+=($!)
}
hold locked.db exclusive 100
begin locked-compile env DFC_PROFILE=locked.db "$DFC" partition sum.df
begin locked-profile "$DFC" profile sum.df --db=locked.db
begin locked-report "$DFC" profile --report --db=locked.db
begin locked-probe "$DFC" probe --device=none --db=locked.db
hold written.db write 100
mkdir written.db.learned && echo '{' >written.db.learned/x.jsonl
begin locked-learned env DFC_PROFILE=written.db "$DFC" partition sum.df
hold released.db exclusive 5
begin released env DFC_PROFILE=released.db "$DFC" partition sum.df
expect force 0 "^4 measured" "$DFC" profile sum.df $quick --force
expect used 0 "4 measured" "$DFC" partition sum.df
expect other-size 0 "^4 measured" "$DFC" profile sum.df -D n=2000 $quick
expect emulator 0 "^1 measured, 4 known before" "$DFC" profile sum.df $few --device=emu
expect cold-known 0 "^0 measured, 5 known before" "$DFC" profile sum.df $quick --device=emu --cold
expect cold 0 "^5 measured" "$DFC" profile sum.df $quick --device=emu --cold --force --db=cold.db
expect cold-no-room 0 "^\[.*\] add k=1024 gpu +not measured: the device has no room for a buffer as large as its cache beside it$" \
    "$DFC" profile sum.df $quick --device=emu --cold --db=cold2.db --gpu-mem=1MiB
expect cold-report 2 "^dfc: error: --cold: the report measures nothing; leave out one of the two" "$DFC" profile --report --cold
# What a launch costs is in no kernel's time: a job takes it once. Here 30 jobs of 2 ms, and of a few us of their own.
cp "$DF_SOURCE"/tests/bench/gpu/{chain.df,chain.c,turns.h,kernels.cu,kernels.cl} .
echo 'platform p { cpu host { workers = 2; } gpu e { memory = 1 GiB; h2d = 9 GB/s, 1 us; d2h = 9 GB/s, 1 us; engines = 2; launch = 2 ms; } }' >launch.df
launch=(chain.df --device=emu --platform=launch.df --nvcc=none)
DFC_PROFILE=$PWD/launch.db "$DFC" profile "${launch[@]}" --max-runs=20 >said 2>&1 && DFC_PROFILE=$PWD/launch.db "$DFC" "${launch[@]}" -o chain >said 2>&1
./chain --device=sim --platform=launch.df --policy=all-gpu --stats=json --stats-file=/dev/stderr 2>said
if sed -n 's/.*"makespan_s": \([0-9.e+-]*\).*/\1/p' said | awk '{ n = $1 > 0.06 && $1 < 0.07 } END { exit !n }'; then pass launch-once; else fail launch-once "$(cat said)"; fi
expect estimated 0 "5 estimated from other sizes or devices, from operations or from rates" "$DFC" partition sum.df -D n=1500 --device=emu
expect progress 0 '^\[1/4\] add k=3000 cpu +[0-9.]+ [mun]?s .*runs' "$DFC" profile sum.df -D n=3000 $quick
echo '/* edited */' >> vec.c
expect edited 0 "^4 measured" "$DFC" profile sum.df $quick
expect program-option 2 "" "$DFC" profile sum.df --max-runs=0
expect program-args 1 "sum: error: unknown option '--sede'; did you mean '--seed'" "$DFC" profile sum.df $quick -- --sede=3

# How good estimates from other sizes are. The edited source above has one size: it is scaled, not validated.
for n in 500 2000 8000; do "$DFC" profile sum.df $quick -D n=$n >/dev/null 2>&1; done
expect report 0 "^add +cpu +time +4 +[0-9.]+ % +[0-9.]+ % +(bytes|each) +(knn|bytes|each)$" "$DFC" profile --report
expect report-of-graph 0 "^generate +cpu +time +8 " "$DFC" profile --report sum.df
expect report-mean 0 "^mean error of cpu times +knn [0-9.]+ %, power law [0-9.]+ %" "$DFC" profile --report
expect report-csv 0 '^add,cpu,time,4,[0-9.]+,[0-9.]+,(bytes|each),(knn|bytes|each)$' "$DFC" profile --report --format=csv
check report-file "$DFC" profile --report --format=csv -o report.csv
"$DFC" profile --report --format=csv >again.csv; same report-again again.csv report.csv
expect report-none 1 "there is no profile database yet" "$DFC" profile --report --db=nowhere.db
expect report-format 2 "one of text, csv" "$DFC" profile --report --format=svg
expect format-alone 2 "add --report" "$DFC" profile sum.df --format=csv

# Two at once, on a database that neither has made yet.
"$DFC" profile sum.df $quick --db=both.db -D n=100 >a 2>&1 & a=$!
"$DFC" profile sum.df $quick --db=both.db -D n=200 >b 2>&1; b=$?
wait $a; a=$?
if [ "$a$b$(rows both.db)" = 008 ]; then pass two-at-once; else fail two-at-once "exits $a $b, $(rows both.db) of 8 samples: $(cat a b | tr '\n' ' ')"; fi

# Dynamic sizes, args without default, what runs once, costs.
cat > flow.df <<'END'
arg path: str;
param n = 64 dynamic;
kernel src(out v: f32[k]; path: str) stream cpu {{ if (df_wave(call) > 0) return DF_END; for (size_t i = 0; i < k; i++) v[i] = 1; }};
kernel work(in v: f32[k], out w: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) w[i] = v[i] + 1; }};
kernel priced(inout v: f32[k]) cpu {{ v[0] += 1; }} cost cpu 1ms;
kernel last(in v: f32[k]) ordered cpu {{ if (v[0] != 3) return df_fail(call, "got %g", v[0]); if (k == 13) return df_fail(call, "thirteen"); }};
graph main { a: f32[n] = src(path); b = work(a); c = priced(b); last(c); }
END
expect no-default 1 "^dfc: error: the graph has args without defaults: add -- --path=…$" "$DFC" profile flow.df $quick
expect flow 0 "^3 measured" "$DFC" profile flow.df $few -- --path=x
expect flow-other-size 0 "work k=100 cpu" "$DFC" profile flow.df $quick -- --path=x --n=100
expect fails 1 "node 'main/last', wave 0: thirteen" "$DFC" profile flow.df $quick -- --path=x --n=13
cat > crash.df <<'END'
kernel src(out v: i32[k]) cpu {{ v[0] = 0; }};
kernel crash(in v: i32[k], out w: i32[k]) cpu {{ w[v[0]] = 0; abort(); }};
kernel last(in v: i32[k]) cpu {{ (void)v; }};
graph main { a: i32[4] = src(); b = crash(a); last(b); }
END
expect crash 1 "ended by signal .* while it ran crash k=4 cpu" "$DFC" profile crash.df $quick

# ---- a kernel that does not return: what was measured before is kept, of the flow's kernels, too ----
cat > spin.df <<'END'
kernel make(out v: i32[k]) cpu {{ memset(v, 0, k * 4); }};
kernel twice(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = 2 * a[i]; }};
kernel spin(in a: i32[k], out b: i32[k]) cpu "spin.c";
kernel last(in v: i32[k]) cpu {{ (void)v; }};
graph main { v: i32[8] = make(); a = twice(v); w = spin(a); last(w); }
END
printf '#include <unistd.h>\nint spin_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { for (;;) pause(); }\n' > spin.c
spins() { timeout 150 "$DFC" profile spin.df --db=spin.db "$@" > spin.log 2>&1; rc=$?; }
said() { cat spin.log; return $rc; }
timeout 150 "$DFC" profile spin.df --db=slow.db --max-time=100ms --device=emu --emu-all > slow.log 2>&1 & slow=$! # it takes 5 s
spins $quick --watchdog=2s
expect late-node 1 "^spin: error: node 'main/spin', wave 0: has not ended after 2[.]00 s on the CPU; 'main/last' waits for it" said
expect late-kernel 1 "^spin.df:3:8: error: kernel 'spin', as cpu variant of node 'main/spin', has not returned within 2[.]00 s" said
expect late-file 1 "^spin.df:3:46: note: its code is here" said
expect late-hint 1 "^hint: if it needs more time than that, give --watchdog=TIME" said
expect late-kept 1 "^2 measured; in spin.db" said
[ "$(rows spin.db)" = 2 ] && pass late-stored || fail late-stored "$(rows spin.db) samples"
spins $quick -- --watchdog=2s
expect late-of-the-program 1 "^0 measured, 2 known before; in spin.db" said
wait $slow; rc=$?; mv slow.log spin.log
expect late-by-max-time 1 "^spin.df:3:8: error: kernel 'spin', as cpu variant of node 'main/spin', has not returned within 5.00 s" said
expect watchdog-no-time 2 "^dfc: error: --watchdog=soon: a time is expected, such as 500ms, 30s or 2min" "$DFC" profile spin.df --watchdog=soon

# ---- databases that cannot be used ----
head -c 5000 /dev/urandom > garbage.db
expect damaged-profile 1 "garbage.db.*not a database.*move it away" "$DFC" profile sum.df --db=garbage.db
expect damaged-compile 0 "warning: the profile database is not used" env DFC_PROFILE=garbage.db "$DFC" sum.df -o sum --nvcc=none
expect unwritable 1 "cannot open it" "$DFC" profile sum.df --db=/proc/none/x.db
expect unwritable-probe 1 "cannot open it" "$DFC" probe --device=none --db=/proc/none/x.db

# ---- probe ----
echo kept > kept.df && expect probe-unstored 1 "cannot open it" "$DFC" probe --device=none --db=/proc/none/x.db -o kept.df
[ "$(cat kept.df)" = kept ] && pass probe-unstored-keeps || fail probe-unstored-keeps "$(cat kept.df)"
check probe "$DFC" probe --quick -o machine.df # no device: there is no GPU here
expect probe-text 0 "cpu host \{ workers = [0-9]+; memory = [0-9]+ [KMG]iB; bandwidth = [0-9.]+ [GM]B/s, .*; flops = [0-9.]+ / ns, [0-9.]+ / ns; random = [0-9.]+ [nu]s, [0-9.]+ ns; atomics = [0-9.]+ ns, [0-9.]+ [nu]s; \}" cat machine.df
expect probe-read 0 "platform .*file" "$DFC" partition sum.df --platform=machine.df
expect probe-stored 0 "platform .*probe" "$DFC" partition sum.df
cat > slow.df <<'END'
platform slow { cpu host { workers = 1; } gpu g { memory = 2 MiB; h2d = 2 GB/s, 20 us; d2h = 2 GB/s, 20 us; peer = 2 GB/s, 20 us; engines = 2; launch = 5 us; }
    gpu h { memory = 2 MiB; h2d = 2 GB/s, 20 us; d2h = 2 GB/s, 20 us; peer = 2 GB/s, 20 us; engines = 2; launch = 5 us; } }
END
check probe-emu "$DFC" probe --quick --device=emu --platform=slow.df -o emu.df
expect probe-emu-text 0 "gpu emu0 \{ memory = [0-9]+ MiB; h2d = [0-9.]+ [MG]B/s, [0-9.]+ [mu]s" cat emu.df
expect probe-emu-pairs 0 "// emu1 to emu0: [0-9.]+ [MG]B/s, [0-9.]+ [mu]s directly" cat emu.df
expect probe-emu-peer 0 "gpu emu1 .* peer = [0-9.]+ [MG]B/s, [0-9.]+ [mu]s" cat emu.df
expect probe-emu-read 0 "emu0" "$DFC" partition sum.df --platform=emu.df
cat > pair.df <<'END'
kernel make(out v: f32[k]) cost gpu 1ms;
kernel twist(in v: f32[k], out w: f32[k]) cost gpu 30ms;
kernel join(in v: f32[k], in w: f32[k]) cost gpu 1ms;
graph main { v: f32[1000] = make(); a = twist(v); b = twist(v); join(a, b); }
END
expect probe-emu-stored 0 "platform .*probe" "$DFC" partition pair.df --device=emu
expect probe-emu-stored-peer 0 "[1-9] between them" "$DFC" partition pair.df --device=emu
expect probe-argument 2 "one argument too many" "$DFC" probe sum.df

if [ -z "$(ls tmp)" ]; then pass nothing-left; else fail nothing-left "$(ls tmp)"; fi

# ---- what the locked databases came to ----
wait "${waiting[@]}"
# waited NAME STATUS LEAST-SECONDS PATTERN…: a line of what was said matches each pattern. It took no less than that.
waited() {
    local name=$1 want=$2 least=$3 status seconds pattern; shift 3
    read -r status seconds <"$name.end"
    if [ "$status" != "$want" ] || ! awk "BEGIN { exit !($seconds >= $least) }"; then
        fail "$name" "exit $status after $seconds s: $(tail -n 5 "$name.said" | tr '\n' ' ')"; return
    fi
    for pattern; do grep -qE -- "$pattern" "$name.said" || { fail "$name" "no line matches '$pattern': $(tr '\n' ' ' <"$name.said")"; return; }; done
    pass "$name"
}
says() { echo "^dfc: waiting for the profile database '$1', which another program has locked; for 10 s at most\$"; }
kept="profile database 'locked.db': .*: database is locked; another program kept it locked\$"
waited locked-compile 0 9.9 "$(says locked.db)" "^dfc: warning: the profile database is not used: $kept" "default"
waited locked-profile 1 9.9 "$(says locked.db)" "^dfc: error: $kept"
waited locked-report 1 9.9 "$(says locked.db)" "^dfc: error: $kept"
waited locked-probe 1 9.9 "$(says locked.db)" "^dfc: error: $kept"
waited locked-learned 0 9.9 "$(says written.db)" "^dfc: warning: the times that programs learned are not used yet: .*written.db.*database is locked" "4 measured"
waited released 0 1 "$(says released.db)" "4 measured"
kill "${holders[@]}" 2>/dev/null
wait "${holders[@]}" 2>/dev/null
true

# ---- does it pay? Kernels that sleep divide on any machine, however busy. ----
divided() { # NAME WORK LAST: what the kernels do in the graph
    printf '%s\n' 'kernel src(out v: i32[k]) cpu {{ v[0] = 1; }};' \
        "kernel work(in v: i32[k], out w: i32[k]) cpu {{ int usleep(unsigned); w[0] = v[0]; $2 }};" \
        "kernel last(in v: i32[k]) ordered cpu {{ int usleep(unsigned); (void)v; $3 }};" \
        'graph main { a: i32[4] = src(); b = work(a); last(b); }' > "$1.df"
    "$DFC" profile "$1.df" --workers=2 --max-time=20ms --db="$1.db" > "$1.out" 2>&1
}
divided waits 'usleep(10000);' ''
expect pays-kernel 0 '^work +1 +[1-9][0-9]\.[0-9]+ ms$' cat waits.out
expect pays-one 0 '^1 worker +[1-9][0-9]\.[0-9]+ ms +[1-9][0-9]\.[0-9]+ ms +1\.00x +1\.00x$' cat waits.out
expect pays-two 0 '^2 workers +[1-9].*x +[0-9.]+x$' cat waits.out
# The sentence follows from the gain that was measured, whatever that is here; test_pays.c has what it says for each.
expect pays-words 0 "^Dividing (pays|does not pay): 2 workers are $(awk '/^2 workers/ { sub("x", "", $NF); print $NF }' waits.out) times as fast as one\." cat waits.out
divided turns '' 'usleep(30000);'
expect pays-ordered 0 '^2 workers .* 1\.00x +[0-9.]+x$' cat turns.out
printf '%s\n' 'kernel src(out v: i32[k]) cpu {{ v[0] = 1; }};' 'kernel sum(in v: i32[k], acc s: i32[k]) cpu {{ int usleep(unsigned); s[0] += v[0]; usleep(30000); }};' \
    'kernel last(in s: i32[k]) cpu {{ (void)s; }};' 'graph main { a: i32[4] = src(); b = sum(a); last(b); }' > sums.df
expect pays-acc 0 '^2 workers .* 1\.00x +[0-9.]+x$' \
    "$DFC" profile sums.df --workers=2 --max-time=20ms --db=sums.db
cat > away.df <<'END'
platform p { cpu host { workers = 2; } gpu g { memory = 1 GiB; h2d = 1 GB/s, 0 us; d2h = 1 GB/s, 0 us; engines = 2; launch = 0 us; } }
kernel src(out v: u8[k]) cpu {{ v[0] = 1; }} cost cpu 1us;
kernel far(in v: u8[k], out w: u8[k]) cpu {{ w[0] = v[0]; }} cost cpu 10ms gpu 100us;
kernel near(in v: u8[k], out w: u8[k]) cpu {{ w[0] = v[0]; }} cost cpu 1ms gpu 100us;
kernel here(in v: u8[k], out w: u8[k]) cpu {{ w[0] = v[0]; }} cost cpu 1ms gpu 2ms;
kernel last(in v: u8[k]) cpu {{ (void)v; }} cost cpu 1us;
graph main { a: u8[1000000] = src(); b = far(a); c = near(b); d = here(c); last(d); }
END
"$DFC" profile away.df --max-time=20ms --db=away.db > away.out 2>&1
expect pays-gpu 0 '^far +1 +10\.0 ms +100 us +2\.00 ms$' cat away.out
expect pays-far 0 "^Offloading 'far' pays, even if all its data is copied: 100 us and 2\.00 ms of copies, instead of 10\.0 ms\.$" cat away.out
expect pays-near 0 "^Offloading 'near' pays only where its data is on the GPU already: 100 us instead of 1\.00 ms, but 2\.00 ms of copies\.$" cat away.out
expect pays-here 0 "^Offloading 'here' does not pay: 2\.00 ms on the GPU, 1\.00 ms here\.$" cat away.out
"$DFC" profile waits.df --workers=1 --max-time=20ms --db=waits.db > one.out 2>&1
if grep -q '^1 worker ' one.out && ! grep -q Dividing one.out; then pass pays-one-alone; else fail pays-one-alone "$(tail -n 4 one.out)"; fi

# ---- what another has written into a database sends nothing to the terminal ----
cp "$DFC_PROFILE" others.db && check terminal-probe "$DFC" probe --quick --device=none --db=others.db
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table, column in ("samples", "kernel"), ("platforms", "name"), ("units", "name"):
    db.execute(f"UPDATE {table} SET {column} = char(27) || \"]0;t\" || char(7) || {column}")
db.commit()' others.db
for form in text csv; do
    { "$DFC" profile --report --format=$form --db=others.db; DFC_PROFILE=others.db "$DFC" partition sum.df --format=$form; } >terminal.out 2>&1
    expect terminal-$form 0 '\?\]0;t\?' cat terminal.out
    tr -d '\033\007' <terminal.out >plain.out; same terminal-$form-plain terminal.out plain.out
done

# ---- both variants of a kernel are measured on one core, if the GPU is emulated: its code is the cpu variant's ----
cat > core.c <<'EOC'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
int where_cpu(struct df_call *call, size_t k, const float *v, float *w)
{
    (void)call;
    FILE *file = access("measured", F_OK) ? fopen("cores", "a") : fopen("/dev/null", "w"); /* runs follow that compare workers */
    if (!file)
        return DF_FAILED;
    fprintf(file, "%d\n", sched_getcpu());
    fclose(file);
    w[k - 1] = v[k - 1];
    for (volatile int i = 0; i < 1000000; i++)
        ;
    return DF_OK;
}
EOC
printf 'int where_gpu(struct df_call *call, cudaStream_t stream, size_t k, const float *v, float *w) { return DF_OK; }\n' > core.cu
printf '%s\n' 'kernel src(out v: f32[k]) cpu {{ v[0] = 1; }};' 'kernel where(in v: f32[k], out w: f32[k]) cpu "core.c" gpu "core.cu";' \
    'kernel last(in w: f32[k]) cpu {{ (void)w; FILE *file = fopen("measured", "w"); return file && !fclose(file) ? DF_OK : DF_FAILED; }};' \
    'graph main { a: f32[4] = src(); b = where(a); last(b); }' > core.df
check core-profile "$DFC" profile core.df --nvcc=none -w --device=emu --max-time=100ms --goal=0.001% --db=core.db
if [ "$(nproc)" -lt 2 ]; then skip core-one 'there is one core'; else
    # Nine tenths of the calls, because those for the flow are not measured.
    expect core-one 0 '^on one core$' eval "sort cores | uniq -c | sort -rn | awk '{ n += \$1; if (NR == 1) most = \$1 } END { print (n > 5 && most > 0.9 * n ? \"on one core\" : most \" of \" n) }'"
fi
