#!/usr/bin/env python3
"""One table of what run.sh collected: bench.py OUT [PAGE.md]. Reads the parts' files in OUT, those that there are; writes bench.csv, bench.md and
bench.svg there, prints the table, the machine and `N rows, N skipped`. With a page, the CPU's figures go between its markers
`<!-- bench -->` and `<!-- end -->`, dispatch in a table of its own, and the plot beside it.

A row is one figure of ours, beside a peer's where there is one. `ratio` is theirs over ours, so above 1 ours is ahead: all figures are
times, or sizes. cpu/wall below the number of threads at work says that a core was not ours; figures are medians of the runs that had
their cores where there are such (`clean` of `runs`), and a ratio whose two sides do not both have such runs has a `~`, unless it is of
what a stolen core does not change: sizes, schedules and processor time.
"""
import csv, os, platform, re, shutil, subprocess, sys, time
from statistics import median

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../examples/studies"))
import plot
from table import table

COLUMNS = ["part", "shape", "unit", "system", "ours", "cpu_over_wall", "peer", "theirs", "their_cpu_over_wall", "ratio", "runs", "clean",
           "their_clean"]
CLEAN = 0.9
STEADY = {"", "bytes", "MiB", "ms of cores", "s of a core"}
PACKAGES = ["libtbb-dev", "libgomp1", "libstarpu-dev", "pocl-opencl-icd", "libck-dev", "libmetis-dev"]


def read(*path):
    """The rows of a CSV file, none where its part did not run."""
    name = os.path.join(*path)
    if not os.path.exists(name):
        return []
    with open(name) as f:
        return list(csv.DictReader(f))


def row(part, shape, unit, ours, peer=None):
    """ours, peer: (name, figure, cpu/wall, runs, clean); cpu/wall may be None where it has no meaning."""
    name, figure, share, runs, clean = ours
    theirs = peer or ("", None, None, 0, 0)
    ratio = theirs[1] / figure if theirs[1] is not None and figure else None
    return dict(zip(COLUMNS, [part, shape, unit, name, figure, share, theirs[0], theirs[1], theirs[2], ratio, runs, clean, theirs[4]]))


def of_dispatch(out, *names):
    """{shape and nodes: {threads: {system: its figures}}}, and a list of what a run of ours takes in memory."""
    found, sizes = {}, []
    for name in names or ("dispatch.csv", "work.csv", "million.csv", "session.csv", "session-work.csv"):
        for r in read(out, name):
            work, threads = int(r["work_ns"]), int(r["threads"])
            shape = f"{r['shape']}, {int(r['nodes']):,} nodes" + (f" of {work} ns, at best {work / threads:.0f}" if work else "")
            figures = (r["system"], float(r["ns_per_node"]), float(r["cpu_over_wall"]), int(r["rounds"]), int(r["clean"]))
            found.setdefault(shape, {}).setdefault(threads, {})[r["system"]] = figures
            if r["bytes_per_node"] and threads == 1 and "+calls" not in r["system"]:
                sizes.append(row("dispatch", shape + ", a run's memory", "bytes/node", (figures[0], float(r["bytes_per_node"]), *figures[2:])))
    return found, sizes


PEERS = ["oneTBB", "Taskflow", "OpenMP", "OpenCL", "OpenCL+finish", "StarPU"]


def workers(n):
    return f"{n} worker" + "s" * (n > 1)


def dispatch(out, part="dispatch", *names):
    """For the first of our policies a row beside each peer, for the others beside the first peer."""
    found, sizes = of_dispatch(out, *names)
    rows = []
    for shape, by_threads in found.items():
        for threads, systems in by_threads.items():
            beside = [systems[p] for p in PEERS if p in systems]
            for k, ours in enumerate(s for name, s in systems.items() if name not in PEERS):
                some = beside if k == 0 else beside[:1]
                label = f"{shape}, {workers(threads)}"
                rows += [row(part, label, "ns/node", ours, p) for p in some] or [row(part, label, "ns/node", ours)]
    return rows + sizes


def opencl(out):
    return dispatch(out, "OpenCL", "opencl.csv")


