# The templates for Slurm (examples/cluster): as plain scripts, and under a Slurm of one node that is started and ended here. Chunks of an array are
# merged; a run is stopped by a signal, queued again, and goes on. With SLURM_STRIKE=limit the job's own time limit sends that signal, after half a minute.
templates=$DF_SOURCE/examples/cluster
PATH=$PATH:/usr/sbin:/sbin
strike=${SLURM_STRIKE:-scancel}
cp "$DF_SOURCE"/tests/e2e/programs/resume/* .
check compile "$DFC" plain.df --nvcc=none -o plain
head -c 1200 "$DFC" >in.raw                     # 150 waves
mkdir want; (cd want && ../plain --input=../in.raw) || fail want "exit $?"
for t in "$templates"/*.sbatch; do
    name=$(basename "$t" .sbatch)
    check "syntax-$name" bash -n "$t"
    if command -v shellcheck >/dev/null; then check "lint-$name" shellcheck "$t"; else skip "lint-$name" 'no shellcheck'; fi
done
# all NAME: the folder has the files of a whole run, with the same bytes, and none that is half-written.
all() {
    local got; got=$(diff -rq -x '*.log' -x 'part-*' -x '*.journal' -x 'ranks-*' -x plain -x in.raw ../want . 2>&1)
    [ -z "$got" ] && pass "$1" || fail "$1" "$(head -n 4 <<<"$got" | tr '\n' ' ')"
}
place() { mkdir "$folder/$1" && cd "$folder/$1" && cp -p ../plain ../in.raw .; }
within() { # SECONDS COMMAND…: it succeeds within that time, and four times that on a slow machine
    local end=$((SECONDS + 4 * $1))
    while [ $SECONDS -le $end ]; do "${@:2}" && return; sleep 0.1; done
    return 1
}
has_record() { grep -q '^done [1-9]' plain.journal 2>/dev/null; }
export DFC

# What Slurm would set is set here.
place as-scripts
for i in 0 1 2; do
    check "chunk-$i" env SLURM_ARRAY_TASK_ID=$i STAGE="$([ $i = 0 ] || echo in.raw)" TMPDIR="$folder" bash "$templates/chunks.sbatch" 60 ./plain --input=in.raw
done
check merge bash "$templates/merge.sbatch"
all merged
[ -z "$(ls -d "$folder"/tmp.* 2>/dev/null)" ] && pass staged-is-removed || fail staged-is-removed "$(ls "$folder")"
expect chunk-fails 1 "cannot read 'nothing'" env SLURM_ARRAY_TASK_ID=9 bash "$templates/chunks.sbatch" 60 ./plain --input=nothing
expect chunk-no-array 1 'SLURM_ARRAY_TASK_ID: sbatch needs --array' bash "$templates/chunks.sbatch" 60 ./plain
expect chunk-no-app 1 'usage: sbatch --array=0-9 chunks.sbatch EACH ./app' env SLURM_ARRAY_TASK_ID=9 bash "$templates/chunks.sbatch" 60
expect chunk-other-app 1 'plian: No such file' env SLURM_ARRAY_TASK_ID=9 bash "$templates/chunks.sbatch" 60 ./plian
expect resume-no-app 1 'usage: sbatch resume.sbatch ./app' bash "$templates/resume.sbatch"
expect resume-other-app 1 'plian: No such file' bash "$templates/resume.sbatch" ./plian
rm -f "$folder"/as-scripts/[!pi]*

mkdir bin; printf '#!/bin/sh\necho "$@" >>requeued.log\n' >bin/scontrol; chmod +x bin/scontrol
resume() { exec env SLURM_NNODES=1 SLURM_JOB_ID=7 PATH="$PWD/bin:$PATH" "$@" bash "$templates/resume.sbatch" ./plain --input=in.raw --us=20000 --workers=2; }
stopped() { # NAME SIGNAL REQUEUED [VARIABLE=VALUE]
    local pid got; rm -f requeued.log plain.journal ./*.part
    resume "${@:4}" >said.log 2>&1 & pid=$!
    within 20 has_record; kill "-$2" $pid; wait $pid; got=$?
    [ $got = 75 ] && [ "$(cat requeued.log 2>/dev/null)" = "$3" ] && pass "$1" || fail "$1" "exit $got: $(cat said.log requeued.log 2>&1 | tr '\n' ' ')"
}
stopped often-enough USR1 '' SLURM_RESTART_COUNT=2 RESTARTS=2
stopped stopped-TERM TERM ''
stopped stopped-USR1 USR1 'requeue 7'
expect goes-on 0 'waves are done, .*: going on$' eval '(resume)'
printf '#!/bin/sh\necho mpirun "$@"\n' >bin/mpirun; chmod +x bin/mpirun; mv plain.journal plain.keep
expect mpirun-says-0 1 '^mpirun -n 2 --map-by node .*--enable-recovery .*/plain --cluster --input=in.raw .*--resume$' eval '(resume RANKS=2)'
mv plain.keep plain.journal
expect mpirun-all-done 0 '^mpirun -n 5 ' eval '(resume SLURM_NNODES=4)'
rm -r bin requeued.log; all resumed

for tool in slurmctld slurmd munged sbatch; do command -v $tool >/dev/null || { skip slurm "no $tool (slurm-wlm and munge)"; return; }; done

