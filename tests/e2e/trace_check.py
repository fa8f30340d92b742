#!/usr/bin/env python3
"""Checks a trace of a run on one GPU: trace_check.py TRACE.json. Says how long copies ran beside computation and how long the two copy
directions ran beside each other; exit status 1 where either never happened, where events of one row overlap, or where the file is not
what Perfetto and chrome://tracing read (complete events "X" with ts and dur, rows named by metadata)."""
import json
import sys


def spans(events):
    return sorted((e["ts"], e["ts"] + e["dur"]) for e in events)


def overlap(a, b):
    """Time in which some span of a and some span of b are both open; each list has no overlaps of its own."""
    i = j = 0
    total = 0.0
    while i < len(a) and j < len(b):
        total += max(0.0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def union(spans_):
    out = []
    for s, e in sorted(spans_):
        if out and s <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], e))
        else:
            out.append((s, e))
    return out


def main():
    trace = json.load(open(sys.argv[1]))
    events = trace["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    rows = {}
    for e in events:
        if e["ph"] == "X":
            if e["dur"] < 0 or e["ts"] < 0:
                sys.exit(f"negative time: {e}")
            rows.setdefault(names[e["pid"], e["tid"]], []).append(e)
    for name, row in rows.items():
        s = spans(row)
        for (_, end), (start, _) in zip(s, s[1:]):
            if start < end - 0.5:          # microseconds; clock readings are rounded
                sys.exit(f"row '{name}': an event starts at {start} before the one before it ends at {end}")
    h2d = [r for n, r in rows.items() if "H2D" in n.upper()]
    d2h = [r for n, r in rows.items() if "D2H" in n.upper()]
    if len(h2d) != 1 or len(d2h) != 1:
        sys.exit(f"expected one H2D and one D2H row, found {sorted(rows)}")
    work = union([s for n, r in rows.items() if "H2D" not in n.upper() and "D2H" not in n.upper() for s in spans(r)])
    up, down = spans(h2d[0]), spans(d2h[0])
    beside_work = overlap(union(up + down), work)
    beside_each_other = overlap(up, down)
    copying = sum(e - s for s, e in union(up + down))
    print(f"copies {copying / 1e3:.2f} ms, of which beside computation {beside_work / 1e3:.2f} ms; "
          f"H2D beside D2H {beside_each_other / 1e3:.2f} ms; {len(up)} H2D, {len(down)} D2H")
    if beside_work <= 0 or beside_each_other <= 0:
        sys.exit("no overlap")


main()
