#!/usr/bin/python3
"""examples/nuclei as one writes it today, with NumPy, OpenCV, SciPy and scikit-image: pipeline.py IN.png TABLE.csv OVERLAY.png [TILE]

Each operation is the library's own, and the quicker one if two libraries have it. One thread, unless OMP_NUM_THREADS says otherwise.
`segment(rgb)` and `features(rgb, labels)` are what examples/nuclei/check.py compares with.
"""
import sys

import cv2
import numpy as np
from scipy import ndimage
from skimage import measure, morphology, segmentation

EIGHT = np.ones((3, 3), np.uint8)
CROSS = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
EPSILON = np.finfo(np.float32).eps


def octagon():
    """19 x 19, of which the rows at the corners lose 4, 3, 2 and 1 pixels."""
    element = np.ones((19, 19), np.uint8)
    for row, lost in enumerate((4, 3, 2, 1)):
        for y in (row, 18 - row):
            element[y, :lost] = element[y, 19 - lost:] = 0
    return element


OCTAGON = octagon()


def background(rgb):
    return np.mean((rgb > 220).all(axis=2))


def touched(of, by):
    """The 8-connected components of `of` that hold a pixel of `by` (bwselect)."""
    _, labels = cv2.connectedComponents(of.astype(np.uint8), connectivity=8)
    keep = np.zeros(labels.max() + 1, bool)
    keep[labels[by & of]] = True
    keep[0] = False
    return keep[labels]


def fill(mask):
    return ndimage.binary_fill_holes(mask)


def area(mask, least, below, connectivity):
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=connectivity)
    size = stats[:, cv2.CC_STAT_AREA]
    keep = (size >= least) & (size < below)
    keep[0] = False
    return keep[labels]


def reconstruct(marker, mask):
    return morphology.reconstruction(marker, mask, method="dilation", footprint=EIGHT)


def red_cells(rgb):
    r, g, b = (rgb[:, :, c].astype(np.float32) for c in range(3))
    r2g = r / (g + EPSILON)
    return touched(r2g > 4, r2g > 5) & (r / (b + EPSILON) > 1)


def level_of(distance):
    """1/256 pixel is the unit in which the watershed counts."""
    return np.minimum(np.rint(distance * np.float32(256)), 65535).astype(np.uint16)


def flatten(level, h):
    """Domes of less than h are cut off (imhmin of the negative)."""
    marker = np.where(level > h, level - h, 0).astype(np.uint16)
    return reconstruct(marker, level).astype(np.uint16)


def separate(mask, level):
    """Watershed with lines: markers are the 8-connected regional maxima."""
    negative = -level.astype(np.int32)
    peaks = morphology.local_maxima(np.where(mask, level.astype(np.int32) + 1, 0), footprint=EIGHT) & mask
    markers, _ = ndimage.label(peaks, EIGHT)
    return segmentation.watershed(negative, markers, connectivity=EIGHT, mask=mask, watershed_line=True)


