"""What marks.c prints."""
K = 10


def line(name, token, width=1):
    rows = len(token) // width
    e = (rows, width) if token else (0, 0)
    print(f"{name}[{e[0]}, {e[1]}]:" + ("".join(f" {x}" for x in token) or " -"))


def wave(w, t, kinds):
    v = [i * 7 % (w + 3) for i in range(K)]
    at = [i for i in range(K) if v[i] > t]
    m = len(at) % 3 + 1
    gap = [b - a for a, b in zip(at, at[1:])]
    kinds |= set(gap)
    line("at", at)
    line("rows", [x for i in range(m) for x in (i, len(at))], 2)
    line("gap", gap)


for t in (0, 2, 4):
    kinds = set()
    wave(1, t, kinds)
    line("kinds", [1, *sorted(kinds)])
kinds = set()
for w in range(4):
    wave(w, 3, kinds)
line("kinds", [4, *sorted(kinds)])
