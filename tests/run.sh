#!/usr/bin/env bash
# Runs the tests and counts them: tests/run.sh BUILDDIR [NAME…]. With NAMEs only what has one of them in its name is run, with =NAME that test;
# --list instead of a NAME prints the names. DF_TEST_LOGS is a folder for the logs, DF_TEST_LIMIT_S the time that each test has,
# DF_TEST_JOBS how many run at once (else one more than there are cores, because tests wait for files and processes, and beside them some that mostly wait).
#
# A test is a program or script that prints a line for each case:
#     ok NAME            not ok NAME: why            skip NAME: why
# or TAP as cmocka writes it. One that exits non-zero without a failed case counts as one failure. Kinds:
#     unit     build/…/tests/test_*    cmocka programs
#     golden   tests/golden/run.sh     wrong programs and their exact messages
#     e2e      tests/e2e/t_*.sh        compile, run, compare
#     rooms                            tests/rooms.py and rooms_figure.py: the sources themselves
# Everything a failed test printed is shown, and after the table once more each failed test with its failed cases, so that a log that lacks
# its middle still says what failed. The last line is `N passed, N failed, N skipped`.
set -u
unset UPDATE                                    # it is for the pages of the caller (make coverage UPDATE=1), not for what tests write
cd "$(dirname "$0")/.."
build=$(realpath "$1"); read -ra names <<<"${*:2}"
logs=${DF_TEST_LOGS:-$build/test-logs}
export LC_ALL=C
export CMOCKA_MESSAGE_OUTPUT=TAP DFC=$build/bin/dfc DF_BUILD=$build DF_SOURCE=$PWD
export DFC_PROFILE=$logs/profile.db DFC_CACHE=none         # never the user's own
export OPENBLAS_NUM_THREADS=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader          # all that ranks of one machine need: without a look at the others mpirun takes 3 quarters of the time
export HWLOC_COMPONENTS=-pci,-linuxio,-opencl            # what MPI and dfc ask about CPUs and memory; a look at all devices takes a third of the time of a rank,
                                                           # and mpirun would load PoCL, whose LLVM takes its SIGUSR1, and a tenth of a second
export CCACHE_DISABLE=1                                    # CC may be "ccache gcc": it would write other paths into what is compared
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:suppressions=$PWD/tests/tsan.supp} ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allow_user_segv_handler=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
limit=${DF_TEST_LIMIT_S:-600} temp=
# The folders of tests, and what compilers and dfc write meanwhile, are in memory if that has 4 GiB free: thousands of small files take less of the system
# there than on a disk. TMPDIR names another place; with DF_KEEP the folders stay, so they are where they always were.
if [ -z "${TMPDIR:-}${DF_KEEP:-}" ] && [ "$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -ge $((4 << 20)) ] 2>/dev/null && temp=$(mktemp -d /dev/shm/df-XXXXXX); then
    trap 'rm -rf "$temp"' EXIT
    if cp "$(type -P true)" "$temp" && "$temp/true"; then export TMPDIR=$temp; fi   # programs can be run there
fi
export DF_TEST_CACHE=${temp:-$logs}/cache                  # objects that tests share: many compile the same kernels of examples/ and runtime/std/
# Tests start Python and link programs some hundred times. Where site-packages has much that is loaded at each start, and where `python3` is a script that
# looks for the interpreter, as pyenv's is, a start takes four times as long. So `python3` is the same interpreter in a virtual environment that has no
# packages: two files are one. Tests that use NumPy or Pillow ask /usr/bin/python3 for them. Else PATH stays, so that gcc and mpirun are those of the user.
# gold links in half the time of GNU ld, in a third of it without debug information, and lld in less again. The tests of what is linked, and those of a
# user's whole way, take the linker that users have.
tools=$build/test-tools
with_own_linker=' e2e-link e2e-install e2e-gpu_kit '

# What measures the machine does so in arrays that are many times as large as its caches: seconds for those of a server. These tests are told of 2 MiB,
# where processors are numbered as in hwloc's made-up machine.
with_small_caches=' unit-triad unit-probe unit-measure e2e-profile e2e-probe e2e-loaded e2e-opencl e2e-outputs '
small_caches=
[ "$(cat /sys/devices/system/cpu/online 2>/dev/null)" != "0-$(($(nproc) - 1))" ] || small_caches="l3:1(size=2097152) core:$(nproc) pu:1"

# A machine's GPUs are seen by the tests of CUDA alone: what the others expect of a program is the same everywhere (make gpu-check is for GPUs).
run_one() { # NAME COMMAND…: log in $logs/NAME, exit status in $logs/NAME.rc, seconds in $logs/NAME.s, of a core in NAME.cpu
    local n=$1 start=${EPOCHREALTIME/.} tenths TIMEFORMAT='%U %S'; shift
    case $n in *-cuda*) ;; *) export CUDA_VISIBLE_DEVICES='' ;; esac
    case $with_small_caches in
        *" $n "*) [ -z "$small_caches" ] || { unset HWLOC_COMPONENTS; export HWLOC_SYNTHETIC=$small_caches HWLOC_THISSYSTEM=1; } ;; # the former turns the latter off
    esac
    case $n in e2e-sum | e2e-install) ;; *) export NVCC_PREPEND_FLAGS=-std=c++14 ;; esac     # without C++17's <cmath>, which is 4 tenths of nvcc's time; two tests do as users
    # What is not set is not 0 by chance. Filled memory is resident, so none goes back to the system before the end: to get it again would cost page faults.
    case $n in unit-* | golden | e2e-reports) export GLIBC_TUNABLES=glibc.malloc.perturb=165:glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=268435456 ;; esac
    case $with_own_linker in *" $n "*) ;; *) [ ! -e "$tools/ld" ] || export COMPILER_PATH=$tools ;; esac
    { time timeout -k 5 "$limit" "$@" >"$logs/$n" 2>&1 </dev/null; echo $? >"$logs/$n.rc"; } 2>"$logs/$n.cpu"
    tenths=$(((${EPOCHREALTIME/.} - start + 50000) / 100000)); echo "$((tenths / 10)).$((tenths % 10))" >"$logs/$n.s"
}
export -f run_one; export logs limit tools with_own_linker with_small_caches small_caches

