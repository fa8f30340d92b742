# Functions behind `open` and `close`: how often each is called under every policy, on the CPU, on the emulated GPU, in sessions, while
# measuring, and after failures; a state is never used by two jobs at once; wrong functions do not compile; the example of docs/language.md.
formulas_for none
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
cp "$programs"/* .
check compile "$DFC" table.df -o table
awk 'BEGIN { for (w = 0; w < 50; w++) print w, 2 * w + 7 + 2 * 7 + 2 * 7 + 3 * 7 + 0.5 }' >want

# said NAME LEAST MOST: table ended all that it opened, and no two jobs had the same.
said() {
    local opened closed busy
    read -r opened closed busy < <(sed -n 's/^opened \([0-9]*\) closed \([0-9]*\) busy \([0-9]*\)$/\1 \2 \3/p' err)
    if [ "$opened" = "$closed" ] && [ "$busy" = 0 ] && [ "$opened" -ge "$2" ] && [ "$opened" -le "$3" ]; then pass "$1-closed"
    else fail "$1-closed" "opened $opened ($2 to $3), closed $closed, busy $busy: $(head -n 3 err)"; fi
}
run() { # NAME LEAST MOST OPTIONS…
    ./table --waves=50 "${@:4}" >got 2>err; same "$1" got want; said "$1" "$2" "$3"
}
run one 3 3 --workers=1                                     # two works of table, and show
for policy in eager ws random dmda dmdas heft gp all-cpu; do
    run "cpu-$policy" 3 9 --workers=3 --policy=$policy
    run "emu-$policy" 3 21 --workers=2 --policy=$policy --device=emu --gpu-jobs=4
done
run gpu-one 3 3 --device=emu --policy=all-gpu --gpu-jobs=1 --workers=1
run gpu-recorded 3 9 --device=emu --policy=all-gpu --workers=1 --cuda-graphs=on
run checked 5 5 --check=variants --device=emu               # both variants of table
run small 3 21 --device=emu --gpu-mem=4096 --workers=2 --inflight=8
run traced 3 6 --workers=2 --trace=t.json
./table --waves=50 --rehearse --device=emu >/dev/null 2>err; said rehearsed 0 0
"$DFC" profile table.df --device=emu --loaded --max-time=5ms --max-runs=3 >/dev/null 2>err; said measured 3 30

# A failure of the kernel or of its function; what was opened before is closed.
for o in '--workers=1' '--workers=3' '--device=emu --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./table --waves=50 --bad=20 $o >/dev/null 2>err; [ $? = 1 ] && grep -q "^table: error: node 'main/table.*', wave 20: a bad wave$" err &&
        pass "kernel-fails $o" || fail "kernel-fails $o" "$(cat err)"
    said "kernel-fails $o" 2 21
    # shellcheck disable=SC2086
    ./table --by=7 $o >/dev/null 2>err; [ $? = 1 ] && grep -q "^table: error: node 'main/table.*', wave 0: no table of 7$" err &&
        pass "open-fails $o" || fail "open-fails $o" "$(cat err)"
    said "open-fails $o" 0 9
done
expect open-code 1 "^table: error: node 'main/table.*', wave 0: its open function gave 5$" ./table --by=8

# In a session what is open stays open from call to call, and is opened anew for other scalars.
check library "$DFC" called.df --lib -o libcalled.so
# shellcheck disable=SC2086
check call-compiles cc -std=c11 -Wall -Wextra -Werror $sanitize call.c -L. -lcalled -Wl,-rpath,"$PWD" -o call
./call >got 2>err; printf '%s\n' '0 1 16' "-6 add: node 'main/add/table#1', wave 0: no table of 7" '0 1 16' '0 1 22' >want
same session got want; said session 3 6    # for 2, again after the failure, and for 3
./call --workers=1 >got 2>err; same session-one got want; said session-one 3 3

# Functions that are not as they were declared, or not there.
sed 's/size_t k, float f/size_t k, double f/' table.c >wrong.c; sed 's/table\.c/wrong.c/' table.df >wrong.df
expect type 1 '^wrong.c:[0-9]+:[0-9]+: error: conflicting types for .*table_open' "$DFC" wrong.df -o wrong
cat >over.cpp <<'X'
#include <cstdlib>
int over_open(struct df_call *, int, void **) { return 0; }
int over_cpu(struct df_call *, size_t, float *) { return 0; }
X
echo 'kernel over(out v: f32[k]) cpu "over.cpp" open over_open; graph main { v: f32[2] = over(); }' >over.df
expect overload 1 "^over.cpp:2:.*'over_open' differs from its declaration" "$DFC" over.df -o over
sed -i 's/over_open(struct df_call \*, int,/other_open(struct df_call *, int,/' over.cpp
expect nowhere 1 'over_open' "$DFC" over.df -o over

# The example of docs/language.md: its files, and what its program prints.
awk '/^### /{ on = $0 == "### What a kernel keeps open" } /^```/{ if (!code && on) n++; code = !code; next } on && code { print > ("example" n) }' \
    "$DF_SOURCE/docs/language.md"
cp example1 smooth.df; cp example2 smooth.c; check example "$DFC" smooth.df -o smooth
for o in --workers=1 --workers=3 '--device=emu --emu-all --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./smooth --waves=3 $o >got 2>&1; same "example $o" got example3
done

# Functions that no file has are told where they are named.
cat > none.df <<'X'
kernel k(out v: i32[n]) cpu {{ v[0] = 1; }} open makes close ends;
kernel p(in v: i32[n]) cpu {{ (void)v; }};
graph main { a: i32[3] = k(); p(a); }
X
expect open-nowhere 1 "^none.df:1:50: error: no file of the program defines 'makes'$" "$DFC" none.df -o none
expect open-nowhere-hint 1 "^hint: it is 'int makes\(struct df_call \*call, \.\.\., void \*\*state\)'" "$DFC" none.df -o none
expect close-nowhere 1 "^none.df:1:62: error: no file of the program defines 'ends'$" "$DFC" none.df -o none
for linker in bfd gold lld; do              # each says it in words of its own
    if ! command -v ld.$linker >/dev/null; then skip "open-nowhere-$linker" "no ld.$linker"; continue; fi
    expect "open-nowhere-$linker" 1 "^none.df:1:50: error: no file of the program defines 'makes'$" "$DFC" none.df -o none --cflags=-fuse-ld=$linker
done
[ ! -e none ] && pass open-nowhere-no-program || fail open-nowhere-no-program "none is there"
