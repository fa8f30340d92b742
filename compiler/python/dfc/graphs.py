"""Graphs of a library that `dfc --lib` made, as functions on arrays.

load(path) gives an object with one Graph for each graph of the library. A Graph is called with its inputs and gives its outputs:

    edges = load("libedges.so", ["edges"]).edges
    out = edges(image, t=0.5)               # one output: an array; several: a tuple of arrays

Inputs:   anything with the buffer protocol, or with DLPack on a CPU. An array in another order than C's is copied, and nothing else is.
          Elements of another type are refused, never converted; so are masked arrays, whose mask no kernel would see.
Outputs:  new arrays, or those given as out=. Extents follow from the inputs'. A dimension that is found in none is a keyword: h=480.
Waves:    edges(stack, waves=10) takes ten tokens behind one another, with one more extent in front of every array. What is made
          once, after the last wave (the result of an acc), has none. waves=True: as many as the first input has.
Empty:    an output that a kernel skipped is None. With waves=, its array holds anything there, and edges.empty["out"] is an array of
          truth values, one for each wave; outputs without empty tokens are not in edges.empty.
Bounds:   an output with an extent that a kernel decides ('n <= 100') has the shape that it decided: a view of the array for the
          largest one. With waves= it is a list of arrays, one for each wave, and None for an empty one. out= takes arrays for
          the largest extents. An input with such an extent may have any size up to the bound; with waves= it is a list of
          arrays, one for each wave, or one array if all have the same size. Its tokens are copied then, unless they are of
          the largest size.
Threads:  a Graph may be called by one thread at a time. copy() gives another one, with a session of its own, as copy.copy() and
          copy.deepcopy() do. Calls release the GIL. A session is of one process, so a Graph cannot be pickled.
Ctrl-C:   ends a call as soon as the jobs that run have ended.
Errors:   TypeError and ValueError for a wrong call, GraphError for one that failed. The next call begins anew.
"""

import ctypes as _ctypes
import json as _json
import os as _os
import sys as _sys
import threading as _threading
import time as _time

import inspect as _inspect
import numpy as _numpy

_DTYPES = {"u": "uint", "i": "int", "f": "float"}      # by the letter of an element type; its number is that of NumPy's
_SCALARS = {"i32": _ctypes.c_int32, "i64": _ctypes.c_int64, "f32": _ctypes.c_float, "f64": _ctypes.c_double, "str": _ctypes.c_char_p}
_RANGES = {"i32": 31, "i64": 63}
_INF = float("inf")
_E_ARGUMENT = -2
_SHORT_S = 0.05                         # calls that take no longer are made by the calling thread: Ctrl-C waits for them
_TURN_S = 0.05                          # how often a long call is looked at


class GraphError(Exception):
    """A call that failed, with the sentence that libdf gave."""


class _NoStats(ValueError, AttributeError):
    """There are no stats yet: an AttributeError, too, so that hasattr() says no."""


def _dtype(element):
    return _numpy.dtype(_DTYPES[element[0]] + element[1:])


def _format(port, bounds=None):
    """The format of a port. Each of the bounds is printed and taken out where its dimension stands alone first."""
    bounds = {} if bounds is None else bounds
    dims = ", ".join(f"{extent} <= {bounds.pop(extent)}" if extent in bounds else str(extent) for extent in port["dims"])
    return f"{port['type']}[{dims}]" if dims else port["type"]


_LISTS = list, tuple, range


def _items(value):
    """A list whose items are numbers, lists and arrays: of pictures and other libraries' arrays those of NumPy."""
    if isinstance(value, _LISTS):
        return [_items(one) for one in value] if any(not isinstance(one, (int, float)) for one in value) else value
    return _array(value) if isinstance(value, _numpy.ma.MaskedArray) or hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__") else value


