#!/usr/bin/env python3
"""Makes docs/results/streams.md with streams.csv and streams.svg: streams.py BUILDDIR [FOLDER]

All figures but REAL and NODES are of `dfc scale --stream-policy=all` on examples/cluster/nbia-tiles.df, in virtual time. So they are the same on every machine.
"""
import csv
import pathlib
import subprocess
import sys

from table import table

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples/cluster"
POLICIES = ("ddfcfs", "ddwrr", "odds")
RATES = (0, 4, 8, 12, 16, 20)
PAPER_TABLE_6 = {("one", "low"): (98.16, 17.07, 6.98), ("one", "high"): (92.42, 96.34, 97.89),
                 ("two", "low"): (84.85, 16.72, 0), ("two", "high"): (85.67, 92.92, 97.62)}

# What `make stream-ranks` printed: policy, requests, seconds, over one core, and how many of 100 small and large tiles GPUs did.
REAL = (("ddfcfs", 1, 19.98, 32.0, 80.69, 81.58), ("ddfcfs", 4, 20.50, 31.2, 78.06, 81.49), ("ddfcfs", 16, 19.69, 32.5, 79.13, 82.05),
        ("ddwrr", 1, 14.81, 43.2, 46.32, 88.50), ("ddwrr", 4, 12.43, 51.4, 25.60, 92.24), ("ddwrr", 16, 15.42, 41.5, 24.73, 90.46),
        ("odds", 0, 7.82, 81.8, 0.07, 97.85))

# What `make stream-nodes` printed: of 100 tiles those that are analysed again, seconds with DDWRR and the large tiles that cores did, the same with ODDS, and seconds if a rank asks as a whole.
NODES = ((4, 1.00, 0, 1.04, 0, 1.39), (8, 1.94, 2, 1.04, 0, 1.61), (12, 3.95, 9, 1.06, 0, 1.81), (16, 9.63, 28, 6.57, 18, 2.00))


class Runs:
    """Runs of dfc, each once, and a line of CSV for each policy."""

    def __init__(self, dfc):
        self.dfc, self.rows = dfc, []

    def __call__(self, platform, nodes=1, rate=8, ratio=41, waves=26742, *options):
        count = ("-D", f"{'nodes' if platform == 'one' else 'pairs'}={nodes}") if nodes > 1 else ()
        command = [self.dfc, "scale", "nbia-tiles.df", f"--platform=anthill-{platform}.df", "--stream-policy=all", f"--waves={waves}", f"--fires=high={rate}",
                   *(("-D", f"ratio={ratio}") if ratio != 41 else ()), *count, *options]
        said = subprocess.run([*command, "--format=csv"], cwd=EXAMPLES, check=True, capture_output=True, text=True).stdout
        result = {}
        for row in csv.DictReader(said.splitlines()):
            run = result.setdefault(row["policy"], {"time": float(row["makespan_s"]), "over": float(row["alone_s"]) / float(row["makespan_s"]), "gpu": {},
                                                    "requests": row["requests"], "most": row["most_target"], "held": row["most_held"],
                                                    "bound": row["held_bound"], "waiting": row["most_waiting"], "of": {}})
            run["of"][row["stage"]] = int(row["of"])
            if row["type"] == "gpu.gpu" and int(row["of"]):
                run["gpu"][row["stage"]] = 100 * int(row["items"]) / int(row["of"])
        for policy, run in result.items():
            self.rows.append({"platform": platform, "nodes": run_nodes(platform, nodes), "tiles": waves, "percent": rate, "ratio": ratio, "policy": policy,
                              "requests": run["requests"] if policy != "odds" else f"1 to {run['most']}", "seconds": f"{run['time']:.4f}",
                              "over_one_core": f"{run['over']:.3f}", "low_on_gpu": f"{run['gpu']['low']:.3f}",
                              "high_on_gpu": f"{run['gpu']['high']:.3f}" if "high" in run["gpu"] else "", "most_waiting": run["waiting"],
                              "most_held": run["held"], "held_bound": run["bound"]})
        return result


