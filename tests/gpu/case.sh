# case.sh - cases of a step: counted, written to a file as they come, and not done again. steps source it.
#
# The file is OUT/stepN.txt. Its first line says what was run on what; if that is the same as before, the cases that passed are kept, and so is
# what stands between them. So a step that was ended by a limit of time goes on where it was. Nothing else is left in OUT.

case_begin() { # STEP KIT OUT DEVICE BUDGET_S: sets kit, out, device, work, log. No case begins after so many seconds; $BUDGET_S is another number
    local head
    step=$1 kit=$(realpath "$2") device=$4 budget_s=${BUDGET_S:-$5} passed=0 failed=0 skipped=0
    mkdir -p "$3"; out=$(realpath "$3") log=$out/step$step.txt
    work=$(mktemp -d 2>/dev/null || mktemp -d "$out/work.XXXXXX"); trap 'rm -rf "$work"' EXIT
    SECONDS=0
    head="step $step, --device=$device, kit $(cat "$kit/version" 2>/dev/null || echo none), $(gpu_name)"
    before=''
    [ "$(head -n 1 "$log" 2>/dev/null)" != "$head" ] || before=$(grep -E '^(ok|figure) ' "$log")
    echo "$head${before:+$'\n'$before}" >"$log"
    passed=$(grep -c '^ok ' <<<"$before")
    echo "$head"; [ "$passed" = 0 ] || echo "$passed cases were done before"
}
gpu_name() { # what nvidia-smi says, if it is there
    local name; name=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    echo "GPU ${name:-not named}"
}
say() { echo "$*"; echo "$*" >>"$log"; }
one_line() { local text=${*//$'\n'/ }; echo "${text:0:700}"; }
pass() { say "ok $1"; passed=$((passed + 1)); }
fail() { say "not ok $1: $(one_line "${@:2}")"; failed=$((failed + 1)); }
skip() { say "skip $1: $(one_line "${@:2}")"; skipped=$((skipped + 1)); }
figure() { say "figure $1,$2,$3"; } # NAME VALUE UNIT
want() { # NAME: is it to be done? It was not done before, and there is time
    if [[ $'\n'$before$'\n' == *$'\n'"ok $1"$'\n'* ]]; then return 1; fi
    [ "$SECONDS" -lt "$budget_s" ] || { skip "$1" "no time is left of $budget_s s"; return 1; }
}
case_end() {
    say "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
