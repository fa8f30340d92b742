# Calls of the library of called.df, of several lengths one after the other: in passes the results have the same bits as in one.
# called.py PASSES OPTIONS…: a session for each text of options; prints `OPTIONS: PASSES WAVES BYTES`.
import sys

import numpy as np
import volume

passes = int(sys.argv[1])
plain = volume.volume.copy("--workers=1 --device=none --passes=1")
p = (np.arange(37 * 1024, dtype="f4") * 7 % 101 / 7 + 1).reshape(37, 1024)
p[5::9, 0] = 0  # which weigh skips


def call(f, waves):
    return f(p[:waves], z=64, waves=waves) if waves > 1 else f(p[0], z=64), f.empty.get("sum")


wanted = {waves: call(plain, waves) for waves in (37, 1, 2, 20, 3)}
for options in sys.argv[2:]:
    here = volume.volume.copy(options)
    for waves in 37, 1, 2, 20, 37, 3:
        (want, *empty), (got, *empty_here) = wanted[waves], call(here, waves)
        assert all(np.array_equal(want[k], got[k]) for k in (0, 2)), (waves, want[2], got[2])
        full = slice(None) if waves == 1 else p[:waves, 0] != 0
        assert np.array_equal(want[1][full], got[1][full]), (waves, want[1], got[1])
        assert waves == 1 or np.array_equal(*(np.array(e, bool) for e in empty + empty_here)), (waves, empty, empty_here)
    stats = here.stats
    assert stats["passes"] == passes, stats["passes"]
    here(p, z=64, waves=37)
    memory = here.stats["memories"]
    print(f"{options}:", stats["passes"], stats["waves"], [(m["h2d_bytes"], m["d2h_bytes"]) for m in memory], flush=True)
