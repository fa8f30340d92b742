"""Checks a schedule: check.py DFC GRAPH.df WAVES [OPTION…]

Runs `dfc simulate` with --schedule as JSON and as CSV, and compares the rows with the graph of --emit=graph: each job of each wave once, no worker
with two jobs at a time, no unit with more threads than workers, each input there before its reader starts, each copy over a link of the platform
and as long as that link takes, and the makespan that `dfc simulate` prints.
"""
import collections
import csv
import json
import re
import subprocess
import sys

HOST, LINK, PEER = "host", (1e9, 10e-6), (50e9, 2e-6)   # of the platform `pair`: bytes per second, seconds
WORKERS = {"host": 3, "a": 1, "b": 1}
ROUNDING = 1e-8                                         # times have nine digits
ABSENT = ""


def dfc(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def read_graph(text):
    """Nodes: {name: (kernel, [(producer, output, bytes) of each input], once)}."""
    works = {}
    for number, kernel, ports in re.findall(r"^(w\d+) (\w+)\[[^:]*: ([^;]*);", text, re.M):
        outputs = [(p.split()[1], int(p.split("[")[1].rstrip("]"))) for p in ports.split(", ") if p.split()[0] in ("out", "inout")]
        works[number] = kernel, outputs
    nodes, values = {}, {}
    for name, work, inputs, rest in re.findall(r"^n\d+ (\S+) (w\d+) \((.*?)\)(.*)$", text, re.M):
        kernel, outputs = works[work]
        made = re.findall(r"(?:->|,) (v\d+)", rest)
        assert len(made) == len(outputs), (name, made, outputs)
        values.update({v: (name, *output) for v, output in zip(made, outputs)})
        nodes[name] = kernel, [values[v] for v in inputs.split(", ") if v], rest.endswith(" once")
    return nodes


def check_jobs(nodes, jobs, waves):
    """Each job once; workers do one thing at a time; units have enough of them."""
    count = collections.Counter((j["wave"], j["node"]) for j in jobs)
    want = {(w, n) for n, (_, _, once) in nodes.items() for w in range(1 if once else waves)}
    assert set(count) == want and max(count.values()) == 1, (want ^ set(count), count.most_common(1))
    rows, moments = collections.defaultdict(list), collections.defaultdict(list)
    for j in jobs:
        assert j["kernel"] == nodes[j["node"]][0] and j["start_s"] <= j["end_s"], j
        if "worker" not in j:
            assert j["threads"] == 0 and j["start_s"] == j["end_s"], j
            continue
        assert j["worker"] < WORKERS[j["unit"]], j
        rows[j["unit"], j["worker"]].append((j["start_s"], j["end_s"]))
        moments[j["unit"]] += [(j["end_s"], -j["threads"]), (j["start_s"], j["threads"])]
    for worker, times in rows.items():
        times.sort()
        assert all(a[1] <= b[0] for a, b in zip(times, times[1:])), (worker, times)
    for unit, changes in moments.items():
        busy = 0
        for _, change in sorted(changes):
            busy += change
            assert busy <= WORKERS[unit], (unit, busy)


def check_copies(nodes, jobs, copies):
    """Copies use links that there are, take what is there, and bring what is read before it is read."""
    job = {(j["wave"], j["node"]): j for j in jobs}
    arrived = collections.defaultdict(list)             # (wave, node, output): [(unit, from when)]
    for wave, node in job:
        for token in {t[:2] for _, inputs, _ in nodes.values() for t in inputs if t[0] == node}:
            arrived[wave, *token].append((job[wave, node]["unit"], job[wave, node]["end_s"]))
    for c in sorted(copies, key=lambda c: c["start_s"]):
        token = c["wave"], c["node"], c["output"]
        assert c["from"] != c["to"] and token in arrived, c
        assert any(u == c["from"] and t <= c["start_s"] for u, t in arrived[token]), (c, arrived[token])
        rate, latency = LINK if HOST in (c["from"], c["to"]) else PEER
        assert abs(c["end_s"] - c["start_s"] - latency - c["bytes"] / rate) < ROUNDING, c
        arrived[token].append((c["to"], c["end_s"]))
    for (wave, node), j in job.items():
        for producer, output, size in nodes[node][1]:
            token = 0 if nodes[producer][2] else wave, producer, output
            assert any(u == j["unit"] and t <= j["start_s"] for u, t in arrived[token]), (j, token, arrived[token])
            assert all(c["bytes"] == size for c in copies if (c["wave"], c["node"], c["output"]) == token), token


def plain(rows):
    """Rows as CSV has them: without what has no value, and as text."""
    return [{k: v if isinstance(v, str) else f"{v:.9g}" for k, v in row.items() if v != ABSENT} for row in rows]


def main():
    graph, waves, options = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    nodes = read_graph(dfc(graph, "--emit=graph"))
    simulate = ["simulate", graph, f"--waves={waves}", *options]
    printed = json.loads(dfc(*simulate, "--format=json", "--schedule=s.json"))
    dfc(*simulate, "--schedule=s.csv")
    whole = json.load(open("s.json"))
    rows_of_csv = collections.defaultdict(list)
    for row in csv.DictReader(open("s.csv", newline="")):
        rows_of_csv[row.pop("policy")].append(row)
    assert whole["graph"] == printed["graph"] and whole["platform"] == printed["platform"] and whole["waves"] == waves
    assert [p["policy"] for p in whole["policies"]] == [p["policy"] for p in printed["policies"]] == list(rows_of_csv)
    copied = 0
    for policy, figures in zip(whole["policies"], printed["policies"]):
        jobs, copies = ([r for r in policy["rows"] if r["kind"] == kind] for kind in ("job", "copy"))
        assert len(jobs) + len(copies) == len(policy["rows"])
        assert plain(policy["rows"]) == plain(rows_of_csv[policy["policy"]]), policy["policy"]
        check_jobs(nodes, jobs, waves)
        check_copies(nodes, jobs, copies)
        assert max(j["end_s"] for j in jobs) == policy["makespan_s"] == figures["makespan_s"], policy["policy"]
        assert sum(c["bytes"] for c in copies if c["from"] == HOST) == figures["h2d_bytes"], policy["policy"]
        assert sum(c["bytes"] for c in copies if c["to"] == HOST) == figures["d2h_bytes"], policy["policy"]
        peers = [c for c in copies if HOST not in (c["from"], c["to"])]
        assert len(peers) == figures.get("peer_copies", 0), policy["policy"]
        copied += len(copies)
    assert copied, "no policy copies anything"


main()
