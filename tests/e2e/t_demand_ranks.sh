# DDFCFS, DDWRR and ODDS on four ranks over real MPI, in a program whose workers wait in place of computing: each tile is done once, and no buffer is
# above its bound, which the program itself asserts. How long it takes is not asserted.
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip ranks "MPI itself is not made for sanitizers"; exit 0; fi
said=$(timeout -k 10 300 "$DF_SOURCE/tests/bench/stream_ranks.sh" "$DF_BUILD" out 150 0.2 2>&1); status=$?
if [[ $said == skip* ]]; then skip ranks "${said#*: }"; exit 0; fi
[ $status = 0 ] && pass status || fail status "$status: $said"
for row in 'ddfcfs \| 1' 'ddfcfs \| 4' 'ddfcfs \| 16' 'ddwrr \| 1' 'ddwrr \| 4' 'ddwrr \| 16' 'odds \| by DQAA'; do
    expect "$(tr -cd 'a-z0-9' <<<"$row")" 0 "^\| $row \| [0-9.]+ s \| [0-9.]+ \| [0-9.]+ % \| [0-9.]+ % \|\$" echo "$said"
done
# A rank that has no core for a moment asks others when these have all that they want: they still answer.
timeout -k 10 120 "$DF_SOURCE/tests/bench/stream_ranks.sh" "$DF_BUILD" out 60 0.05 20 >late.out 2>&1; status=$?
[ $status = 0 ] && [ "$(grep -c '^| [do]' late.out)" = 7 ] && pass late || fail late "exit $status: $(tail -n 3 late.out | tr '\n' ' ')"
expect best 0 '^best: DDFCFS [0-9.]+, DDWRR [0-9.]+, ODDS [0-9.]+, (the|not the) order of the paper; ODDS is [0-9.]+ times as fast as DDWRR$' echo "$said"
