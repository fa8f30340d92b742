# A run with a journal whose k-th system call of input or output fails, with EIO or ENOSPC, or at which the process is killed, for each k; and the same while it is
# resumed. It says what went wrong, and --resume then makes the same bytes as a whole run and leaves nothing else behind. DF_FAULTS=all takes every k and every
# fault; else a few. tests/e2e/fail_io.c is what makes calls fail. The commands of dfc that write files are tried in the same way.
shm=$(mktemp -d -p /dev/shm 2>/dev/null) && trap 'in_the_end "$shm" "$folder"' EXIT && cd "$shm" # syncing waits for other processes on a disk
cp "$programs"/app.df .
formulas_for none
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # it cannot look for leaks in a program that is traced
cc -std=c11 -O1 -o fail_io "$DF_SOURCE/tests/e2e/fail_io.c" || fail compile-fail_io
./fail_io said / 0 kill /bin/true; [ $? != 125 ] || { skip io_faults 'programs cannot be traced here'; exit 0; }
sed '/sum(b)/d; /total/d; s/write_npy_i64(r/write_npy_u8(b/' app.df >plain.df # without the acc: its line `all` comes before its files get their names
for p in app plain; do check "compile-$p" "$DFC" $p.df --nvcc=none -o $p; done
head -c 80 "$DFC" >in.raw                       # 10 waves
mkdir want-app want-plain work half; for p in app plain; do (cd want-$p && ../$p --input=../in.raw) || fail want-$p; done
here=$PWD; cd work || exit 1
program=app run=(../app --input=../in.raw --us=3000 --workers=1 --checkpoint=1ms --journal=j)
complete() { # NAME WHAT…: as the whole run, beside the journal
    local got; got=$(diff -rq -x j -x err ../want-$program . 2>&1)
    [ -z "$got" ] && return
    fail "$1" "${*:2}: $(head -n 5 <<<"$got" | tr '\n' ' ')"; bad=1
}
declare -A runs=() failed=()
point() { # NAME K FAULT COMMAND…: one run with that fault, and the runs after it. false: there is no k-th call any more
    local name=$1 k=$2 fault=$3 got what; shift 3
    timeout 60 ../fail_io ../said "$here/" "$k" "$fault" "$@" >/dev/null 2>err; got=$?
    read -r _ what <../said
    [ "$what" != none ] || return 1
    runs[$name]=$((${runs[$name]:-0} + 1))
    case $fault:$got in
        *:0) grep -q "^$program: cannot remove 'j.accs', which is of no use any more: " err && rm -f j.accs
            complete "$name" "call $k, $what, gives $fault, and all went well" ;; # what failed was of no account
        kill:137 | [0-9]*:1) failed[$name]=$((${failed[$name]:-0} + 1)) ;;
        *) fail "$name" "call $k, $what, $fault: exit $got: $(tail -n 2 err)"; bad=1 ;;
    esac
    [ $got != 1 ] || grep -q "error: " err || { fail "$name" "call $k, $what, $fault: no reason is given: $(cat err)"; bad=1; }
    timeout 60 "${run[@]}" --resume >/dev/null 2>err || { fail "$name" "resumed after call $k, $what, $fault: $(tail -n 2 err)"; bad=1; }
    complete "$name" "resumed after call $k, $what, $fault"
}
faults=(kill 5 28)                              # EIO, ENOSPC
sweep() { # NAME STEP PREPARE COMMAND…: all points of the command, each from what PREPARE makes
    local name=$1 step=$2 prepare=$3 k=1 i bad=0 goes=1; shift 3
    while [ $goes = 1 ] && [ $k -lt 2000 ]; do
        for i in 0 1 2; do
            [ "${DF_FAULTS:-}" = all ] || [ $i = $((k / step % 3)) ] || continue
            find . -mindepth 1 -delete; $prepare && { point "$name" $k "${faults[i]}" "$@" || { [ $k -gt 20 ] && goes=0; }; }
        done
        [ "${DF_FAULTS:-}" = all ] && k=$((k + 1)) || k=$((k + step))
    done
    [ ${failed[$name]:-0} -gt 5 ] || fail "$name-faults" "${failed[$name]:-0} of ${runs[$name]:-0} runs failed alone"
    [ $bad = 0 ] && pass "$name"
    echo "figure io_faults: $name: ${runs[$name]:-0} faults, ${failed[$name]:-0} of which ended the run"
}
nothing() { :; }
copied() { cp -p ../half/* .; }
sweep begun "$(long && echo 5 || echo 8)" nothing "${run[@]}"
# A run so short that its last record is its first: all calls while files get their names, one by one.
slow=("${run[@]}")
for program in plain app; do
    run=(../$program --input=../in.raw --workers=1 --journal=j) bad=0 name=closing-$program
    find . -mindepth 1 -delete; ../fail_io ../said "$here/" 0 kill "${run[@]}" 2>/dev/null; read -r calls _ <../said
    for ((k = calls - 18; k <= calls; k++)); do
        for fault in "${faults[@]}"; do
            [ "${DF_FAULTS:-}" = all ] || [ $fault = kill ] || [ $((k % 4)) = 0 ] || continue
            find . -mindepth 1 -delete; point $name $k $fault "${run[@]}"
        done
    done
    [ ${failed[$name]:-0} -gt 10 ] || fail $name-faults "${failed[$name]:-0} of ${runs[$name]:-0} runs failed alone"
    [ $bad = 0 ] && pass $name
    echo "figure io_faults: $name: ${runs[$name]:-0} faults, ${failed[$name]:-0} of which ended the run"
done
run=("${slow[@]}")
# A run that was killed after its first record is resumed, and that fails, too.
for k in $(seq 70 200); do
    find . -mindepth 1 -delete; ../fail_io ../said "$here/" "$k" kill "${run[@]}" >/dev/null 2>&1; grep -q '^done [3-7] ' j 2>/dev/null && break
done
cp -p ./* ../half
sweep resumed "$(long && echo 7 || echo 11)" copied "${run[@]}" --resume
# Commands of dfc, of which each call fails in turn: they end with exit status 1 and a reason, or have written what they write else. A file is whole or
# not there.
mkdir "$here/commands" && cd "$here/commands" || exit 1
echo '[{"name":"a","ph":"X","pid":1,"tid":1,"ts":0,"dur":2}]' >t.json
cp "$DF_SOURCE"/examples/sum/sum.df .
faulty() { # OUTPUT COMMAND…
    local output=$1 k=0 got what n_failed=0 bad=0; shift
    while :; do
        rm -f "$output"
        timeout 60 ../fail_io ../said "$PWD/" "$k" "$((k % 2 ? 28 : 5))" "$DFC" "$@" >../out 2>../err; got=$?
        read -r _ what <../said
        [ $k = 0 ] && { cp "$output" ../whole || { fail "faults $*" "$(cat ../err)"; return; }; }
        case $got in
            0) ;;
            1) n_failed=$((n_failed + 1)); grep -q 'error: ' ../err || { fail "faults $*" "call $k, $what: no reason is given: $(cat ../err)"; bad=1; } ;;
            *) fail "faults $*" "call $k, $what: exit $got: $(tail -n 2 ../err)"; bad=1 ;;
        esac
        if [ -e "$output" ] || [ $got = 0 ]; then cmp -s "$output" ../whole || { fail "faults $*" "call $k, $what: exit $got, and another output"; bad=1; }; fi
        [ $k = 0 ] || [ "$what" != none ] || break
        k=$((k + 1)); [ $k -lt 200 ] || { fail "faults $*" 'no end'; return; }
    done
    [ $n_failed -gt 2 ] || fail "faults-enough $*" "$n_failed of $k runs failed"
    [ $bad = 0 ] && pass "faults $*"
}
faulty g.svg gantt t.json -o g.svg
faulty g.csv partition sum.df --schedule=g.csv
faulty g.svg partition sum.df -o g.svg
faulty g.svg simulate sum.df --policy=gp --gantt=g.svg
faulty g.txt explain sum.df -o g.txt
faulty g.txt sum.df --emit=plan -o g.txt
echo 'void f(int *a, int n) { a[n - 1] = 0; }' >f.c; cluster=$DF_SOURCE/examples/cluster
faulty g.df wrap f.c -o g.df
faulty g.csv scale "$cluster/hedpm.df" --platform="$cluster/hedpm-site.df" --waves=10 --nodes=1 -o g.csv
for output in g.csv g.svg; do o=--sizes; [ $output = g.csv ] || o=--plot; faulty $output scale "$cluster/nbia-tiles.df" --platform="$cluster/anthill-two.df" --waves=50 --stream-policy=odds $o=$output; done
for output in g.map g.svg; do faulty $output map "$cluster/nbia-tiles.df" --platform="$cluster/anthill-two.df" --budget=10 -o $output; done
