#!/usr/bin/env python3
"""Reductions on GPUs: how many work-items they have, and how many joins stand one after the other. reductions.py BUILDDIR [--rows=8192] prints a table
in Markdown, for pictures of so many rows and columns.

Each formula is computed by its CPU code and by its GPU code on the emulated GPU, and exits 1 if a bit differs. The number of work-groups is the one of the
launches that the generated code makes (-DDF_LAUNCHES of df_formula_gpu.h). From it follows how many joins a work-item makes and waits for at barriers: as
many as the loops of compiler/generate/reduce_group.c and pass_group.c have trips. The tree of 16 lanes counts as 15, because one item joins them.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HEAD = """param rows = 8192;
kernel real(out a: f32[h, w]) { a[y, x] = f32((y * 7919 + x * 10473) % 2000003 - 1000000) * 0.37; }
kernel line(out v: f32[n]) { v[i] = f32((i % 8192 * 7919 + i / 8192 * 10473) % 2000003 - 1000000) * 0.37; }
kernel bytes(out b: u8[h, w]) { b[y, x] = u8((y * 7919 + x * 10473) / 64); }
kernel many(out b: u8[n]) { b[i] = u8((i % 8192 * 7919 + i / 8192 * 10473) / 64); }
"""
GRAPH = """graph main {
    real: f32[rows, rows] = real();
    line: f32[rows * rows] = line();
    bytes: u8[rows, rows] = bytes();
    many: u8[rows * rows] = many();
"""


def up(n, by):
    return (n + by - 1) // by


def joined(rows, n):
    """The joins of df_join_…, from rows of n results to one for each row."""
    chain = 0
    while n > 16:
        blocks = up(n, 1024)
        chain += up(rows * blocks, 16) * (up(min(n, 1024), 16) + 15)
        n = blocks
    return chain + (up(rows, 256) * (n - 1) if n > 1 else 0)


def in_lanes(rows, groups):
    blocks = up(rows, 1024)
    chunks = up(rows * blocks, 16)
    return up(chunks, groups[0]) * (up(min(rows, 1024), 16) + 15) + joined(rows, blocks) + joined(1, rows)


def best(rows, groups):
    units = up(rows * rows, 16384)
    return up(units, groups[0]) * 64 + 8 + up(groups[0], 256) + 8


def counted(rows, groups):
    return up(rows, groups[1]) * up(rows, 256) + 16 + 1


def scanned(rows, groups):
    tiles = up(up(rows * rows, 1024), groups[0])
    return tiles * 4 + 8 + up(groups[0], 256) + 8 + tiles * (4 + 8 + 1 + 4 + 1)


CASES = [   # what it is, its input, the kernel behind its name, the type of its result, and the joins one after the other
    ("sum of f32", "real", "in a: f32[h, w], out o: f32[1]) { o[0] = sum(y in 0..h, x in 0..w: a[y, x]); }", "f32", in_lanes),
    ("mean of f32", "real", "in a: f32[h, w], out o: f32[1]) { o[0] = sum(y in 0..h, x in 0..w: a[y, x]) / (h * w); }", "f32", in_lanes),
    ("max of f32", "real", "in a: f32[h, w], out o: f32[1]) { o[0] = max(y in 0..h, x in 0..w: a[y, x]); }", "f32", in_lanes),
    ("argmax of f32, as one line", "line", "in v: f32[n], out o: i32[1]) { o[0] = argmax(i in 0..n: v[i]); }", "i32", best),
    ("histogram of u8", "bytes", "in b: u8[h, w], out o: i32[256]) { o[v] = count(y in 0..h, x in 0..w if b[y, x] == v); }", "i32", counted),
    ("running sum of u8, as one line", "many", "in b: u8[n], out o: i32[n]) { o[x] = sum(i in 0..x + 1: b[i]); }", "i32", scanned),
]


def program():
    """All of them, and for each a kernel that prints its number and a hash of the result."""
    kernels, graph = HEAD, GRAPH
    for k, (_, source, kernel, elem, _) in enumerate(CASES):
        kernels += f"""kernel k{k}({kernel}
kernel show{k}(in a: {elem}[n]) cpu {{{{
    unsigned long long s = 5381;
    for (size_t i = 0; i < n; i++)
        s = s * 33 + ((const unsigned *)a)[i];
    printf("{k} %016llx\\n", s);
}}}};
"""
        graph += f"    o{k} = k{k}({source}); show{k}(o{k});\n"
    return f"{kernels}{graph}}}\n"


def call(command, folder):
    said = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if said.returncode:
        sys.exit(f"reductions: {' '.join(command)}: exit {said.returncode}: {said.stderr[-800:]}")
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=8192)
    given = parser.parse_args()
    dfc, differs = os.path.realpath(f"{given.build}/bin/dfc"), False
    print(f"| {given.rows} by {given.rows} | launches: work-groups of 256 | joins one after the other | bits |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/all.df", "w", encoding="utf-8") as f:
            f.write(program())
        call([dfc, "all.df", "-o", "all", "-D", f"rows={given.rows}", "--emu-gpu-code", "--nvcc=none", "--no-opencl", "-w", "--cflags=-DDF_LAUNCHES",
              "-O2" if given.rows > 2048 else "-O0"], folder)
        cpu, gpu = call(["./all", "--device=none"], folder), call(["./all", "--device=emu", "--policy=all-gpu"], folder)
    for k, (name, _, _, _, chain) in enumerate(CASES):
        groups = [int(n) for kind, n in re.findall(rf"^launch df_(\w+)_k{k}_0: (\d+) work-groups", gpu.stderr, re.M) if kind in ("group", "pass")]
        if not groups:
            sys.exit(f"reductions: {name}: no launch")
        hashes = [re.findall(rf"^{k} [0-9a-f]{{16}}$", said.stdout, re.M) for said in (cpu, gpu)]
        same = hashes[0] == hashes[1] and len(hashes[0]) == 1
        differs |= not same
        print(f"| {name} | {', '.join(map(str, groups))} | {chain(given.rows, groups)} | {'the same' if same else 'DIFFERENT'} |")
    sys.exit(differs)


if __name__ == "__main__":
    main()
