#!/usr/bin/env bash
# DDWRR and ODDS in a program on like nodes with a core and an emulated GPU, whose kernels wait: bench/stream_nodes.sh BUILDDIR OUT [WAVES [SCALE [NODES]]]. A row for each share of tiles
# that are analysed again: what the nodes take, and how many large tiles cores did, where CPU and GPU request waves of their own; and where a rank asks as a whole (--policy=gp).
set -euo pipefail
build=$(realpath "$1") out=$(realpath -m "$2") waves=${3:-1000} scale=${4:-2} nodes=${5:-2}
cd "$(dirname "$0")/../e2e/programs/stages"
if ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skip stream-nodes: no Open MPI here; install it: apt-get install openmpi-bin libopenmpi-dev"
    exit 0
fi
mkdir -p "$out"
cp tiles.df wait.c "$out" && cd "$out"
"$build/bin/dfc" tiles.df -D scale="$scale" --nvcc=none --no-opencl --emu-gpu-code -w -o tiles
printf 'feeding demand\nclassify: a\nanalyse:' >tiles.map
for ((n = 0; n < nodes; n++)); do printf ' n%d' "$n" >>tiles.map; done
echo >>tiles.map
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
once() { # AGAIN POLICY ARGS…: of the nodes, those that took longest, and the large tiles that cores did
    local app="./tiles --cluster --workers=1 --mapping=tiles.map --last=$waves --again=$1 --stream-policy=$2"; shift 2
    # shellcheck disable=SC2086
    mpirun $root --oversubscribe --bind-to none -n 1 $app --device=none --stats=json --stats-file=stats.json : -n 1 $app --device=none --inflight=256 \
        : -n "$nodes" $app --device=emu --inflight=2 "$@" >out.txt 2>err.txt || { cat err.txt; exit 1; }
    python3 - "$@" <<'P'
import json
s = json.load(open("stats.json"))
print(max(r["stats"]["makespan_s"] for r in s["ranks"][2:]), sum(n["jobs"] for n in s["nodes"] if n["name"].endswith("/high") and n["on"] == "cpu"))
P
}
median() { local all; all=$(for _ in 1 2 3; do once "$@"; done | sort -n); sed -n 2p <<<"$all"; }
echo "| again | DDWRR | large on cores | ODDS | large on cores | as a whole |"
echo "|---|---|---|---|---|---|"
for again in 4 8 12 16; do
    read -r ddwrr_s ddwrr_n < <(median $again ddwrr)
    read -r odds_s odds_n < <(median $again odds)
    read -r whole_s _ < <(median $again odds --policy=gp)
    printf '| %d %% | %.2f s | %d | %.2f s | %d | %.2f s |\n' $again "$ddwrr_s" "$ddwrr_n" "$odds_s" "$odds_n" "$whole_s"
done
