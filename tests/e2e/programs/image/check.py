"""std/image.df against NumPy, SciPy and scikit-image: check.py [-O0] [ELEMENT...]

Compiles a library that calls each function for each element, runs it on pictures from 1 by 1 up, and prints a line `pass NAME` or `fail NAME WHY` for each
function and element. -O0 compiles sooner. The same bits are asked for where both compute with integers or compare and move; else a relative difference.
"""
import sys

import dfc
import numpy as np
from scipy import ndimage
from skimage import color, filters, transform

ELEMENTS = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "f16": np.float16, "f32": np.float32, "f64": np.float64}
SIZES = ((1, 1), (1, 7), (6, 1), (2, 2), (33, 47))
RADII = (0, 1, 3)
FLAGS = [word for word in sys.argv[1:] if word.startswith("-")]


def real_of(element):
    return np.float32 if element in ("u8", "u16", "i8", "i16", "f16", "f32") else np.float64


def total(a, n):
    """Exact sums of squares of 2n + 1 pixels, of integers."""
    p = np.pad(a.astype(np.int64), n, mode="symmetric").cumsum(0).cumsum(1)
    p = np.pad(p, ((1, 0), (1, 0)))
    k = 2 * n + 1
    return p[k:, k:] - p[:-k, k:] - p[k:, :-k] + p[:-k, :-k]


def mean(a, n, real):
    if a.dtype.kind == "f":
        return ndimage.uniform_filter(a.astype(np.float64), 2 * n + 1, mode="reflect")
    return total(a, n).astype(real) / real((2 * n + 1) ** 2)


def bilinear(a, shape, real):
    return transform.resize(a.astype(np.float64), shape, order=1, mode="edge", anti_aliasing=False, preserve_range=True).astype(real)


def nearest(a, shape):
    rows, columns = (np.floor((np.arange(n) + 0.5) * m / n).astype(int) for n, m in zip(shape, a.shape))
    return a[np.minimum(rows, a.shape[0] - 1)][:, np.minimum(columns, a.shape[1] - 1)]


def pyramid(a, real):
    taps = np.array([1, 4, 6, 4, 1]) / 16
    for axis in (0, 1):
        a = ndimage.correlate1d(a.astype(np.float64), taps, axis, mode="mirror")
    return a[::2, ::2].astype(real)


def calibrated(a, flat, dark, real):
    light = flat.astype(np.float64) - dark
    with np.errstate(all="ignore"):
        return np.where(light > 0, (a.astype(np.float64) - dark) / light * light.mean(), 0).astype(real)


