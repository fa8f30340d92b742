#!/usr/bin/env python3
"""Predicted against rehearsed makespans: tests/rehearse.py DFC FOLDER [--runs=5] [--jobs=4] [--limit=SECONDS]
[--table=FILE.md [--families=FILE.csv]] [--save=FILE.json]; or tests/rehearse.py --results=FILE.json [--table=FILE.md [--families=FILE.csv]]

Rehearses every .df of the folder under ten policies, several files at a time, each at a scale that dfc chooses. Policies that place before the
run are compared with their prediction: the median of all differences must be at most 3 %, the worst at most 10 %. Those that decide while the
graph runs are compared with the range of 40 simulations in which times differ by 2 % (lognormal): four of five median rehearsals must be within
3 % of that range. The lead of gp over dmda and heft must be within 10 % of what is simulated, and gp at most 5 % behind the best policy of each file.
With a limit, no run takes more real seconds than that, by its prediction. Prints a line for each file and what is beyond the bounds; writes the
table as Markdown; with --families, which `make graphs` writes, a row for each family. With --save the figures are stored; with --results stored ones are judged, and nothing is rehearsed. Exit status 1: something
is beyond the bounds, or a file could not be rehearsed.
"""
import argparse
import concurrent.futures
import csv
import io
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

PLACED = ["gp", "gp-thesis", "heft", "peft", "all-cpu"]
ONLINE = ["dmda", "dmdas", "pats", "eager", "ws"]
MEDIAN, WORST, RANGE, LEAD, BEHIND = 0.03, 0.10, 0.03, 0.10, 0.05
WITHIN = 0.8  # so many of the online policies' rehearsals are within RANGE
JOB_S = 5e-3  # with a limit: the mean job takes at least so many real seconds, where the limit allows it
DRAWS, SIGMA = 40, "sigma:0.02"