def dispatch_table(out):
    """A line for each shape and number of workers, a column for each system: ns/node (cpu/wall)."""
    found = of_dispatch(out)[0]
    systems = list(dict.fromkeys(s for by in found.values() for ones in by.values() for s in ones))
    systems = [s for s in systems if s not in PEERS] + [p for p in PEERS if p in systems]
    lines = []
    for shape, by_threads in found.items():
        for threads, ones in by_threads.items():
            of = [ones.get(s) for s in systems]
            lines.append([shape, str(threads)] + [f"{'' if f[4] else '~'}{number(f[1])} ({share(f[2])})" if f else "" for f in of])
    return table(["shape", "workers"] + systems, lines)


def queue(out):
    """queue.c picks clean neighbours itself; its ratio is the median of theirs, ours over ck."""
    name = os.path.join(out, "queue.csv")
    if not os.path.exists(name):
        return []
    rows = []
    with open(name) as f:
        for r in list(csv.reader(f))[1:]:
            if len(r) == 8:
                runs, clean = int(r[6]), int(r[7])
                rows.append(row("queue", r[0], "ns/item", ("ours", float(r[1]), float(r[2]), runs, clean),
                                ("ck_fifo_mpmc", float(r[3]), float(r[4]), runs, clean)))
                rows[-1]["ratio"] = 1 / float(r[5])
    return rows


def plan(out):
    """The Markdown that scale.py prints: a line for each number of nodes and policy."""
    name = os.path.join(out, "scale.md")
    found = {}
    if os.path.exists(name):
        with open(name) as f:
            for line in f:
                cells = [c.strip(" `") for c in line.strip().strip("|").split("|")]
                if len(cells) == 5 and cells[3].endswith(" ms"):
                    found.setdefault(cells[0], {})[cells[1]] = (float(cells[2]), float(cells[3][:-3]), float(cells[4]))
    rows = []
    for nodes, policies in found.items():
        for what, k, unit in (("planning", 1, "ms"), ("makespan / bound", 0, "")):
            sides = {p: (label, policies[p][k], policies[p][2], 3, 3 * (policies[p][2] >= CLEAN))
                     for p, label in (("gp", "gp"), ("gp-thesis", "METIS alone"), ("heft", "HEFT")) if p in policies}
            rows += [row("plan", f"layered, {nodes} nodes: {what}", unit, sides["gp"], sides[p]) for p in ("gp-thesis", "heft") if p in sides]
    return rows


def memory(out):
    rows = []
    for r in read(out, "memory.csv"):
        share, shape = float(r["cpu_per_wall"]), f"{r['shape']}, {int(r['nodes']):,} nodes"
        clean = int(share >= CLEAN)
        for order, words in (("any", "any order"), ("sequence", "in sequence")):
            rows.append(row("memory", f"{shape}: {words}", "bytes", ("plan", float(r[order + "_bytes"]), share, 1, clean),
                            ("bound", float(r[order + "_bound_bytes"]), share, 1, clean)))
        rows.append(row("memory", f"{shape}: planning", "s of a core", ("plan", float(r["cpu_s"]), share, 1, clean)))
    return rows


def large(out):
    rows = []
    for r in read(out, "large.csv"):
        share = float(r["cpu_s"]) / max(float(r["seconds"]), 1e-9)
        rows.append(row("large", r["step"], "s", ("ours", float(r["seconds"]), share, 1, int(share >= CLEAN))))
        rows.append(row("large", r["step"] + ", peak", "MiB", ("ours", float(r["peak_mib"]), share, 1, int(share >= CLEAN))))
    return rows


def of_runs(name, runs):
    """runs: (figure, cpu/wall) each."""
    clean = [r for r in runs if r[1] >= CLEAN]
    used = clean or runs
    return name, median(r[0] for r in used), median(r[1] for r in used), len(runs), len(clean)


