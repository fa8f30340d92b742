#!/usr/bin/env python3
"""Two applications of streams at their full length, under every policy: tests that make check has no time for.

    streams_long.py BUILDDIR [--only=tiles|volume] [--waves=100000]

tiles: the program of e2e-skip, in the shape of NBIA: about 16 % of the tiles go on to the next finer of three resolutions. Its sink fails if a
tile is not the next one in order, or was sure before, and compares the counts. The most memory of the process so far is looked at every 5 ms,
and may grow by at most 1 MiB after a fifth of the run. A line for each policy: on two workers, and on two and an emulated GPU.

volume: the program of e2e-volume, 1 MiB that each of 50 waves changes, undivided and in 2, 4, 8 and 16 parts, with a quarter of it as the GPU's
memory. What is printed must have the bits of the undivided one without a GPU. Up to 4 parts do not fit, beside what they read, and run on the
host. Smaller ones are copied back once, and what they read is copied to the GPU once a pass. A line for each policy: the passes that each
number of parts takes.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from streams import POLICIES

PROGRAMS = f"{os.path.dirname(os.path.abspath(__file__))}/../e2e/programs"
LIMIT_S = 1800
GROWTH_KIB = 1024
VOLUME, PROJECTION, PROJECTIONS = 1 << 20, 4096, 50

failures = 0


def say(good, name, text):
    global failures
    failures += not good
    print(f"{'ok' if good else 'not ok'} {name:<10} {text}", flush=True)


def compile_to(dfc, app, source, *options):
    said = subprocess.run([dfc, source, "-o", app, "--nvcc=none", "-w", *options], capture_output=True, text=True)
    if said.returncode:
        sys.exit(f"{source} does not compile: {said.stderr}")


def most_memory(pid):
    """KiB so far; none at the very end. (What the system says of an ended process would count what this one had when it forked.)"""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            return [int(line.split()[1]) for line in f if line.startswith("VmHWM")]
    except OSError:
        return []


def run(*words):
    """Status, output, seconds, and what most_memory() gave from time to time."""
    memory, start = [], time.monotonic()
    with open("out", "w+b") as out, open("err", "w+b") as err, subprocess.Popen(words, stdout=out, stderr=err) as child:
        while child.poll() is None:
            memory += most_memory(child.pid)
            time.sleep(0.005)
            if time.monotonic() > start + LIMIT_S:
                child.kill()
        out.seek(0)
        return child.returncode, out.read(), time.monotonic() - start, memory


# ---- tiles ----

def tiles_on(policy, waves, want, *where):
    """Whether all is as it should be, the counts, and words for the line."""
    status, out, seconds, memory = run("./nbia", f"--waves={waves}", f"--policy={policy}", *where)
    got, text = out.decode().strip(), "too short to say"
    if status:
        return False, got, f"exit {status}: {open('err', errors='replace').read()[-200:]}"
    good = got.endswith(" right") and want in (None, got)
    if len(memory) >= 20:
        early, last = memory[len(memory) // 5], memory[-1]
        good = good and last <= early + GROWTH_KIB
        text = f"{early / 1024:.1f} -> {last / 1024:.1f} MiB"
    return good, got, f"{got}, {text}, {seconds:.1f} s"


def tiles(dfc, waves):
    for name in ("nbia.df", "nbia.c"):
        shutil.copy(f"{PROGRAMS}/skip/{name}", ".")
    with open("none.cu", "w", encoding="utf-8"):
        pass
    compile_to(dfc, "nbia", "nbia.df")
    print(f"# {waves} tiles: how many were sure at each resolution; the most memory after a fifth of the run and at its end; time", flush=True)
    want = None
    for policy in POLICIES:
        good, got, text = tiles_on(policy, waves, want, "--device=none", "--workers=2")
        want = want or got
        more, _, and_text = tiles_on(policy, waves, want, "--device=emu", "--emu-all", "--workers=2")
        say(good and more, policy, f"{text}; with a GPU {and_text}")


# ---- volume ----

def volume_in(policy, n, want):
    status, out, _, _ = run(f"./parts-{n}", f"--waves={PROJECTIONS}", f"--policy={policy}", "--device=emu", "--emu-all", f"--gpu-mem={VOLUME // 4}",
                            "--stats=json,totals", "--stats-file=stats")
    if status:
        return False, f"exit {status}: {open('err', errors='replace').read()[-200:]}"
    with open("stats", encoding="utf-8") as f:
        stats = json.load(f)
    bytes_copied = [(m["h2d_bytes"], m["d2h_bytes"]) for m in stats["memories"]]
    due = [(0, 0) if n <= 4 else (PROJECTIONS * PROJECTION * stats["passes"], VOLUME)]
    if out != want or bytes_copied != due:
        return False, f"{'same' if out == want else 'other'} bits, {bytes_copied} bytes copied in place of {due}"
    return True, f"{stats['passes']:>2}"


def volume(dfc):
    source = f"{PROGRAMS}/volume/parts.df"
    with open(source, encoding="utf-8") as f:
        anywhere = f.read().replace("back(p) @gpu", "back(p)")
    with open("anywhere.df", "w", encoding="utf-8") as f:
        f.write(anywhere)
    parts = (1, 2, 4, 8, 16)
    for n in parts:
        compile_to(dfc, f"parts-{n}", "anywhere.df" if n <= 4 else source, f"--parts={n}")
    status, want, _, _ = run("./parts-1", f"--waves={PROJECTIONS}", "--device=none")
    say(status == 0 and len(want) == VOLUME, "undivided", f"{len(want)} bytes")
    print(f"# passes in {parts} parts", flush=True)
    for policy in POLICIES:
        cells = [volume_in(policy, n, want) for n in parts]
        say(all(good for good, _ in cells), policy, "  ".join(text for _, text in cells))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=os.path.realpath)
    parser.add_argument("--only", choices=["tiles", "volume"])
    parser.add_argument("--waves", type=int, default=100000)
    given = parser.parse_args()
    dfc = f"{given.build}/bin/dfc"
    with tempfile.TemporaryDirectory(prefix="streams-") as folder:
        os.environ["DFC_PROFILE"] = f"{folder}/profile.db"
        os.chdir(folder)
        if given.only != "volume":
            tiles(dfc, given.waves)
        if given.only != "tiles":
            volume(dfc)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
