#!/usr/bin/env python3
"""What nvcc and ptxas make of a graph's kernels, without a GPU: tests/gpu/report.py BUILD [--before=TREE] [--update=PAGE] [GRAPH…]

Each graph (else GRAPHS below) is compiled to PTX of compute_80, which ptxas compiles for sm_80 and sm_90. Printed is a table of its kernels:

    threads      of a block: .maxntid, else what the launch says, else 256
    registers    of a thread; shared: bytes of a block that ptxas knows; frame: bytes of local memory, with spills stored + loaded
    occupancy    resident warps of the most that there can be, by the limits that NVIDIA publishes for the architecture
    bytes        that are loaded and stored of global memory for each output, from the text of a generated kernel: each load counts, in tiles those of the
                 halo too. Not told of kernels with loops inside, or by hand
    instructions of the machine code, without the padding at its end

It ends with 1, and says why, if a kernel has spills or a frame and no reason below, or a reason and neither. --before is a built tree of another time:
what becomes there of FUSED and REWRITTEN is shown beside today's. --update replaces the section "What the compiler makes of kernels" of a page.

report.py --ptx=FILE prints where the PTX has min or max of real numbers that the generator did not ask for, which stand in inline assembly, and ends with 1
if it does: nvcc makes them of choices as if there were one zero, and for the GPU -0 is less than 0. What ptxas makes of choices no tool here shows.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), '../..'))
GRAPHS = [f'examples/{name}' for name in (
    'filters/harris.df filters/unsharp.df filters/camera.df filters/canny.df filters/sobel.df filters/bilateral.df '
    'nuclei/nuclei.df nbia/nbia.df ferret/ferret.df ct/ct.df cholesky/cholesky.df photo/photo.df sum/sum.df').split()]
FUSED = [f'examples/filters/{name}.df' for name in ('harris', 'unsharp', 'camera', 'canny')]
REWRITTEN = [f'examples/{name}.df' for name in ('nuclei/nuclei', 'ferret/ferret', 'ct/ct')]
ARCHITECTURES = ('sm_80', 'sm_90')
HEADING = '## What the compiler makes of kernels'

# Registers and bytes of shared memory of a multiprocessor. Both have 64 warps and 32 blocks at most, give registers to a warp by 256 and shared memory to
# a block by 128 bytes, and take 1 KiB of it for themselves (CUDA programming guide, compute capabilities; cuda_occupancy.h).
LIMITS = {'sm_80': (65536, 164 << 10), 'sm_90': (65536, 228 << 10)}

# Kernels that may have a frame or spills, and why. A kernel that has neither any more loses its reason.
LANES = 'one thread adds up in the order of 16 lanes, in an array: few sums, or one whose terms are few or are not known before'
REASONS = {
    'df_kernel_greatest': LANES,
    'df_kernel_ramp': LANES + '; large arguments of cos are reduced in an array, too',
    'df_group_ramp': 'large arguments of cos are reduced in an array; it runs once',
}

PAGE = """

`make gpu-report` writes this part, on a machine with nvcc, without a GPU: compiled, not run. Where two numbers stand in a cell, the first is for sm_80 and
the second for sm_90. `tests/gpu/report.py` says what each column is. Instructions are those of the code, whatever loops there are. A group whose code
has tiles has the kernels of its members too, for the case that one of them is launched alone. `make check` looks at one graph, `make check-long` at all.

"""
BEFORE = 'Groups before they had tiles, one launch for each stream inside (`--before`), and now:'

Kernel = collections.namedtuple('Kernel', 'name threads registers spills frame shared occupancy limit bytes instructions')


def unrequested(ptx):
    """Lines of PTX with min or max of real numbers outside of inline assembly."""
    inside, found = False, []
    for number, line in enumerate(ptx.splitlines(), 1):
        inside = (inside or 'begin inline asm' in line) and 'end inline asm' not in line
        if not inside and re.search(r'(min|max)[a-z.]*\.f(16|32|64)', line):
            found.append(f'{number}: {line.strip()}')
    return found


def occupancy(architecture, threads, registers, shared):
    """The part of 64 warps that is resident, and what allows no more."""
    all_registers, all_shared = LIMITS[architecture]
    warps = -(-threads // 32)
    of_a_warp = -(-max(registers, 1) * 32 // 256) * 256
    by_registers = all_registers // 4 // of_a_warp * 4 // warps     # each quarter of a multiprocessor has its own
    by_shared = all_shared // (-(-shared // 128) * 128 + 1024)
    blocks, limit = min((64 // warps, 'warps'), (32, 'blocks'), (by_registers, 'registers'), (by_shared, 'shared memory'))
    return blocks * warps / 64, limit


def code_sizes(path):
    """The instructions of each kernel in a cubin: 16 bytes each, without the NOPs behind the last one."""
    with open(path, 'rb') as file:
        data = file.read()
    offset, = struct.unpack_from('<Q', data, 0x28)
    size, n, names = struct.unpack_from('<HHH', data, 0x3a)
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, offset + size * k) for k in range(n)]
    sizes = {}
    for name, _, _, _, at, length, *_ in sections:
        start = sections[names][4] + name
        name = data[start:data.index(b'\0', start)].decode()
        if name.startswith('.text.'):
            code = [struct.unpack_from('<Q', data, k)[0] & 0xfff for k in range(at, at + length, 16)]
            while code and code[-1] == 0x918:
                code.pop()
            sizes[name[len('.text.'):]] = len(code)
    return sizes


def plain(mangled):
    """The function's name, of a template with its arguments."""
    if not mangled.startswith('_Z'):
        return mangled
    said = subprocess.run(['c++filt', mangled], capture_output=True, text=True, check=True).stdout.strip()
    name, bracket, arguments = re.sub(r'\(.*', '', said.replace('(anonymous namespace)::', '')).partition('<')
    return name.split('::')[-1].split(' ')[-1] + bracket + arguments