def output(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def simulate(dfc, path, *options):
    return list(csv.DictReader(io.StringIO(output([dfc, "simulate", path, "--format=csv", *options]))))


def simulated_range(dfc, path):
    """The least and the longest makespan of each online policy, its prediction included."""
    found = {policy: [] for policy in ONLINE}
    for seed in range(1, DRAWS + 1):
        for row in simulate(dfc, path, "--policy=" + ",".join(ONLINE), "--error=" + SIGMA, "--draws=1", f"--seed={seed}"):
            found[row["policy"]] += [float(row["right_s"]), float(row["worst_s"])]
    return {policy: (min(times), max(times)) for policy, times in found.items()}


def scale(dfc, path, limit):
    """--rehearse, with the scale at which no run takes longer than the limit."""
    if limit is None:
        return "--rehearse"
    summaries = simulate(dfc, path, "--policy=" + ",".join(policy for policy in PLACED + ONLINE if policy != "gp"))
    nodes = int(re.search(r": (\d+) nodes", output([dfc, "partition", path, "--policy=heft"])).group(1))
    longest = max(float(row["makespan_s"]) for row in summaries)
    mean = statistics.mean(float(row["cpu_busy_s"]) + float(row["gpu_busy_s"]) for row in summaries) / nodes
    return f"--rehearse={min(limit / longest, JOB_S / mean):.9g}x"


def rehearse(dfc, path, runs, limit):
    """{policy: row of the CSV}, and the simulated ranges."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "c.csv"
        output([dfc, "compare", path, scale(dfc, path, limit), f"--runs={runs}", "--policy=" + ",".join(PLACED + ONLINE), f"--csv={table}"])
        rows = {row["policy"]: row for row in csv.DictReader(table.open())}
    return rows, simulated_range(dfc, path)


def difference(policy, row, ranges):
    """How much longer the rehearsal took than was predicted; for online policies, than the nearer end of the range."""
    median = float(row["median_s"])
    low, high = ranges.get(policy, (float(row["predicted_s"]),) * 2)
    return median / high - 1 if median > high else median / low - 1 if median < low else 0.0


def lead_off(other, rows, ranges):
    """How far gp's rehearsed lead over the other policy is outside what is simulated."""
    gp = float(rows["gp"]["predicted_s"])
    low, high = (t / gp for t in ranges.get(other, (float(rows[other]["predicted_s"]),) * 2))
    lead = float(rows[other]["median_s"]) / float(rows["gp"]["median_s"])
    return lead / high - 1 if lead > high else lead / low - 1 if lead < low else 0.0


def behind(rows):
    """How much longer gp took than the best policy."""
    return float(rows["gp"]["median_s"]) / min(float(row["median_s"]) for row in rows.values()) - 1


def write_table(out, name, results, options):
    policies = PLACED + ONLINE
    out.write("# Predicted against rehearsed\n\n")
    out.write(f"Made by `make check-rehearse DIR={name}`: medians of {options.runs} runs. A cell says how much longer than predicted "
              "([rehearse.md](../rehearse.md)) the\nrehearsal took; right of `all-cpu`, how far it lies outside the range of "
              f"{DRAWS} simulations. `late` counts wake-ups that\nwere more than 1 ms late, in the runs in the middle; these count as real.\n\n")
    out.write("`lead` is how far gp's lead over dmda and heft lies from what is simulated; `behind` how much longer gp took than the best policy.\n\n")
    out.write("| graph | scale | late | " + " | ".join(policies) + " | lead dmda | lead heft | behind |\n|---|---|---|" +
              "---|" * (len(policies) + 3) + "\n")
    for file, (rows, ranges) in sorted(results.items()):
        cells = [f"{100 * difference(p, rows[p], ranges):+.1f} %" for p in policies]
        cells += [f"{100 * x:+.1f} %" for x in (lead_off("dmda", rows, ranges), lead_off("heft", rows, ranges), behind(rows))]
        late = sum(int(row["late"]) for row in rows.values())
        out.write(f"| {file} | {float(rows['gp']['scale']):.3g} | {late} | " + " | ".join(cells) + " |\n")


def write_families(out, results, family_of):
    """A row for each family: the furthest off of its graphs."""
    def worst(offs):
        return f"{100 * max(offs, key=abs):+.1f} %"

    out.write("| family | graphs | placed, worst | within 10 % | dynamic, worst | within 3 % | late | gp's lead over dmda, worst | over heft | gp behind, worst |\n" + "|---" * 10 + "|\n")
    for family in dict.fromkeys(family_of.values()):
        of = [results[name] for name in family_of if family_of[name] == family and name in results]
        placed, online = ([difference(p, rows[p], ranges) for rows, ranges in of for p in policies] for policies in (PLACED, ONLINE))
        if of:
            cells = [family, str(len(of)), worst(placed), f"{sum(abs(x) <= WORST for x in placed)} of {len(placed)}",
                     worst(online), f"{sum(abs(x) <= RANGE for x in online)} of {len(online)}",
                     str(sum(int(row["late"]) for rows, _ in of for row in rows.values())),
                     worst([lead_off("dmda", *g) for g in of]), worst([lead_off("heft", *g) for g in of]), worst([behind(rows) for rows, _ in of])]
            out.write("| " + " | ".join(cells) + " |\n")


def share(what, bound, offs):
    """Prints how many are within the bound."""
    within = sum(abs(off) <= bound for off in offs)
    print(f"{what}: {within} of {len(offs)} within {100 * bound:.0f} %, worst {100 * max(offs, key=abs):+.1f} %")


def judge(results):
    wrong = []
    all_placed = [abs(difference(p, rows[p], ranges)) for rows, ranges in results.values() for p in PLACED]
    median = statistics.median(all_placed)
    print(f"placed before the run: median {100 * median:.2f} %, worst {100 * max(all_placed):.1f} %, of {len(all_placed)}")
    share("placed before the run", WORST, all_placed)
    online = [difference(p, rows[p], ranges) for rows, ranges in results.values() for p in ONLINE]
    share("decided while the graph runs", RANGE, online)
    for other in ("dmda", "heft"):
        share(f"gp's lead over {other} against the simulated one", LEAD, [lead_off(other, *result) for result in results.values()])
    share("gp behind the best policy", BEHIND, [behind(rows) for rows, _ in results.values()])
    if median > MEDIAN:
        wrong.append(f"the median of placed policies is {100 * median:.1f} %")
    if sum(abs(off) <= RANGE for off in online) < WITHIN * len(online):
        wrong.append(f"more than {100 * (1 - WITHIN):.0f} % of the rehearsals of online policies are more than {100 * RANGE:.0f} % off")
    for file, (rows, ranges) in sorted(results.items()):
        for policy in PLACED:
            off = difference(policy, rows[policy], ranges)
            if abs(off) > WORST:
                wrong.append(f"{file}: {policy} is {100 * off:+.1f} % off")
        for other in ("dmda", "heft"):
            off = lead_off(other, rows, ranges)
            if abs(off) > LEAD:
                wrong.append(f"{file}: gp's lead over {other} is {100 * off:+.1f} % off")
        if behind(rows) > BEHIND:
            wrong.append(f"{file}: gp is {100 * behind(rows):.1f} % behind the best policy")
    return wrong


def rehearse_all(options):
    """{file: (rows, ranges)}, the number of files, and what could not be rehearsed."""
    files = sorted(f for f in options.folder.glob("*.df") if "graph main" in f.read_text())
    results, wrong = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(rehearse, options.dfc, f, options.runs, options.limit): f for f in files}
        for done in concurrent.futures.as_completed(waiting):
            file = waiting[done].stem
            try:
                rows, ranges = results[file] = done.result()
                worst = max(PLACED + ONLINE, key=lambda policy: abs(difference(policy, rows[policy], ranges)))
                print(f"{len(results)} of {len(files)}: {file}: rehearsed at {float(rows['gp']['scale']):.3g}x; furthest off: {worst}, "
                      f"{100 * difference(worst, rows[worst], ranges):+.1f} %", flush=True)
            except RuntimeError as error:
                print(f"{file}: not rehearsed: {error}", flush=True)
                wrong.append(f"{file}: not rehearsed")
            if options.save:
                options.save.write_text(json.dumps({"folder": options.folder.name, "runs": options.runs, "results": results}))
    return results, len(files), wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dfc", nargs="?")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--families", type=pathlib.Path)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    if not options.results and not options.folder:
        parser.error("a dfc and a folder, or --results")
    if options.results:
        stored = json.loads(options.results.read_text())
        results, wrong, folder, options.runs = stored["results"], [], stored["folder"], stored["runs"]
        n = len(results)
    else:
        results, n, wrong = rehearse_all(options)
        folder = options.folder.name
    if not results:
        sys.exit("rehearse: no graph was rehearsed")
    if options.table:
        with options.table.open("w") as out:
            if options.families:
                write_families(out, results, {row["graph"]: row["family"] for row in csv.DictReader(options.families.open())})
            else:
                write_table(out, folder, results, options)
    wrong += judge(results)
    print("\n".join(wrong) or "all within bounds")
    print(f"{len(results)} of {n} graphs rehearsed, {len(wrong)} beyond bounds")
    sys.exit(1 if wrong else 0)


main()
