"""Arrays of different sizes for t_sizes.sh: two waves of three, an empty one, and others."""
import numpy as np

np.save("a.npy", np.array([[0.5, 1, 2], [10.5, 11, 12]], dtype="f4"))
np.save("empty.npy", np.zeros(0, dtype="f4"))
np.save("b.npy", np.array([100.5, 7], dtype="f4"))
np.save("c.npy", np.array([1000.5, 1, 2, 3, 4], dtype="f4"))
np.save("d.npy", np.zeros(6, dtype="f4"))
np.save("cube.npy", np.zeros((2, 2, 2), dtype="f4"))
np.save("wide.npy", np.zeros(2))
