import xml.etree.ElementTree as et
ns = "{http://www.w3.org/2000/svg}"
svg = et.parse("l.svg").getroot()
texts = [t for t in svg.iter(ns + "text")]
keys = [t for t in texts if t.text.startswith("kkk") and t.get("text-anchor") is None]
assert len(keys) == 12, len(keys)
assert all(float(t.get("y")) + 4 < float(svg.get("height")) for t in texts), "below the picture"
rows = [t for t in texts if t.text.startswith("ggg")]
assert len(rows) == 3 and all(float(t.get("x")) > 7.6 * len(t.text) for t in rows), "left of the picture"
