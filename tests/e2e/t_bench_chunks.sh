# tests/bench/chunks.sh with a few chunks: each system that is here gives its two rows; one that is not is skipped and counted. No figure is looked at.
if grep -q fsanitize "$DF_BUILD/obj/flags"; then skip chunks "MPI itself is not made for sanitizers"; exit 0; fi
said=$(CHUNKS=6:2 "$DF_SOURCE/tests/bench/chunks.sh" "$DF_BUILD" out 1 2>&1); status=$?
[ $status = 0 ] && pass status || fail status "$status: $said"
for system in dfc 'Work Queue' 'MPI loop'; do
    if grep -q "^skip $system: " <<<"$said"; then skip "$system" "$(sed -n "s/^skip $system: //p" <<<"$said")"; continue; fi
    expect "10-ms $system" 0 "^\| 10 ms \| 6 \| $system[^|]* \| [0-9.]+ s \| -?[0-9.]+ ms \|$" echo "$said"
    expect "100-ms $system" 0 "^\| 100 ms \| 2 \| $system[^|]* \| [0-9.]+ s \| -?[0-9.]+ ms \|$" echo "$said"
done
