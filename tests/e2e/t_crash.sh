# Kernels that crash, exit or fail under the commands that run programs; what is left out of an installation; BLAS without a GPU.
formulas_for none
export DFC_PROFILE=$PWD/profile.db
quick='--max-time=5ms --max-runs=3'
# app NAME CODE: a program whose middle kernel does CODE.
app() {
    echo "kernel make(out v: i32[k]) cpu {{ memset(v, 0, k * 4); }};
kernel middle(in a: i32[k], out b: i32[k]) cpu {{ memcpy(b, a, k * 4); $2 }};
kernel last(in v: i32[k]) cpu {{ (void)v; }};
graph main { v: i32[8] = make(); w = middle(v); last(w); }" > "$1.df"
}
app crash 'abort();'
app leave 'exit(0);'
app fails 'return df_fail(call, "no luck");'
app reason 'return DF_FAILED;'
app loose 'return 42;'
expect compare-crash 1 "^dfc: error: policy eager: the program was ended by signal 6 \(Aborted\)" "$DFC" compare crash.df --policy=eager --runs=1
expect compare-exit 1 "^leave: error: node 'main/middle', wave 0: the kernel called exit\(0\)" "$DFC" compare leave.df --policy=eager --runs=1
expect compare-fails 1 "^dfc: error: policy eager: the program failed with status 1" "$DFC" compare fails.df --policy=eager --runs=1
expect compare-fails-why 1 "^fails: error: node 'main/middle', wave 0: no luck" "$DFC" compare fails.df --policy=eager --runs=1
expect profile-crash 1 "^dfc: error: the program was ended by signal 6 \(Aborted\) while it ran middle k=8 cpu" "$DFC" profile crash.df $quick
expect profile-exit 1 "^leave: error: node 'main/middle', wave 0: the kernel called exit\(0\)" "$DFC" profile leave.df $quick
expect profile-fails 1 "^fails: error: node 'main/middle', wave 0: no luck" "$DFC" profile fails.df $quick
expect profile-fails-unexplained 1 "^reason: error: node 'main/middle', wave 0: " "$DFC" profile reason.df $quick
expect no-samples-of-failures 1 "^crash|^dfc: error: the program was ended" "$DFC" profile crash.df $quick
for a in reason loose; do "$DFC" $a.df -o $a || fail "$a-compiles" "exit $?"; done
expect reason-missing 1 "^reason: error: node 'main/middle', wave 0: returned 3 \(DF_FAILED\) and gave no reason" ./reason
expect code-unknown 1 "^loose: error: node 'main/middle', wave 0: returned 42, which is no DF_... code" ./loose
# What ends the process says whose kernel it was, on the CPU and on the emulated GPU, whichever loop
# the workers have; the status stays the signal's.
ulimit -c 0
app null '*(volatile int *)8 = 1;'
app divide '{ volatile int z = 0; b[0] = 7 / z; }'
app deep '{ volatile char big[64 << 20]; for (size_t i = sizeof big; i > 0; i -= 64) big[i - 64] = 1; }'
# crashes NAME PATTERN
crashes() {
    local run said got
    [ -e "$1" ] || "$DFC" "$1.df" -o "$1" || fail "$1-compiles" "exit $?"
    for run in "--device=none --policy=eager" "--device=none --policy=ws" "--device=emu --emu-all --policy=all-gpu"; do
        said=$("./$1" $run 2>&1); got=$?
        [ "$got" != 0 ] && grep -qE "^$1: error: node 'main/middle', wave 0: the kernel crashed: $2" <<<"$said" \
            && pass "crash-$1 $run" || fail "crash-$1 $run" "exit $got: $said"
    done
}
crashes crash 'abort\(\) was called'
crashes null 'segmentation fault at address 0x8'
if grep -q 'fsanitize=undefined' "$DF_BUILD/obj/flags" 2>/dev/null; then skip divide "the sanitizer ends the program itself"; else
    crashes divide 'integer division by zero'; fi
