#!/usr/bin/env python3
"""The same analysis with NumPy and scikit-image, as one would write it: peer.py SLIDE.png TILE [WORKERS]

Each tile is read, brought to three resolutions and analysed in all of them (nbia's --rate=1), and its features are printed to a file.
"""
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from skimage import color, io
from skimage.feature import graycomatrix, graycoprops, local_binary_pattern

ANGLES = [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4]


def quarter(t):
    h, w, c = t.shape
    return ((t.reshape(h // 4, 4, w // 4, 4, c).sum((1, 3), dtype=np.int32) + 8) // 16).astype(np.uint8)


def features(t):
    lab = color.rgb2lab(t)
    levels = np.clip(np.floor((lab + [0, 128, 128]) / [100, 256, 256] * 32), 0, 31).astype(np.uint8)
    out = []
    for c in range(3):
        m = graycomatrix(levels[..., c], [1], ANGLES, 32, symmetric=True, normed=True)
        out += [graycoprops(m, name).mean() for name in ('contrast', 'correlation', 'energy', 'homogeneity')]
        out.append(-(m * np.log(m, where=m > 0, out=np.zeros_like(m))).sum((0, 1)).mean())
        out.append((m * np.arange(32)[:, None, None, None]).sum((0, 1)).mean())
    codes = local_binary_pattern(lab[..., 0], 8, 1, 'uniform')
    return out + list(np.bincount(codes.astype(int).ravel(), minlength=10) / codes.size)


def tile(t):
    low = quarter(quarter(t))
    return [features(low), features(quarter(t)), features(t)]


def main():
    n = int(sys.argv[2])
    slide = io.imread(sys.argv[1])
    h, w, _ = slide.shape
    slide = np.pad(slide, ((0, -h % n), (0, -w % n), (0, 0)), 'edge')
    tiles = [slide[y:y + n, x:x + n] for y in range(0, h, n) for x in range(0, w, n)]
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if workers == 1:
        rows = [tile(t) for t in tiles]
    else:
        with ProcessPoolExecutor(workers) as pool:
            rows = list(pool.map(tile, tiles))
    np.save('peer.npy', np.array(rows))


main()
