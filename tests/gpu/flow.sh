# flow.sh - flows on a GPU or on the emulated one, each compared with the CPU's output. Sourced by steps after case.sh; programs are in $kit/programs.

programs() { local d; for d in "$kit"/programs/$1; do [ ! -x "$d/app" ] || echo "${d##*/}"; done; } # PATTERN: those that are there
app() { # NAME ARG…: output in $work/got, what else it says in $work/err
    local name=$1; shift
    (cd "$work" && timeout 60 "$kit/programs/$name/app" --device="$device" "$@") >"$work/got" 2>"$work/err"
}
alone() { (cd "$work" && timeout 120 "$kit/programs/$1/app" --device=none "${@:2}") 2>"$work/err"; } # NAME ARG…: on the CPU

# Is there a GPU? `gpu` is empty if not, and `why` says why. A program is asked, because nvidia-smi may be missing and knows nothing of
# CUDA_VISIBLE_DEVICES.
find_gpu() {
    gpu=yes why=''
    [ "$device" = cuda ] || return 0
    local name; name=$({ programs sum; programs ways; programs 'random-*'; } | head -n 1)
    if [ -z "$name" ]; then gpu='' why='no program was made'; return; fi
    (cd "$work" && timeout 60 "$kit/programs/$name/app" --device=cuda --serial) >/dev/null 2>"$work/err"
    why=$(grep -iE 'no CUDA|CUDA driver' "$work/err" | sed 's/^app: error: //' | head -n 1)
    [ -z "$why" ] || gpu=''
}
says_no_gpu() { # NAME: asked for CUDA where there is none, a program says so and exits 1
    want "$1-says-no-gpu" || return 0
    app "$@"
    [ $? = 1 ] && grep -qiE 'no CUDA|no GPU|driver|nvcc' "$work/err" && pass "$1-says-no-gpu" || fail "$1-says-no-gpu" "$(cat "$work/err")"
}
stat_sum() { # NAME: of the GPUs' memories
    local rest sum=0
    read -rd '' rest <"$work/err"
    while [[ $rest =~ \"$1\":\ ([0-9]+)(.*) ]]; do sum=$((sum + BASH_REMATCH[1])) rest=${BASH_REMATCH[2]}; done
    echo $sum
}
gpu_jobs() { # jobs that the GPUs did, by the statistics of the last run
    grep -oE '"name": "[^"]*", "jobs": [0-9]+, "busy_s"' "$work/err" | grep -v '"cpu ' | grep -oE '[0-9]+, "busy' | awk '{ n += $1 } END { print n + 0 }'
}
near() { # WANT GOT: lines of a name and numbers, as check.py of the matrices compares them
    awk 'function off(a, b) { d = a > b ? a - b : b - a; m = b < 0 ? -b : b; return !(d <= 1e-4 * (m > 1 ? m : 1)) }
         NR == FNR { want[$1] = $0; n++; next }
         { if (!($1 in want)) exit 1; split(want[$1], w); for (i = 2; i <= NF; i++) if (off($i, w[i])) exit 1; seen++ }
         END { if (seen != n) exit 1 }' "$1" "$2"
}
right() { # NAME WANT: is the last run's output that?
    case $1 in
        matrix-mixed) near "$2" "$work/got" ;;
        *) sort "$work/got" | cmp -s "$2" - ;;
    esac
}
try() { # CASE NAME WANT ARG…: one run, and its output
    local one=$1 name=$2 expected=$3; shift 3
    want "$one" || return 0
    if app "$name" --stats=json --stats-file=/dev/stderr "$@" && right "$name" "$expected"; then pass "$one"; else
        fail "$one" "$(sort "$work/got" | diff "$expected" - | head -n 3) $(tail -n 3 "$work/err")"; return 1; fi
}
policies_of() { alone "$1" --policy=none >/dev/null; sed -n 's/.*; there are //p' "$work/err" | sed 's/,\| and//g'; } # NAME
expected_of() { # NAME ARG…: what it must print, sorted, in $work/NAME.want
    if [ -e "$kit/programs/$1/expected" ]; then cp "$kit/programs/$1/expected" "$work/$1.want"; else alone "$@" | sort >"$work/$1.want"; fi
}
