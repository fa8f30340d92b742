#!/usr/bin/env python3
"""Random programs of formulas against the oracle: compare.py BUILDDIR [--programs=N] [--first=SEED] [--modes=OPTIONS;…] [--keep=DIR]

Programs of generate.py go to dfc in batches, one library each, once for each set of options (--modes). A program of several kernels has two
graphs: one whose kernels dfc may join, and one whose calls have @nofuse. tests/formula/program/compare.c runs both on several sizes by the
library, and one by the interpreter, and compares to the bit. A program that differs is made smaller, as long as it still differs, and printed
with seed, sizes and the first element that differs; it is kept in the folder of --keep. Programs that the compiler refuses are counted, with the
reasons; more than --refused (a share) fail. After some batches it says how far it is, and with which --first it would go on.

Most of the time goes to the C compiler. So the formulas of a batch are compiled for one level of instructions (level_cc.sh), each batch for
another of those that this machine runs, and three of four batches with QUICKER. A batch is small, because a library reads its whole source again
for other sizes.

With --accs programs have accs, with --bounded inputs of bounded extents: dfc then reads batch.df, and the interpreter oracle.df, without the bounds.

The mode device=opencl, among options of dfc, runs the formulas on the first OpenCL device. With device=oclgrind that is Oclgrind, as the environment has it
(tests/e2e/t_oclgrind.sh): then outputs are small, and a kernel of which it says something fails.

With --runner=COMMAND the programs are for another machine, and COMMAND runs them: `qemu-aarch64`. One level of instructions is all it has.

With --cases=FILE… the graphs of these files are compared instead, on the sizes that lines `// sizes GRAPH: h=1 w=2; …` give. `waves=3` beside them
makes calls of so many waves. Sizes after the word `long` take the interpreter longer: --quick leaves them out, unless DF_LONG is set.

Prints lines as tests/run.sh reads them: `ok NAME`, or `not ok NAME: why`.
"""
import argparse
import collections
import concurrent.futures
import copy
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import typing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import extents  # noqa: E402
import generate  # noqa: E402

C_TYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "f16": "uint16_t", "f32": "float", "f64": "double"}
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_S = 300
SMALL = 4096                    # elements that a graph has on Oclgrind, at most
SAID = re.compile(r"^((?:Invalid|Uninitialized|\S+ data race|Work-group divergence|OCLGRIND FATAL).*)\n(?:\tKernel: *(\S+))?", re.M)


class Failure(Exception):
    pass


def call(command, folder, **options):
    try:
        return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, text=True, errors="replace", **options)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end after {LIMIT_S} s: {' '.join(command)}") from None


# ---- the calls of a library ----

def call_text(program, g):
    """The C functions that call those of graph g, which has the program's ports, with arrays, extents and scalars from lists."""
    arguments, dims, port = [], program.order(), 0
    seen = []
    for stream in program.streams[:program.n_inputs] + program.outputs:
        arguments.append(f"data[{port}]")
        port += 1
        for extent in stream.extents:
            name = extent.text()
            if extent.is_var() and name not in seen:
                seen.append(name)
                arguments.append(f"(size_t)dims[{dims.index(name)}]")
    arguments += [f"({C_TYPES[kind]})scalars[{n}].{'i' if kind[0] == 'i' else 'f'}" for n, (_, kind) in enumerate(program.scalars)]
    unused = "".join(f"    (void){name};\n" for name in ("dims", "scalars") if not any(name in a for a in arguments))
    passed = ", ".join(arguments)
    sizes = [] if program.bound else [f"(size_t)dims[{dims.index(name)}]" for name in seen]
    return (f"static int open_{g}(const char *options, void **session) {{ return {g}_open(options, (struct {g}_session **)session); }}\n"
            f"static int close_{g}(void *session) {{ return {g}_close(session); }}\n"
            f"static int run_{g}(void *session, int64_t waves, void *const *data, const int64_t *dims, const struct scalar *scalars)\n"
            f"{{\n{unused}    return waves == 1 ? {g}_run(session, {passed}) : {g}_run_waves(session, waves, {passed});\n}}\n"
            f"static int shape_{g}(void *session, const int64_t *dims, unsigned port, size_t extents[4])\n"
            f"{{\n    (void)dims;\n    return {g}_shape(session, {''.join(f'{size}, ' for size in sizes)}port, extents);\n}}\n")


def numbers_of(program, size):
    """What program/compare.c reads of a size: the extents, and how many waves a call has."""
    return " ".join(str(size.get(d, 1)) for d in [*program.order(), "waves"])


