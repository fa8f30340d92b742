# A run with a journal whose k-th system call of input or output fails, with EIO or ENOSPC, or at which the process is killed, for each k; and the same while it is
# resumed. It says what went wrong, and --resume then makes the same bytes as a whole run and leaves nothing else behind. DF_FAULTS=all takes every k and every
# fault; else a few. tests/e2e/fail_io.c is what makes calls fail.
shm=$(mktemp -d -p /dev/shm 2>/dev/null) && trap 'rm -rf "$shm" "$folder"' EXIT && cd "$shm" # syncing waits for other processes on a disk
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
