#!/usr/bin/env python3
"""Formulas with many taps: taps.py BUILDDIR [OUT] [--instructions] [--level=v3] [--height=H] [--width=W] [--calls=N]

Does a sum take time in proportion to its terms, and does a kernel whose number of taps is an extent take as long as one in which it is a constant? Makes
the kernels below, compiles what dfc makes of them for one level of instructions (none: what every processor has), and prints a table of nanoseconds of CPU time for an
element: 9 to 241 taps, in a row and in a column, of constants, of extents, of indices in clamp(), of a dynamic param, and of a window; sums of so many
bytes without taps, and of squares of them; pixels of three channels; terms with a condition or exp(); and a Gaussian of sigma 15 from Python, beside SciPy's gaussian_filter
if it is there (python3-scipy).

With --instructions it runs a part of them once in callgrind and prints lines `KERNEL TAPS INSTRUCTIONS`, where those are all that a call executes. tests/e2e
compares these, which a busy machine does not change.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"f": ("f32", "f32", "f32"), "d": ("f64", "f64", "f64"), "u": ("u8", "i32", "i32")}      # of elements, taps and sums
SMALL = (3, 5, 7, 9, 15) if os.environ.get("DF_LONG") else (3, 9, 15)     # counts of taps for which MAIN has a function each
LARGE = (31, 63, 65, 121, 241) if os.environ.get("DF_LONG") else (31, 63, 65, 241)
FEW = ("f_row", "f_column")     # kernels that are called with these
ROWS = "s_column,s_column_65,s_column_241,s_box,s_box_31"
FLAGS = "-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -w".split()


def taps(name, element, n, at):
    """A kernel of n taps, or of as many as an extent says. at: the indices, with an {r} for the radius."""
    a, k, o = TYPES[element]
    at = at.format(r=n // 2 if n else "n / 2")
    return f"{name}(in a: {a}[h, w] border clamp, in k: {k}[{n or 'n'}], out o: {o}[h, w]) {{ o[y, x] = sum(i in 0..{n or 'n'}: k[i] * a[{at}]); }}", n, element


def tested(n):
    """The sum of those of n neighbours that are large."""
    m, at = n or "n", ROW.format(r=n // 2 if n else "n / 2")
    return (f"c_row{f'_{n}' if n else ''}(in a: f32[h, w] border clamp, in k: f32[{m}], out o: f32[h, w]) "
            f"{{ o[y, x] = sum(i in 0..{m} if a[{at}] > 0.5: k[i] * a[{at}]); }}"), n, "f"


def called(n):
    """A sum of n values of exp()."""
    m, at = n or "n", ROW.format(r=n // 2 if n else "n / 2")
    return (f"e_row{f'_{n}' if n else ''}(in a: f32[h, w] border clamp, in k: f32[{m}], out o: f32[h, w]) "
            f"{{ o[y, x] = sum(i in 0..{m}: k[i] * exp(a[y, x] - a[{at}])); }}"), n, "f"


def plain(way, at, n):
    """The sum of n bytes, or of as many as an extent says."""
    at = at.format(r=n // 2 if n else "n / 2")
    return (f"s_{way}{f'_{n}' if n else ''}(in a: u8[h, w] border clamp, in k: i32[{n or 'n'}], out o: i32[h, w]) "
            f"{{ o[y, x] = sum(i in 0..{n or 'n'}: a[{at}]) + k[0]; }}"), n, "u"


def box(n):
    """The sum of n x n bytes."""
    m, r = n or "n", n // 2 if n else "n / 2"
    return (f"s_box{f'_{n}' if n else ''}(in a: u8[h, w] border clamp, in k: i32[{m}], out o: i32[h, w]) "
            f"{{ o[y, x] = sum(j in 0..{m}, i in 0..{m}: a[y + j - {r}, x + i - {r}]) + k[0]; }}"), n, "u"


def window(name, n):
    m, r = n or "n", n // 2 if n else "n / 2"
    return (f"{name}(in a: f32[h, w] border clamp, in k: f32[{m}, {m}], out o: f32[h, w]) "
            f"{{ o[y, x] = sum(j in 0..{m}, i in 0..{m}: k[j, i] * a[y + j - {r}, x + i - {r}]); }}"), n, "f"


def pixels(way, at, n):
    """The sum of n neighbours of each of three channels that lie side by side."""
    m, at = n or "n", at.format(r=n // 2 if n else "n / 2")
    return (f"p_{way}{f'_{n}' if n else ''}(in a: f32[h, w, 3] border clamp, in k: f32[{m}], out o: f32[h, w, 3]) "
            f"{{ o[y, x, c] = sum(i in 0..{m}: k[i] * a[{at}, c]); }}"), n, "f"


ROW, COLUMN, CALL = "y, x + i - {r}", "y + i - {r}, x", "y, clamp(x + i - {r}, 0, w - 1)"
DYNAMIC = ("f_dynamic(in a: f32[h, w] border clamp, in k: f32[n], out o: f32[h, w]) "
           "{ o[y, x] = sum(i in -reach..reach + 1: a[y, x + i] * (i + 0.5)); }", 0, "f")


def kernels(instructions):
    """All, or those that the test compares: (text, taps or 0 for an extent, element)."""
    for element in TYPES:
        for way, at in ("row", ROW), ("column", COLUMN):
            for n in (63, 65) if instructions and element != "f" else (*SMALL, *LARGE) if instructions else (9, 31, 63, 65, 121, 241):
                if not instructions or element == "f" or (element, way) in (("d", "column"), ("u", "row")):
                    yield taps(f"{element}_{way}_{n}", element, n, at)
            if not instructions or element == "f":
                yield taps(f"{element}_{way}", element, 0, at)
    for way, at in ("row", ROW), ("column", COLUMN):
        for n in (65, 241) if instructions else (9, 31, 63, 65, 121, 241):
            yield plain(way, at, n)
        for n in (31, 63, 65) if instructions else (9, 31, 63, 65, 121, 241):
            if not instructions or way == "column":
                yield pixels(way, at, n)
        if not instructions or way == "column":
            yield plain(way, at, 0)
            yield pixels(way, at, 0)
    for n in 31, 0:
        yield box(n)
        yield tested(n)
        yield called(n)
    yield taps("f_call", "f", 0, CALL)
    yield window("f_window_7", 7)
    yield window("f_window", 0)
    yield DYNAMIC


def make(options, chosen):
    """The program that calls them."""
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "taps.df"), "w") as f:
        print("param reach = 31 dynamic;", file=f)
        for text, _, _ in chosen:
            print("kernel", text, file=f)
        for elem in sorted({t for types in TYPES.values() for t in types}):
            print(f"kernel make_{elem}(out v: {elem}[n]) cpu {{{{ (void)v; }}}};\nkernel image_{elem}(out v: {elem}[h, w]) cpu {{{{ (void)v; }}}};\n"
                  f"kernel drop_{elem}(in v: {elem}[h, w]) ordered cpu {{{{ (void)v; }}}};", file=f)
        print("kernel pixels_f32(out v: f32[h, w, 3]) cpu {{ (void)v; }};\nkernel drop_pixels_f32(in v: f32[h, w, 3]) ordered cpu {{ (void)v; }};\ngraph main {", file=f)
        for text, n, element in chosen:
            name, (a, k, o) = text.split("(")[0], TYPES[element]
            extents = f"{n or 9}, {n or 9}" if "window" in name else n or 9
            pixel = name.startswith("p_")
            image, extent = ("pixels", ", 3") if pixel else ("image", "")
            print(f"    a_{name}: {a}[8, 64{extent}] = {image}_{a}();\n    k_{name}: {k}[{extents}] = {'image' if 'window' in name else 'make'}_{k}();\n"
                  f"    o_{name} = {name}(a_{name}, k_{name});\n    {'drop_pixels' if pixel else 'drop'}_{o}(o_{name});", file=f)
        print("}", file=f)
    with open(os.path.join(options.out, "kernels.h"), "w") as f:
        for text, n, element in chosen:
            print(f"KERNEL({text.split('(')[0]}, {7 if 'window' in text else n}, '{element}')", file=f)
    text = run([os.path.join(options.build, "bin/dfc"), "taps.df", "--nvcc=none", "--no-fuse", "--emit=c"], options.out)
    text = re.search(r"^/\* taps_formulas\.c - made by dfc.*?(?=^/\* \w+\.\w+ - made by dfc|\Z)", text, re.M | re.S).group()
    if options.instructions:        # the compiler leaves out functions for numbers of taps with which they are not called: a fifth of its time
        text = re.sub(r"^ *case (\d+): df_few\d+_\d+_(\w+)\(.*\n", lambda case: case[0] if case[2] in FEW and int(case[1]) in SMALL else "", text, flags=re.M)
    with open(os.path.join(options.out, "formulas.c"), "w") as f:
        f.write(text)
    march = [f"-march=x86-64-{options.level}"] if options.level else []
    run([*options.cc, *FLAGS, *march, "-I" + os.path.join(options.build, "include"), "-I.", os.path.join(HERE, "taps/taps.c"), "formulas.c", "-o", "taps", "-lm"], options.out)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"taps: error: {' '.join(command)}: {done.stdout}")
    return done.stdout


def instructions(options, *runs):
    """For each run (kernels, height, n): what a call of each kernel executes. They are of one process, because valgrind takes longer to start than for a run."""
    arguments = [str(word) for names, height, n in runs for word in (names, 1, height, options.width, n)]
    run(["valgrind", "--tool=callgrind", "--callgrind-out-file=taps.callgrind", "--compress-strings=no", "--dump-after=run_ends", "./taps", *arguments], options.out)
    for part in range(len(runs)):
        with open(os.path.join(options.out, f"taps.callgrind.{part + 1}"), encoding="utf-8") as f:
            yield re.findall(r"^cfn=df_formula_(\w+)\ncalls=.*\n\S+ (\d+)$", f.read(), re.M)


def times(options, n):
    for name, ms in re.findall(r"^(\w+) ([\d.]+)$", run(["./taps", "all", str(options.calls), str(options.height), str(options.width), str(n)], options.out), re.M):
        yield name, float(ms)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--level", default="")
    parser.add_argument("--height", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--calls", type=int, default=60)
    options = parser.parse_args()
    options.build = os.path.realpath(options.build)
    options.out = os.path.realpath(options.out or os.path.join(options.build, "taps"))
    options.cc = os.environ.get("CC", "cc").split()
    options.height = options.height or (4 if options.instructions else 32)
    options.width = options.width or (2048 if options.instructions else 2000)
    chosen = list(kernels(options.instructions))
    fixed = {text.split("(")[0]: 7 if "window" in text else n for text, n, _ in chosen}
    make(options, chosen)
    if options.instructions:
        few = [(",".join(FEW), options.height, n) for n in SMALL]
        runs = [("all", options.height, 31), ("f_row,f_column,f_call,f_dynamic,p_column", options.height, 63), *few, (ROWS, 64, 65)]     # the first row has all terms
        for (names, _, n), counts in zip(runs, instructions(options, *runs)):
            for name, count in counts:
                print(f"rows_{name}" if names == ROWS else name, fixed[name] or n, count)
        return
    elements, columns = options.height * options.width, (9, 31, 63, 65, 121, 241)
    table = {}
    for n in columns:
        for name, ms in times(options, n):
            row = re.sub(r"_\d+$", ", constant", name)
            if not fixed[name] or n == columns[0]:
                table.setdefault(row, {})[fixed[name] or n] = 1e6 * ms / elements
    windows = [table.pop(row) for row in ("f_window, constant", "f_window")]
    print(f"{'ns for an element':24}" + "".join(f"{n:>9}" for n in columns))
    for row, found in table.items():
        print(f"{row:24}" + "".join(f"{found[n]:9.3f}" if n in found else "        -" for n in columns))
    print(f"a window of 7 x 7: constant {windows[0][7]:.3f}, of extents {windows[1][7]:.3f}", flush=True)
    has_scipy = next((p for p in ("python3", "/usr/bin/python3") if subprocess.run([p, "-c", "import scipy"], stderr=subprocess.DEVNULL).returncode == 0), None)
    if not has_scipy:
        print("skipped: a Gaussian beside SciPy: python3-scipy is not installed")
        return
    subprocess.run([has_scipy, os.path.join(HERE, "taps/gaussian.py"), options.build], check=True)


main()
