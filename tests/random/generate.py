#!/usr/bin/env python3
"""A random valid dfc program and what it must print: generate.py SEED OBJECT CUDA_FILE WAVES OUT.df OUT.expected

The program uses kernels.c's kernels in every way the language has: nested graphs, loops over indexed streams, conditions, inout with and
without other readers, scratch, once tables, streams, several outputs, shared inputs, statements out of order. Its result is computed
here from the same choices, wave by wave, with Python's integers. The first line of OUT.expected is `# LARGEST`: the bytes that the
largest job of a kernel with a gpu variant needs with each port rounded up to 4096.
"""
import random
import re
import sys

M = 2**32 - 1


def fill(k, s, w):
    return [((s * 2654435761) & M) ^ ((i * 40503 + w * 97) & M) for i in range(k)]


def add(a, b):
    return [(x + 3 * y) & M for x, y in zip(a, b)]


def rev(a):
    return [a[len(a) - 1 - i] ^ i for i in range(len(a))]


def bump(a):
    return [(x * 5 + 7) & M for x in a]


def both(a):
    n = len(a)
    return [(a[i] + a[(i + 1) % n]) & M for i in range(n)], [(a[i] - a[(i + 1) % n]) & M for i in range(n)]


def mix(a, b, c, f):
    t = [(x * f) & M for x in a]
    n = len(a)
    return [x ^ y for x, y in zip(c, t)], [(t[n - 1 - i] + b[i]) & M for i in range(n)]


def digest(a):
    h = 2166136261
    for x in a:
        h = ((h ^ x) * 16777619) & M
    return h


