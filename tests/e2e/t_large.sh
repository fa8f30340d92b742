# A chain and a wavefront of 10^5 nodes, and with LARGE=all (make check-long) of 10^6: the limit is 4 GiB each. The times are printed as figures;
# where they should be is 30 s to compile and 10 s to run. Sanitizers multiply time and memory, so there the graphs are smaller and only the result counts.
n=100000 side=316; [ "${LARGE:-}" != all ] || n=1000000 side=1000
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then n=20000 side=100; fi
bash "$DF_SOURCE/tests/bench/large.sh" "$DFC" . $n $side >csv 2>err || fail large "$(tail -n 3 err csv)"
while IFS=, read -r step seconds peak cpu status; do
    [ "$step" = step ] && continue
    echo "figure large: $step $seconds s, $cpu s of a core, peak $peak MiB"
    if [ "$status" = 0 ] && awk "BEGIN { exit !($peak <= 4096) }"; then pass "$step"; else
        fail "$step" "$seconds s, $peak MiB, exit $status"; fi
done <csv