def segment(rgb, steps=None):
    """The labels of the nuclei. `steps`, a dict, gets what every operation made."""
    s = {} if steps is None else steps
    s["red"] = red_cells(rgb)
    s["rc"] = 255 - rgb[:, :, 0]
    s["opened"] = cv2.morphologyEx(s["rc"], cv2.MORPH_OPEN, OCTAGON)
    s["rec"] = reconstruct(s["opened"], s["rc"]).astype(np.uint8)
    difference = s["rc"] - s["rec"]
    s["dark"] = fill(difference > 80)
    s["seeds"] = area(s["dark"], 11, 1000, 8)
    s["nuclei"] = fill(touched(difference > 45, s["seeds"]) & ~s["red"])
    opened = cv2.morphologyEx(s["nuclei"].astype(np.uint8), cv2.MORPH_OPEN, CROSS)
    s["large"] = area(opened, 30, 1 << 30, 8)
    s["mask"] = cv2.dilate(s["large"].astype(np.uint8), CROSS).astype(bool)
    s["distance"] = cv2.distanceTransform(s["mask"].astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    s["level"] = level_of(s["distance"])
    s["flat"] = flatten(s["level"], 256)
    s["parts"] = separate(s["mask"], s["flat"]) > 0
    s["objects"] = fill(area(s["parts"], 21, 1000, 4))
    n, s["labels"] = cv2.connectedComponents(s["objects"].astype(np.uint8), connectivity=8)
    return s["labels"]


def stains(rgb):
    """Grey, haematoxylin and eosin; the last two by optical densities of (I + 1) / 255."""
    r, g, b = np.log((np.arange(256) + 1) / 255)[rgb].transpose(2, 0, 1)
    hema = 255 * np.exp(2.3203516 * r + 0.026714 * g - 1.8430382 * b)
    eosin = 255 * np.exp(-1.6470988 * r + 0.9893 * g + 1.3082 * b)
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    return grey, np.clip(np.rint(hema), 0, 255).astype(np.uint8), np.clip(np.rint(eosin), 0, 255).astype(np.uint8)


def magnitude(dx, dy):
    return np.minimum(np.rint(cv2.magnitude(dx, dy)), 255).astype(np.uint8)


def slopes(plane):
    dy, dx = np.gradient(plane.astype(np.float32))
    sobel = [cv2.Sobel(plane, cv2.CV_32F, *d, borderType=cv2.BORDER_REPLICATE) for d in ((1, 0), (0, 1))]
    return magnitude(dx, dy), magnitude(*sobel)


def moments(values):
    """Mean, median, greatest, least, deviation, entropy, energy, skewness, kurtosis."""
    if not len(values):
        return np.zeros(9)
    bins = np.bincount(values, minlength=256)
    v = np.arange(256)
    p = bins / bins.sum()
    mean = p @ v
    m2, m3, m4 = (p @ (v - mean) ** k for k in (2, 3, 4))
    some = p[p > 0]
    seen = np.flatnonzero(bins)
    median = np.searchsorted(2 * np.cumsum(bins), bins.sum())
    shape = (m3 / m2 ** 1.5, m4 / m2 ** 2) if m2 > 0 else (0, 0)
    return np.array([mean, median, seen[-1], seen[0], np.sqrt(m2), -(some * np.log2(some)).sum(), (p * p).sum(), *shape])


def measure_pixels(level, gradient, sobel, quotient, edge=70):
    of_level, of_gradient = moments(level), moments(gradient)
    edges = np.count_nonzero(sobel >= edge)
    by_median = [of_level[0] / of_level[1] if of_level[1] > 0 else 0] if quotient else []
    return [of_level[0], *by_median, *of_level[2:], of_gradient[0], *of_gradient[4:], edges, edges / len(level) if len(level) else 0]


def measure_all(labels, cell, planes, all_slopes):
    rows = []
    h, w = labels.shape
    for r in measure.regionprops(labels):
        around = r.perimeter
        top, left, bottom, right = r.bbox
        row = [r.area, around, r.eccentricity, 4 * np.pi * r.area / around ** 2 if around else 0, r.major_axis_length,
               r.minor_axis_length, r.extent]
        box = np.s_[top:bottom, left:right]
        row += measure_pixels(*(p[box][r.image] for p in (planes[0], *all_slopes[0])), False)
        box = np.s_[max(top - 8, 0):min(bottom + 8, h), max(left - 8, 0):min(right + 8, w)]
        own = cell[box] == r.label
        for plane, s in zip(planes, all_slopes):
            row += measure_pixels(*(p[box][own] for p in (plane, *s)), True)
        rows.append(row)
    return np.array(rows)


def features(rgb, labels):
    """74 numbers of each nucleus."""
    planes = stains(rgb)
    cell = segmentation.expand_labels(labels, 8)
    cell[labels > 0] = 0
    return measure_all(labels, cell, planes, [slopes(p) for p in planes])


def overlay(rgb, labels):
    inner = cv2.erode(labels.astype(np.float32), CROSS, borderValue=0) == labels
    inner &= cv2.dilate(labels.astype(np.float32), CROSS) == labels
    out = rgb.copy()
    out[(labels > 0) & ~inner] = (0, 255, 0)
    return out


def main():
    cv2.setNumThreads(1)
    source, table, picture = sys.argv[1:4]
    rgb = cv2.cvtColor(cv2.imread(source), cv2.COLOR_BGR2RGB)
    tile = int(sys.argv[4]) if len(sys.argv) > 4 else max(rgb.shape)
    out, rows, n = rgb.copy(), [], 0
    for top in range(0, rgb.shape[0], tile):
        for left in range(0, rgb.shape[1], tile):
            part = rgb[top:top + tile, left:left + tile]
            if background(part) >= 0.9:
                continue
            labels = segment(part)
            n += labels.max()
            if labels.max():
                rows.append(features(part, labels))
            out[top:top + tile, left:left + tile] = overlay(part, labels)
    np.savetxt(table, np.concatenate(rows) if rows else np.zeros((0, 74)), fmt="%.6g", delimiter=",")
    cv2.imwrite(picture, cv2.cvtColor(out, cv2.COLOR_RGB2BGR))
    print(n, "nuclei")


if __name__ == "__main__":
    main()
