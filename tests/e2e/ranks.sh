# ranks.sh - programs under mpirun beside the same programs in one process; for tests, which include it.
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root

ranks() { # N PROGRAM ARGS…
    local n=$1; shift
    timeout 150 mpirun $root --oversubscribe --bind-to none -n "$n" "$@" --workers=1
}

gather() { find . -maxdepth 1 -name 'output*' | sort | xargs -r cat; }

# on_ranks NAME RANKS PROGRAM ARGS…: what the program writes to stdout and to files `output…` is the same on so many ranks, each of the words
# of RANKS, as in one process. What stands in `how` is for runs on ranks alone.
on_ranks() {
    local name=$1 n numbers=$2; shift 2
    rm -f output*
    "./$1" "${@:2}" --device=none >"$name.one" 2>"$name.err" || { fail "$name" "in one process: $(tail -n 3 "$name.err")"; return; }
    gather >>"$name.one"
    for n in $numbers; do
        rm -f output*
        # shellcheck disable=SC2086
        if ranks "$n" "./$1" "${@:2}" ${how:---device=none} --cluster >"$name.$n" 2>"$name.err"; then
            gather >>"$name.$n"
            same "$name-$n" "$name.$n" "$name.one"
        else
            fail "$name-$n" "exit $?: $(tail -n 5 "$name.err" | tr '\n' ' ')"
        fi
    done
}
