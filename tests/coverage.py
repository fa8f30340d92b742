#!/usr/bin/env python3
"""Which lines and branches of product code the tests reached, by room: tests/coverage.py BUILDDIR [PAGE]

BUILDDIR was built with BUILD=coverage, and the tests were run on it (`make coverage` does both). gcov reads what they left. The table has a row
for each room of docs/architecture.md; it goes to stdout, and into PAGE. BUILDDIR/uncovered.txt lists the lines that were not reached, and the
lines some branches of which were not taken.

A header's lines belong to the header's room, and are reached when one of the files that include it reached them. What flex and bison write is
left out; the actions in dsl/lexer.l and dsl/parser.y count.
"""
import collections
import json
import pathlib
import subprocess
import sys

from rooms import rooms_of

NOTE = """\
`make coverage UPDATE=1` writes this page: gcov, `-O0`, without asserts, over the unit tests, the golden tests and the end-to-end tests of
`make check`. A branch is one of the ways out of a condition, as gcov counts them: `a && b` has four.

- What flex and bison write is left out. The actions in `dsl/lexer.l` and `dsl/parser.y` count.
- A process that ends by a signal or by `_exit` leaves no counts. So the paths after a crash count as not reached, although tests see them.
- A machine with no GPU reaches `runtime/cuda/` by the stand-in for CUDA's runtime alone.
"""


def documents(root, folder):
    """What gcov says about each object below folder."""
    notes = sorted(str(f.relative_to(root)) for f in folder.rglob("*.gcno"))
    for first in range(0, len(notes), 40):
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *notes[first:first + 40]],
                              cwd=root, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        yield from map(json.loads, filter(None, done.stdout.split("\n")))


class File:
    def __init__(self):
        self.lines = collections.Counter()      # line: how often
        self.branches = {}                      # line: how often each branch was taken

    def add(self, line, second_build):
        number, taken = line["line_number"], [b["count"] for b in line["branches"] if not b["throw"]]
        self.lines[number] += line["count"]
        known = self.branches.get(number, [])
        if len(known) == len(taken):
            self.branches[number] = [a + b for a, b in zip(known, taken)]
        elif len(taken) > len(known) and not second_build:
            self.branches[number] = taken

    def figures(self):
        """Lines, lines reached, branches, branches taken."""
        branches = [b for line in self.branches.values() for b in line]
        return [len(self.lines), sum(n > 0 for n in self.lines.values()), len(branches), sum(b > 0 for b in branches)]

    def missing(self):
        for number in sorted(self.lines):
            if not self.lines[number]:
                yield number, "not reached"
            elif 0 in self.branches.get(number, ()):
                yield number, f"branches not taken: {self.branches[number].count(0)} of {len(self.branches[number])}"


def collect(root, build):
    files = collections.defaultdict(File)
    obj = build / "obj"
    folders = [(f, False) for f in sorted(obj.iterdir()) if f.is_dir() and f.name not in ("steps", "tests")]
    folders += [(obj / "steps", True)]          # the same sources once more, with atomics that tests step through
    for folder, second_build in folders:
        for document in documents(root, folder):
            for file in document["files"]:
                for line in file["lines"]:
                    files[file["file"]].add(line, second_build)
    return files


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else ""


def table(rooms, files):
    rows = ["| room | lines | reached, % | branches | taken, % |", "|---|---:|---:|---:|---:|"]
    total = [0] * 4
    for room in rooms:
        figures = [sum(c) for c in zip([0] * 4, *(f.figures() for name, f in files.items() if name.rpartition("/")[0] == room))]
        total = [a + b for a, b in zip(total, figures)]
        lines, reached, branches, taken = figures
        if lines:
            rows.append(f"| `{room}/` | {lines} | {percent(reached, lines)} | {branches} | {percent(taken, branches)} |")
    lines, reached, branches, taken = total
    rows.append(f"| **all** | {lines} | **{percent(reached, lines)}** | {branches} | **{percent(taken, branches)}** |")
    return "\n".join(rows) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(sys.argv[1]).resolve()
    rooms = rooms_of(root / "docs/architecture.md")
    files = {name: f for name, f in collect(root, build).items() if name.rpartition("/")[0] in rooms}
    with open(build / "uncovered.txt", "w") as out:
        for name in sorted(files):
            text = (root / name).read_text(errors="replace").split("\n")
            for number, why in files[name].missing():
                print(f"{name}:{number}: {why}: {text[number - 1].strip()}", file=out)
    text = table(rooms, files)
    print(text + f"lines that were not reached: {build.relative_to(root)}/uncovered.txt")
    if len(sys.argv) > 2:
        (root / sys.argv[2]).write_text("# Coverage\n\n" + NOTE + "\n" + text)


if __name__ == "__main__":
    main()
