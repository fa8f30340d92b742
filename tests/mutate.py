#!/usr/bin/env python3
"""Changes product code in one place at a time, and says which changes the tests notice: tests/mutate.py [--n=60] [--seed=1] [--only=FOLDER]

A mutant is the tree with one operator or constant changed. It is made in a copy of the tree, build/mutate/tree, built there, and tested: first
by the unit tests of the same room, then by those that link the changed object, then by the golden tests, then by the end-to-end tests, the quick
ones first. The first test that fails ends it: the mutant was noticed. So does a test that takes three times its time and five seconds more.

Equal seeds and equal trees give equal mutants. What does not compile, and what compiles to the same machine code, is not counted, and another
place is drawn for it. Comments, texts, characters, asserts and preprocessor lines are not changed; nor are lines that end processes or remove
files, nor sizes of arrays, nor what flex and bison read. Tests that fail without any change are not used.

The last line is `N noticed, N survived, N not compiled`.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys

TOPS = ("dsl", "runtime", "memmgr", "partition", "profiles", "compiler")
BUILDDIR = "build/release"
CFLAGS = "-g0"                                  # so that equal machine code is equal objects
FILE_BYTES = 2 << 30

TOKEN = re.compile(r"""
      (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?P<pre> ^[ \t]*\#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)* )
    | (?P<text> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    | (?P<word> [A-Za-z_]\w* )
    | (?P<number> 0[xX][0-9a-fA-F]+[uUlL]* | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]* )
    | (?P<operator> <<= | >>= | -> | \+\+ | -- | << | >> | [<>=!+\-*/%&|^]= | && | \|\| | [-+*/%<>=!&|^~?:;,.(){}\[\]] )
    """, re.X | re.S | re.M)

SWAPS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
         "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("/",), "&&": ("||",), "||": ("&&",), "!": ("",),
         "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",), "++": ("--",), "--": ("++",),
         "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "|=": ("&=",), "&=": ("|=",)}
SPACED = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">"}     # with a space on both sides they have two operands
LEFT_ALONE = re.compile(r"\b(?:assert|static_assert|_Static_assert|kill|unlink|rmdir|remove|rename|nftw)\b")


def changed_numbers(text):
    """What may stand for this number."""
    digits, suffix = re.fullmatch(r"(.*?)([uUlLfF]*)", text, re.S).groups()
    if re.match(r"0[xX]", text):
        digits, suffix = re.fullmatch(r"(0[xX][0-9a-fA-F]+?)([uUlL]*)", text).groups()
        return (hex(int(digits, 16) + 1) + suffix,)
    if re.search(r"[.eE]", digits) or suffix.lower() == "f":
        return ("1.0" + suffix if float(digits) == 0 else f"(2 * {text})",)
    value = int(digits, 8) if re.fullmatch(r"0\d+", digits) else int(digits)
    return tuple(f"{v}{suffix}" for v in ({0: (1,), 1: (0, 2)}.get(value, (value - 1, value + 1))))


def places(text):
    """Each (offset, length, replacement) that may be changed in a C file."""
    tokens = [m for m in TOKEN.finditer(text) if m.lastgroup not in ("comment", "pre")]
    for i, m in enumerate(tokens):
        token, kind = m[0], m.lastgroup
        before, after = text[m.start() - 1:m.start()], text[m.end():m.end() + 1]
        start = text.rfind("\n", 0, m.start()) + 1
        if LEFT_ALONE.search(text, start, text.find("\n", m.end())) or in_assert(tokens, i):
            continue
        options = ()
        if kind == "number":
            array = tokens[i - 1][0] == "[" and i + 2 < len(tokens) and tokens[i + 1][0] == "]" and tokens[i + 2][0] in ";,=[)"
            if not (array and int(re.match(r"\d*", token)[0] or 0) >= 8):
                options = changed_numbers(token)
        elif kind == "word" and token in ("true", "false"):
            options = ("false" if token == "true" else "true",)
        elif kind == "operator" and (token not in SPACED or (before.isspace() and after.isspace())):
            options = SWAPS.get(token, ())
        for option in options:
            yield m.start(), len(token), option


def in_assert(tokens, i):
    """Whether a statement that began on an earlier line, and is an assert, holds the token."""
    for j in range(i, max(i - 60, -1), -1):
        if tokens[j][0] in (";", "{", "}"):
            return False
        if tokens[j][0] in ("assert", "static_assert", "_Static_assert"):
            return True
    return False


class Tests:
    """The tests of the copy: how long they take, and what they link."""

    def __init__(self, tree, make):
        self.tree, self.make, self.build = tree, make, tree / BUILDDIR
        self.units = {f"unit-{f.stem[5:]}": f for f in sorted(tree.glob("tests/unit/**/test_*.c"))}

    def measure(self, key):
        """Runs every test on the unchanged tree; remembers the times while the tree stays the same."""
        times = self.tree.parent / "times"
        if times.exists() and times.read_text().startswith(key + "\n"):
            lines = times.read_text().split("\n")[1:]
        else:
            print("the tests without any change:", flush=True)
            subprocess.run(["tests/run.sh", BUILDDIR], cwd=self.tree, stdout=subprocess.PIPE, env=environment(), preexec_fn=limit_process)
            logs = self.build / "test-logs"
            names = subprocess.run(["tests/run.sh", BUILDDIR, "--list"], cwd=self.tree, stdout=subprocess.PIPE, text=True).stdout.split()
            lines = []
            for name in names:
                said = (logs / name).read_text(errors="replace")
                if (logs / f"{name}.rc").read_text().strip() != "0" or re.search(r"^not ok (?!.*# SKIP)", said, re.M):
                    print(f"  {name} fails, and is not used", flush=True)
                else:
                    lines.append(f"{name} {(logs / f'{name}.s').read_text().strip()}")
            times.write_text("\n".join([key] + lines))
        self.seconds = {name: float(s) for name, s in (line.split() for line in lines if line)}

    def read_symbols(self):
        self.linked = {}
        for name, source in self.units.items():
            self.linked[name] = defined_in(self.build / "tests" / source.stem)

    def order(self, file):
        """The tests' names for a change of the file, in the order in which they run, as groups."""
        room = str(pathlib.PurePath(file).parent)
        objects = [self.build / "obj" / pathlib.PurePath(file).with_suffix(".o")] if file.endswith(".c") else []
        symbols = set().union(*(defined_in(o) for o in objects))
        near, far = [], []
        for name, source in self.units.items():
            if name in self.seconds and (not symbols or symbols & self.linked[name]):
                mirrored = str(source.parent.relative_to(self.tree / "tests/unit"))
                (near if room == mirrored or room.startswith(mirrored + "/") else far).append(name)
        rest = [n for n in self.seconds if n.startswith("e2e-")]
        groups = [sorted(g, key=self.seconds.get) for g in (near, far, [n for n in self.seconds if n == "golden"], rest)]
        return [g[i:i + 8] for g in groups for i in range(0, len(g), 8)]

    def fails(self, name, worker):
        limit = int(3 * self.seconds[name] + 5)
        env = environment() | {"DF_TEST_LIMIT_S": str(limit), "DF_TEST_JOBS": "1", "DF_TEST_LOGS": str(self.tree.parent / f"logs{worker}")}
        done = subprocess.run(["tests/run.sh", BUILDDIR, f"={name}"], cwd=self.tree, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit_process)
        return done.returncode != 0

    def first_failure(self, file):
        """The name of the test that noticed, or None."""
        for group in self.order(file):
            programs = [f"{BUILDDIR}/tests/{self.units[n].stem}" for n in group if n in self.units]
            if programs and self.make(*programs).returncode:
                return "the link of " + ", ".join(group)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                waiting, running, noticed = list(group), {}, None
                while (waiting and not noticed) or running:
                    while waiting and not noticed and len(running) < os.cpu_count():
                        worker = next(w for w in range(os.cpu_count()) if w not in running.values())
                        name = waiting.pop(0)
                        running[pool.submit(lambda n, w: (n, self.fails(n, w)), name, worker)] = worker
                    for done in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                        del running[done]
                        name, failed = done.result()
                        noticed = noticed or (name if failed else None)
            if noticed:
                return noticed
        return None


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}


