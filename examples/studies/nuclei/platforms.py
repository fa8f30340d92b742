#!/usr/bin/env python3
"""nuclei on the machines of two papers, simulated: platforms.py BUILDDIR OUTDIR [PICTURE.png]

Each kernel takes the time on a core that profile.csv says, and on a device that time divided by the speedup in speedups.csv. `dfc simulate` runs
tiles of 4096 x 4096 under the papers' policies and some of dfc's own. The tables have the speed of each run over one that the paper compares with, beside
what the paper says. A last table has data locality and prefetch at windows of 12 to 24. "The paper's profile" is that of examples/graphs; "nuclei's shares" has nuclei's times, all as much longer as makes a tile take
what it takes in the paper. They are printed as Markdown.
With a picture of 4096 x 4096 profile.csv is measured anew on this machine, into OUTDIR.
"""
import csv
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
EXAMPLES = os.path.dirname(os.path.dirname(HERE))
NUCLEI = os.path.join(EXAMPLES, "nuclei")
SIDE = 4096                             # pixels a side of a tile

# What it is called in the papers: policy, options, parts of the window that are planned at a time. HEFT plans for the tiles that come: half of
# the window, and the other half is in flight. 0: a tile is a wave.
RUNS = {
    "FCFS": ("eager", [], 0), "FCFS, DL": ("eager", ["--dl"], 0), "FCFS, DL, prefetch": ("eager", ["--dl", "--prefetch"], 0),
    "PATS": ("pats", [], 0), "PATS, DL": ("pats", ["--dl"], 0), "PATS, DL, prefetch": ("pats", ["--dl", "--prefetch"], 0),
    "FCFS, prefetch": ("eager", ["--prefetch"], 0), "PADAS, prefetch": ("padas", ["--prefetch"], 0),
    "PAMS, prefetch": ("pams", ["--prefetch"], 0), "HEFT, prefetch": ("heft", ["--prefetch"], 2),
    "`dmda`": ("dmda", [], 0), "`gp`": ("gp", [], 0),
}

# A machine: its classes of devices in speedups.csv, how many tiles, how many in flight, the paper's profile and its seconds for a tile on a core,
# with which run the paper compares, and what it says.
MACHINES = {
    "keeneland": ({"gpu": "m2090"}, 300, 20, "microscopy.df", 18.6, "FCFS",
                  {"FCFS": "1", "FCFS, DL": "1.1", "FCFS, DL, prefetch": "1.1", "PATS": "1.33", "PATS, DL": "1.38", "PATS, DL, prefetch": "1.42"}),
    "stampede": ({"gpu": "k20", "mic": "phi"}, 800, 16, "coprocessors.df", 4.0, "HEFT, prefetch",
                 {"HEFT, prefetch": "1", "FCFS, prefetch": "> 1", "PADAS, prefetch": "as FCFS", "PAMS, prefetch": "1.15 to 1.39"}),
}

SAID = {"keeneland": "fitted", "stampede": "assumed"} # how the seconds for a tile are known

# Hierarchical pipelines, Table II: seconds by window, that of the tiles of one image.
TABLE_2 = {"FCFS": [75.1, 73.4, 74.9, 73.7, 75.3, 74.9, 73.2, 73.5], "PATS": [75.1, 61, 56.9, 53.1, 54.1, 51.5, 51.2, 50.7]}
IMAGES = 3                              # that are run one after the other


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def measure(dfc, picture, path):
    """Writes the mean time of each kernel on a core of this machine."""
    graph = [os.path.join(NUCLEI, "nuclei.df"), "--no-fuse", "-D", f"tile={SIDE}", "--device=none", "--workers=1", "-w"]
    run(dfc, "profile", *graph, "--nvcc=none", "--max-time=1s", "--", f"--input={picture}", "--overlay=overlay.png", "--table=table.csv")
    times = {}
    for node in csv.DictReader(run(dfc, "partition", *graph, "--policy=all-cpu", "--format=csv").splitlines()):
        times.setdefault(node["kernel"], []).append(float(node["time_s"]))
    with open(path, "w") as file:
        file.write("kernel,ms\n")
        file.writelines(f"{row['kernel']},{1e3 * sum(t) / len(t):.3g}\n" for row in rows(os.path.join(HERE, "speedups.csv"))
                        for t in [times[row["kernel"]]])


def end_of_kernel(text, at):
    """Where the declaration that begins at `at` ends: before its semicolon, or behind its formulas."""
    depth = 0
    while True:
        depth += (text[at] in "({[") - (text[at] in ")}]")
        if depth == 0 and text[at] == ";":
            return at, ""
        if depth == 0 and text[at] == "}":
            return at + 1, ";"
        at += 1


def with_costs(text, costs):
    """Gives the kernels costs in place of their code in C."""
    made, at = "", 0
    for kernel in re.finditer(r"^kernel (\w+)\(", text, re.M):
        if kernel[1] in costs:
            end, semicolon = end_of_kernel(text, kernel.start())
            made += re.sub(r'\s*\b(sync|[cg]pu "[^"]*")', "", text[at:end]) + f" cost {costs[kernel[1]]}{semicolon}"
            at = end
    return made + text[at:]


