#!/usr/bin/env bash
# Checks the models of the job queue and of the protocol of many processes with spin: tests/model/run.sh BUILDDIR [queue|cluster [quick]]. A model
# as it is must pass, whole; with a rule left out it must fail, which shows that the check sees what the rule is for. A failed run leaves
# its counterexample: see BUILDDIR/model/NAME. quick, for `make check`, leaves out what is marked `long`, and optimises no search: those that
# are left take less time than the optimiser. The last line is `N passed, N failed, N skipped`.
set -u
cd "$(dirname "$0")/../.."
which=${2:-queue cluster} quick=${3:-} out=$(mkdir -p "$1/model" && realpath "$1/model")
passed=0 failed=0
checks=0
for name in $which; do checks=$((checks + $(grep -cE "^ *($([ -n "$quick" ] || echo long)|) ?(holds|caught) $name-" "tests/model/run.sh"))); done
level=-O1; [ -z "$quick" ] || level=-O0
long() { [ -n "$quick" ] || "$@"; }
if ! command -v spin >/dev/null; then
    echo "skip all: no spin here; install it: apt-get install spin"
    echo "0 passed, 0 failed, $checks skipped"
    exit 0
fi

# search HOW NAME KIND FLAGS…: every run of the model. KIND is `states` (assertions in each state) or `endless` (no endless
# run either). HOW is the compiler's flags. Sets `said`, and `states` to the number of states, or to nothing where the search
# did not come to an end.
search() {
    local how=$1 name=$2 kind=$3 as='-DSAFETY' option=''; shift 3
    [ "$kind" = endless ] && as='-DNP' option='-l'
    rm -rf "${out:?}/$name"; mkdir -p "$out/$name"
    model=$PWD/tests/model/${name%%-*}.pml
    said=$(cd "$out/$name" && { spin -a "$@" "$model" && ${CC:-cc} -w $how $as -DMEMLIM=4000 -o pan pan.c &&
        ./pan $option -m100000 -w22; } 2>&1)
    states=$(sed -n 's/^ *\([0-9][0-9.e+]*\) states, stored.*/\1/p' <<<"$said")
    # A search that finds nothing counts only if it was of everything.
    grep -q 'errors: 0' <<<"$said" && grep -qE 'depth too small|out of memory|MEMLIM|not completed' <<<"$said" && states=''
}
tell() { # ok|not NAME WHAT
    if [ "$1" = ok ]; then
        passed=$((passed + 1)); echo "ok $2: $3"
    else
        failed=$((failed + 1)); echo "not ok $2: $3"
    fi
}

# holds NAME KIND FLAGS…
holds() {
    search $level "$@"
    if [ -n "$states" ] && grep -q 'errors: 0' <<<"$said"; then
        tell ok "$1" "holds in all $states states (${*:3})"
    else
        tell not "$1" "$(tail -n 12 <<<"$said")"
    fi
}

# caught NAME KIND FLAGS…: the flags leave a rule out; the counterexample is the finding, and found in less time than it takes to
# optimise the search.
caught() {
    search -O0 "$@"
    local found; found=$(sed -n 's/^pan:1: //p' <<<"$said")
    if grep -q 'errors: 1' <<<"$said" && grep -qE '^(assertion violated|non-progress cycle|invalid end state)' <<<"$found"; then
        (cd "$out/$1" && spin -k "${model##*/}.trail" -p "${@:3}" "$model" >counterexample.txt 2>&1)
        tell ok "$1" "caught: $found, in ${out#"$PWD"/}/$1/counterexample.txt"
    else
        tell not "$1" "not caught: $(tail -n 12 <<<"$said")"
    fi
}

case " $which " in *' queue '*)
    holds queue-two-workers states -DWORKERS=2 -DOPS=4 -DCAPACITY=2
    holds queue-three-workers states -DWORKERS=3 -DOPS=2 -DCAPACITY=1
    holds queue-lock-free endless -DWORKERS=2 -DOPS=3 -DCAPACITY=2
    caught queue-without-tag states -DNO_TAG -DOPS=3 -DCAPACITY=1
    caught queue-without-tail-recheck states -DNO_TAIL_RECHECK -DOPS=3 -DCAPACITY=2
    caught queue-without-head-recheck states -DNO_HEAD_RECHECK -DOPS=3 -DCAPACITY=2
    caught queue-without-help endless -DNO_HELP -DOPS=2 -DCAPACITY=2
esac
case " $which " in *' cluster '*)
    two='-DMANAGERS=2 -DSEEMING=0 -DDEATHS=0'
    holds cluster-one-run states -DWINDOW=2 -DSEEMING=2
    long holds cluster-resumed states $two
    long holds cluster-resumed-and-deaths states -DMANAGERS=2 -DSEEMING=0 -DWAVES=2
    long holds cluster-stores states -DSTORES -DWAVES=2 -DWINDOW=2
    holds cluster-stores-resumed states -DSTORES -DWAVES=2 $two
    caught cluster-without-wait states -DSTORES -DNO_WAIT
    long caught cluster-without-again states -DSTORES -DNO_AGAIN
    long caught cluster-without-beat states -DNO_BEAT
    caught cluster-without-regive states -DNO_REGIVE
    long caught cluster-without-revive states -DNO_REVIVE
    caught cluster-without-once states -DNO_ONCE
    long caught cluster-without-order states -DNO_ORDER
    long caught cluster-without-bound states -DNO_BOUND
    caught cluster-without-sync states -DNO_SYNC $two
    caught cluster-without-cut states -DNO_CUT $two
    caught cluster-without-fence states -DNO_FENCE $two
esac
[ $((passed + failed)) = "$checks" ] || failed=$((failed + 1))
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
