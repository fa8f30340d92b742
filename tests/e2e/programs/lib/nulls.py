# nulls.py LIBRARY HEADER - calls every function that a library exports with each of its pointers NULL in turn, the others being good. Each call is a
# process of its own. Prints how many calls there were; one that crashes, or says nothing of what is missing, is named, and the exit status is 1.
import ctypes, os, re, subprocess, sys

library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
text = re.sub(r"/\*.*?\*/", "", open(sys.argv[2]).read(), flags=re.S)
found = re.findall(r"^(int|int64_t|void|const [a-z_ ]+\*) ?\*?(\w+)\(([^)]*)\);", text, flags=re.M)
prototypes = {name: (result, [re.sub(r"(\w+)\[\d+\]", r"*\1", a).strip() for a in arguments.split(",") if a.strip() != "void"]) for result, name, arguments in found}
exported = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], capture_output=True, text=True, check=True).stdout.split()[2::3]
if sorted(exported) != sorted(prototypes):
    sys.exit(f"exported and not in the header, or the other way: {set(exported) ^ set(prototypes)}")
room = (ctypes.c_size_t * 4096)(*[3] * 4096)    # tokens, extents and the like
NUMBERS = {"size_t": (ctypes.c_size_t, 3), "int64_t": (ctypes.c_int64, 2), "unsigned": (ctypes.c_uint, 0), "int32_t": (ctypes.c_int32, 1),
           "float": (ctypes.c_float, 1.5), "double": (ctypes.c_double, 1.5)}
NULL_IS_GOOD = {("open", 0), ("close", 0)}


def session_of(graph):
    handle = ctypes.c_void_p()
    if library[f"{graph}_open"](b"--workers=1", ctypes.byref(handle)) != 0:
        sys.exit(f"{graph}_open failed")
    return handle


def argument(kind, k):
    """The k-th argument if it is good, tokens of a page each."""
    kind = kind.replace("const ", "")
    if "*" not in kind:
        of_c, value = NUMBERS[kind.split()[0]]
        return of_c(value)
    return ctypes.c_char_p(b"--workers=1") if kind.startswith("char") else ctypes.c_void_p(ctypes.addressof(room) + 4096 * k)


def call(name, null):
    """In a child: 0 if what came is right."""
    result, kinds = prototypes[name]
    graph, verb = name.split("_", 1)
    values = [session_of(graph) if f"{graph}_session *" in kind and "**" not in kind and k != null else argument(kind, k) for k, kind in enumerate(kinds)]
    values[null] = ctypes.c_void_p(None)
    function, error = library[name], library[f"{graph}_error"]
    function.restype = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "void": None}.get(result, ctypes.c_void_p)
    error.restype = ctypes.c_char_p
    came = function(*values)
    if (verb, null) in NULL_IS_GOOD or result == "void":
        return came not in (0, None)
    if result == "int":
        return not (came == -2 and (b"NULL" in error() or b"no place" in error()))
    return came != (-1 if result == "int64_t" else None)


calls = failed = 0
for name, (_, kinds) in sorted(prototypes.items()):
    for null in (k for k, kind in enumerate(kinds) if "*" in kind):
        calls += 1
        child = os.fork()
        if child == 0:
            try:
                os._exit(call(name, null))
            finally:
                os._exit(3)
        status = os.waitpid(child, 0)[1]
        if status:
            failed += 1
            print(f"{name}: argument {null + 1} is NULL: " + (f"signal {status & 127}" if status & 127 else f"the answer is wrong ({status >> 8})"))
print(f"{calls} calls, {failed} wrong")
sys.exit(failed > 0)
