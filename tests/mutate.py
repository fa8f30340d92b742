#!/usr/bin/env python3
"""Changes product code in one place at a time, and says which changes the tests notice: tests/mutate.py [--n=60] [--seed=1] [--only=FOLDER]

A mutant is the tree with one operator or constant changed. It is made in a copy of the tree, build/mutate/tree, built there, and tested: first
by the unit tests of the same room, then by the other unit tests, then by the golden tests, then by the end-to-end tests, the quick ones first.
The first test that fails ends it: the mutant was noticed. A test that takes three times its time and five seconds more runs again, alone and with
five times as long a limit: on a busy machine it may only be late.

Only the tests that reach the changed function are run. To know them, the unchanged tests run once on a copy in which each function to be changed
makes a file when it is called. For a change outside of functions, the unit tests that link the object run, and all other tests. For a change in a
header, all tests run.

Equal seeds and equal trees give equal mutants. What does not compile, and what compiles to the same machine code, is not counted, and another
place is drawn for it. Comments, texts, characters, asserts, attributes and preprocessor lines are not changed. Nor are lines that end processes or
remove files, nor sizes of arrays, nor what flex and bison read. Tests that fail without any change are not used.

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
GROUP = 4                                       # unit tests that are linked before the first of them runs
LATE, LONGER = ("124", "137"), 5                # exit statuses of a test that was ended; how much longer it may take when it runs again
DRAWN_BESIDES = 20                              # places looked at before the start, more than are asked for: some do not compile
REACHED = """#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef DF_MUTATE
#define DF_MUTATE                               /* a unit test may include two files that have this */
static __attribute__((unused)) void df_mutate_reached(int place)
{
    static char seen[%d];
    const char *dir = seen[place] ? 0 : getenv("DF_MUTATE_REACHED");
    seen[place] = 1;
    if (dir) {
        int before = errno, fd;
        char name[4096];
        snprintf(name, sizeof name, "%%s/%%d", dir, place);
        if ((fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) >= 0)
            close(fd);
        errno = before;
    }
}
#endif
#line 1
"""

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
LEFT_ALONE = re.compile(r"\b(?:assert|static_assert|_Static_assert|kill|unlink|rmdir|remove|rename|nftw|__attribute__)\b")


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


def body_of(text, offset):
    """Where the function's body begins that holds the offset; None outside of functions."""
    depth, begin, before = 0, None, ""
    for m in TOKEN.finditer(text):
        if m.start() >= offset:
            return begin
        if m.lastgroup in ("comment", "pre"):
            continue
        if m[0] == "{":
            if depth == 0:
                begin = m.end() if before == ")" else None
            depth += 1
        elif m[0] == "}":
            depth -= 1
            if depth == 0:
                begin = None
        before = m[0]
    return None


def find_probes(tree, drawn):
    """The bodies of the functions that hold the places, {file: {offset: number}}, and the number of each place, {(file, offset): number}."""
    bodies, numbers = {}, {}
    for file, offset, *_ in drawn:
        begin = body_of((tree / file).read_text(), offset) if file.endswith(".c") else None
        if begin is not None:
            count = sum(len(b) for b in bodies.values())
            numbers[file, offset] = bodies.setdefault(file, {}).setdefault(begin, count)
    return bodies, numbers


def write_probes(tree, bodies):
    """Lets each of these functions make a file named by its number when it is called. Returns the texts before, by file."""
    texts = {file: (tree / file).read_text() for file in bodies}
    for file, text in texts.items():
        for begin, number in sorted(bodies[file].items(), reverse=True):
            text = f"{text[:begin]} df_mutate_reached({number});{text[begin:]}"
        (tree / file).write_text(REACHED % sum(len(b) for b in bodies.values()) + text)
    return texts


