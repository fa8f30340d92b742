"""Checks the merged trace of a run on many ranks of one machine: merged.py FILE RANKS WAVES

All ranks have one clock here, so the true offset is 0, and lies within the uncertainty that the file tells. On the one clock each wave's nodes
follow one another over all ranks, as far as the offsets are known.
"""
import json
import sys

path, n, waves = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
trace = json.load(open(path))
events, ranks = trace["traceEvents"], trace["otherData"]["ranks"]
wrong = []


def check(name, good, what=""):
    if not good:
        wrong.append(name)
    print(f"ok {name}" if good else f"not ok {name}: {what}")


check("ranks", [r["rank"] for r in ranks] == list(range(n)) and ranks[0]["traced"], ranks)
trips = [r[at] for r in ranks[1:] for at in ("first", "last") if at in r]
check("clocks", all(t["trips"] >= 1 and abs(t["offset_us"]) <= t["uncertainty_us"] + 0.01 for t in trips), trips)
names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
check("processes", sorted(names) == list(range(n)) and all(names[p].startswith(f"rank {p}") for p in names), names)
slack = 2 * max([t["uncertainty_us"] for t in trips], default=0) + 1
jobs = {}
for e in events:
    if e["ph"] == "X" and e["cat"] == "job":
        place = 0 if e["name"] in ("main/count", "main/show") else 1
        if (e["pid"] == 0) == (place == 0):      # else the node is given there
            jobs.setdefault((e["args"]["wave"], e["name"]), []).append(e)
chain = ("main/count", "main/half#1", "main/half#2", "main/show")
check("complete", all(len(jobs.get((w, name), [])) == 1 for w in range(waves) for name in chain), len(jobs))
late = [(w, a, b) for w in range(waves) for a, b in zip(chain, chain[1:]) if (w, a) in jobs and (w, b) in jobs
        and jobs[w, a][0]["ts"] + jobs[w, a][0]["dur"] > jobs[w, b][0]["ts"] + slack]
check("order", not late, (late[:3], slack))
windows = [e for e in events if e["ph"] == "C" and e["name"] == "window"]
check("windows", windows and all(e["args"]["waves"] >= 1 and 1 <= e["pid"] < n for e in windows), windows)
check("times", all(e["ts"] >= -slack for e in events if e["ph"] != "M"), slack)
sys.exit(bool(wrong))
