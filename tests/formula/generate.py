"""Random programs of formulas, for compare.py: Program(seed, name) is a graph with its kernels, right by construction.

Every read is one that the range proof must accept: in ports with a border it goes anywhere; in others it follows from the extents, by one of
the ways that the language promises to see (shifts, flips, strides, division, conditions on indices). Many programs are chains of *regular*
kernels, which read rows at fixed distances, so that dfc joins them. kernels.py makes each of the kernels.

With accs=True kernels with accs follow, which read what a wave makes, and kernels that read their results alone. Such a program has several
waves. With bounded=True the extents of inputs have a bound, so each call has others.
"""
import random
import re

from extents import Lin, number, var
from kernels import APART, DIMS, ELEMENTS, Kernel, Stream


class Program:
    """A graph `name` with its kernels and tables. wild: some reads may go outside."""

    def __init__(self, seed, name, wild=False, accs=False, bounded=False):
        self.accs = accs
        self.plain = True
        self.seed, self.name, self.made_as, self.r, self.wild = seed, name, name, random.Random(f"formula {seed}"), wild
        r = self.r
        self.is_chain = r.random() < 0.4
        self.depth = r.choice((2, 2, 3, 4) if self.is_chain else (2, 3, 3, 4, 4, 5))
        self.rank = r.choice((1, 2, 2, 2, 2, 3, 4))
        self.dims = list(DIMS[:self.rank])
        self.bound = (12 if self.rank > 3 else 40) if bounded else 0
        self.tables, self.kernels, self.calls = [], [], []
        self.streams, self.scalars, self.outputs = [], [], []
        self.make_tables()
        self.make_inputs()
        for _ in range(r.choice((2, 3, 3, 4, 5) if self.is_chain else (1, 1, 2, 3, 4))):
            self.add_stage(self.streams)
        if accs:
            self.add_accs()
        self.choose_outputs()
        self.backwards = r.random() < 0.3

    def make_tables(self):
        r = self.r
        self.table_texts = []
        for t in range(r.choice((0, 0, 1, 2))):
            elem = r.choice(ELEMENTS)
            shape = r.choice(([256], [5], [3], [3, 3], [2, 4]))
            n = 1
            for extent in shape:
                n *= extent
            values = [r.choice(("0", "1", "0.5", "-2.25", "0.1", "100.0")) if elem[0] == "f" else str(r.randrange(0 if elem[0] == "u" else -100 if elem == "i8" else -200, 100 if elem == "i8" else 200)) for _ in range(n)]
            name = f"{self.name}_t{t}"
            self.tables.append((name, elem, shape))
            self.table_texts.append(f"table {name}: {elem}[{', '.join(map(str, shape))}] = {{ {', '.join(values)} }};\n")

    def make_inputs(self):
        r = self.r
        shape = [var(d) for d in self.dims]
        if r.random() < 0.2:
            shape[-1] = number(r.choice((1, 3, 4)))
            self.dims = self.dims[:-1]
        if self.dims and r.random() < 0.12 and not self.bound:
            shape[0] = Lin({atom: 2 for atom, _ in shape[0].atoms.values()})
        self.streams.append(Stream("a0", r.choice(ELEMENTS), shape))
        for i in range(r.choice((0, 0, 1, 1, 2))):
            mine = list(shape)
            if r.random() < 0.3 and len(mine) > 1:
                mine.pop(r.randrange(len(mine)))
            self.streams.append(Stream(f"a{i + 1}", r.choice(ELEMENTS), mine))
        self.n_inputs = len(self.streams)
        if not self.dims_alone():
            self.streams.append(Stream(f"a{self.n_inputs}", "u8", [var(d) for d in self.dims]))
            self.n_inputs += 1

    def dims_alone(self):
        alone = {e.text() for s in self.streams for e in s.extents if e.is_var()}
        return all(d in alone for d in self.dims)

    def add_accs(self):
        """Kernels with accs, of what a wave has, and of their results kernels that run after the last wave."""
        r = self.r = random.Random(f"accs {self.seed}")
        made, results = list(self.streams), []
        for _ in range(r.choice((1, 1, 2))):
            targets = self.add_stage(made, True)
            accs = [p.mode == "acc" for p in self.kernels[-1].ports if p.mode != "in"]
            results += [s for s, is_acc in zip(targets, accs) if is_acc]
            made += [s for s, is_acc in zip(targets, accs) if not is_acc]
        for _ in range(r.choice((0, 1, 1, 2))):
            results += self.add_stage(results)

    def add_stage(self, streams, accs=False):
        """A kernel that reads some of these. The streams that it makes."""
        r = self.r
        kernel = Kernel(self, f"{self.name}_k{len(self.kernels)}", self.is_chain and r.random() < 0.9)
        weights = [1 + 2 * i for i in range(len(streams))]
        chosen = []
        for _ in range(r.choice((1, 1, 2, 3))):
            stream = r.choices(streams, weights)[0]
            if stream not in chosen:
                chosen.append(stream)
        kernel.build(chosen, accs)
        targets, n = [], len(self.streams)
        for port in kernel.ports:
            if port.mode == "in":
                continue
            name = f"v{n + len(targets)}"
            extents = [e.put(kernel.dims) for e in port.extents]
            targets.append(Stream(name, port.elem, extents))
        scalars = []
        for _, kind in kernel.scalars:
            if r.random() < 0.5:
                self.scalars.append((f"q{len(self.scalars)}", kind))
                scalars.append(self.scalars[-1][0])
            else:
                scalars.append({"i32": "3", "i64": "70000000000", "f32": "0.7", "f64": "-1.3"}[kind])
        self.kernels.append(kernel)
        self.calls.append((kernel, targets, [s.name for s in chosen] + scalars))
        self.streams += targets
        return targets

    def choose_outputs(self):
        for stream in self.streams[self.n_inputs:]:
            if not stream.read or self.r.random() < (0.12 if self.is_chain else 0.25):
                self.outputs.append(stream)

    # -- text --

    def order(self):
        """Dimensions as the signature has them: by where they stand alone first."""
        names = [e.text() for s in self.streams[:self.n_inputs] + self.outputs for e in s.extents if e.is_var()]
        return list(dict.fromkeys(names))

    def annotated(self, stream):
        shape = f"[{', '.join(e.text() for e in stream.extents)}]" if stream.extents else ""
        return f"{stream.name}: {stream.elem}{shape}"

    def signature(self, apart):
        ports = [f"in {self.annotated(s)}" for s in self.streams[:self.n_inputs]] + [f"out {self.annotated(s)}" for s in self.outputs]
        scalars = "; " + ", ".join(f"{n}: {t}" for n, t in self.scalars) if self.scalars else ""
        text = ", ".join(ports)
        for d in [] if self.plain else self.order():
            text = re.sub(rf"(?<=[\[ ]){d}(?=[\],])", f"{d} <= {self.bound}", text, count=1)
        return f"graph {self.name}{apart}({text}{scalars})"

    def graph_text(self, apart):
        lines = []
        for kernel, targets, actuals in self.calls:
            said = [s.name if s in self.outputs or not self.plain else self.annotated(s) for s in targets]
            left = said[0] if len(said) == 1 else f"({', '.join(said)})"
            callee = kernel.nested + apart if kernel.nested else kernel.name
            hint = " @nofuse" if apart and not kernel.nested else ""
            lines.append(f"    {left} = {callee}({', '.join(actuals)}){hint};\n")
        if self.backwards:
            lines.reverse()
        return f"{self.signature(apart)} {{\n{''.join(lines)}}}\n"

    def ways(self):
        """Names of graphs that make the same: the one whose kernels may be joined, and where there are several, one whose are not."""
        return [self.name + apart for apart in self.aparts()]

    def aparts(self):
        return ["", APART] if len(self.calls) > 1 else [""]

    def text(self, plain=False):
        """plain: as the interpreter reads it, without bounds, and each stream with its format."""
        self.plain = plain or not self.bound
        text = "".join(self.table_texts) + "".join(k.text() for k in self.kernels) + "".join(self.graph_text(apart) for apart in self.aparts())
        return re.sub(rf"\b{self.made_as}(?=_[ktn]\d)", self.name, text)

    # -- sizes --

    def fits(self, dims, most):
        """Every extent is 1 or more, and it is not too much work."""
        for kernel in self.kernels:
            here = {name: lin.value(dims) for name, lin in kernel.dims.items()}
            if any(value < 1 for value in here.values()):
                return False
            if any(e.value(here) < 1 for p in kernel.ports for e in p.extents):
                return False
        if any(e.value(dims) < 1 for s in self.streams for e in s.extents):
            return False
        if self.bound and max(dims.values(), default=0) > self.bound:
            return False
        elements = 0
        for stream in self.streams:
            product = 1
            for e in stream.extents:
                product *= e.value(dims)
            elements += product
        return elements <= most and sum(kernel.cost(dims) for kernel in self.kernels) <= most

    def sizes(self, n, most=400000):
        """Up to n of them: 1x1, 1xn, primes, below the reach; lengths that need several blocks of a reduction, where there is room."""
        r = random.Random(f"sizes {self.seed}")
        found = []
        lists = ((1,), (1, 2, 3, 5), (16, 17, 23, 31, 33), (1, 7, 11, 13, 17, 19), (2, 3, 4, 6, 8), (1, 40, 64, 97), (1, 3, 33, 101, 257), (1, 2, 3))
        for turn in range(16 * n):
            dims = {d: r.choice(lists[turn % len(lists)]) for d in self.dims}
            if self.is_chain and turn % 3 == 1 and dims:        # several strips of rows
                dims = {**{d: r.choice((1, 2, 5, 6, 9)) for d in self.dims}, self.dims[0]: r.choice((63, 64, 65, 67, 130, 211))}
            if turn % len(lists) == len(lists) - 1 and dims:
                dims[r.choice(self.dims)] = r.choice((1023, 1024, 1025, 1041, 2083, 5000))
            if dims not in found and self.fits(dims, most):
                found.append(dims)
        if self.accs:
            for turn, dims in enumerate(found):
                dims["waves"] = 1 + turn % 3
        most_work = max(found, key=lambda dims: sum(kernel.cost(dims) for kernel in self.kernels), default=None)
        return found[:n - 1] + [most_work] if len(found) > n and most_work not in found[:n] else found[:n]


# What stands before the programs of a file. `reach` may be another one at each start, so reads that hold it are proved then.
HEADER = "param three = 3;\nparam reach = 2 dynamic;\narg gain: f32 = 0.75;\narg bias: i64 = -70000000000;\narg steps: i32 = 3;\n"
