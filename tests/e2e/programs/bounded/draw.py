"""Random graphs of the kernels of kernels.df, and what they print: draw.py SEED NODES WAVES writes graph.df and, computed here, `want`."""
import random
import sys

seed, n_nodes, n_waves = map(int, sys.argv[1:])
draw = random.Random(seed)
lines, streams = [], []                 # streams: (name, kind of its extents, bounds, function from a wave to a token or None)


def new(kind, bounds, of_wave):
    memory = {}

    def token(wave):
        if wave not in memory:
            made = of_wave(wave)
            memory[wave] = made if made and len(made[1]) else None
        return memory[wave]
    streams.append((f"s{len(streams)}", kind, bounds, token))
    return streams[-1][0]


def mapped(source, extents, element):
    """The token of each wave by that of `source`: extents(h, w), element(data, h, w, y, x)."""
    def of_wave(wave):
        token = source(wave)
        if not token:
            return None
        (h, w), data = token
        height, width = extents(h, w)
        if height < 1 or width < 1:
            return None
        return (height, width), [element(data, h, w, y, x) % 256 for y in range(height) for x in range(width)]
    return of_wave


def load():
    s = draw.randrange(6)

    def of_wave(wave):
        h, w = (wave * 7 + s * 3) % 13, (wave * 5 + s) % 10
        return (h, w), [(3 * i + wave + s) % 256 for i in range(h * w)]
    lines.append(f"{new(('load', len(streams)), (12, 9), of_wave)} = load({s});")


def edge(a):
    name, kind, (h, w), token = a
    if h < 3:
        return
    made = new(("edge", kind), (h - 2, w), mapped(token, lambda h, w: (h - 2, w), lambda d, h, w, y, x: d[y * w + x] + d[(y + 2) * w + x]))
    lines.append(f"{made} = edge({name});")


def wide(a):
    name, kind, (h, w), token = a
    if w > 40:
        return
    made = new(("wide", kind), (h, 2 * w), mapped(token, lambda h, w: (h, 2 * w), lambda d, h, w, y, x: d[y * w + x // 2] + x % 2))
    lines.append(f"{made} = wide({name});")


def bump(a):
    name, kind, bounds, token = a
    made = new(kind, bounds, mapped(token, lambda h, w: (h, w), lambda d, h, w, y, x: 5 * d[y * w + x] + 1))
    lines.append(f"{made} = bump({name});")


def rows(a):
    name, kind, (h, w), token = a

    def n_of(wave):
        (h, w), data = token(wave)
        return (data[0] + h) % 9

    def of_rows(wave):
        return mapped(token, lambda h, w: (n_of(wave), w), lambda d, h, w, y, x: d[y % h * w + x])(wave)

    def of_tall(wave):
        return mapped(token, lambda h, w: (w + 1, w), lambda d, h, w, y, x: d[x] + n_of(wave) + y)(wave)
    made = new(("rows", len(streams)), (8, w), of_rows)
    lines.append(f"({made}, k{made}) = rows({name});")
    other = new(("tall", kind), (w + 1, w), of_tall)
    lines.append(f"{other} = tall(k{made});")


def add(a):
    alike = [b for b in streams if b[1] == a[1]]
    b = draw.choice(alike)

    def of_wave(wave):
        one, two = a[3](wave), b[3](wave)
        return one and two and (one[0], [(x + y) % 256 for x, y in zip(one[1], two[1])])
    lines.append(f"{new(a[1], a[2], of_wave)} = add({a[0]}, {b[0]});")


def choose(a):
    alike = [b for b in streams if b[2] == a[2]]
    b, c = draw.choice(alike), draw.choice(alike)
    made = new(("select", len(streams)), a[2], lambda wave: a[3](wave) or b[3](wave) or c[3](wave))
    lines.append(f"{made} = select({a[0]}, {b[0]}, {c[0]});")


load()
load()
while len(streams) < n_nodes:
    kernel = draw.choice([load, edge, wide, bump, bump, rows, add, add, choose])
    kernel() if kernel is load else kernel(draw.choice(streams))
shown = [s for s in streams if draw.random() < 0.5] or streams[-1:]
with open("want", "w") as want:
    out = []
    for number, (name, _, _, token) in enumerate(shown):
        lines.append(f"show({name}, {number});")
        for wave in range(n_waves):
            if token(wave):
                (h, w), data = token(wave)
                out.append(f"{number} {wave} {h} {w} {sum((i + 1) * v for i, v in enumerate(data)) % 65521}")
    want.write("".join(line + "\n" for line in sorted(out)))
with open("graph.df", "w") as graph:
    graph.write('import "kernels.df";\ngraph main {\n' + "".join(f"    {line}\n" for line in lines) + "}\n")
