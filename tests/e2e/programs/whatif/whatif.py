#!/usr/bin/env python3
"""Checks what `dfc explain --what-if` predicts against `dfc simulate` of the changed graph or machine.

    whatif.py DFC KIND POLICY FIRST LAST     KIND: stream or wave; the graphs FIRST to LAST; -v: print every change

    whatif.py DFC KIND POLICY text NUMBER    prints a graph

Graphs and platforms are made from the number: random layers, with 0 to 2 GPUs, some kernels without a gpu variant. Each line of explain's
CSV is one change. The change is made in the text of the graph or by an option, and `dfc simulate` runs both. A stream graph runs
for two numbers of WAVES. How much longer the second run takes is the time of the waves between, in steady state.

Gains must agree within 2 %, and both must be gains, or neither; gains that differ by less than 0.2 % do not disagree about that.
explain keeps the present placement if a new plan is no better, and no rerun can do that. So a rerun that takes longer than now counts as
no gain, and the prediction must be within 2 % of that.
Prints `ok`, or `not ok` with the reason, for each graph, as tests do.
"""
import copy
import csv
import decimal
import io
import os
import re
import statistics
import subprocess
import sys

WAVES = (1000, 3000) if os.environ.get("WHATIF") == "all" else (300, 900)
CLOSE = 0.02                                    # relative difference of two gains
SAME_SIGN = 0.002
BUDGET = "--budget=2000"


def seconds(time_s):
    """With all its digits, so that the same number is read: a search may go another way for the last one."""
    return f"{decimal.Decimal(repr(time_s)):f} s"


class Draw:
    """SplitMix64: the same numbers everywhere."""
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & (1 << 64) - 1
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return (z ^ z >> 31) % n


class Node:
    def __init__(self, inputs, size, cpu_s, gpu_s, mark=""):
        self.inputs, self.size, self.cpu_s, self.gpu_s, self.mark, self.hint = inputs, size, cpu_s, gpu_s, mark, ""


class Device:
    """Links are [bytes per second, seconds]; peer is None where there is none. Memory of 0 MB is not stated."""
    def __init__(self, name, rate, latency_s, engines, launch_s, peer=None, memory_mb=0):
        self.name, self.h2d, self.d2h = name, [rate, latency_s], [rate, latency_s]
        self.engines, self.launch_s, self.peer, self.memory_mb = engines, launch_s, peer, memory_mb


