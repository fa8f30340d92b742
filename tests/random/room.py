#!/usr/bin/env python3
"""Programs in less device memory than they need: room.py DFC KERNELS.o KERNELS.cu [--graphs=N] [--first=SEED] [--examples=DIR] [--keep=DIR]

Random graphs of generate.py, and with --examples the project's, are each compiled once and run on the emulated GPU with 100, 50, 25 and
10 % of what the memory plan says a wave needs there, and with exactly what the largest job needs, which is the least of all. Each run
must end with the same bits; its counts must add up, and bound what was copied and evicted by what was done, so that nothing moves in
circles; one byte below the largest job the node's name is in a warning, or, where it is '@gpu', in a refusal. Policies that know the order
of jobs evict both ways. What dfc promises of a program ("fits with 2 waves in flight") is then done, on the emulated GPU and in
simulation, in exactly that memory: so many waves, no eviction; and in a page less one wave fewer. Prints a line for each graph, as tests/run.sh reads them, then the sums of bytes under LRU and Belady.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate  # noqa: E402

WAVES = 4
KNOW = ("all-gpu", "heft", "gp", "peft")     # the unit of each job, and the order there
POLICIES = ("all-gpu", "gp", "dmda", "all-gpu", "heft", "eager", "gp-thesis", "all-gpu", "ws", "peft")
LIMIT_S = 120
PAGE = 4096


class Failure(Exception):
    pass


class Sums:
    """Bytes copied by runs that evicted one way and the other, in pairs of the same graph, policy and memory."""

    def __init__(self):
        self.lock = threading.Lock()
        self.bytes = {"lru": 0, "belady": 0}
        self.evictions = {"lru": 0, "belady": 0}
        self.runs = self.short = 0

    def add(self, evict, memory):
        with self.lock:
            self.bytes[evict] += memory["h2d_bytes"] + memory["d2h_bytes"]
            self.evictions[evict] += memory["evictions"]

    def count(self, short):
        with self.lock:
            self.runs += 1
            self.short += short


def call(command, **options):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, **options)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end after {LIMIT_S} s: {' '.join(command)}") from None


def need_of(dfc, df, policy, folder, defines=()):
    """(bytes for a wave, bytes for the largest job) of the GPU, by the plan."""
    run = call([dfc, df, "--emit=plan", f"--policy={policy}", *defines], cwd=folder)
    unit = re.search(rb"^u1 gpu .* needs (\d+) bytes for a wave, (\d+) for its largest job", run.stdout, re.M)
    if run.returncode or not unit:
        raise Failure(f"no plan of {policy}: {run.stderr.decode()[-300:]}")
    return int(unit[1]), int(unit[2])


def sizes_of(need, largest):
    return sorted({max(need * percent // 100, largest) for percent in (100, 50, 25, 10)} | {largest}, reverse=True)


def check_counts(stats, size, most_in, most_out):
    m, jobs = stats["memories"][0], [w["jobs"] for w in stats["workers"] if w["name"].startswith("emu")][0]

    def must(good, what):
        if not good:
            raise Failure(f"{what}: {json.dumps(m)}, {jobs} jobs there of {stats['jobs']}")
    inputs = m["hits"] + m["misses"]
    must(jobs <= inputs <= most_in * jobs, "each input of each job is a hit or a miss, once")
    must(m["h2d_copies"] == m["misses"] + m["prefetches"], "each copy in is for a miss or ahead")
    must(m["h2d_bytes"] == m["miss_bytes"] + m["prefetch_bytes"], "the same in bytes")
    must(m["prefetches"] <= (most_in + most_out) * stats["jobs"], "a token is asked for ahead once for a reader and once by its maker")
    must(m["evictions"] <= m["misses"] + m["prefetches"] + most_out * jobs, "what goes has come, or was made")
    must(m["writebacks"] <= min(m["evictions"], m["d2h_copies"]), "a write-back is an eviction and a copy")
    must(m["writeback_bytes"] <= min(m["evicted_bytes"], m["d2h_bytes"]), "the same in bytes")
    must(m["peak_bytes"] <= m["capacity_bytes"] <= max(size, PAGE), "no more memory than there is")
    must(m["evict"] != "none" or m["evictions"] == 0, "where everything fits nothing goes")
    return m


def check_evict(memory, evict):
    if memory["evict"] not in ("none", evict):
        raise Failure(f"evicts by {memory['evict']}, not by {evict}")


class App:
    """A compiled program: its arguments, what it must print (sorted), and the most inputs and outputs that a job has."""

    def __init__(self, folder, name, args, want, most_in, most_out):
        self.folder, self.name, self.args, self.want = folder, name, args, want
        self.most_in, self.most_out = most_in, most_out

    def run(self, *options):
        """Options begin with a dash; the others are variables of the environment."""
        variables = [word for word in options if not word.startswith("-")]
        given = [word for word in options if word.startswith("-")]
        return call(["env", *variables, f"./{self.name}", *self.args, "--device=emu", *given], cwd=self.folder)

    def right(self, run):
        return run.returncode == 0 and sorted(run.stdout.splitlines()) == self.want

    def must_be_right(self, run, how):
        if not self.right(run):
            what = "other result" if run.returncode == 0 else f"exit {run.returncode}"
            raise Failure(f"{' '.join(how)}: {what}: {run.stderr.decode(errors='replace')[-400:]}")


def try_sizes(app, policy, sizes, extra, sums):
    for size in sizes:
        pair = {}
        for evict in ("auto", "lru") if policy in KNOW else ("auto",):
            how = [f"--policy={policy}", f"--gpu-mem={size}", f"--evict={evict}", *extra, "--stats=json", "--stats-file=/dev/stderr"]
            run = app.run(*how)
            text = run.stderr.decode(errors="replace")
            app.must_be_right(run, how)
            if "one job needs" in text:
                raise Failure(f"{' '.join(how)}: {text[:200]}")
            stats = json.loads([line for line in text.splitlines() if line.startswith("{")][-1])
            m = pair[evict] = check_counts(stats, size, app.most_in, app.most_out)
            sums.count(m["evictions"] > 0)
            if evict == "lru" or policy not in KNOW:
                check_evict(m, "lru")
            elif policy != "gp":        # which may have found that an online policy does better
                check_evict(m, "belady")
        if pair["auto"]["evict"] == "belady":
            sums.add("belady", pair["auto"])
            sums.add("lru", pair["lru"])


def try_one_byte_less(app, largest, largest_on_gpu):
    """Of the largest job that may run on the GPU; and of the largest '@gpu' one, which must."""
    if largest > largest_on_gpu:
        run = app.run("--policy=all-gpu", f"--gpu-mem={largest - 1}")
        app.must_be_right(run, ["all-gpu, one byte less"])
        if not re.search(rb"warning: node '.*runs on the CPU: one job needs %d bytes of GPU memory, more than there is" % largest,
                         run.stderr):
            raise Failure(f"no warning with {largest - 1} bytes: {run.stderr.decode()[-300:]}")
    if largest_on_gpu:
        run = app.run(f"--gpu-mem={largest_on_gpu - 1}")
        if run.returncode != 1 or not re.search(
                rb"error: node '[^']+' \(kernel '\w+'\) cannot run: one job needs %d bytes of GPU memory and there are %d; it is '@gpu'"
                % (largest_on_gpu, (largest_on_gpu - 1) // PAGE * PAGE), run.stderr):
            raise Failure(f"with {largest_on_gpu - 1} bytes: exit {run.returncode}: {run.stderr.decode()[-300:]}")


def try_random(seed, given, sums, folder):
    made = generate.make(seed, given.kernels, given.cuda, WAVES, f"{folder}/g.df", f"{folder}/expected")
    run = call([given.dfc, "g.df", "-o", "app", "--nvcc=none"], cwd=folder)
    if run.returncode:
        raise Failure(f"does not compile: {run.stderr.decode()[-400:]}")
    with open(f"{folder}/expected", "rb") as f:
        want = sorted(f.read().splitlines()[1:])
    app = App(folder, "app", [f"--waves={WAVES}"], want, 3, 2)
    policy = POLICIES[seed % len(POLICIES)]
    all_on_gpu, largest = need_of(given.dfc, "g.df", "all-gpu", folder)
    need = need_of(given.dfc, "g.df", policy, folder)[0] if policy in KNOW else all_on_gpu
    extra = [f"--gpu-jobs={1 + seed % 3}"]
    if seed % 4 == 0:
        extra.append(f"DF_EMU_TRIAL=reorder={seed}")
    if seed % 5 == 0:
        extra.append("--inflight=1")
    try_sizes(app, policy, sizes_of(need or all_on_gpu, largest), extra, sums)
    try_one_byte_less(app, largest, made.largest_on_gpu)
    try_promise(given, app, "g.df", KNOW[seed % len(KNOW)], 1 + seed // len(KNOW) % WAVES, extra[1:2] if seed % 4 == 0 else [])


# ---- promises ----

def wave_needs(dfc, df, policy, folder, defines=()):
    """Bytes of the GPU's memory for each wave in flight, and beside them."""
    run = call([dfc, df, "--emit=plan", f"--policy={policy}", *defines], cwd=folder)
    need = re.search(rb"^memory of u1 .*: (\d+) bytes for a wave in any order .*, (\d+) once, (\d+) for scratch", run.stdout, re.M)
    if run.returncode or not need:
        raise Failure(f"no memory plan of {policy}: {run.stderr.decode()[-300:]}")
    return int(need[1]), int(need[2]) + int(need[3])


