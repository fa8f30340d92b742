# Results whose extents differ from wave to wave, of a library called from C and from Python: the actual extents, derived ones, those of
# a final node, empty tokens; on the host and on the emulated GPU. And inputs whose extents the caller says with each call (crop). Programs
# lie in programs/bounded.
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
formulas_for none
one=--nvcc-flags=-arch=compute_80    # one architecture: quicker; tests/e2e/t_sum.sh has them all
cp "$DF_SOURCE"/tests/e2e/programs/bounded/{marks,crop}* .
check library "$DFC" marks.df $one --lib --python -o libmarks.so
# shellcheck disable=SC2046,SC2086
check compiles cc -std=c11 -Wall -Wextra -Werror $sanitize marks.c -o call -Wl,-rpath,"$PWD" $(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs marks)
python3 marks_want.py >want
grep -q ' -$' want && pass want-has-empty || fail want-has-empty "$(cat want)"
for o in --workers=1 '--workers=3 --policy=eager' '--workers=2 --policy=dmda --inflight=2' '--device=emu --emu-all --policy=all-gpu' \
         '--device=emu --emu-all --policy=dmda --workers=2' '--device=emu --emu-all --policy=random'; do
    ./call "$o" >got 2>&1; same "c $o" got want
done
expect header 0 'port 2, out  rows: i32\[m <= 8, 2\]' cat marks.h
expect plans 0 'marks.df: [0-9]+ nodes' "$DFC" partition marks.df --graph=marks:k=10
expect plans-decided 1 "error: --graph: graph 'marks' has no dimension 'n'" "$DFC" partition marks.df --graph=marks:k=10,n=3

check inputs-library "$DFC" crop.df --nvcc=none --lib --python -o libcrop.so
# shellcheck disable=SC2046,SC2086
check inputs-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize crop.c -o crop -Wl,-rpath,"$PWD" $(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs crop)
cat >crop-want <<'W'
3 x 5
48 x 64
1 x 1
5 x 64
48 x 64
1 x 3
3395 seen
crop: w is 65, and it may be from 1 to 64
crop: h is 0, and it may be from 1 to 48
crop: h is 49 in wave 1, and it may be from 1 to 48
crop: the extents w of the waves are NULL
crop: 'p' and 'q' have bytes in common
7 x 9
W
for o in --workers=1 '--workers=3 --policy=eager' '--serial' '--device=emu --emu-all --policy=all-gpu' '--device=emu --workers=2 --policy=dmda'; do
    ./crop "$o" >got 2>&1; same "inputs $o" got crop-want
done
expect inputs-header 0 'const size_t \*/\* h \*/, const size_t \*/\* w \*/' cat crop.h
expect inputs-plan 0 'crop.df: [0-9]+ nodes' "$DFC" partition crop.df --graph=crop

python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
if [ -n "$sanitize" ]; then skip python "Python is not linked with the sanitizer"; exit 0; fi
cat >calls.py <<'P'
import marks, numpy as np
v = np.array([[i * 7 % (w + 3) for i in range(10)] for w in range(4)], "i4")
at, rows, gap, kinds = marks.marks(v[1], t=2)
assert at.tolist() == [i for i in range(10) if v[1][i] > 2] and rows.shape == (len(at) % 3 + 1, 2) and (rows[:, 1] == len(at)).all(), (at, rows)
assert gap.tolist() == np.diff(at).tolist() and kinds.tolist() == [1, *sorted(set(gap.tolist()))], (gap, kinds)
none = marks.marks(v[0], t=9)
assert none[0] is None and none[2] is None and none[3].tolist() == [1] and marks.marks.empty == {"at": True, "gap": True}, none
assert none[1].shape == (1, 2), none
many = marks.marks(v, t=3, waves=4)
for w in range(4):
    want = [i for i in range(10) if v[w][i] > 3]
    assert (many[0][w] is None) == (not want) and (not want or many[0][w].tolist() == want), (w, many)
    assert (many[2][w] is None) == (len(want) < 2) and (len(want) < 2 or many[2][w].tolist() == np.diff(want).tolist()), (w, many)
assert marks.marks.empty["at"].tolist() == [not (v[w] > 3).any() for w in range(4)], marks.marks.empty
mine = np.zeros(100, "i4")
got = marks.marks(v[1], t=2, out={"at": mine})[0]
assert got.base is mine or np.shares_memory(got, mine), "the result is a view of the caller's array"
try:
    marks.marks(v[1], t=2, out={"at": np.zeros(3, "i4")})
    raise SystemExit("a small array was taken")
except ValueError as error:
    assert "'at' is i32[n], here (100,), and the array's shape is (3,)" in str(error), error
P
check python "$python" calls.py
cat >inputs.py <<'P'
import crop, numpy as np
g = crop.crop
assert g.signature.startswith("crop(in p: u8[h <= 48, w <= 64], in weight: f32[h], out rows: f64[h], "), g.signature
rng = np.random.default_rng(1)
sizes = [(3, 5), (48, 64), (1, 1), (20, 64)]
pictures = [rng.integers(0, 255, size, dtype="u1") for size in sizes]
weights = [rng.integers(0, 9, size[0]).astype("f4") for size in sizes]
for options in "--workers=1", "--workers=2 --policy=dmda --device=emu":
    one = g.copy(options)
    for p, weight in zip(pictures, weights):
        rows, grown, q, seen = one(p[::-1], weight)             # in no order of C
        assert rows.tolist() == (weight[:, None] * p[::-1]).sum(1).tolist() and (q == p[::-1].T).all() and seen == p.size
        assert grown.tolist() == list(p.shape) * len(p), grown
    rows, grown, q, seen = one(pictures, weights, waves=4)
    for i, p in enumerate(pictures):
        assert q[i].shape == p.T.shape and (q[i] == p.T).all() and rows[i].tolist() == (weights[i][:, None] * p).sum(1).tolist(), i
    assert seen == sum(p.size for p in pictures)
    for h, w in (9, 10), (48, 64):
        stack = rng.integers(0, 255, (3, h, w), dtype="u1")
        q = one(stack, np.ones((3, h), "f4"), waves=3)[2]
        assert all((q[i] == stack[i].T).all() for i in range(3))


def refused(kind, words, *inputs, **keywords):
    try:
        g(*inputs, **keywords)
    except kind as error:
        assert words in str(error), error
        return
    raise SystemExit(f"a wrong call was taken: {words}")


ones = np.ones
refused(ValueError, "crop: h is 49 in 'p', and it may be from 1 to 48", ones((49, 3), "u1"), ones(49, "f4"))
refused(ValueError, "crop: h is 0 in 'p', and it may be from 1 to 48", ones((0, 3), "u1"), ones(0, "f4"))
refused(ValueError, "crop: h is 3 in 'p' and 4 in 'weight'", ones((3, 3), "u1"), ones(4, "f4"))
refused(ValueError, "crop: w is 65 in 'p' in wave 1, and it may be from 1 to 64", [ones((4, 3), "u1"), ones((4, 65), "u1")], [ones(4, "f4")] * 2, waves=2)
refused(ValueError, "crop: 'p' has tokens for 1 waves, and the call is of 2", [ones((4, 3), "u1")], [ones(4, "f4")] * 2, waves=2)
refused(TypeError, "crop: 'weight' is f32[h], and the array has elements of type float64", ones((4, 3), "u1"), ones(4))
refused(TypeError, "crop: it has no 'h'", ones((4, 3), "u1"), ones(4, "f4"), h=4)
P
check python-inputs "$python" inputs.py
