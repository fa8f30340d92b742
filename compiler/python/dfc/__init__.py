"""dfc for Python: graphs of kernels, compiled and called as functions on arrays.

    import dfc
    edges = dfc.compile("edges.df", "edges")
    out = edges(image, t=0.5)               # image: NumPy's, or anything with the buffer protocol
    edges.stats                             # what each kernel took
    edges.picture()                         # where each node runs, shown in a notebook

compile() calls the dfc command, which needs a C compiler. It is the one of this package, else $DFC_HOME's, else that of the installation
that this package lies in, else the one in $PATH.
"""

import hashlib as _hashlib
import os as _os
import pathlib as _pathlib
import re as _re
import shutil as _shutil
import signal as _signal
import subprocess as _subprocess
import sys as _sys
import tempfile as _tempfile
import weakref as _weakref

from .graphs import Graph, GraphError, Library, Stats, load

__version__ = "0.1.0"

__all__ = ["CompileError", "Graph", "GraphError", "Library", "Picture", "Stats", "command", "compile", "load"]


class CompileError(Exception):
    """dfc refused the program. The text is what dfc said, with file, line and column."""


def command():
    """The path of the dfc command that is used."""
    here = _pathlib.Path(__file__).resolve().parent
    homes = [here / "home", *map(_pathlib.Path, filter(None, [_os.environ.get("DFC_HOME")])), *here.parents[3:4]]
    for home in homes:
        if _os.access(home / "bin/dfc", _os.X_OK):
            return str(home / "bin/dfc")
    found = _shutil.which("dfc")
    if not found:
        raise FileNotFoundError("there is no dfc command: install it, or set DFC_HOME to the folder that holds bin/dfc")
    return found


def _run(words, tell=True, text=None):
    """What a command of dfc printed. CompileError: what it said. tell: warnings are passed on. text: a program that it reads from /dev/stdin."""
    done = _subprocess.run([command(), *words], capture_output=True, encoding="utf-8", errors="replace", input=text)
    said = done.stderr if text is None else done.stderr.replace("/dev/stdin", "<text>")
    # A process that ignores the ends of its children does not learn their status. dfc says each error in a line.
    lost = _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN and "error: " in done.stderr
    if done.returncode or lost:
        raise CompileError(said.strip() or f"dfc ended with status {done.returncode}")
    if tell and said:
        print(said, end="", file=_sys.stderr)
    return done.stdout


class _Source:
    """The file that a library was made of, and how; for pictures."""

    def __init__(self, path, words):
        self.path, self.words = path, words


def compile(source, graph=None, options="", define=None, flags=()):
    """Compiles a .df file, or a text, and gives its graph as a Graph; graph=None: if there are several, all (Library). A str that has a
    line break, ';' or '{', begins as a program does or is blank is a text, unless a file has this name; a pathlib.Path is always a file.

    options:  of the session, as a program takes them: "--workers=2 --policy=gp --device=emu"
    define:   values of compile-time params: {"n": 4096}
    flags:    more words for dfc: ["-O3", "--cflags=-march=native", "-I", "kernels"]
    Raises CompileError with dfc's messages.
    """
    if isinstance(flags, str):
        raise TypeError(f"flags={flags!r} is one text, and a list of words is expected: flags={[flags]!r}")
    if not isinstance(source, (str, _os.PathLike)):
        raise TypeError(f"a program is a str, or the path of a file, and this is a {type(source).__name__}")
    folder = _tempfile.mkdtemp(prefix="dfc-", dir=_place())
    try:
        text = source if _is_text(source) else None
        if text is not None:
            path = _os.path.join(folder, "source.df")
            _pathlib.Path(path).write_text(source, encoding="utf-8")
        else:
            path = _os.path.abspath(_os.fspath(source))
        words = [f"-D{name}={value}" for name, value in (define or {}).items()] + [str(word) for word in flags]
        chosen = [] if graph is None else [f"--graph={graph}"]
        library = _os.path.join(folder, f"lib{_hashlib.sha256((text or path).encode()).hexdigest()[:16]}.so")
        # A text has the same name each time, so its objects are found in the cache.
        _run([path if text is None else "/dev/stdin", "--lib", "--here", "-o", library, *chosen, *words], text=text)
        if not _os.path.exists(library):  # its status was lost, and it said nothing
            raise CompileError("dfc ended and made no library")
        made = load(library, _exports(folder), options, _Source(path, words))
    except BaseException:
        _shutil.rmtree(folder, ignore_errors=True)
        raise
    _weakref.finalize(made, _shutil.rmtree, folder, True)
    for one in made:
        one._keeps = made               # the folder stays as long as a graph of it
    graphs = list(made)
    return graphs[0] if graph is not None or len(graphs) == 1 else made


_BEGINS = _re.compile(r"\s*($|//|/\*|(arg|graph|import|kernel|link|param|platform|table|type)\s)")


def _is_text(source):
    return isinstance(source, str) and ("\n" in source or ((";" in source or "{" in source or bool(_BEGINS.match(source))) and not _os.path.exists(source)))


def _place():
    """A folder from which libraries can be loaded: the system's temporary one, or another if that is mounted with noexec."""
    def loads(folder):
        try:
            return not _os.statvfs(folder).f_flag & _os.ST_NOEXEC and _os.access(folder, _os.W_OK | _os.X_OK)
        except OSError:
            return False
    cache = _os.environ.get("XDG_CACHE_HOME") or _os.path.expanduser("~/.cache")
    places = [_tempfile.gettempdir(), cache, "/tmp", "/var/tmp", _os.curdir]
    return _os.path.abspath(next(filter(loads, places), places[0]))


def _exports(folder):
    """The graphs that the library's header declares."""
    header = next(_pathlib.Path(folder).glob("*.h")).read_text()
    return [line.split("_open(")[0][4:] for line in header.splitlines() if line.startswith("int ") and "_open(const char *" in line]


class Picture:
    """A picture in SVG. A notebook shows it; str() is its text, and save() writes a file."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg

    def save(self, path):
        _pathlib.Path(path).write_text(self.svg)


def _picture(graph, policy=None, **dims):
    """Where each node runs, for the last call's sizes, or those given: graph.picture(h=480, w=640). policy: as dfc partition takes it."""
    if graph._source is None:
        raise ValueError(f"{graph.__name__}: a picture needs the source, which dfc.compile() knows")
    unknown = [name for name in dims if name not in graph._signature["dims"]]
    if unknown:
        raise TypeError(f"{graph.__name__}: it has no dimension '{unknown[0]}'")
    sizes = {**getattr(graph, "_last", {}), **dims}
    missing = [name for name in graph._signature["dims"] if name not in sizes]
    if missing:
        raise ValueError(f"{graph.__name__}: no call has said what {missing[0]} is: give it, as in picture({missing[0]}=100)")
    extents = ",".join(f"{name}={sizes[name]}" for name in graph._signature["dims"])
    words = [f"--graph={graph.__name__}:{extents}", *([f"--policy={policy}"] if policy else []), *graph._source.words]
    return Picture(_run(["partition", graph._source.path, "--svg=-", *words], tell=False))


Graph.picture = _picture
