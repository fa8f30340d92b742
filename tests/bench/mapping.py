#!/usr/bin/env python3
"""The tables of docs/results/mapping.md: tests/bench/mapping.py BUILDDIR [SAMPLES]

Random pipelines by BUILDDIR/mapping (tests/bench/mapping.c), and the stages of examples/ferret by `dfc map` on processors whose speeds are drawn.
"""
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MASK = (1 << 64) - 1
DRAWS = 12


class Draws:
    """SplitMix64 and Box and Muller, as tests/rig/pipeline_rig.c."""

    def __init__(self, seed):
        self.state = seed

    def even(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        return (((z ^ z >> 31) >> 11) + 0.5) / 2**53

    def normal(self, mean, deviation):
        while True:
            radius, angle = math.sqrt(-2 * math.log(self.even())), 2 * math.pi * self.even()
            x = mean + deviation * radius * math.cos(angle)
            if x > 0:
                return x


def platform(speeds):
    nodes = "".join(f"node p{i} {{ speed = {s} / 10; net = 5 GB/s, 2 us; cpu host {{ workers = 1; }} }}\n" for i, s in enumerate(speeds, 1))
    return f"platform drawn {{\n{nodes}network ib {{ manager = 5 GB/s, 2 us; }}\n}}\n"


def mapped(dfc, file, *options):
    """Waves a second by the simulation, of each mapping, and of the bound."""
    said = subprocess.run([dfc, "map", ROOT / "examples/cluster/ferret-stages.df", f"--platform={file}", "--format=csv", *options],
                          check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(said.splitlines()))
    rates = {row["mapping"]: 1 / float(row["simulated_s"]) for row in rows}
    rates["bound"] = 1 / float(rows[0]["bound_s"])
    return rates


def ferret(dfc):
    print("| draw | speeds | identity | BSC | DPM | HeDPM | ours | over identity | HeDPM over identity | over HeDPM | of the bound | of it, groups replicated |\n" + "|---" * 12 + "|")
    over, hedpm_over = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, DRAWS + 1):
            draws = Draws(seed)
            speeds = [round(draws.normal(10, 5), 1) for _ in range(14)]
            file = pathlib.Path(folder) / "drawn.df"
            file.write_text(platform(speeds))
            single = mapped(dfc, file, "--feeding=demand")
            groups = mapped(dfc, file, "--feeding=demand", "--replicate=groups")
            over.append(single["ours"] / single["identity"])
            hedpm_over.append(single["hedpm"] / single["identity"])
            print(f"| {seed} | {' '.join(map(str, speeds))} | " + " | ".join(f"{single[m]:.0f}/s" for m in ("identity", "bsc", "dpm", "hedpm", "ours")) +
                  f" | {over[-1]:.2f} | {hedpm_over[-1]:.2f} | {single['ours'] / single['hedpm']:.2f} | {single['ours'] / single['bound']:.3f}"
                  f" | {groups['ours'] / groups['bound']:.3f} |", flush=True)
    print(f"| median | | | | | | | {statistics.median(over):.2f} | {statistics.median(hedpm_over):.2f} | | | |")


def main():
    build, samples = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "20"
    for arguments in (["4x4", "100"], ["4x4", "3000"], ["30", samples], ["time"]):
        subprocess.run([build / "mapping", *arguments], check=True)
        print()
    ferret(build / "bin/dfc")


if __name__ == "__main__":
    main()