class Tests:
    """The tests of the copy: how long they take, what they link, and which places they reach."""

    def __init__(self, tree, make):
        self.tree, self.make, self.build = tree, make, tree / BUILDDIR
        self.units = {f"unit-{f.stem[5:]}": f for f in sorted(tree.glob("tests/unit/**/test_*.c"))}

    def measure(self, key, drawn):
        """Runs every test on the tree with probes; remembers the times and what was reached while the tree and the places stay the same."""
        times = self.tree.parent / "times"
        bodies, self.numbers = find_probes(self.tree, drawn)
        if not times.exists() or not times.read_text().startswith(key + "\n"):
            print("the tests without any change:", flush=True)
            texts = write_probes(self.tree, bodies)
            try:
                lines = self.run_all()
            finally:
                for file, text in texts.items():
                    (self.tree / file).write_text(text)
            times.write_text("\n".join([key] + lines))
        self.seconds, self.reached = {}, {}
        for name, s, *places in (line.split() for line in times.read_text().split("\n")[1:]):
            self.seconds[name], self.reached[name] = float(s), {int(p) for p in places}

    def run_all(self):
        done = self.make("tests")
        if done.returncode:
            sys.exit(done.stdout + "mutate: the tree does not build")
        names = subprocess.run(["tests/run.sh", BUILDDIR, "--list"], cwd=self.tree, stdout=subprocess.PIPE, text=True).stdout.split()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [line for line in pool.map(self.run_once, names) if line]

    def run_once(self, name):
        """The test's line among the times: name, seconds, numbers of the places reached; None if it fails or looks at sources alone."""
        logs, reached = self.tree.parent / "logs" / name, self.tree.parent / "reached" / name
        if name == "rooms":
            return None
        shutil.rmtree(reached, ignore_errors=True)
        reached.mkdir(parents=True)
        done = subprocess.run(["tests/run.sh", BUILDDIR, f"={name}"], cwd=self.tree, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              env=environment() | {"DF_MUTATE_REACHED": str(reached), "DF_TEST_JOBS": "1", "DF_TEST_LOGS": str(logs)},
                              preexec_fn=limit_process)
        if done.returncode:
            print(f"  {name} fails, and is not used", flush=True)
            return None
        return " ".join([name, (logs / f"{name}.s").read_text().strip(), *(f.name for f in reached.iterdir())])

    def read_symbols(self):
        self.linked = {}
        for name, source in self.units.items():
            self.linked[name] = defined_in(self.build / "tests" / source.stem)

    def order(self, file, offset):
        """The tests' names for a change of the file at the offset, in the order in which they run, as groups."""
        room = str(pathlib.PurePath(file).parent)
        objects = [self.build / "obj" / pathlib.PurePath(file).with_suffix(".o")] if file.endswith(".c") else []
        symbols = set().union(*(defined_in(o) for o in objects))
        number = self.numbers.get((file, offset))
        used = [n for n in self.seconds if number is None or number in self.reached[n]]
        near, far = [], []
        for name, source in self.units.items():
            if name in used and (number is not None or not symbols or symbols & self.linked[name]):
                mirrored = str(source.parent.relative_to(self.tree / "tests/unit"))
                (near if room == mirrored or room.startswith(mirrored + "/") else far).append(name)
        rest = [n for n in used if n.startswith("e2e-")]
        groups = [sorted(g, key=self.seconds.get) for g in (near, far, [n for n in used if n == "golden"], rest)]
        return [g[i:i + GROUP] for g in groups for i in range(0, len(g), GROUP)]

    def ended(self, name, worker, factor=1):
        """"passed", "failed", or "late" if the test was ended at its limit."""
        limit, logs = factor * int(3 * self.seconds[name] + 5), self.tree.parent / f"logs{worker}"
        status = logs / f"{name}.rc"
        status.unlink(missing_ok=True)
        env = environment() | {"DF_TEST_LIMIT_S": str(limit), "DF_TEST_JOBS": "1", "DF_TEST_LOGS": str(logs)}
        done = subprocess.run(["tests/run.sh", BUILDDIR, f"={name}"], cwd=self.tree, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit_process)
        if done.returncode == 0:
            return "passed"
        return "late" if status.exists() and status.read_text().strip() in LATE else "failed"

    def first_failure(self, file, offset):
        """The name of the test that noticed, or None."""
        groups = self.order(file, offset)
        if not groups:
            print(f"  no test reaches {file}:{offset}", flush=True)
        for group in groups:
            programs = [f"{BUILDDIR}/tests/{self.units[n].stem}" for n in group if n in self.units]
            if programs and self.make(*programs).returncode:
                return "the compiler, in " + ", ".join(group)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                waiting, running, noticed, late = list(group), {}, None, []
                while (waiting and not noticed) or running:
                    while waiting and not noticed and len(running) < os.cpu_count():
                        worker = next(w for w in range(os.cpu_count()) if w not in running.values())
                        name = waiting.pop(0)
                        running[pool.submit(lambda n, w: (n, self.ended(n, w)), name, worker)] = worker
                    for done in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                        del running[done]
                        name, end = done.result()
                        noticed = noticed or (name if end == "failed" else None)
                        late += [name] if end == "late" else []
            noticed = noticed or next((name for name in late if self.ended(name, 0, LONGER) != "passed"), None)
            if noticed:
                return noticed
        return None


def environment():
    """Without what make adds: the programs that tests build are compiled as they are by `make check`, not by the CC of `make mutate CC=…`."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS")) and k not in ("CC", "CFLAGS")}


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

    looked_at = drawn[:options.n + DRAWN_BESIDES]
    tests = Tests(tree, make)
    tests.measure(key + hashlib.sha256(repr(looked_at).encode()).hexdigest(), looked_at)
    tests.read_symbols()
    done = make("all")
    if done.returncode:
        sys.exit(done.stdout + "mutate: the tree does not build")
    noticed = survived = not_compiled = same = 0
    compiled, objects = {}, digest_of_objects(tree)     # file: its object without a change; of all objects
    for file, offset, length, new in drawn:
        if noticed + survived == options.n:
            break
        source, text = tree / file, (tree / file).read_text()
        what = describe(text, file, offset, length, new)
        obj = pathlib.PurePath(BUILDDIR, "obj", file).with_suffix(".o")
        if file.endswith(".c") and file not in compiled and (tree / obj).exists():    # runtime/std/ is compiled with the programs that import it
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
            if file not in compiled and objects == digest_of_objects(tree):
                same += 1
                continue
            test = tests.first_failure(file, offset)
        finally:
            source.write_text(text)
        noticed, survived = noticed + bool(test), survived + (not test)
        print(f"{'noticed ' if test else 'SURVIVED'} {what}{' by ' + test if test else ''}", flush=True)
    if same:
        print(f"{same} drawn besides that compile to the same machine code")
    print(f"{noticed} noticed, {survived} survived, {not_compiled} not compiled")
    return 0


def digest_of_objects(tree):
    """Of the machine code of all product code, for changes in headers."""
    digest = hashlib.sha256()
    for file in sorted(f for top in TOPS for f in (tree / BUILDDIR / "obj" / top).rglob("*.o")):
        digest.update(file.read_bytes())
    return digest.digest()


def describe(text, file, offset, length, new):
    """FILE:LINE: old → new: the line."""
    start = text.rfind("\n", 0, offset) + 1
    line = text[start:text.find("\n", offset)].strip()
    return f"{file}:{text.count(chr(10), 0, offset) + 1}: {text[offset:offset + length]} → {new or 'nothing'}: {line}"


if __name__ == "__main__":
    sys.exit(main())
