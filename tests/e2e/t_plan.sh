# Lock files: `dfc plan`, programs that keep a lock's plan (--lock), and `dfc plan --check` after changes of graph, times and platform.
cat >base.df <<'END'
platform pair {
    cpu host { workers = 2; }
    gpu card { h2d = 10 GB/s, 5 us; d2h = 10 GB/s, 5 us; memory = 1 GiB; }
}
param n = 100000;
kernel make(out a: bytes[k]) cost cpu 100us;
kernel heavy(in a: bytes[k], out b: bytes[k]) cost cpu (80ns * k) gpu (10ns * k);
kernel light(in a: bytes[k], out b: bytes[k]) cpu {{ b[0] = a[0]; }} cost cpu (4ns * k);
kernel note(in a: bytes[k]) cost cpu 10us;
kernel join(in a: bytes[k], in b: bytes[k], out c: bytes[k]) cost cpu 100us;
kernel show(in c: bytes[k]) ordered cost cpu 100us;
graph main {
    a: bytes[n] = make();
    b = heavy(a);
    c = heavy(b);
    for i in 0..3 { l[i] = light(a); m[i] = light(l[i]); }
    d = join(m[0], m[1]);
    e = join(d, m[2]);
    f = join(e, c);
    show(f);
}
END
lock() { "$DFC" plan "$@"; }

# ---- the file ----
check write lock base.df --policy=heft -o base.lock
lock base.df --policy=heft -o again.lock; lock base.df --policy=heft >printed.lock
same same-bytes again.lock base.lock
same printed printed.lock base.lock
check contents python3 - <<'PY'
import json
lock = json.load(open("base.lock"))
assert (lock["format"], lock["program"], lock["source"], lock["policy"], lock["run_as"]) == (1, "base", "base.df", "heft", "static"), lock
assert lock["objective"] == "latency" and lock["inflight"] == 0 and lock["joint_waves"] == 1
assert all(len(lock[name]) == 16 for name in ("graph", "times", "platform"))
assert 0 < lock["predicted"]["bound_s"] <= lock["predicted"]["wave_s"]
assert {name: (unit["class"], unit["workers"]) for name, unit in lock["units"].items()} == {"host": ("cpu", 2), "card": ("gpu", 1)}
assert lock["units"]["card"]["memory_bytes"] > 0
nodes = lock["nodes"]
assert len(nodes) == 13 and nodes["main/heavy#1"]["unit"] == "card" and nodes["main/light[2]#2"]["unit"] == "host", nodes
assert nodes["main/heavy#2"]["time_s"] == 1e-3 and nodes["main/heavy#2"]["from"] == "cost" and nodes["main/heavy#2"]["size"] == "k=100000"
assert nodes["main/heavy#2"]["times"] == {"cpu": 8e-3, "gpu": 1e-3} and nodes["main/show"]["times"] == {"cpu": 1e-4}
assert "code" in nodes["main/light[0]#1"] and "code" not in nodes["main/show"]
lines = open("base.lock").read().splitlines()
assert sum('"unit": ' in line for line in lines) == 13 and sum('"workers": ' in line for line in lines) == 2
PY
# Several waves that are placed jointly have a list of units for each node; and there are two more figures.
cat >third.df <<'END'
platform study { cpu host { workers = 1; } gpu g { memory = 1 GiB; h2d = 100 GB/s, 0 us; d2h = 100 GB/s, 0 us; engines = 2; } }
kernel src(out v: f32[k]) stream cost cpu 0s;
kernel job(in v: f32[k], out w: f32[k]) cost cpu 2ms gpu 1ms;
kernel sink(in v: f32[k]) cost cpu 0s;
graph main { a: f32[1] = src(); b = job(a); sink(b); }
END
lock third.df -o third.lock
expect joint 0 '^    "main/job": \{"unit": \["(host", "g", "g|g", "host", "g|g", "g", "host)"\], ' cat third.lock
expect joint-figures 0 '"joint_waves": 3,' cat third.lock
expect joint-check 0 '^wave in flight +([0-9]+ us) +([0-9]+ us) +\+0.0 % +equal$' lock --check third.lock
sed '/"main\/job"/ s/"host", "g"/"g", "g"/; /"main\/job"/ s/"g", "host"/"g", "g"/' third.lock >moved.lock
expect joint-moved 0 '^unit +main/job +g, g, g +[hostg, ]* - +moved$' lock --check moved.lock
# Where nodes are divided, the lock says so; a copy that dfc inserted has another name than a node of a kernel `copy`.
cp "$DF_SOURCE/tests/e2e/programs/divide/share.df" .
lock share.df -o share.lock
expect divided 0 '^    "main/f": \[[0-9.]+, [0-9.]+, [0-9.]+\]$' cat share.lock
sed 's/gpu (4.0ns/gpu (0.1ns/' share.df >fast.df
"$DFC" fast.df --emit=plan | grep 'main/f.part\[2\]' && fail divided-otherwise "it has three parts, too" || pass divided-otherwise
expect divided-as-locked 0 '^n[0-9]+ main/f.part\[2\] u' "$DFC" fast.df --emit=plan --lock=share.lock
printf 'kernel src(out a: bytes[n]) cost cpu 1us;\nkernel change(inout a: bytes[n]) cost cpu 1us;\nkernel copy(in a: bytes[n]) cost cpu 1us;\ngraph main { a: bytes[9] = src(); b = change(a); copy(a); copy(b); }\n' >copy.df
lock copy.df --device=none -o copy.lock
expect copies 0 '^    "main/copy~": ' cat copy.lock
expect copies-obeyed 0 '^plan copy: ' "$DFC" copy.df --emit=plan --device=none --lock=copy.lock