def run_nodes(platform, nodes):
    return nodes * (1 if platform == "one" else 2)


def bound(platform, nodes, run, ratio):
    """How many times as fast as a core the workers can be, if work could be divided at will and nothing moved."""
    gpus, cores = nodes, nodes * (1 if platform == "one" else 3)
    small, large = 1.12e-3 * run["of"]["low"], 0.285 * run["of"].get("high", 0)
    time = (small + large) / (cores + ratio * gpus)
    if large / (ratio * gpus) < time:      # GPUs have time for small tiles, too
        time = (large / ratio + small) / (gpus + cores)
    return (small + large) / time


def asked(run, policy):
    return f"1 to {run['most']}" if policy == "odds" else run["requests"]


def base_cases(runs):
    published = {("one", "ddwrr"): "23", ("one", "odds"): "25", ("two", "ddwrr"): "25", ("two", "odds"): "44"}
    rows = []
    for platform, words in (("one", "a core and a GPU"), ("two", "the same, and a node of two cores")):
        result = runs(platform)
        for policy in POLICIES:
            run = result[policy]
            rows.append([words, policy.upper(), asked(run, policy), f"{run['time']:.2f} s", f"{run['over']:.1f}", published.get((platform, policy), ""),
                         f"{bound(platform, 1, run, 41):.1f}"])
    return table(["nodes", "policy", "requests", "time", "over one core", "paper", "bound"], rows)


def ratios(runs):
    rows = []
    for ratio, known in ((24, ", from the paper's times"), (33, ", published, not fitted"), (41, ", *fitted*")):
        result = runs("two", ratio=ratio)
        rows.append([str(ratio) + known, *(f"{result[p]['over']:.1f}" for p in POLICIES), f"{result['ddwrr']['time'] / result['odds']['time']:.2f}",
                     f"{bound('two', 1, result['odds'], ratio):.1f}"])
    return table(["GPU over core on a large tile", "DDFCFS", "DDWRR", "ODDS", "ODDS over DDWRR", "bound"], rows)


def table_6(runs):
    rows = []
    for platform, words in (("one", "one node"), ("two", "two nodes")):
        result = runs(platform)
        for stage, size in (("low", "small tiles"), ("high", "large tiles")):
            paper = PAPER_TABLE_6[platform, stage]
            rows.append([words, size, *(f"{result[p]['gpu'][stage]:.2f} % ({published:g})" for p, published in zip(POLICIES, paper))])
    return table(["", "on the GPU", "DDFCFS (paper)", "DDWRR (paper)", "ODDS (paper)"], rows)


def rates(runs):
    rows = []
    for rate in RATES:
        one, two = runs("one", rate=rate), runs("two", rate=rate)
        rows.append([f"{rate} %", *(f"{r[p]['over']:.1f}" for r in (one, two) for p in POLICIES), f"{two['ddwrr']['time'] / two['odds']['time']:.2f}"])
    return table(["tiles again", *(f"{p.upper()}, {n}" for n in ("one node", "two") for p in POLICIES), "ODDS over DDWRR, two"], rows)


def fourteen(runs):
    rows = []
    for tiles in (26742, 267420):
        for platform, nodes, words in (("one", 14, "like"), ("two", 7, "unlike")):
            result = runs(platform, nodes=nodes, waves=tiles)
            rows.append([f"{tiles:,}", words, *(f"{result[p]['over']:.0f} ({asked(result[p], p)})" for p in POLICIES), f"{result['odds']['time']:.2f} s",
                         f"{result['ddwrr']['time'] / result['odds']['time']:.2f}", f"{bound(platform, nodes, result['odds'], 41):.0f}"])
    return table(["tiles", "14 nodes", "DDFCFS (requests)", "DDWRR (requests)", "ODDS (requests)", "ODDS takes", "ODDS over DDWRR", "bound"], rows)


