"""Files for t_jpeg.sh, made by Pillow, and what Pillow reads of them: jpeg.py make; jpeg.py compare <LINES. A line is NAME same|near FILE OTHER; for
each it prints `pass NAME` or `fail NAME WHY`."""
import sys

import numpy as np
from PIL import Image


def make():
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:37, 0:53]
    smooth = np.stack([128 + 100 * np.sin(x / 9), 128 + 100 * np.cos(y / 7), 2 * x + y], -1).clip(0, 255).astype(np.uint8)
    colour, grey = Image.fromarray(smooth), Image.fromarray(smooth).convert("L")
    colour.save("colour.jpg", quality=90)
    colour.save("full.jpg", quality=90, subsampling=0)
    colour.save("progressive.jpg", quality=80, progressive=True, optimize=True)
    Image.fromarray(rng.integers(0, 256, (37, 53, 3), np.uint8)).save("noise.jpg", quality=30, subsampling=1)
    grey.save("grey.jpg", quality=75)
    colour.convert("CMYK").save("cmyk.jpg")
    exif = Image.Exif()
    exif[0x112] = 6
    colour.save("turned.jpg", exif=exif)
    exif[0x112] = 1
    colour.save("upright.jpg", exif=exif)
    Image.fromarray(smooth[:5, :9]).save("small.jpg")
    whole = open("colour.jpg", "rb").read()
    open("cut.jpg", "wb").write(whole[:len(whole) // 2])
    open("head.jpg", "wb").write(whole[:100])
    open("broken.jpg", "wb").write(whole[:len(whole) * 3 // 4] + b"\xff\xda" + whole[len(whole) * 3 // 4:])
    Image.new("RGB", (1, 1), (9, 99, 199)).save("one.jpg", quality=100)


def load(path):
    return np.load(path) if path.endswith(".npy") else np.asarray(Image.open(path))


def differ(how, path, other):
    want, got = load(path), load(other)
    if want.ndim == 2 and got.ndim == 3:
        want = np.repeat(want[..., None], 3, -1)
    got = got[0] if got.ndim > want.ndim else got
    if got.dtype == np.float32:
        want = want.astype(np.float32) / np.float32(255)
    if want.shape != got.shape:
        return f"shape {got.shape}, not {want.shape}"
    most = np.abs(want.astype(float) - got.astype(float)).max()
    return f"differs by {most}" if most > (0 if how == "same" else 12) else None


if sys.argv[1] == "make":
    make()
else:
    for name, how, path, other in map(str.split, sys.stdin):
        try:
            why = differ(how, path, other)
        except OSError as error:
            why = str(error)
        print(f"fail {name} {why}" if why else f"pass {name}")
