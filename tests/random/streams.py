#!/usr/bin/env python3
"""Random programs whose tokens may be empty, whose extents may differ from wave to wave, and whose kernels keep state or are divided.

    streams.py BUILDDIR [--programs=N] [--sessions=N] [--first=SEED] [--keep=DIR] [--jobs=N] [--run='OPTION…'] [--under='mpirun …'] [--forks=KIND]

All of acc ports and final nodes, kernels that skip, select, bounded extents, `open`, `split` and @parts, streams of different lengths, formulas and
nested graphs stand in one program. What it prints is computed here (streams_model.py), apart from dfc. Each program is compiled once and run
under every policy, and with other options of a run that its seed draws: devices, little memory, waves in flight, recordings, stirred order.
If an acc is divided whose kernel makes nothing else, the waves go by several times, too (--passes). Calls of the emulated GPU fail: such a run
must end with an error that names the call, or be right. --run runs these options alone, and --under is the command under which programs run.

--sessions has libraries of such graphs, which several sessions call on arrays of the caller (streams_sessions.py, in a process of its own).
--forks says which sessions are called in forked children, too: none, host (those without a device) or all.

A program that differs is made smaller, and kept in the folder of --keep. Prints lines as tests/run.sh reads them.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import streams_model as model  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 300
POLICIES = ("eager ddfcfs ddwrr random ws dmda dmdas dmdar pats padas pams heft peft gp-thesis gp all-cpu all-gpu").split()
CALLS = ("alloc", "copy", "launch", "event", "wait", "query", "late-copy", "late-launch")

CAN_DIVIDE = ("blur", "near", "raise", "holes", "absorb", "pour", "spread", "gather")
MAY_PASS = ("pour", "spread", "gather")

KERNELS = """
kernel gen(out v: i32[y, x]; s: i32) cpu "streams.o";
kernel table(out v: i32[y, x]; s: i32) once cpu "streams.o";
kernel src(out v: i32[y, x]; s: i32, count: i32, p: i32) stream cpu "streams.o";
kernel load(out v: i32[y <= 12, x <= 5]; s: i32) cpu "streams.o";
kernel scale(in a: i32[y, x], out b: i32[y, x]; f: i32) cpu "streams.o";
kernel add(in a: i32[y, x], in b: i32[y, x], out c: i32[y, x]) cpu "streams.o";
kernel bump(inout a: i32[y, x]) cpu "streams.o";
kernel skips(in a: i32[y, x], out b: i32[y, x], out c: i32[y, x]; s: i32, p: i32) cpu "streams.o";
kernel gang(in a: i32[y, x], out b: i32[y, x]) threads(2) cpu "streams.o";
kernel less(in a: i32[y, x], out b: i32[y - 1, x]) cpu "streams.o";
kernel wide(in a: i32[y, x], out b: i32[y, 2 * x]) cpu "streams.o";
kernel cut(in a: i32[y, x], out b: i32[n <= 8, x]; s: i32) cpu "streams.o";
kernel blur(in a: i32[y, x] split y halo 2, in t: i32[p, q], out b: i32[y, x] split y) cpu "streams.o";
kernel near(in a: i32[y, x] split y halo 1, in b: i32[y, x] split y, tmp u: i32[y, x], out c: i32[y, x] split y, out d: i32[y, x] split y)
    cpu "streams.o";
