"""Redoes figures 5.1 to 5.4 of Wu's thesis: thesis.py BUILDDIR OUT.

Writes OUT/figure-5.1.csv to figure-5.4.csv and .svg, and the table of figures 5.3 and 5.4 into OUT/README.md, if that is there. All is `dfc simulate`
of what examples/matrix/generate --titan writes: the machine and the costs of titan.df, which says where each figure is from. Figures 5.1 and 5.2 are of
one kernel; 5.3 and 5.4 of the micro-benchmark (38 kernels, 75 dependencies), the mean of SEEDS graphs for each size. Runs no kernel.

thesis.py BUILDDIR --check=FOLDER simulates some sizes without `gp`, which takes most of the time. It compares them with FOLDER's CSV, and with what
the thesis's text says, and prints a line for each, as tests do.
"""
import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import plot
from table import table

SIZES = [128, 256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048]
CHECKED = [128, 512, 1024, 2048]
SEEDS = 5
POLICIES = ["eager", "dmda", "gp-thesis", "gp"]
KINDS = {"5.3": "ma", "5.4": "mm"}
TITLES = {"5.1": "How much faster the GPU is", "5.2": "Computing and copying", "5.3": "Matrix additions under policies", "5.4": "Matrix products under policies"}


class Graphs:
    """Generated graphs in a folder of their own, and what dfc makes of them."""

    def __init__(self, build):
        self.dfc = os.path.realpath(os.path.join(build, "bin/dfc"))
        self.folder = tempfile.TemporaryDirectory()
        self.generate = os.path.join(self.folder.name, "generate")
        matrix = pathlib.Path(__file__).resolve().parents[1] / "matrix"
        subprocess.run(["cc", "-std=c11", "-O2", "-o", self.generate, matrix / "generate.c"], check=True)
        shutil.copy(matrix / "titan.df", self.folder.name)

    def simulate(self, graph, policies, *options):
        text = subprocess.run([self.generate, "--titan", *graph], check=True, capture_output=True, text=True).stdout
        pathlib.Path(self.folder.name, "graph.df").write_text(text)
        out = subprocess.run([self.dfc, "simulate", "graph.df", "--policy=" + ",".join(policies), "--format=csv", "-w", *options], cwd=self.folder.name,
                             check=True, capture_output=True, text=True, env={**os.environ, "DFC_PROFILE": "/nonexistent/profile.db"}).stdout
        return list(csv.DictReader(io.StringIO(out)))

    def one(self, kind, n):
        """Seconds of one kernel on a CPU core and on the GPU, and of its three copies."""
        self.simulate([f"--kind={kind}", f"--n={n}", "--kernels=1"], ["all-cpu", "all-gpu"], "--schedule=one.csv")
        with open(os.path.join(self.folder.name, "one.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        took = {key: sum(float(r["end_s"]) - float(r["start_s"]) for r in rows if (r["policy"], r["kind"]) == key)
                for key in (("all-cpu", "job"), ("all-gpu", "job"), ("all-gpu", "copy"))}
        return tuple(took.values())

    def mean(self, kind, n, policies):
        """Rows of policy, size, makespan in ms, and copies: means over the seeds."""
        found = {p: [0.0, 0.0] for p in policies}
        for seed in range(1, SEEDS + 1):
            for row in self.simulate([f"--kind={kind}", f"--n={n}", f"--seed={seed}"], policies):
                found[row["policy"]][0] += 1e3 * float(row["makespan_s"]) / SEEDS
                found[row["policy"]][1] += int(row["copies"]) / SEEDS
        return [[p, n, *found[p]] for p in policies]


def rows_of(graphs, figure, sizes, policies):
    """The title of the axis, the columns, and the rows."""
    if figure in KINDS:
        return "makespan, ms", ["policy", "rows", "makespan_ms", "copies"], [row for n in sizes for row in graphs.mean(KINDS[figure], n, policies)]
    rows = []
    for kind in KINDS.values():
        for n in sizes:
            cpu_s, gpu_s, copies_s = graphs.one(kind, n)
            rows.append([kind, n, cpu_s / gpu_s if figure == "5.1" else gpu_s / copies_s])
    return ("time on a CPU core / time on the GPU" if figure == "5.1" else "time on the GPU / time of three transfers"), ["kernel", "rows", "ratio"], rows


def as_text(rows):
    return [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in row] for row in rows]


