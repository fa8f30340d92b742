"""What the kernels of streams.c compute, in Python. A token is (rows, columns, numbers), and None if it is empty."""
M = 2**32 - 1


def draw(w, s):
    return (((w * 2654435761 + s * 40503) & M) >> 11) & 7


def fill(h, w, s, wave):
    return h, w, [((s * 2654435761) & M) ^ ((i * 40503 + wave * 97) & M) for i in range(h * w)]


def each(function, a, *others):
    """Element by element: function(i, a[i], …)."""
    h, w, v = a
    return h, w, [function(i, *x) & M for i, x in enumerate(zip(v, *(o[2] for o in others)))]


def signed(v):
    return v - 2**32 if v >= 2**31 else v


def rows_of(a):
    h, w, v = a
    return [v[r * w:(r + 1) * w] for r in range(h)]


def of_rows(w, rows):
    return (len(rows), w, [v & M for row in rows for v in row]) if rows and w else None


def load(wave, s):
    h, w = (wave * 7 + 3 * s) % 13, (wave * 5 + s) % 6
    return fill(h, w, s, wave) if h and w else None


def add(a, b):
    n = len(a[2])
    return each(lambda i, v: v + 3 * b[2][n - 1 - i], a)


def less(a):
    r = rows_of(a)
    return of_rows(a[1], [[u - v for u, v in zip(r[i], r[i + 1])] for i in range(a[0] - 1)])


def wide(a):
    return a[0], 2 * a[1], [(v + k) & M for v in a[2] for k in (0, 1)]


def cut(a, wave, s):
    r, n = rows_of(a), ((a[2][0] + wave + s) & M) % 9
    return of_rows(a[1], [r[i % a[0]] for i in range(n)])


def blur(a, t):
    r, t = rows_of(a), t[2]
    return of_rows(a[1], [[i + sum(t[d % len(t)] * r[i + d - 2][j] for d in range(5) if 0 <= i + d - 2 < a[0]) for j in range(a[1])]
                          for i in range(a[0])])


def near(a, b):
    r, s = rows_of(a), rows_of(b)
    return (of_rows(a[1], [[u + 3 * v for u, v in zip(r[min(i + 1, a[0] - 1)], s[i])] for i in range(a[0])]),
            of_rows(a[1], [[((3 * v) & M) ^ i for v in s[i]] for i in range(a[0])]))


def has_hole(a, wave, s):
    return draw(wave, s) * a[0] // 4 < a[0]


def bins(h, a):
    h = h[2][:]
    for i, v in enumerate(a[2]):
        h[i % 12] = (h[i % 12] * 3 + v) & M
    h[12] = (h[12] * 3 + a[0]) & M
    return 13, 1, h


def digest(a):
    h = 2166136261
    for x in a[2]:
        h = ((h ^ x) * 16777619) & M
    return h


# ---- formulas ----

def smooth(a):
    """border clamp along rows and columns."""
    h, w, v = a

    def at(i, j):
        return v[max(0, min(h - 1, i)) * w + max(0, min(w - 1, j))]
    return h, w, [(at(i - 2, j) + 2 * at(i, j - 1) + at(i + 1, j) + i) & M for i in range(h) for j in range(w)]


def inner(a):
    h, w, v = a
    if h < 3:
        return None
    return h - 2, w, [(v[i * w + j] - 2 * v[(i + 1) * w + j] + v[(i + 2) * w + j]) & M for i in range(h - 2) for j in range(w)]
