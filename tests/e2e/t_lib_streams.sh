# One library that has all that a stream may have: an input of any size up to a bound, open/close state, a kernel that skips, a select, a decided
# extent, a node in parts, the results of accs and of a final node. Called from C and from Python, on the host and on the emulated GPU.
formulas_for none
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
cp "$DF_SOURCE"/tests/e2e/programs/bounded/whole* .
check library "$DFC" whole.df --nvcc=none --lib --python -o libwhole.so
# shellcheck disable=SC2046,SC2086
check compiles cc -std=c11 -Wall -Wextra -Werror $sanitize whole.c -o call -Wl,-rpath,"$PWD" $(PKG_CONFIG_PATH=$PWD pkg-config --cflags --libs whole)
python3 whole_want.py >want
grep -q '^half: -$' want && grep -q '^at: -$' want && pass want-has-empty || fail want-has-empty "$(cat want)"
for o in --workers=1 '--workers=3 --policy=eager' '--device=emu --emu-all --policy=all-gpu' '--device=emu --emu-all --workers=2 --policy=random'; do
    ./call "$o" >got 2>&1; same "c $o" got want
done
check picture "$DFC" partition whole.df --graph=whole:n=12,x=5 -o whole.svg
expect parts 0 "blur.part\[2\]" cat whole.svg
python=/usr/bin/python3
if ! has_modules numpy; then skip python "$python has no NumPy (python3-numpy)"; exit 0; fi
if [ -n "$sanitize" ]; then skip python "Python is not linked with the sanitizer"; exit 0; fi
for o in --workers=1 '--workers=2 --device=emu --emu-all --policy=dmda'; do
    "$python" whole_want.py "$o" >got 2>&1; same "python $o" got want
done
