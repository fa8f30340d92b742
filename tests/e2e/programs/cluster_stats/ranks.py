"""Checks the statistics of a run on many ranks: ranks.py FILE RANKS WAVES FLOATS [died]

Each wave was done by one rank, tokens of FLOATS floats went there and back, and the nodes of all ranks have fired as often as in one process.
"""
import json
import sys

path, n, waves, floats = sys.argv[1], *map(int, sys.argv[2:5])
died = sys.argv[5:] == ["died"]
s = json.load(open(path))
ranks = s["ranks"]
wrong = []


def check(name, good, what=""):
    if not good:
        wrong.append(name)
    print(f"ok {name}" if good else f"not ok {name}: {what}")


others = [r for r in ranks[1:] if r["state"] != "absent"]        # a rank may begin when all is over
check("absent", others and all(r["given"] == 0 and not r["stats"] for r in ranks[1:] if r["state"] == "absent"), ranks)
check("ranks", [r["rank"] for r in ranks] == list(range(n)), ranks)
check("waves", s["waves"] == waves and sum(r["waves"] for r in others) == waves, [r["waves"] for r in others])
check("given", s["given"] == sum(r["given"] for r in others) == waves + s["given_again"], [r["given"] for r in others])
check("bytes", all(min(r["sent_bytes"], r["received_bytes"]) >= r["waves"] * floats * 4 for r in others)
      and s["sent_bytes"] == sum(r["sent_bytes"] for r in ranks[1:]), [(r["sent_bytes"], r["received_bytes"]) for r in others])
check("windows", all(r["window"] >= 1 and r["inflight"] >= 1 for r in others), [r["window"] for r in others])
told = [r for r in ranks if r["stats"]]
check("busy", abs(sum(w["busy_s"] for r in told for w in r["stats"]["workers"]) - s["busy_s"]) <= 1e-6 * (1 + s["busy_s"]), s["busy_s"])
check("within", all(w["busy_s"] <= r["stats"]["makespan_s"] * 1.001 + 1e-4 for r in others if r["stats"] for w in r["stats"]["workers"]), told)
check("jobs", s["jobs"] == sum(r["stats"]["jobs"] for r in told), s["jobs"])
if died:
    dead = [r for r in ranks if r["state"] == "died"]
    check("dead", any(r["deaths"] >= 1 and r["stats"] is None and r["given_again"] >= 1 for r in dead), ranks)
    check("rest", ranks[0]["stats"] and s["given_again"] >= 1, ranks)
else:
    check("all-told", all(r["state"] == "worked" and r["stats"] and r["deaths"] == 0 for r in [ranks[0], *others]), ranks)
    fired = {node["name"]: node["jobs"] for node in s["nodes"]}
    expected = {"main/count": waves + 1, "main/half#1": waves, "main/half#2": waves, "main/show": waves}
    check("nodes-sum", fired == expected, fired)
sys.exit(bool(wrong))
