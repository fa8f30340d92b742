"""The oracle of t_io.sh: npy.py make; npy.py compare A B …, a line for each two files: same, or how they differ."""
import sys
import numpy as np

if sys.argv[1] == "compare":
    for first, second in zip(sys.argv[2::2], sys.argv[3::2]):
        try:
            a, b = np.load(first), np.load(second)
            same = a.dtype == b.dtype and a.shape == b.shape and (a == b).all()
            print("same" if same else f"{a.dtype} {a.shape}, {b.dtype} {b.shape}")
        except (OSError, ValueError) as error:
            print(error)
    sys.exit()
a = np.arange(24, dtype="f4").reshape(2, 3, 4) / 7
np.save("a.npy", a)
np.save("one.npy", a[1])
with open("v2.npy", "wb") as file:
    np.lib.format.write_array(file, a, version=(2, 0))
np.save("fortran.npy", np.asfortranarray(a))
np.save("f64.npy", a.astype("f8"))
np.save("complex.npy", a.astype("c8"))
np.save("records.npy", np.zeros(3, dtype=[("x", "f4"), ("y", "i4")]))
np.save("big.npy", a.astype(">f4"))
np.save("rank.npy", a[0, 0])
np.save("flat.npy", np.zeros((3, 0), "f4"))
for name, kind in {"u8": "u1", "u16": "u2", "i32": "i4", "i64": "i8", "f16": "f2", "f32": "f4", "f64": "f8"}.items():
    np.save(name + ".npy", (np.arange(24) * 9).astype(kind).reshape(2, 3, 4))
