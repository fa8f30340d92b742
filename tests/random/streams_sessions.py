#!/usr/bin/env python3
"""A random graph in a library, called by several sessions: what streams.py runs in a process of its own for each program of --sessions.

    streams_sessions.py LIBRARY SEED [--show=NAME,…] [--forks=none|host|all]

The graph is a random program of streams.py whose sources may be arrays of the caller, perhaps with extents of each wave, and whose results are
arrays of the caller. Each session has options of its own and is called several times: with other numbers of waves, other scalars, and arrays
that lie anywhere in one block of memory, where those of earlier calls lay in other roles, or in the same places. Sometimes another thread calls
another session meanwhile. Some calls fail in a kernel, or are stopped by a kernel or by another thread, or run in a forked child, or on an
emulated GPU whose calls fail. Each call must give the results, empty tokens and extents that the model computes, or the error that was planned;
and must write nothing beside its results. A child may get an error instead, if its session has a device. Prints the first difference, and exits 1.
"""
import argparse
import ctypes
import faulthandler
import os
import random
import signal
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import streams  # noqa: E402
import streams_model as model  # noqa: E402

BLOCK_BYTES = 4 << 20
GUARD_BYTES = 4096
LIMIT_S = 200
CHILD_S = 60
E_MEMORY, E_DEVICE, E_KERNEL, E_STOPPED = -1, -5, -6, -9

KERNELS = """kernel bomb(in a: i32[y, x], out b: i32[y, x]; at: i32) cpu "streams.o";
kernel tells(in a: i32[y, x], out b: i32[y, x]; now: i32, whom: i64) cpu "streams.o";
"""


def dims_of(extents):
    """How a port's format writes these extents: text, or None where a kernel decides."""
    kind = extents[0]
    if isinstance(kind, int):
        return tuple(str(e) for e in extents)
    if kind == "given":
        return f"n{extents[1]}", f"m{extents[1]}"
    if kind in ("load", "select"):
        return None, None
    y, x = dims_of(extents[-1])
    if kind == "cut":
        return None, x
    if kind == "wide":
        return y, x and f"2 * {x}"
    return y and f"{y} - {1 if kind == 'less' else 2}", x


class Called(streams.Program):
    """A program whose graph is called from outside. data: of the call at hand, by input, seeds and extents of its tokens."""

    ROWS, COLUMNS = [1, 2, 7, 16], [1, 3, 5] # the model computes each call

    def __init__(self, seed):
        self.given, self.by, self.data = [], 1, {}
        super().__init__(seed)
        self.shown = self.shown or [s for s in self.streams if self.may_be_shown(s)][-1:]

    def may_be_shown(self, stream):
        return stream not in self.given and stream.phase != "once" and self.can_be_written(stream.extents)

    def can_be_written(self, extents):
        return extents[0] != "select" and (not isinstance(extents[-1], tuple) or self.can_be_written(extents[-1]))

    def kinds(self):
        return super().kinds() + ["bomb", "tells", "scaled"]

    def sources(self):
        for _ in range(self.r.randint(1, 3)):
            self.given_source()
        for kind in ["table", "gen", "load"][: self.r.randint(0, 3)]:
            self.source(kind)

    def given_source(self):
        n, bounded = len(self.streams), self.r.random() < 0.4
        bounds = self.r.choice(self.ROWS), self.r.choice(self.COLUMNS)

        def of(w):
            seed, extents = self.data[n]
            return model.fill(*extents[w], seed, w)
        stream = streams.Stream(f"s{n}", "wave", ("given", n) if bounded else bounds, bounds, self.kept(of), streams.Line("", []))
        self.streams.append(stream)
        self.given.append(stream)

    # -- calls that a scalar changes --

    def scaled(self, a):
        if a.phase != "once":
            self.map(f"scale({a.name}, by)", [a], lambda w, t: model.each(lambda i, v: v * self.by + i, t))

    def bomb(self, a):
        if a.phase != "once":
            self.map(f"bomb({a.name}, at)", [a], lambda w, t: model.each(lambda i, v: v + 1, t))

    def tells(self, a):
        if a.phase != "once":
            self.map(f"tells({a.name}, now, whom)", [a], lambda w, t: model.each(lambda i, v: v + 5, t))

    def fires(self, kernel, at):
        """Is that kernel called in that wave?"""
        return any(f"= {kernel}(" in line.text and (at < self.length) == (line.inputs[0].phase == "wave") and line.inputs[0].of(at)
                   for line in self.lines)

    # -- the graph --

    def inputs(self):
        return [s for s in self.given if any(s in line.inputs for line in self.lines)]

    def head(self):
        def ends(stream, names):
            return f"i32[{', '.join(names)}]"
        ports = [f"in {s.name}: " + ends(s, [f"{d} <= {b}" if d[0] in "nm" else d for d, b in zip(dims_of(s.extents), s.bounds)])
                 for s in self.inputs()]
        ports += [f"out {s.name}: " + ends(s, [d or f"{'rc'[i]}{s.name} <= {b}" for i, (d, b) in enumerate(zip(dims_of(s.extents), s.bounds))])
                  for s in self.shown]
        return f"{KERNELS}graph g({', '.join(ports)}; at: i32, now: i32, whom: i64, by: i32) {{\n"

    def results(self):
        return []


