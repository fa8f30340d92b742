# Checkpoints of accs whose parts ranks share, and of accs of ranks that share waves: rank 0, others and mpirun are killed or stopped, and --resume goes on behind
# the checkpoints with any number of ranks. The result is that of one process. What is counted is how often a kernel was called, and on which rank.
have_ranks ranks || return 0
shm=$(mktemp -d -p /dev/shm 2>/dev/null) && trap 'in_the_end "$shm" "$folder"' EXIT && cd "$shm" # syncing waits for other processes on a disk
formulas_for none
cp "$programs/shared.df" . && check compile "$DFC" shared.df --nvcc=none -o shared
mkdir want mpi work && touch want/go && (cd want && ../shared) && cd work || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$shm/mpi OMPI_MCA_btl_vader_backing_directory=$shm/mpi
limit_s=200
files() { ls shared.journal.accs-* 2>/dev/null; }
# What is asked again and again starts no process. waves_of: with which wave each part goes on that has a file, in `waves`.
waves_of() {
    local file line
    waves=()
    for file in shared.journal.accs-*; do
        line=
        { IFS= read -r line <"$file"; } 2>/dev/null
        [[ $line =~ waves\ ([0-9]+) ]] && waves+=("${BASH_REMATCH[1]}")
    done
}
# The least wave with which a part goes on; 0 if one of the five has no file.
first() { waves_of; local w least=${waves[0]:-0}; for w in "${waves[@]}"; do ((w >= least)) || least=$w; done; [ ${#waves[@]} = 5 ] && echo "$least" || echo 0; }
most() { waves_of; local w most=0; for w in "${waves[@]}"; do ((w <= most)) || most=$w; done; echo "$most"; }
until_true() { for ((t = 0; t < 4000; t++)); do "$@" && return; nap 0.05; done; fail until-true "$*: $(cat errors)"; }
ends() {
    local state
    for ((t = 0; t < limit_s * 10; t++)); do { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ] || return 0; nap 0.1; done
    return 1
}
# begin RANKS OPTION…: each rank writes its process into pid.RANK.
begin() {
    local n=$1; shift; rm -f pid.* calls
    # shellcheck disable=SC2016
    mpirun --oversubscribe --bind-to none "${mpi[@]}" -n "$n" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh ../shared --cluster --workers=1 \
        --device=none --heartbeat-timeout=5s --resume "$@" >stdout 2>errors &
    launcher=$!
}
has_first() { [ "$(first)" -ge "$1" ]; }
called() { # WAVE TIMES
    local wave n=0
    while read -r wave _; do [ "$wave" != "$1" ] || n=$((n + 1)); done 2>/dev/null <calls
    [ $n -ge "$2" ]
}
# goes_on NAME RANKS WAVE OPTION…: the resumed run calls `slow` for no wave before this one, or before the checkpoints if it is -, and the result is right.
goes_on() {
    local name=$1 n=$2 from=$3 least; shift 3; [ "$from" != - ] || from=$(first); touch go; begin "$n" "$@"
    ends $launcher || { fail "$name" "it has not ended: $(cat errors)"; kill -9 $launcher; }
    wait $launcher
    same "$name-result" result.raw ../want/result.raw
    least=$(sort -n calls | head -n 1 | cut -d' ' -f1)
    [ "${least:-100}" = "$from" ] && pass "$name-calls" || fail "$name-calls" "from wave $least on, not from $from: $(cat errors)"
    [ -z "$(files)" ] && pass "$name-removed" || fail "$name-removed" "$(files)"
    rm -rf ./*
}
mpi=(--enable-recovery)
# stopped_at SIGNAL WHOM RANKS: in wave 60, with checkpoints of waves before. WHOM is a rank, mpirun, or all. When rank 0 is killed alone, the others end
# by themselves after the 5 s of --heartbeat-timeout: this is waited for once.
stopped_at() {
    begin "$3" --checkpoint=10ms; until_true called 60 $(($3 - 1)); until_true has_first 1
    case $2 in mpirun) kill "-$1" $launcher ;; all) kill "-$1" $(cat pid.*) ;; *) kill "-$1" "$(cat "pid.$2")" ;; esac
}
killed_all() { ends $launcher || fail killed-all "$(cat errors)"; wait $launcher 2>/dev/null; for p in pid.*; do ends "$(cat $p)" || fail killed-all "$p"; done; }
stopped_at 9 0 4; killed_all; goes_on rank-0-same 4 -
if long; then stopped_at 9 all 4; killed_all; goes_on all-fewer 2 -; stopped_at 9 all 2; killed_all; goes_on all-more 7 -; fi
stopped_at 9 mpirun 3; killed_all; goes_on mpirun 4 - --device=emu --emu-all --policy=all-gpu
# A damaged file counts as missing: its part begins with wave 0.
stopped_at 9 all 4; killed_all; printf x | dd of="$(files | head -n 1)" bs=1 seek=300 conv=notrunc 2>/dev/null; goes_on damaged 3 0
# One rank waits in wave 60, another one is far ahead: with fewer waves wanted than that, all parts get as many as the farthest one has had.
is_ahead() { [ "$(first)" != 0 ] && [ "$(most)" -gt 80 ]; }
touch go.1; begin 3 --checkpoint=10ms --last=100000; until_true is_ahead; kill -9 $(cat pid.*); killed_all; farthest=$(most); touch go
begin 3 --last=100000 --waves=30; ends $launcher; wait $launcher && pass fewer-waves || fail fewer-waves "$(cat errors)"
mkdir ../want-farthest && touch ../want-farthest/go && (cd ../want-farthest && ../shared --last=100000 --waves="$farthest")
same fewer-waves-result result.raw ../want-farthest/result.raw; rm -rf ./*
# Another program's checkpoints, or those of a journal before, are not taken.
stopped_at 9 all 3; killed_all; rm shared.journal; touch go; begin 3; ends $launcher; wait $launcher
same anew-result result.raw ../want/result.raw
called 0 2 && pass anew || fail anew "$(sort -n calls | head -n 3)"; rm -rf ./*
# alone NAME WANT OPTION…: one process goes on, and calls `slow` once for each wave from the one on that the part that is farthest behind has not had.
alone() {
    local name=$1 want=$2 from; from=$(first); shift 2; rm -f calls; touch go
    check "$name" ../shared --resume "$@"
    same "$name-result" result.raw "$want"
    [ "$(sort -n calls | head -n 1)" = "$from 0" ] && [ -z "$(sort calls | uniq -d)" ] && pass "$name-calls" || fail "$name-calls" "$(sort -n calls | head -n 1), not from $from"
    [ -z "$(files)" ] && pass "$name-removed" || fail "$name-removed" "$(files)"
    rm -rf ./*
}
stopped_at 9 all 3; killed_all; alone alone ../want/result.raw
if long; then stopped_at 9 all 3; killed_all; alone alone-device ../want/result.raw --device=emu --emu-all --policy=all-gpu; fi
stopped_at 9 all 4; killed_all; printf x | dd of="$(files | head -n 1)" bs=1 seek=300 conv=notrunc 2>/dev/null
rm calls; touch go; check alone-damaged ../shared --resume; same alone-damaged-result result.raw ../want/result.raw
called 0 1 && pass alone-damaged-calls || fail alone-damaged-calls "$(sort -n calls | head -n 1)"; rm -rf ./*
# The parts are at unlike waves.
touch go.1; begin 3 --checkpoint=10ms --last=100000; until_true is_ahead; kill -9 $(cat pid.*); killed_all; farthest=$(most); mkdir ../want-alone
(cd ../want-alone && touch go && ../shared --last=100000 --waves="$farthest"); alone alone-unlike ../want-alone/result.raw --last=100000 --waves=30
# Ranks go on with what one process has left.
../shared --resume --checkpoint=10ms --workers=1 2>errors & until_true called 60 1; until_true [ -e shared.journal.accs ]; kill -9 $!; wait $! 2>/dev/null
goes_on after-one 3 "$(head -n 1 shared.journal.accs | grep -a -oE 'waves [0-9]+' | cut -d' ' -f2)"
# A rank that is killed: another one begins with its checkpoint, not with wave 0.
stopped_at 9 1 4; touch go; ends $launcher; wait $launcher
same worker-result result.raw ../want/result.raw
[ "$(grep -c '^0 ' calls)" = 3 ] && pass worker-calls || fail worker-calls "$(sort -n calls | head -n 5): $(cat errors)"; rm -rf ./*
# A signal: what is in flight ends, and all is written.
mkdir ../want-1000 && touch ../want-1000/go && (cd ../want-1000 && ../shared --last=1000)
signalled() { # NAME STATUS SIGNAL WHOM
    local got from
    begin 3 --last=1000; until_true called 60 2
    kill "-$3" "$([ "$4" = mpirun ] && echo $launcher || cat "pid.$4")"; touch go
    ends $launcher || fail "$1" "$(cat errors)"; wait $launcher; got=$?
    if grep -q '^end' shared.journal; then skip "$1" 'it ended before the signal came'; rm -rf ./*; return; fi
    from=$(first)
    [ $got = "$2" ] && [ "$from" -gt 59 ] && grep -qE "^shared: stopped by SIG$3 after $from waves; --resume goes on$" errors && pass "$1" ||
        fail "$1" "exit $got, $from waves: $(cat errors)"
    begin 3 --last=1000; ends $launcher; wait $launcher
    same "$1-result" result.raw ../want-1000/result.raw
    [ "$(sort -n calls | head -n 1 | cut -d' ' -f1)" = "$from" ] && pass "$1-calls" || fail "$1-calls" "$(sort -n calls | head -n 1), not from $from"
    expect "$1-told" 0 "^shared: the accs are as they were after $from (to [0-9]+ )?waves$" cat errors; rm -rf ./*
}
mpi=()
! long || signalled term 75 TERM 0
signalled usr1 75 USR1 mpirun

# ---- ranks that share waves: rank 0 has the accs, and one file has them all ----
mpi=(--enable-recovery)
sed 's/stream restart/stream restart resume/' ../shared.df >../whole.df && check compile-whole "$DFC" ../whole.df --nvcc=none -o ../shared
files() { ls shared.journal.accs 2>/dev/null; }
first() { [ -e shared.journal.accs ] && head -n 1 shared.journal.accs | grep -a -oE 'waves [0-9]+' | cut -d' ' -f2 || echo 0; }
# stopped SIGNAL WHOM RANKS OPTION…: WHOM is a rank, mpirun, or all.
stopped() {
    local signal=$1 whom=$2 n=$3; shift 3
    begin "$n" --checkpoint=10ms "${@:---share=waves}"; until_true called 60 1; until_true has_first 1
    case $whom in mpirun) kill "-$signal" $launcher ;; all) kill "-$signal" $(cat pid.*) ;; *) kill "-$signal" "$(cat "pid.$whom")" ;; esac
}
stopped 9 "$(long && echo 0 || echo all)" 4; killed_all; goes_on waves-rank-0 3 - --share=waves
if long; then
    stopped 9 mpirun 3; killed_all; goes_on waves-mpirun 5 - --share=waves
    stopped 9 0 3; killed_all; stopped 9 0 4; killed_all; goes_on waves-twice 2 - --share=waves
fi
# A worker that dies changes nothing.
if long; then
    stopped 9 1 4; touch go; ends $launcher; wait $launcher; same waves-worker-result result.raw ../want/result.raw
    [ "$(grep -c '^0 ' calls)" = 1 ] && pass waves-worker-calls || fail waves-worker-calls "$(sort -n calls | head -n 5): $(cat errors)"; rm -rf ./*
fi
# One process goes on with what ranks have left, and ranks with what it has left.
stopped 9 all 3; killed_all; from=$(first); rm calls; touch go; check waves-alone ../shared --resume
same waves-alone-result result.raw ../want/result.raw
[ "$(sort -n calls | head -n 1 | cut -d' ' -f1)" = "$from" ] && pass waves-alone-calls || fail waves-alone-calls "$(sort -n calls | head -n 1), not from $from"; rm -rf ./*
if long; then
    ../shared --resume --checkpoint=10ms --workers=1 2>errors & until_true called 60 1; until_true has_first 1; kill -9 $!; wait $! 2>/dev/null
    goes_on waves-after-one 4 - --share=waves
fi
# Stages on ranks.
echo 'slow: a' >../stages.map
stopped 9 all 3 --mapping=../stages.map; killed_all; goes_on waves-stages 3 - --mapping=../stages.map
# A signal: the checkpoint has all waves that have ended.
mpi=()
begin 3 --share=waves --last=1000; until_true called 60 1; kill -TERM "$(cat pid.0)"; touch go
ends $launcher || fail waves-term "$(cat errors)"; wait $launcher; got=$?
if grep -q '^end' shared.journal; then skip waves-term 'it ended before the signal came'; rm -rf ./*
else
    from=$(first)
    [ $got = 75 ] && [ "$from" = "$(grep '^done' shared.journal | tail -n 1 | cut -d' ' -f2)" ] && pass waves-term || fail waves-term "exit $got, $from: $(cat errors)"
    begin 4 --share=waves --last=1000; ends $launcher; wait $launcher
    same waves-term-result result.raw ../want-1000/result.raw
    expect waves-term-told 0 "^shared: the accs are as they were after $from waves$" cat errors; rm -rf ./*
fi
