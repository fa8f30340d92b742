# The library of sized.df, called with several sizes: each has the same bits as undivided, whatever was divided for it.
import sys

import numpy as np
import sized

plain, here = sized.nears.copy("--workers=1 --device=none"), sized.nears.copy(sys.argv[1])
for rows in 1, 200, 37, 200:
    a = (np.arange(rows * 16, dtype="f4") * 7 % 101).reshape(rows, 16)
    assert np.array_equal(plain(a), here(a)), rows
a = np.stack([a, a + 1, a * 2])
assert np.array_equal(plain(a, waves=3), here(a, waves=3))
