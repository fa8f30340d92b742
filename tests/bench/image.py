#!/usr/bin/env python3
"""Functions of std/image.df beside scikit-image, SciPy and OpenCV, from Python: image.py BUILDDIR [--height=480] [--width=640] [--runs=15] [--workers=1]

Each function runs on a picture of u8 in turns with what its peers offer for it, one call after the other, RUNS times. Prints a table of medians in ms and of the
medians of the pairs' ratios. A peer that is not installed, or has no such function, has no figure. Needs python3-numpy and python3-scipy; python3-skimage and
python3-opencv where they are.
"""
import argparse
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("build")
parser.add_argument("--height", type=int, default=480)
parser.add_argument("--width", type=int, default=640)
parser.add_argument("--runs", type=int, default=15)
parser.add_argument("--workers", type=int, default=1)
given = parser.parse_args()
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
sys.path.insert(0, os.path.join(given.build, "share/dfc/python"))

import dfc                                      # noqa: E402
import numpy as np                              # noqa: E402
from scipy import ndimage                       # noqa: E402

try:
    from skimage import color, exposure, filters, morphology, transform
except ImportError:
    color = exposure = filters = morphology = transform = None
try:
    import cv2
    cv2.setNumThreads(given.workers)
except ImportError:
    cv2 = None

SQUARE = np.ones((7, 7), np.uint8)
HALF = (given.height // 2, given.width // 2)
# name: ports behind `in a`, body, keywords, scikit-image, SciPy, OpenCV
FUNCTIONS = {
    "gaussian, sigma 2": ("out o: f32[h, w]; s: f32", "o = gaussian(a, s);", {"s": 2},
                          lambda a: filters.gaussian(a, 2, preserve_range=True), lambda a: ndimage.gaussian_filter(a, 2, output=np.float32),
                          lambda a: cv2.GaussianBlur(a, (17, 17), 2)),
    "gaussian, sigma 15": ("out o: f32[h, w]; s: f32", "o = gaussian(a, s);", {"s": 15},
                           lambda a: filters.gaussian(a, 15, preserve_range=True), lambda a: ndimage.gaussian_filter(a, 15, output=np.float32),
                           lambda a: cv2.GaussianBlur(a, (121, 121), 15)),
    "box, r 7": ("out o: f32[h, w]; n: i32", "o = box(a, n);", {"n": 7}, None, lambda a: ndimage.uniform_filter(a, 15, output=np.float32), lambda a: cv2.blur(a, (15, 15))),
    "median3": ("out o: u8[h, w]", "o = median3(a);", {}, lambda a: filters.median(a, np.ones((3, 3))), lambda a: ndimage.median_filter(a, 3), lambda a: cv2.medianBlur(a, 3)),
    "sobel": ("out o: f32[h, w]", "o = sobel(a);", {}, lambda a: filters.sobel(a),
              lambda a: np.hypot(ndimage.sobel(a, 0, np.float32), ndimage.sobel(a, 1, np.float32)),
              lambda a: cv2.magnitude(cv2.Sobel(a, cv2.CV_32F, 1, 0), cv2.Sobel(a, cv2.CV_32F, 0, 1))),
    "laplacian": ("out o: f32[h, w]", "o = laplacian(a);", {}, lambda a: filters.laplace(a), lambda a: ndimage.laplace(a, np.float32), lambda a: cv2.Laplacian(a, cv2.CV_32F)),
    "unsharp, sigma 2": ("out o: f32[h, w]; s: f32, k: f32", "o = unsharp(a, s, k);", {"s": 2, "k": 0.5}, lambda a: filters.unsharp_mask(a, 2, 0.5, preserve_range=True), None, None),
    "erode, r 3": ("out o: u8[h, w]; n: i32", "o = erode(a, n);", {"n": 3}, lambda a: morphology.erosion(a, SQUARE), lambda a: ndimage.grey_erosion(a, (7, 7)), lambda a: cv2.erode(a, SQUARE)),
    "opening, r 3": ("out o: u8[h, w]; n: i32", "o = opening(a, n);", {"n": 3}, lambda a: morphology.opening(a, SQUARE), lambda a: ndimage.grey_opening(a, (7, 7)),
                     lambda a: cv2.morphologyEx(a, cv2.MORPH_OPEN, SQUARE)),
    "tophat, r 3": ("out o: u8[h, w]; n: i32", "o = tophat(a, n);", {"n": 3}, lambda a: morphology.white_tophat(a, SQUARE), lambda a: ndimage.white_tophat(a, (7, 7)),
                    lambda a: cv2.morphologyEx(a, cv2.MORPH_TOPHAT, SQUARE)),
    "adaptive, r 7": ("out o: u8[h, w]; n: i32, c: f32", "o = adaptive(a, n, c);", {"n": 7, "c": 2}, lambda a: a > filters.threshold_local(a, 15, "mean", -2), None,
                      lambda a: cv2.adaptiveThreshold(a, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 15, -2)),
    "otsu": ("out t: f32", "t = otsu(a);", {}, lambda a: filters.threshold_otsu(a), None, lambda a: cv2.threshold(a, 0, 255, cv2.THRESH_OTSU)),
    "histogram": ("out n: i32[256]", "n = histogram(a);", {}, lambda a: exposure.histogram(a), None, lambda a: cv2.calcHist([a], [0], None, [256], [0, 256])),
    "equalise": ("out o: u8[h, w]", "o = equalise(a);", {}, lambda a: exposure.equalize_hist(a), None, lambda a: cv2.equalizeHist(a)),
    "normalise": ("out o: f32[h, w]", "o = normalise(a);", {}, lambda a: exposure.rescale_intensity(a, out_range=(0.0, 1.0)), None,
                  lambda a: cv2.normalize(a, None, 0, 1, cv2.NORM_MINMAX, cv2.CV_32F)),
    "bilinear to a half": (f"out o: f32[{HALF[0]}, {HALF[1]}]", "o = bilinear(a);", {}, lambda a: transform.resize(a, HALF, 1, anti_aliasing=False), None,
                           lambda a: cv2.resize(a, HALF[::-1])),
    "pyramid_down": ("out o: f32[(h + 1) / 2, (w + 1) / 2]", "o = pyramid_down(a);", {}, lambda a: transform.pyramid_reduce(a, 2), None, lambda a: cv2.pyrDown(a)),
    "turned_right": ("out o: u8[w, h]", "o = turned_right(a);", {}, None, lambda a: np.ascontiguousarray(np.rot90(a, -1)), lambda a: cv2.rotate(a, cv2.ROTATE_90_CLOCKWISE)),
    "hsv": ("out o: f32[h, w, 3]", "o = hsv(a);", {}, lambda a: color.rgb2hsv(a), None, lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2HSV)),
    "lab": ("out o: f32[h, w, 3]", "o = lab(a);", {}, lambda a: color.rgb2lab(a), None, lambda a: cv2.cvtColor(a, cv2.COLOR_RGB2LAB)),
}
PEERS = {"scikit-image": filters, "SciPy": ndimage, "OpenCV": cv2}


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def figures(mine, theirs):
    """Medians of both in ms, and of the ratios of calls in turns."""
    mine(), theirs()
    pairs = [(seconds(mine), seconds(theirs)) for _ in range(given.runs)]
    return 1e3 * statistics.median(p[0] for p in pairs), 1e3 * statistics.median(p[1] for p in pairs), statistics.median(a / b for a, b in pairs)


