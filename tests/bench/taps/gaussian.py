"""A Gaussian of sigma 15 as a graph of formulas, called from Python, beside SciPy's gaussian_filter, in turns: gaussian.py BUILDDIR

Prints the medians of CPU time of an element of 1024 x 1024 and the median of the ratios. Both end after four sigma, that is 121 taps in a row and in a column, and
repeat the border. SciPy adds in double, so the results agree to 1e-5 only.
"""
import statistics
import sys
import time

import numpy
import scipy
from scipy.ndimage import gaussian_filter

sys.path.insert(0, f"{sys.argv[1]}/share/dfc/python")
import dfc

SIGMA, SIZE, PAIRS = 15, 1024, 11
TEXT = """
param r = 60;
kernel down(in a: f32[h, w] border clamp, in k: f32[2 * r + 1], out o: f32[h, w]) { o[y, x] = sum(i in 0..2 * r + 1: k[i] * a[y + i - r, x]); }
kernel along(in a: f32[h, w] border clamp, in k: f32[2 * r + 1], out o: f32[h, w]) { o[y, x] = sum(i in 0..2 * r + 1: k[i] * a[y, x + i - r]); }
graph gaussian(in a: f32[h, w], in k: f32[2 * r + 1], out o: f32[h, w]) { b = down(a, k); o = along(b, k); }
"""


def timed(function):
    begin = time.process_time()
    result = function()
    return 1e9 * (time.process_time() - begin) / SIZE ** 2, result


def main():
    gaussian = dfc.compile(TEXT, options="--workers=1")
    weights = numpy.exp(-numpy.arange(-4 * SIGMA, 4 * SIGMA + 1) ** 2 / (2 * SIGMA ** 2))
    weights = (weights / weights.sum()).astype("f4")
    image = numpy.random.default_rng(1).random((SIZE, SIZE), dtype="f4")
    pairs = []
    for i in range(PAIRS + 1):
        theirs, expected = timed(lambda: gaussian_filter(image, SIGMA, mode="nearest"))
        ours, found = timed(lambda: gaussian(image, weights))
        assert numpy.abs(expected - found).max() < 1e-5
        pairs += [(ours, theirs)] if i > 0 else []
    ours, theirs = (statistics.median(p[k] for p in pairs) for k in (0, 1))
    print(f"a Gaussian of sigma {SIGMA} from Python, one worker: {ours:.2f}; SciPy {scipy.__version__} {theirs:.2f}; "
          f"ratio {statistics.median(o / t for o, t in pairs):.3f}")


main()
