"""Reads what sum printed and compares it with the same sums computed here: check.py SEED N."""
import struct
import sys

seed, n = int(sys.argv[1]), int(sys.argv[2])


def generate(seed, i):
    x = (i * 2654435761 + seed * 2246822519) & 0xFFFFFFFF
    x ^= x >> 15
    x = (x * 2654435761) & 0xFFFFFFFF
    return (x >> 8) / 16777216


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


expected = ["%.6f" % f32(generate(seed, i) + generate(seed + 1, i)) for i in range(n)]
printed = sys.stdin.read().split()
if printed != expected:
    at = next((i for i, (p, e) in enumerate(zip(printed, expected)) if p != e), min(len(printed), len(expected)))
    sys.exit("differs at element %d: %s printed, %s expected (%d of %d lines)" % (
        at, printed[at : at + 1], expected[at : at + 1], len(printed), len(expected)))
print("%d sums are right" % n)
