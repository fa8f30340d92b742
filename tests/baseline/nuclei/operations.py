#!/usr/bin/python3
"""What single operations of examples/nuclei take beside OpenCV's, on one thread: operations.py PICTURE.png

The library of operations.df (`dfc --lib --python -o libfunctions.so`) is in the working directory. One process calls our operation ten times, then OpenCV's ten times,
and does so five times. The least time of each counts. Both have the same pixels, and write into arrays that are there already. OpenCV's functions allocate what they need
beside that: the padded picture of `fill_holes`. Where results must be the same, they are compared.
"""
import sys
import time

import cv2
import numpy as np

import pipeline

sys.path.insert(0, ".")
import functions  # noqa: E402

TURNS, CALLS = 5, 10


def seconds(run):
    """The least of some calls."""
    least = float("inf")
    for _ in range(CALLS):
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
    return least


def anything(a, b):
    return True


def same_parts(a, b):
    """Labels of the same components, in whatever order they are numbered."""
    return len(np.unique(a.astype(np.int64) << 32 | b)) == a.max() + 1 == b.max() + 1


def compare(name, ours, theirs, same=np.array_equal):
    times = [(seconds(ours), seconds(theirs)) for _ in range(TURNS)]
    if not same(ours(), theirs()):
        sys.exit(f"{name}: the results differ")
    own, other = (1e3 * min(t) for t in zip(*times))
    print(f"    {name:34} {own:8.2f} ms  OpenCV {other:8.2f} ms  {other / own:6.2f} times as fast")


def fill_holes(mask):
    """What the background around the picture reaches by 4 neighbours is no hole."""
    padded = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    cv2.floodFill(padded, None, (0, 0), 2)
    return (padded[1:-1, 1:-1] != 2).astype(np.uint8)


cv2.setNumThreads(1)
rgb = cv2.cvtColor(cv2.imread(sys.argv[1]), cv2.COLOR_BGR2RGB)
steps = {}
pipeline.segment(rgb, steps)
rc, mask = steps["rc"], steps["mask"].astype(np.uint8)
made, called = ({elem: np.ones(mask.shape, elem) for elem in ("u1", "i4", "f4")} for _ in range(2))


def call(graph, image, elem="u1"):
    one = graph.copy("--workers=1 --device=none")
    return lambda: one(image, out=made[elem])


compare("open, octagon (eight formulas)", call(functions.octagon, rc), lambda: cv2.morphologyEx(rc, cv2.MORPH_OPEN, pipeline.OCTAGON, dst=called["u1"]))
compare("open, cross", call(functions.cross, mask), lambda: cv2.morphologyEx(mask, cv2.MORPH_OPEN, pipeline.CROSS, dst=called["u1"]))
compare("dilate, cross", call(functions.dilation, mask), lambda: cv2.dilate(mask, pipeline.CROSS, dst=called["u1"]))
compare("fill holes", call(functions.holes, mask), lambda: fill_holes(mask))
compare("components of at least 30 pixels", call(functions.components, mask), lambda: cv2.connectedComponentsWithStats(mask, labels=called["i4"], connectivity=8),
        anything)                       # it filters none
compare("connected components", call(functions.labels, mask, "i4"), lambda: cv2.connectedComponents(mask, called["i4"], connectivity=8)[1], same_parts)
compare("distance transform, exact", call(functions.distances, mask, "f4"), lambda: cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE, dst=called["f4"]),
        lambda a, b: np.allclose(a, b, rtol=0, atol=1e-5))