kernel raise(inout a: i32[y, x] split y) cpu "streams.o";
kernel holes(in a: i32[y, x] split y, out b: i32[y, x] split y; s: i32) cpu "streams.o";
kernel count(in a: i32[y, x], out b: i32[y, x]; s: i32, p: i32) ordered cpu "streams.o";
kernel collect(in a: i32[y, x], acc v: i32[y, x], acc w: i32[y, x] = 12345, out so_far: i32[y, x]; s: i32, p: i32) cpu "streams.o";
kernel absorb(inout a: i32[y, x] split y, acc v: i32[y, x] split y = -5) cpu "streams.o";
kernel pour(in a: i32[y, x] split y, acc v: i32[y, x] split y = 7) cpu "streams.o";
kernel spread(in a: i32[p, q], acc v: i32[y, x] split y; s: i32) cpu "streams.o";
kernel bins(in a: i32[y, x], acc h: i32[13, 1]) cpu "streams.o";
kernel keeps(in a: i32[y, x], out b: i32[y, x]; s: i32) cpu "streams.o" open keeps_open close keeps_close;
kernel smooth(in a: i32[y, x] border clamp, out b: i32[y, x]) { b[i, j] = a[i - 2, j] + 2 * a[i, j - 1] + a[i + 1, j] + i; }
kernel inner(in a: i32[y, x], out b: i32[y - 2, x]) { b[i, j] = a[i, j] - 2 * a[i + 1, j] + a[i + 2, j]; }
kernel blend(in a: i32[y, x], in b: i32[y, x], out c: i32[y, x]) { c[i, j] = a[i, j] * 7 + b[i, j]; }
kernel gather(in a: i32[y, x], acc v: i32[y, x], acc lo: i32[y, x], acc hi: i32[y, x] = 3, acc e: i32[y, x] = -9) {
    v[i, j] += a[i, j] + i;
    lo[i, j] min= a[i, j];
    hi[i, j] max= a[i, j];
    e[i, j] = e[i, j] * 3 + a[i, j];
}
kernel report(in a: i32[y, x]; id: i32) ordered cpu "streams.o";
graph either(in a: i32[y, x], in t: i32[p, q], out c: i32[y, x]) {
    h = holes(a, 3);
    b = blur(h, t);
    c = select(b, a);
}
"""


class Stream:
    """A stream: `phase` once, wave or final; `extents` are alike of streams that may meet; `bounds` are rows and columns at most, and
    `of` gives the token of a wave. `line` makes it."""

    def __init__(self, name, phase, extents, bounds, of, line):
        self.name, self.phase, self.extents, self.bounds, self.of, self.line = name, phase, extents, bounds, of, line

    def fixed(self):
        return self.extents == self.bounds


class Line:
    def __init__(self, text, inputs):
        self.text, self.inputs = text, inputs


class Program:
    ROWS, COLUMNS = [1, 2, 7, 16, 37], [1, 3, 13, 40]

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.call = 0                   # what tokens are remembered for: a call of a session has other inputs than the one before
        self.waves = self.r.choice([1, 2, 5, 8, 13])
        self.length = self.waves        # of the shortest stream, once text() was called
        self.passes = 1                 # how often the waves may go by, the same
        self.streams, self.steps = [], 0
        self.formulas = self.r.random() < 0.4
        self.sources()
        for _ in range(self.r.randint(6, 30)):
            self.step()
        self.shown = [s for s in self.streams if not any(s in t.line.inputs for t in self.streams) or self.r.random() < 0.3]
        self.shown = [s for s in self.shown if self.may_be_shown(s)]
        self.order = self.r.random()
        self.costs = {k: f" cost cpu {self.r.choice([20, 400, 4000])}us gpu {self.r.choice([10, 100, 1000])}us"
                      for k in ("blur", "near", "raise", "add", "scale", "collect") if self.r.random() < 0.3}
        self.parts = self.r.choice(["", "", "--parts=1", "--parts=2", "--parts=3", "--parts=7"])
        self.options = [self.parts] * bool(self.parts) + ["--no-fuse"] * (self.r.random() < 0.2)

    def may_be_shown(self, stream):
        return True

    # -- making streams --

    def new(self, line, makes):
        """makes: (extents, bounds, token of a wave) of each output; the phase is that of what is read."""
        phases = {s.phase for s in line.inputs}
        phase = "final" if "final" in phases else "once" if phases == {"once"} else "wave"
        made = []
        for extents, bounds, of in makes:
            made.append(Stream(f"s{len(self.streams)}", phase, extents, bounds, self.kept(of), line))
            self.streams.append(made[-1])
        names = ", ".join(s.name for s in made)
        line.text = f"{names if len(made) == 1 else f'({names})'} = {line.text}{self.hint(line.text)};"
        return made

    def kept(self, of):
        memory = {}

        def token(w):
            key = w, self.length, self.call
            if key not in memory:
                memory[key] = of(w)
            return memory[key]
        return token

    def hint(self, text):
        name = text.split("(")[0]
        choice = self.r.choice(["", "", "", " @cpu", f" @depth({self.r.randint(1, 3)})", f" @rate(0.{self.r.randint(1, 9)})", "parts"])
        if choice == "parts":
            choice = f" @parts({self.r.randint(1, 5)})" if name in CAN_DIVIDE and self.can_be_divided else ""
        return "" if name in ("select", "either") else choice

    def pick(self, test=lambda s: True):
        found = [s for s in self.streams if test(s)]
        return self.r.choice(found[-8:] if self.r.random() < 0.6 else found) if found else None

    def mate(self, a):
        """One that may stand beside a."""
        def may(s):
            return s.extents == a.extents and ({s.phase, a.phase} != {"wave", "final"})
        return self.pick(may)

    def sources(self):
        for kind in ["src" if self.r.random() < 0.5 else "gen", "table", "gen", "src", "load"][: self.r.randint(2, 5)]:
            self.source(kind)

    def source(self, kind):
        s, y, x = self.r.randint(0, 99), self.r.choice(self.ROWS), self.r.choice(self.COLUMNS)
        count, p = self.r.choice([0, 1, 3, 6, 9, 99, 99, 99, 99]), self.r.choice([0, 0, 2, 4])
        if kind == "load":
            self.new(Line(f"load({s})", []), [(("load", s, len(self.streams)), (12, 5), lambda w: model.load(w, s))])
            return
        if kind == "src":
            text, of = f"src({s}, {count}, {p})", lambda w: None if model.draw(w, s) < p else model.fill(y, x, s, w)
        else:
            text, of = f"{kind}({s})", lambda w: model.fill(y, x, s, 1000 if kind == "table" else w)
        line = Line(text, [])
        made, = self.new(line, [((y, x), (y, x), of)])
        line.text = line.text.replace(" =", f": i32[{y}, {x}] =", 1)
        made.phase = "once" if kind == "table" else "wave"

    def kinds(self):
        return ("scale add bump skips gang less wide cut blur blur near near raise holes count collect collect absorb pour spread bins keeps select "
                 "select either").split() + (["smooth", "inner", "blend", "gather"] * 2 if self.formulas else [])

    def step(self):
        kind, a = self.r.choice(self.kinds()), self.pick()
        if kind == "cut" and self.r.random() < 0.5:
            a = self.pick(lambda s: not s.fixed()) or a
        self.can_be_divided = a.fixed()
        getattr(self, kind)(a)

    def map(self, text, inputs, function, extents=None, bounds=None):
        """One output, of the extents of the first input unless others are given; empty if an input is."""
        a = inputs[0]

        def of(w):
            tokens = [s.of(w) for s in inputs]
            return function(w, *tokens) if all(tokens) else None
        return self.new(Line(text, inputs), [(extents or a.extents, bounds or a.bounds, of)])

    def derive(self, a, what, change):
        """Extents and bounds that follow from those of a."""
        bounds = change(*a.bounds)
        return (bounds if a.fixed() else (what, a.extents)), bounds

    # -- calls --

    def scale(self, a):
        f = self.r.randint(1, 9)
        self.map(f"scale({a.name}, {f})", [a], lambda w, t: model.each(lambda i, v: v * f + i, t))

    def add(self, a):
        b = self.mate(a)
        self.map(f"add({a.name}, {b.name})", [a, b], lambda w, t, u: model.add(t, u))

    def bump(self, a):
        self.map(f"bump({a.name})", [a], lambda w, t: model.each(lambda i, v: v * 5 + 7, t))

    def skips(self, a):
        s, p = self.r.randint(0, 99), self.r.choice([1, 3, 6, 8]) if a.phase == "wave" else 0
        if a.phase != "wave":
            return

        def of(function):
            return lambda w: None if not a.of(w) or model.draw(w, s) < p else model.each(lambda i, v: function(v, w), a.of(w))
        self.new(Line(f"skips({a.name}, {s}, {p})", [a]), [(a.extents, a.bounds, of(lambda v, w: v + w)), (a.extents, a.bounds, of(lambda v, w: v ^ s))])

    def gang(self, a):
        self.map(f"gang({a.name})", [a], lambda w, t: model.each(lambda i, v: v - 11, t))

    def less(self, a):
        if a.bounds[0] > 1:
            self.map(f"less({a.name})", [a], lambda w, t: model.less(t), *self.derive(a, "less", lambda y, x: (y - 1, x)))

    def wide(self, a):
        if a.bounds[1] < 60:
            self.map(f"wide({a.name})", [a], lambda w, t: model.wide(t), *self.derive(a, "wide", lambda y, x: (y, 2 * x)))

    def cut(self, a):
        s = self.r.randint(0, 99)
        if a.phase == "wave":
            self.map(f"cut({a.name}, {s})", [a], lambda w, t: model.cut(t, w, s), ("cut", len(self.streams), a.extents), (8, a.bounds[1]))

    def table_for(self, a):
        return self.pick(lambda t: t.fixed() and {t.phase, a.phase} != {"wave", "final"})

    def blur(self, a):
        t = self.table_for(a)
        if t:
            self.map(f"blur({a.name}, {t.name})", [a, t], lambda w, u, v: model.blur(u, v))

    def near(self, a):
        b = self.mate(a)

        def of(k):
            return lambda w: model.near(a.of(w), b.of(w))[k] if a.of(w) and b.of(w) else None
        self.new(Line(f"near({a.name}, {b.name})", [a, b]), [(a.extents, a.bounds, of(0)), (a.extents, a.bounds, of(1))])

    def raise_(self, a):
        self.map(f"raise({a.name})", [a], lambda w, t: model.each(lambda i, v: v * 9 + i // t[1], t))

    def holes(self, a):
        s = self.r.randint(0, 99)
        if a.phase == "wave":
            self.map(f"holes({a.name}, {s})", [a], lambda w, t: None if model.has_hole(t, w, s) else model.each(lambda i, v: v + 2, t))

    def either(self, a):
        t = self.pick(lambda t: t.fixed() and t.phase != "final")
        if t and a.phase == "wave" and a.fixed():
            self.new(Line(f"either({a.name}, {t.name})", [a, t]),
                     [(a.extents, a.bounds, lambda w: (model.blur(model.each(lambda i, v: v + 2, a.of(w)), t.of(w))
                                                       if a.of(w) and t.of(w) and not model.has_hole(a.of(w), w, 3) else a.of(w)))])

    def select(self, a):
        def may(s):
            return s.bounds == a.bounds and s.fixed() == a.fixed() and not {"wave", "final"} <= {s.phase, *(b.phase for b in inputs)}
        inputs = [a]
        for _ in range(self.r.randint(1, 3)):
            inputs.append(self.pick(may))
        self.new(Line(f"select({', '.join(s.name for s in inputs)})", inputs),
                 [(a.extents if a.fixed() else ("select", len(self.streams)), a.bounds,
                   lambda w: next((s.of(w) for s in inputs if s.of(w)), None))])

    def count(self, a):
        s, p = self.r.randint(0, 99), self.r.choice([0, 3]) if a.phase == "wave" else 0

        def of(w):
            if not a.of(w):
                return None
            calls = sum(1 for before in range(w + 1) if a.of(before)) if a.phase == "wave" else 1
            return None if a.phase == "wave" and model.draw(w, s) < p else model.each(lambda i, v: v + calls, a.of(w))
        self.new(Line(f"count({a.name}, {s}, {p})", [a]), [(a.extents, a.bounds, of)])

    def keeps(self, a):
        s = self.r.randint(0, 3)
        self.map(f"keeps({a.name}, {s})", [a], lambda w, t: model.each(lambda i, v: v * s, t))

    # -- accs --

    def accs(self, a, firsts, change, skips=lambda w: False):
        """A function of a wave: what the accs are after it. change: of what they were and the token of a."""
        memories = {}

        def state(w):
            memory = memories.setdefault(self.call, {})
            start = max((k for k in memory if k <= w), default=-1)
            now = memory.get(start, firsts)
            for k in range(start + 1, w + 1):
                now = memory[k] = change(now, a.of(k)) if a.of(k) and not skips(k) else now
            return now
        return state

    def finals(self, made):
        for s in made:
            s.phase = "final"

    def last(self, state, k):
        return lambda w: state(self.length - 1)[k]

    def acc_ok(self, a):
        return a.phase != "final" and a.fixed()

    def constant(self, a, v):
        return (*a.bounds, [v & model.M] * (a.bounds[0] * a.bounds[1]))

    @staticmethod
    def follow(v, t):
        return model.each(lambda i, x, y: x * 3 + y, v, t)

    def least(self, v, t):
        return model.each(lambda i, x, y: min(model.signed(x), model.signed(y)), v, t)

    def most(self, v, t):
        return model.each(lambda i, x, y: max(model.signed(x), model.signed(y)), v, t)

    def collect(self, a):
        if not self.acc_ok(a):
            return
        s, p = self.r.randint(0, 99), self.r.choice([0, 0, 2, 8]) if a.phase == "wave" else 0

        def skips(w):
            return model.draw(w, s) < p
        state = self.accs(a, (self.constant(a, 0), self.constant(a, 12345)), lambda now, t: (self.follow(now[0], t), self.least(now[1], t)), skips)
        line = Line(f"collect({a.name}, {s}, {p})", [a])
        made = self.new(line, [(a.extents, a.bounds, self.last(state, 0)), (a.extents, a.bounds, self.last(state, 1)),
                               (a.extents, a.bounds, lambda w: None if not a.of(w) or skips(w) else state(w)[0])])
        self.finals(made[:2])
        made[2].phase = "wave"

    def absorb(self, a):
        if not self.acc_ok(a):
            return
        state = self.accs(a, (self.constant(a, -5),), lambda now, t: (self.follow(now[0], t),))
        made = self.new(Line(f"absorb({a.name})", [a]),
                        [(a.extents, a.bounds, lambda w: a.of(w) and model.each(lambda i, x, y: x ^ y, a.of(w), state(w)[0])),
                         (a.extents, a.bounds, self.last(state, 0))])
        made[0].phase = "wave"
        self.finals(made[1:])

    def pour(self, a):
        if self.acc_ok(a):
            state = self.accs(a, (self.constant(a, 7),), lambda now, t: (model.each(lambda i, x, y: x * 3 + y + i // t[1], now[0], t),))
            self.finals(self.new(Line(f"pour({a.name})", [a]), [(a.extents, a.bounds, self.last(state, 0))]))

    def spread(self, a):
        if self.acc_ok(a):
            s, y, x = self.r.randint(0, 99), self.r.choice([1, 2, 7, 16, 37]), self.r.choice([1, 3, 13])
            state = self.accs(a, ((y, x, [0] * (y * x)),), lambda now, t: (model.each(lambda i, v: v * 5 + t[2][(i + s) % len(t[2])], now[0]),))
            line = Line(f"spread({a.name}, {s})", [a])
            self.finals(self.new(line, [((y, x), (y, x), self.last(state, 0))]))
            line.text = line.text.replace(" =", f": i32[{y}, {x}] =", 1)

    def bins(self, a):
        if a.phase == "final":
            return
        state = self.accs(a, ((13, 1, [0] * 13),), lambda now, t: (model.bins(now[0], t),))
        self.finals(self.new(Line(f"bins({a.name})", [a]), [((13, 1), (13, 1), self.last(state, 0))]))

    def gather(self, a):
        if not self.acc_ok(a):
            return
        firsts = tuple(self.constant(a, v) for v in (0, 2**31 - 1, 3, -9))
        state = self.accs(a, firsts, lambda now, t: (model.each(lambda i, x, y: x + y + i // t[1], now[0], t), self.least(now[1], t),
                                                         self.most(now[2], t), self.follow(now[3], t)))
        self.finals(self.new(Line(f"gather({a.name})", [a]), [(a.extents, a.bounds, self.last(state, k)) for k in range(4)]))

    # -- formulas --

    def smooth(self, a):
        self.map(f"smooth({a.name})", [a], lambda w, t: model.smooth(t))

    def inner(self, a):
        if a.bounds[0] > 2:
            self.map(f"inner({a.name})", [a], lambda w, t: model.inner(t), *self.derive(a, "inner", lambda y, x: (y - 2, x)))

    def blend(self, a):
        b = self.mate(a)
        self.map(f"blend({a.name}, {b.name})", [a, b], lambda w, t, u: model.each(lambda i, x, y: x * 7 + y, t, u))

    # -- writing --

    def text(self):
        r, lines, wanted = random.Random(self.order), [], list(self.shown)
        while wanted:                     # only what is shown, and what that is made of
            line = wanted.pop().line
            if line not in lines:
                lines.append(line)
                wanted += line.inputs
        counts = [int(m[1]) for line in lines for m in re.finditer(r"= src\(\d+, (\d+)", line.text)]
        self.length = min([self.waves] + counts)
        self.passes = max(self.parts_of(line) for line in lines if line.text)
        self.lines = lines
        body = sorted((line.text for line in lines if line.text), key=lambda t: int(re.search(r"s(\d+)", t)[1]))
        body += self.results()
        if self.order < 0.7:
            r.shuffle(body)
        kernels = KERNELS + self.head()
        for name in ("smooth", "inner", "blend", "gather"):
            if not any(f" {name}(" in line for line in body):
                kernels = re.sub(rf"kernel {name}\([^}}]*}}\n", "", kernels)
        kernels = re.sub(r'kernel (\w+)\(.*', lambda m: m[0][:-1] + self.costs.get(m[1], "") + ";" if m[0].endswith('"streams.o";') else m[0], kernels)
        return kernels + "".join(f"    {line}\n" for line in body) + "}\n"

    def head(self):
        return "graph main {\n"

    def results(self):
        return [f"report({s.name}, {n});" for n, s in enumerate(self.streams) if s in self.shown]

    def parts_of(self, line):
        """Of an acc that passes may take in turn; else 1."""
        said = re.search(r"@parts\((\d+)", line.text) or re.match(r"--parts=(\d+)", self.parts)
        rows = next(s.bounds[0] for s in self.streams if s.line is line)
        return min(int(said[1]), rows) if said and re.search(r"= (\w+)", line.text)[1] in MAY_PASS else 1

    def expected(self):
        """By stream shown: its lines in order."""
        want, waves = {}, self.length
        for n, s in enumerate(self.streams):
            if s in self.shown:
                at = {"once": [0], "final": [waves], "wave": range(waves)}[s.phase]
                want[n] = [f"{n} {w} {t[0]} {t[1]} {model.digest(t)}" for w in at for t in [s.of(w)] if t]
        return want


setattr(Program, "raise", Program.raise_)


class Failure(Exception):
    pass


def call(command, folder):
    variables = {k: v for k, v in (word.split("=", 1) for word in command if not word.startswith("-") and "=" in word)}
    words = [word for word in command if word.startswith("-") or "=" not in word]
    try:
        return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, text=True, errors="replace",
                              env={**os.environ, **variables})
    except subprocess.TimeoutExpired:
        raise Failure(f"no end after {LIMIT_S} s") from None


def least_memory(dfc, folder, options):
    """The bytes that the largest job needs on the GPU."""
    run = call([dfc, "g.df", "--emit=plan", "--policy=all-gpu", "--emu-all", *options], folder)
    found = re.search(r"^u1 gpu .* needs \d+ bytes for a wave, (\d+) for its largest job", run.stdout, re.M)
    if run.returncode or not found:
        raise Failure(f"no plan: exit {run.returncode}: {run.stderr[-300:]}")
    return max(int(found[1]), 4096)


def ways(seed, least, passes):
    """Options of runs, each policy once or more. passes: how often the waves may go by."""
    r = random.Random(seed)
    for policy in POLICIES:
        way = [f"--policy={policy}"] + [f"--inflight={r.randint(1, 9)}"] * (r.random() < 0.6)
        if r.random() < 0.3:
            yield [*way, "--device=none", f"--workers={r.randint(1, 3)}"] + ["--poison"] * (r.random() < 0.3)
            continue
        way += ["--device=emu", f"--workers={r.randint(1, 2)}"] + ["--emu-all"] * (r.random() < 0.9)
        way += r.choice([[], [f"--gpu-mem={least}"], [f"--gpu-mem={least}"], [f"--gpu-mem={least + least // 3}"], [f"--gpu-mem={3 * least}"]])
        way += r.choice([[], [f"--gpu-jobs={r.randint(1, 4)}"]]) + r.choice([[], [], ["--cuda-graphs=on"], ["--pin=off"], ["--sync-kernels"], ["--poison"]])
        way += r.choice([[], [f"DF_EMU_TRIAL=reorder={r.randint(1, 999)}"]])
        way += r.choice([[]] * 4 + [["--platform=pair.df"], ["--platform=unified.df"], ["--platform=both.df"], ["--evict=lru"]])
        yield way
    yield ["--device=none", "--workers=1"]
    yield ["--device=none", "--workers=3", f"--inflight={r.randint(1, 9)}"]
    yield ["--serial", r.choice(["--device=none", "--device=emu"])]
    yield ["--check=variants", "--device=emu", "--emu-all"]
    for policy in ("all-gpu", r.choice(("heft", "gp", "peft"))):     # these launch jobs ahead, which are what is recorded
        yield ["--device=emu", "--emu-all", f"--policy={policy}", "--cuda-graphs=on", f"--inflight={r.randint(1, 4)}",
               f"--gpu-jobs={r.randint(1, 3)}", f"--gpu-mem={least * r.choice([1, 2, 9])}"]
    several = [f"--passes={r.randint(2, passes)}"] if passes > 1 else []
    for _ in range(2 if several else 0):
        yield [*several, "--device=none", f"--policy={r.choice(POLICIES)}", f"--workers={r.randint(1, 3)}", f"--inflight={r.randint(1, 9)}"]
        yield [*several, "--device=emu", "--emu-all", f"--policy={r.choice(POLICIES)}", f"--inflight={r.randint(1, 9)}",
               f"--gpu-mem={least * r.choice([1, 2, 9])}", r.choice(["--cuda-graphs=on", "--pin=off", f"DF_EMU_TRIAL=reorder={r.randint(1, 999)}"])]
    for _ in range(3):
        yield [*several, "--device=emu", "--emu-all", f"--policy={r.choice(POLICIES)}", f"--gpu-mem={least * r.choice([1, 9])}",
               f"DF_EMU_TRIAL=fail={r.choice(CALLS)}:{r.randint(1, 60)}"]


def wrong(run, way, want):
    """How this run is not as it should be; None."""
    if "opened" in run.stderr:
        return f"not all is closed: {run.stderr[-200:]}"
    failing = any("fail=" in word for word in way)
    if failing and run.returncode == 1 and "as asked for" in run.stderr:
        return None
    if run.returncode:
        return f"exit {run.returncode}: {run.stderr[-300:]}"
    got = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        got[int(line.split()[0])].append(line)
    for n in sorted({*got, *want}):
        if got[n] != want.get(n, []):
            differs = next((pair for pair in zip(got[n] + ["nothing"], want.get(n, []) + ["nothing"]) if pair[0] != pair[1]))
            return f"report {n}: {differs[0]} in place of {differs[1]}"
    return None


class Trial:
    """A program in its folder."""
    TRIES = 5                           # of a program that fails now and then

    def __init__(self, given, seed, folder):
        self.given, self.seed, self.folder, self.program = given, seed, folder, self.make(seed)
        self.dfc = os.path.realpath(f"{given.build}/bin/dfc")
        link = "2 GB/s, 5 us"
        shutil.copy(f"{given.objects}/streams.o", folder)
        for name, units in (("pair", f"gpu a {{ h2d = {link}; d2h = {link}; peer = {link}; }} gpu b {{ h2d = {link}; d2h = {link}; peer = {link}; }}"),
                            ("unified", "gpu a { unified = 1; }"),
                            ("both", f"gpu a {{ unified = 1; }} gpu b {{ h2d = {link}; d2h = {link}; }}")):
            with open(f"{folder}/{name}.df", "w", encoding="utf-8") as f:
                f.write(f"platform {name} {{ cpu host {{ workers = 2; }} {units} }}\n")

    def make(self, seed):
        return Program(seed)

    def compile(self):
        self.compile_to(["-o", "app"])
        self.want = self.program.expected()         # once for all runs

    def compile_to(self, what):
        with open(f"{self.folder}/g.df", "w", encoding="utf-8") as f:
            f.write(self.program.text())
        run = call([self.dfc, "g.df", *what, "--nvcc=none", "-w", "--emu-all", *self.program.options], self.folder)
        if run.returncode:
            raise Failure(f"does not compile: {run.stderr[-600:]}")

    def fails(self, way):
        """Says why, if it does."""
        try:
            run = call([*self.given.under.split(), "./app", f"--waves={self.program.waves}", *way], self.folder)
            return wrong(run, way, self.want)
        except Failure as failure:
            return str(failure)

    def all(self):
        self.compile()
        given = self.given.run.split() if self.given.run else None
        least = least_memory(self.dfc, self.folder, self.program.options)
        for way in [given] if given else ways(self.seed, least, self.program.passes):
            why = self.fails(way)
            if why:
                why += self.smaller(way)
                raise Failure(f"{' '.join(self.program.options)}: --waves={self.program.waves} {' '.join(way)}: {why}")

    def smaller(self, way):
        """Leaves the first report alone with which it still differs, which it does not always."""
        shown = self.program.shown
        for s in shown if len(shown) > 1 else []:
            self.program.shown = [s]
            self.compile()
            if any(self.fails(way) for _ in range(self.TRIES)):
                return f" (also with {s.name} alone)"
        self.program.shown = shown
        self.compile()
        return ""


class LibraryTrial(Trial):
    """A library in its folder."""
    TRIES = 1                           # some do not end

    def make(self, seed):
        import streams_sessions
        return streams_sessions.Called(seed)

    def compile(self):
        self.compile_to(["--lib", "--graph=g", "-o", "libg.so"])

    def fails(self, way):
        show = ",".join(s.name for s in self.program.shown)
        run = call([sys.executable, f"{HERE}/streams_sessions.py", "./libg.so", str(self.seed), f"--show={show}", *way], self.folder)
        where = re.findall(r"^session.*", run.stderr, re.M)[-1:] + re.findall(r"^call.*", run.stderr, re.M)[-1:]
        said = run.stdout.splitlines() or where + [line for line in run.stderr.splitlines() if not re.match("session|call", line)]
        return " | ".join([f"exit {run.returncode}"] + said[:12]) if run.returncode else None

    def all(self):
        self.compile()
        way = [f"--forks={self.given.forks}"]
        why = self.fails(way)
        if why:
            raise Failure(f"{' '.join(self.program.options)}: {why}{self.smaller(way)}")


def trial(given, seed):
    folder = tempfile.mkdtemp(prefix="streams-")
    try:
        (LibraryTrial if given.sessions else Trial)(given, seed, folder).all()
        return seed, None
    except Failure as failure:
        if given.keep:
            shutil.copytree(folder, f"{given.keep}/{seed}", dirs_exist_ok=True)
        return seed, str(failure).replace("\n", " ")
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=os.path.realpath)
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", type=os.path.realpath)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--run")
    parser.add_argument("--under", default="")
    parser.add_argument("--forks", choices=("none", "host", "all"), default="all")
    given = parser.parse_args()
    scratch = tempfile.TemporaryDirectory(prefix="streams-")
    given.objects, os.environ["DFC_PROFILE"] = scratch.name, f"{scratch.name}/profile.db"
    with open(f"{given.build}/obj/flags", encoding="utf-8") as flags:
        sanitize = re.findall(r"-fsanitize=\w+", flags.read())
    if given.sessions and sanitize:
        sys.exit(print("skip sessions: Python is not linked with the sanitizer"))
    subprocess.run(["cc", "-std=c11", "-fPIC", *sanitize, "-I", f"{given.build}/include", "-c", "-o", f"{scratch.name}/streams.o", f"{HERE}/streams.c"], check=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for n, (seed, why) in enumerate(pool.map(lambda seed: trial(given, seed), range(given.first, given.first + (given.sessions or given.programs)))):
            failed += why is not None
            name = f"{'sessions' if given.sessions else 'streams'}-{seed}"
            print(f"not ok {name}: {why}" if why else f"ok {name}", flush=True)
            if n % 100 == 99:
                print(f"# {n + 1} programs, {failed} failed; --first={seed + 1} goes on", file=sys.stderr, flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
