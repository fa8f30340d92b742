import glob, json, math
gains = []
for name in sorted(glob.glob("*.json")):
    run = json.load(open(name))
    rows = {r["policy"]: r for r in run["policies"]}
    gp, others = rows["gp"], [r for n, r in rows.items() if n != "gp"]
    best = min(others, key=lambda r: r["makespan_s"])
    assert all(run["lower_bound_s"] <= r["makespan_s"] * (1 + 1e-9) for r in rows.values()), name
    assert gp["makespan_s"] <= best["makespan_s"] * 1.001, (name, best["policy"], gp["makespan_s"] / best["makespan_s"])
    assert gp["load_bound_s"] <= gp["least_load_s"] * (1 + 1e-9) and gp["least_load_s"] <= gp["load_s"] * (1 + 1e-9), name
    assert gp["least_load_s"] <= 1.015 * gp["load_bound_s"], (name, gp["least_load_s"] / gp["load_bound_s"])
    gains.append(rows["dmda"]["makespan_s"] / gp["makespan_s"])
mean = math.exp(sum(map(math.log, gains)) / len(gains))
print(f"figure throughput of gp beside dmda's: {mean:.3f} (geometric mean of {len(gains)}), least {min(gains):.3f}, most {max(gains):.3f}")
assert len(gains) == 9 and mean >= 1.12 and min(gains) > 0.999
