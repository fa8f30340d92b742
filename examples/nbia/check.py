#!/usr/bin/env python3
"""nbia beside scikit-image: check.py DUMPS. DUMPS is the folder of `nbia --rate=1 --dump='*'`.

Of the levels that nbia made: graycomatrix's counts, exact, and graycoprops' contrast, correlation, energy and homogeneity, 1e-6
relative. Of L*: local_binary_pattern with 8 points at radius 1. It interpolates with other roundings, so a pixel of an even area can
get another pattern: 99.5 % must be equal.
"""
import glob
import os
import sys

try:
    import numpy as np
    from skimage.feature import graycomatrix, graycoprops, local_binary_pattern
except ImportError as error:
    print(f'skipped: scikit-image: {error}')
    sys.exit(0)

failed = 0


def verdict(good, what, figure):
    global failed
    failed += not good
    print('ok' if good else 'FAILED', what, f'({figure:.3g})')


def main(folder):
    counts_wrong, features_off, patterns_equal, n = 0, 0.0, 1.0, 0
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), 'main.analyse#*.lab.q.*.npy'))):
        of = lambda port: np.load(path.replace('lab.q', port))
        q, pairs, features, lightness, code = np.load(path), of('beside.pairs'), of('together.v'), of('lab.l'), of('patterns.code')
        for c in range(3):
            levels = q[:, c]
            m = graycomatrix(levels, [1], [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4], 32)[:, :, 0, :]
            counts_wrong += int((np.moveaxis(m, 2, 0) != pairs[c]).sum())
            m = graycomatrix(levels, [1], [0, np.pi / 4, np.pi / 2, 3 * np.pi / 4], 32, symmetric=True, normed=True)
            for i, name in enumerate(['contrast', 'correlation', 'energy', 'homogeneity']):
                want = graycoprops(m, name).mean()
                features_off = max(features_off, abs(features[6 * c + i] - want) / max(abs(want), 1e-3))
        patterns_equal = min(patterns_equal, (local_binary_pattern(lightness.astype(float), 8, 1, 'uniform') == code).mean())
        n += 1
    verdict(n > 0, 'tiles and resolutions beside scikit-image', n)
    verdict(counts_wrong == 0, 'co-occurrence: counts that differ', counts_wrong)
    verdict(features_off <= 1e-6, 'co-occurrence: largest relative difference of a property', features_off)
    verdict(patterns_equal >= 0.995, 'patterns: least part that is equal', patterns_equal)


main(sys.argv[1])
sys.exit(1 if failed else 0)
