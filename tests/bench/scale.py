#!/usr/bin/env python3
"""Growth of the planners with the graph, on one core: scale.py DFC LAYERED STUDY.DF [NODES...]

Layered random graphs (LAYERED NODES 0.1 1) are planned by gp, by METIS alone and one simulated run (gp-thesis) and by heft, in turns, each process pinned
to one core. Prints a table in Markdown:
    makespan / area bound   the bound is worked out here, from the times in the graph alone: work divided freely among all workers
    planning                plan_ms of dfc simulate, median of the rounds; reading the graph and simulating are not in it
    share                   processor time over wall-clock time of the whole process: less than 1 where others had the core
and whether gp keeps what is promised of it at 10^5 nodes. 10^5 take about half a minute.
"""
import csv, os, re, resource, shutil, statistics, subprocess, sys, tempfile, time

POLICIES, ROUNDS = ["gp", "gp-thesis", "heft"], 3
MOST_OVER_BOUND, MOST_S = 1.02, 2.0
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds(text, side):
    found = re.search(side + r" ([\d.e+-]+)(us|ms|s)\b", text)
    return float(found.group(1)) * SECONDS[found.group(2)] if found else None


def area_bound(graph, study):
    """The least T with which all work fits: the CPU takes what the GPU gains least on, one node in part."""
    workers = int(re.search(r"workers = (\d+)", study).group(1))
    times = [(seconds(cost, "cpu"), seconds(cost, "gpu")) for cost in re.findall(r"cost (.*);", graph)]
    on_cpu = sum(cpu for cpu, gpu in times if gpu is None)
    both = sorted((t for t in times if t[1] is not None), key=lambda t: t[0] / t[1])
    on_gpu = sum(gpu for _, gpu in both)
    for cpu, gpu in both:
        if (on_cpu + cpu) / workers >= on_gpu - gpu:
            part = (on_gpu - on_cpu / workers) / (cpu / workers + gpu)
            return on_gpu - max(part, 0) * gpu if part > 0 else on_cpu / workers
        on_cpu, on_gpu = on_cpu + cpu, on_gpu - gpu
    return on_cpu / workers


def plan(dfc, graph, policy, core):
    """One run: its row of dfc simulate, and the share of the core that it had."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    said = subprocess.run([dfc, "simulate", graph, "--policy=" + policy, "--format=csv"], check=True, text=True,
                          stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {core})).stdout
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return next(csv.DictReader(said.splitlines())), used / wall


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: scale.py DFC LAYERED STUDY.DF [NODES...]")
    dfc, layered, study = (os.path.realpath(a) for a in sys.argv[1:4])
    sizes = [int(n) for n in sys.argv[4:]] or [1000, 10000, 100000]
    core = min(os.sched_getaffinity(0))
    print("| nodes | policy | makespan / area bound | planning | share |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(study, os.path.join(folder, "study.df"))
        graph = os.path.join(folder, "layered.df")
        for n in sizes:
            with open(graph, "w") as out:
                subprocess.run([layered, str(n), "0.1", "1"], check=True, stdout=out)
            with open(graph) as text, open(study) as platform:
                bound = area_bound(text.read(), platform.read())
            runs = {p: [] for p in POLICIES}
            for _ in range(ROUNDS):
                for p in POLICIES:
                    runs[p].append(plan(dfc, graph, p, core))
            for p in POLICIES:
                over = float(runs[p][0][0]["makespan_s"]) / bound
                plan_s = statistics.median(float(row["plan_ms"]) for row, _ in runs[p]) / 1000
                share = statistics.median(s for _, s in runs[p])
                print(f"| {n:,} | `{p}` | {over:.4f} | {plan_s * 1000:.0f} ms | {share:.2f} |", flush=True)
                if p == "gp" and n >= 100000:
                    verdict = (f"gp at {n:,} nodes: {100 * (over - 1):.2f} % above the area bound "
                               f"(at most {100 * (MOST_OVER_BOUND - 1):.0f} %: {'yes' if over <= MOST_OVER_BOUND else 'NO'}), "
                               f"planned in {plan_s:.2f} s, {plan_s * share:.2f} s of the core "
                               f"(at most {MOST_S:.0f} s: {'yes' if plan_s * share <= MOST_S else 'NO'})")
    if max(sizes) >= 100000:
        print(verdict)


main()