def _array(value):
    """The value as an array of NumPy on the same memory."""
    if isinstance(value, _numpy.ma.MaskedArray):
        raise TypeError("it is a masked array, and the mask would be ignored: give a.filled(VALUE), or a.data")
    if isinstance(value, _numpy.ndarray):
        return value
    if isinstance(value, _LISTS):
        array = _numpy.array(_items(value))
        if array.dtype.kind not in "biuf":
            raise TypeError(f"it is a {type(value).__name__} that NumPy makes an array of {array.dtype} of")
        return array
    if hasattr(value, "__array_interface__"):   # pictures of Pillow
        if getattr(value, "mode", "") in ("P", "PA"):
            raise TypeError("it is a picture with a palette, whose samples are numbers of colours: give picture.convert('RGB')")
        return _numpy.asarray(value)
    if hasattr(value, "__dlpack__"):
        device = value.__dlpack_device__()[0]
        if device != 1:                 # kDLCPU
            raise TypeError(f"it lies on a device (DLPack's number {int(device)}), and not in the memory of the CPU")
        return _numpy.from_dlpack(value)
    return _numpy.frombuffer(value, "uint8") if isinstance(value, (bytes, bytearray)) else _numpy.asarray(memoryview(value))


class Stats(dict):
    """What the last calls did: the object that --stats=json prints. In a notebook it shows as a table."""

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{row['name']}</td><td>{row['on']}</td><td>{row['jobs']}</td><td>{1e6 * row['mean_s']:.1f}</td>"
                       f"<td>{100 * row['share']:.1f}</td></tr>" for row in self.get("kernels", []))
        return ("<table><tr><th>kernel</th><th>on</th><th>jobs</th><th>mean, us</th><th>share, %</th></tr>" + rows + "</table>")