# name: (ports and scalars, body, oracle, relative tolerance; None: the same bits). {S} suffix, {E} element, {R} real; n: a radius, s: a sigma.
FUNCTIONS = {
    "gaussian": ("in a: {E}[h, w], out o: {R}[h, w]; s: {R}", "o = gaussian{S}(a, s);",
                 lambda a, r: [((s,), ndimage.gaussian_filter(a.astype(np.float64), s, mode="reflect", truncate=4)) for s in (0.6, 1.5, 4)], 1),
    "box": ("in a: {E}[h, w], out o: {R}[h, w]; n: i32", "o = box{S}(a, n);", lambda a, r: [((n,), mean(a, n, r)) for n in RADII], 1),
    "median3": ("in a: {E}[h, w], out o: {E}[h, w]", "o = median3{S}(a);", lambda a, r: [((), ndimage.median_filter(a, 3, mode="reflect"))], None),
    "sobel_across": ("in a: {E}[h, w], out o: {R}[h, w]", "o = sobel_across{S}(a);", lambda a, r: [((), ndimage.sobel(a.astype(r), 1, mode="reflect"))], 1),
    "sobel_down": ("in a: {E}[h, w], out o: {R}[h, w]", "o = sobel_down{S}(a);", lambda a, r: [((), ndimage.sobel(a.astype(r), 0, mode="reflect"))], 1),
    "sobel": ("in a: {E}[h, w], out o: {R}[h, w]", "o = sobel{S}(a);",
              lambda a, r: [((), np.hypot(*(ndimage.sobel(a.astype(np.float64), k, mode="reflect") for k in (0, 1))))], 1),
    "laplacian": ("in a: {E}[h, w], out o: {R}[h, w]", "o = laplacian{S}(a);", lambda a, r: [((), ndimage.laplace(a.astype(np.float64), mode="reflect"))], 1),
    "unsharp": ("in a: {E}[h, w], out o: {R}[h, w]; s: {R}, k: {R}", "o = unsharp{S}(a, s, k);",
                lambda a, r: [((1.5, 0.5), 1.5 * a.astype(np.float64) - 0.5 * ndimage.gaussian_filter(a.astype(np.float64), 1.5, mode="reflect"))], 1),
    "erode": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = erode{S}(a, n);",
              lambda a, r: [((n,), ndimage.minimum_filter(a, 2 * n + 1, mode="nearest")) for n in RADII], None),
    "dilate": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = dilate{S}(a, n);",
               lambda a, r: [((n,), ndimage.maximum_filter(a, 2 * n + 1, mode="nearest")) for n in RADII], None),
    "opening": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = opening{S}(a, n);",
                lambda a, r: [((n,), ndimage.maximum_filter(ndimage.minimum_filter(a, 2 * n + 1, mode="nearest"), 2 * n + 1, mode="nearest")) for n in RADII], None),
    "closing": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = closing{S}(a, n);",
                lambda a, r: [((n,), ndimage.minimum_filter(ndimage.maximum_filter(a, 2 * n + 1, mode="nearest"), 2 * n + 1, mode="nearest")) for n in RADII], None),
    "tophat": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = tophat{S}(a, n);", lambda a, r: [((n,), narrow(a, ndimage.maximum_filter(
        ndimage.minimum_filter(a, 2 * n + 1, mode="nearest"), 2 * n + 1, mode="nearest"))) for n in RADII], None),
    "blackhat": ("in a: {E}[h, w], out o: {E}[h, w]; n: i32", "o = blackhat{S}(a, n);", lambda a, r: [((n,), narrow(ndimage.minimum_filter(
        ndimage.maximum_filter(a, 2 * n + 1, mode="nearest"), 2 * n + 1, mode="nearest"), a)) for n in RADII], None),
    "threshold": ("in a: {E}[h, w], out o: u8[h, w]; t: {R}", "o = threshold{S}(a, t);", lambda a, r: [((50,), np.where(a > 50, 255, 0).astype(np.uint8))], None),
    "adaptive": ("in a: {E}[h, w], out o: u8[h, w]; n: i32, c: {R}", "o = adaptive{S}(a, n, c);",
                 lambda a, r: [((n, 2), np.where(a.astype(r) > mean(a, n, r) + r(2), 255, 0).astype(np.uint8)) for n in (1, 3)], "edge"),
    "normalise": ("in a: {E}[h, w], out o: {R}[h, w]", "o = normalise{S}(a);",
                  lambda a, r: [((), (a.astype(np.float64) - a.min()) / max(float(a.max()) - float(a.min()), 1e-300))], 1),
    "nearest": ("in a: {E}[h, w], out o: {E}[n, m]", "o = nearest{S}(a);", None, None),
    "bilinear": ("in a: {E}[h, w], out o: {R}[n, m]", "o = bilinear{S}(a);", None, 1),
    "flat_field": ("in a: {E}[h, w], in f: {E}[h, w], in d: {E}[h, w], out o: {R}[h, w]", "o = flat_field{S}(a, f, d);", None, 1),
    "pyramid_down": ("in a: {E}[h, w], out o: {R}[(h + 1) / 2, (w + 1) / 2]", "o = pyramid_down{S}(a);", lambda a, r: [((), pyramid(a, r))], 1),
    "mirrored": ("in a: {E}[h, w], out o: {E}[h, w]", "o = mirrored{S}(a);", lambda a, r: [((), a[:, ::-1])], None),
    "flipped": ("in a: {E}[h, w], out o: {E}[h, w]", "o = flipped{S}(a);", lambda a, r: [((), a[::-1])], None),
    "turned_right": ("in a: {E}[h, w], out o: {E}[w, h]", "o = turned_right{S}(a);", lambda a, r: [((), np.rot90(a, -1))], None),
    "turned_left": ("in a: {E}[h, w], out o: {E}[w, h]", "o = turned_left{S}(a);", lambda a, r: [((), np.rot90(a))], None),
    "transposed": ("in a: {E}[h, w], out o: {E}[w, h]", "o = transposed{S}(a);", lambda a, r: [((), a.T)], None),
}


def narrow(a, b):
    """a - b, as near as the type of a comes."""
    if a.dtype.kind == "f":
        return a - b
    return np.clip(a.astype(object) - b.astype(object), np.iinfo(a.dtype).min, np.iinfo(a.dtype).max).astype(a.dtype)


def picture(rng, dtype, shape):
    if np.dtype(dtype).kind == "f":
        return (rng.random(shape) * 200 - 50).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -2**40), min(info.max, 2**40), shape, endpoint=True).astype(dtype)


