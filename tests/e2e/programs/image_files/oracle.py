# Compares what was drawn (GROUP.KERNEL-ELEM.want) with what Pillow and netpbm read, where they read all of it: oracle.py [EVERY], one file in EVERY by
# netpbm. Prints how many samples of how many files were compared. What differs, and what Pillow reads with 8 or 16 bits although it is refused, is a failure.
import collections
import glob
import re
import shutil
import struct
import subprocess
import sys
import warnings

from PIL import Image

warnings.simplefilter("ignore")
every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
counts, failed, unread = collections.Counter(), [], collections.Counter()
FORMATS = {"u8": "B", "u16": "H", "f32": "f"}


def tokens(group, kernel, elem, channels):
    """Each file of a group, its extents, and the samples that a kernel is to give."""
    with open(f"{group}.{kernel}-{elem}.want", "rb") as want:
        for name in open(f"{group}.txt").read().split():
            w, h = map(int, re.search(r"-(\d+)x(\d+)\.\w+$", name).groups())
            n = w * h * channels
            yield name, w, h, struct.unpack(f"<{n}{FORMATS[elem]}", want.read(n * struct.calcsize(FORMATS[elem])))


def same(who, name, got, want):
    counts[who, "files"] += 1
    counts[who, "samples"] += len(want)
    if list(got) != list(want):
        at = next(i for i in range(len(want)) if got[i] != want[i])
        failed.append(f"{who} {name}: sample {at} is {got[at]}, and {want[at]} was drawn")


def samples(image):
    data = list(image.getdata())
    return [v for pixel in data for v in pixel] if data and isinstance(data[0], tuple) else data


def on_white(image):
    white = Image.new("RGB", image.size, (255, 255, 255))
    rgba = image.convert("RGBA")
    white.paste(rgba.convert("RGB"), mask=rgba.getchannel("A"))
    return white


def opened(name):
    try:
        image = Image.open(name)
        image.load()
        return image
    except Exception as why:
        unread["Pillow", re.sub(r"^\d+-", "", name).split("-turn")[0], str(why)[:40]] += 1
        return None


# ---- PNG ----

def pillow_png(name, image, kernel, elem, want):
    depth = int(re.search(r"type\d-(\d+)", name).group(1))
    if re.search("type0-[124]-trns", name):
        return                          # Pillow compares the grey that is clear, of 1, 2 or 4 bits, with samples that it has scaled to 8
    if elem == "u8" and depth <= 8:
        image = on_white(image) if kernel in ("grey", "rgb1", "rgb3") else image.convert("RGBA")
        mode = {"grey": "L", "rgb1": "L", "rgb2": "LA", "rgb3": "RGB", "rgb4": "RGBA"}[kernel]
        same("Pillow", name, samples(image if image.mode == mode else image.getchannel(0) if mode == "L" else Image.merge("LA", [image.getchannel(0), image.getchannel(3)])), want)
    elif elem == "u16" and depth == 16 and image.mode.startswith("I") and kernel == "grey" and "trns" not in name:
        same("Pillow", name, samples(image), want)


