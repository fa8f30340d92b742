import xml.etree.ElementTree as et
ns = "{http://www.w3.org/2000/svg}"
svg = et.parse("g.svg").getroot()
texts = [t.text for t in svg.iter(ns + "text")]
for row in "host 0", "host 1", "host 2", "gpu0", "gpu0 in", "gpu0 out":
    assert row in texts, row
titles = [t.text for t in svg.iter(ns + "title")]
assert sum(t.startswith("main/mix") for t in titles) == 30, len(titles)
chain = [g for g in svg.iter(ns + "g") if g.get("stroke") == "#b00020"][0]
bars = [r for r in chain if r.tag == ns + "rect"]
assert len(bars) > 2
number = lambda r, name: float(r.get(name))
drawn = [r for r in svg.iter(ns + "rect") if r.get("stroke") in ("none", "#fff")]
for r in bars:  # an outline begins and ends with a bar of its row
    inside = [d for d in drawn if d.get("y") == r.get("y") and number(d, "x") >= number(r, "x") - 0.01
              and number(d, "x") + number(d, "width") <= number(r, "x") + number(r, "width") + 0.02]
    assert any(d.get("x") == r.get("x") for d in inside)
    assert max(number(d, "x") + number(d, "width") for d in inside) > number(r, "x") + number(r, "width") - 0.02
rows = [number(r, "y") for r in bars]
assert all(a != b for a, b in zip(rows, rows[1:])), "one outline for bars that follow each other on a row"
assert len([r for r in chain if r.tag == ns + "line"]) == len(rows) - 1, "an arrow for each change of row"
assert min(number(r, "x") for r in bars) == 150, "the path begins at time 0"
assert abs(max(number(r, "x") + number(r, "width") for r in bars) - 1370) < 0.1, "and ends with the run"
