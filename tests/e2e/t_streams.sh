# Random programs with empty tokens, extents of each wave, accs, state and divided nodes, against what tests/random/streams.py computes.
# DF_STREAMS (default 2, in make check-long 3) of them, from DF_STREAMS_FIRST (1) on, and as many libraries that sessions call; `make check-streams` has more.
formulas_for none
n=${DF_STREAMS:-$(long && echo 3 || echo 2)}
python3 "$DF_SOURCE/tests/random/streams.py" "$DF_BUILD" --programs="$n" --first="${DF_STREAMS_FIRST:-1}"
python3 "$DF_SOURCE/tests/random/streams.py" "$DF_BUILD" --sessions="$n" --first="${DF_STREAMS_FIRST:-1}"

# In a later pass sinks are left out, so tokens end that a GPU is still copying to the host. This run crashed in one of six.
python3 "$DF_SOURCE/tests/random/streams.py" "$DF_BUILD" --programs=1 --first=17 --under="bash $DF_SOURCE/tests/random/repeat.sh $(long && echo 30 || echo 8)" \
    --run="--passes=2 --device=emu --emu-all --policy=gp-thesis --inflight=7 --gpu-mem=20480 --pin=off"
