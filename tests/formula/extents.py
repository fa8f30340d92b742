"""Extents of arrays, for generate.py: sums of variables and of divisions, so that two can be subtracted."""


class Div:
    """An extent divided by a number, rounded down."""

    def __init__(self, lin, by):
        self.lin, self.by, self.text = lin, by, f"({lin.text()}) / {by}"

    def value(self, dims):
        return self.lin.value(dims) // self.by

    def put(self, places):
        return Lin({Div(self.lin.put(places), self.by): 1}, 0)


class Var:
    def __init__(self, name):
        self.text = name

    def value(self, dims):
        return dims[self.text]

    def put(self, places):
        return places[self.text]


class Lin:
    """A sum of atoms times numbers, and a number."""

    def __init__(self, atoms, number=0):
        self.atoms, self.number = {}, number
        for atom, times in atoms.items():
            if times:
                self.atoms[atom.text] = (atom, times)

    def text(self):
        parts = [atom.text if times == 1 else f"{times} * {atom.text}" if "/" not in atom.text else f"{times} * ({atom.text})"
                 for atom, times in self.atoms.values()]
        text = " + ".join(parts)
        if self.number or not text:
            text = str(self.number) if not text else f"{text} {'-' if self.number < 0 else '+'} {abs(self.number)}"
        return text

    def value(self, dims):
        return self.number + sum(times * atom.value(dims) for atom, times in self.atoms.values())

    def put(self, places):
        made = Lin({}, self.number)
        for atom, times in self.atoms.values():
            made = made.plus(atom.put(places), times)
        return made

    def plus(self, other, times=1):
        both = {atom: n for atom, n in self.atoms.values()}
        for text, (atom, n) in other.atoms.items():
            mine = self.atoms[text][0] if text in self.atoms else atom
            both[mine] = both.get(mine, 0) + times * n
        return Lin(both, self.number + times * other.number)

    def minus(self, other, times=1):
        """self - times * other where that is a number, else None."""
        rest = self.plus(other, -times)
        return None if rest.atoms else rest.number

    def is_var(self):
        return self.number == 0 and len(self.atoms) == 1 and all(times == 1 and "/" not in text for text, (_, times) in self.atoms.items())


def var(name):
    return Lin({Var(name): 1})


def number(value):
    return Lin({}, value)
