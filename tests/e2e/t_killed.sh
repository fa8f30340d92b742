# --cluster with --journal and --resume: ranks and mpirun are killed or stopped at any moment, and disks are full. The result is there at once or after
# --resume, the same bytes as of one process, nothing lost and nothing twice. KILLED=100 does each so often; KILLED_SEED chooses the moments,
# KILLED_PROGRAM the program.
have_ranks killed || return 0
shm=$(mktemp -d -p /dev/shm 2>/dev/null) && trap 'in_the_end "$shm" "$folder"' EXIT && cd "$shm" # syncing waits for other processes on a disk
cp "$DF_SOURCE"/tests/e2e/programs/resume/* .
formulas_for none
all=(plain counts tiles); [ -z "${KILLED:-}${KILLED_PROGRAM:-}" ] || all+=(keeps)
for p in "${all[@]}"; do check "compile-$p" "$DFC" $p.df --nvcc=none --no-opencl -o $p; done
head -c 1200 "$DFC" >in.raw                     # 150 waves
declare -A args=([plain]=--input=../in.raw [keeps]=--input=../in.raw [counts]=--many=150 [tiles]=--input=../in.raw)
for p in "${all[@]}"; do mkdir want-$p; (cd want-$p && ../$p ${args[$p]} >stdout) || fail "want-$p" "$(ls want-$p)"; done
mkdir mpi work; cd work || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$shm/mpi OMPI_MCA_btl_vader_backing_directory=$shm/mpi
RANDOM=${KILLED_SEED:-16}
limit_s=200
beats=5s                                        # a rank of a busy machine is silent for a second at times
us=20000                                        # that a wave takes

# begin RANKS PROGRAM OPTION…: starts mpirun, whose process is $launcher; each rank writes its process into pid.RANK.
begin() {
    local n=$1 program=$2; shift 2
    rm -f pid.*
    # shellcheck disable=SC2016
    env --default-signal=INT mpirun --oversubscribe --bind-to none "${mpi[@]}" -n "$n" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; [ $OMPI_COMM_WORLD_RANK != 0 ] || '"${first:-:}"'; exec "$@"' \
        sh ../$program ${args[$program]} --cluster --workers=1 --heartbeat-timeout=$beats --us=$us "$@" >>stdout 2>errors &
    launcher=$!
}
# ends PID: within the time limit.
ends() {
    local state
    for ((t = 0; t < limit_s * 10; t++)); do { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ] || return 0; nap 0.1; done
    return 1
}
# While there is a file `hold`, waves from 60 on wait (kernels.c): so a run goes on until the test has done to it what it does.
until_run() { # WORD: a line of the journal begins with it
    local file line
    for ((t = 0; t < limit_s * 20; t++)); do
        for file in ./*.journal; do
            while read -r line; do [[ $line != "$1"* ]] || return 0; done 2>/dev/null <"$file"
        done 2>/dev/null
        nap 0.05
    done
    fail until-run "$1: $(cat errors)"
}
moment() { nap "$(printf 0.%03d $((RANDOM % 900)))"; }
done_now() { grep -q '^end ' ./*.journal 2>/dev/null; }
of_rank() { cat "pid.$1"; }

# all NAME PROGRAM: each file of a whole run is there with the same bytes, and no other; what is printed may be there twice.
all() {
    local got left=(); case $1 in stopped-* | live-*) left=(-x '.dfc-*') ;; esac # such a rank may begin a file when all others have ended
    got=$(diff -rq "${left[@]}" -x '*.journal' -x stdout -x errors -x 'pid.*' ../want-$2 . 2>&1)
    [ -z "$got" ] && pass "$1" || fail "$1" "$(head -n 4 <<<"$got" | tr '\n' ' ') $(tail -n 3 errors)"
    rm -rf ./* .dfc-*
}
# finish NAME PROGRAM: the mpirun has ended or ends; if the result is not there, a run on 1 to 4 ranks goes on.
resumed=0
finish() {
    local name=$1 program=$2 n=$((1 + RANDOM % 4))
    ends $launcher || { fail "$name" "mpirun has not ended after $limit_s s: $(cat errors)"; kill -9 $launcher; }
    wait $launcher 2>/dev/null
    if ! done_now; then
        [ "$3" != at-once ] || { fail "$name" "the result is not there at once: $(tail -n 3 errors)"; }
        resumed=$((resumed + 1)) first=: mpi=()
        begin $n $program --resume
        ends $launcher || { fail "$name" "the resumed run has not ended after $limit_s s: $(cat errors)"; kill -9 $launcher; }
        wait $launcher || fail "$name" "$n ranks, exit $?: $(cat errors)"
    fi
    all "$name" $program
}

kinds='worker two-workers mpirun rank-0 stopped live disk'
# hit SIGNAL PID: in the middle of the run.
hits=0
hit() { ! done_now && kill "-$1" "$2" 2>/dev/null && hits=$((hits + 1)); }

# trial KIND NUMBER [PROGRAM]
trial() {
    local kind=$1 program name=$1-$2 p rank
    program=${KILLED_PROGRAM:-${3:-${all[RANDOM % ${#all[@]}]}}}
    mpi=(--enable-recovery) first=: beats=5s
    [ $kind != stopped ] || beats=2s
    [ $kind != disk ] || { mpi+=(--mca btl tcp,self); first="ulimit -f 1"; }
    begin 4 $program --resume
    [ $kind = disk ] || { until_run 'run 1'; moment; }
    case $kind in
    worker) hit 9 "$(of_rank $((1 + RANDOM % 3)))"; finish $name $program at-once ;;
    two-workers) p=$((1 + RANDOM % 3)); hit 9 "$(of_rank $p)"; moment; hit 9 "$(of_rank $((1 + p % 3)))"; finish $name $program at-once ;;
    mpirun) hit 9 $launcher; for rank in 0 1 2 3; do ends "$(of_rank $rank)" || fail "$name" "rank $rank still runs"; done; finish $name $program ;;
    rank-0) hit 9 "$(of_rank 0)"; finish $name $program ;;
    stopped) p=$(of_rank $((1 + RANDOM % 3))); hit STOP "$p"; sleep 2; moment; moment; kill -CONT "$p" 2>/dev/null; finish $name $program at-once ;;
    live) hit 9 $launcher; finish $name $program ;;
    disk) ends $launcher; done_now && fail "$name" 'the disk was not full'; finish $name $program ;;
    esac
}
# A kernel that hangs: its wave goes to another rank, and its own rank ends without it.
cat >../hangs.df <<'END'
kernel count(out v: i64[n]) stream cpu {{ if (df_wave(call) == 30) return DF_END; v[0] = df_wave(call); }};
kernel square(in v: i64[n], out w: i64[n]) cpu {{
#include <fcntl.h>
#include <unistd.h>
    while (v[0] == 10 && access("hung", F_OK) != 0) if (open("hung", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) for (;;) pause();
    w[0] = v[0] * v[0];
}};
kernel show(in w: i64[n]) ordered cpu {{ printf("%lld\n", (long long)w[0]); }};
graph main { v: i64[1] = count(); w = square(v); show(w); }
END
check compile-hangs "$DFC" ../hangs.df --nvcc=none --no-opencl -o ../hangs
for ((i = 0; i < 30; i++)); do echo $((i * i)); done >../squares
timeout $limit_s mpirun --oversubscribe --bind-to none --enable-recovery -n 3 ../hangs --cluster --workers=1 --wave-timeout=500ms >stdout 2>errors; got=$?
if [ $got = 0 ] && [ -e hung ]; then same hangs stdout ../squares; else fail hangs "exit $got: $(tail -n 4 errors)"; fi
expect hangs-told 0 '^hangs: warning: rank [12] on .* counts as dead: it has held a wave for' cat errors
rm -f ./*

n_kinds=${KILLED_KINDS:-$kinds}
if [ -z "${KILLED:-}" ]; then trial worker 0 plain; trial mpirun 0 counts; trial rank-0 0 tiles; trial disk 0 plain
else for ((i = 0; i < KILLED; i++)); do for kind in $n_kinds; do trial $kind $i; done; done; fi
echo "figure killed: $hits signals in the middle of a run, $resumed runs were resumed"

# ---- signals ----
# signalled NAME STATUS SIGNAL WHOM PATTERN OPTION…: WHOM is a rank, or mpirun. With --enable-recovery mpirun's status is 0, and the journal tells.
signalled() {
    local name=$1 status=$2 signal=$3 whom=$4 pattern=$5 got; shift 5
    touch hold; begin 3 plain --resume "$@"
    until_run done
    if [ $whom = mpirun ]; then kill -$signal $launcher; else kill -$signal "$(of_rank $whom)"; fi
    [ "$name" = grace ] || rm hold
    ends $launcher || { fail "$name" "mpirun has not ended: $(cat errors)"; kill -9 $launcher; }
    wait $launcher; got=$?; rm -f hold
    [ $got = $status ] && grep -qE "$pattern" errors && pass "$name" || fail "$name" "exit $got: $(head -n 5 errors)"
    if done_now; then fail "$name-not-done" "$(tail -n 1 plain.journal)"; fi
    finish "$name-resumed" plain
}
first=: mpi=() us=2000                          # `hold` keeps these runs until they are hit
signalled term 75 TERM 0 '^plain: stopped by SIGTERM after [0-9]+ waves; --resume goes on$'
! long || signalled int 130 INT 0 '^plain: stopped by SIGINT after [0-9]+ waves; --resume goes on$'
signalled usr1-to-all 75 USR1 mpirun '^plain: stopped by SIGUSR1 after [0-9]+ waves; --resume goes on$'
signalled grace 75 TERM 0 '^plain: stopped by SIGTERM after [0-9]+ waves, while others had not ended; --resume goes on$' --grace=1ms
mpi=(--enable-recovery)
! long || signalled recovery 0 USR1 mpirun '^plain: stopped by SIGUSR1 after [0-9]+ waves; --resume goes on$'
mpi=()
# Without a journal rank 0 ends at once, and the others with it.
touch hold; begin 3 plain; for ((t = 0; t < limit_s * 20; t++)); do compgen -G '.dfc-*' >/dev/null && break; nap 0.05; done
kill -INT "$(of_rank 0)"; ends $launcher || { fail int-alone "mpirun has not ended: $(cat errors)"; kill -9 $launcher; }
wait $launcher; got=$?; rm -f hold
for rank in 1 2; do ends "$(of_rank $rank)" || fail int-alone "rank $rank still runs"; done
[ $got != 0 ] && ! compgen -G '.dfc-*' >/dev/null && [ ! -e out.raw ] && pass int-alone || fail int-alone "exit $got: $(ls -A) $(cat errors)"
rm -rf ./* .dfc-*
touch hold; begin 3 plain --resume; until_run done; kill -TERM "$(of_rank 1)"; rm hold; finish leaves plain at-once

# ---- the journal ----
begin 3 plain --journal; ends $launcher; expect nothing 0 "^plain: all 150 waves are done, as 'plain.journal' says: nothing is left to do$" \
    timeout $limit_s mpirun --oversubscribe --bind-to none -n 3 ../plain ${args[plain]} --us=$us --cluster --resume
all journal plain
mpi=(--enable-recovery)
# Who has it keeps it, and others wait for 5 s: then they are refused.
touch hold; begin 2 plain --resume; until_run done; kill -STOP "$(of_rank 0)"
expect held 1 "^plain: error: another process is at work with the journal 'plain.journal'$" \
    timeout $limit_s mpirun --oversubscribe --bind-to none -n 2 ../plain ${args[plain]} --us=$us --cluster --workers=1 --resume
kill -9 "$(of_rank 0)"; rm hold; finish held-resumed plain
# One rank that is alone waits, too: the ranks of a killed mpirun need a moment to end.
flock plain.journal sleep 2 & until ! flock -n plain.journal true; do nap 0.02; done
begin 1 plain --resume; finish held-alone plain at-once
# Where the system cannot lock, the older run is told at its next record that it is not the last one.
touch hold; begin 2 plain --resume; until_run done; printf 'x' >>plain.journal; rm hold; ends $launcher; wait $launcher; got=$?
if [ $got = 1 ] && grep -qE "^plain: error: another process has gone on with the journal 'plain.journal'; this one, number 1, has written its last record$" errors
then pass fenced; else fail fenced "exit $got: $(head -n 3 errors)"; fi
finish fenced-resumed plain
