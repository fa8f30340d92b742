"""Tables and the plot of wrong times, from wrong.csv, for results.py: what `dfc simulate --error` printed for three sets of graphs,
`latency` (one wave), `tiles` (many independent tiles) and `workflows`.
"""
import csv
from collections import defaultdict
import plot
from table import geomean, table

PLOTTED = ["heft", "peft", "dmda", "gp", "pats", "padas", "pams", "eager"]


def head_of(error):
    kind, size = error.split(":")
    return f"σ = {size}" if kind == "sigma" else f"{'±' if kind == 'off' else 'confounded '}{size} %"


class Wrong:
    """rows[set][error, guard][policy][graph], in the order of the file."""

    def __init__(self, path):
        self.rows = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
        with open(path) as f:
            for row in csv.DictReader(f):
                self.rows[row["set"]][row["error"], row["guard"]][row["policy"]][row["graph"]] = row

    def errors(self, name, guard="on"):
        return [e for e, g in self.rows[name] if g == guard]

    def longer(self, name, error, policy):
        """Median makespan over the one with right times, geometric mean of the graphs."""
        return geomean(float(r["median_s"]) / float(r["right_s"]) for r in self.rows[name][error, "on"][policy].values())

    def speeds(self, name, error, guard, policy="gp"):
        return {graph: float(r["speed_beside_dmda"]) for graph, r in self.rows[name][error, guard][policy].items()}


def by_policy(wrong, name):
    errors = wrong.errors(name)
    policies = list(wrong.rows[name][errors[0], "on"])
    worst = ([e for e in errors if e.startswith("off")] or errors)[-1]
    policies.sort(key=lambda p: -wrong.longer(name, worst, p))
    rows = [[f"`{p}`"] + [f"{wrong.longer(name, e, p):.2f}" for e in errors] for p in policies]
    return table(["policy"] + [head_of(e) for e in errors], rows)


def guard(wrong):
    names = {"latency": "the graphs above", "workflows": "workflows"}
    rows = []
    for name in (n for n in names if n in wrong.rows):
        for error in wrong.errors(name, "off"):
            cells = []
            for g in ("on", "off"):
                speeds = wrong.speeds(name, error, g)
                least = min(speeds, key=speeds.get)
                cells += [f"{geomean(speeds.values()):.3f}", f"{speeds[least]:.3f} ({least})"]
            rows.append([f"{names[name]} ({len(speeds)})", head_of(error)] + cells)
    return table(["graphs", "times", "guarded", "least", "unguarded", "least"], rows)


def picture(wrong):
    series = []
    errors = [e for e in wrong.errors("tiles") if e.startswith("off")]
    for p in (p for p in PLOTTED if p in wrong.rows["tiles"][errors[0], "on"]):
        series.append((p, [(0, 1.0)] + [(float(e.split(":")[1]), wrong.longer("tiles", e, p)) for e in errors]))
    return plot.lines("What wrong times cost: pipelines over tiles", "each time told too high or too low by so much, with equal chance; median of the draws",
                      "error of each time, percent", "makespan / makespan with right times", series, log_y=True)


def tables(wrong):
    found = {f"wrong-{name}": by_policy(wrong, name) for name in ("latency", "tiles") if name in wrong.rows}
    if any(wrong.errors(name, "off") for name in list(wrong.rows)):
        found["wrong-guard"] = guard(wrong)
    return found
