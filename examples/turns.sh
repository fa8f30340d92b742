# shellcheck shell=bash
# turns.sh - what bench.sh of several programs share: programs that run in turns, medians, and what a second worker gives.

# Two cores on which this may run, of which none is the other's second thread. There may be only one.
cores=()
two_cores() {
    local cpu core socket seen=' '
    while IFS=, read -r cpu core socket; do
        [[ $seen != *" $core.$socket "* ]] && taskset -c "$cpu" true 2>/dev/null || continue
        cores+=("$cpu") seen+="$core.$socket "
        [ ${#cores[@]} -lt 2 ] || break
    done < <(lscpu -p=CPU,CORE,SOCKET | grep -v '^#')
}
two_cores

# on CORE COMMAND…
on() {
    (taskset -pc "$1" "$BASHPID" >/dev/null; shift; "$@")
}

# The core of a round: programs with one thread that are compared have the same one, because another one may be slower.
core_of() { echo "${cores[$(($1 % ${#cores[@]}))]}"; }

# seconds COMMAND…: wall seconds of one that succeeds. Of one that fails, what it says last.
seconds() {
    local from=$EPOCHREALTIME said
    said=$("$@" 2>&1 >/dev/null) || { echo "FAILED $*: $(tail -n 3 <<<"$said")" >&2; exit 1; }
    awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", b - a }'
}

# The median of the lines of a file, or of stdin.
median() { sort -g "$@" | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); printf "%.4g\n", (v[m] + v[NR + 1 - m]) / 2 }'; }

# ratio A B: the median of the ratios of lines that are of one round.
ratio() { paste -d' ' "$1" "$2" | awk '{ print $1 / $NF }' | median | awk '{ printf "%.2f\n", $1 }'; }

# beside WHAT DFC HAND: how the milliseconds of file DFC are beside those of file HAND
beside() {
    local a b
    a=$(sort -g "$2" | head -n 1) b=$(sort -g "$3" | head -n 1)
    printf '%s: dfc %.1f ms, by hand %.1f ms: %.2f of it; medians %.1f, %.1f ms, of the ratios %.2f\n' "$1" "$a" "$b" "$(awk "BEGIN { print $a / $b }")" \
        "$(median "$2")" "$(median "$3")" "$(ratio "$2" "$3")"
}

# scaling NAME COMMAND…: a round of what a second worker gives. COMMAND has the number of workers as its last argument, and prints seconds. It runs with one
# worker on each of two cores, then so on both at once, and then with two workers: the five columns of the file scaling.NAME.
scaling() {
    local name=$1 first second one other two; shift
    [ ${#cores[@]} = 2 ] || return 0
    first=$(on "${cores[0]}" "$@" 1) && second=$(on "${cores[1]}" "$@" 1) || exit 1
    on "${cores[1]}" "$@" 1 >other.seconds & one=$(on "${cores[0]}" "$@" 1) && wait $! && two=$("$@" 2) || exit 1
    other=$(cat other.seconds)
    echo "$first $second $one $other $two" >>"scaling.$name"
}

# gain NAME: medians of its rounds. The last figure says how free the two cores were: at most so much can be expected of two workers.
gain() {
    [ ${#cores[@]} = 2 ] || { echo "left out: what a second worker gives, because there is one core"; return; }
    printf '%s: one worker %.3f s, two %.3f s: %.2f times as fast; two programs with one worker each, at once, do %.2f times as much as one\n' "$1" \
        "$(awk '{ print $1; print $2 }' "scaling.$1" | median)" "$(awk '{ print $5 }' "scaling.$1" | median)" \
        "$(awk '{ print 2 / $5 / (1 / $1 + 1 / $2) }' "scaling.$1" | median)" \
        "$(awk '{ print 2 * (1 / $3 + 1 / $4) / (1 / $1 + 1 / $2) }' "scaling.$1" | median)"
}