def endtoend(out):
    found = {}
    for r in read(out, "endtoend.csv"):
        found.setdefault((int(r["threads"]), r["system"]), []).append((float(r["wall_s"]), float(r["cpu_s"])))
    rows = []
    for threads in (1, 2):
        for system in ("plain loop", "oneTBB"):
            theirs = found.get((1 if system == "plain loop" else threads, system))
            if theirs and (threads, "dfc") in found:
                name = f"photo, {workers(threads)}"
                sides = [("dfc", found[threads, "dfc"]), (system, theirs)]
                rows.append(row("end to end", name, "ms", *(of_runs(s, [(1e3 * w, c / w) for w, c in runs]) for s, runs in sides)))
                rows.append(row("end to end", name, "ms of cores", *(of_runs(s, [(1e3 * c, c / w) for w, c in runs]) for s, runs in sides)))
    return rows


def starpu(out):
    found = {}
    for r in read(out, "starpu", "starpu.csv"):
        found.setdefault(r["n"], {}).setdefault(r["system"], {}).setdefault(r["policy"], []).append(
            (1e3 * float(r["wave_s"]), float(r["cpu_over_wall"])))
    rows = []
    for n, systems in found.items():
        if len(systems) == 2:
            best = {s: min((of_runs(f"{s} {p}", runs) for p, runs in policies.items()), key=lambda f: f[1]) for s, policies in systems.items()}
            rows.append(row("end to end", f"matrix, 38 of {n} rows, dfc unasked, StarPU's best", "ms/wave",
                            of_runs("dfc default", systems["dfc"]["default"]), best["StarPU"]))
            rows.append(row("end to end", f"matrix, 38 of {n} rows, the best policy of each", "ms/wave", best["dfc"], best["StarPU"]))
    return rows


def gpu(out):
    """Computing is a pause on the emulator, so cpu/wall says nothing there."""
    rows = []
    for name, label in (("gpu-emu.csv", "emulated GPU"), ("gpu.csv", "GPU")):
        rows += [row(label, r["figure"], r["unit"], ("ours", float(r["value"]), None, 1, 0)) for r in read(out, name) if r["value"]]
    return rows


def number(x):
    return "" if x is None else f"{x:.3g}" if abs(x) < 100 else f"{x:,.0f}"


def share(x):
    return "" if x is None else f"{x:.2f}"


def is_steady(r):
    return r["unit"] in STEADY or (r["clean"] and r["their_clean"])


def cells(r):
    ratio = "" if r["ratio"] is None else ("" if is_steady(r) else "~") + number(r["ratio"])
    return [r["part"], r["shape"], r["unit"], r["system"], number(r["ours"]), share(r["cpu_over_wall"]), r["peer"], number(r["theirs"]),
            share(r["their_cpu_over_wall"]), ratio, "" if r["cpu_over_wall"] is None else f"{r['clean']} of {r['runs']}"]


HEAD = ["part", "shape", "unit", "ours", "figure", "cpu/wall", "peer", "theirs", "cpu/wall", "ratio", "clean"]


def picture(rows):
    """A line for each figure of ours, a mark for each peer at its ratio; the peers left of 1 are ahead. A bound is no peer."""
    def line_of(r):
        which = f", {r['system']}" if r["part"] in ("dispatch", "OpenCL") else ""
        return f"{r['part']}: {r['shape']}{which}" + (f" ({r['unit']})" if r["unit"] else "")

    def peer_of(r):
        return "StarPU" if r["peer"].startswith("StarPU") else r["peer"]

    rows = [r for r in rows if r["ratio"] and r["peer"] != "bound"]
    peers = list(dict.fromkeys(map(peer_of, rows)))
    lines = list(dict.fromkeys(map(line_of, rows)))
    width, left, right, top, step = 1060, 410, 860, 70, 22
    bottom = top + step * len(lines)
    ratios = [r["ratio"] for r in rows]
    axis = plot.Axis(min(0.5, min(ratios) * 0.8), max(2.0, max(ratios) * 1.25), left, right, log=True)
    body = []
    for tick in axis.ticks():
        body += [plot.line(axis.at(tick), top - 6, axis.at(tick), bottom),
                 plot.text(axis.at(tick), bottom + 16, plot.number(tick), "middle", 11)]
    body.append(plot.line(axis.at(1), top - 6, axis.at(1), bottom, "#222", 1.5))
    for i, name in enumerate(lines):
        y = top + step * i + step / 2
        body += [plot.line(left, y, right, y, "#eee"), plot.text(left - 10, y + 4, name, "end", 10)]
        for r in (r for r in rows if line_of(r) == name):
            k = peers.index(peer_of(r))
            body.append(plot.mark(axis.at(r["ratio"]), y, k, plot.COLOURS[k % len(plot.COLOURS)],
                                  f"{r['peer']}: {'' if is_steady(r) else '~'}{r['ratio']:.3g}"))
    for k, peer in enumerate(peers):
        body += [plot.mark(right + 30, top + 22 * k, k, plot.COLOURS[k % len(plot.COLOURS)], peer),
                 plot.text(right + 42, top + 22 * k + 4, peer, size=11)]
    body.append(plot.text((left + right) / 2, bottom + 36, "theirs / ours; right of 1 ours is ahead", "middle"))
    return plot.page(width, max(bottom + 50, top + 22 * len(peers) + 10), "Beside the peers", machine(), body)