# The example of docs/plans.md.
cp "$DF_SOURCE"/examples/graphs/{image,study}.df .
lock image.df -D strips=4 -o image.lock; sed '/^    "main/d; /^  }$/d; /^}$/d' image.lock >image.head; sed -n '/^    "main\/seam#1"/p' image.lock >>image.head
sed -n '/^{$/,/^```$/p' "$DF_SOURCE/docs/plans.md" | sed '/^```/,$d' >docs.head
same docs-file image.head docs.head
sed -i 's/gpu (0.7ns/gpu (1.1ns/' image.df
lock --check image.lock -D strips=4 >image.out
sed -n '/^what  *of/,/^```$/p' "$DF_SOURCE/docs/plans.md" | sed '/^```/,$d' | grep -vxFf image.out >docs.other
[ ! -s docs.other ] && grep -q '^1 figure is worse' image.out && pass docs-check || fail docs-check "$(cat docs.other)"

# ---- --check: nothing has changed; ten changes, and what is said of each ----
expect unchanged 0 '^nothing is worse by more than 5 %$' lock --check base.lock
mkdir elsewhere && cd elsewhere && { expect from-elsewhere 0 '^graph .* equal$' lock --check ../base.lock; lock ../base.df --policy=heft -o up.lock; cd ..; }
expect source-above 0 '"source": "../base.df"' cat elsewhere/up.lock
expect check-above 0 '^times .* equal$' lock --check elsewhere/up.lock
# changed NAME STATUS SED PATTERN…: after that change of the graph, --check ends with STATUS, and each PATTERN matches a line.
changed() {
    local name=$1 status=$2 said got; sed "$3" base.df >changed.df; shift 3
    cmp -s base.df changed.df && fail "$name" "the graph is the same"
    said=$(lock --check base.lock changed.df 2>&1); got=$?
    [ "$got" = "$status" ] || { fail "$name" "exit $got: $said"; return; }
    for pattern; do matches "$pattern" "$said" || { fail "$name" "no line matches '$pattern': $said"; return; }; done
    pass "$name"
}
equal='^wave .* equal$' new="^no program can be built with this lock any more, because nodes or units are other ones; 'dfc plan base.df -o base.lock' makes it anew$"
changed added 0 's/^    show(f);/    show(f); note(a);/' "$equal" '^node +main/note +- +note +- +new$' '^graph .* changed$' "$new"
changed removed 0 's/    e = join(d, m\[2\]);/    e = join(m[0], m[1]);/; s/^    d = join.*//' '^node +main/join#3 +join +- +- +gone$'
changed renamed 0 's/show(/print(/' "$equal" '^node +main/show +show +- +- +gone$' '^node +main/print +- +print +- +new$'
changed variant 1 's/ gpu (10ns \* k);/;/; s/\(kernel light.*\);/\1 gpu 1us;/' '^time gpu +main/heavy#1 +1.00 ms +- +- +changed$' '^time gpu +main/light\[0\]#1 +- +1.00 us +- +changed$'
changed code 0 's/b\[0\] = a\[0\]/b[0] = a[1]/' "$equal" '^times .* equal$' '^code +main/light\[1\]#2 +[0-9a-f]{16} +[0-9a-f]{16} +- +changed$'
changed dearer 1 's/gpu (10ns/gpu (12ns/' '^wave +[^ ]+ ms +[^ ]+ ms +\+1[0-9]\.[0-9] % +worse$' '^time gpu +main/heavy#1 +1.00 ms +1.20 ms +\+20.0 % +slower$' '^[12] figures? (is|are) worse by more than 5 %$'
changed cheaper 0 's/gpu (10ns/gpu (5ns/' '^wave .* better$' '^time gpu +main/heavy#2 +1.00 ms +500 us +-50.0 % +faster$' '^nothing is worse by more than 5 %$'
changed size 1 's/n = 100000/n = 200000/' '^size +main/make +k=100000 +k=200000 +- +changed$' '^memory +card .* worse$' '^bound of a wave .* worse$'
changed workers 1 's/workers = 2/workers = 1/' '^workers +host +2 +1 +- +changed$' '^platform .* changed$' '^wave .* worse$'
changed link 1 's/10 GB/0.1 GB/g' '^platform .* changed$' '^times .* equal$' '^wave .* worse$'
expect policy 1 '^policy +heft +all-cpu +- +changed$' lock --check base.lock --policy=all-cpu
expect policy-moved 1 '^unit +main/heavy#1 +card +host +- +moved$' lock --check base.lock --policy=all-cpu
expect policy-worse 1 '^wave .* worse$' lock --check base.lock --policy=all-cpu
sed 's/gpu (10ns/gpu (12ns/' base.df >dearer.df
# The profile: measured times, which the database has to the digit. Nothing of the graph changes.
cat >flow.df <<'END'
platform p { cpu host { workers = 1; } }
kernel src(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int32_t)i; }};
kernel step(in v: i32[k], out w: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) w[i] = v[i] + 1; }};
kernel last(in v: i32[k]) ordered cpu {{ printf("%d\n", v[k - 1]); }};
graph main { a: i32[64] = src(); b = step(a); c = step(b); last(c); }
END
check flow "$DFC" flow.df -o flow --nvcc=none '--cflags=-include stdio.h'
expect flow-learns 0 '^65$' ./flow --learn --workers=1
lock flow.df -o flow.lock 2>note
expect flow-note 0 'the profile database has 3 times more' cat note
measured() { # SECONDS of `step`; the others take 1 ms
    python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE samples SET mean_s = CASE kernel WHEN ? THEN ? ELSE 1e-3 END", ("step", float(sys.argv[2]))); db.commit()' \
        "$DFC_PROFILE" "$1"
}
measured 0.002; lock flow.df -o flow.lock
expect measured 0 '^    "main/step#1": \{"unit": "host", .*"time_s": 0.002, "from": "measured", ' cat flow.lock
expect profile-same 0 '^times .* equal$' lock --check flow.lock
measured 0.0024
expect profile-slower 1 '^time cpu +main/step#2 +2.00 ms +2.40 ms +\+20.0 % +slower$' lock --check flow.lock
expect profile-wave 1 '^wave +6.00 ms +6.80 ms +\+13.3 % +worse$' lock --check flow.lock
measured 0.001
expect profile-faster 0 '^wave +6.00 ms +4.00 ms +-33.3 % +better$' lock --check flow.lock
mv "$DFC_PROFILE" kept.db
expect profile-gone 0 '^times from +4 measured +4 assumed +- +changed$' lock --check flow.lock
expect tolerated 0 '^wave .* within tolerance$' lock --check base.lock dearer.df --tolerance=25%
expect tolerated-share 0 '^nothing is worse by more than 25 %$' lock --check base.lock dearer.df --tolerance=0.25
expect intolerant 1 '^time gpu +main/heavy#1 .* slower$' lock --check base.lock dearer.df --tolerance=0
sed 's/gpu card {.*}/gpu other { h2d = 10 GB\/s, 5 us; d2h = 10 GB\/s, 5 us; memory = 1 GiB; }/' base.df >other.df
expect unit-gone 0 '^unit +card +gpu +- +- +gone$' lock --check base.lock other.df
expect unit-new 0 '^unit +other +- +gpu +- +new$' lock --check base.lock other.df
{ printf 'platform p { cpu host { workers = 1; } }\nkernel f(out a: u8) cost cpu 1us;\ngraph main { for i in 0..50 { _ = f(); } }\n'; } >many.df
lock many.df -o many.lock; sed -i 's/1us/2us/' many.df
expect many 1 '^… and 10 more rows of nodes, which --format=csv has$' lock --check many.lock
[ "$(lock --check many.lock --format=csv | grep -c '^time cpu,main/f\[')" = 50 ] && pass many-csv || fail many-csv "$(lock --check many.lock --format=csv)"
lock --check base.lock dearer.df --format=csv >dearer.csv
expect csv 0 '^what,of,was,is,was_s,is_s,was_bytes,is_bytes,change,verdict$' cat dearer.csv
expect csv-row 0 '^time gpu,main/heavy#1,,,0.001,0.0012,,,0.2,slower$' cat dearer.csv
lock --check base.lock dearer.df --format=json >dearer.json
check json python3 - <<'PY'
import json
said = json.load(open("dearer.json"))
wave, = [row for row in said["rows"] if row["what"] == "wave"]
assert wave["verdict"] == "worse" and abs(wave["is_s"] / wave["was_s"] - 1 - wave["change"]) < 1e-5 and said["worse"] >= 1 and said["buildable"] is True, said
PY