def limit_process():
    """A mutant that fills the memory is the first to go; a limit would be in the way of tests that reserve much and use little."""
    pathlib.Path("/proc/self/oom_score_adj").write_text("1000")
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def defined_in(file):
    """The names of functions and variables that an object or a program defines for others."""
    if not file.exists():
        return set()
    lines = subprocess.run(["nm", "--defined-only", "--extern-only", file], stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return {line.split()[-1] for line in lines if re.search(r" [TDBR] (?:df|dfr|dfc|dfp|dfw|dfm)_", line)}


def copy_tree(root, tree):
    """The tree's files as they are now; those that did not change keep their times, so that little is compiled again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    names = sorted(n for n in listed.stdout.split("\0") if n and (root / n).is_file())
    key = hashlib.sha256()
    for name in names:
        data = (root / name).read_bytes()
        key.update(name.encode() + b"\0" + data)
        to = tree / name
        if not to.exists() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to)
    for file in [f for top in (*TOPS, "tests", "examples") for f in (tree / top).rglob("*") if f.is_file()]:
        if str(file.relative_to(tree)) not in set(names) and "__pycache__" not in file.parts:
            file.unlink()
    return key.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--list", action="store_true", help="only print the places that would be drawn first")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [str(f.relative_to(root)) for top in TOPS for f in sorted((root / top).rglob("*.[ch]"))]
    files = [f for f in files if f.startswith(options.only)]
    drawn = [(f, *p) for f in files for p in places((root / f).read_text())]
    random.Random(options.seed).shuffle(drawn)
    if not drawn:
        sys.exit(f"mutate: no place to change in '{options.only}'")
    if options.list:
        for file, offset, length, new in drawn[:options.n]:
            text = (root / file).read_text()
            print(describe(text, file, offset, length, new))
        return 0

    tree = root / "build/mutate/tree"
    key = copy_tree(root, tree)

    def make(*targets):
        command = ["make", "--no-print-directory", f"-j{os.cpu_count()}", f"BUILDDIR={BUILDDIR}", f"CFLAGS={CFLAGS}", f"CC={options.cc}", *targets]
        return subprocess.run(command, cwd=tree, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    done = make("tests")
    if done.returncode:
        sys.exit(done.stdout + "mutate: the tree does not build")
    tests = Tests(tree, make)
    tests.measure(key)
    tests.read_symbols()
    noticed = survived = not_compiled = same = 0
    compiled = {}                               # file: its object without a change
    for file, offset, length, new in drawn:
        if noticed + survived == options.n:
            break
        source, text = tree / file, (tree / file).read_text()
        what = describe(text, file, offset, length, new)
        obj = pathlib.PurePath(BUILDDIR, "obj", file).with_suffix(".o")
        if file.endswith(".c") and file not in compiled:
            compiled[file] = (tree / obj).read_bytes()
        source.write_text(text[:offset] + new + text[offset + length:])
        try:
            if file in compiled and make(str(obj)).returncode:
                not_compiled += 1
                continue
            if file in compiled and compiled[file] == (tree / obj).read_bytes():
                same += 1
                continue
            if make("all").returncode:
                not_compiled += 1
                continue
            test = tests.first_failure(file)
        finally:
            source.write_text(text)
        noticed, survived = noticed + bool(test), survived + (not test)
        print(f"{'noticed ' if test else 'SURVIVED'} {what}{' by ' + test if test else ''}", flush=True)
    if same:
        print(f"{same} drawn besides that compile to the same machine code")
    print(f"{noticed} noticed, {survived} survived, {not_compiled} not compiled")
    return 0


def describe(text, file, offset, length, new):
    """FILE:LINE: old → new: the line."""
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:text.find("\n", offset)].strip()
    return f"{file}:{text.count(chr(10), 0, offset) + 1}: {text[offset:offset + length]} → {new or 'nothing'}: {line}"


if __name__ == "__main__":
    sys.exit(main())