class Program:
    """Statements and, for each stream, a function of the wave that gives its values (memoised)."""

    def __init__(self, seed, waves):
        self.r = random.Random(seed)
        self.waves = waves
        self.lines = []
        self.value = {}      # stream -> (length, function of wave)
        self.once = set()    # streams of nodes that fire once: once tables and what is made of them alone
        self.largest = self.largest_on_gpu = 0
        self.hinted = ""
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"s{self.count}"

    def define(self, name, length, function, *inputs):
        """inputs: the streams it is made of; none for a source."""
        if inputs and all(i in self.once for i in inputs):
            self.once.add(name)
        cache = {}

        def at(w):
            if w not in cache:
                cache[w] = function(w)
            return cache[w]
        self.value[name] = (length, at)

    def pick(self, length=None):
        names = [n for n, (k, _) in self.value.items() if length is None or k == length]
        return self.r.choice(names[-12:] if self.r.random() < 0.7 else names)

    def job(self, *lengths):
        """What a job needs: scratch, outputs, and each input once however often it is read."""
        size = sum((4 * k + 4095) // 4096 * 4096 for k in lengths)
        self.largest = max(self.largest, size)
        if "@gpu" in self.hinted:
            self.largest_on_gpu = max(self.largest_on_gpu, size)
        self.hinted = ""

    def hint(self):
        """Of the call whose job() comes next."""
        self.hinted = self.r.choice(["", "", "", "", " @cpu", " @gpu", f" @depth({self.r.randint(1, 3)})"])
        return self.hinted

    def source(self, kind):
        k, s, name = self.r.choice([1, 7, 64, 300, 1500]), self.r.randint(0, 1000), self.fresh()
        if kind == "table":
            self.lines.append(f"{name}: i32[{k}] = table({s});")
            self.define(name, k, lambda w: fill(k, s, 1000))
            self.once.add(name)
        elif kind == "src":
            self.lines.append(f"{name}: i32[{k}] = src({s}, {self.waves});")
            self.define(name, k, lambda w: fill(k, s, w))
        else:
            self.lines.append(f"{name}: i32[{k}] = gen({s} + offset);")
            self.define(name, k, lambda w: fill(k, s + 5, w))

    def step(self):
        kind = self.r.choice(["add", "add", "rev", "bump", "bump", "both", "mix", "join", "twice", "loop", "cond"])
        a = self.pick()
        k, fa = self.value[a]
        if kind == "add":
            b, c = self.pick(k), self.fresh()
            fb = self.value[b][1]
            self.lines.append(f"{c} = add({a}, {b}){self.hint()};")
            self.define(c, k, lambda w: add(fa(w), fb(w)), a, b)
            self.job(*[k] * len({a, b}), k)
        elif kind == "rev":
            c = self.fresh()
            self.lines.append(f"{c}: i32[{k}] = rev({a}){self.hint()};")
            self.define(c, k, lambda w: rev(fa(w)), a)
            self.job(k, k)
        elif kind == "bump":
            c = self.fresh()
            self.lines.append(f"{c} = bump({a}){self.hint()};")
            self.define(c, k, lambda w: bump(fa(w)), a)
            self.job(k)
        elif kind == "both":
            c, d = self.fresh(), self.fresh()
            drop = self.r.random() < 0.3
            self.lines.append(f"({c}, {'_' if drop else d}) = both({a}){self.hint()};")
            self.define(c, k, lambda w: both(fa(w))[0], a)
            if not drop:
                self.define(d, k, lambda w: both(fa(w))[1], a)
            self.job(k, k, k)
        elif kind == "mix":
            b, c, d, e = self.pick(k), self.pick(k), self.fresh(), self.fresh()
            fb, fc, f = self.value[b][1], self.value[c][1], self.r.randint(1, 99)
            given = self.r.choice([str(f), f"f = {f}", f"f = {f - 3} + 3"])
            self.lines.append(f"({d}, {e}) = mix({a}, {b}, {c}, {given}){self.hint()};")
            self.define(d, k, lambda w: mix(fa(w), fb(w), fc(w), f)[0], a, b, c)
            self.define(e, k, lambda w: mix(fa(w), fb(w), fc(w), f)[1], a, b, c)
            self.job(*[k] * len({a, b}), k, k, k)   # c is a copy where somebody else reads it
        elif kind == "join":
            b, c = self.pick(), self.fresh()
            q, fb = self.value[b]
            if k + q > 20000:
                return
            self.lines.append(f"{c} = join({a}, {b}){self.hint()};")
            self.define(c, k + q, lambda w: fa(w) + fb(w), a, b)
            self.job(*[self.value[x][0] for x in {a, b}], k + q)
        elif kind == "twice":          # a nested graph
            b, c = self.pick(k), self.fresh()
            fb = self.value[b][1]
            self.lines.append(f"{c} = twice({a}, {b});")
            self.define(c, k, lambda w: rev(add(add(fa(w), fb(w)), fb(w))), a, b)
            self.job(k, k, k)
        elif kind == "loop":
            n, s = self.r.randint(1, 5), self.fresh()
            self.lines.append(f"{s}[0] = rev({a}); for i in 0..{n} {{ {s}[i + 1] = bump({s}[i]); }}")

            def run(w, times=n):
                x = rev(fa(w))
                for _ in range(times):
                    x = bump(x)
                return x
            self.lines.append(f"{s}e = rev({s}[{n}]);")
            self.define(f"{s}e", k, lambda w: rev(run(w)), a)
            self.job(k, k)
        elif kind == "cond":
            flag, c = self.r.randint(0, 3), self.fresh()
            self.lines.append(f"if {flag} * wide > 1 {{ {c} = rev({a}); }} else {{ {c} = bump({a}); }}")
            self.define(c, k, (lambda w: rev(fa(w))) if flag > 1 else (lambda w: bump(fa(w))), a)
            self.job(k, k)

    def write(self, obj, cuda, path):
        gpu = f' gpu "{cuda}"'
        read = "".join(self.lines)
        # Every stream that nobody reads is reported, and some others.
        uses = {n: len(re.findall(rf"[(,] ?{n}[,)]", read)) for n in self.value}
        reported = [n for n in self.value if uses[n] == 0 or self.r.random() < 0.15]
        ends = [f"report({n}, {i});" for i, n in enumerate(reported)]
        body = self.lines + ends
        if self.r.random() < 0.7:
            self.r.shuffle(body)      # any order of statements means the same graph
        with open(path, "w") as f:
            f.write(f"""param wide = 1;
arg offset: i32 = 5;
kernel gen(out v: i32[k]; s: i32) cpu "{obj}";
kernel table(out v: i32[k]; s: i32) once cpu "{obj}";
kernel src(out v: i32[k]; s: i32, count: i32) stream cpu "{obj}";
kernel add(in a: i32[k], in b: i32[k], out c: i32[k]) cpu "{obj}"{gpu};
kernel rev(in a: i32[k], out b: i32[k]) cpu "{obj}"{gpu};
kernel bump(inout a: i32[k]) cpu "{obj}"{gpu};
kernel both(in a: i32[k], out s: i32[k], out d: i32[k]) cpu "{obj}"{gpu};
kernel mix(in a: i32[k], in b: i32[k], tmp t: i32[k], inout c: i32[k], out d: i32[k]; f: i32) cpu "{obj}"{gpu};
kernel join(in a: i32[p], in b: i32[q], out c: i32[p + q]) cpu "{obj}"{gpu};
kernel report(in a: i32[k]; id: i32) ordered cpu "{obj}";
graph twice(in a: i32[k], in b: i32[k], out c: i32[k]) {{
    c = rev(y);
    x = add(a, b);
    y: i32[k] = add(x, b);
}}
graph main {{
""")
            for line in body:
                f.write(f"    {line}\n")
            f.write("}\n")
        return reported


def make(seed, obj, cuda, waves, df, expected):
    p = Program(seed, waves)
    stream = seed % 3 == 0
    p.source("src" if stream else "gen")
    for kind in ["gen", "table", "gen"][: p.r.randint(1, 3)]:
        p.source(kind)
    for _ in range(p.r.randint(5, 40)):
        p.step()
    reported = p.write(obj, cuda, df)
    with open(expected, "w") as f:
        f.write(f"# {p.largest}\n")
        lines = []
        for i, n in enumerate(reported):
            # A node whose inputs are all `once` fires once: before wave 0.
            for w in range(1 if n in p.once else waves):
                lines.append(f"{i} {w} {digest(p.value[n][1](w))}")
        f.write("\n".join(sorted(lines)) + "\n")
    return p


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6])
