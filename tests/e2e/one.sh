# Runs one end-to-end test: tests/e2e/one.sh tests/e2e/t_NAME.sh, with DFC, DF_BUILD and DF_SOURCE set (tests/run.sh sets them).
#
# A test is a script that runs in an empty folder of its own and says of each case
#     pass NAME        fail NAME why        skip NAME why
# or uses the checks below, which do. The folder is removed unless DF_KEEP is set; then its place is printed. C and Python programs of more than
# a few lines lie in tests/e2e/programs/NAME/, which the script calls $programs.
from=${0%one.sh}./
DF_SOURCE=${DF_SOURCE:-$from../..} DF_BUILD=${DF_BUILD:-$DF_SOURCE/build/release}
mapfile -t places < <(realpath "$from" "$DF_SOURCE" "$DF_BUILD" "${DFC:-$DF_BUILD/bin/dfc}" "$1")    # one process
here=${places[0]} DF_SOURCE=${places[1]} DF_BUILD=${places[2]} DFC=${places[3]} script=${places[4]}
export DF_SOURCE DF_BUILD DFC LC_ALL=C
programs=${script##*/t_} programs=$here/programs/${programs%.sh}
folder=$(mktemp -d)
# A child that a signal ends before it has forgotten its parent's traps must not do what these say.
in_the_end() { [ $BASHPID != $$ ] || rm -rf "$@"; }
if [ -n "${DF_KEEP:-}" ]; then echo "# in $folder"; else trap 'in_the_end "$folder"' EXIT; fi
export DFC_PROFILE=$folder/profile.db          # a probe in one test must not plan for another
export DFC_CACHE=${DF_TEST_CACHE:-$folder/cache}
failures=0

pass() { echo "ok $1"; }
fail() { echo "not ok $1: ${*:2}"; failures=$((failures + 1)); }
skip() { echo "skip $1: ${*:2}"; }

# started COMMAND…: in a subshell, its last command. What has a path, and env or python3, are programs, which take the subshell's place.
started() { case $1 in */* | env | python3) exec "$@" ;; *) "$@" ;; esac; }

# check NAME COMMAND…: passes where the command succeeds; what it printed is the reason where not.
check() {
    local name=$1 said; shift
    if said=$(started "$@" 2>&1); then pass "$name"; else fail "$name" "exit $?: $(tail -n 5 <<<"$said" | tr '\n' ' ')"; fi
}

# matches PATTERN TEXT: whether a line of the text matches, as grep -E says. For texts of a few lines no process is started.
matches() {
    local line rest=$2
    if [ ${#2} -gt 2000 ]; then grep -qE -- "$1" <<<"$2"; return; fi
    while line=${rest%%$'\n'*}; do
        [[ $line =~ $1 ]] && return
        [[ $rest == *$'\n'* ]] || return 1
        rest=${rest#*$'\n'}
    done
}

# expect NAME STATUS PATTERN COMMAND…: the command ends with STATUS, and a line of what it printed matches PATTERN (grep -E).
expect() {
    local name=$1 status=$2 pattern=$3 said got; shift 3
    said=$(started "$@" 2>&1); got=$?
    if [ "$got" != "$status" ]; then
        fail "$name" "exit $got, expected $status: $(tail -n 5 <<<"$said" | tr '\n' ' ')"
    elif ! matches "$pattern" "$said"; then
        fail "$name" "no line matches '$pattern': $(tail -n 8 <<<"$said" | tr '\n' ' ')"
    else
        pass "$name"
    fi
}

# same NAME FILE EXPECTED-FILE
same() {
    if cmp -s "$2" "$3"; then pass "$1"; else fail "$1" "differs: $(diff "$2" "$3" | head -n 6 | tr '\n' ' ')"; fi
}

# numbers FILE KEY…: the first number that each key has in the JSON text of FILE, in a line. It starts no process, which a loop over policies would
# do for each of them.
numbers() {
    local text key found=(); text=$(<"$1"); shift
    for key; do if [[ $text =~ \"$key\":\ (-?[0-9][0-9.e+-]*) ]]; then found+=("${BASH_REMATCH[1]}"); else found+=(none); fi; done
    echo "${found[*]}"
}
# are NAME WANTED FILE KEY…: so are these numbers.
are() {
    local name=$1 wanted=$2 got; shift 2
    got=$(numbers "$@")
    if [ "$got" = "$wanted" ]; then pass "$name"; else fail "$name" "${*:2}: $got, and not $wanted"; fi
}

# long: whether there is time for more than `make check` has. `make check-long` sets DF_LONG for all tests.
long() { [ -n "${DF_LONG:-}" ]; }

# Does this dfc have OpenCL, and a driver here a device? If not, the test NAME is skipped.
have_opencl() { # NAME
    if grep -q fsanitize=thread "$DF_BUILD/obj/flags"; then skip "$1" "drivers synchronise out of the thread sanitizer's sight"; return 1; fi
    local said; said=$("$DFC" doctor --quick | grep ' OpenCL ')
    case $said in '  ok '*) ;; *) skip "$1" "no OpenCL device: $said"; false ;; esac
}

# have_ranks NAME: can programs run on ranks here? If not, NAME is skipped.
have_ranks() {
    if ! command -v mpirun >/dev/null || [ ! -e "$DF_BUILD/lib/libdf-mpi.so" ]; then skip "$1" "no mpirun, or dfc was made without mpicc"; return 1; fi
    case $(cat "$DF_BUILD/obj/flags") in
    *-fsanitize=thread*) skip "$1" "MPI itself is not made for the thread sanitizer"; return 1 ;;
    *-fsanitize=address*)                       # its dlopen() ignores a program's RUNPATH, and Open MPI keeps memory until the process ends
        export LD_LIBRARY_PATH=$DF_BUILD/lib ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 ;;
    esac
}

# nap SECONDS: sleeps, and no process is made for it, which a loop that asks often would do. The first one makes a process, which would be $! later.
nap() {
    [ -n "${never:-}" ] || exec {never}<> <(:)  # a pipe from which nothing comes
    read -rt "$1" -u "$never" || true
}

# until_line ^BEGIN FILE: waits, by nap, until a line of the file begins so.
until_line() {
    local text times
    for ((times = 0; times < 6000; times++)); do
        [ ! -e "$2" ] || { read -rd '' text <"$2"; [[ $'\n'$text =~ $'\n'${1#^} ]] && return; }
        nap 0.01
    done
    fail until-line "$*: $(cat "$2")"
}

# has_modules NAME…: whether Debian's Python has these modules, which are not loaded: NumPy takes a tenth of a second.
has_modules() { /usr/bin/python3 -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))' "$@" 2>/dev/null; }

# formulas_for LEVEL [FLAG…]: from now on dfc compiles the formulas of programs for one level of instructions ("", v3, none: not optimised), which
# is a part of the time. FLAGs stand behind dfc's own.
formulas_for() {
    local cc=$DF_SOURCE/tests/formula/level_cc.sh
    export FORMULA_CC=${FORMULA_CC:-${CC:-cc}} FORMULA_CXX=${FORMULA_CXX:-${CXX:-c++}} CC="$cc --formulas=$(IFS=,; echo "$*")" CXX="$cc --c++"
}
# as_is COMMAND…: after formulas_for, compiles as users do.
as_is() { CC=$FORMULA_CC CXX=$FORMULA_CXX "$@"; }
# is_clang: whether cc is clang.
is_clang() { case $(cc --version) in *clang*) ;; *) false ;; esac; }
# quicker: flags for formulas_for, with which gcc makes vectors as with -O3 in 6 tenths of its time. clang always does at -O2.
quicker() { if is_clang; then echo -O2; else echo -O2 -fvect-cost-model=dynamic; fi; }

# vector_lines FILE COMMAND…: compiles, and prints the lines of FILE that have a loop of which gcc or clang made vectors, sorted as comm wants them.
vector_lines() {
    local file=${1//./\\.} said; shift
    case $("$1" --version) in *clang*) set -- "$@" -Rpass=loop-vectorize ;; *) set -- "$@" -fopt-info-vec-optimized ;; esac
    said=$("$@" 2>&1) || { echo "$said"; return 1; }
    sed -nE "s/^(.*\/)?$file:([0-9]+):[0-9]+: (optimized: loop vectorized|remark: vectorized loop).*/\2/p" <<<"$said" | sort -u
}

cd "$folder" || exit 1
bash -n "$script" || exit 1                    # one with a syntax error would end early, with what had passed before
. "$script"
exit $((failures > 0))
