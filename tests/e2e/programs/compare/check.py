"""check.py CSV SVG LEAST MOST (jobs): the figures of `dfc compare` hold together, and the chart's bars are as high as the CSV says."""
import csv, re, sys, xml.dom.minidom
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["policy"] for r in rows[:5]] == ["eager", "ws", "dmda", "gp-thesis", "gp"], rows
assert len(rows) == 6 and re.fullmatch(r"default \([a-z-]+\)", rows[5]["policy"]), rows
assert min(float(r["ratio"]) for r in rows) == 1
for r in rows:
    assert r["runs"] == rows[0]["runs"] and r["waves"] == "1"
    assert 0 < float(r["min_s"]) <= float(r["q1_s"]) <= float(r["median_s"]) <= float(r["q3_s"]) <= float(r["max_s"]) < 60, r
    assert int(sys.argv[3]) <= int(r["cpu_jobs"]) + int(r["gpu_jobs"]) <= int(sys.argv[4]), r
svg = xml.dom.minidom.parse(sys.argv[2]).documentElement
words = "".join(t.firstChild.data for t in svg.getElementsByTagName("text"))
for r in rows:
    assert r["policy"] in words, words
rehearsed = "predicted_s" in rows[0]
values = [float(r[c]) for r in sorted(rows, key=lambda r: float(r["median_s"])) for c in (["predicted_s"] if rehearsed else []) + ["median_s"]]
rects = svg.getElementsByTagName("rect")[1:]
assert len(rects) == len(values) + (2 if rehearsed else 0), len(rects)
assert ("predicted, in virtual time" in words) == rehearsed, words
heights = [float(rect.getAttribute("height")) for rect in rects[:len(values)]]
tallest = max(range(len(values)), key=values.__getitem__)
for height, value in zip(heights, values):
    assert abs(height - heights[tallest] * value / values[tallest]) < 0.2, (heights, values)
lefts = [float(rect.getAttribute("x")) for rect in rects[:len(values)]]
assert lefts == sorted(set(lefts)), lefts
spread = sum(float(r["max_s"]) - float(r["min_s"]) > 0.002 * max(values) for r in rows)
assert len(svg.getElementsByTagName("path")) >= spread, "a whisker wherever runs differ"
