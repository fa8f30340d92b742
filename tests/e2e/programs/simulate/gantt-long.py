import xml.etree.ElementTree as et
ns = "{http://www.w3.org/2000/svg}"
svg = et.parse("l.svg").getroot()
texts = [t for t in svg.iter(ns + "text")]
keys = [t for t in texts if t.text.startswith("kkk") and t.get("text-anchor") == "start"]
assert len(keys) == 12, len(keys)
assert all(float(t.get("y")) + 4 < float(svg.get("height")) for t in texts), "below the picture"
rows = [t for t in texts if t.text.startswith("ggg") and t.get("text-anchor") == "end"]
assert len(rows) == 3 and all(float(t.get("x")) > 0.635 * 12 * 47 for t in rows), "left of the picture"
