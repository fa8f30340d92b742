#!/usr/bin/env python3
"""How much quicker two workers are than one in examples/photo: two_workers.py BUILDDIR OUT [--turns=N] [--size=WIDTHxHEIGHT] [--tiles=PIXELS,…]

Whole processes from picture to picture, one worker and two in turns, which must write the same picture. A turn in which other processes, or other
machines on this host, took more than a tenth of the cores does not count, and another is made in its place, up to twice as many turns as asked for.
Prints medians for each size of tiles, and how long a cache line takes from one core to the other (distance.c): 31 ns if they share a last cache.
"""
import argparse, os, resource, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.realpath(__file__))
PHOTO = os.path.join(HERE, "..", "..", "examples", "photo")
CC = os.environ.get("CC", "cc").split()
TAKEN = 0.1  # of the cores, by others


def make(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"two_workers: error: {' '.join(command)}:\n{done.stdout}")
    return done.stdout


def busy():
    """Seconds that all cores together have computed, also for other machines on this host (proc(5): user nice system idle iowait irq softirq steal)."""
    with open("/proc/stat") as f:
        field = [int(x) for x in f.readline().split()[1:9]]
    return (sum(field) - field[3] - field[4]) / os.sysconf("SC_CLK_TCK")


def run(command, made):
    """Seconds of the whole process, the part of the cores that others took meanwhile, and the picture that it wrote."""
    if os.path.exists(made):
        os.remove(made)
    before, others, begin = resource.getrusage(resource.RUSAGE_CHILDREN), busy(), time.monotonic()
    make(*command)
    wall, others, after = time.monotonic() - begin, busy() - others, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(made, "rb") as f:
        return wall, (others - own) / wall / os.cpu_count(), f.read()


def turns_of(options, out, program):
    """(seconds with one worker, seconds with two, whether the cores were free), of each turn."""
    done, picture = [], None
    while len(done) < 2 * options.turns and sum(turn[2] for turn in done) < options.turns:
        walls, free = [], True
        for workers in 1, 2:
            wall, taken, made = run([program, f"--input={out}/in.png", f"--output={out}/out.png", "--device=none", f"--workers={workers}"], out + "/out.png")
            picture = picture or made
            if made != picture:
                sys.exit(f"two_workers: error: {workers} workers: another picture")
            walls.append(wall)
            free = free and taken <= TAKEN
        done.append((*walls, free))
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--size", default="3072x2048")
    parser.add_argument("--tiles", default="512,256")
    options = parser.parse_args()
    out = os.path.join(os.path.realpath(options.out), "two_workers")
    os.makedirs(out, exist_ok=True)
    os.environ["DFC_PROFILE"] = out + "/profile.db"
    width, height = map(int, options.size.split("x"))
    make(*CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", out + "/synthetic", os.path.join(PHOTO, "synthetic.c"), "-lpng", "-lm")
    make(*CC, "-std=c11", "-O2", "-pthread", "-o", out + "/distance", os.path.join(HERE, "distance.c"))
    make(out + "/synthetic", str(width), str(height), "7", out + "/in.png")
    print(f"a cache line takes {make(out + '/distance').strip()} ns from core to core")
    for tile in map(int, options.tiles.split(",")):
        program = f"{out}/photo-{tile}"
        make(os.path.join(os.path.realpath(options.build), "bin/dfc"), os.path.join(PHOTO, "photo.df"), "--device=none", "--nvcc=none",
             "-D", f"tile={tile}", "-o", program)
        run([program, f"--input={out}/in.png", f"--output={out}/out.png", "--device=none", "--workers=2"], out + "/out.png")
        done = turns_of(options, out, program)
        free = [turn for turn in done if turn[2]]
        one, two = (statistics.median(turn[i] for turn in free or done) * 1e3 for i in (0, 1))
        tiles = -(-width // tile) * -(-height // tile)
        print(f"{tiles} tiles of {tile}: one worker {one:.1f} ms, two {two:.1f} ms, {one / two:.2f} times as quick; both cores were free in "
              f"{len(free)} of {len(done)} turns" + ("" if free else ", so these are all turns"))


main()
