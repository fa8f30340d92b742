#!/usr/bin/env python3
"""Computes the polynomials and constants of runtime/df_math.h: tests/math/coefficients.py [--check]

Each polynomial interpolates its function at the Chebyshev nodes of the interval, which is within a small factor of the best one (the bound
of Lebesgue). Prints a line for each: its coefficients, lowest first, and its largest error before they are rounded. With --check it
prints the numbers that the header lacks, and exits with 1 if there are any. Needs mpmath (Debian: python3-mpmath).
"""
import pathlib
import struct
import sys

from mpmath import mp, mpf, mpmathify, atan, atanh, chebyt, cos, exp, log, lu_solve, matrix, nstr, pi, sin, sqrt, tan, tanh

mp.prec = 400


def rounded(value, width):
    """The nearest number of 64 or 32 bits."""
    near = float(value)
    return near if width == 64 else struct.unpack("f", struct.pack("f", near))[0]


def text(number, width):
    """C's hexadecimal form of a number, without the zeros at its end."""
    head, tail = float(number).hex().split("p")
    head = head.rstrip("0").rstrip(".") if "." in head else head
    return f"{head}p{tail}" + ("f" if width == 32 else "")


def interpolate(function, low, high, count):
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    powers = matrix(count, count)
    for row, node in enumerate(nodes):
        for column in range(count):
            powers[row, column] = node ** column
    return list(lu_solve(powers, matrix([function(node) for node in nodes])))


def error(function, coefficients, low, high):
    most = mpf(0)
    for k in range(201):
        at = low + (high - low) * (k + mpf(1) / 3) / 202
        value = sum(c * at ** power for power, c in enumerate(coefficients))
        most = max(most, abs(value - function(at)))
    return most


def polynomial(function, low, high, count, width):
    """The rounded coefficients, lowest first, and the error of those that are not."""
    low, high = mpmathify(low), mpmathify(high)
    found = interpolate(function, low, high, count)
    return [rounded(c, width) for c in found], error(function, found, low, high)


def odd(f):
    """(f(sqrt z) / sqrt z - 1) / z, of f(x) = x + x^3 P(x^2)."""
    return lambda z: (f(sqrt(z)) / sqrt(z) - 1) / z


quarter = (pi / 4 * (1 + mpf(2) ** -16)) ** 2
half_log = log(2) / 2 * (1 + mpf(2) ** -16)
s2 = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * (1 + mpf(2) ** -16)
POLYNOMIALS = [
    # name, function, interval, coefficients, bits
    ("EXP_F64", lambda r: (exp(r) - 1 - r) / r ** 2, -half_log * (1 + mpf(2) ** -12), half_log, 11, 64),
    ("EXP_F32", lambda r: (exp(r) - 1 - r) / r ** 2, -half_log * (1 + mpf(2) ** -12), half_log, 5, 32),
    ("EXP2_F64", lambda r: (mpf(2) ** r - 1) / r, -mpf(1) / 2 - mpf(2) ** -12, mpf(1) / 2 + mpf(2) ** -16, 12, 64),
    ("EXP2_F32", lambda r: (mpf(2) ** r - 1) / r, -mpf(1) / 2 - mpf(2) ** -12, mpf(1) / 2 + mpf(2) ** -16, 7, 64),
    ("LOG_F64", lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, 0, s2, 8, 64),
    ("LOG_F32", lambda f: (log(1 + f) - f + f ** 2 / 2) / f ** 3, sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 9, 32),
    ("LOG2_F64", lambda z: 3 * (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3) / z ** 2, 0, s2, 8, 64),
    ("LOG2_F32", lambda z: 2 / log(2) * atanh(sqrt(z)) / sqrt(z), 0, s2, 6, 64),
    ("SIN_F64", odd(sin), 0, quarter, 6, 64),
    ("COS_F64", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, 0, quarter, 6, 64),
    ("SIN_F32", odd(sin), 0, quarter, 4, 64),
    ("COS_F32", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, 0, quarter, 4, 64),
    ("TAN_F64", odd(tan), 0, quarter, 15, 64),
    ("ATAN_F64", odd(atan), 0, 1, 21, 64),
    ("ATAN_F32", odd(atan), 0, 1, 9, 32),
    ("TANH_F64", odd(tanh), 0, mpf("0.5625") ** 2, 11, 64),
    ("TANH_F32", odd(tanh), 0, mpf("0.5625") ** 2, 6, 32),
]


def split(value, bits):
    """`value` as parts of `bits` bits each (a part loses its lowest ones), the last one of 53."""
    parts = []
    for count in bits:
        scale = mpf(2) ** (count - 1 - int(mp.floor(log(abs(value), 2))))
        parts.append(mp.floor(abs(value) * scale) / scale * (1 if value > 0 else -1))
        value -= parts[-1]
    return [float(p) for p in parts]


CONSTANTS = [
    ("LOG2E", [float(1 / log(2))], 64),
    ("LOG2E_F32", [rounded(1 / log(2), 32)], 32),
    ("LN2_F64", split(log(2), [41, 53]), 64),
    ("LN2_F32", split(log(2), [15, 24]), 32),
    ("LOG2_SCALE", split(2 / (3 * log(2)), [26, 53]), 64),
    ("TWO_OVER_PI", [float(2 / pi)], 64),
    ("HALF_PI_NEAR", split(pi / 2, [36, 36, 36, 53]), 64),
    ("PI_F64", split(pi, [53, 53]), 64),
    ("PI_F32", split(pi, [24, 24]), 32),
    ("HALF_PI_F64", split(pi / 2, [53, 53]), 64),
    ("HALF_PI_F32", split(pi / 2, [24, 24]), 32),
]


def lines():
    for name, function, low, high, count, width in POLYNOMIALS:
        found, most = polynomial(function, low, high, count, width)
        yield name, [text(c, width) for c in found], nstr(most, 3)
    for name, values, width in CONSTANTS:
        yield name, [text(rounded(v, width), width) for v in values], ""
    with mp.workprec(1400):
        whole = int(mp.floor(2 / mp.pi * mpf(2) ** (32 * 38)))
    yield "TWO_OVER_PI_BITS", [f"0x{whole >> 32 * (37 - k) & 0xffffffff:08x}u" for k in range(38)], ""


def main():
    header = (pathlib.Path(__file__).resolve().parents[2] / "runtime/df_math.h").read_text() if "--check" in sys.argv else ""
    missing = 0
    for name, numbers, most in lines():
        if not header:
            print(f"{name} {' '.join(numbers)}" + (f"    # {most}" if most else ""))
            continue
        for number in numbers:
            if number not in header:
                print(f"{name}: {number} is not in runtime/df_math.h")
                missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
