#!/usr/bin/env python3
"""Harris divided over two workers, beside two processes of one worker each: divided.py BUILDDIR OUT [--side=8192] [--rounds=9] [--calls=3]

The graph of examples/filters as two libraries: one undivided, one of --parts=2. In each round two processes call the undivided one at once,
each with one worker and a picture of its own; then a third process calls the divided one with two workers. Prints the medians of ms a
picture, those of the two processes by half, and the median of the rounds' ratios. 1: divided is as quick as two pictures at once. All must give
the same bits.
"""
import argparse, ctypes, hashlib, multiprocessing, os, statistics, subprocess, sys, time

FILTERS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "examples", "filters")


def made(home, out, parts):
    folder = os.path.join(out, f"harris-{parts}")
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, "libharris.so")
    subprocess.run([os.path.join(home, "bin/dfc"), os.path.join(FILTERS, "harris.df"), "--lib", "--graph=harris", "--nvcc=none", "-w",
                    f"--parts={parts}", "-o", library], check=True)
    return library


def serve(library, workers, side, calls, pipe):
    """A process: one answer for each word that comes, the ms of a call, or at the end what was made."""
    harris = ctypes.CDLL(library)
    harris.harris_error.restype = ctypes.c_char_p
    session = ctypes.c_void_p()
    picture = (ctypes.c_float * (side * side))()
    row = [(i * 37 % 101) / 101 for i in range(side)]
    for y in range(side):
        picture[y * side:(y + 1) * side] = row[y % 97:] + row[:y % 97]
    made = (ctypes.c_float * ((side - 4) * (side - 4)))()

    def call():
        if harris.harris_run(session, picture, ctypes.c_size_t(side), ctypes.c_size_t(side), made) != 0:
            sys.exit("divided: error: " + harris.harris_error().decode())
    if harris.harris_open(f"--workers={workers} --device=none".encode(), ctypes.byref(session)) != 0:
        sys.exit("divided: error: " + harris.harris_error().decode())
    call()
    pipe.send("ready")
    while pipe.recv() != "end":
        begin = time.monotonic()
        for _ in range(calls):
            call()
        pipe.send((time.monotonic() - begin) / calls * 1e3)
    pipe.send(hashlib.sha256(made).hexdigest())
    harris.harris_close(session)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("home")
    p.add_argument("out")
    p.add_argument("--side", type=int, default=8192)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--calls", type=int, default=3)
    a = p.parse_args()
    undivided, divided = (made(a.home, a.out, parts) for parts in (1, 2))
    pipes, processes = [], []
    for library, workers in ((undivided, 1), (undivided, 1), (divided, 2)):
        mine, theirs = multiprocessing.Pipe()
        processes.append(multiprocessing.Process(target=serve, args=(library, workers, a.side, a.calls, theirs)))
        processes[-1].start()
        theirs.close()
        pipes.append(mine)

    def ask(which, word):
        for pipe in which:
            pipe.send(word)
        return [pipe.recv() for pipe in which]
    for pipe in pipes:
        pipe.recv()
    alone, together = [], []
    for _ in range(a.rounds):
        together.append(statistics.mean(ask(pipes[:2], "go")) / 2)
        alone.append(ask(pipes[2:], "go")[0])
    if len(set(ask(pipes, "end"))) != 1:
        sys.exit("divided: error: the results differ")
    for process in processes:
        process.join()
    ratio = statistics.median(t / d for t, d in zip(together, alone))
    print(f"{a.side} x {a.side}: two processes {statistics.median(together):.2f} ms a picture, divided {statistics.median(alone):.2f} ms, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
