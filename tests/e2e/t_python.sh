# Graphs called from Python: the module that --python makes, and the package, from a wheel that is built and installed without a network.
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then skip python "Python is not linked with the sanitizer"; exit 0; fi
formulas_for none
export NVCC=none                                # notebook.py compiles without options
cp "$programs"/* .
printf '\1\2\3\4\5\6\7\10\11\12\13\14' >image.raw
check program "$DFC" edges.df -o program --nvcc=none --cflags='-include time.h'
check run ./program
check module "$DFC" edges.df --lib --python -o libedges.so --nvcc=none --cflags='-include time.h'
"$python" calls.py >said 2>err || fail calls "$(tail -n 3 err | tr '\n' ' ')"
cat said; grep -q '^not ok' said && failures=1

# What has no name in Python, and what is no module.
printf 'kernel f(in a: u8[n], out b: u8[n]) cpu {{ *b = *a; }};\ngraph lambda(in a: u8[n], out b: u8[n]) { b = f(a); }\n' >l.df
expect name 1 "^dfc: error: --python: the module cannot have a graph of the name 'lambda'$" "$DFC" l.df --lib --python -o libl.so
[ -e libl.so ] || [ -e l.h ] && fail name-leaves-nothing "$(ls)" || pass name-leaves-nothing
sed -i 's/lambda/map/' l.df
expect module-name 1 "^dfc: error: --python: 'a-b' is no name of a module: give the library another$" "$DFC" l.df --lib --python -o liba-b.so
expect archive 2 "^dfc: error: --python: Python loads a shared library, and 'libl.a' is an archive$" "$DFC" l.df --lib --python -o libl.a
expect no-lib 2 "^dfc: error: --python makes a module that calls a library: it goes with --lib$" "$DFC" l.df --python -o libl.so
check builtin-name "$DFC" l.df --lib --python -o libm.so --nvcc=none

printf 'param n = 4 dynamic help "numbers";\narg s: str = "a" help "a word";\narg t: i32;\n%s' "$(sed 's/map/id/' l.df)" >o.df
check settings "$DFC" o.df --lib --python -o libo.so --nvcc=none
printf '%s\n' 'Its options beside those that every program has:' '    --s=str  a word (default "a")' '    --t=i32  (must be given)' '    --n=i64  numbers (default 4)' >doc.want

# A size that no input has, and that no number of 64 bits has either.
printf 'kernel f(out b: u8[n]) cpu {{ memset(b, 1, n); }};\ngraph fill(out b: u8[m]) { b = f(); }\n' >fill.df
check size-module "$DFC" fill.df --lib --python -o libfill.so --nvcc=none
cat >small.py <<'EOT'
import numpy, m, o, fill
print("map:", m.map(numpy.full(1, 7, "u1")).tobytes())
print("fill:", fill.fill(m=5).sum())
try: print(fill.fill(m=2**64 + 5).sum())
except TypeError as e: print("TypeError:", e)
print(o.id.__doc__)
EOT
"$python" small.py >small.got 2>&1
expect builtin-name-runs 0 '^map: b.\\x07.$' cat small.got
expect size 0 '^fill: 5$' cat small.got
expect size-too-large 0 '^TypeError: fill: m=18446744073709551621 is no size$' cat small.got
tail -n 4 small.got | cmp - doc.want && pass settings-are-described || fail settings-are-described "$(cat small.got)"

# A graph with ports in place of main.
expect root 0 '^edges.df: 4 nodes, 3 arcs$' "$DFC" partition edges.df --graph=edges:h=480,w=640
expect root-simulate 0 '^gp ' "$DFC" simulate edges.df --graph=edges:h=480,w=640
expect root-explain 0 'edges.df on default, placed by gp' "$DFC" explain edges.df --graph=edges:h=480,w=640
expect root-dim 1 "error: --graph: graph 'edges' has a dimension 'w': say how large it is, as in --graph=edges:w=480" "$DFC" partition edges.df --graph=edges:h=3
expect root-size 1 "error: --graph: 'w=0': a size from 1 on is expected, as in w=480" "$DFC" partition edges.df --graph=edges:h=3,w=0
expect root-unknown-dim 1 "error: --graph: graph 'edges' has no dimension 'q'" "$DFC" partition edges.df --graph=edges:q=3
expect root-unknown 1 "error: --graph: there is no graph 'main' with ports" "$DFC" partition edges.df --graph=main

# The package.
if ! has_modules setuptools wheel venv ensurepip; then skip wheel "python3-setuptools, python3-wheel or python3-venv is missing"; exit 0; fi
without=(); ! has_modules pip || without=(--without-pip) # the system's is there
check venv "$python" -m venv --system-site-packages "${without[@]}" venv
mkdir small && cp -r "$DF_BUILD"/{bin,lib,include,share} small/ && strip -g small/lib/*.a && strip small/bin/dfc # debug information is most of what is packed
wheel() { (cd "$DF_SOURCE/compiler/python" && DFC_BUILD=$folder/small "$folder/venv/bin/python" -c "import setuptools.build_meta as b; b.build_wheel('$folder')"); } # what pip calls
if ! long; then check wheel wheel; else check wheel env DFC_BUILD="$PWD/small" venv/bin/python -m pip wheel --no-build-isolation --no-deps -q -w . "$DF_SOURCE/compiler/python"; fi
check install venv/bin/python -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --disable-pip-version-check dfc-*.whl
expect command 0 '^dfc [0-9.]+$' venv/bin/dfc --version
venv/bin/python notebook.py >notebook.got 2>err && same notebook notebook.got notebook.out || fail notebook "$(tail -n 3 err)"
sed -n '/^```python$/,/^```$/p' "$DF_SOURCE/README.md" | grep -v '^```' >readme.py
echo 'import dfc; print(dfc.command())' >>readme.py
venv/bin/python readme.py >readme.got 2>err; expect readme 0 '^\[0\. +2\.5 +5\. +7\.5\]$' cat readme.got
expect installed 0 "^$PWD/venv/.*/dfc/home/bin/dfc$" cat readme.got
expect version 0 "^$("$DFC" --version | cut -d ' ' -f 2)$" env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c 'import dfc; print(dfc.__version__)'
expect text-in-a-line 0 '^2$' env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c '
import dfc
f = dfc.compile("kernel f(in a: i32[n], out b: i32[n]) { b[i] = a[i] + 1; } graph g(in a: i32[n], out b: i32[n]) { b = f(a); }", flags=["--nvcc=none"])
print(f([1])[0])'
expect text-not-a-file 0 '^4 texts$' env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c '
import dfc
n = 0
for text in ("", "graph g(in a: i32[n])", "// a comment", "kernel f(in a: i32[n]) cpu \"f.c\""):
    try:
        dfc.compile(text)
    except dfc.CompileError as error:
        n += "<text>" in str(error) and "cannot read" not in str(error)
