#!/usr/bin/env python3
"""Predicted against rehearsed makespans: tests/rehearse.py DFC FOLDER [--runs=5] [--jobs=4] [--table=FILE.md]

Rehearses every .df of the folder under ten policies, several files at a time, each at a scale that dfc chooses. Policies that place before the
run are compared with their prediction: the median of all differences must be at most 3 %, the worst at most 10 %. Those that decide while the
graph runs are compared with the range of 40 simulations in which times differ by 2 % (lognormal): the median rehearsal must be within 3 % of
that range. Prints a line for each file and what is beyond the bounds; writes the table as Markdown. Exit status 1: something is beyond them.
"""
import argparse
import concurrent.futures
import csv
import io
import pathlib
import statistics
import subprocess
import sys
import tempfile

PLACED = ["gp", "gp-thesis", "heft", "peft", "all-cpu"]
ONLINE = ["dmda", "dmdas", "pats", "eager", "ws"]
MEDIAN, WORST, RANGE = 0.03, 0.10, 0.03
DRAWS, SIGMA = 40, "sigma:0.02"


def output(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def simulated_range(dfc, path):
    """The least and the longest makespan of each online policy, its prediction included."""
    found = {policy: [] for policy in ONLINE}
    for seed in range(1, DRAWS + 1):
        text = output([dfc, "simulate", path, "--policy=" + ",".join(ONLINE), "--error=" + SIGMA, "--draws=1", f"--seed={seed}",
                       "--format=csv"])
        for row in csv.DictReader(io.StringIO(text)):
            found[row["policy"]] += [float(row["right_s"]), float(row["worst_s"])]
    return {policy: (min(times), max(times)) for policy, times in found.items()}


def rehearse(dfc, path, runs):
    """{policy: row of the CSV}, and the simulated ranges."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "c.csv"
        output([dfc, "compare", path, "--rehearse", f"--runs={runs}", "--policies=" + ",".join(PLACED + ONLINE), f"--csv={table}"])
        rows = {row["policy"]: row for row in csv.DictReader(table.open())}
    return rows, simulated_range(dfc, path)


def difference(policy, row, ranges):
    """How much longer the rehearsal took than was predicted; for online policies, than the nearer end of the range."""
    median = float(row["median_s"])
    low, high = ranges.get(policy, (float(row["predicted_s"]),) * 2)
    return median / high - 1 if median > high else median / low - 1 if median < low else 0.0


def write_table(out, name, results, options):
    policies = PLACED + ONLINE
    out.write("# Predicted against rehearsed\n\n")
    out.write(f"Made by `make check-rehearse DIR={name}`: medians of {options.runs} runs. A cell says how much longer than predicted "
              "([rehearse.md](../rehearse.md)) the\nrehearsal took; right of `all-cpu`, how far it lies outside the range of "
              f"{DRAWS} simulations. `late` counts wake-ups that\nwere more than 1 ms late, in the runs in the middle; these count as real.\n\n")
    out.write("| graph | scale | late | " + " | ".join(policies) + " |\n|---|---|---|" + "---|" * len(policies) + "\n")
    for file, (rows, ranges) in sorted(results.items()):
        cells = [f"{100 * difference(p, rows[p], ranges):+.1f} %" for p in policies]
        late = sum(int(row["late"]) for row in rows.values())
        out.write(f"| {file} | {float(rows['gp']['scale']):.3g} | {late} | " + " | ".join(cells) + " |\n")


def judge(results):
    wrong = []
    all_placed = [abs(difference(p, rows[p], ranges)) for rows, ranges in results.values() for p in PLACED]
    median = statistics.median(all_placed)
    print(f"placed before the run: median {100 * median:.2f} %, worst {100 * max(all_placed):.1f} %, of {len(all_placed)}")
    if median > MEDIAN:
        wrong.append(f"the median of placed policies is {100 * median:.1f} %")
    for file, (rows, ranges) in sorted(results.items()):
        for policy in PLACED + ONLINE:
            off = difference(policy, rows[policy], ranges)
            if abs(off) > (WORST if policy in PLACED else RANGE):
                wrong.append(f"{file}: {policy} is {100 * off:+.1f} % off")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dfc")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    files = sorted(f for f in options.folder.glob("*.df") if "graph main" in f.read_text())
    results, wrong = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(rehearse, options.dfc, f, options.runs): f for f in files}
        for done in concurrent.futures.as_completed(waiting):
            file = waiting[done].stem
            try:
                results[file] = done.result()
                print(f"{file}: rehearsed at {float(results[file][0]['gp']['scale']):.3g}x", flush=True)
            except RuntimeError as error:
                print(f"{file}: not rehearsed: {error}", flush=True)
    if not results:
        sys.exit("rehearse: no graph was rehearsed")
    if options.table:
        with options.table.open("w") as out:
            write_table(out, options.folder.name, results, options)
    wrong += judge(results)
    print("\n".join(wrong) or "all within bounds")
    sys.exit(1 if wrong else 0)


main()
