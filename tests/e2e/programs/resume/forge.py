# forge.py CHUNK OLD NEW: replaces a text in a chunk of less than 1 MiB, the first time that it stands there, and makes its digest right again.
import re
import sys

MASK = (1 << 64) - 1


def dfr_hash(data):
    """dfr_hash() of runtime/base/intern.c, from 0."""
    h = len(data) * 0x9e3779b97f4a7c15 & MASK
    words = len(data) // 8
    for i in range(words):
        h = (h ^ int.from_bytes(data[8 * i:8 * i + 8], "little")) * 0xff51afd7ed558ccd & MASK
        h ^= h >> 32
    h = (h ^ int.from_bytes(data[8 * words:], "little")) * 0xc4ceb9fe1a85ec53 & MASK
    return h ^ h >> 29


path, old, new = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
assert old, "nothing is to be replaced"
head, rest = open(path, "rb").read().split(b"\n", 1)
if old in head:
    head = head.replace(old, new, 1)
else:
    assert old in rest, old
    rest = rest.replace(old, new, 1)
head = re.sub(rb"digest [0-9a-f]{16}$", b"digest %016x" % dfr_hash(rest), head)
open(path, "wb").write(head + b"\n" + rest)
