# Random programs with empty tokens, extents of each wave, accs, state and divided nodes, against what tests/random/streams.py computes.
# DF_STREAMS (default 3) of them, from DF_STREAMS_FIRST (1) on; `make check-streams` has more.
python3 "$DF_SOURCE/tests/random/streams.py" "$DF_BUILD" --programs="${DF_STREAMS:-3}" --first="${DF_STREAMS_FIRST:-1}"