# The tests of this run, a line each: NAME, tab, command.
jobs_list() {
    local t n
    for t in "$build"/tests/test_*; do case $t in *.d) ;; *) [ -x "$t" ] && printf 'unit-%s\t%s\n' "${t##*/test_}" "$t" ;; esac; done
    if [ -d compiler ]; then
        printf 'rooms\tpython3 tests/rooms.py %s\n' "$build"
        printf 'rooms-figure\tpython3 tests/rooms_figure.py --check\n'
    fi
    [ -x tests/model/run.sh ] && printf 'model-cluster\ttests/model/run.sh %s cluster quick\n' "$build"
    [ -x tests/golden/run.sh ] && printf 'golden\ttests/golden/run.sh %s\n' "$DFC"
    for t in tests/e2e/t_*.sh; do n=${t##*/t_}; [ -e "$t" ] && printf 'e2e-%s\tbash tests/e2e/one.sh %s\n' "${n%.sh}" "$t"; done
}
mapfile -t list < <(jobs_list)
[ "${names[*]}" != --list ] || { printf '%s\n' "${list[@]%%$'\t'*}"; exit 0; }
for name in "${names[@]}"; do
    printf '%s\n' "${list[@]}" | awk -F'\t' -v n="$name" '$1 == substr(n, 2) && n ~ /^=/ || n !~ /^=/ && index($1, n) { found = 1 } END { exit !found }' ||
        { echo "no test has '$name' in its name"; exit 2; }