def write_graph(folder, classes, times):
    """The graph of nuclei with costs: segment.df, features.df and main.df in the folder. Gives the path of main.df."""
    costs = {row["kernel"]: f"cpu {times[row['kernel']]}ms" + "".join(f" {name} ({times[row['kernel']]}ms / {float(row[column])})"
                                                                     for name, column in classes.items())
             for row in rows(os.path.join(HERE, "speedups.csv"))}
    os.makedirs(folder, exist_ok=True)
    for source in (os.path.join(NUCLEI, "segment.df"), os.path.join(NUCLEI, "features.df"), os.path.join(HERE, "main.df")):
        with open(source) as file, open(os.path.join(folder, os.path.basename(source)), "w") as made:
            made.write(with_costs(file.read(), costs))
    return os.path.join(folder, "main.df")


def simulate(dfc, graph, machine, policy, *options):
    told = run(dfc, "simulate", graph, f"--platform={os.path.join(HERE, machine)}.df", f"--policy={policy}", "--no-fuse", "-w", "--format=csv",
               *options)
    return float(next(csv.DictReader(told.splitlines()))["makespan_s"])


def seconds(dfc, graph, machine, how):
    _, tiles, window, *_ = MACHINES[machine]
    policy, options, parts = how
    wave = window // parts if parts else 1
    return simulate(dfc, graph, machine, policy, f"--waves={tiles // wave}", f"--inflight={window // wave}", "-D", f"tiles={wave}",
                    *options) * tiles / (tiles // wave * wave)


def table(dfc, out, machine, times):
    classes, tiles, window, own, tile_s, base, said = MACHINES[machine]
    folder = os.path.join(out, machine)
    graph = write_graph(folder, classes, times)
    own_s = simulate(dfc, graph, machine, "all-cpu", "--workers=1")
    as_long = write_graph(folder + "-scaled", classes, {kernel: round(ms * tile_s / own_s, 6) for kernel, ms in times.items()})
    took = [{name: seconds(dfc, g, machine, how) for name, how in RUNS.items()}
            for g in (os.path.join(EXAMPLES, "graphs", own), as_long, graph)]
    print(f"\n`{machine}`: {tiles} tiles, {window} in flight, speed over {base}. A tile takes {tile_s} s on a core (*{SAID[machine]}*), in the last two columns "
          f"{own_s:.2f} s (measured, not fitted).\n")
    print("| policy | published | the paper's profile | seconds | nuclei's shares | seconds | nuclei's times | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name in RUNS:
        print(f"| {name} | {said.get(name, '')} | " + " | ".join(f"{t[base] / t[name]:.2f} | {t[name]:.1f}" for t in took) + " |")


def windows(dfc):
    """PATS and FCFS with and without data locality and prefetch at each window, the paper's graph and profile."""
    _, tiles, _, graph, tile_s, *_ = MACHINES["keeneland"]
    options = {"": [], ", DL": ["--dl"], ", prefetch": ["--prefetch"], ", both": ["--dl", "--prefetch"]}
    print(f"\n`keeneland`: seconds for the {tiles // IMAGES} tiles of an image, {IMAGES} images in a row. A tile takes {tile_s} s on a core (*fitted*).\n")
    print("| in flight | " + " | ".join(f"{p} published | " + " | ".join(p + name for name in options) for p in TABLE_2) + " |")
    print("|" + "---|" * (1 + len(TABLE_2) * (1 + len(options))))
    sums = {(p, name): 0.0 for p in TABLE_2 for name in options}
    for window in range(12, 25):
        line = [str(window)]
        for p, published in TABLE_2.items():
            line.append(str(published[window - 12]) if window - 12 < len(published) else "")
            for name, told in options.items():
                took = simulate(dfc, os.path.join(EXAMPLES, "graphs", graph), "keeneland", {"FCFS": "eager", "PATS": "pats"}[p],
                                f"--waves={tiles}", f"--inflight={window}", *told) / IMAGES
                sums[p, name] += took if window > 12 else 0
                line.append(f"{took:.1f}")
        print("| " + " | ".join(line) + " |")
    print("\n| gain over windows 13 to 24 | published | here |\n|---|---|---|")
    for what, published, p, without, with_it in (("FCFS, DL", "1.1", "FCFS", "", ", DL"), ("FCFS with DL, prefetch", "none", "FCFS", ", DL", ", both"),
                                                 ("FCFS, prefetch", "", "FCFS", "", ", prefetch"), ("PATS, DL", "1.04", "PATS", "", ", DL"),
                                                 ("PATS with DL, prefetch", "1.03", "PATS", ", DL", ", both"),
                                                 ("PATS, prefetch", "", "PATS", "", ", prefetch")):
        print(f"| {what} | {published} | {sums[p, without] / sums[p, with_it]:.2f} |")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    dfc, out = os.path.join(os.path.realpath(sys.argv[1]), "bin", "dfc"), os.path.realpath(sys.argv[2])
    os.makedirs(out, exist_ok=True)
    profile = os.path.join(out, "profile.csv")
    if len(sys.argv) == 4:
        measure(dfc, sys.argv[3], profile)
    else:
        shutil.copy(os.path.join(HERE, "profile.csv"), profile)
    times = {row["kernel"]: float(row["ms"]) for row in rows(profile)}
    for machine in MACHINES:
        table(dfc, out, machine, times)
    windows(dfc)


if __name__ == "__main__":
    main()
