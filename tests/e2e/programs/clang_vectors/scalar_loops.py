#!/usr/bin/env python3
"""Lists the row loops of formulas that clang made no vectors of: scalar_loops.py FILE_formulas.c…

FILE_formulas.c is what dfc made of FILE.df, which lies in this folder, and FILE_formulas.yaml clang's record of its pass loop-vectorize. Prints
`FILE.df: FORMULA` for each loop, as the line stands in FILE.df, each line once; and on stderr how many loops there are. Functions that seldom run
(DF_SELDOM) do not count, because clang optimises them for size.
"""
import collections
import re
import sys


def row_loops(text):
    """How many loops over the columns each row function has, by the line of the formula: {(function, line): number}"""
    loops, function, line = collections.Counter(), None, 0
    for row in text.splitlines():
        if row.startswith("static"):
            found = re.match(r"static DF_ALONE void (df_rows?\d\w*)\(", row)
            function = found and found[1]
        elif found := re.match(r'#line (\d+) ".*\.df"', row):
            line = int(found[1])
        elif function and re.match(r" *for \(int64_t \w+ = df_(from|strip);", row) and "df_strip += " not in row:
            loops[function, line] += 1
    return loops


def vectors(record):
    """How many of them clang says that it made vectors of."""
    found = re.findall(r"--- !Passed\nPass: +loop-vectorize\nName: +Vectorized\nDebugLoc: +\{ File: .*?, Line: (\d+), .*?\}\nFunction: +(\w+)\n", record)
    return collections.Counter((function, int(line)) for line, function in found)


def main():
    scalar, n = set(), 0
    for path in sys.argv[1:]:
        stem = re.sub(r"_formulas\d*\.c$", "", path.rsplit("/", 1)[-1])
        with open(path, encoding="utf-8") as text, open(path.removesuffix(".c") + ".yaml", encoding="utf-8") as record, open(f"{stem}.df", encoding="utf-8") as source:
            loops, formulas = row_loops(text.read()), source.read().splitlines()
            made = vectors(record.read())
        n += loops.total()
        scalar |= {f"{stem}.df: {formulas[line - 1].strip()}" for (function, line), number in loops.items() if made[function, line] < number}
    print("".join(f"{line}\n" for line in sorted(scalar)), end="")
    print(n, file=sys.stderr)


main()