def must_do(app, policy, size, waves, how):
    """In that memory: so many waves in flight, and nothing evicted. None: one, and whatever is evicted."""
    options = [f"--policy={policy}", f"--gpu-mem={size}", "--guard=off", *how, "--stats=json", "--stats-file=/dev/stderr"]
    run = app.run(*options)
    text = run.stderr.decode(errors="replace")
    if "--device=sim" not in how:
        app.must_be_right(run, options)
    elif run.returncode:
        raise Failure(f"{' '.join(options)}: exit {run.returncode}: {text[-300:]}")
    stats = json.loads([line for line in text.splitlines() if line.startswith("{")][-1])
    m = stats["memories"][0]
    expected = min(waves or 1, stats["waves"]) if "--device=sim" in how else waves or 1   # in simulation streams have one wave
    if stats["inflight"] != expected or m["peak_bytes"] > size or m["capacity_bytes"] > max(size, PAGE):
        raise Failure(f"{' '.join(options)}: not {waves} waves in {size} bytes: {json.dumps(stats)}")
    if waves and m["evictions"]:
        raise Failure(f"{' '.join(options)}: {waves} waves fit, and evicted: {json.dumps(m)}")


def try_promise(given, app, df, policy, waves, how, defines=()):
    folder = app.folder
    wave, beside = wave_needs(given.dfc, df, policy, folder, defines)
    if wave == 0:
        return
    size = waves * wave + beside
    same = wave_needs(given.dfc, df, policy, folder, [*defines, f"--gpu-mem={size}"]) == (wave, beside)   # plans depend on the memory
    run = call([given.dfc, df, "-o", "promised", "--nvcc=none", f"--policy={policy}", f"--gpu-mem={size}", *defines], cwd=folder)
    said = re.search(rb"note: under %s, .* needs .* for one wave: (?:fits in .* with (\d+) waves? in flight|one wave needs)"
                     % policy.encode(), run.stderr)
    if run.returncode or not said:
        raise Failure(f"{policy}, {size} bytes: no promise: {run.stderr.decode()[-300:]}")
    promised = int(said[1]) if said[1] else None
    if same and promised != waves:
        raise Failure(f"{policy}: {waves} waves need {size} bytes, and {promised} are promised")
    made = App(folder, "promised", app.args, app.want, app.most_in, app.most_out)
    for where in (how, [option for option in how if option == "--emu-all"] + ["--device=sim"]):
        must_do(made, policy, size, promised, where)
        if same and waves > 1:
            must_do(made, policy, size - PAGE, waves - 1, where)