# Memory of tokens ends where the last of them ends: who writes on from there changes nothing that belongs to others.
app past 'for (size_t i = 0; i < (1 << 18); i++) ((volatile int32_t *)b)[k + i] = 5;'
sed -i 's/i32\[8\]/i32[1000]/' past.df
check past-compiles "$DFC" past.df -o past
for run in "--policy=eager --workers=1" "--policy=ws --workers=2"; do
    said=$(./past --device=none $run 2>&1) && fail "past $run" "exit 0"
    grep -q "^past: error: node 'main/middle', wave 0: the kernel crashed: segmentation fault" <<<"$said" && pass "past $run" || fail "past $run" "$said"
done
expect past-emulated 1 "^past: error: node 'main/middle', wave 0: it (wrote to|touched) .*emu0" ./past --device=emu --emu-all --policy=all-gpu
crashes deep "its stack overflowed \([0-9]+ KiB; 'ulimit -s' makes it larger\)"
# exit() by a kernel is no good end, whatever it is given; two waves that call it at a time are told once. A program's own name
# is the one it was started by.
cp leave renamed 2>/dev/null || { "$DFC" leave.df -o leave && cp leave renamed; } || fail leave-compiles "exit $?"
for run in "--policy=ws --device=none" "--device=emu --emu-all --policy=all-gpu" "--waves=8 --inflight=4 --workers=2 --policy=eager --device=none"; do
    expect "exit $run" 1 "^renamed: error: node 'main/middle', wave [0-9]+: the kernel called exit\(0\); a run is ended by df_fail" ./renamed $run
    [ "$(./renamed $run 2>&1 | wc -l)" = 1 ] && pass "exit-once $run" || fail "exit-once $run" "more lines than one"
done
cp "$programs/thread.c" .
app thread ''
sed -i '/^kernel middle/s/cpu .*/cpu "thread.c";/' thread.df
check thread-compiles "$DFC" thread.df -o thread
expect exit-of-a-thread 1 "^thread: error: a kernel's code called exit\(7\)" ./thread
# A kernel that ends its own thread is caught as exit() is, whichever loop calls it: no such run hangs, or ends with 0.
cp "$programs/ends.c" . && : > none.cu && cat > ends.df <<'X'
arg how: i32;
kernel make(out v: i32[k]) cpu {{ memset(v, 0, k * 4); }};
kernel middle(in a: i32[k], out b: i32[k]; how: i32) cpu "ends.c" gpu "none.cu";
kernel gang(in a: i32[k], out b: i32[k]; how: i32) threads(2) cpu "ends.c";
kernel last(in v: i32[k]) cpu {{ (void)v; }};
graph main { v: i32[8] = make(); w = middle(v, how); x = gang(w, how); last(x); }
X
check ends-compiles "$DFC" ends.df -o ends --nvcc=none
cancels() { # AddressSanitizer does not know that the frames of a cancelled thread are gone, and ends the program at what follows
    if grep -q 'fsanitize=address' "$DF_BUILD/obj/flags" 2>/dev/null; then skip "$1" "the sanitizer ends the program itself"; else expect "$@"; fi
}
ended='the kernel ended its thread, by pthread_exit\(\) or the like; a run is ended by df_fail\(call, "why"\), or by DF_END of a stream$'
for run in "--how=0 --workers=1" "--how=0 --serial" "--how=0 --workers=2 --policy=ws" "--how=0 --workers=2 --policy=eager" "--how=0 --workers=2 --policy=dmda" \
    "--how=1 --workers=1" "--how=1 --serial" "--how=0 --workers=1 --trace=ends.json" "--how=0 --watchdog=1min" "--how=0 --poison" "--how=0 --check=variants --device=emu"; do
    case $run in --how=1* | *dmda) long || continue ;; esac
    expect "ended $run" 1 "^ends: error: node 'main/middle', wave 3: $ended" timeout 150 ./ends --waves=8 $run
done
for run in "--workers=1" "--serial" "--workers=2 --policy=ws" "--workers=2 --policy=heft" "--device=emu --emu-all --policy=all-gpu"; do
    case $run in *heft | *1) long || continue ;; esac
    cancels "ended --how=2 $run" 1 "^ends: error: node 'main/middle', wave 3: $ended" timeout 150 ./ends --waves=8 --how=2 $run
