#!/usr/bin/python3
"""What OpenCV takes, on one thread, for the operations that it has of examples/nuclei: operations.py PICTURE.png"""
import sys
import time

import cv2
import numpy as np

import pipeline


def best(name, run):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    print(f"    OpenCV {name:28} {1e3 * min(times):8.2f} ms")


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
best("open, octagon", lambda: cv2.morphologyEx(rc, cv2.MORPH_OPEN, pipeline.OCTAGON))
best("open, cross", lambda: cv2.morphologyEx(mask, cv2.MORPH_OPEN, pipeline.CROSS))
best("dilate, cross", lambda: cv2.dilate(mask, pipeline.CROSS))
best("fill holes", lambda: fill_holes(mask))
best("components and areas", lambda: cv2.connectedComponentsWithStats(mask, connectivity=8))  # `sized` filters, too
best("connected components", lambda: cv2.connectedComponents(mask, connectivity=8))
best("distance transform, exact", lambda: cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE))