SIZES = """
kernel src(out a: u8[k]; s: i32) cpu {{ for (size_t i = 0; i < k; i++) a[i] = (unsigned char)(i * s + df_wave(call)); }};
kernel f(in a: u8[n], in b: u8[m], out c: u8[k], tmp t: u8[64]) cpu {{
    memset(t, 3, 64);
    for (size_t i = 0; i < k; i++) c[i] = (unsigned char)(a[i % n] * 5 + b[(i * 7) % m] + t[i % 64]);
}};
kernel sink(in a: u8[k]) ordered cpu {{
    unsigned h = 1;
    for (size_t i = 0; i < k; i++) h = h * 31 + a[i];
    printf("%u\\n", h);
}};
"""


def sizes_text(seed):
    """A graph whose tokens have from 1 to 24 pages, each read soon after it was made: memory that is given back in pieces of all sizes."""
    r = random.Random(seed)
    lines, unread, recent = [], [], []
    for i in range(36):
        pages = r.choice((1, 1, 2, 3, 5, 8, 13, 24))
        if i < 3:
            call_text = f"src({i + 2})"
        else:
            of = r.sample(recent, 2)
            unread = [name for name in unread if name not in of]
            call_text = f"f({of[0]}, {of[1]})"
        lines.append(f"    v{i}: u8[{pages * PAGE - r.randrange(100)}] = {call_text};")
        unread.append(f"v{i}")
        recent = (recent + [f"v{i}"])[-4:]
    return SIZES + "graph main {\n" + "\n".join(lines + [f"    sink({name});" for name in unread]) + "\n}\n"


