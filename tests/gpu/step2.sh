#!/usr/bin/env bash
# Step 2: compute-sanitizer over three flows, with recordings and without; where it does not run that is skipped and counted.
# step2.sh KIT OUT cuda|emu. memcheck looks for wrong accesses, leaks and calls of CUDA that fail; racecheck for races in shared memory; initcheck
# for reads of what was never written. The emulated GPU has a check of its own, which stops a job that touches a block it did not declare.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/case.sh"; . "$here/flow.sh"
case_begin 2 "$1" "$2" "$3" 180
find_gpu
flows='sum random-1 ways'
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)

arguments() { case $1 in sum) echo --seed=3 ;; *) echo --waves=4 ;; esac; } # NAME
under() { # TOOL PROGRAM ARG…: the sanitizer's report in $work/report; its status is the program's
    local tool=$1 name=$2 options=(); shift 2
    [ "$tool" != memcheck ] || options=(--leak-check full --report-api-errors explicit)
    rm -f "$work/report"
    (cd "$work" && timeout 100 "$sanitizer" --tool "$tool" "${options[@]}" --log-file "$work/report" "$name" "$@") >"$work/got" 2>"$work/err"
}
errors() { # found by the last run: an unfinished event that is asked for is none
    awk '/ERROR SUMMARY:/ { n += $4 } /LEAK SUMMARY:/ { n += $4 } /RACECHECK SUMMARY:/ { n += $4 } /Program hit cudaErrorNotReady/ { n-- }
         END { print n + 0 }' "$work/report"
}
does_not_run() { # why the sanitizer is of no use here: tried on a program of CUDA alone
    [ -n "$gpu" ] || { echo "$why"; return; }
    [ -n "$sanitizer" ] || { echo 'no compute-sanitizer'; return; }
    under memcheck "$kit/bench/plain" 1024 1 1 1 && grep -q 'ERROR SUMMARY:' "$work/report" ||
        echo "compute-sanitizer does not run here: $(cat "$work/report" "$work/err" 2>/dev/null | tail -n 3)"
}
clean() { # CASE TOOL NAME ARG…
    local one=$1 tool=$2 name=$3 begun=$SECONDS; shift 3
    want "$one" || return 0
    if ! under "$tool" "$kit/programs/$name/app" --device=cuda --policy=all-gpu "$@"; then fail "$one" "$(tail -n 3 "$work/err") $(tail -n 5 "$work/report")"
    elif ! right "$name" "$work/$name.want"; then fail "$one" "other output: $(diff <(sort "$work/got") "$work/$name.want" | head -n 3)"
    elif ! grep -q SUMMARY "$work/report"; then fail "$one" "no summary: $(tail -n 3 "$work/report")"
    elif [ "$(errors)" != 0 ]; then fail "$one" "$(errors) errors: $(grep -A6 -E '^========= (Invalid|Program hit|Uninit|Leaked|Error|Warning|Race)' "$work/report" | head -n 12)"
    else figure "$one" $((SECONDS - begun)) s; pass "$one"; fi
}
planted() { # that it finds something: a kernel that writes where it must not
    want finds-planted || return 0
    under memcheck "$kit/programs/broken/app" --device=cuda --policy=all-gpu
    if grep -q 'Invalid __global__ write' "$work/report" && grep -q crash "$work/report"; then pass finds-planted; else fail finds-planted "$(tail -n 5 "$work/report")"; fi
}
emulated() { # the same flows under the emulator's own check
    local name graphs
    for name in $(programs '*'); do case " $flows " in *" $name "*) ;; *) continue ;; esac
        # shellcheck disable=SC2046
        expected_of "$name" $(arguments "$name")
        for graphs in on off; do
            # shellcheck disable=SC2046
            try "$name-checked-graphs-$graphs" "$name" "$work/$name.want" $(arguments "$name") --policy=all-gpu --emu-check=on --cuda-graphs=$graphs
        done
    done
}
if [ "$device" = emu ]; then emulated; case_end; exit; fi
not=$(does_not_run)
unable() { [ -x "$kit/programs/$1/app" ] && echo "$not" || echo "${not:-it was not made}"; } # NAME: why it cannot be done
for name in $flows; do
    # shellcheck disable=SC2046
    [ -n "$(unable "$name")" ] || expected_of "$name" $(arguments "$name")
    for graphs in on off; do for tool in memcheck racecheck initcheck; do
        if [ -n "$(unable "$name")" ]; then skip "$name-$tool-graphs-$graphs" "$(unable "$name")"; continue; fi
        # shellcheck disable=SC2046
        clean "$name-$tool-graphs-$graphs" $tool "$name" $(arguments "$name") --cuda-graphs=$graphs
    done; done
done
if [ -n "$(unable broken)" ]; then skip finds-planted "$(unable broken)"; else planted; fi
case_end