class Case:
    def __init__(self, stream, number):
        draw = Draw(1000 * stream + number)
        self.workers = 1 + draw.below(3)
        rate = (1 + draw.below(10)) * 1e9
        self.devices = [Device(f"g{i}", rate, 10e-6, 1 + number % 2, 5e-6 * draw.below(2),
                               [3 * rate, 5e-6] if number % 6 == 5 else None, 128 * (number % 4 == 2))
                        for i in range(number % 3)]
        width, layers = 2 + draw.below(3), 3 + draw.below(4)
        self.nodes = [Node([], self.size(draw), (1 + draw.below(200)) / 1e6, None, "stream" if stream else "")]
        before = [0]
        for _ in range(layers):
            layer = []
            for _ in range(width):
                inputs = sorted({before[draw.below(len(before))] for _ in range(1 + draw.below(2))})
                cpu_s = (100 + draw.below(5000)) / 1e6
                gpu_s = None if draw.below(4) == 0 else cpu_s / (1 + draw.below(12))
                self.nodes.append(Node(inputs, self.size(draw), cpu_s, gpu_s))
                layer.append(len(self.nodes) - 1)
            before = layer
        if number % 4 == 1:
            self.nodes[len(self.nodes) // 2].hint = " @depth(2)"
        if number % 4 == 3:                     # a table that is made once, and read by the first layer
            self.nodes.append(Node([], self.size(draw), 3e-3, None, "once"))
            for node in self.nodes[1:1 + width]:
                node.inputs.append(len(self.nodes) - 1)
        read = {i for node in self.nodes for i in node.inputs}
        ends = [v for v in range(len(self.nodes)) if v not in read]
        self.nodes.append(Node(ends, 0, (1 + draw.below(50)) / 1e6, None, "ordered" if stream else ""))

    @staticmethod
    def size(draw):
        return 1000 * (1 + draw.below(3000))

    def text(self):
        units = [f"    cpu host {{ workers = {self.workers}; }}"]
        link = lambda l: f"{l[0] / 1e6:.0f} MB/s, {seconds(l[1])}"
        for d in self.devices:
            peer = f" peer = {link(d.peer)};" if d.peer else ""
            memory = f" memory = {d.memory_mb} MB;" if d.memory_mb else ""
            launch = f" launch = {seconds(d.launch_s)};" if d.launch_s else ""
            units.append(f"    gpu {d.name} {{{memory} h2d = {link(d.h2d)}; d2h = {link(d.d2h)}; engines = {d.engines};{peer}{launch} }}")
        kernels, calls = [], []
        for v, n in enumerate(self.nodes):
            ports = [f"in x{i}: bytes[{self.nodes[i].size}]" for i in n.inputs] + ([f"out y: bytes[{n.size}]"] if n.size else [])
            gpu = f" gpu {seconds(n.gpu_s)}" if n.gpu_s else ""
            kernels.append(f"kernel k{v}({', '.join(ports)}) {n.mark} cost cpu {seconds(n.cpu_s)}{gpu};")
            calls.append(f"    {f'v{v} = ' if n.size else ''}k{v}({', '.join(f'v{i}' for i in n.inputs)}){n.hint};")
        return "\n".join(["platform made {", *units, "}", *kernels, "graph main {", *calls, "}", ""])


def change(case, what):
    """The changed case, and options for the rerun."""
    case = copy.deepcopy(case)
    devices = case.devices
    found = re.fullmatch(r"one more CPU worker \((\d+)\)", what)
    if found:
        return case, [f"--workers={found[1]}"]
    found = re.fullmatch(r"one more GPU like (\w+)", what)
    if found:
        more = copy.deepcopy(next(d for d in devices if d.name == found[1]))
        more.name = "more"
        devices.append(more)
    elif what == "a GPU (12 GB/s and 10 us each way)":
        devices.append(Device("more", 12e9, 10e-6, 2, 5e-6))
    elif re.fullmatch(r"links? twice as fast \(each copy in half the time\)", what):
        for d in devices:
            for link in filter(None, (d.h2d, d.d2h, d.peer)):
                link[:] = [2 * link[0], link[1] / 2]
    elif what == "direct links between all devices of a class, as fast as to the host":
        for d in devices:
            d.peer = d.peer or list(d.d2h)
    else:
        kernel = int(re.fullmatch(r"a gpu variant of k(\d+), [\d.]+x as fast as its cpu variant", what)[1])
        speedup = statistics.median([n.cpu_s / n.gpu_s for n in case.nodes if n.gpu_s] or [8])
        case.nodes[kernel].gpu_s = case.nodes[kernel].cpu_s / speedup
    return case, []


def dfc(program, policy, command, case, options):
    with open("case.df", "w") as out:
        out.write(case.text())
    done = subprocess.run([program, command, "case.df", "--format=csv", f"--policy={policy}", BUDGET, *options], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"dfc {command} {' '.join(options)}: {done.stderr.strip()}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def simulate(program, policy, case, options, stream):
    """Seconds of one wave; of a stream, seconds per wave."""
    def run(waves):
        return float(dfc(program, policy, "simulate", case, [f"--waves={waves}", *options])[0]["makespan_s"])
    return (run(WAVES[1]) - run(WAVES[0])) / (WAVES[1] - WAVES[0]) if stream else run(1)


def disagree(told, rerun):
    """Why two gains differ, or None."""
    kept = told >= 1 and rerun < 1
    if abs(told / (1 if kept else rerun) - 1) > CLOSE:
        return f"{told:.4f}x is predicted, {rerun:.4f}x a rerun"
    if not kept and (told > 1.001) != (rerun > 1.001) and abs(told - rerun) > SAME_SIGN:
        return f"only one of {told:.4f}x (predicted) and {rerun:.4f}x (rerun) is a gain"
    return None


def check(program, kind, policy, number, verbose):
    """The reasons why explain and reruns differ, and how many changes were tried."""
    stream = kind == "stream"
    case = Case(stream, number)
    told = dfc(program, policy, "explain", case, ["--what-if"])
    now_s = simulate(program, policy, case, [], stream)
    wrong = []
    if abs(float(told[0]["predicted_s"]) / now_s - 1) > (CLOSE if stream else 1e-8):
        wrong.append(f"now {told[0]['predicted_s']} s, simulated {now_s} s")
    for line in told[1:]:
        changed, options = change(case, line["change"])
        rerun = now_s / simulate(program, policy, changed, options, stream)
        reason = disagree(float(line["speedup"]), rerun)
        if verbose:
            print(f"# {kind} {number}: {float(line['speedup']):.4f} {rerun:.4f} {line['change']}")
        if reason:
            wrong.append(f"{line['change']}: {reason}")
    return wrong, len(told) - 1


def main():
    program, kind, policy, first, last = sys.argv[1:6]
    if first == "text":
        print(Case(kind == "stream", int(last)).text(), end="")
        return 0
    bad, tried = 0, 0
    for number in range(int(first), int(last) + 1):
        wrong, n = check(program, kind, policy, number, "-v" in sys.argv)
        tried += n
        bad += bool(wrong)
        print(f"not ok {kind}-{policy}-{number}: {'; '.join(wrong)}" if wrong else f"ok {kind}-{policy}-{number}", flush=True)
    print(f"# {tried} changes of {int(last) - int(first) + 1} graphs")
    return bad > 0 or not tried


if __name__ == "__main__":
    sys.exit(main())
