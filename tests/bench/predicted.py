"""One table from what predicted.sh collected: predicted.py OUT ROUNDS NAME…

Every figure is the median over the rounds, but for the fastest run. error: predicted over measured, less one. jobs: the time that
workers were busy in the measured run over the time that the simulation has them busy: what kernels took more than when they were measured,
other places than predicted included. rest: what is left of the ratio of the makespans, that is, of the model of everything but kernels. A run without --policy says which policy is the default; its row is not another policy's.
"""
import csv, os, statistics, sys

LIMIT = 0.15


def read(path):
    with open(path) as f:
        return {row["policy"]: row for row in csv.DictReader(f)}


def default_of(measured):
    return next((p[len("default ("):-1] for p in measured if p.startswith("default (")), None)


def busy(row):
    return float(row["cpu_busy_s"]) + float(row["gpu_busy_s"])


def compare(simulated, measured):
    """What a round says of a policy, in the table's order."""
    predicted, took = float(simulated["makespan_s"]), float(measured["median_s"])
    jobs = busy(measured) / busy(simulated)
    return [predicted, took, float(measured["min_s"]), float(measured["spread"]), predicted / took - 1, jobs, took / predicted / jobs]


def distances(out, name, rounds):
    """How far the cores were from each other in each round: "31", or "31 to 160" if they were moved."""
    for r in range(rounds):
        with open(os.path.join(out, f"{name}.{r + 1}.distances")) as f:
            ns = sorted(int(line) for line in f)
        yield f"{ns[0]} to {ns[-1]}" if ns[-1] > 2 * ns[0] else f"{statistics.median_low(ns)}"


def main():
    out, rounds, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    head = ["graph", "policy", "predicted_s", "measured_s", "fastest_s", "spread", "error", "jobs", "rest"]
    rows, default = [], {}
    for name in names:
        simulated, measured = ([read(os.path.join(out, f"{name}.{r + 1}.{k}.csv")) for r in range(rounds)] for k in ("simulated", "measured"))
        default[name] = default_of(measured[0])
        for policy in measured[0]:
            if policy not in simulated[0]:
                continue
            of_rounds = [compare(s[policy], m[policy]) for s, m in zip(simulated, measured)]
            row = [statistics.median(column) for column in zip(*of_rounds)]
            row[head.index("fastest_s") - 2] = min(r[2] for r in of_rounds)
            rows.append([name, policy] + row)
    with open(os.path.join(out, "predicted.csv"), "w", newline="") as f:
        csv.writer(f).writerows([head] + [[r if isinstance(r, str) else f"{r:.6g}" for r in row] for row in rows])
    lines = ["| graph | policy | predicted | measured, median | fastest | spread | error | jobs | rest |", "|" + "---|" * 9]
    for name, policy, predicted, median, fastest, spread, error, jobs, rest in rows:
        mark = f"**{100 * error:+.0f} %**" if abs(error) > LIMIT else f"{100 * error:+.0f} %"
        lines.append(f"| {name} | `{policy}`{' (default)' if policy == default[name] else ''} | {1e3 * predicted:.3g} ms | {1e3 * median:.3g} ms | {1e3 * fastest:.3g} ms | "
                     f"{100 * spread:.0f} % | {mark} | × {jobs:.2f} | × {rest:.2f} |")
    off = sum(abs(r[6]) > LIMIT for r in rows)
    kernels = sum(abs(r[6]) > LIMIT and abs(r[8] - 1) <= LIMIT for r in rows)
    for name in names:
        errors = [r[6] for r in rows if r[0] == name]
        within = sum(abs(e) <= LIMIT for e in errors)
        lines.append(f"\n{name}: {within} of {len(errors)} policies within {100 * LIMIT:.0f} %")
    lines.append(f"\n{off} of {len(rows)} are more than {100 * LIMIT:.0f} % off; in {kernels} of these the jobs' own times explain it "
                 "(rest within 15 %).")
    lines.append("\nns from core to core, by round: " + "; ".join(f"{name} " + ", ".join(distances(out, name, rounds)) for name in names))
    text = "\n".join(lines) + "\n"
    with open(os.path.join(out, "predicted.md"), "w") as f:
        f.write(text)
    print(text)


if __name__ == "__main__":
    main()
