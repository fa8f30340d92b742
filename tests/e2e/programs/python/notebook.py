"""The cells of a notebook, as a script."""
# %% A graph, compiled
import signal as signals

import dfc
import numpy as np

blur = dfc.compile("""
kernel smooth(in a: f32[n], out b: f32[n]; times: i32) cpu {{
    for (size_t i = 0; i < n; i++)
        b[i] = (float)times * (a[i ? i - 1 : 0] + a[i] + a[i + 1 < n ? i + 1 : i]) / 3;
}};
graph blur(in a: f32[n], out b: f32[n]; times: i32) { x = smooth(a, times); b = smooth(x, 1); }
""")
print(blur)

# %% called on an array
signal = np.array([0, 0, 9, 0, 0], "f4")
print(blur(signal, times=2))

# %% with another policy
print(np.array_equal(blur.copy("--workers=2 --policy=gp")(signal, times=2), blur(signal, times=2)))

# %% what the kernels took
print([row["name"] for row in blur.stats["kernels"]])

# %% where they ran
picture = blur.picture()
print(picture._repr_svg_()[:5], "smooth" in str(picture))
picture.save("blur.svg")

# %% a mistake, told in words
try:
    dfc.compile("graph g(in a: f32[n], out b: f32[n]) { b = smoth(a); }\n")
except dfc.CompileError as error:
    print(str(error).splitlines()[0].split(":", 3)[3])

# %% the same in a process that ignores the ends of its children
before = signals.signal(signals.SIGCHLD, signals.SIG_IGN)
try:
    dfc.compile("graph g(in a: f32[n], out b: f32[n]) { b = smuth(a); }\n")
except dfc.CompileError as error:
    print(str(error).splitlines()[0].split(":", 3)[3])
signals.signal(signals.SIGCHLD, before)

for wrong in (lambda: blur.picture(n=5, m=3), lambda: dfc.compile("graph.df", flags="-O3")):
    try:
        wrong()
    except TypeError as error:
        print(error)

# %% several graphs, a param, flags
both = dfc.compile("""
param k = 1;
kernel add(in a: i32[n], out b: i32[n]) cpu {{ for (size_t i = 0; i < n; i++) b[i] = a[i] + MORE; }};
graph one(in a: i32[n, k], out b: i32[n * k]) { b = flat(a); }
kernel flat(in a: i32[n, m], out b: i32[n * m]) cpu {{ memcpy(b, a, n * m * sizeof *a); }};
graph two(in a: i32[n], out b: i32[n]) { b = add(a); }
""", define={"k": 2}, flags=["--cflags=-DMORE=5"])
print(both.two(np.arange(3, dtype="i4")), both.one(np.ones((2, 2), "i4")).shape)

# %% a copy of a graph that is gone
import gc  # noqa: E402

alone = dfc.compile("""
kernel add(in a: i32[n], out b: i32[n]) { b[i] = a[i] + 1; }
graph more(in a: i32[n], out b: i32[n]) { b = add(a); }
""").copy()
gc.collect()
print(alone(np.arange(3, dtype="i4")), alone.picture()._repr_svg_()[:5])