# ---- programs that keep the plan ----
cat >chain.df <<'END'
platform pair {
    cpu host { workers = 2; }
    gpu card { h2d = 10 GB/s, 5 us; d2h = 10 GB/s, 5 us; memory = 1 GiB; }
}
param n = 1000 dynamic;
arg seed: i32 = 3;
kernel make(out a: i32[k]; seed: i32) cpu {{ for (size_t i = 0; i < k; i++) a[i] = (int32_t)i * 7 + seed; }} cost cpu 20us;
kernel twice(in a: i32[k], out b: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) b[i] = a[i] * 2 + 1; }} cost cpu 400us gpu 40us;
kernel mix(in a: i32[k], in b: i32[k], out c: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) c[i] = a[i] ^ b[i]; }} cost cpu 300us gpu 40us;
kernel show(in c: i32[k]) ordered cpu {{ long s = 0; for (size_t i = 0; i < k; i++) s += c[i] * (long)(i % 13); printf("%ld\n", s); }} cost cpu 20us;
graph main { a: i32[n] = make(seed) @cpu; b = twice(a); d = twice(b); e = mix(b, d); show(e) @cpu; }
END
compile() { "$DFC" "$@" --nvcc=none --emu-all '--cflags=-include stdio.h'; }
lock chain.df --emu-all -o found.lock
# A plan that no policy would make: one `twice` and `mix` are on the host.
sed '/"main\/\(twice#2\|mix\)"/ s/"unit": "card"/"unit": "host"/' found.lock >chain.lock
cmp -s found.lock chain.lock && fail other-places "the lock is the same"
check plain compile chain.df -o plain
check locked compile chain.df --lock=chain.lock -o locked
places() { # PROGRAM: its output goes to `out`; prints the jobs of each node, and where they were
    "$1" --device=emu --emu-all --waves=3 --stats=json --stats-file=s.json >out &&
        python3 -c 'import json; print(*sorted("%s %s %d" % (n["name"], n["on"], n["jobs"]) for n in json.load(open("s.json"))["nodes"]), sep=", ")'
}
want="main/make cpu 3, main/mix cpu 3, main/show cpu 3, main/twice#1 gpu 3, main/twice#2 cpu 3"
got=$(places ./locked)
[ "$got" = "$want" ] && pass places || fail places "$got"
mv out locked.out; got=$(places ./plain)
[ "$got" != "$want" ] && pass other-than-plain || fail other-than-plain "$got"
same bytes locked.out out
./locked --device=emu --emu-all --waves=3 --policy=heft >out 2>&1; same plans-anew-if-told out locked.out
expect why 0 "^policy .*\(the program's plan is locked\)$" ./locked --device=emu --emu-all --stats
expect other-workers 0 "^policy .*\(the program's plan is locked\)$" ./locked --device=emu --emu-all --stats --workers=1
expect virtual 0 "^policy .*\(the program's plan is locked\)$" ./locked --device=sim --stats
expect virtual-units 1 "^locked: error: the plan is locked for the units of platform 'pair'$" ./locked --device=sim --stats --platform=many.df
sed 's/cpu 300us gpu 40us/cpu 300us gpu 40ms/; s/400us gpu 40us/400us gpu 30ms/' chain.df >slow.df
plan_of() { "$DFC" "$@" --emit=plan --emu-all | sed -n 's/^n[0-9]* \(main[^ ]* u[0-9]\) rank.*/\1/p' | paste -sd ' '; }
got=$(plan_of slow.df --lock=chain.lock)
[ "$got" = "main/make u0 main/twice#1 u1 main/twice#2 u0 main/mix u0 main/show u0" ] && pass not-searched || fail not-searched "$got"
expect run-locked 0 "the program's plan is locked" "$DFC" run chain.df --nvcc=none --emu-all '--cflags=-include stdio.h' --device=emu --lock=chain.lock -- --stats
policy=$(sed -n 's/.*"policy": "\(.*\)".*/\1/p' chain.lock)
wave=$("$DFC" chain.df --emu-all --emit=plan --lock=chain.lock | sed -n 's/^predicted \(.*\) for a wave.*/\1/p')
expect simulated 0 "^$policy +$(printf %.0f "${wave% us}") us" "$DFC" simulate chain.df --emu-all --policy="$policy,all-cpu" --lock=chain.lock
sed 's/show(/print(/' chain.df >changed.df
expect simulated-refused 1 "^chain.lock:[0-9]+:5: error: the graph has other nodes than the lock: 'main/print' is new, 'main/show' is gone$" "$DFC" simulate changed.df --emu-all --policy="$policy" --lock=chain.lock

