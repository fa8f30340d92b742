"""Tables and plots from what results.sh collected: results.py OUT [--update=FILE].

Reads runs.csv, deep.csv (gp with ten times its budget), large.csv and wrong.csv in OUT; writes tables.md and SVGs there. A lower
bound above a makespan, or a gp slower than another policy on some graph, is an error: the figures would be wrong.
"""
import argparse, csv, os, re, sys
from collections import defaultdict

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../examples/studies"))
import plot, wrong
from table import geomean, table

FAMILIES = ["thesis ma", "thesis mm", "thesis mixed", "factorizations", "stencils", "image pipelines", "layered ≤ 200",
            "layered 1000", "workflows", "two GPUs"]
PLOTTED = ["gp", "heft", "peft", "dmda", "dmdas", "pams", "ws", "eager", "gp-thesis"]


class Runs:
    """makespan[family][graph][policy] and the other columns, in the order of the file."""

    def __init__(self, path):
        self.rows = defaultdict(lambda: defaultdict(dict))
        self.policies = []
        with open(path) as f:
            for row in csv.DictReader(f):
                row = {k: float(v) if k.endswith(("_s", "bytes", "_ms")) or k in ("copies", "evictions") else v for k, v in row.items()}
                self.rows[row["family"]][row["graph"]][row["policy"]] = row
                if row["policy"] not in self.policies:
                    self.policies.append(row["policy"])
                if row["makespan_s"] < row["lower_bound_s"] * (1 - 1e-9):
                    sys.exit(f"results: {row['policy']} on {row['graph']} takes {row['makespan_s']} s, less than the bound")

    def graphs(self, families):
        return [by_policy for f in families for by_policy in self.rows[f].values()]


def ratio(by_policy, policy, to):
    return by_policy[policy]["makespan_s"] / by_policy[to]["makespan_s"]


def quality(runs, policy, families):
    """Makespan over lower bound: geometric mean and worst."""
    found = [g[policy]["makespan_s"] / g[policy]["lower_bound_s"] for g in runs.graphs(families) if policy in g]
    return (geomean(found), max(found)) if found else None


def best_first(runs, policies, families):
    return sorted(policies, key=lambda p: (round(quality(runs, p, families)[0], 9), p))


def by_family(runs, families):
    def cell(policy, family):
        q = quality(runs, policy, [family])
        return f"{q[0]:.2f}" if q else "–"

    rows = []
    for p in best_first(runs, runs.policies, families):
        q = quality(runs, p, families)
        rows.append([f"`{p}`"] + [cell(p, f) for f in families] + [f"{q[0]:.2f} ({q[1]:.2f})"])
    counts = ["graphs"] + [str(len(runs.rows[f])) for f in families] + [str(len(runs.graphs(families)))]
    return table(["policy"] + families + ["all (worst)"], rows + [counts])


def copies(runs, families):
    rows = []
    for p in runs.policies:
        cells = []
        for f in families:
            found = [g[p]["copies"] for g in runs.graphs([f]) if p in g]
            cells.append(f"{sum(found) / len(found):.0f}" if found else "–")
        found = [g[p]["h2d_bytes"] + g[p]["d2h_bytes"] for g in runs.graphs(families) if p in g]
        rows.append([f"`{p}`"] + cells + [f"{sum(found) / len(found) / 1e6:.0f} MB"])
    return table(["policy"] + families + ["bytes, mean"], rows)


def against(runs, families):
    """Every policy's makespan over gp's; how often either is ahead."""
    rows = []
    for p in runs.policies:
        if p == "gp":
            continue
        r = [ratio(g, p, "gp") for g in runs.graphs(families) if p in g]
        if not r:
            continue
        level = sum(abs(x - 1) <= 1e-9 for x in r)
        worse = sum(x < 1 - 1e-9 for x in r)
        rows.append([f"`{p}`", f"{geomean(r):.3f}", f"{min(r):.3f}", f"{max(r):.2f}", str(len(r) - level - worse), str(level), str(worse)])
    rows.sort(key=lambda row: float(row[1]))
    return table(["policy", "time / gp's, geometric mean", "least", "most", "gp ahead", "level", "gp behind"], rows)


def growth(large):
    rows = []
    for nodes, graphs in large.rows.items():
        for by_policy in graphs.values():
            for p, r in by_policy.items():
                rows.append([f"{int(nodes):,}", f"`{p}`", f"{r['makespan_s'] / r['lower_bound_s']:.3f}",
                             f"{r['plan_ms']:.0f} ms" if r["plan_ms"] else "decides in the run"])
    return table(["nodes", "policy", "makespan / bound", "planning"], rows)


