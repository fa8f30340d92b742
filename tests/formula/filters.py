#!/usr/bin/env python3
"""The filters of examples/filters as cases for compare.py, on 200 sizes and with every border: filters.py FOLDER

Writes a file for each filter. Its graphs are the filter as it is, and for each border one that reads with it and whose streams have all the
same size, so that also pictures smaller than what a pixel is made of have a result. Stages that are no formulas are left out.
"""
import os
import random
import re
import sys

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "filters")
BORDERS = ("clamp", "mirror", "reflect", "wrap", "0.5")
PRIMES = (11, 13, 17, 31, 61, 67, 127, 131, 257, 509, 1021)
SMALL = (1, 2, 3, 4, 5, 7)


def sizes():
    """200 pairs: 1 x 1, 1 x n, n x 1, primes, and sizes of one strip and several."""
    pairs = [(a, b) for a in SMALL for b in SMALL] + [(1, n) for n in PRIMES] + [(n, 1) for n in PRIMES]
    r = random.Random("filters")
    while len(pairs) < 200:
        pair = r.choice(PRIMES + SMALL), r.choice(PRIMES + SMALL)
        if pair[0] * pair[1] < 4000 and pair not in pairs[:58]:
            pairs.append((pair[0] + r.randrange(-1, 2), pair[1] + r.randrange(2)) if min(pair) > 1 else (r.randrange(2, 90), r.randrange(2, 40)))
    return pairs


def formulas(text):
    """What the filter's graph needs of the file: its tables, kernels and the graph."""
    graph = re.search(r"^graph (?!main).*?^}\n|^graph (?!main).*?}\n", text, re.M | re.S)[0]
    if " = follow(" in graph:
        graph = re.sub(r"    o = follow\(e\);\n", "", graph).replace("e = thin(", "o = thin(")
    kernels = re.findall(r"^kernel \w+\([^{]*\{.*?\}$", text, re.M | re.S)
    called = set(re.findall(r"= (\w+)\(", graph))
    used = [k for k in kernels if re.match(r"kernel (\w+)", k)[1] in called]
    return "".join(re.findall(r"^table .*\n", text, re.M)), "\n".join(used) + "\n" + graph


def with_border(code, border):
    """Streams lose no rows and columns, and the kernels' inputs have that border; a number in its type."""
    def edge(port):
        return f"{port[1]} border {border if port[2] == 'f' or border.isalpha() else 3}"
    code = re.sub(r"(: [uif]\d+\[)([^\]]*)", lambda f: f[1] + re.sub(r" [-+] \d+", "", f[2]), code)
    return re.sub(r"^kernel \w+\([^{]*", lambda head: re.sub(r"(\bin \w+: ([uif])\d+\[[^\]]*\])( border \w+)?", edge, head[0]), code, flags=re.M)


def renamed(code, suffix):
    names = "|".join(re.findall(r"^(?:kernel|graph) (\w+)\(", code, re.M))
    return re.sub(rf"((?:^kernel|^graph|^    .* =) (?:{names}))\(", rf"\1{suffix}(", code, flags=re.M)


def main():
    for name in ("bilateral", "camera", "canny", "harris", "sobel", "unsharp"):
        with open(f"{EXAMPLES}/{name}.df", encoding="utf-8") as f:
            tables, code = formulas(f.read())
        text, lines = tables + code, []
        less = max([0] + [int(n) for n in re.findall(r"- (\d+)", re.search(r"^graph [^{]*", code, re.M)[0])])
        for suffix, margin in [("", less)] + [(f"_{n}", 0) for n in range(len(BORDERS))]:
            dims = "n m" if "[n, m]" in code else "h w"
            given = "; ".join(f"{dims[0]}={a + margin} {dims[2]}={b + margin}" + (f" c={1 + k % 3}" if "[c, h" in code else "")
                              for k, (a, b) in enumerate(sizes()))
            lines.append(f"// sizes {name}{suffix}: {given}\n")
        text += "".join(renamed(with_border(code, border), f"_{n}") for n, border in enumerate(BORDERS))
        with open(f"{sys.argv[1]}/{name}.df", "w", encoding="utf-8") as f:
            f.write("".join(lines) + text)


main()