class Graph:
    """A graph as a function. `options` has the words that a program of dfc takes: "--workers=2 --policy=gp"."""

    _keeps = None                       # what must live as long as this: the package's folder of the library and its source

    def __init__(self, library, signature, options="", source=None):
        self._library, self._signature, self._options, self._source = library, signature, options, source
        self._session, self._calling, self._seconds, self._sizes = None, _threading.Lock(), 0.0, {}
        self._functions, self._fitting, self._stats = {}, None, None
        self.empty = {}
        self.__name__ = signature["name"]
        self.__signature__ = self._parameters()
        self.__doc__ = f"{self.signature}\n\nA graph that dfc compiled; options: {options or 'none'}.{self._settings()}"

    @property
    def signature(self):
        """The graph's ports and scalars, as in its declaration."""
        bounds = dict(self._signature["bounds"])
        ports = ", ".join(f"{p['mode']} {p['name']}: {_format(p, bounds)}" for p in self._signature["ports"])
        scalars = ", ".join(f"{s['name']}: {s['type']}" for s in self._signature["scalars"])
        return f"{self.__name__}({ports}{'; ' if scalars else ''}{scalars})"

    def _parameters(self):
        """What a call takes, for help() and completion."""
        kinds, empty = _inspect.Parameter, _inspect.Parameter.empty
        inputs = [kinds(port["name"], kinds.POSITIONAL_OR_KEYWORD) for port in self._ports("in")]
        named = [(scalar["name"], empty) for scalar in self._signature["scalars"]] + [("out", None), ("waves", None), ("progress", False)]
        taken = {port.name for port in inputs}
        return _inspect.Signature(inputs + [kinds(name, kinds.KEYWORD_ONLY, default=default) for name, default in dict(named).items() if name not in taken])

    def _settings(self):
        """What its file declares as options, with their descriptions, for the docstring."""
        lines = [f"    --{s['name']}={s['type']}  {s['help']}{' ' if s['help'] else ''}"
                 + (f"(default {_json.dumps(s['default'], ensure_ascii=False)})" if "default" in s else "(must be given)") for s in self._signature.get("options", [])]
        return "\nIts options beside those that every program has:\n" + "\n".join(lines) if lines else ""

    def __repr__(self):
        return f"<dfc graph {self.signature}>"

    def copy(self, options=None):
        """Another Graph of the same library, with a session of its own; options=None: with the same options."""
        made = Graph(self._library, self._signature, self._options if options is None else options, self._source)
        made._keeps = self._keeps
        return made

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce_ex__(self, protocol):
        raise TypeError(f"{self.__name__}: a graph cannot be pickled, as its session is of this process: import or compile it in the other one")

    # ---- the session ----

    def _function(self, verb, result=_ctypes.c_int):
        function = self._functions.get(verb)
        if function is None:
            function = self._functions[verb] = getattr(self._library, f"{self.__name__}_{verb}")
            function.restype = result
        return function

    def _tell(self, code):
        """Raises what a call of this thread gave, if that is an error."""
        if code:
            text = self._function("error", _ctypes.c_char_p)().decode(errors="replace")
            raise ValueError(text) if code == _E_ARGUMENT else GraphError(text)

    def _open(self):
        if self._session is None:
            session = _ctypes.c_void_p()
            self._tell(self._function("open")(f"--stats {self._options}".encode(), _ctypes.byref(session)))
            self._session = session

    def close(self):
        """Ends the session and its threads. The next call opens another one."""
        with _once(self):
            session, self._session, self._stats = self._session, None, None
            if session is not None:
                self._function("close")(session)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        if getattr(self, "_session", None) is not None:
            self._function("close")(self._session)

    # ---- what a call brings ----

    def _ports(self, mode):
        return [port for port in self._signature["ports"] if port["mode"] == mode]

    def _take_arrays(self, inputs, keywords):
        """The input arrays by name."""
        ports, scalars = self._ports("in"), self._signature["scalars"]
        if len(inputs) > len(ports):
            names = f"; scalars are given by name, as in {scalars[0]['name']}=…" if scalars else ""
            raise TypeError(f"{self.__name__}: {len(inputs)} inputs are given, and it has {len(ports)}: {self.signature}{names}")
        values = {port["name"]: value for port, value in zip(ports, inputs)}
        for port in ports:
            name = port["name"]
            if name in keywords and name in values:
                raise TypeError(f"{self.__name__}: '{name}' is given twice")
            if name in keywords:
                values[name] = keywords.pop(name)
            if name not in values:
                raise TypeError(f"{self.__name__}: input '{name}' is missing: {self.signature}")
        return values

    def _as_array(self, name, value):
        try:
            return _array(value)
        except (TypeError, ValueError, BufferError, RuntimeError) as error:
            raise TypeError(f"{self.__name__}: '{name}' is not usable as an array: {error}") from None

    def _check(self, port, value, waves, writes):
        """The array of a port, of the right type and rank, in C's order."""
        waves = None if port.get("final") else waves
        name, dtype, rank = port["name"], _dtype(port["type"]), len(port["dims"]) + (waves is not None)
        array = self._as_array(name, value)
        if isinstance(value, _LISTS) and array.dtype != dtype and not writes:    # it has no type of its own
            with _numpy.errstate(all="ignore"):
                typed = array.astype(dtype)
            if not _numpy.array_equal(typed, array, equal_nan=array.dtype.kind == "f") and (dtype.kind != "f" or array.dtype.kind != "f"):
                raise TypeError(f"{self.__name__}: '{name}' is {_format(port)}, and {dtype} does not have all numbers of the {type(value).__name__}")
            array = typed
        if array.dtype != dtype:
            raise TypeError(f"{self.__name__}: '{name}' is {_format(port)}, and the array has elements of type {array.dtype}, not "
                            f"{dtype}: convert it yourself, as in a.astype('{dtype}')")
        if waves is not None and array.ndim == rank - 1 and not writes:     # the same token in each wave
            array = _numpy.broadcast_to(array, (waves, *array.shape))
        if array.ndim != rank:
            waves_words = f" for each of {waves} waves" if waves is not None else ""
            raise ValueError(f"{self.__name__}: '{name}' is {_format(port)}{waves_words}, so {rank} extents are expected, and the array's "
                             f"shape is {array.shape}")
        if waves is not None and array.shape[0] != waves:
            raise ValueError(f"{self.__name__}: '{name}' has tokens for {array.shape[0]} waves, and the call is of {waves}")
        if writes and not (array.flags.c_contiguous and array.flags.writeable):
            raise ValueError(f"{self.__name__}: '{name}' is written, so its array must be contiguous and writable")
        return array if array.flags.c_contiguous else _numpy.ascontiguousarray(array)

    def _check_tokens(self, port, value, waves):
        """The arrays of an in port whose extents differ from wave to wave, one for each wave."""
        if waves is None:
            return [self._check(port, value, None, False)]
        if not isinstance(value, (list, tuple)):
            return list(self._check(port, value, waves, False))
        if len(value) != waves:
            raise ValueError(f"{self.__name__}: '{port['name']}' has tokens for {len(value)} waves, and the call is of {waves}")
        return [self._check(port, one, None, False) for one in value]

    def _take_given(self, tokens):
        """The extents with a bound that the inputs have, by name: a list with one for each wave."""
        given, where, bounds = {}, {}, self._signature["bounds"]
        for name, arrays in tokens.items():
            port = next(port for port in self._signature["ports"] if port["name"] == name)
            for place, extent in enumerate(port["dims"]):
                if extent not in bounds:
                    continue
                sizes = [array.shape[place] for array in arrays]
                where.setdefault(extent, name)
                for wave, (first, size) in enumerate(zip(given.setdefault(extent, sizes), sizes)):
                    when = f" in wave {wave}" if len(sizes) > 1 else ""
                    if first != size:
                        raise ValueError(f"{self.__name__}: {extent} is {first} in '{where[extent]}' and {size} in '{name}'{when}")
                    if not 1 <= size <= bounds[extent]:
                        raise ValueError(f"{self.__name__}: {extent} is {size} in '{name}'{when}, and it may be from 1 to "
                                         f"{bounds[extent]}")
        return given

    @staticmethod
    def _rooms(tokens, shape):
        """The tokens of several waves, each at the beginning of a room of that shape."""
        rooms = _numpy.empty((len(tokens), *shape), tokens[0].dtype)
        for room, token in zip(rooms, tokens):
            room.reshape(-1)[:token.size] = token.reshape(-1)
        return rooms

    def _take_dims(self, arrays, tokens, waves, keywords):
        """The dimension variables without a bound by name: those that stand alone in a port, or are given as keywords."""
        dims, where = {}, {}
        for port in self._signature["ports"]:
            many = waves is not None and not port.get("final")
            shapes = [array.shape for array in tokens.get(port["name"], ())]
            if port["name"] in arrays:
                shapes = [arrays[port["name"]].shape[many:]]
            for extent, size in (pair for shape in shapes for pair in zip(port["dims"], shape)):
                if extent not in self._signature["dims"]:
                    continue
                if dims.setdefault(extent, size) != size:
                    raise ValueError(f"{self.__name__}: {extent} is {dims[extent]} in '{where[extent]}' and {size} in '{port['name']}'")
                where.setdefault(extent, port["name"])
        for name in self._signature["dims"]:
            given = keywords.pop(name, None)
            if given is not None and dims.setdefault(name, given) != given:
                raise ValueError(f"{self.__name__}: {name} is {dims[name]} in '{where[name]}' and is given as {given}")
            if name not in dims:
                raise TypeError(f"{self.__name__}: no input says what {name} is: give it, as in {name}=100")
            if not isinstance(dims[name], (int, _numpy.integer)) or not 0 <= dims[name] < 1 << 63:
                raise TypeError(f"{self.__name__}: {name}={dims[name]!r} is no size")
        return dims

    def _take_scalars(self, keywords):
        values = []
        for scalar in self._signature["scalars"]:
            name, kind = scalar["name"], scalar["type"]
            if name not in keywords:
                raise TypeError(f"{self.__name__}: scalar '{name}' is missing: give {name}=…")
            value = keywords.pop(name)
            values.append(self._scalar(name, kind, value))
        return values

    def _scalar(self, name, kind, value):
        wants = {"str": str, "f32": (int, float, _numpy.floating, _numpy.integer), "f64": (int, float, _numpy.floating, _numpy.integer)}
        if not isinstance(value, wants.get(kind, (int, _numpy.integer))) or isinstance(value, bool):
            raise TypeError(f"{self.__name__}: scalar '{name}' is {kind}, and {value!r} is a {type(value).__name__}")
        bits = _RANGES.get(kind)
        if bits and not -1 << bits <= value < 1 << bits:
            raise ValueError(f"{self.__name__}: scalar '{name}': {value} does not fit in {kind}")
        if kind == "str" and "\0" in value:
            raise ValueError(f"{self.__name__}: scalar '{name}': a text has no zero bytes")
        try:
            made = _SCALARS[kind](value.encode() if kind == "str" else value)
            beyond = kind == "f32" and abs(made.value) == _INF and abs(float(value)) != _INF
        except OverflowError:           # an integer beyond all floats
            beyond = True
        if beyond:
            raise ValueError(f"{self.__name__}: scalar '{name}': the number does not fit in {kind}")
        return made

    # ---- extents ----

    def _shapes(self, dims):
        """The extents of every port for these dimensions, as the library finds them."""
        key = tuple(dims[name] for name in self._signature["dims"])
        if key not in self._sizes:
            shapes = []
            for number, port in enumerate(self._signature["ports"]):
                extents = (_ctypes.c_size_t * 4)()
                self._tell(self._function("shape")(self._session, *map(_ctypes.c_size_t, key), _ctypes.c_uint(number), extents))
                shapes.append(tuple(extents[:len(port["dims"])]))
            if len(self._sizes) >= 64:
                self._sizes.clear()
            self._sizes[key] = shapes
        return self._sizes[key]

    def _take_rooms(self, given, tokens, dims, waves):
        """All arrays by name. Those that are not given are made."""
        arrays, before = dict(given), () if waves is None else (waves,)
        for port, shape in zip(self._signature["ports"], self._shapes(dims)):
            name, shape = port["name"], shape if port.get("final") else before + shape
            if name in tokens:
                arrays[name] = tokens[name][0] if waves is None else self._rooms(tokens[name], shape[1:])
            elif name not in arrays:
                arrays[name] = _numpy.empty(shape, _dtype(port["type"]))
            elif arrays[name].shape != shape:
                raise ValueError(f"{self.__name__}: '{name}' is {_format(port)}, here {shape}, and the array's shape is {arrays[name].shape}")
        return arrays

    # ---- a call ----

    def _take_waves(self, waves, inputs, keywords):
        """The number of waves. True: that of the first input's tokens."""
        if isinstance(waves, (bool, _numpy.bool_)) and waves:
            values, ports = self._take_arrays(inputs, dict(keywords)), self._ports("in")
            if not ports:
                raise ValueError(f"{self.__name__}: waves=True: there is no input that says how many: give a number")
            first = values[ports[0]["name"]]
            if isinstance(first, (list, tuple)) and ports[0].get("varies"):
                waves = len(first)
            else:
                shape, rank = self._as_array(ports[0]["name"], first).shape, len(ports[0]["dims"]) + 1
                if len(shape) != rank:
                    raise ValueError(f"{self.__name__}: '{ports[0]['name']}' is {_format(ports[0])} for each wave, so {rank} extents are expected, and "
                                     f"the array's shape is {shape}")
                waves = shape[0]
        if not isinstance(waves, (int, _numpy.integer)) or not 1 <= waves < 1 << 63:
            raise ValueError(f"{self.__name__}: waves={waves!r}: a number from 1 on is expected")
        return int(waves)

    def __call__(self, *inputs, out=None, waves=None, progress=False, **keywords):
        """Runs one wave, or `waves` of them (True: as many as the first input has). An input with one token has it in each wave. progress=True: a line on stderr while it runs."""
        if waves is not None:
            waves = self._take_waves(waves, inputs, keywords)
        fitting = self._fitting
        if fitting and waves is None and not progress and len(keywords) == len(self._signature["scalars"]):
            arrays = self._like_before(fitting, inputs, out)
            if arrays:
                return self._again(fitting, arrays, self._take_scalars(keywords))
        values = self._take_arrays(inputs, keywords)
        outputs = self._take_out(out)
        scalars = self._take_scalars(keywords)
        values.update(outputs)
        tokens = {port["name"]: self._check_tokens(port, values.pop(port["name"]), waves)
                  for port in self._ports("in") if port.get("varies")}
        arrays = {port["name"]: self._check(port, values[port["name"]], waves, port["mode"] == "out")
                  for port in self._signature["ports"] if port["name"] in values}
        dims, given = self._take_dims(arrays, tokens, waves, keywords), self._take_given(tokens)
        if keywords:
            raise TypeError(f"{self.__name__}: it has no '{next(iter(keywords))}': {self.signature}")
        with _once(self):
            self._open()
            arrays = self._take_rooms(arrays, tokens, dims, waves)
            arguments = self._arguments(arrays, {**dims, **given}, scalars, waves)
            self._run(arguments, waves, progress)
            self.empty = self._take_empty(waves)
            decided = self._take_extents(arrays, waves)
            varies = any(port.get("varies") for port in self._signature["ports"])
            self._fitting = None if waves is not None or varies else self._fit(arguments, arrays)
        self._last = dims
        return self._results({**arrays, **decided}, waves is None)

    def _results(self, arrays, may_be_none):
        results = tuple(None if may_be_none and port["name"] in self.empty else arrays[port["name"]] for port in self._ports("out"))
        return results[0] if len(results) == 1 else results

    # ---- a call with arrays of the types and shapes of the last one: there is nothing more to look at ----
    # What fits is handed on: a thread that calls meanwhile, and is refused, must not change it between the look and the call.

    def _fit(self, arguments, arrays):
        """The arguments, and for each port the place of its array there, its name, whether it is written, and the array's type and shape."""
        places = [place for place, argument in enumerate(arguments) if isinstance(argument, _ctypes.c_void_p)][1:]  # the first one is the session
        return arguments, [(place, port["name"], port["mode"] == "out", arrays[port["name"]].dtype, arrays[port["name"]].shape)
                           for place, port in zip(places, self._signature["ports"])]

    @staticmethod
    def _like_before(fitting, inputs, out):
        """The arrays in the order of the ports; None: something is given in another way, or not like before."""
        outs = () if out is None else out if isinstance(out, (tuple, list)) else (out,)
        ports = fitting[1]
        written = sum(is_out for _, _, is_out, _, _ in ports)
        if len(inputs) + written != len(ports) or out is not None and len(outs) != written:
            return None
        arrays, inputs, outs = [], iter(inputs), iter(outs)
        for _, _, is_out, dtype, shape in ports:
            array = _numpy.empty(shape, dtype) if is_out and out is None else next(outs if is_out else inputs)
            if type(array) is not _numpy.ndarray or array.dtype != dtype or array.shape != shape:
                return None
            flags = array.flags
            if not flags.c_contiguous or is_out and not flags.writeable:
                return None
            arrays.append(array)
        return arrays

    def _again(self, fitting, arrays, scalars):
        with _once(self):
            self._open()
            arguments, ports = [*fitting[0]], fitting[1]
            arguments[0] = self._session
            for array, (place, *_) in zip(arrays, ports):
                arguments[place] = _ctypes.c_void_p(array.ctypes.data)
            if scalars:
                arguments[-len(scalars):] = scalars
            self._run(arguments, None, False)
            self.empty = self._take_empty(None)
        return self._results({name: array for array, (_, name, *_) in zip(arrays, ports)}, True)

    def _take_empty(self, waves):
        """The outputs of which some token is empty: by name, True, or for several waves an array of truth values."""
        empty = {}
        for number, port in enumerate(self._signature["ports"]):
            if port["mode"] == "out":
                mask = self._function("empty", _ctypes.c_void_p)(self._session, _ctypes.c_uint(number))
                if mask:
                    bytes_ = _ctypes.string_at(mask, waves or 1)
                    empty[port["name"]] = True if waves is None else _numpy.frombuffer(bytes_, "uint8") != 0
        return empty

    def _take_extents(self, arrays, waves):
        """The outputs whose extents differ from wave to wave, by name, with the shapes that they have."""
        decided = {}
        for number, port in enumerate(self._signature["ports"]):
            if port["mode"] == "in" or not port.get("varies"):
                continue
            function = self._function("extents", _ctypes.POINTER(_ctypes.c_size_t))
            extents, rank = function(self._session, _ctypes.c_uint(number)), len(port["dims"])
            one = waves is None or port.get("final")
            rooms = arrays[port["name"]][_numpy.newaxis] if one else arrays[port["name"]]
            tokens = [self._token(room, tuple(extents[4 * wave:4 * wave + rank])) for wave, room in enumerate(rooms)]
            decided[port["name"]] = tokens[0] if one else tokens
        return decided

    @staticmethod
    def _token(room, shape):
        """The token at the beginning of its room; None: it is empty."""
        return room.reshape(-1)[:_numpy.prod(shape, dtype="int64")].reshape(shape) if all(shape) else None

    def _take_out(self, out):
        ports = self._ports("out")
        if out is None:
            return {}
        if isinstance(out, dict):
            unknown = [name for name in out if name not in [port["name"] for port in ports]]
            if unknown:
                raise TypeError(f"{self.__name__}: it has no output '{unknown[0]}': {self.signature}")
            return dict(out)
        out = out if isinstance(out, (tuple, list)) else (out,)
        if len(out) != len(ports):
            raise TypeError(f"{self.__name__}: out has {len(out)} arrays, and there are {len(ports)} outputs")
        return {port["name"]: array for port, array in zip(ports, out)}

    def _arguments(self, arrays, dims, scalars, waves):
        arguments, said = [self._session], set()
        if waves is not None:
            arguments.append(_ctypes.c_int64(waves))
        for port in self._signature["ports"]:
            arguments.append(_ctypes.c_void_p(arrays[port["name"]].ctypes.data))
            for extent in port["dims"]:
                if extent in dims and extent not in said:
                    size = dims[extent]  # of one with a bound: for each wave
                    many = isinstance(size, list) and waves is not None
                    arguments.append((_ctypes.c_size_t * waves)(*size) if many else
                                     _ctypes.c_size_t(size[0] if isinstance(size, list) else size))
                    said.add(extent)
        return arguments + scalars

    def _run(self, arguments, waves, progress):
        function = self._function("run" if waves is None else "run_waves")
        self._stats = None
        begin = _time.monotonic()
        if 0 < self._seconds <= _SHORT_S and not progress:
            self._tell(function(*arguments))
        else:
            self._run_beside(function, arguments, waves or 1, progress)
        self._seconds = max(_time.monotonic() - begin, 1e-9)

    def _run_beside(self, function, arguments, waves, progress):
        """Calls in a thread of its own, so that Ctrl-C is seen here."""
        failed, ended = [], _threading.Event()

        def call():                     # the library keeps the sentence for the thread that called
            try:
                self._tell(function(*arguments))
            except (ValueError, GraphError) as error:
                failed.append(error)
            finally:
                ended.set()
        line = _Progress(self.__name__, waves) if progress else None
        _threading.Thread(target=call, daemon=True).start()
        try:
            while not ended.wait(_TURN_S):
                if line:
                    line.show(self._function("progress", _ctypes.c_int64)(self._session))
        except BaseException:           # Ctrl-C, say. The arrays are in use until the call has ended
            while not ended.is_set():
                self._function("stop", None)(self._session)
                ended.wait(_TURN_S)
            if line:
                line.end("it was stopped")
            raise
        if line:
            line.end("it failed" if failed else f"{waves} waves")
        if failed:
            raise failed[0]

    # ---- looking ----

    @property
    def stats(self):
        """What ran where, in the calls with the last sizes since this was asked last (Stats); the same again if there was no call since.
        The next call is slower."""
        with _once(self):
            if self._session is None:
                raise _NoStats(f"{self.__name__}: there was no call yet")
            if self._stats is None:
                text = self._function("stats", _ctypes.c_char_p)(self._session)
                if text is None:
                    raise _NoStats(self._function("error", _ctypes.c_char_p)().decode(errors="replace"))
                self._seconds = 0.0
                self._stats = Stats(_json.loads(text))
            return self._stats