def write(out, figure, y, columns, rows):
    at = pathlib.Path(out, f"figure-{figure}")
    with open(f"{at}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *as_text(rows)])
    names = list(dict.fromkeys(row[0] for row in rows))
    series = [(name, [(row[1], row[2]) for row in rows if row[0] == name]) for name in names]
    note = "i7-4770 with three workers, GTX TITAN, PCIe 3.0; costs are stated, not measured (examples/matrix/titan.df)"
    pathlib.Path(f"{at}.svg").write_text(plot.lines(f"{TITLES[figure]}, as figure {figure} of the thesis", note, "rows of the matrices", y, series, log_y=True), encoding="utf-8")


def makespans(found):
    """A line for each size: the makespan of each policy in ms, for both kinds, with the copies in brackets."""
    by = {(figure, row[0], row[1]): f"{row[2]:.3g} ({row[3]:.0f})" if row[2] < 100 else f"{row[2]:,.0f} ({row[3]:.0f})"
          for figure in KINDS for row in found[figure]}
    return table(["rows"] + [f"{KINDS[f].upper()} `{p}`" for f in KINDS for p in POLICIES], [[str(n)] + [by[f, p, n] for f in KINDS for p in POLICIES] for n in SIZES])


def update(page, text):
    content, n = re.subn(r"(<!-- thesis -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page.read_text(encoding="utf-8"), flags=re.S)
    if n != 1:
        sys.exit(f"thesis.py: {page} has {n} places for the table")
    page.write_text(content, encoding="utf-8")


# ---- what the thesis's text says ----

def stored(folder, figure):
    with open(os.path.join(folder, f"figure-{figure}.csv"), encoding="utf-8") as file:
        return list(csv.reader(file))


def statements(ma, mm):
    """(what the text says, whether it holds here, whether docs/results/thesis says that it does). ma and mm: [policy][rows], makespan and copies."""
    yield "MM: eager is the slowest at each size", all(mm["eager"][n][0] > mm[p][n][0] for p in ("dmda", "gp-thesis") for n in CHECKED), True
    yield "MM: eager's time increases steeply", all(mm["eager"][n][0] / mm["eager"][m][0] > 1.5 * (n / m) ** 2 for m, n in zip(CHECKED, CHECKED[1:])), True
    yield "MM: dmda and gp are alike", all(abs(mm["gp-thesis"][n][0] / mm["dmda"][n][0] - 1) < 0.01 for n in CHECKED), True
    yield "MA: eager has the most transfers", all(ma["eager"][n][1] > ma[p][n][1] for p in ("dmda", "gp-thesis") for n in CHECKED), True
    yield "MA: gp has the least transfers", all(ma["gp-thesis"][n][1] < ma["dmda"][n][1] for n in CHECKED), False
    yield "MA: the three take about as long", all(max(ma[p][n][0] for p in ma) / min(ma[p][n][0] for p in ma) < 1.5 for n in CHECKED), False


def check(graphs, folder):
    failed, of = 0, {}
    for figure in TITLES:
        _, columns, rows = rows_of(graphs, figure, CHECKED, POLICIES[:-1])
        of[figure] = {row[0]: {} for row in rows}
        for row in rows:
            of[figure][row[0]][row[1]] = row[2:]
        other = [row for row in as_text(rows) if row not in stored(folder, figure)]
        failed += len(other) > 0
        print(f"not ok figure-{figure}: {folder} has other values than {other[0]}" if other else f"ok figure-{figure} {len(rows)} values")
    for what, holds, said in statements(of["5.3"], of["5.4"]):
        failed += holds != said
        print(f"{'ok' if holds == said else 'not ok'} {what}: {'so it is here' if holds else 'not here'}")
    return failed


def main(build, out):
    graphs = Graphs(build)
    if out.startswith("--check="):
        return check(graphs, out[len("--check="):]) > 0
    found = {}
    os.makedirs(out, exist_ok=True)
    for figure in TITLES:
        y, columns, found[figure] = rows_of(graphs, figure, SIZES, POLICIES)
        write(out, figure, y, columns, found[figure])
    print(makespans(found))
    if pathlib.Path(out, "README.md").exists():
        update(pathlib.Path(out, "README.md"), makespans(found))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: thesis.py BUILDDIR OUT|--check=FOLDER")
    sys.exit(main(*sys.argv[1:]))
