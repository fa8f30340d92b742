import csv, sys, xml.dom.minidom
rows = list(csv.DictReader(open("c.csv")))
assert [r["policy"] for r in rows] == ["eager", "ws", "dmda", "gp-thesis"], rows
assert min(float(r["ratio"]) for r in rows) == 1
for r in rows:
    assert r["runs"] == "3" and r["waves"] == "1"
    assert 0 < float(r["min_s"]) <= float(r["q1_s"]) <= float(r["median_s"]) <= float(r["q3_s"]) <= float(r["max_s"]) < 60, r
    assert int(r["cpu_jobs"]) + int(r["gpu_jobs"]) == 4, r
svg = xml.dom.minidom.parse("c.svg").documentElement
assert len(svg.getElementsByTagName("rect")) == 5
words = "".join(t.firstChild.data for t in svg.getElementsByTagName("text"))
for r in rows:
    assert r["policy"] in words, words