def differ(got, want, tolerance, scale):
    """Why the two are not the same; None: they are."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if tolerance is None:
        want = want.astype(np.float16) if got.dtype == np.float16 else want
        bad = got != want
    elif tolerance == "edge":                   # a comparison at the very edge of rounding may fall either way
        return None if np.mean(got != want) < 0.01 or got.size < 50 else "another mask"
    else:
        eps = (2e-6 if got.dtype != np.float64 else 1e-12) * tolerance
        bad = ~(np.abs(got.astype(np.float64) - want) <= eps * max(scale, 1) * 4) & ~(np.isnan(got) & np.isnan(want))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    return f"at {at}: {got[at]!r}, not {want[at]!r}"


def tell(name, why):
    print(f"fail {name} {why}" if why else f"pass {name}", flush=True)


def check_element(element):
    dtype, real, rng = ELEMENTS[element], real_of(element), np.random.default_rng(7)
    names = {"S": "" if element == "u8" else f"_{element}", "E": element, "R": "f32" if real == np.float32 else "f64"}
    text = 'import "std/image.df";\n' + "".join(
        "graph call_%s(%s) { %s }\n" % (name, ports.format(**names), body.format(**names)) for name, (ports, body, _, _) in FUNCTIONS.items())
    library = dfc.compile(text, flags=FLAGS)
    for name, (ports, _, oracle, tolerance) in FUNCTIONS.items():
        why, call = None, getattr(library, f"call_{name}")
        scalars = [one.split(":")[0].strip() for one in ports.partition(";")[2].split(",")]
        for shape in SIZES:
            a = picture(rng, dtype, shape)
            scale = float(np.abs(a.astype(np.float64)).max()) * (8 if "sobel" in name or name == "laplacian" else 1)
            if name in ("nearest", "bilinear"):
                for to in ((1, 1), (5, 3), (40, 61)):
                    out = np.empty(to, dtype if name == "nearest" else real)
                    got = call(a, out=out)
                    why = why or differ(got, nearest(a, to) if name == "nearest" else bilinear(a, to, real), tolerance, scale)
            elif name == "flat_field":
                flat, dark = picture(rng, dtype, shape), (picture(rng, dtype, shape) // 8).astype(dtype)
                want = calibrated(a, flat, dark, real)
                why = why or differ(call(a, flat, dark), want, tolerance, float(np.abs(want).max()))
            else:
                for more, want in oracle(a.astype(np.float32) if element == "f16" else a, real):    # SciPy has no f16
                    found = differ(call(a, **dict(zip(scalars, more))), want, tolerance, scale)
                    why = why or (found and f"{shape} {more} {found}")
        tell(f"{name}-{element}", why)
    if np.dtype(dtype).kind == "f" and element != "f16":
        a = picture(rng, dtype, (20, 30))
        a[7, 9] = np.nan
        tell(f"nan-{element}", differ(library.call_gaussian(a, s=1.5), ndimage.gaussian_filter(a.astype(np.float64), 1.5, mode="reflect"), 1, 200))


def check_levels():
    rng = np.random.default_rng(8)
    library = dfc.compile("""import "std/image.df";
graph call_histogram(in a: u8[h, w], out n: i32[256]) { n = histogram(a); }
graph call_otsu(in a: u8[h, w], out t: f32) { t = otsu(a); }
graph call_otsu_u16(in a: u16[h, w], out t: f32) { t = otsu_u16(a); }
graph call_equalise(in a: u8[h, w], out o: u8[h, w]) { o = equalise(a); }
graph call_grey(in a: u8[h, w, 3], out o: u8[h, w]) { o = grey(a); }
graph call_hsv(in a: u8[h, w, 3], out o: f32[h, w, 3]) { o = hsv(a); }
graph call_back(in a: u8[h, w, 3], out o: u8[h, w, 3]) { v = hsv(a); o = from_hsv(v); }
graph call_lab(in a: u8[h, w, 3], out o: f32[h, w, 3]) { o = lab(a); }
graph call_overlay(in a: u8[h, w, 3], in m: u8[h, w], out o: u8[h, w, 3]) { o = overlay(a, m, 255, 0, 10); }
""", flags=FLAGS)
    a = (rng.normal(80, 15, (50, 60)) + (rng.random((50, 60)) > 0.7) * 90).clip(0, 255).astype(np.uint8)
    t = rng.integers(0, 256, (40, 30, 3), dtype=np.uint8)
    t[:3, :3] = 77
    b = (a.astype(np.uint16) * 200 + rng.integers(0, 200, a.shape)).astype(np.uint16)
    tell("histogram", differ(library.call_histogram(a), np.bincount(a.ravel(), minlength=256), None, 0))
    tell("otsu", differ(library.call_otsu(a), filters.threshold_otsu(a), None, 0))
    tell("otsu-one-value", differ(library.call_otsu(np.full((4, 4), 9, np.uint8)), 9, None, 0))
    tell("otsu-u16", differ(library.call_otsu_u16(b), filters.threshold_otsu(b, nbins=65536), None, 0))
    share = np.cumsum(np.bincount(a.ravel(), minlength=256)) / a.size
    tell("equalise", differ(library.call_equalise(a), np.rint(255 * share[a]).astype(np.uint8), None, 0))
    tell("grey", differ(library.call_grey(t), np.rint((np.float32(0.299) * t[..., 0] + np.float32(0.587) * t[..., 1]) + np.float32(0.114) * t[..., 2]), None, 0))
    tell("hsv", differ(library.call_hsv(t), color.rgb2hsv(t), 1, 1))
    tell("from_hsv", differ(library.call_back(t), t, None, 0))
    tell("lab", differ(library.call_lab(t), color.rgb2lab(t), 20, 100))
    mask = (rng.random((40, 30)) > 0.5).astype(np.uint8)
    want = np.where(mask[..., None] != 0, np.rint((t.astype(np.float64) + [255, 0, 10]) / 2), t)
    tell("overlay", differ(library.call_overlay(t, mask), want, None, 0))


for one in [word for word in sys.argv[1:] if word not in FLAGS] or ELEMENTS:
    check_element(one)
check_levels()
