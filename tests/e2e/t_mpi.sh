# Waves over real MPI on this machine: manager, workers, communication threads and the plug-in, with a small C program in place of a graph. Ranks
# are killed, refused and stopped, and the launcher is killed.
plugin=$DF_BUILD/lib/libdf-mpi.so
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip mpi "MPI itself is not made for sanitizers"; exit 0; fi
check compiles cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$DF_SOURCE" "$programs/waves.c" -o waves -L"$DF_BUILD/lib" -ldf -lhwloc -pthread -lm -ldl -lrt \
    $(grep -oE -- '--coverage' "$DF_BUILD/obj/flags" | head -n 1)

# The plug-in is looked for where the program is, and named by DF_MPI.
expect no-plugin 3 "^cannot load MPI's plug-in: /nonexistent.so: cannot open shared object file" env DF_MPI=/nonexistent.so ./waves 1
expect no-plugin-anywhere 3 "^cannot load MPI's plug-in: libdf-mpi.so: cannot open shared object file" env -u LD_LIBRARY_PATH ./waves 1
echo 'const unsigned dfr_mpi_plugin[4] = { 99 };' > old.c && cc -shared -fPIC old.c -o old.so
expect other-version 3 "^MPI's plug-in is of another version of dfc: make it anew, and install it$" env DF_MPI=./old.so ./waves 1
echo 'not a library' > libdf-mpi.so
expect broken-plugin 3 "^cannot load MPI's plug-in: .*/libdf-mpi.so: file too short" ./waves 1
rm libdf-mpi.so

# A call of MPI that does not return ends the process with a sentence, whichever call it is; SIGPIPE in one does not. The rest of the process keeps it.
check stuck-compiles cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -fPIC -shared -I"$DF_SOURCE" "$programs/stuck.c" -o stuck.so
for where in open:MPI_Init 'gather:the start of MPI' 'send:a call of MPI' 'poll:a call of MPI' close:MPI_Finalize; do
    expect stuck-${where%%:*} 1 "^waves: error: ${where#*:} has not returned for 0.4 s: a rank has died, cannot be reached, or runs without --cluster\. This rank ends; with --journal, --resume goes on" \
        env DF_MPI=./stuck.so STUCK=${where%%:*} RANK=$([ ${where%%:*} = send ] && echo 1 || echo 0) DF_MPI_TIMEOUT=0.4 timeout 60 ./waves 5
done
expect broken-pipe 75 '^rank 0: that is enough$' env DF_MPI=./stuck.so STUCK=pipe timeout 60 ./waves 5
expect link-name 3 "^DF_LINK is 'udp', and neither 'mpi' nor 'tcp'$" env DF_MPI=./stuck.so STUCK=no DF_LINK=udp ./waves 5
for limit in soon 0 -1 5x nan; do expect limit-$limit 3 "^DF_MPI_TIMEOUT is '$limit', and no number of seconds from 0.1 on$" env DF_MPI=./stuck.so STUCK=no DF_MPI_TIMEOUT=$limit ./waves 5; done