# A Slurm of one node, on ports that are free, with all its files in this folder.
slurm=$folder/slurm daemons=()
end_slurm() {
    [ -n "$(jobs -r)" ] && timeout 10 scancel --full --signal=KILL --user="$(id -un)" 2>/dev/null
    [ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
    wait
}
trap 'end_slurm; [ -n "${DF_KEEP:-}" ] || rm -rf "$folder"' EXIT
start_slurm() {
    local host ports; host=$(hostname -s)
    read -r -a ports < <(python3 -c '
import socket
held = [socket.socket() for _ in range(2)]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))')
    mkdir -p "$slurm/state" "$slurm/spool"
    (umask 077; head -c 128 /dev/urandom >"$slurm/key")
    cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/munge,cred_expire=5
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MailProg=/bin/true
PlugStackConfig=/dev/null
NodeName=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=16 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
END
    export SLURM_CONF=$slurm/slurm.conf
    munged --foreground --force --socket="$slurm/munge" --key-file="$slurm/key" --pid-file="$slurm/munge.pid" --log-file="$slurm/munge.log" \
        --seed-file="$slurm/seed" >"$slurm/munged.out" 2>&1 & daemons+=($!)
    within 10 test -S "$slurm/munge"
    slurmctld -D >"$slurm/slurmctld.out" 2>&1 & daemons+=($!)
    slurmd -D -N "$host" >"$slurm/slurmd.out" 2>&1 & daemons+=($!)
    within 20 eval 'timeout 5 sinfo -h -o %t 2>/dev/null | grep -q idle'
}
start_slurm || { fail slurm "it does not start: $(tail -n 4 "$slurm"/*.out "$slurm"/*.log)"; return; }
expect doctor 0 '^  ok +Slurm +slurm.* [0-9.]+; all\* 1 nodes, infinite$' "$DFC" doctor --quick
state() { scontrol show job -o "$1" | grep -o ' JobState=[A-Z]*' | sort | uniq -c | tr -s ' \n' ' '; }
is() { [ "$(state "$1")" = "$2" ]; }
ends() { within "$3" is "$2" ' 1 JobState=COMPLETED ' && pass "$1" || fail "$1" "$(scontrol show job -o "$2") $(tail -n 4 ./*.log "$slurm"/slurm*.log)"; }

# The time limit strikes, or a signal as it would send it. Meanwhile the job waits in the queue.
place requeue
if [ "$strike" = limit ]; then us=500000 limit=1; else us=30000 limit=10; fi
struck=$(sbatch --parsable --time=$limit "$templates/resume.sbatch" ./plain --input=in.raw --us=$us --workers=2)
within 20 has_record
[ "$strike" = limit ] || scancel --batch --signal=USR1 "$struck"
within 60 grep -qs 'stopped by SIGUSR1' resume.log && pass strikes || fail strikes "$(cat resume.log)"

# A job that is cancelled is not queued again.
place cancelled
cancelled=$(sbatch --parsable "$templates/resume.sbatch" ./plain --input=in.raw --us=30000 --workers=2)
within 20 has_record; scancel "$cancelled"

# On three ranks a job goes on, too.
ranks=; place ranks
if ! command -v mpirun >/dev/null || [ ! -e "$DF_BUILD/lib/libdf-mpi.so" ]; then skip ranks 'no mpirun, or no mpicc when dfc was built'
elif grep -q fsanitize "$DF_BUILD/obj/flags"; then skip ranks 'MPI itself is not made for sanitizers'
else
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ranks=$(RANKS=3 sbatch --parsable "$templates/resume.sbatch" ./plain --input=in.raw --us=30000 --workers=1)
    within 30 has_record; scancel --batch --signal=USR1 "$ranks"
    within 30 grep -qs 'stopped by SIGUSR1' resume.log && pass ranks-strikes || fail ranks-strikes "$(tail -n 5 resume.log)"
fi

# The commands of docs/clusters.md, as they stand there; what installs packages and dfc, and what needs several nodes, is left out.
mkdir -p "$folder/home/dfc/share" "$folder/page" && ln -s "$DF_SOURCE" "$folder/home/dfc/share/dfc"
PATH=$(dirname "$DFC"):$PATH; cd "$folder/page" || return
sed -n '/^## With Slurm/,/^## How far/p' "$DF_SOURCE/docs/clusters.md" >page.md
sed -n '/^```/,/^```/{/^```/!p}' page.md >app.df
sed -n 's/^    //p' page.md | grep -vE '^(sudo|make|export) |--nodes=' >commands
[ "$(wc -l <commands)" = 7 ] && pass page-commands || fail page-commands "$(cat commands)"
formulas_for none
check page-runs env HOME="$folder/home" NVCC=none bash -e commands
jobs=$(squeue -h -o %i --name=merge,resume | grep -vx -e "$struck" -e "${ranks:-none}" -e "$cancelled")
for job in $jobs; do ends "page-job-$job" "$job" 90; done
check page-alone ./app --input=in.raw --output=alone.raw
same page-merged out.raw alone.raw
same page-resumed resumed.raw alone.raw
expect page-told 0 '^dfc: 1000 waves in 1 file, up to the end of the stream$' cat merge.log

cd "$folder/requeue" || return
ends goes-on-after "$struck" 120
all requeue-bytes
expect requeue-told 0 'waves are done, .*: going on$' cat resume.log
expect requeued 0 ' Restarts=1 ' scontrol show job -o "$struck"
expect cancelled 0 ' JobState=CANCELLED .* Restarts=0 ' scontrol show job -o "$cancelled"
expect cancelled-in-order 0 'stopped by SIGUSR1' cat "$folder/cancelled/resume.log"
[ -n "$ranks" ] || return
cd "$folder/ranks" || return
ends ranks-go-on "$ranks" 60
all ranks-bytes
expect ranks-told 0 'waves are done, .*: going on$' cat resume.log
for rank in 0 1 2; do check "ranks-log-$rank" test -e "ranks-$ranks/1/rank.$rank/stderr"; done