def calls_text(programs):
    ways = [(p, g) for p in programs for g in p.ways()]
    rows = "".join(f'    {{ "{p.name}", "{g[len(p.name):].replace("_", " ")}", open_{g}, run_{g}, shape_{g}, close_{g}, {g}_error }},\n' for p, g in ways)
    return ('#include "compare.h"\n#include "batch.h"\n\n' + "".join(call_text(p, g) for p, g in ways)
            + f"\nconst struct call calls[] = {{\n{rows}}};\nconst unsigned n_calls = {len(ways)};\n")


# ---- graphs of files ----

class Case:
    """A graph of a file, as much of it as is needed to call it."""

    def __init__(self, name, ports, scalars, sizes, seed):
        self.name, self.sizes_given, self.seed = name, sizes, seed
        streams = [generate.Stream(port, elem, [extents.var(e) if re.fullmatch(r"[a-z]\w*", e) else extents.number(0) for e in shape])
                   for _, port, elem, shape in ports]
        self.n_inputs = sum(mode == "in" for mode, *_ in ports)
        self.streams, self.outputs = streams[:self.n_inputs], streams[self.n_inputs:]
        self.scalars, self.bound = scalars, 0

    order = generate.Program.order

    def sizes(self, *_):
        return self.sizes_given

    def ways(self):
        return [self.name]


def cases_of(text, quick):
    cases = []
    for n, (name, ports, scalars) in enumerate(re.findall(r"^graph (\w+)\(([^;{]*?)(;[^{]*)?\) \{", text, re.M)):
        found = re.findall(r"(in|out) (\w+): (\w+)(?:\[([^\]]*)\])?", ports)
        given = re.search(rf"^// sizes {name}: (.*)$", text, re.M)
        if not given and re.search(rf"= {name}\(", text):     # a graph of others
            continue
        if not given:
            raise Failure(f"no sizes for graph {name}")
        sizes = [{d: int(value) for d, value in re.findall(r"(\w+)=(\d+)", size)} for size in given[1].split(";") if not (quick and " long " in size)]
        cases.append(Case(name, [(mode, port, elem, [e.strip() for e in shape.split(",") if e]) for mode, port, elem, shape in found],
                          re.findall(r"(\w+): (\w+)", scalars), sizes, 1000 + n))
    return cases


def compare_cases(run, path, modes, way):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    cases, name = cases_of(text, run.given.quick and not os.environ.get("DF_LONG")), os.path.splitext(os.path.basename(path))[0]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/batch.df", "w", encoding="utf-8") as f:
            f.write(text)
        with open(f"{folder}/calls.c", "w", encoding="utf-8") as f:
            f.write(calls_text(cases))
        for options in modes:
            try:
                run.compile(folder, options, way)
            except Failure as failure:
                print(f"not ok formulas-{name}: {failure}", flush=True)
                return 1
            shutil.copy(run.given.against or path, f"{folder}/oracle.df")
            bad = run.compare(folder, cases, None, way)
            for case, answers in bad.items():
                print(f"not ok formulas-{name}-{case.name}: {' '.join(options)}: {answers[0]}", flush=True)
            print(f"ok formulas-{' '.join([name, *options])}{way.said()}" if not bad else f"# {sum(map(len, bad.values()))} runs differ", flush=True)
            if bad:
                return 1
    return 0


# ---- how formulas are compiled ----

