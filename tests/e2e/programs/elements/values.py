"""Writes E.npy of each element type E, 3 x 5 elements with the ends of its range, and what the program of t_elements.sh is to make of it: E.want.npy,
E.want.raw and E.want.csv; and E.acc.raw, the sum over
three waves of what is wanted, of the file's own elements, and of what is wanted. Uses no NumPy: values.py ELEMENT..."""
import struct
import sys

CODES = {"u8": "|u1 B", "u16": "<u2 H", "u32": "<u4 I", "i8": "|i1 b", "i16": "<i2 h", "i32": "<i4 i", "i64": "<i8 q", "f16": "<f2 e", "f32": "<f4 f", "f64": "<f8 d"}


def npy(path, code, values, shape):
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values)


def rounded(value, low, high, wide):
    """Of integers: sums go around in the type of formulas; then the nearest that the element has."""
    return min(max((value + (1 << (wide - 1))) % (1 << wide) - (1 << (wide - 1)), low), high)


for elem in sys.argv[1:]:
    code, letter = CODES[elem].split()
    bits = 8 * struct.calcsize(letter)
    low, high = (0, (1 << bits) - 1) if elem[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if elem[0] == "f":
        values = [n * 0.25 for n in range(-7, 8)]
        want = [v + 1 for v in values]
        acc = [w + v + w for v, w in zip(values, want)]
    else:
        values = [low, low + 1, high, high - 1, high // 2] + [low // 3 + 11 * n for n in range(10)]
        wide = 64 if elem in ("u32", "i64") else 32
        want = [rounded(v + 1, low, high, wide) for v in values]
        acc = [rounded(rounded(w + v, low, high, wide) + w, low, high, wide) for v, w in zip(values, want)]
    pack = lambda numbers: struct.pack(f"<15{letter}", *numbers)  # noqa: E731
    npy(f"{elem}.npy", code, pack(values), (3, 5))
    npy(f"{elem}.want.npy", code, pack(want), (3, 5))
    for name, numbers in ("want", want), ("acc", acc):
        with open(f"{elem}.{name}.raw", "wb") as f:
            f.write(pack(numbers))
    with open(f"{elem}.want.csv", "w", encoding="ascii") as f:
        f.write(",".join(f"{v:g}" if elem[0] == "f" else str(v) for v in want) + "\n")
