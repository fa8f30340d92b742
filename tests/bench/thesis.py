"""Redoes figures 5.1 to 5.4 of Wu's thesis with stated costs: thesis.py BUILDDIR FIGURE OUT.

FIGURE is 5.1, 5.2, 5.3 or 5.4. Writes OUT/figure-FIGURE.csv and .svg. Figures 5.1 and 5.2 follow from the costs; 5.3 and 5.4 are `dfc simulate` of the
micro-benchmark's graphs (38 kernels, 75 dependencies), the mean of SEEDS graphs for each size. The machine is the thesis's Table 5.1. It states no times,
so these are ours: what such parts do, by their data sheets. Runs no kernel.
"""
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

import plot

SIZES = [128, 256, 384, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048]
SEEDS = 5
LAUNCH = 8e-6                                   # s
LATENCY, LINK = 10e-6, 12e9                     # s, and bytes/s of PCIe 3.0 x16
SECONDS = {                                     # of one kernel on one CPU core and on the GPU, with n rows
    "ma": (lambda n: 2e-6 + 1.2e-9 * n * n, lambda n: LAUNCH + 0.055e-9 * n * n),            # 10 GB/s, and 220 GB/s
    "mm": (lambda n: 2e-6 + 1.0e-9 * n**3, lambda n: LAUNCH + 0.00057e-9 * n**3),            # GNU's BLAS 2 GF/s, cuBLAS 3.5 TF/s
}
COSTS = {"ma": "cost cpu (2us + 1.2ns * m * m) gpu (8us + 0.055ns * m * m)",
         "mm": "cost cpu (2us + 1.0ns * m * m * m) gpu (8us + 0.00057ns * m * m * m)"}
PLATFORM = "platform titan { cpu host { workers = 3; } gpu titan { memory = 6 GiB; h2d = 12 GB/s, 10 us; d2h = 12 GB/s, 10 us; engines = 2; } }\n"
POLICIES = ["eager", "dmda", "gp-thesis", "gp"]


def transfer(n):
    """Two inputs and one output."""
    return 3 * (LATENCY + 4 * n * n / LINK)


def ratios(figure):
    name, of = (("time on a CPU core / time on the GPU", lambda k, n: SECONDS[k][0](n) / SECONDS[k][1](n)) if figure == "5.1" else
                ("time on the GPU / time of three transfers", lambda k, n: SECONDS[k][1](n) / transfer(n)))
    return name, ["kernel", "rows", "ratio"], [[k, n, of(k, n)] for k in SECONDS for n in SIZES]


def simulated(dfc, kind):
    """The makespan, in ms, and the copies of each size and policy: means over the seeds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        generate, graph, machine = (os.path.join(folder, f) for f in ("generate", "graph.df", "titan.df"))
        subprocess.run(["cc", "-std=c11", "-O2", "-o", generate, "examples/matrix/generate.c"], check=True)
        pathlib.Path(machine).write_text(PLATFORM)
        for n in SIZES:
            found = {p: [0.0, 0.0] for p in POLICIES}
            for seed in range(1, SEEDS + 1):
                text = subprocess.run([generate, f"--kind={kind}", f"--n={n}", f"--seed={seed}", "--costs"], check=True, capture_output=True, text=True).stdout
                lines = [t[: t.index("cost cpu")] + COSTS[kind] + ";" if t.startswith(f"kernel {kind}(") else t for t in text.splitlines()]
                pathlib.Path(graph).write_text("\n".join(lines) + "\n")
                out = subprocess.run([dfc, "simulate", graph, f"--platform={machine}", "--policy=" + ",".join(POLICIES), "--format=csv", "-w"],
                                     check=True, capture_output=True, text=True, env={**os.environ, "DFC_PROFILE": "/nonexistent/profile.db"}).stdout
                for row in csv.DictReader(io.StringIO(out)):
                    found[row["policy"]][0] += 1e3 * float(row["makespan_s"]) / SEEDS
                    found[row["policy"]][1] += int(row["copies"]) / SEEDS
            rows += [[p, n, *found[p]] for p in POLICIES]
    return "makespan, ms", ["policy", "rows", "makespan_ms", "copies"], rows


def main(build, figure, out):
    titles = {"5.1": "How much faster the GPU is", "5.2": "Computing and copying", "5.3": "Matrix additions under policies", "5.4": "Matrix products under policies"}
    y, columns, rows = ratios(figure) if figure in ("5.1", "5.2") else simulated(os.path.join(build, "bin/dfc"), "ma" if figure == "5.3" else "mm")
    os.makedirs(out, exist_ok=True)
    at = pathlib.Path(out, f"figure-{figure}")
    with open(f"{at}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in rows])
    names = list(dict.fromkeys(row[0] for row in rows))
    series = [(name, [(row[1], row[2]) for row in rows if row[0] == name]) for name in names]
    note = "i7-4770 with three workers, GTX TITAN, PCIe 3.0; costs are stated, not measured (tests/bench/thesis.py)"
    pathlib.Path(f"{at}.svg").write_text(plot.lines(f"{titles[figure]}, as figure {figure} of the thesis", note, "rows of the matrices", y, series, log_y=True))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in ("5.1", "5.2", "5.3", "5.4"):
        sys.exit("usage: thesis.py BUILDDIR 5.1|5.2|5.3|5.4 OUT")
    main(*sys.argv[1:])