print(n, "texts")'
expect file-missing 1 "CompileError: dfc: error: cannot read '.*/gone.df': No such file" env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c 'import dfc; dfc.compile("gone.df")'
expect not-a-text 1 'TypeError: a program is a str, or the path of a file, and this is a bytes' env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c 'import dfc; dfc.compile(b"graph g;")'
expect file-of-a-path 1 "no such file|cannot read|cannot open" env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c '
import dfc, pathlib
dfc.compile(pathlib.Path("kernel f;"))'
expect layout 0 "^$DF_BUILD/bin/dfc$" env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" -c 'import dfc; print(dfc.command())'

# A folder that is gone is no reason to refuse a text. A dfc whose status is lost, and which said nothing, has failed if there is no library.
mkdir gone && cat >text.py <<'EOT'
import os
import numpy, dfc
os.chdir("gone"); os.rmdir("../gone")
f = dfc.compile("kernel f(in a: u8[n], out b: u8[n]) { b[i] = a[i]; }\ngraph g(in a: u8[n], out b: u8[n]) { b = f(a); }\n", flags=["--nvcc=none"])
print(f(numpy.arange(3, dtype="u1")))
EOT
expect no-folder 0 '^\[0 1 2\]$' env PYTHONPATH="$DF_BUILD/share/dfc/python" "$python" text.py
mkdir -p other/bin package && cp -r "$DF_BUILD/share/dfc/python/dfc" package/ && printf '#!/bin/sh\nexit 3\n' >other/bin/dfc && chmod +x other/bin/dfc
expect lost-status 1 '^dfc.CompileError: dfc ended and made no library$' env PYTHONPATH=package DFC_HOME="$PWD/other" "$python" -c '
import signal, dfc
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
dfc.compile("graph main() {\n}\n")'