# ---- calls ----

class Wrong(Exception):
    pass


class Arrays:
    """Places in one block, which a call writes only where its results lie."""

    def __init__(self, r):
        self.r, self.block, self.end = r, bytearray(BLOCK_BYTES), 0
        self.before = {}                # by sizes: where they were placed last, and the end
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.block))

    def place(self, sizes):
        """Offsets for arrays of these sizes, in a random order and at random distances; or where such arrays were before."""
        offsets, self.end = self.before.get(tuple(sizes), ([], 0))
        if not offsets or self.r.random() < 0.6:
            offsets = self.others(sizes)
            self.before[tuple(sizes)] = offsets, self.end
        self.block[:self.end] = bytes([self.r.randint(0, 255)]) * self.end
        return offsets

    def others(self, sizes):
        order, at, offsets = list(range(len(sizes))), 4 * self.r.randint(1, 2000), [0] * len(sizes)
        self.r.shuffle(order)
        for i in order:
            offsets[i] = at
            at += sizes[i] + 4 * self.r.choice([0, 0, 1, 7, 1023, 5000])
        if at + GUARD_BYTES > BLOCK_BYTES:
            raise Wrong("the block is too small")
        self.end = at + GUARD_BYTES
        return offsets

    def address(self, offset):
        return ctypes.c_void_p(self.start + offset)

    def numbers(self, offset, n):
        return memoryview(self.block)[offset:offset + 4 * n].cast("I").tolist()

    def write(self, offset, numbers):
        self.block[offset:offset + 4 * len(numbers)] = struct.pack(f"={len(numbers)}I", *numbers)


def room(stream):
    return 4 * stream.bounds[0] * stream.bounds[1]


