#!/usr/bin/env python3
"""Draws the rooms of the tree: tests/rooms_figure.py [--check | OUT.svg]

The rooms and what they are for come from the table "## Rooms" of docs/architecture.md. They stand in the opposite order, from left to right and
from top to bottom, so a room may know those below it and to its right. Neighbours of one folder share a frame. Without OUT.svg the picture is
docs/figures/rooms.svg. With --check nothing is written: `ok figure` is printed if that picture is up to date, else `not ok figure: why`.
"""
import html
import itertools
import pathlib
import re
import sys
import textwrap

from rooms import rooms_with_words

COLUMNS, WIDTH, HEIGHT, GAP = 4, 192, 62, 10
LEFT, TOP, LABEL = 24, 50, 106                      # of the frames, and the room in them for the folder's name
FRAME = LABEL + COLUMNS * (WIDTH + GAP)
RIGHT = LEFT + FRAME
MOST_LETTERS = 32                                   # of a line in a box

# What holds a room, by the longest beginning of its name, with the colours of box and edge (the Makefile's *_SRC).
LIBRARIES = {
    "libdf.a": (("runtime", "memmgr"), "#dbe8f6", "#3b6ea5"),
    "libdf-cuda.a": (("runtime/cuda",), "#dff0d8", "#4d8a3c"),
    "libdf-mpi.so": (("runtime/mpi",), "#f3e0f0", "#8c4a86"),
    "libdfplan.a": (("partition",), "#fde8cf", "#c07a1e"),
    "libdffront.a": (("dsl", "profiles/estimate", "compiler/types", "compiler/formula", "compiler/proof", "compiler/fusion", "compiler/declare", "compiler/elab",
                     "compiler/count", "compiler/divide", "compiler/front"), "#f7f0c4", "#9c8a1a"),
    "libdfdriver.a": (("profiles", "compiler"), "#e6e6ea", "#6b6b76"),
    "the program": (("runtime/std",), "#ffffff", "#6b6b76"),
}
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-labelledby="t">
<title id="t">The rooms of the tree: each knows those below it and to its right</title>
<!-- made by tests/rooms_figure.py; look at it: rsvg-convert -o /tmp/figure.png THIS.svg -->
<style>
  text {{ font-family: "DejaVu Sans", Verdana, sans-serif; fill: #1b1b20; }}
  .head {{ font-size: 18px; font-weight: bold; }}
  .band {{ font-size: 14px; font-weight: bold; }}
  .room {{ font-size: 13.5px; font-weight: bold; }}
  .says {{ font-size: 10px; fill: #3c3c44; }}
  .note {{ font-size: 12px; fill: #3c3c44; }}
</style>
<rect width="{w}" height="{h}" rx="10" fill="#ffffff"/>
<text class="head" x="24" y="34">The rooms: a room may know those below it and to its right, no others</text>"""


def colours_of(room):
    beginnings = {beginning: colours for beginnings, *colours in LIBRARIES.values() for beginning in beginnings}
    return beginnings[max((b for b in beginnings if f"{room}/".startswith(f"{b}/")), key=len)]


def text(kind, x, y, words, middle=True):
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{anchor}>{html.escape(words, quote=False)}</text>'


def box(room, words, x, y, width):
    """A room: its name, and what it is for."""
    fill, edge = colours_of(room)
    words = re.sub(r" \(\[.*?\)\)|`", "", words)        # no links to pages
    lines = textwrap.wrap(words, round(MOST_LETTERS * width / WIDTH))
    yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="6" fill="{fill}" stroke="{edge}" stroke-width="1.3"/>'
    yield text("room", x + width / 2, y + 17, room.rpartition("/")[2] if "/" in room else f"{room}/")
    for number, line in enumerate(lines):
        yield text("says", x + width / 2, y + 31 + 12 * number, line)


def rows_of(rooms):
    """The rooms of a folder in rows: full ones below, and above them a shorter one whose boxes are wider."""
    first = len(rooms) % COLUMNS
    return [rooms[:first]] * bool(first) + [rooms[i:i + COLUMNS] for i in range(first, len(rooms), COLUMNS)]


def band(folder, rows, y):
    """A frame with the rooms of a folder."""
    yield f'<rect x="{LEFT}" y="{y}" width="{FRAME}" height="{len(rows) * (HEIGHT + GAP) + GAP}" rx="8" fill="#f6f6f8" stroke="#c9c9d0"/>'
    yield text("band", LEFT + 12, y + 22, f"{folder}/", middle=False)
    for number, row in enumerate(rows):
        width = (FRAME - LABEL - GAP * len(row)) / len(row)
        for column, (room, words) in enumerate(row):
            yield from box(room, words, LEFT + LABEL + column * (width + GAP), y + GAP + number * (HEIGHT + GAP), width)


def legend(y):
    for number, (name, (_, fill, edge)) in enumerate(LIBRARIES.items()):
        x = LEFT + 126 * number
        yield f'<rect x="{x}" y="{y}" width="18" height="18" rx="3" fill="{fill}" stroke="{edge}"/>' + text("note", x + 26, y + 14, name, middle=False)
    yield text("note", LEFT + 126 * len(LIBRARIES) + 10, y + 14, "(what holds it)", middle=False)


def picture(rooms):
    y, lines = TOP, []
    for folder, several in itertools.groupby(reversed(rooms), lambda room: room[0].partition("/")[0]):
        rows = rows_of(list(several))
        lines += band(folder, rows, y)
        y += len(rows) * (HEIGHT + GAP) + 2 * GAP
    middle = (TOP + y) // 2
    lines.append(f'<path d="M {RIGHT + 38} {TOP + 14} V {y - 34}" stroke="#3c3c44" stroke-width="2" fill="none"/>'
                 f'<path d="M {RIGHT + 31} {y - 38} l 7 20 l 7 -20 Z" fill="#3c3c44"/>')
    lines.append(f'<text class="band" x="0" y="0" transform="translate({RIGHT + 60} {middle}) rotate(90)" text-anchor="middle">knows</text>')
    return "\n".join([HEAD.format(w=RIGHT + 88, h=y + 50), *lines, *legend(y + 12), "</svg>", ""])


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    figure = root / "docs/figures/rooms.svg"
    made = picture(rooms_with_words(root / "docs/architecture.md"))
    if sys.argv[1:] == ["--check"]:
        same = figure.read_text() == made
        print("ok figure" if same else "not ok figure: docs/figures/rooms.svg is not what tests/rooms_figure.py makes of docs/architecture.md: run it")
        return not same
    if len(sys.argv) > 2 or any(word.startswith("-") for word in sys.argv[1:]):
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else figure).write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
