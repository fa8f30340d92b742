"""Checks the statistics and the trace of a run on many ranks that share the parts of accs: shares.py STATS TRACE RANKS WAVES SHARES PARTS

Each share has each wave once, and each part, too; on the one clock what comes after the last wave begins when all parts are done.
"""
import json
import sys

stats, trace, n, waves, shares, parts = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7])
s, t = json.load(open(stats)), json.load(open(trace))
wrong = []


def check(name, good, what=""):
    if not good:
        wrong.append(name)
    print(f"ok {name}" if good else f"not ok {name}: {what}")


told = [r for r in s["ranks"] if r["stats"]]
check("waves", s["waves"] == waves, s["waves"])
check("jobs", s["jobs"] == sum(r["stats"]["jobs"] for r in told), s["jobs"])
check("busy", abs(sum(w["busy_s"] for r in told for w in r["stats"]["workers"]) - s["busy_s"]) <= 1e-6 * (1 + s["busy_s"]), s["busy_s"])
check("results", sum(r["waves"] for r in s["ranks"]) >= shares, s["ranks"])
fired = {node["name"]: node["jobs"] for node in s["nodes"]}
expected = {f"main/back.part[{k}]": waves for k in range(parts)} | {"main/slow": waves * shares, "main/tell": 1, "main/offset": 1, "main/write_raw_i64": 1}
check("nodes", {name: jobs for name, jobs in fired.items() if name != "main/count"} == expected and fired["main/count"] >= waves * shares, fired)
jobs = {}
for e in t["traceEvents"]:
    if e["ph"] == "X" and e["cat"] == "job":
        jobs.setdefault(e["name"], []).append(e)
seen = {name: len(events) for name, events in jobs.items()}
seen["main/offset"] -= sum(e["pid"] != 0 for e in jobs["main/offset"])   # it is given there
check("events", seen == fired, seen)
backs = [e for name, events in jobs.items() for e in events if "/back" in name]
check("each-once", len({(e["name"], e["args"]["wave"]) for e in backs}) == waves * parts, len(backs))
check("processes", all(1 <= e["pid"] < n for e in backs) and jobs["main/tell"][0]["pid"] == 0, {e["pid"] for e in backs})
slack = 2 * max((r[at]["uncertainty_us"] for r in t["otherData"]["ranks"] for at in ("first", "last") if at in r), default=0) + 1
check("order", max(e["ts"] + e["dur"] for e in backs) <= jobs["main/tell"][0]["ts"] + slack, slack)
check("times", all(e["ts"] >= -slack for events in jobs.values() for e in events), slack)
sys.exit(bool(wrong))
