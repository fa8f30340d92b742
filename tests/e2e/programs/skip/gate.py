import sys

import numpy as np
import dfc
gate = dfc.compile("gate.df", "gate", options=sys.argv[1] if len(sys.argv) > 1 else "")
w, all_, sum_, m = gate(np.array([2, 5], "int32")); assert list(w) == [6, 12] and list(all_) == [3, 6] and gate.empty == {}
w, all_, sum_, m = gate(np.array([3, 5], "int32")); assert w is None and list(all_) == [3, 5] and gate.empty == {"w": True}, gate.empty
assert list(sum_) == [0, 0] and list(m) == [1, 1]       # what comes once, after the last wave, is never empty
v = np.arange(8, dtype="int32").reshape(8, 1)
w, all_, sum_, m = gate(v, waves=8)
assert list(gate.empty["w"]) == [False, True] * 4 and list(gate.empty) == ["w"]
assert list(w[::2, 0]) == [2, 6, 10, 14] and list(all_[:, 0]) == [1, 1, 3, 3, 5, 5, 7, 7]
assert list(sum_) == [32] and list(m) == [33]
print("right")