class Session:
    def __init__(self, lib, program, options, arrays, r):
        self.lib, self.p, self.options, self.arrays, self.r = lib, program, options, arrays, r
        self.handle = ctypes.c_void_p()
        self.has_device = "--device=none" not in options
        if lib.g_open(" ".join(options).encode(), ctypes.byref(self.handle)):
            raise Wrong(f"it does not open: {self.error()}")
        self.stop = ctypes.CFUNCTYPE(None)(lambda: self.lib.g_stop(self.handle))

    def error(self):
        return self.lib.g_error().decode(errors="replace")

    def close(self):
        if self.lib.g_close(self.handle):
            raise Wrong(f"it does not close: {self.error()}")

    # -- one call --

    def draw(self):
        """Another call, as far as the model knows."""
        p, r = self.p, self.r
        p.call += 1
        p.length, p.by = r.choice([1, 1, 2, 3, 5, 8]), r.randint(1, 9)
        for s in p.given:
            extents = [s.bounds if s.fixed() else (r.randint(1, s.bounds[0]), r.randint(1, s.bounds[1])) for _ in range(p.length)]
            p.data[int(s.name[1:])] = r.randint(0, 999), extents
        return p.length

    def lay_out(self):
        """Gives the addresses that a call has, and where each result lies."""
        p, a = self.p, self.arrays
        streams_ = p.inputs() + p.shown
        sizes = [room(s) * (1 if s.phase == "final" else p.length) for s in streams_]
        offsets = a.place(sizes)
        arguments = []
        for s, offset in zip(p.inputs(), offsets):
            for w in range(p.length):
                a.write(offset + w * room(s), s.of(w)[2])
            arguments.append(a.address(offset))
            extents = p.data[int(s.name[1:])][1]
            arguments += [] if s.fixed() else [(ctypes.c_size_t * p.length)(*(e[k] for e in extents)) for k in (0, 1)]
        n_in = len(p.inputs())
        outs = list(zip(p.shown, offsets[n_in:], sizes[n_in:]))
        return arguments + [a.address(offset) for _, offset, _ in outs], outs

    def run(self, at, now):
        """Gives the status and the results' places."""
        p = self.p
        arguments, outs = self.lay_out()
        scalars = [ctypes.c_int32(at), ctypes.c_int32(now), ctypes.cast(self.stop, ctypes.c_void_p), ctypes.c_int32(p.by)]
        before = self.arrays.block[:self.arrays.end]
        if p.length == 1 and self.r.random() < 0.5:
            arguments = [ctypes.c_size_t(x[0]) if isinstance(x, ctypes.Array) else x for x in arguments]
            status = self.lib.g_run(self.handle, *arguments, *scalars)
        else:
            status = self.lib.g_run_waves(self.handle, ctypes.c_int64(p.length), *arguments, *scalars)
        self.check_others(before, outs)
        return status, outs

    def check_others(self, before, outs):
        """Nothing but the results has changed."""
        at = 0
        for _, offset, size in sorted(outs, key=lambda o: o[1]) + [(None, self.arrays.end, 0)]:
            if self.arrays.block[at:offset] != before[at:offset]:
                k = next(k for k in range(at, offset) if self.arrays.block[k] != before[k])
                raise Wrong(f"byte {k} was written, which is no result's: these are {[(s.name, o, n) for s, o, n in outs]}")
            at = offset + size

    def check_results(self, outs):
        p = self.p
        for k, (s, offset, _) in enumerate(outs):
            port = len(p.inputs()) + k
            empty, extents = self.lib.g_empty(self.handle, port), self.lib.g_extents(self.handle, port)
            for w in [p.length] if s.phase == "final" else range(p.length):
                place = 0 if s.phase == "final" else w
                want = s.of(w)
                if bool(empty and empty[place]) != (want is None):
                    raise Wrong(f"{s.name}, wave {w}: {'is' if want else 'is not'} empty")
                if want is None:
                    continue
                if not s.fixed() and tuple(extents[4 * place + i] for i in (0, 1)) != want[:2]:
                    raise Wrong(f"{s.name}, wave {w}: extents {[extents[4 * place + i] for i in (0, 1)]} in place of {want[:2]}")
                got = self.arrays.numbers(offset + place * room(s), len(want[2]))
                if got != want[2]:
                    i = next(i for i, (x, y) in enumerate(zip(got, want[2])) if x != y)
                    raise Wrong(f"{s.name}, wave {w}: [{i}] is {got[i]} in place of {want[2][i]}")

    def expect(self, status, wanted, text=""):
        if status not in wanted:
            raise Wrong(f"status {status} in place of {' or '.join(map(str, wanted))}: {self.error() if status else 'no error'}")
        if status and text not in self.error():
            raise Wrong(f"status {status}: {self.error()}, and not '{text}'")

    def right(self):
        status, outs = self.run(-1, -1)
        self.expect(status, [0])
        self.check_results(outs)

    # -- kinds of calls --

    def plain(self):
        self.draw()
        self.right()

    def fails(self):
        at = self.r.randint(0, self.draw())
        status, outs = self.run(at, -1)
        if not self.p.fires("bomb", at):
            self.expect(status, [0])
            self.check_results(outs)
        else:
            self.expect(status, [E_KERNEL], f"wave {at}: bomb")

    def stopped(self):
        now = self.r.randint(0, self.draw())
        status, outs = self.run(-1, now)
        self.expect(status, [E_STOPPED] if self.p.fires("tells", now) else [0])
        if status == 0:
            self.check_results(outs)

    def stopped_from_outside(self):
        self.draw()
        after_s = self.r.random() * 0.003
        thread = threading.Thread(target=lambda: (time.sleep(after_s), self.lib.g_stop(self.handle)))
        thread.start()
        try:
            status, outs = self.run(-1, -1)
        finally:
            thread.join()
        self.expect(status, [0, E_STOPPED])
        if status == 0:
            self.check_results(outs)

    def with_failing_device(self):
        before = os.environ.pop("DF_EMU_TRIAL", None)
        os.environ["DF_EMU_TRIAL"] = f"fail={self.r.choice(streams.CALLS)}:{self.r.randint(1, 60)}"
        other = Session(self.lib, self.p, self.options, self.arrays, self.r)
        failed = set()                  # calls of one wave and of several have devices of their own
        for _ in range(4):
            several = self.draw() > 1
            status, outs = other.run(-1, -1)
            self.expect(status, [0] if several in failed else [0, E_MEMORY, E_DEVICE], "as asked for")
            if status == 0:
                other.check_results(outs)
            else:
                failed.add(several)     # the next such call opens devices that do not fail
                os.environ.pop("DF_EMU_TRIAL", None)
        other.close()
        os.environ.pop("DF_EMU_TRIAL", None)
        os.environ.update({"DF_EMU_TRIAL": before} if before else {})

    def in_a_child(self):
        self.draw()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            signal.alarm(CHILD_S)
            try:
                status, outs = self.run(-1, -1)
                self.expect(status, [0])
                self.check_results(outs)
                os._exit(0)
            except Wrong as wrong:
                sentence = self.has_device and status != 0 and len(self.error()) > 10
                print(*[] if sentence else [f"in a child: {wrong}"], end="" if sentence else "\n", flush=True)
                os._exit(2 if sentence else 1)
        _, ended = os.waitpid(child, 0)
        if os.WIFSIGNALED(ended):
            raise Wrong("in a child: " + ("no end" if os.WTERMSIG(ended) == signal.SIGALRM else f"signal {os.WTERMSIG(ended)}"))
        if os.WEXITSTATUS(ended) not in (0, 2):
            raise Wrong("in a child")

    def statistics(self):
        self.plain()
        if not self.lib.g_stats(self.handle):
            raise Wrong(f"no statistics: {self.error()}")

    def calls(self, forks, beside):
        """beside: another thread calls another session meanwhile, which neither a fork nor another environment is to meet."""
        kinds = [self.plain] * 6 + [self.fails] * 3 + [self.stopped] * 2 + [self.stopped_from_outside, self.statistics]
        kinds += [self.in_a_child] * 2 if not beside and (forks == "all" or (forks == "host" and not self.has_device)) else []
        kinds += [self.with_failing_device] if self.has_device and not beside else []
        for _ in range(self.r.randint(3, 8)):
            kind = self.r.choice(kinds)
            print(f"call {self.p.call + 1}, {kind.__name__}", file=sys.stderr) # what is read if the call does not end
            try:
                kind()
            except Wrong as wrong:
                raise Wrong(f"call {self.p.call}, {kind.__name__}, {self.p.length} waves: {wrong}") from None


