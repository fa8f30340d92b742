#!/usr/bin/env bash
# `dfc scale` beside SimGrid (simgrid.cpp): bench/simgrid.sh BUILDDIR OUT prints, for each case, both times and their ratio, and ends with 1 if one of them
# differs by more than 3 %. What a wave takes on a node, and the bytes of messages, are what `dfc scale` says; the run of all nodes is simulated by both.
# Skipped where Debian's libsimgrid-dev is not installed.
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2")
cd "$(dirname "$0")/../.."
if ! echo '#include <simgrid/s4u.hpp>' | ${CXX:-c++} -std=c++17 -E -x c++ - >/dev/null 2>&1; then
    echo "skip simgrid: no SimGrid here; install it: apt-get install libsimgrid-dev"
    exit 0
fi
mkdir -p "$out"
${CXX:-c++} -std=c++17 -O1 -Wall -Wextra tests/bench/simgrid.cpp -o "$out/simgrid" -lsimgrid
cat >"$out/graph.df" <<'DF'
param give = 1000000;
param result = 1000000;
kernel read(out t: u8[n]) stream cost cpu 1us;
kernel work(in t: u8[n], out r: u8[m]) cost cpu 100ms;
kernel write(in r: u8[m]) ordered cost cpu 1us;
graph main { t: u8[give] = read(); r: u8[result] = work(t); write(r); }
DF
worst=0

# case_of NAME PLATFORM NETWORK WINDOW READ [-D NAME=VALUE]...; NETWORK as simgrid.cpp takes it.
case_of() {
    local name=$1 network=$3 window=$4 read=$5 ours theirs
    echo "$2" >"$out/$name.df"
    "$build/bin/dfc" scale "$out/graph.df" --platform="$out/$name.df" --waves=2000 --window="$window" --format=json -o "$out/$name.json" \
        $([ "$read" = 0 ] || echo "--read=${read}B") "${@:6}"
    # shellcheck disable=SC2046
    theirs=$("$out/simgrid" --log=root.thres:error waves=2000 window="$window" read="$read" write=0 latency=2e-6 message=5e-6 $network $(python3 - "$out/$name.json" "$out/$name.df" <<'PY'
import json, re, sys
told, platform = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
nodes = re.findall(r'node (\w+) \{ count = (\d+); net = ([\d.]+) GB/s', platform)
types = {t['name']: t for t in told['types']}
print('types=' + ','.join(f"{n}:{types[name]['every_s']}:{types[name]['latency_s']}:{float(rate) * 1e9}" for name, n, rate in nodes),
      f"give={told['give_bytes']} result={told['result_bytes']}")
PY
))
    read -r ours limit < <(python3 -c "import json; r = json.load(open('$out/$name.json'))['rows'][0]; print(r['makespan_s'], r['limit'])")
    printf '%-16s %9.4f s %9.4f s %7.4f  %s\n' "$name" "$ours" "$theirs" "$(python3 -c "print($ours / $theirs)")" "$limit"
    worst=$(python3 -c "print(max($worst, abs($ours / $theirs - 1)))")
}

printf '%-16s %11s %11s %7s  %s\n' case 'dfc scale' SimGrid ratio limit
case_of link "platform p {
    node a { count = 40; net = 1 GB/s, 2 us; cpu h { workers = 1; } }
    network n { manager = 1 GB/s, 2 us; message = 5 us; }
}" "manager=1e9 total=0 files=0" 3 0 -D give=5000000 -D result=1000000
case_of files "platform p {
    node a { count = 40; net = 1 GB/s, 2 us; cpu h { workers = 1; } }
    network n { manager = 10 GB/s, 2 us; files = 2 GB/s; message = 5 us; }
}" "manager=10e9 total=0 files=2e9" 3 10000000
case_of unlike "platform p {
    node fast { count = 15; net = 1 GB/s, 2 us; cpu h { workers = 2; } }
    node slow { count = 25; net = 0.1 GB/s, 2 us; cpu h { workers = 1; } }
    network n { manager = 4 GB/s, 2 us; total = 2 GB/s; files = 3 GB/s; message = 5 us; }
}" "manager=4e9 total=2e9 files=3e9" 3 4000000 -D give=2000000
case_of window-1 "platform p {
    node a { count = 20; net = 0.2 GB/s, 2 us; cpu h { workers = 1; } }
    network n { manager = 2 GB/s, 2 us; files = 1 GB/s; message = 5 us; }
}" "manager=2e9 total=0 files=1e9" 1 2000000 -D give=5000000
echo "largest difference: $(python3 -c "print(f'{100 * $worst:.2f} %')")"
python3 -c "exit($worst > 0.03)"