done
for run in "--how=0" "--how=1" "--how=0 --emu-check=off"; do
    expect "ended-emu $run" 1 "^ends: error: node 'main/middle', wave 3: $ended" timeout 150 ./ends --device=emu --emu-all --policy=all-gpu --waves=8 $run
done
for run in "--workers=2 --policy=ws" "--workers=2 --policy=eager" "--workers=3 --policy=heft" "--workers=2 --policy=dmda --device=emu"; do
    case $run in *heft) long || continue ;; esac
    expect "ended-gang $run" 1 "^ends: error: node 'main/gang', wave 3: $ended" timeout 150 ./ends --waves=8 --how=10 $run
done
expect ended-quick 1 "^ends: error: node 'main/middle', wave 3: the kernel called quick_exit\(\); a run is ended by" ./ends --waves=8 --how=3
if grep -q 'fsanitize=thread' "$DF_BUILD/obj/flags" 2>/dev/null; then
    skip ended-unseen "the thread sanitizer's pthread_join() waits for a thread whose end it did not see"
else
    expect ended-unseen 1 "^ends: error: all workers' threads have ended before the last wave was done" timeout 150 ./ends --waves=8 --how=4 --serial
fi
cancels ended-main 1 "^ends: error: a kernel's code ended its thread, by pthread_exit\(\) or the like" timeout 150 ./ends --waves=8 --how=5
expect ended-good 0 "" ./ends --waves=8 --how=9
for run in "" --device=emu; do
    expect "profile-ended $run" 1 "^ends: error: node 'main/middle', wave 0: $ended" timeout 150 "$DFC" profile ends.df $quick --nvcc=none $run --db=ended.db -- --how=20
done
if [ "$(nproc)" -gt 1 ]; then
    expect "profile-ended beside" 1 "^ends: error: node 'main/middle', wave 0: $ended" timeout 150 "$DFC" profile ends.df $quick --nvcc=none --loaded --db=ended.db -- --how=21 --workers=2
else skip "profile-ended beside" "one core"; fi
expect compare-ended 1 "^ends: error: node 'main/middle', wave 3: $ended" timeout 150 "$DFC" compare ends.df --policy=eager --runs=1 --nvcc=none -- --how=0 --waves=8
# A crash in a library names the node as well, and then goes to the host's own handler, or ends the host as it would without the library.
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then skip guest 'a sanitizer has handlers of its own'; else
    cp "$programs"/guest.* .
    check guest-library "$DFC" guest.df --lib -o libguest.so --nvcc=none
    check guest-host cc -std=c11 -Wall -Wextra -Werror guest.c -o guest -I. -L. -lguest -Wl,-rpath,"$PWD"
    named="^guest: error: node 'main/guest/falls', wave 0: the kernel crashed:"
    guest() { # NAME STATUS PATTERN WHAT-THE-HOST-SAYS ARGUMENT…
        expect "guest-$1" "$2" "$3" ./guest "${@:5}"
        [ "$(./guest "${@:5}" 2>/dev/null)" = "$4" ] && pass "guest-$1-host" || fail "guest-$1-host" "$(./guest "${@:5}" 2>&1)"
    }
    for set in $(! long || echo --workers=1) '--workers=3 --policy=eager' '--device=emu --emu-all --policy=all-gpu'; do
        guest "none $set" 139 "$named segmentation fault at address 0x8$" '' none "$set" 1
        guest "abort $set" 134 "$named abort\\(\\) was called$" '' none "$set" 2
        guest "info $set" 7 "$named segmentation fault at address 0x8$" 'host: at 8' info "$set" 1
        guest "info-abort $set" 7 "$named abort\\(\\) was called$" 'host: another signal' info "$set" 2
        guest "plain $set" 8 "$named segmentation fault at address 0x8$" 'host: plain' plain "$set" 1
        guest "late $set" 7 '^host: at 8$' 'host: at 8' late "$set" 1
        guest "own $set" 7 '^host: at 8$' 'host: at 8' info "$set" 8
        ./guest info "$set" 8 2>&1 | grep -q node && fail "guest-own-unnamed $set" || pass "guest-own-unnamed $set"
        guest "sent $set" 0 '^as before$' "$(printf 'host: sent\nhost: sent\nas before')" info "$set" 9
    done
    guest jump 8 "$named segmentation fault at address 0x8$" "$(printf 'host: at 8\nhost: plain')" jump --workers=1 1
