# make.py WAY [0|1] - writes WAY.df and the file of its kernels: a chain in which each of NAMES is a dimension, an input, an output, an inout port,
# scratch memory and a scalar of some kernel.
import sys

NAMES = """SIZE_MAX INT32_MAX INT32_MIN INT64_C UINT64_MAX PTRDIFF_MAX M_PI M_E HUGE_VAL BUFSIZ RAND_MAX EXIT_FAILURE NULL EOF INFINITY NAN errno
stdin stdout stderr offsetof isnan linux unix WCHAR_MAX SEEK_SET""".split()
STEP = "{out}[0] = {inp}[0] + {both}[0] + (int32_t){dim} + {scalar}; {tmp}[0] = 0; {both}[0] = {out}[0]; (void){tmp};"
# A formula's index, let and range have such names, too, and its code needs the least and the greatest i64.
FORMULA = """kernel k{i}(in {inp}: i32[{dim}], in {both}: i32[{dim}], out {out}: i32[{dim}]; {scalar}: i32) {{
    let {let} = max({range} in 0..{dim}: i64({inp}[{range}])) + min({range} in 0..{dim}: i64({both}[{range}]));
    {out}[{index}] = wrap_i32({let} * ({index} + 1 - {index}) + {dim} + {scalar});
}}"""
way = sys.argv[1]
if len(sys.argv) > 2:                   # every second name alone
    NAMES = NAMES[int(sys.argv[2])::2]
formulas = way == "formulas"
suffix = "cpp" if way.startswith("cpp") else "c"
code, graph, value = [], [], 0
kernels = ["kernel begin(out a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = 0; }};",
           "kernel end(in a: i32[k]; want: i32) cpu {{ if (a[0] != want) return df_fail(call, \"%d, not %d\", a[0], want);\n"
           "    if (SIZE_MAX < 4 || M_PI < 3 || M_PI > 4 || EOF != -1 || stdin == NULL) return df_fail(call, \"macros are gone\");\n"
           "    printf(\"%d names as they should be\\n\", (int)k); }};"]
for i, _ in enumerate(NAMES):
    dim, inp, out, both, tmp, scalar, index, let, range_ = (NAMES[(i + j) % len(NAMES)] for j in range(9))
    graph.append(f"(x{i + 1}, y{i + 1}) = k{i}(x{i}, y{i}, {i});" if not formulas else f"x{i + 1} = k{i}(x{i}, x{i}, {i});")
    if formulas:
        kernels.append(FORMULA.format(i=i, dim=dim, inp=inp, out=out, both=both, scalar=scalar, index=index, let=let, range=range_))
        continue
    step = STEP.format(dim=dim, inp=inp, out=out, both=both, tmp=tmp, scalar=scalar)
    plain = STEP.format(dim="d", inp="a", out="b", both="c", tmp="t", scalar="s") # a function written before has names of its own
    types = "size_t d, int32_t *a, int32_t *b, int32_t *c, int32_t *t, int32_t s"
    given = f"({dim}, {inp}, {out}, {both}, {tmp}, {scalar})"
    if way == "inline":
        variant = "cpu {{ " + step + " }}"
    elif way in ("file", "cpp"):
        variant = f'cpu "{way}.{suffix}"'
        code.append(f"int k{i}_cpu(struct df_call *call, {types.replace('int32_t *a', 'const int32_t *a')}) {{ (void)call; {plain} return DF_OK; }}")
    elif way == "bare":
        variant = f'cpu "{way}.c": f{i}'
        code.append(f"int f{i}(struct df_call *call, {types}) {{ (void)call; {plain} return 0; }}")
    else:
        variant = f'cpu "{way}.{"o" if way == "object" else suffix}": f{i}{given}'
        code.append(f"int f{i}({types}) {{ {plain} return 0; }}")
    kernels.append(f"kernel k{i}(in {inp}: i32[{dim}], out {out}: i32[{dim}], inout {both}: i32[{dim}], tmp {tmp}: i32[{dim}]; "
                   f"{scalar}: i32) {variant};")
x = y = 0
for i, _ in enumerate(NAMES):
    x = y = (x + y + 4 + i) & 0xffffffff
    x = y = x - (1 << 32) if x >= 1 << 31 else x
with open(way + ".df", "w") as file:
    print(*kernels, "graph main {", "    x0: i32[4] = begin();", "" if formulas else "    y0: i32[4] = begin();", *("    " + g for g in graph),
          f"    end(x{len(NAMES)}, {x});", "}", sep="\n", file=file)
if formulas:
    sys.exit()
with open(f"{way}.{suffix}", "w") as file:
    headers = ["errno", "limits", "math", "stdio", "stdlib", "wchar"]
    print(*(f"#include <{h}.h>" for h in headers if way != "object"), *code, sep="\n", file=file)
