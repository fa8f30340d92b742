#!/usr/bin/env python3
"""examples/photo from picture to picture: endtoend.py BUILDDIR OUT [--rounds=N] [--side=PIXELS]

The program that dfc makes of the formulas, the same kernels written in C (tests/photo) and called one after another in a plain loop, and
oneTBB's parallel_pipeline over those, in turns, whole processes. Each must write the same picture. Writes a line for each run to OUT/endtoend.csv:
    system,threads,run,wall_s,cpu_s
"""
import argparse, csv, os, resource, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.realpath(__file__))
PHOTO = os.path.join(HERE, "..", "..", "examples", "photo")
WRITTEN = os.path.join(HERE, "..", "photo")
CC, CXX = os.environ.get("CC", "cc").split(), os.environ.get("CXX", "c++").split()


def make(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"endtoend: error: {' '.join(command)}:\n{done.stdout}")


def has_tbb():
    return subprocess.run(CXX + ["-std=c++17", "-E", "-x", "c++", "-"], input="#include <oneapi/tbb/parallel_pipeline.h>", text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def build(home, out):
    """The programs: name → command that takes the number of threads."""
    plain, dfc = os.path.join(HERE, "photo"), os.path.join(home, "bin/dfc")
    objects = []
    for source, header in ((os.path.join(WRITTEN, "filter.c"), "plain.h"), (os.path.join(home, "share/dfc/std/png.c"), "df.h"),
                           (os.path.join(plain, "call.c"), "plain.h")):
        objects.append(os.path.join(out, os.path.basename(source)[:-1] + "o"))
        make(*CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-I", plain, "-I", os.path.join(home, "include"), "-include", header, "-c", "-o", objects[-1],
             source)
    libraries = [os.path.join(home, "lib/libdf.a"), "-lpng", "-lz", "-lhwloc", "-lm", "-pthread"]
    make(*CC, "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", out + "/synthetic", os.path.join(PHOTO, "synthetic.c"), "-lpng", "-lm")
    make(*CC, "-std=c11", "-O2", "-o", out + "/plain", os.path.join(plain, "plain.c"), *objects, *libraries)
    shutil.copy(os.path.join(PHOTO, "photo.df"), out)
    make(dfc, out + "/photo.df", "--device=none", "--nvcc=none", "-o", out + "/photo")
    picture, made = out + "/in.png", out + "/out.png"
    programs = {"dfc": lambda n: [out + "/photo", "--input=" + picture, "--output=" + made, "--device=none", f"--workers={n}"],
                "plain loop": lambda n: [out + "/plain", picture, made] if n == 1 else None}
    if has_tbb():
        make(*CXX, "-std=c++17", "-O2", "-o", out + "/tbb", os.path.join(plain, "tbb.cpp"), *objects, "-ltbb", *libraries)
        programs["oneTBB"] = lambda n: [out + "/tbb", picture, made, str(n)]
    else:
        print("skip end to end beside oneTBB: libtbb-dev is not installed")
    return programs


def run(command, made):
    """Seconds of wall-clock and of processor time of the whole process, and the picture that it wrote."""
    if os.path.exists(made):
        os.remove(made)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"endtoend: error: {' '.join(command)}: exit status {done.returncode}:\n{done.stdout}")
    with open(made, "rb") as f:
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, f.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--side", type=int, default=2048)
    options = parser.parse_args()
    out = os.path.join(os.path.realpath(options.out), "photo")
    os.makedirs(out, exist_ok=True)
    os.environ["DFC_PROFILE"] = out + "/profile.db"
    programs = build(os.path.realpath(options.build), out)
    make(out + "/synthetic", str(options.side), str(options.side), "7", out + "/in.png")
    first = None
    with open(os.path.join(options.out, "endtoend.csv"), "w") as to:
        rows = csv.writer(to, lineterminator="\n")
        rows.writerow(["system", "threads", "run", "wall_s", "cpu_s"])
        for r in range(options.rounds):
            for threads in (1, 2):
                for name, command in programs.items():
                    if command(threads) is None:
                        continue
                    wall, cpu, made = run(command(threads), out + "/out.png")
                    first = first or made
                    if made != first:
                        sys.exit(f"endtoend: error: {name}, {threads} threads: another picture")
                    rows.writerow([name, threads, r, f"{wall:.6f}", f"{cpu:.6f}"])
    print(f"{len(programs)} programs, {options.rounds} rounds: the same picture of {options.side} x {options.side} each time")


main()