def try_sizes_of_all_kinds(seed, given, folder):
    with open(f"{folder}/g.df", "w", encoding="utf-8") as f:
        f.write(sizes_text(seed))
    run = call([given.dfc, "g.df", "-o", "app"], cwd=folder)
    alone = call(["./app", "--device=none", f"--waves={WAVES}"], cwd=folder)
    if run.returncode or alone.returncode:
        raise Failure(f"{run.stderr.decode()[-300:]}{alone.stderr.decode()[-300:]}")
    app = App(folder, "app", [f"--waves={WAVES}"], sorted(alone.stdout.splitlines()), 2, 1)
    for policy in ("all-gpu", KNOW[1 + seed % 3]):
        try_promise(given, app, "g.df", policy, 1 + seed % WAVES, ["--emu-all"], ["--emu-all"])


# ---- the examples ----

def program(given, sums, folder, example, df, args, most_in, most_out, defines=(), output=None):
    for name in glob.glob(f"{given.examples}/{example}/*"):
        if os.path.isfile(name) and not os.path.exists(f"{folder}/{os.path.basename(name)}"):
            shutil.copy(name, folder)
    run = call([given.dfc, df, "-o", "app", "--nvcc=none", *defines], cwd=folder)
    if run.returncode:
        raise Failure(f"does not compile: {run.stderr.decode()[-400:]}")
    if output:                          # what it writes is its result: bytes, not lines
        args = [*args, "--output=/dev/stdout"]
    alone = call(["./app", *args, "--device=none"], cwd=folder)
    if alone.returncode or not alone.stdout:
        raise Failure(f"on the CPU: exit {alone.returncode}: {alone.stderr.decode()[-300:]}")
    app = App(folder, "app", args, sorted(alone.stdout.splitlines()), most_in, most_out)
    for policy in ("all-gpu", "gp", "dmda", "eager"):
        need, largest = need_of(given.dfc, df, "all-gpu", folder, defines)
        if policy in KNOW:
            need = need_of(given.dfc, df, policy, folder, defines)[0] or need
        try_sizes(app, policy, sizes_of(need, largest), [], sums)
    try_one_byte_less(app, largest, 0)
    for number, policy in enumerate(KNOW):
        try_promise(given, app, df, policy, 1 + number % 3, [], defines)


def picture(given, sums, folder):
    flags = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-I", folder]
    run = call(["cc", *flags, "-o", "synthetic", f"{given.examples}/photo/synthetic.c", "-lpng", "-lm"], cwd=folder)
    if run.returncode:
        raise Failure(f"synthetic.c: {run.stderr.decode()[-300:]}")
    call(["./synthetic", "300", "200", "7", "in.png"], cwd=folder)
    program(given, sums, folder, "photo", "photo.df", ["--input=in.png"], 3, 2, ["-D", "tile=64"], output=True)


def matrices(given, sums, folder):
    call(["cc", "-std=c11", "-O1", "-o", "generate", f"{given.examples}/matrix/generate.c"], cwd=folder)
    for kind in ("ma", "mm", "mixed"):
        with open(f"{folder}/{kind}.df", "wb") as f:
            f.write(call(["./generate", f"--kind={kind}", "--n=48"], cwd=folder).stdout)
        program(given, sums, folder, "matrix", f"{kind}.df", ["--waves=3"], 2, 1)


