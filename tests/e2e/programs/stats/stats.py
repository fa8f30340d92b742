"""Checks the statistics of a run of ways.df of 200 waves, or of one: stats.py FILE"""
import json
import sys

s = json.loads([line for line in open(sys.argv[1]) if line.startswith("{")][-1])
waves = s["waves"]
jobs = {"begin": waves, "work": 2 * waves, "end": waves}


def check(what, good):
    if not good:
        sys.exit(f"{what}: {json.dumps(s)}")


for name, n in jobs.items():
    check(f"jobs of kernel {name}", sum(k["jobs"] for k in s["kernels"] if k["name"] == name) == n)
    nodes = [v for v in s["nodes"] if v["kernel"] == name]
    check(f"jobs of the nodes of {name}", sum(v["jobs"] for v in nodes) == n)
check("jobs of all nodes", sum(v["jobs"] for v in s["nodes"]) == s["jobs"])
for table in (s["kernels"], s["nodes"]):
    check("shares", abs(sum(row["share"] for row in table) - 1) < 1e-4)
    check("means", all(abs(row["mean_s"] * row["jobs"] - row["total_s"]) <= 1e-6 * row["total_s"] for row in table))
    check("order", [row["total_s"] for row in table] == sorted((row["total_s"] for row in table), reverse=True))
total = sum(row["total_s"] for row in s["kernels"])
check("both tables say the same", abs(total - sum(row["total_s"] for row in s["nodes"])) <= 1e-6 * total)
# Jobs on one GPU may overlap, and its busy time counts once.
if all(row["on"] == "cpu" for row in s["kernels"]):
    check("no more than the workers were busy", 0 < total <= 1.001 * sum(w["busy_s"] for w in s["workers"]))
