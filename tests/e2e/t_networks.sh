# Ranks on four hosts that are network namespaces (networks.py): links of 100 Mbit/s and 1 Gbit/s, delay, loss, ranks that are killed while tokens move, links
# that go down. Each run completes with the bytes of one process, or ends with a message and --resume gives these bytes. NETWORKS=all: 200 kills,
# 50 runs without a fault, and 20 links that go down, with tokens of 1 to 150 MB; an hour.
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip networks "MPI itself is not made for sanitizers"; return 0; fi
have_ranks networks || return 0
mpirun --version | grep -q 'Open MPI' || { skip networks 'mpirun is not of Open MPI'; return 0; }
[ "$(id -u)" = 0 ] || { skip networks 'network namespaces need root'; return 0; }
command -v ip >/dev/null && command -v tc >/dev/null || { skip networks 'no ip or tc (iproute2)'; return 0; }
cp "$DF_BUILD/lib/libdf-mpi.so" .
unset OMPI_MCA_pml OMPI_MCA_btl                # what other tests tell Open MPI holds for the ranks of one host

# tokens MB WAVES: the program t$1 and what so many waves of it give.
tokens() {
    [ -x "t$1" ] || check "compile-t$1" "$DFC" -D "n=$(($1 * 1000000))" "$programs/tokens.df" --nvcc=none -o "t$1"
    ./t"$1" --waves="$2" --output="want$1-$2"
}
# trials NAME MB WAVES TRIAL… -- OPTION…: each TRIAL is KIND:RATE:COUNT.
trials() {
    local name=$1 mb=$2 waves=$3 list=() got; shift 3
    while [ $# -gt 0 ] && [ "$1" != -- ]; do list+=("${1%:*}:$waves:${1##*:}"); shift; done
    tokens "$mb" "$waves"
    python3 "$DF_SOURCE/tests/e2e/networks.py" "t$mb" "${list[@]}" --want="want$mb-$waves" "${@:2}" >"$name.txt" 2>&1; got=$?
    grep '^count ' "$name.txt" | sed "s/^count/figure $name/"
    case $got in
    0) pass "$name" ;;
    77) skip "$name" "$(tail -n 1 "$name.txt")" ;;
    *) fail "$name" "$(grep -vE ', complete,|, message,' "$name.txt" | tail -n 12 | tr '\n' ' ')" ;;
    esac
}

if [ "${NETWORKS:-}" != all ]; then
    trials slow 5 2 none:100mbit:1 -- --ranks=2 --heartbeat=1s
    trials killed 5 8 kill:1gbit:1 root:1gbit:1 -- --ranks=3 --within=1
    trials lossy 1 4 none:100mbit:1 -- --loss=1 --ranks=2
    trials delayed 1 4 none:100mbit:1 -- --netem='delay 50ms loss 0.5%' --ranks=2
    return 0
fi
trials faultless-1 1 60 none:100mbit:20 -- --limit=120
trials faultless-20 20 5 none:100mbit:25 -- --limit=300
trials faultless-150 150 2 none:100mbit:5 -- --ranks=2 --limit=300 --heartbeat=10s
trials killed-1 1 300 kill:1gbit:60 -- --limit=120 --within=2
trials killed-20 20 24 kill:1gbit:60 -- --limit=120 --within=4
trials killed-slow 20 4 kill:100mbit:20 -- --limit=200 --within=8
trials killed-150 150 2 kill:1gbit:20 -- --limit=200 --within=6
trials killed-root 20 12 root:1gbit:40 -- --limit=120 --within=4
trials cut 5 12 cut:100mbit:10 blink:100mbit:10 -- --limit=200 --within=4
trials lossy 1 60 none:100mbit:10 kill:100mbit:10 -- --loss=1 --limit=200 --within=4
trials delayed 1 30 none:100mbit:10 kill:100mbit:10 -- --netem='delay 50ms 10ms loss 0.5%' --limit=200