# What it was made for is not there: it says so, and does not plan again.
anew='\(--policy=NAME plans anew, and so does a program that is built without --lock\)$'
expect no-device 1 "^locked: error: the plan is locked, and this run has no unit 'card' of class gpu $anew" ./locked --device=none
expect no-code 1 "^locked: error: the plan is locked, and node 'main/twice#1' cannot run on 'card' here, for want of code or memory $anew" ./locked --device=emu
check other-policy ./locked --device=none --policy=ws
expect other-size 1 '^locked: error: the plan is locked for n = 1000, and --n=2000 needs another one: build the program without --lock, or with a lock for -D n=2000$' ./locked --device=emu --emu-all --n=2000
check same-size ./locked --device=emu --emu-all --n=1000
lock chain.df --device=none --policy=heft -o host.lock
check host-locked compile chain.df --device=none --lock=host.lock -o host
expect host-only 0 "^policy +heft \(the program's plan is locked\)$" ./host --device=emu --emu-all --stats
expect left-out 0 '^host: 1 of 1 devices take no part: the plan is locked$' ./host --device=emu --emu-all --log=info
if have_ranks parts; then
    root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
    # shellcheck disable=SC2086
    expect parts 1 'error: .*the plan is locked for the whole graph, and each rank of this run has a part of it: build the program without --lock$' timeout 60 mpirun $root --oversubscribe --bind-to none -n 2 ./host --cluster --device=none
