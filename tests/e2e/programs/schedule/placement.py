"""Checks `dfc partition --format=csv|json` against each other, the schedule and the text: placement.py DFC GRAPH.df POLICY…
A line for each policy says `POLICY: right`, or what is not."""
import csv
import io
import json
import subprocess
import sys
import traceback


def dfc(policy, *options):
    done = subprocess.run([sys.argv[1], "partition", sys.argv[2], f"--policy={policy}", *options], capture_output=True, text=True)
    assert done.returncode == 0, f"{options}: {done.stderr}"
    return done.stdout


def plain(row):
    return {k: v if isinstance(v, str) else f"{v:.9g}" for k, v in row.items() if v != ""}


def look(policy):
    whole = json.loads(dfc(policy, "--format=json", "--schedule=p.json"))
    rows = list(csv.DictReader(io.StringIO(dfc(policy, "--format=csv"))))
    text = {line.split()[0]: line for line in dfc(policy).splitlines() if line.strip()}
    nodes, units = whole["nodes"], {u["name"]: u for u in whole["units"]}
    assert [plain(n) for n in nodes] == [plain(r) for r in rows]

    # The schedule of the wave has the same jobs, and nothing else but copies.
    (wave,) = json.load(open("p.json"))["policies"]
    jobs = {r["node"]: r for r in wave["rows"] if r["kind"] == "job"}
    assert wave["policy"] == whole["policy"] == policy and len(jobs) == len(nodes)
    for n in nodes:
        assert all(jobs[n["node"]].get(k) == n.get(k) for k in ("kernel", "unit", "worker", "start_s", "end_s")), n
    copies = [r for r in wave["rows"] if r["kind"] == "copy"]

    # Times: without a limit of memory the plan's prediction is what the wave takes.
    makespan_s = max(n["end_s"] for n in nodes)
    assert makespan_s == whole["makespan_s"] == wave["makespan_s"] == whole["predicted_s"], (makespan_s, whole)
    assert whole.get("lower_bound_s", 0) <= makespan_s <= min(u["all_on_it_s"] for u in units.values()) * 10
    assert all(abs(n["end_s"] - n["start_s"] - n["time_s"]) < 1e-8 for n in nodes)
    unit, scale = text["predicted"].split()[2], {"ms": 1e3, "us": 1e6, "s": 1}
    assert f"{makespan_s * scale[unit]:.3g}" == text["predicted"].split()[1], text["predicted"]

    # Units: what the text says of them, and what their nodes add up to. A job with threads(2) loads two workers.
    for name, u in units.items():
        own = [n for n in nodes if n["unit"] == name]
        load_s = sum(n["time_s"] * jobs[n["node"]]["threads"] for n in own)
        assert u["nodes"] == len(own) and abs(u["load_s"] - load_s) < 1e-8, (u, load_s)
        assert text[name].split()[1:3] == [str(u["workers"]), str(u["nodes"])], text[name]
        assert 0 < u["least_memory_bytes"] <= u["memory_bytes"] or not own, u

    # Cut and copies.
    assert text["cut"].startswith(f"cut        {whole['cut_arcs']} of {whole['arcs']} arcs"), text["cut"]
    assert (whole["cut_arcs"] > 0) == (len(copies) > 0)
    if "run_as" not in whole:
        assert len(copies) == sum(whole[k] for k in ("h2d_copies", "d2h_copies", "peer_copies")), whole
        assert sum(c["bytes"] for c in copies) == sum(whole[k] for k in ("h2d_bytes", "d2h_bytes", "peer_bytes")), whole


for policy in sys.argv[3:]:
    try:
        look(policy)
        print(f"{policy}: right")
    except Exception:
        print(f"{policy}: " + " ".join(traceback.format_exc().split()))