def options_of(r, passes):
    words = [f"--policy={r.choice(streams.POLICIES)}"] if r.random() < 0.8 else []
    words += [f"--inflight={r.randint(1, 9)}"] if r.random() < 0.6 else []
    words += [f"--passes={r.randint(1, passes)}"] if passes > 1 and r.random() < 0.6 else []
    if r.random() < 0.5:
        words = [w for w in words if w != "--policy=all-gpu"]
        words += ["--device=none", f"--workers={r.randint(1, 3)}"]
    else:
        words += ["--device=emu", f"--workers={r.randint(1, 2)}"] + ["--emu-all"] * (r.random() < 0.9)
        words += r.choice([[], [], ["--gpu-mem=192KiB"], ["--gpu-mem=1MiB"]]) + r.choice([[], [f"--gpu-jobs={r.randint(1, 4)}"]])
        words += r.choice([[], [], ["--cuda-graphs=on"], ["--pin=off"], ["--pin=on"], ["--sync-kernels"]])
        words += r.choice([[]] * 4 + [["--platform=pair.df"], ["--platform=unified.df"], ["--platform=both.df"], ["--evict=lru"]])
    if not any("passes" in w for w in words):
        words += ["--poison"] * (r.random() < 0.2)
    return words


def load(path):
    lib = ctypes.CDLL(path)
    lib.g_error.restype = ctypes.c_char_p
    lib.g_stats.restype = ctypes.c_char_p
    lib.g_empty.restype = ctypes.POINTER(ctypes.c_ubyte)
    lib.g_extents.restype = ctypes.POINTER(ctypes.c_size_t)
    lib.g_stop.restype = None
    for name in ("empty", "extents"):
        getattr(lib, f"g_{name}").argtypes = [ctypes.c_void_p, ctypes.c_uint]
    return lib