IS_CLANG = "clang" in subprocess.run(os.environ.get("CC", "cc").split() + ["--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
QUICKER = "-O2" if IS_CLANG else "-O2 -fvect-cost-model=dynamic" # with gcc vectors as with -O3, in 6 tenths of its time

# What /proc/cpuinfo must show for the levels that compiler/generate/generate.c names.
FLAGS_OF = {"v3": {"avx2", "fma", "bmi2"}, "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}


def levels_here(dfc):
    """Those for which dfc compiles formulas, as far as this machine runs them."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/one.df", "w", encoding="utf-8") as f:
            f.write("kernel k(out a: i32[n]) { a[i] = i; }\nkernel s(in a: i32[n]) cpu {{ }};\ngraph main { a: i32[2] = k(); s(a); }\n")
        made = set(re.findall(r"\bdf_formula_k_(v\d)\b", call([dfc, "one.df", "--emit=c", "-w"], folder).stdout))
    if not made:
        return [""]
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = set(re.search(r"^flags\s*: (.*)$", f.read(), re.M)[1].split())
    return [""] + sorted(level for level in made if FLAGS_OF[level] <= flags)


class Way(typing.NamedTuple):
    level: str
    flags: str = ""

    def said(self):
        return " ".join([""] + [word for word in (self.level, self.flags) if word])


def is_of_cpu(options):
    """Does the CPU's code of formulas matter here, and not that for GPUs?"""
    return "--nvcc=none" in options and "--emu-gpu-code" not in options


def ways_of(given, levels, n):
    """Those of the n-th batch or file."""
    if levels == ["none"]:
        return [Way("none")]
    if given.all_levels:
        return [Way(level) for level in levels]
    turn = n // len(levels)
    if given.quick:
        return [Way(levels[n % len(levels)], QUICKER if n % 4 == 1 else "-O1")]
    return [Way(levels[n % len(levels)], QUICKER if turn % 4 else "")]


# ---- a batch ----

class Run:
    def __init__(self, given):
        self.given = given
        self.dfc = os.path.realpath(f"{given.build}/bin/dfc")
        with open(f"{given.build}/obj/flags", encoding="utf-8") as flags:
            self.sanitize = re.findall(r"-fsanitize=\w+", flags.read())
        self.refused = collections.Counter()
        self.n_refused = self.n_same = self.n_programs = self.n_joined = 0
        self.seconds = collections.Counter()

    def add(self, other):
        self.refused += other.refused
        self.seconds += other.seconds
        self.n_refused += other.n_refused
        self.n_same += other.n_same
        self.n_programs += other.n_programs
        self.n_joined += other.n_joined

    def write(self, folder, programs):
        with open(f"{folder}/batch.df", "w", encoding="utf-8") as f:
            f.write(generate.HEADER + "".join(p.text() for p in programs))
        with open(f"{folder}/oracle.df", "w", encoding="utf-8") as f:
            f.write(generate.HEADER + "".join(p.text(True) for p in programs))
        with open(f"{folder}/calls.c", "w", encoding="utf-8") as f:
            f.write(calls_text(programs))

    def accepted(self, folder, programs):
        """Without those that the compiler refuses: a file with an error in one program says where it is."""
        self.write(folder, programs)
        said = call([self.dfc, "batch.df", "--syntax-only", "--lib", "-w"], folder)
        while said.returncode:
            lines = [(int(line), why) for line, why in re.findall(r"^batch\.df:(\d+):\d+: error: (.*)$", said.stderr, re.M)]
            bad = self.programs_at(programs, lines)
            if said.returncode < 0 or not bad:
                raise Failure(f"dfc --syntax-only: exit {said.returncode}: {said.stderr[-600:]}")
            for program, why in bad.items():
                self.refused[re.sub(r"'[^']*'|\d+", "…", why)] += 1
                self.n_refused += 1
                self.keep(program, "refused", why)
            programs = [p for p in programs if p not in bad]
            self.write(folder, programs)
            if not programs:
                return programs
            said = call([self.dfc, "batch.df", "--syntax-only", "--lib", "-w"], folder)
        return programs

    @staticmethod
    def programs_at(programs, lines):
        first, bad = 1 + generate.HEADER.count("\n"), {}
        for program in programs:
            end = first + program.text().count("\n")
            for line, why in lines:
                if first <= line < end:
                    bad.setdefault(program, why)
            first = end
        return bad

    def compile(self, folder, options, way):
        # The GPU code of formulas, on the emulated GPU or an OpenCL device.
        devices = [option for option in options if option.startswith("device=")]
        self.grinds = "device=oclgrind" in devices
        emulated = "--emu-gpu-code" in options
        on_opencl = "--device=opencl --policy=all-gpu" + self.grinds * " --inexact --gpu-mem=16MiB --pin=off"
        self.sessions = [on_opencl] if devices else ["--device=emu --policy=all-gpu"] if emulated else ["--workers=1"]
        if emulated and self.given.cpu:
            self.sessions.append("--device=none --workers=1")
        level = way.level if is_of_cpu(options) else "none"
        cc = [f"{SOURCE}/tests/formula/level_cc.sh", f"--formulas={','.join([level, *way.flags.split()])}"]
        environment = {**os.environ, "CC": " ".join(cc), "CXX": f"{os.environ.get('CXX', 'c++')} -std=gnu++14", "FORMULA_CC": os.environ.get("CC", "cc")}
        here = ["--here"] if level not in ("", "none") else []
        one_file = ["--keep"] if self.given.plain or self.given.quick else []     # not one for each large kernel, whose headers take as long as it does
        start = time.monotonic()
        given = ["--nvcc=none" if option in devices else option for option in options] + ([] if devices else ["--no-opencl"])
        said = call([self.dfc, "batch.df", "--lib", "-o", "libbatch.so", "-w", *here, *one_file, *given], folder, env=environment)
        self.seconds["dfc"] += time.monotonic() - start
        if said.returncode:
            raise Failure(f"dfc {' '.join(options)}{way.said()}: exit {said.returncode}: {said.stderr[-1500:]}")
        with open(f"{folder}/libbatch.so", "rb") as f:
            self.n_joined += len(set(re.findall(rb"\0df_formula_df_group(\d+)_", f.read())))
        build = os.path.realpath(self.given.build)
        debug = self.sanitize or ["-Wl,--strip-debug"]        # a sanitizer's reports name lines
        said = call([*os.environ.get("CC", "cc").split(), "-std=c11", "-O0", "-w", *debug, f"-I{SOURCE}/tests/formula/program", "-I.", "-o", "compare", "calls.c", f"{build}/tests/libformula.a",
                     f"{build}/lib/libdffront.a", f"{build}/lib/libdf.a", "libbatch.so", f"-Wl,-rpath,{folder}", "-lm", "-pthread"], folder)
        if said.returncode:
            raise Failure(f"calls.c: {said.stderr[-600:]}")

    def compare(self, folder, programs, n_sizes, way):
        """{program: what is said of each run that differs}"""
        lines, bad, by_name = [], collections.defaultdict(list), {p.name: p for p in programs}
        for p in programs:
            for n, size in enumerate(p.sizes(n_sizes, SMALL) if self.grinds else p.sizes(n_sizes)):
                lines.append(f"{p.name} {p.seed * 16 + n} {numbers_of(p, size)}\n")
        start = time.monotonic()
        for session in self.sessions:
            said = call([*self.given.runner.split(), "./compare", "oracle.df", session], folder, input="".join(lines))
            answers, how = said.stdout.splitlines(), way.said() + f" {session}" * (len(self.sessions) > 1)
            for answer in answers:
                kind, name = re.match(r"(\w+) (\w+)", answer).groups()
                if kind == "same":
                    self.n_same += len(by_name[name].ways())
                else:
                    bad[by_name[name]].append(f"{answer}{how}")
            for what, kernel in SAID.findall(said.stderr) if self.grinds else ():
                name = next((name for name in by_name if f"_{name}_" in f"_{kernel}_"), programs[0].name)
                bad[by_name[name]].append(f"Oclgrind: {kernel}: {what}{how}")
            if said.returncode or len(answers) != len(lines):
                where = lines[len(answers)].split() if len(answers) < len(lines) else [programs[0].name]
                bad[by_name[where[0]]].append(f"fails {' '.join(where)}{how}: exit {said.returncode}: {said.stderr[-800:].strip()}")
        self.seconds["runs"] += time.monotonic() - start
        return bad

    def keep(self, program, kind, why):
        if self.given.keep:
            os.makedirs(self.given.keep, exist_ok=True)
            with open(f"{self.given.keep}/{kind}-{'accs-' * program.accs}{'bounded-' * (program.bound > 0)}{program.seed}.df", "w", encoding="utf-8") as f:
                f.write(f"// {why}\n{generate.HEADER}{program.text()}")

    def differing(self, programs, options, way):
        """The same as compare(), of programs that were never compiled before: those that do not compile do not count."""
        with tempfile.TemporaryDirectory() as folder:
            kept = Run(self.given)
            kept.given = argparse.Namespace(**{**vars(self.given), "keep": None})
            programs = kept.accepted(folder, programs)
            if not programs:
                return {}
            kept.compile(folder, options, way)
            return kept.compare(folder, programs, self.given.sizes, way)

    def smaller(self, program, options, way):
        """A program of a few steps that still differs, and what is said of it."""
        why, best = None, program
        for _ in range(self.given.shrink):
            tries = variations(best)
            if not tries:
                break
            try:
                bad = self.differing(tries, options, way)
            except Failure as failure:
                return best, why or str(failure)
            if not bad:
                break
            best = min(bad, key=size_of)
            why = bad[best][0]
            best.name = program.name
        return best, why

    def batch(self, programs, modes, ways):
        """{program: (options, way, what is said)} of those that differ"""
        bad = {}
        with tempfile.TemporaryDirectory() as folder:
            self.n_programs += len(programs)
            programs = self.accepted(folder, programs)
            for options, way in itertools.product(modes, ways):
                if programs:
                    self.compile(folder, options, way)
                    for program, answers in self.compare(folder, programs, self.given.sizes, way).items():
                        bad.setdefault(program, (options, way, answers))
        return bad


# ---- smaller programs ----

def size_of(program):
    return sum(f.value.size() for k in program.kernels for f in k.formulas) + sum(let.value.size() for k in program.kernels for let in k.used_lets()) + 20 * len(program.kernels)


def places(program):
    """Where an expression can be replaced: (list that holds it, its number there) by the kernel and the formula."""
    for kernel in program.kernels:
        for holder in kernel.formulas + kernel.used_lets():
            yield from places_in(holder.value, lambda e, holder=holder: setattr(holder, "value", e))


def places_in(expr, put):
    yield expr, put
    for number, kid in enumerate(expr.kids):
        yield from places_in(kid, lambda e, kids=expr.kids, number=number: kids.__setitem__(number, e))


def variations(program, most=40):
    """Programs with one expression less each: those that lose most come first. They share nothing with `program`."""
    made = []
    if len(program.kernels) > 1:
        made += [alone for n in range(len(program.kernels)) if (alone := program_of_one(program, n))]
    n_places = len(list(places(program)))
    found = []
    for place in range(n_places):
        expr, _ = list(places(program))[place]
        for way, kid in enumerate(inner(expr)):
            found.append((expr.size() - kid.size(), place, way))
    found.sort(key=lambda f: -f[0])
    step = max(1, len(found) // max(1, most - len(made)))
    for _, place, way in found[::step]:
        other = copy.deepcopy(program)
        expr, put = list(places(other))[place]
        put(inner(expr)[way])
        made.append(other)
    for number, other in enumerate(made):
        other.name = f"s{number}"
    return made[:most]


def inner(expr):
    """Expressions of the same type inside of an expression that can stand in its place: those that need no range of it."""
    found = []
    for kid in expr.kids:
        if kid.kind == expr.kind and not re.search(r"\br\d+ in ", expr.form):
            found.append(kid)
        found += inner(kid) if not re.search(r"\br\d+ in ", expr.form) and kid.kind != expr.kind else []
    return found


def program_of_one(program, number):
    """The graph of one of its kernels."""
    other = copy.deepcopy(program)
    kernel, targets, actuals = other.calls[number]
    by_name = {s.name: s for s in other.streams}
    n_ports = sum(p.mode in ("in", "inout") for p in kernel.ports)
    inputs = [by_name[name] for name in actuals[:n_ports]]
    other.kernels, other.calls = [kernel], [other.calls[number]]
    other.streams, other.n_inputs, other.outputs = inputs + targets, len(inputs), list(targets)
    used = [a for a in actuals[n_ports:] if any(a == name for name, _ in other.scalars)]
    other.scalars = [(name, kind) for name, kind in other.scalars if name in used]
    other.dims = [d for d in other.dims if any(re.search(rf"\b{d}\b", e.text()) for s in other.streams for e in s.extents)]
    return other if other.dims_alone() else None


# ---- all of them ----

def try_batch(given, modes, seeds, ways):
    """(the run, what to print, how many failed)"""
    run, said, failed = Run(given), [], 0
    try:
        bad = run.batch([generate.Program(seed, f"g{seed}", accs=given.accs, bounded=given.bounded) for seed in seeds], modes, ways)
    except Failure as failure:
        return run, [f"not ok formulas-{seeds[0]}-{seeds[-1]}: {failure}"], 1
    for program, (options, way, answers) in bad.items():
        failed += 1
        small, why = run.smaller(program, options, way)
        run.keep(program, "differs", f"{' '.join(options)}: {answers[0]}")
        run.keep(small, "small", f"{' '.join(options)}: {why or answers[0]}")
        said.append(f"not ok formulas-{program.seed}: {' '.join(options)}: {answers[0]}; made smaller, {why or 'not possible'}:")
        said += [f"#   {line}" for line in (generate.HEADER + small.text()).splitlines()]
    return run, said or [f"ok formulas-{seeds[0]}-{seeds[-1]}{''.join(way.said() for way in ways)}"], failed


def said_so_far(total, failed):
    return (f"{total.n_programs} programs, {total.n_joined} groups of joined kernels, {total.n_same} runs with the same bits, {failed} failures; "
            + ", ".join(f"{what} {s:.0f} s" for what, s in total.seconds.items()))


def compare_random(total, given, modes, levels):
    failed, end = 0, given.first + given.programs
    batches = [range(first, min(first + given.batch, end)) for first in range(given.first, end, given.batch)]
    ways = [ways_of(given, levels, seeds[0] // given.batch) for seeds in batches]   # the same if the run is cut in two
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for n, (run, said, bad) in enumerate(pool.map(lambda seeds, way: try_batch(given, modes, seeds, way), batches, ways)):
            print("\n".join(said), flush=True)
            failed += bad
            total.add(run)
            if n % 10 == 9 and n + 1 < len(batches):
                print(f"# {said_so_far(total, failed)}; the next is --first={batches[n + 1][0]}", flush=True)
    for why, n in total.refused.most_common(12):
        print(f"# refused {n}: {why}")
    share = total.n_refused / max(1, total.n_programs)
    print(f"{'ok' if share <= given.refused else 'not ok'} formulas-refused: {total.n_refused} of {total.n_programs} programs, at most {given.refused:.1%} may be")
    print(f"# {said_so_far(total, failed)}")
    return failed > 0 or share > given.refused


def compare_wild(run, given):
    """Programs some of whose reads go outside: of those that the range proof accepts the oracle finds none that does."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = [generate.Program(seed, f"g{seed}", True) for seed in range(given.first, given.first + given.programs)]
        accepted = run.accepted(folder, programs)
        lines = [f"{p.name} {p.seed} {numbers_of(p, size)}\n" for p in accepted for size in p.sizes(given.sizes, 20000)]
        said = call([os.path.realpath(f"{given.build}/tests/formula_oracle"), "batch.df"], folder, input="".join(lines))
        for line in said.stdout.splitlines():
            if line.startswith("fails"):
                print(f"not ok formulas-wild: accepted, but {line}")
                bad += 1
    enough = len(accepted) > given.programs / 20 and run.n_refused > given.programs / 20 and said.returncode == 0
    print(f"{'ok' if enough and not bad else 'not ok'} formulas-wild: {len(accepted)} programs accepted, {run.n_refused} refused, {bad} reads outside")
    return bad or not enough


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="batches at once")
    parser.add_argument("--sizes", type=int, default=6)
    parser.add_argument("--shrink", type=int, default=12, help="at most so many steps that make a failing program smaller")
    parser.add_argument("--refused", type=float, default=0.0, help="the share of programs that the compiler may refuse")
    parser.add_argument("--modes", default="", help="dfc's options, several sets divided by ';'; without --nvcc in it, a set has no CUDA")
    parser.add_argument("--all-levels", action="store_true", help="of instructions, for each batch and file: else one after the other takes the next")
    parser.add_argument("--quick", action="store_true", help=f"a fourth is compiled with {QUICKER}, and the rest with -O1; without the sizes that take longest")
    parser.add_argument("--plain", action="store_true", help="formulas are not optimised: for what does not depend on it")
    parser.add_argument("--cpu", action="store_true", help="where GPU code runs on the emulated GPU, also the CPU's code that the library has")
    parser.add_argument("--runner", default="", help="the command that runs programs for another machine, for which $CC compiles, and BUILDDIR's libraries are")
    parser.add_argument("--keep", help="a folder for programs that differ or are refused")
    parser.add_argument("--cases", nargs="+", default=[], help="files of graphs")
    parser.add_argument("--wild", action="store_true", help="programs that read outside, too: the range proof must refuse these")
    parser.add_argument("--accs", action="store_true", help="programs with accs, each size with up to 3 waves")
    parser.add_argument("--bounded", action="store_true", help="programs whose inputs have bounded extents")
    parser.add_argument("--against", help="what the oracle reads in place of that file, to see that differences are found")
    given = parser.parse_args()
    run = Run(given)
    modes = [mode.split() + ([] if "--nvcc" in mode else ["--nvcc=none"]) for mode in given.modes.split(";")]
    if given.wild:
        sys.exit(compare_wild(run, given))
    levels = ["none"] if given.plain or not any(map(is_of_cpu, modes)) else [""] if given.runner else levels_here(run.dfc)
    if given.cases:
        sys.exit(any([compare_cases(run, path, modes, way) for n, path in enumerate(given.cases) for way in ways_of(given, levels, n)]))
    sys.exit(compare_random(run, given, modes, levels))


if __name__ == "__main__":
    main()