class _once:
    """Refuses a second thread in a Graph, in words."""

    def __init__(self, graph):
        self.graph = graph

    def __enter__(self):
        if not self.graph._calling.acquire(blocking=False):
            raise ValueError(f"{self.graph.__name__}: another thread is in a call of this graph: each thread takes a copy()")

    def __exit__(self, *error):
        self.graph._calling.release()


class _Progress:
    """A line on stderr, which a terminal shows over the one before; elsewhere it comes once in ten seconds."""

    def __init__(self, name, waves):
        self.name, self.waves, self.begin = name, waves, _time.monotonic()
        self.terminal = _sys.stderr.isatty()
        self.next = self.begin + (0 if self.terminal else 10)

    def show(self, done):
        now = _time.monotonic()
        if done > 0 and now >= self.next:
            self.next = now + (0.1 if self.terminal else 10)
            rate = done / (now - self.begin)
            self.write(f"{self.name}: {done} of {self.waves} waves, {rate:.3g}/s, {(self.waves - done) / rate:.0f} s left", False)

    def end(self, how):
        self.write(f"{self.name}: {how}, {_time.monotonic() - self.begin:.3g} s", True)

    def write(self, text, last):
        if self.terminal:
            print(f"\r{text}\x1b[K", end="\n" if last else "", file=_sys.stderr, flush=True)
        else:
            print(text, file=_sys.stderr, flush=True)


class Library:
    """The graphs of a library, each as an attribute."""

    def __init__(self, graphs):
        self._graphs = graphs
        self.__dict__.update(graphs)

    def __iter__(self):
        return iter(self._graphs.values())

    def __repr__(self):
        return "\n".join(map(repr, self))


def load(path, names, options="", source=None):
    """The graphs `names` of the library at `path`."""
    library = _ctypes.CDLL(_os.path.abspath(path))
    graphs = {}
    for name in names:
        signature = getattr(library, f"{name}_signature")
        signature.restype = _ctypes.c_char_p
        graphs[name] = Graph(library, _json.loads(signature()), options, source)
    return Library(graphs)