def budgets(runs, deep, families):
    """gp's makespan over that with ten times the budget, and over the best of the other policies."""
    rows = []
    for f in families:
        known = [(name, g) for name, g in runs.rows[f].items() if "gp" in g and name in deep.rows[f]]
        more = {name: g["gp"]["makespan_s"] / deep.rows[f][name]["gp"]["makespan_s"] for name, g in known}
        rest = [min(r["makespan_s"] for p, r in g.items() if p != "gp") / g["gp"]["makespan_s"] for _, g in known]
        if known:
            most = max(more, key=more.get)
            rows.append([f, f"{geomean(more.values()):.3f}", f"{more[most]:.3f} ({most})", f"{geomean(rest):.3f}", f"{max(rest):.2f}"])
    return table(["family", "`gp` / with ten times the budget", "most (where)", "best other policy / `gp`", "most"], rows)


def profile(runs, families, policies):
    """Share of graphs on which a policy is within a factor of the best of all (Dolan and Moré's performance profile)."""
    graphs = runs.graphs(families)
    series = []
    for p in policies:
        factors = sorted(g[p]["makespan_s"] / min(r["makespan_s"] for r in g.values()) for g in graphs)
        series.append((p, [(x, (i + 1) / len(factors)) for i, x in enumerate(factors)]))
        if series[-1][1][0][0] > 1:
            series[-1][1].insert(0, (1.0, 0.0))
    return series


def write(path, content):
    with open(path, "w") as f:
        f.write(content)


def update(path, tables):
    """Puts each table between `<!-- results:NAME -->` and `<!-- end -->`; names that the page lacks are an error."""
    with open(path) as f:
        page = f.read()
    for name, content in tables.items():
        page, n = re.subn(rf"(<!-- results:{name} -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{content}\n\n{m[2]}", page, flags=re.S)
        if n != 1:
            sys.exit(f"results: {path} has {n} places for '{name}'")
    write(path, page)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--update")
    options = parser.parse_args()
    runs, deep, large = (Runs(os.path.join(options.out, f"{n}.csv")) for n in ("runs", "deep", "large"))
    families = [f for f in FAMILIES if f in runs.rows]
    tables = {"families": by_family(runs, families), "copies": copies(runs, families), "growth": growth(large)}
    if "gp" in runs.policies:
        tables["against"] = against(runs, families)
        tables["budgets"] = budgets(runs, deep, families)
    extra = {"folder": against(runs, ["folder"])} if "folder" in runs.rows and "gp" in runs.policies else {}
    errors = wrong.Wrong(os.path.join(options.out, "wrong.csv"))
    tables.update(wrong.tables(errors))
    write(os.path.join(options.out, "tables.md"), "".join(f"## {n}\n\n{t}\n\n" for n, t in {**tables, **extra}.items()))
    plotted = [p for p in PLOTTED if p in runs.policies]
    pictures = {
        "families.svg": plot.dots("Makespan over lower bound, by policy and family", "geometric mean of each family; 1 cannot be beaten; all-cpu, far to the right, is left out",
                                  "makespan / lower bound", best_first(runs, set(runs.policies) - {"all-cpu"}, families), families,
                                  lambda p, f: (quality(runs, p, [f]) or (None,))[0]),
        "profile.svg": plot.lines("How close to the best policy, on how many graphs", "a point (x, y): on a share y of the graphs, no more than x times the best makespan",
                                  "makespan / best makespan of any policy", "share of the graphs", profile(runs, families, plotted), log_x=True, steps=True, x_high=4),
    }
    if "tiles" in errors.rows:
        pictures["wrong.svg"] = wrong.picture(errors)
    for name, svg in pictures.items():
        write(os.path.join(options.out, name), svg)
        if options.update:
            folder = os.path.join(os.path.dirname(options.update), "results")
            os.makedirs(folder, exist_ok=True)
            write(os.path.join(folder, name), svg)
    if options.update:
        update(options.update, tables)
    print("".join(f"{n}\n{t}\n\n" for n, t in {**tables, **extra}.items()) + f"in {options.out}: tables.md, {', '.join(pictures)}, runs.csv")
    behind = [f"{name} ({p})" for f in runs.rows for name, g in runs.rows[f].items() if "gp" in g for p in g if ratio(g, p, "gp") < 1 - 1e-9]
    if behind:
        sys.exit(f"results: gp is slower than another policy on {len(behind)}: {', '.join(behind[:8])}")


if __name__ == "__main__":
    main()