fi

# ---- a graph or a platform that does not fit ----
# refused NAME FILE PLACE MESSAGE HINT: building FILE with base.lock ends with 1 and these lines, and nothing is written.
refused() {
    local said status; said=$("$DFC" "$2" --emit=plan --lock=base.lock -o refused.out 2>&1); status=$?
    [ "$status" = 1 ] && [ ! -e refused.out ] && matches "^base.lock:$3: error: $4$" "$said" && matches "^hint: $5$" "$said" && pass "$1" || fail "$1" "exit $status: $said"
}
anew="'dfc plan base.df -o base.lock' makes it anew"
at() { grep -n "\"$1\":" base.lock | cut -d: -f1; }
sed 's/^    show(f);/    show(f); x = light(a); _ = light(x);/' base.df >changed.df
refused lock-added changed.df "$(at nodes):3" "the graph has other nodes than the lock: 'main/light#1' is new, 'main/light#2' is new" "$anew"
sed 's/show(/print(/' base.df >changed.df
refused lock-renamed changed.df "$(at main/show):5" "the graph has other nodes than the lock: 'main/print' is new, 'main/show' is gone" "$anew"
sed 's/0\.\.3 {/0..8 {/' base.df >changed.df
refused lock-many changed.df "$(at nodes):3" "the graph has other nodes than the lock: 'main/light\[3\]#1' is new, 'main/light\[3\]#2' is new, 'main/light\[4\]#1' is new, and 7 more" "$anew"
refused lock-unit other.df "$(at card):5" "platform 'pair' has no unit 'card': it has host, other" "$anew"
sed 's/gpu card/fpga card/; s/gpu (10/fpga (10/' base.df >changed.df
refused lock-class changed.df "$(at card):5" "unit 'card' is of class gpu, and of class fpga on platform 'pair'" "$anew"
sed 's/n = 100000/n = 200000/' base.df >changed.df
expect lock-warns 0 "^dfc: warning: sizes, code or connections of the graph have changed since 'base.lock' was made; 'dfc plan --check base.lock' compares$" "$DFC" changed.df --emit=plan --lock=base.lock
cp base.lock good.lock
wrong() { sed "$2" good.lock >base.lock; cmp -s good.lock base.lock && fail "$1" "the lock is the same"; refused "$1" base.df "$3" "$4" "$anew"; }
wrong lock-place '/"main\/show"/ s/"host"/"card"/' '[0-9]+:3' ".*show.*"
wrong lock-policy 's/"heft"/"ws"/' '6:3' "'ws' is not a policy that places nodes before the run"
wrong lock-run-as 's/"run_as": "static"/"run_as": "dmdaa"/' '7:3' "unknown policy 'dmdaa'; did you mean 'dmda'\?"

