#!/usr/bin/env python3
"""ferret's distances beside SciPy's linear programming: check.py INDEX TABLE.csv DUMPS. Exit status 77: SciPy is missing.

Of the first rows of the table, each the transport problem of the two pictures' regions as they are defined: the sum of the differences of the
features, at most 4; what region i gives and region j gets are their shares.
"""
import csv
import os
import struct
import sys

try:
    import numpy as np
    from scipy.optimize import linprog
except ImportError:
    sys.exit(77)

ROWS = 120


def read_index(path):
    """{name: (features, shares)}"""
    data = open(path, 'rb').read()
    magic, regions, _, _, _, images, _, name_bytes, png_bytes = struct.unpack_from('<8s3qd4q', data)
    assert magic == b'ferret1\0'
    at = struct.calcsize('<8s3qd4q') + 8 * (images + 1)
    names = data[at:at + name_bytes].decode().split('\0')
    at += (name_bytes + 7) // 8 * 8 + 8 * (images + 1) + (png_bytes + 7) // 8 * 8
    known = np.frombuffer(data, np.float32, images * regions * 15, at).reshape(images, regions, 15).astype(float)
    return {name: (k[k[:, 14] > 0, :14], k[k[:, 14] > 0, 14] / 65536) for name, k in zip(names, known)}


def transport(a, supply, b, demand):
    cost = np.minimum(np.abs(a[:, None, :] - b[None, :, :]).sum(2), 4)
    n, m = cost.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    return linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([supply, demand]), method='highs').fun


def main(index, table, folder):
    known, wave, last, off, n = read_index(index), -1, None, 0.0, 0
    for row in list(csv.DictReader(open(table)))[:ROWS]:
        if row['query'] != last:
            wave, last = wave + 1, row['query']
            f = np.load(os.path.join(folder, f'main.extract.features.f.{wave}.npy')).astype(float)
            share = np.load(os.path.join(folder, f'main.extract.shares.share.{wave}.npy')) / 65536
        off = max(off, abs(transport(f, share, *known[row['picture']]) - float(row['distance'])))
        n += 1
    good = n > 0 and off < 1e-3
    print('ok' if good else 'FAILED', f'search: largest difference of {n} distances from linear programming ({off:.3g})')
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
