#!/usr/bin/env python3
"""Checks what a matrix graph printed against a second computation in Python: check.py GRAPH.df OUTPUT [n].

Reads the graph's own text (the lines that generate.c writes) and computes in double precision without a matrix library: products
of sparse rows, so that a graph of permutation matrices costs O(n) a node. Exit status 1 and the first difference where one is
found. Tolerance: 1e-4 relative; the float results are exact for mm and correctly rounded for ma.
"""
import re
import sys


def start(m, seed):
    state = (seed * 0x9E3779B97F4A7C15 + 1) & (2**64 - 1)
    p = list(range(m))
    for i in range(m - 1, 0, -1):
        state = (state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        j = (state >> 33) % (i + 1)
        p[i], p[j] = p[j], p[i]
    return [{c: 1.0} for c in p]


def add(a, b):
    return [{c: (ra.get(c, 0.0) + rb.get(c, 0.0)) * 0.5 for c in ra.keys() | rb.keys()} for ra, rb in zip(a, b)]


def multiply(a, b):
    rows = []
    for ra in a:
        row = {}
        for k, x in ra.items():
            for c, y in b[k].items():
                row[c] = row.get(c, 0.0) + x * y
        rows.append(row)
    return rows


KERNELS = {"ma": add, "mm": multiply, "multiply_f32": multiply}


def main():
    text = open(sys.argv[1]).read()
    n = int(sys.argv[3]) if len(sys.argv) > 3 else int(re.search(r"param n = (\d+);", text).group(1))
    value, expected = {}, {}
    for target, kernel, a, b in re.findall(r"(d\d+): matrix = (\w+)\((\w+)(?:, (\w+))?\);", text):
        value[target] = start(n, int(a)) if kernel == "start" else KERNELS[kernel](value[a], value[b])
    for name in re.findall(r"report\((d\d+), ", text):
        total = sum(x for row in value[name] for x in row.values())
        weighted = sum(x * ((i * n + c) % 65521) for i, row in enumerate(value[name]) for c, x in row.items())
        expected[name] = (total, weighted)
    seen = {}
    for line in open(sys.argv[2]):
        name, total, weighted = line.split()
        seen[name] = (float(total), float(weighted))
    if seen.keys() != expected.keys():
        sys.exit(f"matrices reported: {sorted(seen)}, expected: {sorted(expected)}")
    for name, pair in expected.items():
        for got, want in zip(seen[name], pair):
            if abs(got - want) > 1e-4 * max(1.0, abs(want)):
                sys.exit(f"{name}: {got!r}, expected {want!r}")
    print(f"{len(seen)} matrices of {n} x {n} as expected")


main()
