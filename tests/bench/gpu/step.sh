# step.sh - what step4.sh, step5.sh and step6.sh share. POSIX sh with awk, sed, grep, sort and mktemp; read by `.` after $step was set.
#
# A *figure* is a name, a number and a unit. Figures are measured in turns: each once, then each once more, so that what changes on the
# machine meanwhile changes all of them. A turn's numbers go to OUT/$step.csv at once. A second call goes on where the first one ended.
# At the end each figure is printed with the median of its turns; the last line is `N passed, N failed, N skipped`.
#
# From outside: TURNS (3), BUDGET_S (no new figure begins after that many seconds), LIMIT_S (what one run may take).

turns=${TURNS:-3} limit_s=${LIMIT_S:-60}
here=$(cd "$(dirname "$0")" && pwd)
began=$(date +%s)
set_up() { # PROGRAMS OUT DEVICE: after what a step's own options are
    case "|${devices:=cuda|emu}|" in *"|${3-}|"*) ;; *) set -- ;; esac
    if [ $# != 3 ] || [ ! -d "$1" ]; then echo "usage: $step.sh PROGRAMS OUT $devices, or $step.sh --programs" >&2; exit 2; fi
    programs=$(cd "$1" && pwd) device=$3 none=''
    mkdir -p "$2" || exit 1
    out=$(cd "$2" && pwd); csv=$out/$step.csv log=$out/$step.log times=$out/$step.times
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    : >"$work/wanted"; : >"$work/failed"; : >"$work/skipped"; : >>"$csv"
    : >>"$times"
    export OPENBLAS_NUM_THREADS=1 DFC_PROFILE="$work/profile.db"
    options=--device=$device
    if [ "$device" = emu ]; then # links of 1 GB/s: copies and pauses take their time whatever else runs on the machine
        warm_ms=5 least_s=0.01 turns=${TURNS:-1}
        echo 'platform slow { cpu host { workers = 2; } gpu emulated { memory = 1 GiB; h2d = 1 GB/s, 10 us; d2h = 1 GB/s, 10 us; engines = 2; launch = 5 us; } }' >"$work/emulated.df"
        options="$options --emu-check=off" platform=$work/emulated.df
    else
        warm_ms=600 least_s=0.3 platform=''
        export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES-0}"
        CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES%%,*} # plain.cu uses one GPU
        find_gpu
    fi
    timeout=''
    if command -v timeout >/dev/null; then timeout="timeout $limit_s"; fi
    echo "$step on $device, $(date -u '+%Y-%m-%d %H:%M')" >>"$log"
}
# set_up_planned PROGRAM ARGS…: set_up for a step whose graphs are planned by a probe and measured times. PROGRAM is the line of the program
# that it alone needs; with --programs it is listed with those of all such steps.
set_up_planned() {
    own=$1; shift
    if [ "${1-}" != --programs ]; then set_up "$@"; return; fi
    cat <<EOT
dfc        dfc itself: for \`dfc probe\`
chain      dfc SOURCES/chain.df -o chain
matrix     dfc SOURCES/matrix.df -o matrix
times      dfc SOURCES/times.df -o times
$own
EOT
    exit
}
find_gpu() { # $none: why there is no GPU
    [ -x "$programs/chain" ] || return 0
    "$programs/chain" --device="$device" --policy=all-gpu >/dev/null 2>"$work/err" && return
    none=$(grep -io "no $device device.*" "$work/err" | head -n 1) # every other failure is one
}
time_left() { [ $(($(date +%s) - began)) -lt "${BUDGET_S:-$budget_s}" ]; }
calc() { awk "BEGIN { printf \"%.6g\", $1 }"; }
less() { awk "BEGIN { exit !($1 < $2) }"; }

# figure NAME UNIT COMMAND…: this turn's value is what the command prints. A command that gives 77 is skipped; its last message says why.
figure() {
    name=$1 unit=$2; shift 2
    grep -qxF "$name" "$work/wanted" || echo "$name" >>"$work/wanted"
    if grep -qF -e "$turn,$name," -e "$name: " "$csv" "$work/failed" "$work/skipped"; then return; fi
    if [ -n "$none" ]; then echo "$name: $none" >>"$work/skipped"; return; fi
    time_left || return
    value=$("$@" 2>"$work/why") && code=0 || code=$?
    cat "$work/why" >>"$log"
    why=$(tail -n 3 "$work/why" | tr '\n' ' ')
    if [ $code = 77 ]; then echo "$name: $why" >>"$work/skipped"
    elif [ $code != 0 ] || [ -z "$value" ]; then echo "$name: ${why:-nothing was said}" >>"$work/failed"
    else
        echo "$turn,$name,$value,$unit" >>"$csv"
        echo "turn $turn: $name = $value $unit" >>"$log"
    fi
}
once() { [ "$turn" -gt 1 ] || figure "$@"; } # in the first turn alone
# value NAME: the median of a figure's turns so far; nothing if it has none.
value() {
    awk -F, -v name="$1" '$2 == name { print $3 }' "$csv" | sort -g | awk '{ v[NR] = $1 } END { if (NR) printf "%.6g", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}
# in_turns COMMAND: calls it with $turn = 1, 2, …
in_turns() {
    turn=1
    while [ $turn -le "$turns" ]; do "$@"; turn=$((turn + 1)); done
}
summary() {
    sort -t , -k 2,2 -k 3,3g "$csv" | awk -F , -v turns="$turns" -v failed_file="$work/failed" -v skipped_file="$work/skipped" -v log_file="$log" '
        function said(file, name, line) { # what the file says of this figure
            while ((getline line <file) > 0) if (index(line, name ": ") == 1) { close(file); return line }
            close(file)
        }
        FILENAME == "-" { v[$2, ++n[$2]] = $3; unit[$2] = $4; next }
        said(failed_file, $0) { print "not ok " said(failed_file, $0); failed++; next }
        $0 in n {
            m = n[$0]; of = turns == 1 ? "" : " (median of " m ")"; passed++
            printf "ok %s = %.6g %s%s\n", $0, (v[$0, int((m + 1) / 2)] + v[$0, int(m / 2) + 1]) / 2, unit[$0], of; next
        }
        { why = said(skipped_file, $0); print "skip " (why ? why : $0 ": no time was left"); skipped++ }
        END {
            while ((getline line <log_file) > 0) if (line ~ /no cuBLAS was found/) { print line; break }
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        }' - "$work/wanted"
}
finish() {
    summary >"$work/summary"
    [ -s "$times" ] || rm -f "$times"
    cat "$work/summary" >>"$log"; cat "$work/summary"
    grep -q '^not ok' "$work/summary" && exit 1
    exit 0
}

have() { # PROGRAM
    [ -x "$programs/$1" ] && return
    echo "there is no program $1 in $programs" >&2
    return 77
}
run() { # PROGRAM ARGS…: what it prints to $work/said, its statistics to $work/stats
    have "$1" || return
    program=$1; shift
    # shellcheck disable=SC2086
    (cd "$work" && $timeout "$programs/$program" $options ${platform:+--platform="$platform"} --stats=json,totals --stats-file=/dev/stderr "$@") >"$work/said" 2>"$work/stats" && return
    { echo "$program $options $*: exit $?"; grep -v '^{' "$work/stats" | tail -n 2; } >&2
    return 1
}
policies_of() { # PROGRAM: the names of all policies, as it lists them
    "$programs/$1" --policy=none 2>&1 | sed -n 's/.*; there are //p' | sed 's/,\| and//g'
}
statistic() { # NAME: of the last run
    sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$work/stats" | tail -n 1
}
# wave_s GUESS_S PROGRAM ARGS…: seconds of a wave, once the program has been warm for $warm_ms (turns.h counts them). A wave is guessed to
# take GUESS_S; 0: nobody knows. The number of waves that is enough is kept for the next turn.
wave_s() {
    guess=$1; shift
    kept=$work/waves.$(echo "$*" | tr -c 'A-Za-z0-9=\n' _)
    n=$(cat "$kept" 2>/dev/null || awk "BEGIN { g = $guess; print (g > 0 ? int((1e-3 * $warm_ms + 1.3 * $least_s) / g) + 3 : 3) }")
    tries=0
    while :; do
        run "$@" --waves="$n" --last=$((n - 1)) --warm_ms=$warm_ms || return
        counted=$(sed -n 's/^waves=\([0-9]*\) .*/\1/p' "$work/said")
        seconds=$(sed -n 's/.* seconds=\([0-9.]*\) .*/\1/p' "$work/said")
        all=$(sed -n 's/.* all_s=\([0-9.]*\)$/\1/p' "$work/said")
        if [ -z "$all" ]; then echo "$* tells no times" >&2; return 1; fi
        less "$seconds" "$least_s" || break
        tries=$((tries + 1))
        if [ $tries = 10 ]; then echo "$*: $n waves are not enough to tell" >&2; return 1; fi
        n=$(awk "BEGIN { w = $n > 1 ? $all / ($n - 1) : 0; m = w > 0 ? int((1e-3 * $warm_ms + 1.5 * $least_s) / w) + 2 : 100 * $n
                         print (m <= $n ? $n + 1 + int($n / 4) : m < 200 * $n ? m : 200 * $n) }")
    done
    echo "$n" >"$kept"
    calc "$seconds / $counted"
}

# ---- the machine and the times of the matrix graph's kernels ----

probe() { # FILE: the platform as `dfc probe` finds it
    have dfc || return
    if [ "$device" = emu ]; then "$programs/dfc" probe --device=emu --platform="$work/emulated.df" -o "$1" 2>&1
    else "$programs/dfc" probe --device="$device" -o "$1" 2>&1; fi >"$work/said" || { tail -n 2 "$work/said" >&2; return 1; }
    grep -q '^ *gpu ' "$1" || { echo "dfc probe has found no GPU" >&2; return 1; }
}
probed() { # FILE LINK: GB/s of h2d or d2h of the first GPU; or what a launch takes in us
    if [ "$2" = launch ]; then grep '^ *gpu ' "$1" | sed -n 's/.*launch = \([0-9.]*\) \([munp]*s\);.*/\1 \2/p'
    else grep '^ *gpu ' "$1" | sed -n "s/.*$2 = \([0-9.]*\) \([A-Za-z]*B\)\/s.*/\1 \2/p"; fi |
        awk '{ by = $2 == "GB" ? 1 : $2 == "MB" ? 1e-3 : $2 == "kB" ? 1e-6 : $2 == "TB" ? 1e3 : $2 == "s" ? 1e6 : $2 == "ms" ? 1e3 : $2 == "ns" ? 1e-3 : 1
               printf "%.6g", $1 * by; exit }'
}
plan_for() { [ ! -s "$1" ] || platform=$1; } # FILE: from here on programs plan for this platform
biggest_cpu=1024 # beyond this size a plain product takes too long on one core; its time is then worked out from this one
measure() { # PROGRAM N MORE: the lines of runtime/measure/measure.h in $work/lines
    have "$1" || return
    # shellcheck disable=SC2086
    (cd "$work" && DF_MEASURE="out=3 goal=0.02 max_s=0.5$3" $timeout "$programs/$1" $options ${platform:+--platform="$platform"} --n="$2" 3>"$work/lines" >/dev/null) && return
    echo "$1 --n=$2: exit $?" >&2
    return 1
}
# measure_times N: measures the kernels by the programs' own measuring mode, as `dfc profile` does. $times gets lines N KERNEL_CLASS NANOSECONDS.
measure_times() {
    program=times; [ "$1" -le $biggest_cpu ] || program=times-gpu
    measure $program "$1" '' || return
    awk -F'\t' -v n="$1" '$1 == "sample" { ns = int(1e9 * $9 + 0.5); print n, $4 "_" $3, (ns > 1 ? ns : 1) }' "$work/lines" >"$work/now"
    if [ $program = times-gpu ]; then
        awk -v n="$1" -v from=$biggest_cpu '$1 == from && $2 == "mm_cpu" { printf "%d mm_cpu %.0f\n", n, $3 * n * n * n / (from * from * from) }
                                            $1 == from && $2 == "ma_cpu" { printf "%d ma_cpu %.0f\n", n, $3 * n * n / (from * from) }' "$times" >>"$work/now"
    fi
    [ "$(grep -c . "$work/now")" = 6 ] || { echo "of the times of $1 rows these alone are known: $(tr '\n' ' ' <"$work/now")" >&2; return 1; }
    { grep -v "^$1 " "$times"; cat "$work/now"; } >"$work/times.all"
    cp "$work/times.all" "$times"
}
known() { # N COMMAND…: if the kernels of N rows were measured
    if grep -q "^$1 " "$times"; then shift; "$@"; return; fi
    echo "no kernel of $1 rows was measured" >&2
    return 1
}
time_us() { # N KERNEL_CLASS
    sed -n "s/^$1 $2 \(.*\)/\1/p" "$times" | awk '{ printf "%.6g", 1e-3 * $1 }'
}
costs() { # N: options that give the program `matrix` its size and times
    echo "--n=$1 $(sed -n "s/^$1 \(.*\) \(.*\)$/--\1=\2/p" "$times" | tr '\n' ' ')"
}
predict_ms() { # N POLICY: one wave in virtual time
    have matrix || return
    # shellcheck disable=SC2046
    (cd "$work" && "$programs/matrix" --device=sim ${platform:+--platform="$platform"} --policy="$2" --inflight=1 --stats=json,totals --stats-file=/dev/stderr $(costs "$1")) 2>"$work/stats" >/dev/null ||
        { tail -n 1 "$work/stats" >&2; return 1; }
    calc "1e3 * $(statistic makespan_s)"
}
