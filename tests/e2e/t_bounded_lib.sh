# Results whose extents differ from wave to wave, of a library called from C and from Python: the actual extents, derived ones, those of
# a final node, empty tokens; on the host and on the emulated GPU. Programs lie in programs/bounded.
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
cp "$DF_SOURCE"/tests/e2e/programs/bounded/marks* .
check library "$DFC" marks.df --lib --python -o libmarks.so
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

python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
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