def real(runs):
    rows = []
    for policy, requests, seconds, over, low, high in REAL:
        result = runs("two", 2, 8, 41, 26742, f"--requests={requests or 1}")[policy]
        rows.append([policy.upper(), str(requests or "by DQAA"), f"{seconds:.2f} s", f"{over:.1f}", f"{result['over']:.1f}", f"{low:.1f} %",
                     f"{result['gpu']['low']:.1f} %", f"{high:.1f} %", f"{result['gpu']['high']:.1f} %"])
    return table(["policy", "requests", "time", "over one core", "simulated", "small tiles on GPUs", "simulated", "large tiles on GPUs", "simulated"], rows)


def programs(runs):
    rows = []
    for again, ddwrr_s, ddwrr_n, odds_s, odds_n, whole_s in NODES:
        result = runs("one", 2, again, 41, 1000, "--requests=2")
        rows.append([f"{again} %", f"{ddwrr_s:.2f} s", str(ddwrr_n), f"{odds_s:.2f} s", str(odds_n), f"{ddwrr_s / odds_s:.2f}",
                     f"{result['ddwrr']['time'] / result['odds']['time']:.2f}", f"{whole_s:.2f} s"])
    return table(["tiles again", "DDWRR", "large on cores", "ODDS", "large on cores", "ODDS over DDWRR", "simulated", "as a whole"], rows)