fi
# A kernel in C++ that throws fails its job, as df_fail() does: a kernel in its file, an existing function, code with the file, what opens, a piece.
cp "$programs"/throws.* .
check throws-compiles "$DFC" throws.df -o throws --nvcc=none
for run in --workers=1 "--workers=4 --policy=eager" "--workers=3 --policy=ws" "--device=emu --emu-all --policy=all-gpu"; do
    # With several workers, too, it is the earliest wave that is named, though later ones fail first.
    expect "throws $run" 1 "^throws: error: node 'main/middle', wave 3: the kernel threw an exception: seven 3$" timeout 150 ./throws --how=0 --waves=16 --inflight=4 $run
    expect "throws-pieces $run" 1 "^throws: error: node 'main/parted', wave 0: the kernel threw an exception: a piece$" timeout 150 ./throws --how=30 $run
done
for run in --workers=1 "--workers=4 --policy=eager"; do
    expect "throws-number $run" 1 "^throws: error: node 'main/middle', wave 3: the kernel threw long, which is no std::exception$" timeout 150 ./throws --how=1 --waves=16 $run
    expect "throws-own $run" 1 "^throws: error: node 'main/middle', wave 3: the kernel threw mine, which is no std::exception$" timeout 150 ./throws --how=2 --waves=16 $run
    expect "throws-target $run" 1 "^throws: error: node 'main/twice', wave 0: the kernel threw an exception: no room$" timeout 150 ./throws --how=10 $run
    expect "throws-opening $run" 1 "^throws: error: node 'main/opened', wave 0: the kernel threw an exception: it does not open$" timeout 150 ./throws --how=20 $run