def make(given):
    program = Called(given.seed)
    if given.show:
        program.shown = [s for s in program.shown if s.name in given.show]
    program.text()
    return program


def run_session(lib, program, options, r, forks, beside=False):
    """Gives what is wrong; None."""
    try:
        session = Session(lib, program, options, Arrays(r), r)
        session.calls(forks, beside)
        session.close()
    except Wrong as wrong:
        return f"'{' '.join(options)}': {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=os.path.realpath)
    parser.add_argument("seed", type=int)
    parser.add_argument("--show", type=lambda text: text.split(","))
    parser.add_argument("--forks", choices=("none", "host", "all"), default="all")
    given = parser.parse_args()
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    programs, lib, r = [make(given), make(given)], load(given.library), random.Random(given.seed)
    for n in range(6):
        options, beside = options_of(r, programs[0].passes), None
        os.environ.pop("DF_EMU_TRIAL", None)
        if r.random() < 0.2:
            os.environ["DF_EMU_TRIAL"] = f"reorder={r.randint(1, 999)}"
        trial = os.environ.get("DF_EMU_TRIAL", "")
        print(f"session {n}, {trial} '{' '.join(options)}'", file=sys.stderr)
        said = []
        if r.random() < 0.2:
            others, seed = options_of(r, programs[1].passes), r.randint(1, 999)
            print(f"call beside a session '{' '.join(others)}'", file=sys.stderr)
            beside = threading.Thread(target=lambda: said.append(run_session(lib, programs[1], others, random.Random(seed), given.forks, True)))
            beside.start()
        said.append(run_session(lib, programs[0], options, r, given.forks, beside is not None))
        if beside:
            beside.join()
        if any(said):
            print(f"session {n}, {trial}{' beside another' if beside else ''} {[why for why in said if why]}")
            sys.exit(1)


if __name__ == "__main__":
    main()
