"""Random kernels of formulas, for generate.py: Kernel(program, name).build(streams) has ports, lets and formulas over the streams that it is
given, right by construction. What the text of an expression does is kept as a tree of Expr, so that compare.py can make a failing program
smaller.
"""
from extents import Div, Lin, number, var

ELEMENTS = ("u8", "u16", "u32", "i8", "i16", "i32", "i64", "f16", "f32", "f64")
PROMOTED = {"u8": "i32", "u16": "i32", "u32": "i64", "i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64", "f16": "f32", "f32": "f32", "f64": "f64"}
NARROW = ("u8", "u16", "u32", "i8", "i16")
TYPES = ("i32", "i64", "f32", "f64")
BORDERS = ("clamp", "mirror", "reflect", "wrap")
DIMS = "hwnm"
# Follows the name of a graph whose calls have @nofuse.
APART = "_apart"
GLOBALS = [("gain", "f32"), ("bias", "i64"), ("steps", "i32")]   # args that HEADER of generate.py declares


# ---- expressions ----

class Expr:
    """`form` has a {} for each kid. cost(dims): about how many steps the oracle takes."""

    def __init__(self, kind, form, *kids, times=None):
        self.kind, self.form, self.kids, self.times = kind, form, list(kids), times

    def text(self):
        return self.form.format(*(kid.text() for kid in self.kids)) if self.kids else self.form.replace("{{", "{").replace("}}", "}")

    def cost(self, dims):
        inner = 1 + sum(kid.cost(dims) for kid in self.kids)
        return inner * max(1, self.times(dims)) if self.times else inner

    def size(self):
        return 1 + sum(kid.size() for kid in self.kids)


class Index:
    """A name that has values from `low` to below `high` (a Lin)."""

    def __init__(self, name, low, high, is_range=False, is_exact=False):
        self.name, self.low, self.high, self.is_range, self.is_exact = name, low, high, is_range, is_exact

    def typed(self):
        """A name that stands for a literal may be exact, and an i32 is wanted."""
        return f"i32({self.name})" if self.is_exact else self.name


class Port:
    def __init__(self, name, elem, extents, border=None, mode="in", first=None):
        self.name, self.elem, self.extents, self.border, self.mode, self.first = name, elem, extents, border, mode, first

    def text(self):
        shape = f"[{', '.join(e.text() for e in self.extents)}]" if self.extents else ""
        first = f" = {self.first}" if self.first else ""
        return f"{self.mode} {self.name}: {self.elem}{shape}{first}" + (f" border {', '.join(self.border)}" if self.border else "")


class Stream:
    def __init__(self, name, elem, extents):
        self.name, self.elem, self.extents = name, elem, extents
        self.read = False


class Let:
    def __init__(self, name, params, value):
        self.name, self.params, self.value = name, params, value

    def text(self):
        return f"    let {self.name}{'[' + ', '.join(self.params) + ']' if self.params else ''} = {self.value.text()};\n"


class Formula:
    def __init__(self, left, value, times, assign="="):
        self.left, self.value, self.times, self.assign = left, value, times, assign

    def text(self):
        return f"    {self.left} {self.assign} {self.value.text()};\n"


# Number of elements and what it is computed from, for tables and for the borders that are numbers.
BORDER_NUMBERS = {"i32": ("0", "1", "-3", "77"), "i64": ("0", "-1", "3000000000"), "u": ("0", "1", "200"), "i8": ("0", "-1", "-128", "100"), "i16": ("0", "-300", "32767"), "f": ("0", "0.5", "-1.25", "1000")}


