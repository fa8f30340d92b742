#!/usr/bin/env python3
"""Random loops with 'while' against their rounds written out, which are left out when the condition fails: the same bits.

A program has several random loops, and for each the same rounds in a 'for', whose streams pass through gates: kernels that skip when the
condition is false, so that the rounds behind them are left out. 'select' over all rounds then gives the last token. The program compares
the bytes of both. It runs under every policy, on the CPU and the emulated GPU, and with little memory. A program that differs is kept.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

POLICIES = ["eager", "ddfcfs", "ddwrr", "random", "ws", "dmda", "dmdas", "dmdar", "heft", "peft", "pats", "padas", "pams", "gp-thesis", "gp", "all-cpu",
            "all-gpu"]

KERNELS = r"""
kernel first(out a: i32[n]; seed: i32) cpu {{ for (size_t i = 0; i < n; i++) a[i] = (int32_t)((i + 3) * (size_t)(seed + 7) * 2654435761u) ^ (int32_t)df_wave(call); }};
kernel one(out r: i32; seed: i32) cpu {{ *r = (seed * 13 + (int32_t)df_wave(call) * 5) % 50; }};
kernel real(out r: f64; seed: i32) cpu {{ *r = (double)(seed * 7 % 100) + 0.5 * (double)df_wave(call); }};
kernel byte(out r: u8; seed: i32) cpu {{ *r = (uint8_t)(seed * 29 + df_wave(call)); }};
kernel add(in a: i32[n], in b: i32[n], out c: i32[n]) { c[i] = a[i] * 3 + b[i] + i; }
kernel near(in a: i32[n] border wrap, out c: i32[n]) { c[i] = a[i - 1] ^ (a[i + 1] >> 1); }
kernel scaled(in a: i32[n], in r: i32, out c: i32[n]; by: i32) { c[i] = a[i] * by + r; }
kernel two(in a: i32[n], in b: i32[n], out c: i32[n], out r: i32; by: i32) cpu {{
    *r = 0;
    for (size_t i = 0; i < n; i++) {
        c[i] = (int32_t)((uint32_t)a[i] * (uint32_t)by - (uint32_t)b[i]);
        *r = (int32_t)(((uint32_t)*r * 31u + (uint32_t)c[i]) & 1023u);
    }
}};
kernel bump(inout a: i32[n]; by: i32) cpu {{ for (size_t i = 0; i < n; i += 2) a[i] = (int32_t)((uint32_t)a[i] + (uint32_t)by); }};
kernel turn(in a: i32[n], out c: i32[n], tmp t: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) t[n - 1 - i] = a[i]; memcpy(c, t, n * sizeof *c); }};
kernel part(in a: i32[n] split n, out c: i32[n] split n) cpu {{
    struct df_part p = df_part(call);
    for (size_t i = 0; i < n; i++)
        c[i] = (int32_t)((uint32_t)a[i] + (uint32_t)(p.first + i) * (uint32_t)p.whole);
}};
kernel maybe(in a: i32[n], in b: i32[n], out c: i32[n]) cpu {{
    if ((a[0] & 7) == 3)
        return DF_SKIP;
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] ^ b[n - 1 - i];
}};
kernel size(in a: i32[n], out r: i32) { r = sum(i in 0..n: a[i] & 15); }
kernel half(in a: i32[n], in r: f64, out s: f64) { s = r * 0.5 + f64(max(i in 0..n: a[i] & 255)) / 16.0; }
kernel tick(in r: i32, out s: i32) { s = r + 1; }
kernel low(in a: i32[n], in r: u8, out s: u8) cpu {{ *s = (uint8_t)(*r + a[n / 2]); }};
kernel same(in a: i32[n], in b: i32[n]; id: i32) ordered cpu {{
    uint32_t h = 0;
    for (size_t i = 0; i < n; i++)
        h = h * 31u + (uint32_t)a[i];
    printf("%d %d %08x%s\n", (int)id, (int)df_wave(call), (unsigned)h, memcmp(a, b, n * sizeof *a) ? " DIFFERS" : "");
}};
kernel same_i32(in a: i32, in b: i32; id: i32) ordered cpu {{ printf("%d %d %d%s\n", (int)id, (int)df_wave(call), (int)*a, *a != *b ? " DIFFERS" : ""); }};
kernel same_f64(in a: f64, in b: f64; id: i32) ordered cpu {{ printf("%d %d %.17g%s\n", (int)id, (int)df_wave(call), *a, memcmp(a, b, sizeof *a) ? " DIFFERS" : ""); }};
kernel same_u8(in a: u8, in b: u8; id: i32) ordered cpu {{ printf("%d %d %d%s\n", (int)id, (int)df_wave(call), (int)*a, *a != *b ? " DIFFERS" : ""); }};
graph nested(in a: i32[n], in b: i32[n], out c: i32[n]) {
    t = near(a);
    c = add(t, b);
}
"""

FORMATS = {"v": "i32[n]", "i": "i32", "f": "f64", "u": "u8"}
SOURCES = {"v": "first", "i": "one", "f": "real", "u": "byte"}
SAME = {"v": "same", "i": "same_i32", "f": "same_f64", "u": "same_u8"}


class Loop:
    """One loop: its carried streams, its body, and its condition."""

    def __init__(self, r, number):
        self.r, self.number, self.body, self.temps = r, number, [], 0
        self.size = r.randint(1, 40) if r.random() < 0.9 else r.randint(70000, 150000)
        self.begin, self.rounds = r.choice([0, 0, 1, 3]), r.choice([0, 1, 2, 3, 5, 8])
        kinds = ["v"] * r.randint(1, 2) + ["i"] + r.choice([[], ["f"], ["u"], ["v", "f"]])
        self.carried = [(f"{kind}{number}_{k}", kind) for k, kind in enumerate(kinds)]
        self.fixed = [(f"b{number}_{k}", "v") for k in range(r.randint(0, 2))]
        self.make_body()
        self.condition = self.make_condition()
        self.last = [x for x in self.carried if r.random() < 0.7] or [self.carried[0]]

    def pick(self, kind, now):
        """A stream of that kind: (name, how it is indexed), from what is there."""
        return self.r.choice([x for x in now if x[1] == kind])

    def make_body(self):
        r = self.r
        now = [(name, kind, "k") for name, kind in self.carried] + [(name, kind, None) for name, kind in self.fixed]
        for _ in range(r.randint(0, 2)):
            self.temps += 1
            name = f"t{self.number}_{self.temps}"
            self.make("v", name, "k", now)
            now.append((name, "v", "k"))
        order = list(self.carried)
        r.shuffle(order)
        for name, kind in order:
            self.make(kind, name, "k + 1", now)
            now.append((name, kind, "k + 1"))

    def make(self, kind, name, index, now):
        r, by = self.r, self.r.randint(-9, 9)
        v = lambda: self.pick("v", now)
        if kind == "i":
            call = r.choice([("tick", [self.pick("i", now)], None), ("tick", [self.pick("i", now)], None), ("size", [v()], None)])
        elif kind == "f":
            call = ("half", [v(), self.pick("f", now)], None)
        elif kind == "u":
            call = ("low", [v(), self.pick("u", now)], None)
        else:
            call = r.choice([("add", [v(), v()], None), ("near", [v()], None), ("scaled", [v(), self.pick("i", now)], by), ("bump", [v()], by), ("turn", [v()], None),
                             ("part", [v()], None), ("maybe", [v(), v()], None), ("nested", [v(), v()], None), ("two", [v(), v()], by)])
        self.body.append((name, index, *call))

    def make_condition(self):
        """Over i64 and f64, as text of the language and of C, with %s for the streams in turn."""
        r, parts, reads = self.r, [], []
        for name, kind in [x for x in self.carried if x[1] != "v"]:
            if parts and r.random() < 0.3:
                continue
            text = {"i": r.choice(["%s % 7 != 3", "%s < 40", "%s + 1 > lim", "max(%s, 2) != 5"]), "f": r.choice(["%s > 3.25", "%s < 1e3", "-%s * 2 < 0.5 || %s > 1"]),
                    "u": r.choice(["%s != 17", "%s > 8", "!(%s == 3)"])}[kind]
            reads += [(name, kind)] * text.count("%s")
            parts.append(f"({text})")
        return r.choice([" && ", " || "]).join(parts), reads

    def text(self, written_out):
        lines, n = [], self.number
        kinds = dict(self.carried)
        cond, reads = self.condition
        at = (lambda name, index: f"{name}u[{index}]") if written_out else (lambda name, index: f"{name}[{index}]")
        pre = [f"{at(name, self.begin)}: {FORMATS[kind].replace('n', str(self.size)) if kind == 'v' else FORMATS[kind]} = {SOURCES[kind]}({n + k});"
               for k, (name, kind) in enumerate(self.carried)]
        if not written_out:
            pre += [f"{name}: i32[{self.size}] = first({n + 50 + k});" for k, (name, _) in enumerate(self.fixed)]
            lines.append(f"for k in {self.begin}..{self.begin + self.rounds} while {self.fill(cond, [f'{name}[k]' for name, _ in reads])} {{")
        else:
            lines.append(f"for k in {self.begin}..{self.begin + self.rounds} {{")
            tokens = [at(name, "k") for name, _ in dict.fromkeys(reads)]
            for name, kind in self.carried:
                lines.append(f"    {name}g[k] = gate{n}_{kind}({', '.join([at(name, 'k'), *tokens])}, lim) @quiet;")
            for name, _ in self.fixed:
                lines.append(f"    {name}g[k] = gate{n}_v({', '.join([name, *tokens])}, lim) @quiet;")
        for name, index, kernel, inputs, scalar in self.body:
            out = at(name, index)
            if kernel == "two":
                out = f"({out}, _)"
            words = []
            for x in inputs:
                if x[2] is None:
                    words.append(f"{x[0]}g[k]" if written_out else x[0])
                elif written_out and x[2] == "k" and x[0] in kinds:
                    words.append(f"{x[0]}g[k]")
                else:
                    words.append(at(x[0], x[2]))
            lines.append(f"    {out} = {kernel}({', '.join(words + ([str(scalar)] if scalar is not None else []))}) @quiet;")
        lines.append("}")
        for name, _ in self.last:
            if not written_out:
                lines.append(f"{name}l = last({name});")
            else:
                all_rounds = [at(name, k) for k in range(self.begin + self.rounds, self.begin - 1, -1)]
                lines.append(f"{name}ul = select({', '.join(all_rounds * (2 if len(all_rounds) == 1 else 1))});")
        return pre + lines

    @staticmethod
    def fill(text, words):
        parts = text.split("%s")
        return "".join(p + w for p, w in zip(parts, words + [""]))

    def gates(self):
        cond, reads = self.condition
        names = list(dict.fromkeys(reads))
        c = re.sub(r"max\((.*?), (\d+)\)", r"(\1 > \2 ? \1 : \2)", cond)
        filled, count = "", 0
        for part in re.split(r"(%s)", c):
            if part == "%s":
                filled += "@"
            else:
                filled += part
        # max(%s, 2) has become three words for one stream
        words = []
        for text, (name, kind) in self.words_of(c, cond, reads):
            words.append(f"({'double' if kind == 'f' else 'int64_t'})*t_{name}")
        for word in words:
            filled = filled.replace("@", word, 1)
        out = []
        for kind in sorted({kind for _, kind in self.carried} | ({"v"} if self.fixed else set())):
            ports = [f"in a: {FORMATS[kind]}"] + [f"in t_{name}: {FORMATS[k]}" for name, k in names] + [f"out c: {FORMATS[kind]}"]
            copy = "memcpy(c, a, n * sizeof *c);" if kind == "v" else "*c = *a;"
            out.append(f"kernel gate{self.number}_{kind}({', '.join(ports)}; lim: i32) cpu {{{{ (void)lim; if (!({filled})) return DF_SKIP; {copy} }}}};")
        return out

    @staticmethod
    def words_of(c, cond, reads):
        """For each %s of the C text, the stream that it is."""
        out, at = [], 0
        for piece in re.findall(r"\((%s) > \d+ \? %s : \d+\)|(%s)", c):
            out += [("%s", reads[at])] * (2 if piece[0] else 1)
            at += 1
        return out


def program(seed, count):
    r = random.Random(seed)
    loops = [Loop(r, 100 * (k + 1)) for k in range(count)]
    lines = ["arg lim: i32 = 7;", KERNELS]
    for loop in loops:
        lines += loop.gates()
    lines.append("graph main {")
    for loop in loops:
        lines += ["    " + x for x in loop.text(False) + loop.text(True)]
        for k, (name, kind) in enumerate(loop.last):
            lines.append(f"    {SAME[kind]}({name}l, {name}ul, {loop.number + k});")
    lines.append("}")
    waves = r.randint(1, 5)
    return "\n".join(lines) + "\n", waves, sum(len(loop.last) for loop in loops) * waves


def ways(r, long, least):
    cpu = [["--device=none", f"--workers={w}"] for w in (1, 3)]
    emu = ["--device=emu", "--emu-all"]
    chosen = POLICIES if long else r.sample(POLICIES, 4)
    return (cpu + [["--device=none", "--workers=2", f"--policy={p}", f"--inflight={r.randint(1, 4)}"] for p in chosen if p != "all-gpu"] +
            [[*emu, f"--policy={p}", f"--workers={r.randint(1, 3)}", *r.choice([[], [f"--gpu-mem={least}"], ["--gpu-jobs=3", "--cuda-graphs=on"]])] for p in chosen])


def call(words, folder):
    return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)


def least_memory(folder):
    """The least --gpu-mem with which a run on the emulated GPU is not refused, in pages."""
    low, high = 1, 1024
    while low < high:
        middle = (low + high) // 2
        ok = call(["./app", "--device=emu", "--emu-all", "--policy=all-gpu", f"--gpu-mem={middle * 4096}"], folder).returncode == 0
        low, high = (low, middle) if ok else (middle + 1, high)
    return low * 4096


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--programs", type=int, default=1)
    p.add_argument("--loops", type=int, default=12, help="in each program")
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--long", action="store_true", help="every policy, and the least memory")
    given = p.parse_args()
    dfc = os.path.abspath(os.path.join(given.build, "bin", "dfc"))
    bad = 0
    for seed in range(given.first, given.first + given.programs):
        text, waves, lines = program(seed, given.loops)
        r = random.Random(seed + 1000000)
        modes = [["--nvcc=none"], ["--emu-gpu-code"]] if given.long or seed % 2 else [["--nvcc=none"]]
        for mode in modes:
            folder = tempfile.mkdtemp(prefix="df-loops-")
            with open(os.path.join(folder, "app.df"), "w") as out:
                out.write(text)
            run = call([dfc, "app.df", "-o", "app", "-w", *mode], folder)
            problem = run.stderr if run.returncode else None
            want = None
            least = least_memory(folder) if problem is None and (given.long or seed % 2) else 1 << 20
            for way in [] if problem else ways(r, given.long, least):
                run = call(["./app", f"--waves={waves}", *way], folder)
                out = "".join(sorted(run.stdout.splitlines(True)))
                want = want if want is not None else out
                if run.returncode or out != want or "DIFFERS" in out or out.count("\n") != lines:
                    problem = f"{' '.join(way)}: exit {run.returncode}, {out.count(chr(10))} of {lines} lines; {run.stderr[-300:]}" + "".join(
                        x for x in out.splitlines(True) if "DIFFERS" in x)[:300]
                    break
            if problem:
                bad += 1
                print(f"program {seed} {mode}: {problem}\n  kept in {folder}", file=sys.stderr)
            else:
                subprocess.run(["rm", "-rf", folder], check=True)
    print(f"{given.programs * given.loops} loops, {bad} programs differ")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
