#!/usr/bin/env python3
"""Whether a device waits for the host between batches: tests/gaps.py TRACE, of a chain that ran on one device.

Jobs that were launched at the same time are a batch. A batch is late if it was launched after the one before it in its
wave had ended: then the device had nothing to do. The exit status is 1 if more than half of the batches are late. Some
may be on a busy machine, whose cores do other things for as long as a batch takes.
"""
import json
import statistics
import sys


def main():
    events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
    rows = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and "compute" in e["args"]["name"]}
    waves = {}
    for e in events:
        if e["ph"] == "X" and (e["pid"], e["tid"]) in rows:
            waves.setdefault(e["args"]["wave"], []).append((e["ts"], e["ts"] + e["dur"], e["args"]["launched"]))
    gaps, late = [], 0
    for jobs in waves.values():
        jobs.sort()
        for before, job in zip(jobs, jobs[1:]):
            if job[2] != before[2]:
                gaps.append(job[0] - before[1])
                late += job[2] >= before[1]
    print(f"{len(gaps)} batches behind others, {late} late; {statistics.median(gaps):.1f} us between two (median)")
    return late > len(gaps) / 2


sys.exit(main())