# ---- files that are no lock files ----
wrong lock-format 's/"format": 1/"format": 2/' '2:3' "the lock file has format 2, and this dfc reads format 1"
wrong lock-missing '/"inflight"/d' '1:1' "'inflight' is missing"
wrong lock-hash 's/"graph": "./"graph": "x/' '[0-9]+:3' "'graph' is not 16 hex digits"
wrong lock-count 's/"inflight": 0/"inflight": -1/' '9:3' "'inflight' is not a whole number"
wrong lock-rows 's/"joint_waves": 1/"joint_waves": 0/' '10:3' "the number of waves is from 1 to 65536"
wrong lock-many-waves 's/"inflight": 0/"inflight": 70000/' '9:3' "the number of waves is from 0 to 65536"
wrong lock-object 's/"divided": {}/"divided": 3/' '[0-9]+:3' "'divided' is not an object"
wrong lock-wave 's/"wave_s": /"wave": /' '[0-9]+:3' "'predicted': 'wave_s' is missing"
wrong lock-time '/"main\/show"/ s/"time_s": /"time_s": -/' "$(at main/show):5" "'main/show': 'time_s' is not a number of at least 0"
wrong lock-priority '/"main\/show"/ s/"priority": [^,]*,/"priority": "high",/' "$(at main/show):5" "'main/show': 'priority' is not a number"
wrong lock-text '/"main\/show"/ s/"kernel": "show"/"kernel": 1/' "$(at main/show):5" "'main/show': 'kernel' is not text"
wrong lock-unknown-unit '/"main\/show"/ s/"host"/"hast"/' "$(at main/show):5" "'main/show': 'unit' names none of the units above"
wrong lock-list 's/"joint_waves": 1/"joint_waves": 2/' "$(at main/make):5" "'main/make': 'unit' is no list of 2 of the units above"
wrong lock-weights 's/"divided": {}/"divided": {"main\/show": [1]}/' '[0-9]+:[0-9]+' "'main/show': a list of the parts' weights is expected, each above 0"
anew='was the lock file copied whole, or merged by hand\?'
wrong lock-syntax 's/"units": {/"units": [/' '[0-9]+:[0-9]+' 'this is not JSON: .*'
wrong lock-twice 's/^  "policy"/  "times": "x",\n&/' '[0-9]+:[0-9]+' 'this is not JSON: duplicate object key.*'
anew="a lock file is what 'dfc plan GRAPH.df -o FILE' writes"
wrong lock-none 's/"format": 1,//' '1:1' "this is no lock file: 'format' is missing"
wrong lock-form 's/"format": 1/"format": "1"/' '2:3' "this is no lock file: 'format' is no whole number"
for bytes in 0 1 17 400 1500; do
    head -c $bytes good.lock >base.lock
    expect "truncated-$bytes" 1 '^base.lock:[0-9]+:[0-9]+: error: this is not JSON: ' lock --check base.lock
