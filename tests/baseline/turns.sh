# shellcheck shell=bash
# turns.sh - for bench.sh of both programs, which source it.
of() { # FILE: the least of its numbers and their median
    sort -g "$1" | awk '{ v[NR] = $1 } END { print v[1], v[int((NR + 1) / 2)] }'
}
beside() { # WHAT DFC HAND: how the numbers of file DFC, in ms, are beside those of file HAND
    printf '%s: ' "$1"
    echo "$(of "$2") $(of "$3")" | awk '{ printf "dfc %.1f ms, by hand %.1f ms: %.2f of it; medians %.1f, %.1f ms: %.2f of it\n", $1, $3, $1 / $3, $2, $4, $2 / $4 }'
}
