#!/usr/bin/env python3
"""Compares every step of nuclei with NumPy, SciPy, OpenCV and scikit-image: check.py PICTURE.png DUMPS TABLE.csv

DUMPS has what `./nuclei --dump='main/*' --dump-dir=DUMPS` wrote, of a picture that is one tile. Each step's reference gets what the program's
own step before it made, so one fault is told once. Prints a line for each step; exit status 1: one differs, 77: a library is missing.
"""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/baseline/nuclei"))
try:
    import cv2
    import numpy as np
    from scipy import ndimage
    from skimage import measure
    import pipeline as ref
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

failed = False


def told(name, good, more=""):
    global failed
    failed |= not good
    print(f"{'ok' if good else 'FAILED'} {name} {more}")


def same(name, got, expected):
    wrong = np.count_nonzero(got.astype(np.int64) != np.asarray(expected).astype(np.int64))
    told(name, wrong == 0, f"{wrong} of {got.size} differ" if wrong else "")


def main():
    picture, folder, table = sys.argv[1:]
    rgb = cv2.cvtColor(cv2.imread(picture), cv2.COLOR_BGR2RGB)

    def token(name):
        return np.load(f"{folder}/main.{name}.0.npy")

    def step(name):
        return token("segment." + name)
    same("red", step("touched#1.m") & ~step("inks.bluish") & 1, ref.red_cells(rgb))
    same("open", step("open_octagon.dilate_row.b"), cv2.morphologyEx(step("inks.rc"), cv2.MORPH_OPEN, ref.OCTAGON))
    same("reconstruct", step("reconstruct.grown"), ref.reconstruct(step("open_octagon.dilate_row.b"), step("inks.rc")))
    same("dark", step("darker.surely"), step("inks.rc") - step("reconstruct.grown") > 80)
    same("fill", step("fill#1.m"), ndimage.binary_fill_holes(step("darker.surely")))
    same("seeds", step("sized#1.m"), ref.area(step("fill#1.m"), 11, 1000, 8))
    same("touched", step("touched#2.m"), ref.touched(step("darker.maybe") > 0, step("sized#1.m") > 0))
    same("fill#2", step("fill#2.m"), ndimage.binary_fill_holes(step("without_blood.b")))
    same("open-cross", step("dilate_cross#1.b"), cv2.morphologyEx(step("fill#2.m"), cv2.MORPH_OPEN, ref.CROSS))
    same("sized#2", step("sized#2.m"), ref.area(step("dilate_cross#1.b"), 30, 1 << 31, 8))
    same("dilate-cross", step("dilate_cross#2.b"), cv2.dilate(step("sized#2.m"), ref.CROSS))
    mask = step("dilate_cross#2.b") > 0
    error = np.abs(step("distance.d") - ndimage.distance_transform_edt(mask)).max()
    told("distance", error <= 1e-5, f"by {error:.2g} at most")
    same("levels", step("levels.l"), ref.level_of(step("distance.d")))
    same("flatten", step("flatten.f"), ref.flatten(step("levels.l"), 256))
    theirs = ref.separate(mask, step("flatten.f")) > 0
    ours = step("separate.parts") > 0
    told("watershed", np.mean(theirs != ours) < 1e-3 and abs(count(theirs) - count(ours)) <= 0.02 * count(theirs),
         f"{np.count_nonzero(theirs != ours)} of {mask.sum()} pixels differ, {count(ours)} parts and {count(theirs)}")
    same("sized#3", step("sized#3.m"), ref.area(ours, 21, 1000, 4))
    labels = step("label.labels")
    same("label", labels, ndimage.label(step("fill#3.m"), np.ones((3, 3)))[0])
    whole = ref.segment(rgb)
    inside = 2 * np.count_nonzero((whole > 0) & (labels > 0)) / (np.count_nonzero(whole) + np.count_nonzero(labels))
    told("whole", inside > 0.99 and abs(whole.max() - labels.max()) <= 0.02 * whole.max(),
         f"{labels.max()} nuclei and {whole.max()}, Dice {inside:.5f}")
    features(rgb, labels, token, table)
    return failed


def count(mask):
    return cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)[0] - 1


def features(rgb, labels, token, table):
    grey, hema, eosin = ref.stains(rgb)
    same("grey", token("features.stains.grey"), grey)
    for name, expected in (("hema", hema), ("eosin", eosin)):
        worst = np.abs(token(f"features.stains.{name}").astype(int) - expected).max()
        told(name, worst <= 1, f"by {worst} at most")
    planes = [token(f"features.stains.{name}") for name in ("grey", "hema", "eosin")]
    for i, plane in enumerate(planes):
        at = f"slopes#{i + 1}"
        gradient, sobel = ref.slopes(plane)
        for name, expected in (("gradient", gradient), ("sobel", sobel)):
            worst = np.abs(token(f"features.{at}.{name}").astype(int) - expected).max()
            told(f"{name}-{i}", worst <= 1, f"by {worst} at most")
    cell = token("features.near_row.cell")
    beyond = ndimage.distance_transform_edt(labels == 0)
    same("cell-where", cell > 0, (beyond <= 8) & (labels == 0))
    slopes = [(token(f"features.slopes{n}.gradient"), token(f"features.slopes{n}.sobel")) for n in ("#1", "#2", "#3")]
    with open(table, encoding="ascii") as file:
        rows = np.array([[float(v) for v in row] for row in list(csv.reader(file))[1:]])
    expected = ref.measure_all(labels, cell, planes, slopes)
    told("rows", len(rows) == labels.max(), f"{len(rows)}")
    worst = np.abs(rows[:, 6:] - expected) / np.maximum(1, np.abs(expected))
    told("features", worst.max() < 1e-4, f"by {worst.max():.2g} at most, in column {worst.max(axis=0).argmax()}")


sys.exit(1 if main() else 0)