def package(name):
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return ""
    return f"{name} {done.stdout}" if done.returncode == 0 and done.stdout else ""


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine():
    return f"{processor()}, {len(os.sched_getaffinity(0))} cores, {time.strftime('%Y-%m-%d')}"


def about(out):
    try:
        with open(os.path.join(out, "load.txt")) as f:
            before = f.read().strip()
    except OSError:
        before = "unknown"
    after = " ".join(f"{x:.2f}" for x in os.getloadavg())
    compiler = subprocess.run(os.environ.get("CC", "cc").split() + ["--version"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
    return [machine(), f"load average before: {before}; after: {after}", "; ".join([compiler] + [p for p in map(package, PACKAGES) if p])]


def update(page, out, rows, ending):
    """The tables that a reader of the page wants, and the plot beside it."""
    with open(page) as f:
        text = f.read()
    others = [r for r in rows if not (r["part"] == "dispatch" and r["unit"] == "ns/node") and "GPU" not in r["part"] and r["part"] != "OpenCL"]
    content = "\n\n".join([dispatch_table(out), table(HEAD, map(cells, others)), "\n".join("    " + line for line in ending)])
    text, n = re.subn(r"(<!-- bench -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{content}\n\n{m[2]}", text, flags=re.S)
    if n != 1:
        sys.exit(f"bench: error: {page} has {n} places for the tables")
    with open(page, "w") as f:
        f.write(text)
    if os.path.exists(os.path.join(out, "bench.svg")):
        shutil.copy(os.path.join(out, "bench.svg"), os.path.join(os.path.dirname(page) or ".", "bench.svg"))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: bench.py OUT [PAGE.md]")
    out = sys.argv[1]
    rows = [r for part in (dispatch, queue, plan, memory, large, endtoend, starpu, opencl, gpu) for r in part(out)]
    skipped = []
    if os.path.exists(os.path.join(out, "skipped.txt")):
        with open(os.path.join(out, "skipped.txt")) as f:
            skipped = [line.strip()[len("skip "):] for line in f if line.strip()]
    with open(os.path.join(out, "bench.csv"), "w") as f:
        to = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        to.writeheader()
        to.writerows({k: f"{v:.6g}" if isinstance(v, float) else "" if v is None else v for k, v in r.items()} for r in rows)
    ending = about(out) + [f"skipped: {s}" for s in skipped]
    text = "\n".join([table(HEAD, map(cells, rows)), ""] + ending)
    with open(os.path.join(out, "bench.md"), "w") as f:
        f.write(text + "\n")
    if any(r["ratio"] and r["peer"] != "bound" for r in rows):
        with open(os.path.join(out, "bench.svg"), "w") as f:
            f.write(picture(rows))
    print(f"\n{text}\nin {out}: bench.csv, bench.md, bench.svg\n{len(rows)} rows, {len(skipped)} skipped")
    if not rows:
        sys.exit("bench: error: nothing was measured")
    if len(sys.argv) == 3:
        update(sys.argv[2], out, rows, ending)


main()
