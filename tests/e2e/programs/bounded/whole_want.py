"""What the graph of whole.df gives for four waves, as whole.c prints it; with the argument 'call', the module whole.py is called, too."""
import sys

N, X, LEAST, SIZES = 12, 5, 3, [(2, 3), (6, 8), (1, 1), (3, 4)]


def picture(wave):
    h, w = SIZES[wave]
    return [[wave + (y * w + x) * 5 % 11 for x in range(w)] for y in range(h)]


def array(wave):
    return [[(wave * 7 + y * X + x) % 13 - 4 for x in range(X)] for y in range(N)]


def line(name, rows):
    print(f"{name}:", "-" if rows is None else " ".join(str(v) for row in rows for v in row))


def want():
    total, most, hits = [[0] * X for _ in range(N)], [-1 << 31] * X, [0, 0]
    for wave in range(4):
        q = [[3 * v for v in row] for row in picture(wave)]
        skipped = q[0][0] % 2
        s = [[-v if skipped else v // 2 for v in row] for row in q]
        at = [i for i, v in enumerate(v for row in s for v in row) if v >= LEAST][:40]
        a = array(wave)
        b = [[sum(a[k][x] for k in range(max(y - 1, 0), min(y + 2, N))) for x in range(X)] for y in range(N)]
        line("half", None if skipped else s)
        line("s", s)
        line("at", [at] if at else None)
        line("b", b)
        total = [[t + v for t, v in zip(*rows)] for rows in zip(total, b)]
        most = [max(pair) for pair in zip(most, b[0])]
        hits = [hits[0] + len(at), hits[1] + 1] if at else hits
    line("total", total)
    line("most", [most])
    line("result", [[sum(map(sum, total)), *hits]])


def call(options):
    import numpy as np
    import whole

    graph = whole.whole.copy(options)
    half, s, at, b, total, most, result = graph([np.array(picture(w), "i4") for w in range(4)],
                                                np.array([array(w) for w in range(4)], "i4"), waves=4, least=LEAST)
    for wave in range(4):
        line("half", half[wave])
        line("s", s[wave])
        line("at", None if at[wave] is None else [at[wave]])
        line("b", b[wave])
    line("total", total)
    line("most", [most])
    line("result", [result])


if len(sys.argv) > 1:
    call(sys.argv[1])
else:
    want()
