"""trace.py TRACE SVG: the Gantt chart has a row for each thread of the trace, and each of its jobs, alone or in a block, in its place."""
import json, re, sys, xml.etree.ElementTree as et
NS = "{http://www.w3.org/2000/svg}"
events = json.load(open(sys.argv[1]))["traceEvents"]
svg = et.parse(sys.argv[2]).getroot()
bars = [e for e in events if e["ph"] == "X"]
texts = [t.text for t in svg.iter(NS + "text")]
for name in (e["args"]["name"] for e in events if e["name"] == "thread_name"):
    assert name in texts, name
jobs = sum(e["cat"] == "job" for e in bars)
begin, end = min(e["ts"] for e in bars), max(e["ts"] + e["dur"] for e in bars)
assert any(re.match(rf"{jobs} jobs", t.split(": ", 1)[-1]) for t in texts if t), texts[:2]
for kernel in {e["args"]["kernel"] for e in bars if e["cat"] == "job"}:
    assert kernel in texts, kernel
drawn = 0
for rect in svg.iter(NS + "rect"):
    title = rect.findtext(NS + "title")
    if title:
        short = re.fullmatch(r"(\d+) short ones", title)
        drawn += int(short[1]) if short else 1
        assert 150 <= float(rect.get("x")) <= 1370 and float(rect.get("x")) + float(rect.get("width")) <= 1371.1, title
assert drawn == len(bars), (drawn, len(bars))
longest = max(bars, key=lambda e: e["dur"])
rect = next(r for r in svg.iter(NS + "rect") if (r.findtext(NS + "title") or "").startswith(longest["name"]) and
            abs(float(r.get("x")) - 150 - 1220 * (longest["ts"] - begin) / (end - begin)) < 0.1)
assert abs(float(rect.get("width")) - max(1, 1220 * longest["dur"] / (end - begin))) < 0.1