def pnm(command):
    """The samples of a PNM file that a program writes, and their maximum."""
    text = subprocess.run(command, capture_output=True, check=False)
    head = re.match(rb"(P[456])\s+(\d+)\s+(\d+)\s+(?:(\d+)\s)?", text.stdout) if text.returncode == 0 else None
    if not head:
        return None, 0
    body, most = text.stdout[head.end():], int(head.group(4) or 1)
    if head.group(1) == b"P4":
        w = int(head.group(2))
        rows = [body[i:i + (w + 7) // 8] for i in range(0, len(body), (w + 7) // 8)]
        return [1 - (row[x // 8] >> (7 - x % 8) & 1) for row in rows for x in range(w)], 1
    return list(struct.unpack(f">{len(body) // 2}H", body) if most > 255 else body), most


def netpbm_png(name, kernel, elem, want):
    depth = int(re.search(r"type\d-(\d+)", name).group(1))
    if elem != ("u16" if depth == 16 else "u8") or re.search("sbit|type2.*trns", name):
        return                          # it leaves out the bits that sBIT does not count, and has another idea of which colour is clear
    is_grey, has_alpha = re.search("type[04]", name), re.search("type[46]|trns", name)
    if kernel in ("rgb2", "rgb4") and has_alpha:
        command, want = ["pngtopnm", "-alpha", name], want[int(kernel[3]) - 1::int(kernel[3])]
    elif kernel == ("grey" if is_grey else "rgb3") and not has_alpha:
        command = ["pngtopnm", name]
    else:
        return
    got, most = pnm(command)
    full = 65535 if elem == "u16" else 255
    if got and len(got) == 3 * len(want):
        got = got[::3]
    if got and 3 * len(got) == len(want):
        got = [v for v in got for _ in range(3)]
    if got:
        same("netpbm", name, [v * full // most for v in got], want)


# ---- TIFF ----

def pillow_tiff(name, image, channels, elem, want):
    kind, bits = re.match(r"\d+-(.+?)-(\d+)-(?:rows|strip|strips|tiles|wide)-", name).groups()
    pixels = [want[i:i + channels] for i in range(0, len(want), channels)]
    if "-planes-none-" in name or "-planes-" in name and image.mode in ("LA", "PA", "LAB"):
        return                          # planes that it unpacks itself; alpha as 0; a* and b* as they are stored
    if kind.startswith("ycbcr") and (re.search("-tiles-planes-|-none-|-packbits-", name) or "-jpeg-" not in name and "-turn1-" not in name):
        return                          # what it does not unpack by libtiff it takes for RGB; what libtiff has turned it turns again
    if elem == "u8":
        if image.mode in ("P", "PA"):
            image = image.convert("RGBA" if image.mode == "PA" else "RGB")
        if image.mode == "CMYK" and kind != "inks":
            image = image.convert("RGB")
        n = len(image.getbands())
        got = [v % 256 for v in samples(image)]
        same("Pillow", name, got, [v for p in pixels for v in p[:n]] if n < channels else want)
    elif elem == "u16" and image.mode.startswith("I"):
        same("Pillow", name, samples(image), [65535 - v for v in want] if kind in ("white0", "untagged") else want) # Pillow does not invert these
    elif elem == "u16" and bits == "16" and kind in ("rgb", "rgb-alpha", "rgb-x"):
        same("Pillow", name, samples(image), [v >> 8 for v in want])
    elif elem == "f32" and image.mode in ("F", "I") and ("-mm" not in name or "-none-" in name): # else it swaps what libtiff has swapped
        same("Pillow", name, samples(image), want)


def netpbm_tiff(name, channels, elem, want):
    kind, bits = re.match(r"\d+-(.+?)-(\d+)-(?:rows|strip|strips|tiles|wide)-", name).groups()
    if elem == "f32" or kind not in ("black0", "white0", "rgb", "rgb-alpha") or bits == "3":
        return                          # it has its own rounding for palettes, and no samples of 3 bits
    got, most = pnm(["tifftopnm", "-byrow", name])
    if not got:
        unread["netpbm", re.sub(r"^\d+-", "", name).split("-turn")[0], ""] += 1
        return
    full = 255 if elem == "u8" else (1 << int(bits)) - 1
    drawn = [v for i, v in enumerate(want) if channels != 4 or i % 4 < 3]
    if len(got) * 3 == len(drawn):
        got = [v for v in got for _ in range(3)]
    if len(drawn) * 3 == len(got):
        drawn = [v for v in drawn for _ in range(3)]
    same("netpbm", name, [(2 * v * full + most) // (2 * most) for v in got], drawn)


for want in sorted(glob.glob("*.want")):
    group, kernel, elem = re.fullmatch(r"(.*)\.(\w+)-(\w+)\.want", want).groups()
    channels = int(kernel[3:] or group.rsplit("-", 1)[1]) if kernel.startswith("rgb") else 1
    for number, (name, w, h, drawn) in enumerate(tokens(group, kernel, elem, channels)):
        netpbm = number % every == 0 and shutil.which("pngtopnm" if group.startswith("png") else "tifftopnm")
        if group.startswith("png"):
            image = opened(name) if elem != "f32" else None
            if image:
                pillow_png(name, image, kernel, elem, drawn)
            if netpbm:
                netpbm_png(name, kernel, elem, drawn)
        else:
            image = opened(name)
            if image:
                pillow_tiff(name, image, channels, elem, drawn)
            if netpbm:
                netpbm_tiff(name, channels, elem, drawn)
for line in open("tiff.refused").read().splitlines():
    image = opened(line.split()[0]) if "ycbcr22-in-planes" not in line else None # it takes these planes for R, G and B, whatever size they have
    if image and image.mode not in ("I", "F"):
        failed.append(f"Pillow reads {line.split()[0]} as {image.mode}")
if len(sys.argv) > 3:
    for key, n in sorted(unread.items()):
        print("not read:", *key, n)
for line in failed[:int(sys.argv[2]) if len(sys.argv) > 2 else 40]:
    print(line)
print(len(failed), "differ;", "; ".join(f"{who}: {counts[who, 'files']} files, {counts[who, 'samples']} samples" for who in ("Pillow", "netpbm")))
sys.exit(bool(failed))