rng = np.random.default_rng(3)
grey, rgb = rng.integers(0, 256, (given.height, given.width), np.uint8), rng.integers(0, 256, (given.height, given.width, 3), np.uint8)
library = dfc.compile('import "std/image.df";\n' + "".join(
    f"graph f{i}(in a: u8[h, w{', 3' if name in ('hsv', 'lab') else ''}], {ports}) {{ {body} }}\n" for i, (name, (ports, body, *_)) in enumerate(FUNCTIONS.items())),
    options=f"--workers={given.workers} --device=none", flags=["-w"])
print(f"| {given.height} by {given.width} of u8, ms | dfc | " + " | ".join(f"{peer} | ratio" for peer in PEERS) + " |")
print("|---" * (2 + 2 * len(PEERS)) + "|")
for i, (name, (_, _, keywords, *peers)) in enumerate(FUNCTIONS.items()):
    a, call, cells, mine = rgb if name in ("hsv", "lab") else grey, getattr(library, f"f{i}"), [], []
    for (peer, module), theirs in zip(PEERS.items(), peers):
        if not module or not theirs:
            cells.append("- | -")
            continue
        own, other, ratio = figures(lambda: call(a, **keywords), lambda: theirs(a))
        mine.append(own)
        cells.append(f"{other:.2f} | {ratio:.2f}")
    print(f"| {name} | {statistics.median(mine or [1e3 * seconds(lambda: call(a, **keywords))]):.2f} | " + " | ".join(cells) + " |", flush=True)
