#!/usr/bin/env python3
"""The search of ferret.df as a person would write it with NumPy and OpenCV, on one thread: peer.py index PICTURES.txt INDEX.npz | peer.py
search QUERIES.txt INDEX.npz TABLE.csv

cv2.kmeans of the same five planes, from the same number of clusters; features by NumPy; the nearest regions of all by one matrix of
differences, in place of hashing; cv2.EMD of the candidates. No small pictures and no page.
"""
import csv
import sys

import cv2
import numpy as np

CLUSTERS, ROUNDS, TOP, FARTHEST = 12, 6, 10, 4.0
SCALE = np.array([48, 24, 24, 32, 16, 16, 64, 32, 32], np.float32)
cv2.setNumThreads(1)


def segment(colours):
    h, w = colours.shape[:2]
    place = np.stack(np.meshgrid(np.arange(w) * 255 // w, np.arange(h) * 255 // h), 2)
    planes = np.concatenate([cv2.blur(colours, (7, 7)), place], 2).astype(np.float32) * np.sqrt(np.float32([3, 4, 4, 1, 1]))
    stop = (cv2.TERM_CRITERIA_MAX_ITER, ROUNDS, 0)
    _, label, centre = cv2.kmeans(planes.reshape(-1, 5), CLUSTERS, None, stop, 1, cv2.KMEANS_PP_CENTERS)
    label = label.reshape(h, w)
    return join(label, centre[:, :3])


def join(label, colour):
    """Touching clusters with like colours become one."""
    into, count = np.arange(CLUSTERS), np.bincount(label.ravel(), minlength=CLUSTERS).astype(float)
    touching = np.zeros((CLUSTERS, CLUSTERS), bool)
    touching[label[:, 1:], label[:, :-1]] = touching[label[1:], label[:-1]] = True
    touching |= touching.T
    while True:
        d = ((colour[:, None] - colour[None]) ** 2).sum(2) * 8
        alive = count > 0
        pairs = np.triu(touching, 1) & alive[:, None] & alive
        small = count * 200 < label.size
        either = pairs & (small[:, None] | small)
        allowed = either if either.any() else pairs & (d < 2600)
        if not allowed.any():
            break
        a, b = np.unravel_index(np.where(allowed, d, np.inf).argmin(), d.shape)
        colour[a] = (colour[a] * count[a] + colour[b] * count[b]) / (count[a] + count[b])
        count[a] += count[b]
        count[b] = 0
        touching[a] |= touching[b]
        touching[:, a] |= touching[:, b]
        into[into == b] = a
    return into[label]


def describe(path):
    image = cv2.imread(path)
    colours = cv2.cvtColor(image, cv2.COLOR_BGR2YCrCb)
    label = segment(colours)
    h, w = label.shape
    rows, roots = [], []
    for k in np.unique(label):
        y, x = np.nonzero(label == k)
        v = colours[y, x].astype(np.float64)
        mean = v.mean(0)
        apart = v - mean
        moments = np.concatenate([mean, np.sqrt((apart ** 2).mean(0)), np.cbrt((apart ** 3).mean(0))]) / SCALE
        bw, bh = np.ptp(x) + 1, np.ptp(y) + 1
        rows.append([*moments, np.log(bw / bh) / 2, np.sqrt(bw * bh / (w * h)), len(x) / (bw * bh), 2 * x.mean() / w, 2 * y.mean() / h])
        roots.append(np.sqrt(len(x)))
    roots = np.array(roots, np.float32)
    return np.array(rows, np.float32), roots / roots.sum()


def index(pictures, path):
    names, features, shares, of = open(pictures).read().split(), [], [], []
    for i, name in enumerate(names):
        f, s = describe(name)
        features.append(f)
        shares.append(s)
        of += [i] * len(f)
    np.savez(path, names=names, features=np.concatenate(features), shares=np.concatenate(shares), of=of)


def search(queries, path, table):
    data = np.load(path)
    names, known, known_share, of = (data[key] for key in ('names', 'features', 'shares', 'of'))
    begin = np.searchsorted(of, np.arange(len(names) + 1))
    out = csv.writer(open(table, 'w'))
    for name in open(queries).read().split():
        f, share = describe(name)
        apart = np.minimum(np.abs(f[:, None] - known[None]).sum(2), FARTHEST)
        candidates = set()
        for row in apart:
            nearest = of[np.argsort(row)]
            _, first = np.unique(nearest, return_index=True)
            candidates.update(nearest[np.sort(first)[:2 * TOP]])
        found = []
        for c in candidates:
            at = slice(begin[c], begin[c + 1])
            cost = np.ascontiguousarray(apart[:, at])
            found.append((cv2.EMD(share[:, None], known_share[at][:, None], cv2.DIST_USER, cost=cost)[0], c))
        for rank, (d, c) in enumerate(sorted(found)[:TOP]):
            out.writerow([name, rank + 1, names[c], f'{d:.6f}'])


(index if sys.argv[1] == 'index' else search)(*sys.argv[2:])