def costs_alone(given, sums, folder, df):
    """A graph without code is simulated, under policies of either kind."""
    need, largest = need_of(given.dfc, df, "all-gpu", folder)
    for size in sizes_of(need, largest):
        for policy in ("all-gpu", "heft", "dmda"):
            moved = {}
            for evict in ("lru", "belady") if policy in KNOW else ("lru",):
                run = call([given.dfc, "simulate", df, f"--policy={policy}", f"--gpu-mem={size}", f"--evict={evict}", "--format=csv"],
                           cwd=folder)
                if run.returncode:
                    raise Failure(f"{policy}, {size} bytes, {evict}: {run.stderr.decode()[-300:]}")
                row = dict(zip(*[line.split(",") for line in run.stdout.decode().splitlines()[:2]]))
                moved[evict] = int(row["h2d_bytes"]) + int(row["d2h_bytes"])
                sums.count(int(row["evictions"]) > 0)
            if moved.get("belady", 0) > moved["lru"]:
                raise Failure(f"{policy}, {size} bytes: Belady moves {moved['belady']} bytes, LRU {moved['lru']}")


def examples(given):
    yield "sum", lambda sums, folder: program(given, sums, folder, "sum", "sum.df", ["--waves=5"], 2, 1, ["-D", "n=20000"])
    yield "matrix", lambda sums, folder: matrices(given, sums, folder)
    yield "photo", lambda sums, folder: picture(given, sums, folder)
    for path in sorted(glob.glob(f"{given.examples}/graphs/*.df")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if "graph main" in text:
            yield os.path.basename(path), lambda sums, folder, path=path: costs_alone(given, sums, folder, path)


# ---- all of them ----

def trial(name, work, sums, keep):
    """None, or why it failed."""
    folder = tempfile.mkdtemp(prefix="room-")
    try:
        work(sums, folder)
        return name, None
    except Failure as failure:
        if keep:
            shutil.copytree(folder, f"{keep}/{name}", dirs_exist_ok=True)
        return name, str(failure).replace("\n", " ")
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dfc", type=os.path.realpath)
    parser.add_argument("kernels", type=os.path.realpath)
    parser.add_argument("cuda", type=os.path.realpath)
    parser.add_argument("--graphs", type=int, default=15)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--examples", type=os.path.realpath)
    parser.add_argument("--keep", type=os.path.realpath)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--must-gain", action="store_true", help="fail where Belady's sum is larger than LRU's")
    given = parser.parse_args()
    if given.keep:
        os.makedirs(given.keep, exist_ok=True)
    sums, passed, failed = Sums(), 0, 0
    profile = tempfile.TemporaryDirectory(prefix="room-")
    os.environ["DFC_PROFILE"] = f"{profile.name}/profile.db"    # never the user's own: what is planned must not depend on it
    works = [(f"example-{name}", work) for name, work in (examples(given) if given.examples else ())]
    works += [(f"sizes-{seed}", lambda _, folder, seed=seed: try_sizes_of_all_kinds(seed, given, folder))
              for seed in range(given.first, given.first + given.graphs, 5)]
    works += [(f"graph-{seed}", lambda s, folder, seed=seed: try_random(seed, given, s, folder))
              for seed in range(given.first, given.first + given.graphs)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        ended = [pool.submit(trial, name, work, sums, given.keep) for name, work in works]
        for future in concurrent.futures.as_completed(ended):
            name, why = future.result()
            passed, failed = passed + (why is None), failed + (why is not None)
            print(f"not ok {name}: {why}" if why else f"ok {name}", flush=True)
            if (passed + failed) % 50 == 0:
                print(f"# {passed + failed} of {len(works)}, {failed} failed", file=sys.stderr, flush=True)
    print(f"figure {sums.runs} runs, {sums.short} of which evicted; in pairs, in copies: LRU {sums.bytes['lru'] / 1e6:.2f} MB after "
          f"{sums.evictions['lru']} evictions, Belady {sums.bytes['belady'] / 1e6:.2f} MB after {sums.evictions['belady']}")
    if given.must_gain:
        good = sums.bytes["belady"] <= sums.bytes["lru"]
        passed, failed = passed + good, failed + (not good)
        print("ok belady-moves-no-more" if good else "not ok belady-moves-no-more: see the sums")
    print(f"# {passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