done
cancels throws-not 1 "^throws: error: node 'main/middle', wave 3: $ended" timeout 150 ./throws --how=3 --waves=8 --workers=1
expect throws-good 0 "" ./throws --how=9 --waves=8
sed -i '/how == 3/,+1d; /pthread/d; /<std/d; /<string>/d; s/throw \([^;]*\);/(void)how;/' throws.cpp
check throws-disabled "$DFC" throws.df -o throws --nvcc=none --cflags=-fno-exceptions && expect throws-disabled-good 0 "" ./throws --how=9
# The earliest failure is named whichever job runs first: `check` fails from wave 20 on, and `slow` keeps wave 20 until a later one has failed.
# If none does, it gives up after half a second.
cat > order.c <<'X'
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static _Atomic int failed;
int slow_cpu(struct df_call *call, size_t k, const int32_t *v, int32_t *w)
{
    memcpy(w, v, k * 4);
    for (int i = 0; v[0] == 20 && i < 500 && !atomic_load(&failed); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    if (v[0] == 20 && atomic_load(&failed))
        puts("late");
    return DF_OK;
}
int check_cpu(struct df_call *call, size_t k, const int32_t *v, int32_t *w)
{
    memcpy(w, v, k * 4);
    if (v[0] < 20)
        return DF_OK;
    atomic_store(&failed, 1);
    return df_fail(call, "no luck");
}
X
cat > order.df <<'X'
kernel make(out v: i32[k]) stream cpu {{ static int n; if (n == 60) return DF_END; v[0] = n++; }};
kernel slow(in v: i32[k], out w: i32[k]) cpu "order.c";
kernel check(in v: i32[k], out w: i32[k]) cpu "order.c";
kernel last(in v: i32[k]) ordered cpu {{ (void)v; }};
graph main { v: i32[8] = make(); w = slow(v); x = check(w); last(x); }
X
check order-compiles "$DFC" order.df -o order --nvcc=none
for run in "--policy=eager" "--policy=ws" "--policy=dmda" "--policy=heft" "--policy=gp"; do
    expect "order $run" 1 "^order: error: node 'main/check', wave 20: no luck$" timeout 150 ./order --workers=4 --inflight=8 --device=none $run
    expect "order-late $run" 1 '^late$' timeout 150 ./order --workers=4 --inflight=8 --device=none $run
done
if [ "${DF_BUILD##*/}" = release ]; then
    ./crash --device=none 2>/dev/null; [ $? = 134 ] && pass crash-status || fail crash-status "exit $?"
else
    skip crash-status "a sanitizer ends the process its own way"
fi
# A stream that is empty has nothing to measure with.
printf 'kernel none(out v: i32) stream cpu {{ return DF_END; }};\nkernel last(in v: i32) cpu {{ }};\ngraph main { v = none(); last(v); }\n' > empty.df
expect profile-empty-stream 1 "stream 'main/none' ended before its first wave, so nothing flows that could be measured" "$DFC" profile empty.df $quick
# Code that does not compile, in the .df itself.
app syntax 'nonsense;'
expect inline-error 1 "^dfc: error: the C compiler failed on the code that dfc made of 'syntax.df' \(the inline code of its kernels\)" "$DFC" syntax.df -o syntax
# df_cublas() where there is none.
app blas 'if (!df_cublas(call)) return DF_FAILED;'
sed -i 's/ }};$/ }};/; /^kernel middle/s/;$/ gpu {{ }};/' blas.df
check blas-compiles "$DFC" blas.df -o blas --nvcc=none
expect blas-on-cpu 1 "^blas: error: node 'main/middle', wave 0: df_cublas\(\) is for gpu variants: this job runs on the CPU" ./blas --device=none
expect blas-emulated 1 "^blas: error: node 'main/middle', wave 0: emu0: an emulated GPU has no cuBLAS" ./blas --device=emu --policy=all-gpu
# An installation with parts missing.
mkdir -p home/include home/lib && cp "$DF_BUILD"/include/{df,df_cuda}.h home/include/
expect home-without-lib 1 "^dfc: error: \\\$DFC_HOME is '$PWD/home', and there is no 'lib/libdf.a' in it" env DFC_HOME="$PWD/home" "$DFC" fails.df -o fails
mkdir -p moved/bin && cp "$DFC" moved/bin/dfc
expect moved-alone 1 "^dfc: error: '.*/moved/include/df.h' is missing: install dfc again, or set DFC_HOME to the folder that holds include/df.h" \
    env -u DFC_HOME LD_LIBRARY_PATH="$DF_BUILD/lib" ./moved/bin/dfc fails.df -o fails
# Where temporary files have no place.
expect tmpdir 1 "^dfc: error: cannot make the folder '/nonexistent/dfc-......': No such file or directory" env TMPDIR=/nonexistent "$DFC" fails.df -o fails
expect tmpdir-compare 1 "^dfc: error: cannot make a folder for the program, '/nonexistent/dfc-......': No such file or directory" \
    env TMPDIR=/nonexistent "$DFC" compare fails.df
[ -z "$(find . -name '.dfc-*')" ] && pass nothing-left-behind || fail nothing-left-behind "$(find . -name '.dfc-*')"
# A graph too large for one picture is drawn in groups, and a partition that loses says so.
cat > many.df <<'X'
kernel src(out a: f32[k]) cost cpu 1us;
kernel f(in a: f32[k], out b: f32[k]) cost cpu 1us gpu 1us;
kernel sink(in a: f32[k]) cost cpu 1us;
graph main { a[0]: f32[9] = src(); for i in 0..6000 { a[i + 1] = f(a[i]); } sink(a[6000]); }
X
expect too-many-nodes-emit 0 "^dfc: note: 6002 nodes are too many for a picture: this is the summary by nested graph or level" "$DFC" many.df --emit=dot
expect too-many-nodes 0 "^dfc: note: 6002 nodes are too many to draw: 'many.dot' shows groups of them" "$DFC" partition many.df --dot=many.dot
