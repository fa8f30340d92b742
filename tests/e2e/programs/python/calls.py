"""Calls the module that dfc made of edges.df, as it should be called and as it should not. Says `ok NAME` or `not ok NAME: why`."""
import copy
import gc
import inspect
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time

import numpy as np

sys.path.insert(0, ".")
import edges  # noqa: E402


def case(name, good, why=""):
    print(f"ok {name}" if good else f"not ok {name}: {why}")


def says(name, kind, words, call):
    try:
        call()
        case(name, False, "it was accepted")
    except Exception as error:
        case(name, isinstance(error, kind) and words in str(error), f"{type(error).__name__}: {error}")


f = edges.edges
image = np.fromfile("image.raw", "u1").reshape(3, 4)
e, c = f(image, t=2.5)
case("program-bits", e.tobytes() == open("e.raw", "rb").read() and c.tobytes() == open("c.raw", "rb").read())
stack = np.stack([image, image[::-1], image // 2])
many = f(stack, t=2.5, waves=3)
case("waves", all(np.array_equal(many[k][w], f(stack[w], t=2.5)[k]) for w in range(3) for k in range(2)))
case("sizes", all(f(np.ones(shape, "u1"), t=1)[1].shape == (shape[0] - 2, 2 * shape[1]) for shape in [(3, 1), (9, 5), (4, 4), (3, 1), (50, 2), (8, 8)]))
out = np.empty_like(e), np.empty_like(c)
given = f(image, t=2.5, out=out)
case("out", given[0] is out[0] and np.array_equal(out[1], c))
case("out-dict", f(image, t=2.5, out={"c": out[1]})[1] is out[1])
case("buffer", np.array_equal(f(memoryview(image), t=2.5)[0], e) and np.array_equal(f(image.T.copy().T, t=2.5)[0], e))
case("names", np.array_equal(f(image=image, t=2.5)[0], e) and edges.__all__ == ["edges", "slow"] and "u8[h, w]" in f.__doc__)

# A call like the one before it goes a shorter way, and it must not be taken for one if it is none.
other = np.arange(20, dtype="u1").reshape(5, 4)
wanted = {(shape, t): f.copy()(shaped, t=t) for shape, shaped in (("image", image), ("other", other), ("turned", image[::-1])) for t in (2.5, 7)}
turned, readonly = np.asfortranarray(image[::-1]), np.empty_like(e)
readonly.flags.writeable = False
again = [("image", f(image, t=2.5), 2.5), ("image", f(image, t=7), 7), ("other", f(other, t=7), 7), ("image", f(image, t=7), 7), ("turned", f(turned, t=7), 7),
         ("turned", f(image[::-1], t=2.5), 2.5), ("image", f(memoryview(image), t=2.5), 2.5), ("image", f(image, t=2.5, out=[np.empty_like(e), np.empty_like(c)]), 2.5)]
case("again", all(np.array_equal(got[k], wanted[name, t][k]) for name, got, t in again for k in range(2)))
case("again-new-arrays", again[0][1][0] is not f(image, t=2.5)[0] and f(image, t=2.5, out=out)[1] is out[1])
says("again-order", ValueError, "its array must be contiguous and writable", lambda: f(image, t=1, out=(readonly, out[1])))
says("again-type", TypeError, "the array has elements of type int8", lambda: f(image.view("i1"), t=1))
says("again-scalar", TypeError, "scalar 't' is missing", lambda: f(image, u=1))
says("again-out-count", TypeError, "out has 3 arrays, and there are 2 outputs", lambda: f(image, t=1, out=(*out, e)))
says("again-no-input", TypeError, "input 'image' is missing", lambda: f(t=1, out=out))


class Tensor:                            # DLPack alone, as of another library
    def __init__(self, device):
        self.device = device

    def __dlpack__(self, stream=None):
        return image.__dlpack__()

    def __dlpack_device__(self):
        return self.device, 0


case("dlpack", np.array_equal(f(Tensor(1), t=2.5)[0], e))
says("dlpack-device", TypeError, "it lies on a device (DLPack's number 2)", lambda: f(Tensor(2), t=1))
says("no-scalar", TypeError, "scalar 't' is missing: give t=…", lambda: f(image))
says("type", TypeError, "'image' is u8[h, w], and the array has elements of type float64, not uint8", lambda: f(image * 1.0, t=1))
says("rank", ValueError, "so 2 extents are expected, and the array's shape is (4,)", lambda: f(image[0], t=1))
says("missing", TypeError, "input 'image' is missing", lambda: f(t=1))
says("too-many", TypeError, "2 inputs are given, and it has 1", lambda: f(image, image, t=1))
says("twice", TypeError, "'image' is given twice", lambda: f(image, image=image, t=1))
says("scalar-type", TypeError, "scalar 't' is f32, and 'x' is a str", lambda: f(image, t="x"))
says("unknown", TypeError, "it has no 'z'", lambda: f(image, t=1, z=3))
says("no-array", TypeError, "'image' is not usable as an array: memoryview", lambda: f(3, t=1))
case("list", np.array_equal(f(image.tolist(), t=2.5)[0], e) and np.array_equal(f(tuple(map(tuple, image.tolist())), t=2.5)[0], e))
says("list-range", TypeError, "'image' is u8[h, w], and uint8 does not have all numbers of the list", lambda: f([[1, 2], [3, 256]], t=1))
says("list-reals", TypeError, "uint8 does not have all numbers of the list", lambda: f([[1, 2], [3, 0.5]], t=1))
says("list-ragged", TypeError, "'image' is not usable as an array", lambda: f([[1, 2], [3]], t=1))
says("list-words", TypeError, "it is a list that NumPy makes an array of <U1 of", lambda: f([["a"]], t=1))


class Picture:                          # as Pillow's
    __array_interface__ = image.__array_interface__


case("picture", np.array_equal(f(Picture(), t=2.5)[0], e))
case("pictures", all(np.array_equal(made, [one] * 2) for made, one in zip(f([Picture(), Picture()], t=2.5, waves=2), (e, c))))
case("range", np.array_equal(f([range(4)] * 3, t=2.5)[0], f(np.array([[0, 1, 2, 3]] * 3, "u1"), t=2.5)[0]))


class Indexed(Picture):
    mode = "P"


says("palette", TypeError, "it is a picture with a palette, whose samples are numbers of colours: give picture.convert('RGB')", lambda: f(Indexed(), t=1))
try:
    from PIL import Image
    case("pillow", np.array_equal(f(Image.fromarray(image), t=2.5)[0], e))
    says("pillow-rgb", ValueError, "so 2 extents are expected, and the array's shape is (3, 4, 3)", lambda: f(Image.fromarray(image).convert("RGB"), t=1))
    says("pillow-palette", TypeError, "it is a picture with a palette", lambda: f(Image.fromarray(image).convert("P"), t=1))
except ImportError:
    print("skip pillow: there is no Pillow")
case("constant", all(np.array_equal(made, [one] * 3) for made, one in zip(f(image, t=2.5, waves=3), (e, c))))
case("parameters", str(inspect.signature(f)) == "(image, *, t, out=None, waves=None, progress=False)")
says("masked", TypeError, "'image' is not usable as an array: it is a masked array, and the mask would be ignored", lambda: f(np.ma.masked_array(image, image > 3), t=1))
says("masked-listed", TypeError, "it is a masked array", lambda: f([image, np.ma.masked_array(image, image > 3)], t=1, waves=2))
says("masked-element", TypeError, "it is a masked array", lambda: f([[1, np.ma.masked, 2]] * 3, t=1))
says("masked-out", TypeError, "'e' is not usable as an array: it is a masked array", lambda: f(image, t=1, out={"e": np.ma.masked_array(e.copy())}))
says("masked-waves", TypeError, "it is a masked array", lambda: f(np.ma.masked_array(stack), t=1, waves=True))
says("positional-scalar", TypeError, "scalars are given by name, as in t=…", lambda: f(image, 2.5))
says("huge-scalar", ValueError, "scalar 't': the number does not fit in f32", lambda: f(image, t=10**400))
says("large-scalar", ValueError, "scalar 't': the number does not fit in f32", lambda: f(image, t=1e300))
case("infinite-scalar", f(image, t=float("-inf"))[0].shape == image.shape)
says("too-small", ValueError, "dimension is -1: it must be at least 1", lambda: f(np.zeros((1, 1), "u1"), t=1))
says("empty", ValueError, "h is 0", lambda: f(np.zeros((0, 4), "u1"), t=1))
says("dims", ValueError, "h is 3 in 'image' and is given as 5", lambda: f(image, t=1, h=5))
says("out-shape", ValueError, "h is 3 in 'image' and 2 in 'e'", lambda: f(image, t=1, out=(image[:2], c)))
says("out-extents", ValueError, "'c' is f32[h - 2, 2 * w], here (1, 8), and the array's shape is (2, 8)", lambda: f(image, t=1, out=(e, np.ones((2, 8), "f4"))))
says("out-order", ValueError, "its array must be contiguous and writable", lambda: f(image, t=1, out=(np.ones((4, 3), "u1").T, c)))
says("out-count", TypeError, "out has 1 arrays, and there are 2 outputs", lambda: f(image, t=1, out=e))
says("out-unknown", TypeError, "it has no output 'q'", lambda: f(image, t=1, out={"q": e}))
says("overlap", ValueError, "have bytes in common", lambda: f(e, t=1, out=(e, c)))
says("waves-none", ValueError, "waves=0: a number from 1 on is expected", lambda: f(image, t=1, waves=0))
says("waves-other", ValueError, "'image' has tokens for 3 waves, and the call is of 2", lambda: f(stack, t=1, waves=2))
case("waves-true", all(np.array_equal(f(stack, t=2.5, waves=True)[k], many[k]) for k in range(2)) and f(image[None], t=2.5, waves=True)[0].shape == (1, 3, 4)
     and np.array_equal(f(image=image[None], t=2.5, waves=np.True_)[0][0], e) and np.array_equal(f(stack, t=2.5, waves=np.int64(3))[1], many[1]))
says("waves-false", ValueError, "waves=False: a number from 1 on is expected", lambda: f(stack, t=1, waves=False))
says("waves-true-rank", ValueError, "and the array's shape is (3, 4)", lambda: f(image, t=1, waves=True))
says("options", ValueError, "unknown option '--nonsense'", lambda: f.copy("--nonsense")(image, t=1))
says("attribute", AttributeError, "has no attribute 'nothing'", lambda: edges.nothing)

# A copy has a session of its own, however it is made: its end leaves the other's alone. No session goes to another process.
for name, made in ("copy", copy.copy(f)), ("deepcopy", copy.deepcopy(f)):
    case(f"copy-{name}", np.array_equal(made(image, t=2.5)[0], e))
    del made
    gc.collect()
    case(f"copy-{name}-ended", np.array_equal(f(image, t=2.5)[0], e))
says("pickle", TypeError, "edges: a graph cannot be pickled", lambda: pickle.dumps(f))

s = edges.slow
says("kernel-fails", edges.GraphError, "node 'main/slow/wait', wave 0: 13 is refused", lambda: s(np.full((1, 1), 13, "u1")))
case("after-failure", s(image).tobytes() == image.tobytes())
threads = [threading.Thread(target=lambda k=k: good.append(np.array_equal(mine[k](image, t=2.5)[0], e))) for k in range(4) for _ in range(50)]
mine, good = [f.copy() for _ in range(4)], []
for k in range(50):
    for t in threads[k::50]:
        t.start()
    for t in threads[k::50]:
        t.join()
case("threads", len(good) == 200 and all(good))

busy = threading.Thread(target=lambda: s(np.ones((40, 1, 1), "u1"), waves=40))
busy.start()
time.sleep(0.2)
says("second-thread", ValueError, "another thread is in a call of this graph: each thread takes a copy()", lambda: s(image))
busy.join()
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
many = np.ones((3000, 1, 1), "u1")
many[2999] = 13                                 # the last wave fails: a call that is not stopped before ends otherwise
try:
    s(many, waves=3000)
    case("ctrl-c", False, "it was not seen")
except KeyboardInterrupt:
    case("ctrl-c", True)
except Exception as error:
    case("ctrl-c", False, error)
case("after-ctrl-c", s(image).tobytes() == image.tobytes())
with f.copy("--workers=1") as one:
    one(image, t=1)
    stats = one.stats
    case("stats", {k["name"] for k in stats["kernels"]} == {"blur", "crop"} and "<td>blur</td>" in stats._repr_html_(), str(stats))
    case("stats-twice", hasattr(one, "stats") and one.stats == stats)
    one(image, t=1)
    case("stats-anew", hasattr(one, "stats") and [k["jobs"] for k in one.stats["kernels"]] == [k["jobs"] for k in stats["kernels"]], str(one.stats))
says("no-call", ValueError, "there was no call yet", lambda: f.copy().stats)
case("no-call-hasattr", not hasattr(f.copy(), "stats") and getattr(f.copy(), "stats", 5) == 5)


def in_child(wave):
    return device(image, t=2.5)[0].tobytes()


# Forked children take over a graph that has been called: each opens threads and devices of its own.
for options in ("--workers=2 --policy=eager", "--device=emu --emu-all --policy=all-gpu"):
    device = f.copy(options)
    device(image, t=2.5)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        case("multiprocessing " + options, pool.map_async(in_child, range(6)).get(60) == [e.tobytes()] * 6)
    case("after-multiprocessing " + options, np.array_equal(device(image, t=2.5)[0], e))
case("closed-opens", np.array_equal(one(image, t=2.5)[0], e))
