import xml.etree.ElementTree as et
ns = "{http://www.w3.org/2000/svg}"
svg = et.parse("g.svg").getroot()
texts = [t.text for t in svg.iter(ns + "text")]
for row in "host 0", "host 1", "host 2", "gpu0", "gpu0 in", "gpu0 out":
    assert row in texts, row
titles = [t.text for t in svg.iter(ns + "title")]
assert sum(t.startswith("main/mix") for t in titles) == 30, len(titles)
chain = [g for g in svg.iter(ns + "g") if g.get("stroke") == "#b00020"][0]
drawn = {(r.get("x"), r.get("y")): r.get("width") for r in svg.iter(ns + "rect") if r.get("stroke") in ("none", "#fff")}
bars = [r for r in chain if r.tag == ns + "rect"]
assert len(bars) > 3
for r in bars:
    assert drawn[r.get("x"), r.get("y")] == r.get("width"), "a bar is as long as its outline"
rows = [float(r.get("y")) for r in bars]
assert len([r for r in chain if r.tag == ns + "line"]) == sum(a != b for a, b in zip(rows, rows[1:])), "an arrow for each change of row"
assert len(set(rows)) > 1
assert min(float(r.get("x")) for r in bars) == 150, "the path begins at time 0"
assert abs(max(float(r.get("x")) + float(r.get("width")) for r in bars) - 1370) < 0.1, "and ends with the run"