done
[ ${#names[@]} = 0 ] || mapfile -t list < <(jobs_list | awk -F'\t' -v names="${names[*]}" 'BEGIN { n = split(names, name, " ") }
    { for (i = 1; i <= n; i++) if (name[i] == "=" $1 || name[i] !~ /^=/ && index($1, name[i])) { print; next } }')
[ -n "${DF_TEST_LOGS:-}" ] || rm -rf "$logs"
rm -rf "$DF_TEST_CACHE"; mkdir -p "$logs" "$tools"; mkdir -m 700 "$DF_TEST_CACHE"
# install_tool FILE: what it reads becomes a tool. An equal one stays as it is, and another takes its place at once: `make mutate` runs several of these
# scripts in one build folder, and the tests of one link while the next begins.
install_tool() {
    cat >"$1.$$" && chmod +x "$1.$$"
    if cmp -s "$1.$$" "$1"; then rm "$1.$$"; else mv "$1.$$" "$1"; fi
}
if gold=$(command -v ld.gold); then             # in which link-time optimisation is gcc's own plug-in; lld has none for it
    without=; [ "${build##*/}" != release ] || without=-S
    { echo '#!/bin/sh'
      ! lld=$(command -v ld.lld) || echo "case \$COLLECT_GCC_OPTIONS in *-flto*) ;; *) exec $lld --threads=1 $without \"\$@\" ;; esac"
      echo "exec $gold $without \"\$@\""; } | install_tool "$tools/ld"
fi
if python=$(python3 -c 'import sys; print(sys._base_executable)' 2>/dev/null); then
    mkdir -p "$tools/python/bin"
    [ "$(readlink "$tools/python/bin/python3")" = "$python" ] || ln -sf "$python" "$tools/python/bin/python3"
    printf 'home = %s\ninclude-system-site-packages = false\n' "${python%/*}" | install_tool "$tools/python/pyvenv.cfg"
    PATH=$tools/python/bin:$PATH
fi
# Scripts and Python programs call cc and c++: these are the compilers of $CC and $CXX. Without a CXX it is the one that belongs to CC, as for dfc.
as_compiler() { # NAME COMMAND: calls of NAME are calls of COMMAND, which may have a wrapper before it
    local file
    if file=$(command -v "$2"); then
        [ "$(readlink "$tools/bin/$1")" = "$file" ] || ln -sf "$file" "$tools/bin/$1"
        return
    fi
    file=$(command -v "${2%% *}") || file=${2%% *}      # tests may have another PATH
    printf '#!/bin/sh\nexec %s "$@"\n' "$file${2#"${2%% *}"}" | install_tool "$tools/bin/$1"
}
if [ -n "${CC:-}" ]; then
    compiler=${CC##*[/ ]}
    case $compiler in *clang*) cxx=${compiler/clang/clang++} ;; *gcc*) cxx=${compiler/gcc/g++} ;; *) cxx= ;; esac
    export CC CXX=${CXX:-${cxx:+${CC%"$compiler"}$cxx}}
    mkdir -p "$tools/bin"
    as_compiler cc "$CC"
    as_compiler c++ "${CXX:-c++}"
    PATH=$tools/bin:$PATH
fi
took=$build/test-seconds; touch "$took"         # NAME, tab, seconds
# Tests that mostly wait use no core meanwhile. They run beside the rest: those that measure or wait for emulated links and slow sources one after the
# other, and two at a time those that wait for the processes of an mpirun.
waits=$'^(unit-probe|unit-peer|unit-event_wait|e2e-wrong|e2e-profile|e2e-rehearse|e2e-signals|e2e-interrupt)\t'
waits_for_ranks=$'^(unit-comm|unit-shares|e2e-stages|e2e-killed|e2e-checkpoint_ranks|e2e-at_workers|e2e-mpi|e2e-networks|e2e-cluster|e2e-cluster_stats|e2e-slurm|e2e-tuned)\t'
# What took the longest in the run before begins first, so that no long test runs alone in the end. Tests that had no run yet are before all.
longest_first() { awk -F'\t' -v took="$took" 'FILENAME == took { s[$1] = $2; next } { print ($1 in s ? s[$1] : 1e9) "\t" $0 }' "$took" - | sort -t $'\t' -k 1,1gr -s | cut -f 2-; }
run_all() { xargs -r -P "$1" -d '\n' -I{} bash -c 'IFS=$'"'\t'"' read -r n c <<<"$1"; run_one "$n" $c' _ {}; }
if [ -n "${DF_TEST_JOBS:-}" ]; then printf '%s\n' "${list[@]}" | longest_first | run_all "$DF_TEST_JOBS"; else
    printf '%s\n' "${list[@]}" | grep -E "$waits" | run_all 1 &
    printf '%s\n' "${list[@]}" | grep -E "$waits_for_ranks" | longest_first | run_all 2 &
    printf '%s\n' "${list[@]}" | grep -vE "$waits|$waits_for_ranks" | longest_first | run_all $(($(nproc) + 1))
    wait
fi

if [ ${#names[@]} = 0 ]; then for line in "${list[@]}"; do n=${line%%$'\t'*}; read -r seconds <"$logs/$n.s"; printf '%s\t%s\n' "$n" "$seconds"; done >"$took"; fi
printf '%s\n' "${list[@]}" | awk -v logs="$logs" -v shown_logs="${logs#"$PWD"/}" -v limit="$limit" -f tests/table.awk