# ---- the text ----

SIZES = {'uint8_t': 1, 'int8_t': 1, 'int16_t': 2, 'uint16_t': 2, 'int32_t': 4, 'uint32_t': 4, 'float': 4, 'int64_t': 8, 'double': 8}


def bracketed(text, at):
    """What stands between the bracket at text[at] and its partner."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == '[') - (text[k] == ']')
        if depth == 0:
            return text[at + 1:k]
    return text[at + 1:]


def global_bytes(text, name):
    """Bytes for each output, or None."""
    found = re.search(r'^DF_KERNEL\([^\n]*\b' + name + r'\(([^\n]*)\)\n\{\n(.*?)\n\}\n', text, re.S | re.M)
    if not found or not name.startswith('df_kernel_'):
        return None
    arrays = {array: SIZES[kind] for kind, array in re.findall(r'DF_GLOBAL\((?:const )?(\w+), (\w+)\)', found[1])}
    tiles = {array: int(n) for array, n in re.findall(r'DF_LOCAL\(\w+, (\w+), (\d+)\)', found[2])}
    for array, other in re.findall(r'DF_LOCAL_IN\(\w+, (\w+), (\w+)\)', found[2]):
        tiles[array] = tiles[other]
    rows, columns = re.search(r'DF_GROUP_Y \* (\d+)', found[2]), re.search(r'DF_GROUP_X \* (\d+)', found[2])
    outputs = int(rows[1] if rows else 1) * int(columns[1] if columns else 1) if tiles else 1
    stages, loops, phase = [(0, 1, [])], 0, 0   # phase, rows that an item computes at a time, lines
    for line in found[2].splitlines():
        phase += 'DF_PHASE' in line
        row = re.search(r'for \(.* \+ (?:(\d+) \* )?DF_ITEM_Y;', line)
        if 'DF_PHASE' in line or row:
            stages.append((phase, int(row[1] or 1) if row else 1, []))
        loops += re.match(r'\s*(DF_UNROLL\(\d+\) )?for \(', line) is not None and not re.search(r'DF_(GROUP|ITEM|STEP|FIRST)|df_step_| = df_outer', line)
        # a copy of a whole input is read in its place
        stages[-1][2].append(re.sub(r'\(df_all_\w+ <= \d+ \? (.*?\]) : \w+\[\w+\]\)', r'\1', line))
    if loops:
        return None
    moved = collections.defaultdict(int)    # by phase and what it makes: tiles at a border have code of their own
    for phase, together, stage in stages:
        loaded, stored, made, elements = set(), set(), set(), 0
        for line in stage:
            if line.startswith('#'):
                continue
            to = re.match(r'\s*(\w+)\[', line)
            written = to is not None and ' = ' in line
            if written:
                made.add(to[1])
                elements = max(elements, tiles.get(to[1], outputs))
            for use in re.finditer(r'\b(\w+)\[', line):
                if use[1] in arrays:
                    (stored if written and use.start() == to.start(1) else loaded).add((use[1], bracketed(line, use.end() - 1)))
        key = phase, frozenset(made)
        moved[key] = max(moved[key], elements * sum(arrays[array] for array, _ in loaded | stored) / together)
    total = sum(moved.values())
    return total / outputs


def threads_of(text, name, ptx):
    declared = re.search(r'\.maxntid (\d+), (\d+), (\d+)', ptx)
    name = name.split('<')[0]
    launch = re.search(r'DF_LAUNCH(?:_ALL)?\(' + name + r', .*?, dim3\(([\d, ]+)\), stream', text) or re.search(name + r'<<<[^;]*?, (\d+), \w+, stream>>>', text)
    n = 1
    for factor in declared.groups() if declared else launch[1].split(',') if launch else ('256',):
        n *= int(factor)
    return n


# ---- compiling ----

def compile_graph(dfc, nvcc, tree, graph, folder):
    """Its name, {architecture: [Kernel]}, and the lines of unrequested min and max in generated code."""
    name = os.path.splitext(os.path.basename(graph))[0]
    work = os.path.join(folder, name + '.dfc')
    said = subprocess.run([dfc, os.path.join(tree, graph), '-o', os.path.join(folder, name), f'--nvcc={SOURCE}/tests/gpu/nvcc_ptx.sh', '--gpu-arch=sm_80',
                           '--keep', '-w'], capture_output=True, text=True, env=dict(os.environ, DFC_CACHE='none', DF_NVCC=nvcc))   # it does not link
    kernels, zeros = {architecture: [] for architecture in ARCHITECTURES}, []
    objects = sorted(entry for entry in os.listdir(work) if entry.endswith('.cu.o')) if os.path.isdir(work) else []
    if not objects:
        sys.exit(f'{graph}: no code for GPUs: {said.stderr[-500:]}')
    for entry in objects:
        path = os.path.join(work, entry)
        with open(path) as file:
            ptx = file.read()
        if '_formulas' in entry:
            zeros += [f'{name}: {line}' for line in unrequested(ptx)]
        code = path[:-len('.o')]
        if not os.path.exists(code):                                # a file of the user's, whose name has a number before it here
            code = next((os.path.join(where, re.sub(r'^\d+_', '', entry[:-2])) for where, _, files in os.walk(os.path.join(tree, 'examples'))
                         if re.sub(r'^\d+_', '', entry[:-2]) in files), None)
        text = open(code).read() if code else ''
        for architecture in ARCHITECTURES:
            cubin = f'{path}.{architecture}'
            log = subprocess.run([os.path.join(os.path.dirname(nvcc), 'ptxas'), '-v', f'-arch={architecture}', '-o', cubin, path],
                                 capture_output=True, text=True)
            if log.returncode:
                sys.exit(f'{graph}: ptxas: {log.stderr[-500:]}')
            sizes = code_sizes(cubin)
            for entry_text in re.finditer(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
                                          r'.*?Used (\d+) registers([^\n]*)', log.stderr, re.S):
                mangled, frame, stores, loads, registers, rest = entry_text.groups()
                function, registers = plain(mangled), int(registers)
                if function == 'in_unit':                           # it does nothing: a run asks with it whether a GPU has code
                    continue
                shared = int((re.search(r'(\d+) bytes smem', rest) or (0, 0))[1])
                declared = ptx[ptx.index(f'.entry {mangled}('):][:6000].split('{', 1)[0]
                threads = threads_of(text, function, declared)
                kernels[architecture].append(Kernel(re.sub(r'^(df_(?:kernel|group)_.*)_0$', r'\1', function), threads, registers, int(stores) + int(loads),
                                                    int(frame), shared, *occupancy(architecture, threads, registers, shared),
                                                    global_bytes(text, function), sizes[mangled]))
    return name, kernels, zeros


def both(values, form='{}'):
    """One number if all architectures have the same."""
    texts = [form.format(value) for value in values]
    return texts[0] if len(set(texts)) == 1 else ' / '.join(texts)


def shown(name):
    """The kernel's name, of a group's its first and last kernel."""
    text = re.sub(r'^df_kernel_', '', name)
    text = re.sub(r'^df_(group|pass)_(?!\d)', '', text) + (', groups' if name.startswith(('df_group_', 'df_pass_')) else '')
    group = re.match(r'df_group\d+_(.*)', text)
    return f'{group[1]}, fused' if group else text


def table(reports):
    rows = ['| graph | kernel | threads | registers | frame | spills | shared | occupancy | bytes | instructions |',
            '|---|---|---|---|---|---|---|---|---|---|']
    for graph, kernels, _ in reports:
        seen = set()
        for same in zip(*(kernels[architecture] for architecture in ARCHITECTURES)):
            row = (f'| {graph} | {shown(same[0].name)} | {same[0].threads} | {both([k.registers for k in same])} | {both([k.frame for k in same])} '
                   f'| {both([k.spills for k in same])} | {both([k.shared for k in same])} | {both([k.occupancy for k in same], "{:.0%}")} '
                   f'| {"" if same[0].bytes is None else f"{same[0].bytes:.1f}"} | {both([k.instructions for k in same])} |')
            if row not in seen:
                rows.append(row)
            seen.add(row)
    return rows


def fused(reports, before):
    """The launches of each fused group, added up, at another time and today."""
    rows = ['| graph | | launches | bytes | instructions | most registers | least occupancy |', '|---|---|---|---|---|---|---|']
    for (graph, old, _), (_, new, _) in zip(before, reports):
        for when, kernels in (('before', old), ('now', new)):
            of_group = [[k for k in kernels[architecture] if k.name.startswith('df_kernel_df_group')] for architecture in ARCHITECTURES]
            loaded = [k.bytes for k in of_group[0]]
            rows.append(f'| {graph} | {when} | {len(loaded)} | {"" if None in loaded else f"{sum(loaded):.1f}"} '
                        f'| {both([sum(k.instructions for k in group) for group in of_group])} | {both([max(k.registers for k in group) for group in of_group])} '
                        f'| {both([min(k.occupancy for k in group) for group in of_group], "{:.0%}")} |')
    return rows


def wrong(reports):
    """What is not as it should be; the kernels that have a frame or spills."""
    said, found = [], set()
    for graph, kernels, zeros in reports:
        said += zeros
        for architecture in ARCHITECTURES:
            for k in kernels[architecture]:
                if k.frame or k.spills:
                    found.add(k.name)
                    if k.name not in REASONS:
                        said.append(f'{graph}: {k.name} for {architecture}: a frame of {k.frame} bytes, spills of {k.spills} bytes')
    return said, found


def rewritten(reports, before):
    rows = ['| graph | kernel | | registers | frame | spills | shared | occupancy | bytes |', '|---|---|---|---|---|---|---|---|---|']
    for (graph, old, _), (_, new, _) in zip(before, reports):
        for name in ('measure_parts', 'rank_all', 'join_all', 'df_kernel_shares', 'df_group_shares_0_value0', 'df_group_shares_0_value1',
                     'df_kernel_backproject'):
            for when, kernels in (('before', old), ('now', new)):
                same = [k for architecture in ARCHITECTURES for k in kernels[architecture] if k.name == name]
                if same:
                    rows.append(f'| {graph} | {shown(name)} | {when} | {both([k.registers for k in same])} | {both([k.frame for k in same])} '
                                f'| {both([k.spills for k in same])} | {both([k.shared for k in same])} | {both([k.occupancy for k in same], "{:.0%}")} '
                                f'| {"" if same[0].bytes is None else f"{same[0].bytes:.1f}"} |')
    return rows


def update(page, text):
    with open(page) as file:
        before, old = file.read().split(HEADING)
    end = old.find('\n## ')
    with open(page, 'w') as file:
        file.write(before + HEADING + PAGE + '\n'.join(text) + '\n' + (old[end:] if end >= 0 else ''))


def compile_all(dfc, nvcc, tree, graphs, folder):
    os.makedirs(folder, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda graph: compile_graph(dfc, nvcc, tree, graph, folder), graphs))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument('build', nargs='?')
    arguments.add_argument('graphs', nargs='*')
    arguments.add_argument('--before')
    arguments.add_argument('--update')
    arguments.add_argument('--ptx')
    given = arguments.parse_args()
    if given.ptx:
        with open(given.ptx) as file:
            found = unrequested(file.read())
        print(f'{len(found)} of min or max of real numbers', *found[:3], sep='\n')
        return 1 if found else 0
    nvcc = os.environ.get('NVCC') or shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    nvcc = os.path.realpath(nvcc)
    graphs = given.graphs or GRAPHS
    with tempfile.TemporaryDirectory() as folder:
        reports = compile_all(os.path.join(given.build, 'bin/dfc'), nvcc, SOURCE, graphs, folder)
        before = compile_all(os.path.join(given.before, 'build/release/bin/dfc'), nvcc, given.before, FUSED + REWRITTEN, folder + '/before') if given.before else []
    text = table(reports)
    of = dict(zip(graphs, reports))
    if before:
        text += ['', BEFORE, ''] + fused([of[graph] for graph in FUSED], before[:len(FUSED)])
        text += ['', 'Kernels that were rewritten:', ''] + rewritten([of[graph] for graph in REWRITTEN], before[len(FUSED):])
    said, found = wrong(reports)
    half = sorted({f'{shown(k.name)} ({graph}: {k.limit})' for graph, kernels, _ in reports for k in kernels['sm_80'] if k.occupancy < 0.5})
    text += ['', 'On sm_80 fewer than half of the warps of these kernels are resident; the limiting resource is given for each: ' + ', '.join(half) + '.'] if half else []
    reasons = [f'- {shown(name)}: {REASONS[name]}.' for name in REASONS if name in found]
    text += ['', 'A frame or spills, and why:', ''] + reasons if reasons else []
    print('\n'.join(text))
    if given.update:
        update(given.update, text)
    if not given.graphs:
        said += [f'{name} has a reason for a frame, and none' for name in REASONS if name not in found]
    print(*said, sep='\n', end='\n' if said else '')
    return 1 if said else 0


if __name__ == '__main__':
    sys.exit(main())
