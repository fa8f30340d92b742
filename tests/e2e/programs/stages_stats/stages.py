"""Checks the statistics and the trace of a run by stages: stages.py STATS TRACE RANKS WAVES GROUP=RANK,RANK… [changed]

Each group of stages has each wave once, on its ranks. What one group sends the next one receives. The nodes of all ranks have fired as often as in one
process, and the events of the trace are as many. On the one clock a wave's nodes follow one another over all ranks, as far as the offsets are known.
With `changed` a rank was lost and the stages were mapped anew: then waves may have been done twice, and only what must hold all the same is checked.
"""
import json
import sys

stats, trace, n, waves = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
changed = sys.argv[-1] == "changed"
groups = {names.replace("+", " "): [int(r) for r in ranks.split(",")] for names, ranks in (a.split("=") for a in sys.argv[5:] if "=" in a)}
s, t = json.load(open(stats)), json.load(open(trace))
wrong = []


def check(name, good, what=""):
    if not good:
        wrong.append(name)
    print(f"ok {name}" if good else f"not ok {name}: {what}")


rows = [(r["rank"], row) for r in s["ranks"] for row in r["stages"]]
told = [r for r in s["ranks"] if r["stats"]]
check("waves", s["waves"] == waves, s["waves"])
check("jobs", s["jobs"] == sum(r["stats"]["jobs"] for r in told), s["jobs"])
check("busy", abs(sum(w["busy_s"] for r in told for w in r["stats"]["workers"]) - s["busy_s"]) <= 1e-6 * (1 + s["busy_s"]), s["busy_s"])
check("times", all(min(row["ran_s"], row["waited_s"], row["full_s"]) >= 0 and row["ran_s"] > 0 for _, row in rows if row["waves"]), rows)
check("in-all", all(row["ran_s"] + row["waited_s"] + row["full_s"] <= s["elapsed_s"] * 1.001 + 1e-3 for _, row in rows), (rows, s["elapsed_s"]))
keys = ("waves", "in_bytes", "out_bytes")
sums = {row["names"]: [row[k] for k in keys] for row in s["stages"]}
check("sums", all(sums[name] == [sum(row[k] for _, row in rows if row["names"] == name) for k in keys] for name in sums)
      and len(sums) == len({row["names"] for _, row in rows}), sums)
slack = 2 * max([r[at]["uncertainty_us"] for r in t["otherData"]["ranks"] for at in ("first", "last") if at in r], default=0) + 1
jobs = {}
for e in t["traceEvents"]:
    if e["ph"] == "X" and e["cat"] == "job":
        jobs.setdefault((e["name"], e["args"]["wave"]), []).append(e)
trips = [r[at] for r in t["otherData"]["ranks"][1:] for at in ("first", "last") if at in r]
check("clocks", trips and all(c["trips"] >= 1 and abs(c["offset_us"]) <= c["uncertainty_us"] + 0.01 for c in trips), trips)
check("no-windows", not [e for e in t["traceEvents"] if e["ph"] == "C"])
home = {"square": "main/square", "both": "main/both/weigh", "fold": "main/fold"}
chain = ["main/count", "main/square", "main/both/weigh", "main/both/halve", "main/fold", "main/show"]
first, last = ("main/count", "main/show")
computed = {name: [e for w in range(waves) for e in jobs.get((name, w), []) if (e["pid"] == 0) == (name in (first, last))] for name in chain}
if changed:
    check("none-lost", all({e["args"]["wave"] for e in computed[name]} == set(range(waves)) for name in (first, last)), computed.keys())
    check("dead", any(r["state"] == "died" and r["stats"] is None and not r["stages"] for r in s["ranks"]), s["ranks"])
    check("some-waves", all(sum(row["waves"] for _, row in rows if name in row["names"].split()) > 0 for name in ("square", "fold")), rows)
else:
    check("rows", sorted((row["names"], r) for r, row in rows) == sorted((name, r) for name, ranks in groups.items() for r in ranks), rows)
    check("each-once", all(sum(row["waves"] for _, row in rows if row["names"] == name) == waves for name in groups), rows)
    order = list(groups)
    check("passed-on", all(sums[a][2] == sums[b][1] for a, b in zip(order, order[1:])), sums)
    fired = {node["name"]: node["jobs"] for node in s["nodes"]}
    expected = {name: waves for name in chain} | {"main/count": waves + 1, "main/table": 1}
    check("nodes", fired == expected, fired)
    placed = {name: next((ranks for names, ranks in groups.items() if name.split("/")[1] in names.split()), [0]) for name in chain}
    owned = {(name, w): sorted((e for e in jobs.get((name, w), []) if e["pid"] in placed[name]), key=lambda e: e["ts"]) for name in chain for w in range(waves)}
    for w in range(waves):                  # rank 0 has two parts, and in the second one it is given
        del owned[first, w][1:]
    check("complete", all(len(events) == 1 for events in owned.values()), [key for key, events in owned.items() if len(events) != 1][:3])
    gaps = [(owned[b, w][0]["ts"] - owned[a, w][0]["ts"] - owned[a, w][0]["dur"], w, a, b)
            for w in range(waves) for a, b in zip(chain, chain[1:]) if owned[a, w] and owned[b, w]]
    late = [gap for gap in gaps if gap[0] < -slack]
    check("order", not late, (late[:3], slack))
sys.exit(bool(wrong))