done
cp good.lock base.lock
expect no-lock 1 "^dfc: error: cannot read 'no.lock': No such file or directory$" lock --check no.lock
sed 's/"source": "base.df"/"source": "gone.df"/' good.lock >base.lock
expect no-source 1 "^dfc: error: cannot read 'gone.df': No such file or directory$|gone.df" lock --check base.lock
cp good.lock base.lock

# ---- command lines ----
usage() { local name=$1 want="dfc: error: $2" said status; shift 2; said=$("$DFC" "$@" 2>&1); status=$?; [ "$status" = 2 ] && [ "$said" = "$want" ] && pass "$name" || fail "$name" "exit $status: $said"; }
usage no-file "a .df file is expected; 'dfc plan --help' says more" plan
usage both "--check writes no lock file: it does not go with -o" plan --check base.lock -o x.lock
usage tolerance-alone "--tolerance is of a comparison: it goes with --check" plan base.df --tolerance=1%
usage format-alone "--format is of a comparison: it goes with --check" plan base.df --format=csv
for t in x -1 5%% ''; do usage "tolerance $t" "--tolerance=$t: a share such as 0.05 or 5% is expected" plan --check base.lock "--tolerance=$t"; done
usage lock-and-policy "--policy chooses who makes the plan, and --lock has one: give one of them" base.df --lock=base.lock --policy=heft --emit=plan
usage run-lock-and-policy "--policy chooses who makes the plan, and --lock has one: give one of them" run base.df --lock=base.lock --policy=ws
usage lock-and-lib "--lock is for programs: a library plans for the sizes of each call" base.df --lib -o libbase.so --lock=base.lock
expect policy-decides-late 2 "^dfc: error: --policy=ws: a policy that places nodes before the run is expected: " lock base.df --policy=ws
expect over-lock 1 "^dfc: error: 'base.lock' is not written: it would replace 'base.lock', which it is made of$" "$DFC" base.df --emit=plan --lock=base.lock -o base.lock
expect over-graph 1 "^dfc: error: 'base.df' is not written: it would replace 'base.df', which it is made of$" lock base.df -o base.df
expect unwritable 1 "^dfc: error: cannot write 'no/x.lock': No such file or directory$" lock base.df -o no/x.lock
same lock-kept base.lock good.lock
compile chain.df --lock=chain.lock -MD -o locked && expect make-rule 0 'chain.lock' cat locked.d
[ -z "$(find . -name '.dfc-*')" ] && pass no-temporaries || fail no-temporaries "$(find . -name '.dfc-*')"