class Kernel:
    """regular: it makes row after row, and reads rows at fixed distances: `y + c`, with c a number or a range between numbers; or at a rate: `2 * y + c`,
    `(y + c) / 2`."""

    def __init__(self, program, name, regular=False):
        self.program, self.r, self.name, self.regular = program, program.r, name, regular
        self.ports, self.scalars, self.lets, self.formulas = [], [], [], []
        self.dims, self.inputs, self.outputs = {}, [], []      # dims: name of the kernel's -> Lin of the graph's
        self.fresh = 0
        self.local = self.nested = self.rows = None
        self.rates = {}                                        # of regular kernels: by port

    def name_new(self, prefix):
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    # -- the signature --

    def dim_for(self, extent):
        """The kernel's text for a graph's extent: a variable of its own, one for equal extents, or a number."""
        if not extent.atoms:
            return extent
        for name, known in self.dims.items():
            if known.minus(extent) == 0:
                return var(name)
        name = f"{'hwnmpqst'[len(self.dims) % 8]}{'' if len(self.dims) < 8 else 9}"
        self.dims[name] = extent
        return var(name)

    def add_input(self, stream, halved=None):
        """halved: dimensions that are written as 2 * v, where the graph's extent is twice something."""
        extents = []
        for extent in stream.extents:
            atoms = list(extent.atoms.values())
            if halved and len(atoms) == 1 and atoms[0][1] == 2 and extent.number == 0:
                extents.append(self.dim_for(Lin({atoms[0][0]: 1})).plus(number(0)))
                extents[-1] = Lin({atom: 2 * n for atom, n in extents[-1].atoms.values()})
                self.halved = True
            else:
                extents.append(self.dim_for(extent))
        r = self.r
        border = None
        if extents and r.random() < 0.6:
            one = r.random() < 0.6
            border = [self.edge(stream.elem) for _ in range(1 if one else len(extents))]
            if not one and r.random() < 0.3:
                border[r.randrange(len(border))] = "none"
        self.ports.append(Port(f"i{len(self.inputs)}", stream.elem, extents, border))
        self.inputs.append(stream)
        stream.read = True

    def edge(self, elem):
        if self.r.random() < 0.7:
            return self.r.choice(BORDERS if not self.regular or self.r.random() < 0.2 else BORDERS[:3])   # `wrap` is at the end
        return self.r.choice(BORDER_NUMBERS["u" if elem[0] == "u" else "f" if elem[0] == "f" else elem])

    def out_extents(self):
        """Extents of an output: what an input has, shrunk, halved, doubled, turned, a dimension less or more."""
        r = self.r
        extents = list(r.choice(self.ports[:len(self.inputs)]).extents) or [number(r.randrange(1, 5))]
        if self.regular:
            return [self.rows_made(extents[0])] + self.varied(extents[1:], 3)
        return self.varied(extents)

    def rows_made(self, extent):
        """All outputs of a regular kernel have as many rows."""
        if self.rows is None:
            r, turn = self.r, self.r.random()
            self.rows = extent if turn < 0.5 else extent.plus(number(-r.randrange(1, 4) if turn < 0.65 and extent.atoms else r.randrange(1, 4)))
            if turn >= 0.75 and extent.atoms and not any("/" in atom for atom in extent.atoms):
                by = r.choice((2, 2, 2, 3))
                self.rows = Lin({Div(extent.plus(number(r.randrange(by))), by): 1}) if turn < 0.9 else Lin({atom: by * n for atom, n in extent.atoms.values()}, by * extent.number)
        return self.rows

    def varied(self, extents, most=4):
        r = self.r
        if len(extents) >= 2 and r.random() < 0.15:
            r.shuffle(extents)
        if len(extents) > 1 and r.random() < 0.2:
            extents.pop(r.randrange(len(extents)))
        elif len(extents) < most and r.random() < 0.1:
            extents.append(number(r.randrange(1, 4)))
        for d, extent in enumerate(extents):
            turn = r.random()
            if not extent.atoms or turn < 0.45:
                continue
            if turn < 0.65:
                extents[d] = extent.plus(number(-r.randrange(1, 4)))
            elif turn < 0.75:
                extents[d] = Lin({Div(extent.plus(number(r.randrange(2))), r.choice((2, 2, 3))): 1})
            elif turn < 0.83:
                extents[d] = Lin({atom: 2 * n for atom, n in extent.atoms.values()}, 2 * extent.number)
            elif turn < 0.88:
                extents[d] = extent.plus(number(r.randrange(1, 4)))
            elif turn < 0.92:
                extents[d] = number(r.randrange(1, 6))
        return extents

    # -- indices --

    def safe(self, extent, scope):
        """An index that is inside of the extent; in a wild program it may be one beside."""
        index = self.inside(extent, scope)
        if self.program.wild and self.r.random() < 0.1:
            return f"{index}{self.r.choice((' + 1', ' - 1', ' - 2 + y' if any(i.name == 'y' for i in scope) else ' + 2'))}"
        return index

    def inside(self, extent, scope):
        r = self.r
        ways = ["0", f"{extent.text()} - 1"]
        if not extent.atoms:
            ways = [str(r.randrange(extent.number))]
            ways += [f"{i.name} % {extent.number}" for i in scope if i.low >= 0]
        good = []
        for i in scope:
            spare = extent.minus(i.high)
            if spare is not None and spare >= -i.low:
                by = r.randrange(-i.low, spare + 1)
                good.append(self.shifted(i.name, by))
                good.append(f"{extent.text()} - 1 - {i.name}" + (f" - {by}" if by > 0 else f" + {-by}" if by else ""))
                good += self.with_range(i, spare, scope)
            good += self.at_rates(extent, i)
        if good and r.random() < 0.85:
            return r.choice(good)
        return r.choice(ways)

    def at_rates(self, extent, i):
        """Where the index goes over a third of the extent, say, or over three times as much."""
        r, good = self.r, []
        for times in (2, 3):
            over = extent.minus(i.high, times)
            if over is not None and over + times - 1 >= 0 and i.low >= 0:
                good.append(self.shifted(f"{times} * {i.name}", r.randrange(0, over + times)))
            under = Lin({a: times * n for a, n in extent.atoms.values()}, times * extent.number).minus(i.high)
            if under is not None and under >= 0 and i.low >= 0:
                good.append(f"({self.shifted(i.name, r.randrange(under + 1))}) / {times}")
        return good + self.of_division(extent, i)

    @staticmethod
    def shifted(text, by):
        return text if by == 0 else f"{text} {'+' if by > 0 else '-'} {abs(by)}"

    def with_range(self, i, spare, scope):
        """Beside an index, a range of numbers that is no longer than what is left."""
        found = []
        for j in scope:
            if j is i or j.high.atoms or not j.is_range:
                continue
            low, high = i.low + j.low, spare + 1 - j.high.number    # + by
            if -low <= high:
                found.append(self.shifted(f"{i.name} + {j.name}", self.r.randrange(-low, high + 1)))
        return found

    def of_division(self, extent, i):
        """Where the index goes over a part of the extent: (e + c) / s."""
        if i.high.number or len(i.high.atoms) != 1 or i.low < 0:
            return []
        (atom, times), = i.high.atoms.values()
        if not isinstance(atom, Div) or times != 1:
            return []
        spare = extent.minus(atom.lin)          # s * i <= lin - s
        if spare is None or spare + atom.by - 1 < 0:
            return []
        return [self.shifted(f"{atom.by} * {i.name}", self.r.randrange(0, spare + atom.by))]

    def anywhere(self, scope, depth):
        r = self.r
        parts = []
        for i in r.sample(scope, min(len(scope), r.choice((1, 1, 1, 2, 2, 3)))):
            times = r.choice((1, 1, 1, 1, -1, 2, 3, -2))
            parts.append(i.name if times == 1 else f"{times} * {i.name}")
        text = " + ".join(parts) if parts else "0"
        by = r.choice((0, 0, 1, -1, 2, -2, 3, -5, 8, -40))
        text = self.shifted(text, by)
        if r.random() < 0.15:
            text = self.shifted(f"({text}) / {r.choice((2, 2, 3, 4))}", r.choice((0, 0, 1, -1)))
        if depth > 0 and r.random() < 0.12:     # a gather
            kind, form = r.choice((("i32", "({} & 63) + "), ("f32", "i32(clamp({}, -3.5, 40)) + "), ("f32", "i32({}) + "), ("f64", "u8({}) + "),
                                   ("f32", "i32(1000 * clamp({}, 0, 1)) - ")))
            return Expr("i32", form + text, self.make(kind, scope, depth - 2))
        return Expr("i32", text)

    def read(self, port, scope, depth):
        indices = []
        for d, extent in enumerate(port.extents):
            edge = None if not port.border else port.border[min(d, len(port.border) - 1)]
            own = self.left[d] if port.mode in ("inout", "acc") else None
            row = self.row(port, scope, edge and edge != "none") if self.regular and d == 0 else None
            if own or row:
                indices.append(Expr("i32", own or row))
            elif edge and edge != "none":
                near = self.safe(extent, scope)
                indices.append(self.anywhere(scope, depth) if self.r.random() < 0.7 else Expr("i32", near))
            else:
                indices.append(Expr("i32", self.safe(extent, scope)))
        form = port.name + (f"[{', '.join('{}' for _ in indices)}]" if indices else "")
        return Expr(PROMOTED[port.elem], form, *indices)

    def rate(self, port, made):
        """As (times, by): one for all rows that are read of the port. It is mostly that of the extents."""
        r, extent = self.r, port.extents[0]
        if port.name not in self.rates:
            fits = [(times, by) for times, by in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3)) if alike(extent, by, made.high, times)]
            self.rates[port.name] = r.choice(fits) if fits and r.random() < 0.85 else r.choice(((1, 1),) * 6 + ((2, 1), (1, 2), (1, 3), (3, 2)))
        return self.rates[port.name]

    def row(self, port, scope, has_border):
        """A row at a fixed distance from the one that is made, or at a rate. None: without a border there is none that is inside."""
        r, made, extent = self.r, scope[0], port.extents[0]
        times, by = self.rate(port, made)
        if not has_border:
            if times != by:
                rated = [text for text in self.at_rates(extent, made) if ("/" in text) == (times < by)]
                return r.choice(rated) if rated else None
            spare = extent.minus(made.high)
            if spare is None or spare < 0:
                return None
            return r.choice([self.shifted(made.name, r.randrange(spare + 1)), *self.with_range(made, spare, scope)])
        ranges = [i for i in scope if i.is_range and not i.high.atoms]
        name = made.name if times == 1 else f"{times} * {made.name}"
        text = self.shifted(name, r.choice((0, 0, 1, -1, -1, 2, -2, 3, -4, 7)))
        more = f" {r.choice(('+', '-', '+ 2 *'))} {r.choice(ranges).name}" if ranges and r.random() < 0.5 else ""
        if by > 1 and r.random() < 0.4:                         # inside of the quotient, or behind it
            text, more = text + more, ""
        if by > 1:
            text = f"({text} >> 1)" if by == 2 and r.random() < 0.1 else f"({text}) / {by}"
            text = self.shifted(text, r.choice((0, 0, 1, -1, 2)))
        if r.random() < 0.1:
            return f"clamp({text}{more}, {r.choice((0, 0, 0, -1))}, {extent.text()} - 1)"
        return text + more

    def guarded(self, kind, scope, depth):
        """A read that a condition on an index keeps inside."""
        r = self.r
        for port in r.sample(self.ports, len(self.ports)):
            if port.mode != "in" or PROMOTED[port.elem] != kind or port.border or not port.extents:
                continue
            for i in scope[:1] if self.regular else scope:
                d = 0 if self.regular else r.randrange(len(port.extents))
                if port.extents[d].minus(i.high) != 0 or i.low < 0:
                    continue
                by = r.randrange(1, 4)
                test, index = r.choice(((f"{i.name} >= {by}", f"{i.name} - {by}"), (f"{i.name} + {by} < {port.extents[d].text()}", f"{i.name} + {by}"),
                                        (f"{i.name} > {by} && {i.name} < {port.extents[d].text()} - 1", f"{i.name} - {by}"),
                                        (f"{i.name} % {by + 1} == {by}", f"{i.name} - {by}")))
                indices = [index if e == d else self.safe(port.extents[e], scope) for e in range(len(port.extents))]
                return Expr(kind, f"({test} ? {port.name}[{', '.join(indices)}] : {{}})", self.make(kind, scope, depth - 1))
        return None

    # -- expressions --

    def literal(self, kind):
        r = self.r
        if kind == "i32":
            return r.choice(("1", "2", "3", "5", "7", "10", "100", "255", "1000", "65537", "-1", "-6", "2147483647", "0"))
        if kind == "i64":
            return r.choice(("1", "2", "3", "9", "1000000007", "-4294967297", "4611686018427387904"))
        return r.choice(("0.5", "2", "3", "0.1", "-1.5", "1.0e-3", "1000", "0.299", "1.0 / 3.0", "16777216.0", "-0.0", "0"))

    def leaf(self, kind, scope, depth):
        r = self.r
        ports = [p for p in self.ports if p.mode != "out" and PROMOTED[p.elem] == kind and (p.mode == "in" or self.in_own(p, scope))]
        if ports and r.random() < 0.8:
            return self.read(r.choice(ports), scope, depth)
        scalars = [name for name, t in self.scalars + GLOBALS if t == kind]
        if scalars and r.random() < 0.4:
            return Expr(kind, r.choice(scalars))
        tables = [t for t in self.program.tables if PROMOTED[t[1]] == kind]
        if tables and r.random() < 0.4:
            return self.table(r.choice(tables), scope)
        if kind == "i32":
            near = [i.typed() for i in scope] + list(self.dims_of_ports())
            return Expr("i32", r.choice(near)) if near else Expr("i32", "i32(4)")
        source = r.choice([p for p in self.ports if p.mode == "in"])
        return Expr(kind, f"{kind}({{}})", self.read(source, scope, depth))

    def in_own(self, port, scope):
        """Such a port is read in its own formula alone, at the element that is written."""
        return self.local is None and self.writing is port and len(scope) >= len(port.extents)

    def dims_of_ports(self):
        names = []
        for port in self.ports:
            for extent in port.extents:
                if extent.is_var() and extent.text() not in names:
                    names.append(extent.text())
        return names

    def table(self, table, scope):
        name, elem, shape = table
        bytes_ports = [p for p in self.ports if p.elem == "u8" and p.mode == "in"]
        if shape == [256] and self.r.random() < 0.5:
            return Expr(PROMOTED[elem], f"{name}[u8({{}})]", self.make(self.r.choice(("i32", "f32")), scope, 1))
        if shape == [256] and bytes_ports:
            return Expr(PROMOTED[elem], f"{name}[{{}}]", self.read(self.r.choice(bytes_ports), scope, 0))
        return Expr(PROMOTED[elem], f"{name}[{', '.join(self.safe(number(n), scope) for n in shape)}]")

    def condition(self, scope, depth):
        r = self.r
        turn = r.random()
        if turn < 0.2 and scope:
            i, j = r.choice(scope).name, r.choice(scope).name
            of = r.choice((i, i, f"({i} + {j})", f"({i} + 1)", f"(2 * {i} + {j})", f"({i} - {j})"))
            return Expr("bool", f"{of} % {r.choice((2, 2, 3, 4))} {r.choice(('==', '==', '!=', '<'))} {r.randrange(3)}")
        if turn < 0.35 and depth > 1:
            return Expr("bool", r.choice(("({} && {})", "({} || {})")), self.condition(scope, depth - 1), self.condition(scope, depth - 1))
        if turn < 0.42 and depth > 1:
            return Expr("bool", "!({})", self.condition(scope, depth - 1))
        if turn < 0.55 and depth > 1:
            return self.reduction("bool", scope, depth)
        kind = r.choice(TYPES)
        other = self.make(kind, scope, depth - 1) if r.random() < 0.7 else Expr(kind, self.literal(kind))
        return Expr("bool", "{} " + r.choice(("<", "<=", ">", ">=", "==", "!=")) + " {}", self.make(kind, scope, depth - 1), other)

    def integers(self, kind, scope, depth):
        r = self.r
        a = self.make(kind, scope, depth - 1)
        b = self.make(kind, scope, depth - 1) if r.random() < 0.6 else Expr(kind, self.literal(kind))
        if kind == "i64" and r.random() < 0.2:      # the other one is made wider
            b = self.make("i32", scope, depth - 1)
        form = r.choice(("({} + {})", "({} - {})", "{} * {}", "{} / {}", "{} % {}", "({} & {})", "({} | {})", "({} ^ {})", "min({}, {})", "max({}, {})",
                         "-{}", "~{}", "abs({})", "clamp({}, -100, 1000)", "({} << {})", "({} >> {})", "wrap_u8({})", "wrap_u16({})", "u8({})", "u16({})", "wrap_i32({})", "wrap_i8({})",
                         "wrap_i16({})", "i8({})", "i16({})"))
        if kind == "i64" and form.startswith(("u", "wrap", "i8", "i16")):
            form = r.choice((f"i64({form})", f"i64({form})", "wrap_u32({})", "u32({})"))
        if "<<" in form or ">>" in form:
            if b.kind != kind:
                b = Expr(kind, self.literal(kind))
            form = f"({form[1:-1]})"
        if form.count("{}") == 1:
            return Expr(kind, form.replace("{}", "({})") if form[0] in "-~" else form, a)
        return Expr(kind, f"({form})" if form[0] == "{" else form, a, b)

    def floats(self, kind, scope, depth):
        r = self.r
        a = self.make(kind, scope, depth - 1)
        b = self.make(kind, scope, depth - 1) if r.random() < 0.6 else Expr(kind, self.literal(kind))
        turn = r.random()
        if turn < 0.12:
            return Expr(kind, r.choice(("exp({})", "log({})", "sin({})", "cos({})", "tan({})", "tanh({})", "floor({})", "ceil({})", "round({})", "trunc({})")), a)
        if turn < 0.17:
            return Expr(kind, r.choice(("pow({}, {})", "atan2({}, {})")), a, b)
        if turn < 0.24:
            return Expr(kind, "fma({}, {}, {})", a, b, self.make(kind, scope, depth - 1))
        if turn < 0.34:                              # an i32 beside a float, or an f32 beside an f64
            b = self.make("f32" if kind == "f64" and r.random() < 0.5 else "i32", scope, depth - 1)
        if turn < 0.4:
            return Expr(kind, f"f16({{}})" if kind == "f32" else "f64(f16({}))", a)
        form = r.choice(("({} + {})", "({} - {})", "({} * {})", "({} / {})", "{} * {}", "min({}, {})", "max({}, {})", "-({})", "abs({})", "sqrt(abs({}))", "clamp({}, -2, 100.5)"))
        if form.count("{}") == 1:
            return Expr(kind, form, a)
        return Expr(kind, f"({form})" if form[0] == "{" else form, a, b)

    def converted(self, kind, scope, depth):
        r = self.r
        if kind == "f32" and r.random() < 0.3:       # a point beside an integer
            return Expr("f32", r.choice(("({} * 0.3)", "(0.25 * {})", "({} + 0.5)")), self.make(r.choice(("i32", "i64")), scope, depth - 1))
        return Expr(kind, f"{kind}({{}})", self.make(r.choice(TYPES), scope, depth - 1))

    def make(self, kind, scope, depth):
        """An expression of that type, which is no constant."""
        r = self.r
        if depth <= 0 or r.random() < 0.12:
            return self.leaf(kind, scope, depth)
        turn = r.random()
        if turn < 0.17 and depth > 1:
            return self.reduction(kind, scope, depth)
        if turn < 0.23:
            form = r.choice(("({} ? {} : {})", "({} ? {} : {})", "select({}, {}, {})"))
            return Expr(kind, form, self.condition(scope, depth - 1), self.make(kind, scope, depth - 1), self.make(kind, scope, depth - 1))
        if turn < 0.29:
            made = self.guarded(kind, scope, depth)
            if made:
                return made
        if turn < 0.35 and depth > 1 and self.local is None:
            return self.let(kind, scope, depth)
        if turn < 0.4 and depth > 1 and self.local is None:
            return self.local_function(kind, scope, depth)
        if turn < 0.46:
            return self.converted(kind, scope, depth)
        return self.integers(kind, scope, depth) if kind[0] == "i" else self.floats(kind, scope, depth)

    def let(self, kind, scope, depth):
        """Its expression sees the indices of its user, so it is used there alone, up to twice."""
        self.local = "let"
        name = self.name_new("l")
        value = self.make(kind, scope, depth - 1)
        self.local = None
        self.lets.append(Let(name, [], value))
        if self.r.random() < 0.5:
            return Expr(kind, name, times=value.cost)
        return Expr(kind, self.r.choice((f"({name} + {{}})", f"({{}} - {name})", f"min({{}}, {name})")), Expr(kind, name, times=value.cost))

    def local_function(self, kind, scope, depth):
        """Its parameters have small numbers as values: d[0, 2], or names of ranges."""
        r = self.r
        self.local = "function"
        name = self.name_new("d")
        params = [Index(self.name_new("a"), 0, number(r.randrange(1, 4)), True, True) for _ in range(r.randrange(1, 3))]
        value = self.make(kind, scope + params, depth - 1)
        self.local = None
        self.lets.append(Let(name, [p.name for p in params], value))
        calls = []
        for _ in range(r.randrange(1, 4)):
            args = []
            for p in params:
                ranges = [i.name for i in scope if i.is_range and i.low >= 0 and not i.high.atoms and i.high.number <= p.high.number]
                args.append(r.choice(ranges) if ranges and r.random() < 0.6 else str(r.randrange(p.high.number)))
            calls.append(Expr(kind, f"{name}[{', '.join(args)}]", times=value.cost))
        form = "({} " + " ".join(r.choice("+-") + " {}" for _ in calls[1:]) + ")" if len(calls) > 1 else "{}"
        return Expr(kind, form, *calls)

    # -- reductions --

    def range_of(self, scope, which):
        r = self.r
        name = self.name_new("r")
        if which == "fold":
            low, length = r.choice((0, 0, 0, -1, -2, 1, -4)), r.choice((1, 2, 3, 3, 4, 5, 9))
            text = f"{low}..{low + length}"
            if r.random() < 0.2:
                low, text, length = r.choice(((0, "0..three", 3), (0, "0..three + 1", 4), (0, "0..2 * three", 6), (-2, "-reach..reach + 1", 5), (0, "0..reach", 2)))
            if r.random() < 0.08:                    # an arg is known when the program runs
                return Index(name, 0, var("steps"), True), "0..steps", lambda dims: 3
            return Index(name, low, number(low + length), True), text, lambda dims: length
        if which == "lanes":
            ports = [p for p in self.ports if p.mode == "in" and p.extents]
            extents = [e for p in ports for e in p.extents if e.atoms]
            if not extents:
                return self.range_of(scope, "fold")
            extent = r.choice(extents)
            cut = r.choice((0, 0, 0, 1))
            return Index(name, cut, extent, True), f"{cut}..{extent.text()}", extent.value
        index = r.choice([i for i in scope if not i.is_range and i.low >= 0])
        if r.random() < 0.7:
            more = r.randrange(2)
            return Index(name, 0, index.high.plus(number(more - 1)), True), f"0..{self.shifted(index.name, more)}", index.high.value
        return Index(name, 0, index.high, True), f"{index.name}..{index.high.text()}", index.high.value

    def ranges(self, scope, which=None):
        r = self.r
        ways = ["fold"] * 5 + ["lanes"] * 3 + ["nested"]
        if any(not i.is_range and i.low >= 0 and i.high.atoms for i in scope):
            ways += ["running"] * 2
        which = "fold" if self.regular else which or r.choice(ways)
        if which == "nested":                        # an end holds the range to the left
            outer = self.range_of(scope, r.choice(("fold", "lanes")))
            high = outer[0].high.plus(number(1)) if outer[0].low >= 0 else number(3)
            if outer[0].low < 0:
                return [outer, self.range_of(scope, "fold")]
            name = self.name_new("r")
            return [outer, (Index(name, 0, high.plus(number(-1)), True), f"0..{outer[0].name} + {r.randrange(2)}", outer[2])]
        made = []
        for _ in range(r.choice((1, 1, 2)) if which != "running" else 1):
            one = which if which != "lanes" or r.random() < 0.8 else "fold"
            made.append(self.range_of(scope, one))
        return made

    def reduction(self, kind, scope, depth, which=None):
        r = self.r
        made = self.ranges(scope, which)
        times = [t for _, _, t in made]
        inner = scope + [i for i, _, _ in made]
        text = ", ".join(f"{i.name} in {t}" for i, t, _ in made)

        def cost(dims):
            product = 1
            for t in times:
                product *= max(1, t(dims))
            return product
        kids = []
        if r.random() < 0.25:
            text += " if {}"
            kids.append(self.condition(inner, depth - 2))
        if kind == "bool":
            return Expr("bool", f"{r.choice(('any', 'all'))}({text}: {{}})", *kids, self.condition(inner, depth - 2), times=cost)
        names = ["sum", "sum", "sum", "sum", "prod", "min", "max"]
        if kind == "i32":
            if r.random() < 0.25:
                if not kids:
                    text += " if {}"
                    kids.append(self.condition(inner, depth - 2))
                return Expr("i32", f"count({text})", *kids, times=cost)
            if len(made) == 1 and r.random() < 0.35:
                return Expr("i32", f"{r.choice(('argmin', 'argmax'))}({text}: {{}})", *kids, self.make(r.choice(TYPES), inner, depth - 1), times=cost)
        return Expr(kind, f"{r.choice(names)}({text}: {{}})", *kids, self.make(kind, inner, depth - 1), times=cost)

    def mutual(self, kind, scope):
        """A sum over a window whose terms hold a value that two elements have for each other, or one that only looks like it. None: no input
        has what it takes."""
        r = self.r
        ports = [p for p in self.ports if p.mode == "in" and p.border and "none" not in p.border and len(p.extents) >= 2 and PROMOTED[p.elem] == kind]
        if len(scope) < 2 or not ports:
            return None
        port, (y, x), j, i = r.choice(ports), scope[-2:] if len(scope) == len(self.left) else scope[:2], self.name_new("r"), self.name_new("r")
        if self.regular and y is not scope[0]:
            y, x = scope[:2]
        other = len(port.extents) - 2
        ahead = "".join(f"{self.safe(e, scope) if d or not self.regular else y.name}, " for d, e in enumerate(port.extents[:other]))
        here, there = f"{port.name}[{ahead}{y.name}, {x.name}]", f"{port.name}[{ahead}{y.name} + {j}, {x.name} + {i}]"
        far = f"({there} - {here})"
        alike = r.choice((f"{far} * {far}", f"abs({far})", f"{here} * {there}", f"abs({there} + {here})", far, f"({there} - 2 * {here})"))
        weight = r.choice(("exp(-0.25 * ({}))", "exp(-({}))", "tanh({})", "log(1 + abs({}))", "pow(abs({}), 0.5)")).format(alike)
        if r.random() < 0.5:
            weight = f"{weight} * {r.choice(('1', '0.5 * ' + there, f'({there} - {here})'))}"
        reach = [r.randrange(1, 3) for _ in range(2)]
        ranges = ", ".join(f"{name} in {-by + (r.random() < 0.1)}..{by + 1}" for name, by in zip((j, i), reach))
        when = r.choice(("", "", f" if {j} * {j} + {i} * {i} <= 2", f" if {i} >= 0"))
        return Expr(kind, f"sum({ranges}{when}: {weight})", times=lambda dims: 30 * (2 * reach[0] + 1) * (2 * reach[1] + 1))

    # -- a kernel --

    def define(self, port):
        """Formulas that cover an output."""
        r = self.r
        self.writing = port
        names = r.sample(("y", "x", "z", "c", "u", "v", "j", "k"), len(port.extents))
        parts = [names]
        last = port.extents[-1] if port.extents else None
        if last is not None and not last.atoms and last.number <= 3 and not (self.regular and len(names) == 1) and r.random() < 0.5:
            parts = [names[:-1] + [str(c)] for c in range(last.number)]
        for left in parts:
            self.left = left
            scope = [Index(name, 0, extent) for name, extent in zip(left, port.extents) if not name.isdigit()]
            kind = PROMOTED[port.elem] if r.random() < 0.6 else r.choice(TYPES)
            if len(scope) < 2 and not self.regular and r.random() < 0.4:
                value = self.reduction(kind, scope, max(2, self.program.depth - 1), "lanes")
            else:
                value = self.make(kind, scope, self.program.depth)
            mutual = self.mutual(kind, scope) if kind[0] == "f" and r.random() < 0.3 else None
            if mutual:
                value = Expr(kind, "({} + {})", value, mutual)
            if self.regular:
                value = self.with_unread(kind, value, scope)
            assign = "="
            if port.mode == "acc":
                assign, value = self.changed(port, kind, value)
            if port.elem in NARROW and kind[0] == "i" and r.random() < 0.6:      # most would be 0 or the largest
                value = Expr(PROMOTED[port.elem], f"wrap_{port.elem}({{}})", value)
            if kind != port.elem:
                value = Expr(PROMOTED[port.elem], f"{port.elem}({{}})", value)
            extents = [e for name, e in zip(left, port.extents) if not name.isdigit()]

            def times(dims, extents=extents):
                product = 1
                for e in extents:
                    product *= max(1, e.value(dims))
                return product
            self.formulas.append(Formula(port.name + (f"[{', '.join(left)}]" if left else ""), value, times, assign))

    def changed(self, port, kind, value):
        """How an acc takes a value, and the value. Its formulas agree, or a number says what it begins with."""
        r = self.r
        if port.first or not self.assign_of.get(port.name):
            self.assign_of[port.name] = r.choice(("=", "min=", "max=") + ("+=",) * 3 * (port.elem not in (*NARROW, "f16")))
        assign = self.assign_of[port.name]
        if assign == "=" and PROMOTED[port.elem] == kind:
            own = Expr(kind, port.name + (f"[{', '.join(self.left)}]" if self.left else ""))
            value = Expr(kind, r.choice(("({} + {})", "({} - {})", "max({}, {})", "({} * {})")), own, value)
        return assign, value

    def with_unread(self, kind, value, scope):
        """Of a regular kernel each input is read, so that what comes of a wrong row is seen."""
        for port in self.ports:
            if port.mode == "in" and not any(mentions(text, port.name) for text in [value.text()] + [f.value.text() for f in self.formulas + self.lets]):
                read = self.read(port, scope, 0)
                value = Expr(kind, self.r.choice(("({} - {})", "({} + {})")), value, read if read.kind == kind else Expr(kind, f"{kind}({{}})", read))
        return value

    def build(self, streams, accs=False):
        r = self.r
        self.halved = False
        self.assign_of = {}
        halve = r.random() < 0.5
        for stream in streams:
            self.add_input(stream, halve)
        for s in range(r.choice((0, 0, 1, 2))):
            self.scalars.append((f"s{s}", r.choice(TYPES)))
        for o in range(r.choice((1, 1, 1, 2))):
            extents = self.out_extents()
            if o == 0 and not self.regular and r.random() < 0.2:
                extents = []
            if r.random() < 0.08 and not self.halved and not self.regular:   # a histogram
                extents = [number(r.choice((4, 16)))]
            port = Port(f"o{o}", r.choice(ELEMENTS), extents, mode="out")
            self.ports.append(port)
        if accs:
            self.keep_some()
        if self.halved:
            self.mention_dims()
        if len(streams) > 1 and not self.regular and r.random() < 0.2:
            self.change_in_place()
        for port in [p for p in self.ports if p.mode != "in"]:
            self.define(port)
        if r.random() < 0.2 and all(p.mode != "inout" for p in self.ports):
            self.nested = self.name.replace("_k", "_n")
        return self

    def mention_dims(self):
        """A dimension variable must stand alone somewhere."""
        alone = self.dims_of_ports()
        missing = [name for name in self.dims if name not in alone]
        for name in missing:
            self.ports.append(Port(f"o{len([p for p in self.ports if p.name[0] == 'o'])}", self.r.choice(ELEMENTS), [var(name)], mode="out"))

    def keep_some(self):
        """Outputs become accs: one or more."""
        r = self.r
        outputs = [p for p in self.ports if p.mode == "out"]
        for port in r.sample(outputs, r.randrange(1, len(outputs) + 1)):
            port.mode = "acc"
            if r.random() < 0.4:
                port.first = r.choice(BORDER_NUMBERS["u" if port.elem[0] == "u" else "f" if port.elem[0] == "f" else port.elem])

    def change_in_place(self):
        """The first input becomes inout, where it has no border and an element type that is stored."""
        port = self.ports[0]
        if not port.border and port.extents and all(e.is_var() or not e.atoms for e in port.extents):
            port.mode = "inout"

    def text(self):
        ports = ", ".join(p.text() for p in self.ports)
        scalars = "; " + ", ".join(f"{n}: {t}" for n, t in self.scalars) if self.scalars else ""
        used = self.used_lets()
        text = f"kernel {self.name}({ports}{scalars}) {{\n{''.join(let.text() for let in used)}{''.join(f.text() for f in self.formulas)}}}\n"
        return text + self.nested_text(scalars, "") + self.nested_text(scalars, APART) if self.nested else text

    def nested_text(self, scalars, apart):
        """A graph that calls the kernel, which the program calls in its place."""
        ports = ", ".join(Port(p.name, p.elem, p.extents, None, "in" if p.mode == "in" else "out").text() for p in self.ports)
        outputs = [p.name for p in self.ports if p.mode != "in"]
        actuals = [p.name for p in self.ports if p.mode == "in"] + [n for n, _ in self.scalars]
        left = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        hint = " @nofuse" if apart else ""
        return f"graph {self.nested}{apart}({ports}{scalars}) {{\n    {left} = {self.name}({', '.join(actuals)}){hint};\n}}\n"

    def used_lets(self):
        """Those that a formula reaches; making a program smaller leaves others behind."""
        texts = [f.value.text() for f in self.formulas]
        used = []
        changed = True
        while changed:
            changed = False
            for let in self.lets:
                if let not in used and any(mentions(text, let.name) for text in texts):
                    used.append(let)
                    texts.append(let.value.text())
                    changed = True
        return [let for let in self.lets if let in used]

    def cost(self, dims):
        here = {name: lin.value(dims) for name, lin in self.dims.items()}
        return sum(f.times(here) * f.value.cost(here) for f in self.formulas)


def alike(a, times, b, by):
    """Is times * a nearly by * b? a and b are extents, which may be divisions."""
    def most(lin):
        (atom, n), = lin.atoms.values() if len(lin.atoms) == 1 else ((None, 0),)
        return (atom.lin, atom.by) if isinstance(atom, Div) and n == 1 else (lin, 1)
    (a, a_by), (b, b_by) = most(a), most(b)
    return bool(a.atoms) and not Lin({atom: times * b_by * n for atom, n in a.atoms.values()}).plus(b, -by * a_by).atoms


def mentions(text, name):
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (at and (text[at - 1].isalnum() or text[at - 1] == "_")) and not (end < len(text) and (text[end].isalnum() or text[end] == "_")):
            return True
        at = text.find(name, end)
    return False
