import csv, json, subprocess, sys
out = json.loads(subprocess.check_output([sys.argv[1], "simulate", "graph.df", "--format=json"]))
rows = list(csv.DictReader(open(sys.argv[2])))
assert [p["policy"] for p in out["policies"]] == [r["policy"] for r in rows]
for p, r in zip(out["policies"], rows):
    assert p["makespan_s"] == float(r["makespan_s"]) and out["lower_bound_s"] == float(r["lower_bound_s"])
    assert p["h2d_copies"] + p["d2h_copies"] == int(r["copies"])
    assert abs(p["units"][0]["busy_s"] - float(r["cpu_busy_s"])) < 1e-12