PAGE = """# Results: streams by demand

    make stream-results

makes this page, [streams.csv](streams.csv) with all its runs, and the picture. It takes about a minute of one core. All figures but those of the ranks and the program are in virtual time, so they are the same on every machine.
[clusters.md](../clusters.md#streams-by-demand) says what the words mean, and what the model is. `make check T=demand` asserts the order of the policies, the direction of
Table 6 and the bounds.

The application is NBIA of Anthill (Teodoro et al., HPDC 2010): 26,742 tiles are analysed at 32 × 32 pixels, and some of them again at 512 × 512. The times are the paper's: 1.12 ms
for a small tile on a core and on a GPU, and 0.285 s for a large one on a core. **One number is fitted**: a GPU does a large tile 41 times as fast as a core. The paper
measured 33 without copies that overlap, and its 44 on two nodes cannot be had below 41. Assumed are 100 µs of latency, 256 tiles that each node has begun at
most, and copies to the GPU that are hidden. Which tiles are analysed again is drawn. For DDFCFS and DDWRR the best size of 1, 2, 4, … 256 requests is taken, as the paper took the
best that it found.

## One node and two

8 % of the tiles are analysed again. All rows of this table have the *fitted* 41; the next table has the paper's 33 beside it. *Over one core* is how many times as fast as one core a run is. *Bound* is how fast the workers could be if the work could be divided
at will and nothing moved.

{base}

The paper's order is that of the two nodes. There FIFO queues give the node of two cores its share of large tiles, and a large tile keeps a core busy for 0.285 s. With ODDS the
sender gives cores small tiles. On one node the paper's ODDS is 9 % faster than its DDWRR. Here both reach the bound: with 128 requests DDWRR has all it needs to choose from. ODDS
has one request for each worker.

{ratios}

## Who does what

Shares of tiles that the GPU does (Table 6 of the paper; its own figures in brackets):

{table6}

The direction is the paper's: a GPU has nearly all small tiles with DDFCFS, few with DDWRR, and none with ODDS and a second node. It has the more large tiles the better the policy. On one
node the GPU must do a quarter of the small tiles to be busy until the end; the paper's 6.98 % leaves 27.9 s of small tiles to one core, and its 25 times are 26.6 s for all.

## Rates

Over one core, by the share of tiles that are analysed again:

{rates}

## 14 nodes

*Like* nodes have a core and a GPU each. Of *unlike* ones half are of that kind, and half have two cores. All nodes read tiles. The paper says that 267,420 tiles are analysed
there; its time of "just over 2 s" is one tenth of what as many can take.

{fourteen}

On unlike nodes ODDS is far ahead, as in the paper, where it "almost doubled" DDWRR. On like nodes the paper's ODDS is 15 % faster. Here they are as fast, if DDWRR has its best size.

## Four ranks for real

    make stream-ranks

Four ranks are two nodes of each kind. They send requests, answers and tiles over MPI. Their workers wait as long as a tile takes, and compute nothing: that is rehearsed,
the streams are not. 26,742 tiles, of which 8 % are analysed again. One run on two cores of an AMD EPYC, with Open MPI 4.1.4:

{real}

The order is that of the paper. Of the best of each, ODDS is {ahead:.2f} times as fast as DDWRR. *Simulated* is `dfc scale` with `-D pairs=2`, where 2,165 tiles are drawn to be
analysed again; here they are 8 of each 100. With few tiles the order is not certain: if there are 2,000, a large one takes a core a sixth of the run, so the last ones decide.
`make check T=demand_ranks` does it with 150 tiles and short waits, and asserts that each tile is done once and that no buffer is above its bound.

## Like nodes in a program

    make stream-nodes

A program of dfc on four ranks: rank 0 reads tiles, rank 1 says which are analysed again, and two like nodes with a core and an emulated GPU analyse them. The nodes are one
[group fed by demand](../clusters.md#stages-on-ranks), and each core and each GPU requests waves of its own. Kernels wait as long as the paper's tiles take, times two, and both analyses of a tile are one
item. 1,000 tiles, the median of three runs on two cores of an AMD EPYC that had other work, with Open MPI 4.1.4. *As a whole* is `--policy=gp`: a rank requests waves for core and
GPU together, and places each job by the earliest finish.

{programs}

From 8 % on ODDS is ahead. DDWRR gives a node the oldest tiles, and if these are large, its core takes one, which keeps it busy for 0.57 s. At 4 % that does not happen, and they are as fast. At 16 % the GPUs
have more to do than the cores. In the end all tiles that wait are large, so with both policies cores take some. A rank that asks as a whole is much quicker then, because its core leaves large tiles to the GPU
even if it has nothing else to do. *Simulated* is the ratio that `dfc scale` gives with `-D nodes=2` and two requests of each worker, where small and large analyses are items of their own.
`make check T=stages` asserts what cores and GPUs do in such a run, and `make check T=suits` compares both policies in virtual time.

## Sizes of requests over time

How many items DQAA wants to be under way and queued on behalf of each worker: 14 unlike nodes, 10 % of the tiles again, as in the paper's Figure 12.

![Sizes of requests of 28 workers over time: cores ask for one item and sometimes for up to three, GPUs for one to twelve, because large tiles cross the network](streams.svg)

    dfc scale nbia-tiles.df --platform=anthill-two.df -D pairs=7 --stream-policy=odds --waves=26742 --fires=high=10 --plot=streams.svg --sizes=sizes.csv

Of all runs of this page, no node had more than {waiting} tiles waiting, and none held more than {held} under way and queued; the bounds are 256, and {bound} for that one. A slow node
or a slow link holds up no other: `make check T=demand_simulation` compares runs with and without it.
"""


def main():
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "docs/results").resolve()
    runs = Runs(build / "bin/dfc")
    parts = {"base": base_cases(runs), "ratios": ratios(runs), "table6": table_6(runs), "rates": rates(runs), "fourteen": fourteen(runs), "real": real(runs),
             "programs": programs(runs)}
    parts["ahead"] = min(row[2] for row in REAL if row[0] == "ddwrr") / next(row[2] for row in REAL if row[0] == "odds")
    runs("two", 7, 10, 41, 26742, f"--plot={folder / 'streams.svg'}")
    most = max(runs.rows, key=lambda row: int(row["most_held"]))
    page = PAGE.format(**parts, waiting=max(int(row["most_waiting"]) for row in runs.rows), held=most["most_held"], bound=most["held_bound"])
    (folder / "streams.md").write_text(page)
    with open(folder / "streams.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, runs.rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        seen = []
        for row in runs.rows:
            if row not in seen:
                seen.append(row)
                writer.writerow(row)
    print(f"written: {folder / 'streams.md'}, streams.csv, streams.svg")


if __name__ == "__main__":
    main()