[ -e "$plugin" ] || { skip mpi 'no mpicc (libopenmpi-dev) when dfc was built'; exit 0; }
command -v mpirun >/dev/null || { skip mpi 'no mpirun (openmpi-bin)'; exit 0; }
mpirun --version | grep -q 'Open MPI' || { skip mpi 'mpirun is not of Open MPI'; exit 0; }
cp "$plugin" .
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { timeout -k 10 200 mpirun --oversubscribe --bind-to none "$@"; }
lines() { seq 0 $(($1 - 1)) | awk '{ print $1, $1 * 3 + 1, $1 * 5 + 2 }'; }
# written NAME [WAVES]: the results of all waves, or of those that were written.
written() { set -- "$1" "${2:-$(wc -l <out.txt)}"; lines "$2" > expected.txt; same "$1" out.txt expected.txt; }
# wait_for FILE N: until it has N lines; wait_told PATTERN: until a line of said.txt matches. At most 100 s, but a few on any machine.
wait_for() {
    local all
    for _ in $(seq 1000); do
        [ ! -e "$1" ] || mapfile -t all <"$1"
        [ ${#all[@]} -lt "$2" ] || return 0
        nap 0.1
    done
    fail "wait-$1" "no $2 lines: $(cat said.txt)"
}
wait_told() { for _ in $(seq 500); do matches "$1" "$(<said.txt)" && return; nap 0.2; done; fail "wait-told" "no line matches '$1': $(cat said.txt)"; }
nap 0
ends() { for _ in $(seq 2000); do kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" || return 0; nap 0.1; done; return 1; }

expect alone 75 '^rank 0: no worker takes part$' ./waves 5
expect whole 0 '^rank 0: 200 waves, [0-9]+ deaths, whole$' run -n 4 ./waves 200 bytes=100
written whole-result 200
if command -v mpicc >/dev/null; then
    # Messages of many pieces, several at once.
    check pieces-compile mpicc -std=c11 -D_GNU_SOURCE -fPIC -shared -DPIECE_BYTES=1000 -I"$DF_SOURCE" "$DF_SOURCE/runtime/mpi/link_mpi.c" -o pieces.so
    expect pieces 0 '^rank 0: 30 waves, [0-9]+ deaths, whole$' env DF_MPI="$PWD/pieces.so" timeout -k 10 200 mpirun --oversubscribe --bind-to none -n 3 ./waves 30 window=4 bytes=300001
    written pieces-result 30
else
    skip pieces 'no mpicc'
fi
expect large 0 '^rank 0: 2 waves, [0-9]+ deaths, whole$' run -n 3 ./waves 2 bytes=20000000
written large-result 2
expect refused 1 '^rank 1 on .* is refused: it runs another program than rank 0, or with other arguments or sizes \(hash 0000000000001235, not 0000000000001234\)$' run -n 3 ./waves 20 other-hash=1
written refused-result 20

# The same over TCP connections, which ranks of one host have only if they are asked for.
expect tcp 0 '^rank 0: 200 waves, [0-9]+ deaths, whole$' env DF_LINK=tcp DF_TCP_IF=lo timeout -k 10 200 mpirun --oversubscribe --bind-to none -n 4 ./waves 200 bytes=100
written tcp-result 200
expect tcp-large 0 '^rank 0: 5 waves, [0-9]+ deaths, whole$' env DF_LINK=tcp DF_TCP_IF=127.0.0.0/8 timeout -k 10 200 mpirun --oversubscribe --bind-to none -n 3 ./waves 5 bytes=5000000
written tcp-large-result 5
expect tcp-network 3 "^no interface of this host is one of 'no-such0'$" env DF_LINK=tcp DF_TCP_IF=no-such0 timeout -k 10 200 mpirun --oversubscribe --bind-to none -n 2 ./waves 5

# A second of waiting; heartbeats, each second, as they are by default. No rank wakes more often than its backoff and the messages make it,
# and there are few messages. What that costs is a figure; WAITING_MS=10 says that more is wrong, on a machine that does nothing else.
run -n 3 ./waves 3 idle=1 beat-timeout=10 2> idle.txt
awk -v limit="${WAITING_MS:-0}" '/ waited / { n++; cost = $(NF - 6); if ($4 < 1) wrong = $0; if ($6 < 20 || $6 > $11 + 0) wrong = $0; if ($12 > 20 + 10 * $4) wrong = $0
        if (limit > 0 && cost >= limit) wrong = $0; if (cost > most) most = cost }
    END { if (n != 3 || wrong != "") { print "not ok idle: " n " ranks, " wrong; exit 1 }
        print "figure " most " ms of a core at most for a second of waiting"; print "ok idle" }' idle.txt || { cat idle.txt; failures=$((failures + 1)); }

# kill -9 of one worker, then of another, while they hold and send messages of 256 KiB: the run completes. It goes on until both count as dead.
rm -f out.txt pid.* over
run --enable-recovery -n 4 ./waves 150 work=0.05 bytes=262144 beat-timeout=2 until=over 2> said.txt &
wait_for out.txt 20; kill -9 "$(cat pid.2)"; sleep 0.3; kill -9 "$(cat pid.3)"
wait_told '^rank 2 on .* counts as dead'; wait_told '^rank 3 on .* counts as dead'; touch over
wait $!
written killed
expect killed-told 0 '^rank 0: [0-9]{3,} waves, ([2-9]|[0-9]{2,}) deaths, not whole$' cat said.txt

# Over TCP a death is seen at once, and the last one ends the run.
rm -f out.txt pid.* over
DF_LINK=tcp DF_TCP_IF=lo run --enable-recovery -n 3 ./waves 60 work=0.05 bytes=262144 beat-timeout=100 until=over 2> said.txt &
wait_for out.txt 20; kill -9 "$(cat pid.2)"
wait_told '^rank 2 on .* counts as dead: it has ended, or its connection has; waves that are given out again: [0-9]'; touch over
wait $!
written tcp-killed
rm -f out.txt pid.* over
DF_LINK=tcp DF_TCP_IF=lo run --enable-recovery -n 2 ./waves 150 work=0.02 beat-timeout=100 until=over 2> said.txt &
wait_for out.txt 5; kill -9 "$(cat pid.1)"
wait $!
written tcp-all-killed
expect tcp-all-killed-told 0 '^rank 0: no other rank is left: they have ended$' cat said.txt

# A wave that hangs counts as dead; so does a worker that is stopped, until it goes on.
expect hangs 0 '^rank 1 on .* counts as dead: it has held a wave for [0-9.]+ s; waves that are given out again: 1$' run --enable-recovery -n 3 ./waves 30 work=0.01 window=1 hang=1 wave-timeout=1
written hangs-result 30
rm -f out.txt pid.* over
run --enable-recovery -n 3 ./waves 150 work=0.02 beat-timeout=2 until=over 2> said.txt &
wait_for out.txt 20; kill -STOP "$(cat pid.2)"; wait_told '^rank 2 on .* counts as dead: it was silent for'
kill -CONT "$(cat pid.2)"; wait_told '^rank 2 on .* is heard again'; touch over
wait $!
written stopped
expect stopped-told 0 '^rank 2 on .* is heard again: it gets waves as before$' cat said.txt

# SIGTERM to rank 0, as mpirun and Slurm send it to all: what was given out is finished, and the status is 75.
rm -f out.txt pid.*
run -n 3 ./waves 10000 work=0.02 2> said.txt &
wait_for out.txt 10; kill -TERM "$(cat pid.0)"
wait $!; status=$?
[ $status = 75 ] && pass terminated || fail terminated "exit $status: $(tail -n 3 said.txt)"
written terminated-result

# Ranks end when their launcher is gone, and when rank 0 is.
rm -f out.txt pid.*
mpirun --oversubscribe --bind-to none --enable-recovery -n 3 ./waves 100000 work=0.02 2> said.txt &
launcher=$!
wait_for out.txt 10; kill -9 $launcher; wait $launcher 2>/dev/null
for rank in 0 1 2; do ends "$(cat pid.$rank)" && pass launcher-gone-$rank || { fail launcher-gone-$rank 'it still runs'; kill -9 "$(cat pid.$rank)"; }; done
rm -f out.txt pid.*
run --enable-recovery -n 3 ./waves 100000 work=0.02 beat-timeout=2 root-timeout=2 2> said.txt &
wait_for out.txt 10; kill -9 "$(cat pid.0)"
wait $!
for rank in 1 2; do expect rank-0-gone-$rank 0 "^rank $rank: rank 0 was silent for 2 s$" cat said.txt; done
rm -f out.txt pid.*
DF_LINK=tcp DF_TCP_IF=lo run --enable-recovery -n 3 ./waves 100000 work=0.02 2> said.txt &
wait_for out.txt 10; kill -9 "$(cat pid.0)"
wait $!
for rank in 1 2; do expect tcp-rank-0-gone-$rank 0 "^rank $rank: rank 0 has ended, or the connection to it has$" cat said.txt; done
