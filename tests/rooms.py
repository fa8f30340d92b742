#!/usr/bin/env python3
"""Checks that the rooms of the tree know only the rooms above them: tests/rooms.py [BUILDDIR]

The table "## Rooms" of docs/architecture.md lists the rooms, lowest first. A room may include headers, and use functions and variables, of
the rooms that stand before it in that table, and of no other. Includes are read from the sources, symbols from the objects of BUILDDIR with nm.
Prints a line for each room, as tests do: `ok NAME`, or `not ok NAME: why`.
"""
import collections
import pathlib
import re
import subprocess
import sys

TOPS = ("dsl", "runtime", "memmgr", "partition", "profiles", "compiler")


def rooms_with_words(page):
    """The rooms that the page's table lists, in its order, each with what it is for."""
    table = page.read_text().split("\n## Rooms\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `([a-z/]+)/` \| (.*) \|$", table, re.M)


def rooms_of(page):
    return [room for room, _ in rooms_with_words(page)]


def includes(source):
    return re.findall(r'^[ \t]*#[ \t]*include "([^"]+)"', source.read_text(), re.M)


def symbols(objects):
    """Names that the object files define for others, and names that they need: {name: file}, {file: names}."""
    defined, needed = {}, collections.defaultdict(set)
    if not objects:
        return defined, needed
    listing = subprocess.run(["nm", "-A", *map(str, objects)], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        file, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind == "U":
            needed[file].add(name)
        elif kind in "TDBRV":
            defined[name] = file
    return defined, needed


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    rooms = rooms_of(root / "docs/architecture.md")
    place = {room: number for number, room in enumerate(rooms)}
    wrong = collections.defaultdict(list)
    files = [f for top in TOPS for f in sorted((root / top).rglob("*")) if f.suffix in (".c", ".h", ".l", ".y")]

    for file in files:
        room, name = str(file.parent.relative_to(root)), file.name
        if room not in place:
            wrong[room].append(f"{name} lies in a room that docs/architecture.md does not list")
            continue
        for header in includes(file):
            other = header.rpartition("/")[0]
            if other != room and other in place and place[other] > place[room]:
                wrong[room].append(f"{name} includes {header}")
    for room in rooms:
        if not (root / room).is_dir():
            wrong[room].append("is no folder")

    if len(sys.argv) > 1:
        built = pathlib.Path(sys.argv[1]) / "obj"
        of = {str(built / f.relative_to(root).with_suffix(".o")): f for f in files if f.suffix == ".c"}
        defined, needed = symbols([o for o in of if pathlib.Path(o).exists()])
        for user, names in needed.items():
            room = str(of[user].parent.relative_to(root))
            for name in sorted(names & defined.keys()):
                other = str(of[defined[name]].parent.relative_to(root))
                if room in place and other in place and place[other] > place[room]:
                    wrong[room].append(f"{of[user].name} uses {name}() of {of[defined[name]].relative_to(root)}")

    for room in list(rooms) + [r for r in wrong if r not in place]:
        for why in wrong[room]:
            print(f"not ok {room}: {why}")
        if not wrong[room]:
            print(f"ok {room}")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
