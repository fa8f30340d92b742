import csv, json, subprocess, sys
run = [sys.argv[1], "simulate", "graph.df", "--platform=pair.df", "--policy=dmda"]
p = json.loads(subprocess.check_output(run + ["--format=json"]))["policies"][0]
row = next(csv.DictReader(subprocess.check_output(run + ["--format=csv"], text=True).splitlines()))
assert p["peer_copies"] > 0 and p["peer_bytes"] == 4194304 * p["peer_copies"]
assert p["h2d_copies"] + p["d2h_copies"] + p["peer_copies"] == int(row["copies"])
assert abs(sum(u.get("peer_busy_s", 0) for u in p["units"]) - p["peer_copies"] * (2e-6 + 4194304 / 50e9)) < 1e-9
