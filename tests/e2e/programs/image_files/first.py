# Which of a group's files was the first that was read wrongly: first.py GROUP WANT CHANNELS, of which `rgb` has so many and `rgb4` four
import re
import sys

group, want, channels = sys.argv[1:]
got, want_bytes = open(want.replace(".want", ".got"), "rb").read(), open(want, "rb").read()
kernel, elem = re.fullmatch(r".*\.(\w+)-(\w+)\.want", want).groups()
size = {"u8": 1, "u16": 2, "f32": 4}[elem] * (int(kernel[3:] or channels) if kernel.startswith("rgb") else 1)
differ = next((i for i in range(min(len(got), len(want_bytes))) if got[i] != want_bytes[i]), min(len(got), len(want_bytes)))
at = 0
for name in open(group + ".txt").read().split():
    w, h = map(int, re.search(r"-(\d+)x(\d+)\.\w+$", name).groups())
    if differ < at + w * h * size:
        break
    at += w * h * size
pixel = (differ - at) // size
here = slice(at + pixel * size, at + (pixel + 1) * size)
print(f"{name}: pixel {pixel % w}, {pixel // w} is {got[here].hex(' ')}, and {want_bytes[here].hex(' ')} was drawn; {len(got)} bytes of {len(want_bytes)}")
