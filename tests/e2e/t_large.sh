# A chain of 10^6 nodes and a wavefront of 1000 x 1000: the limits are 30 s to compile, 10 s to run, 4 GiB each. The figures are printed.
# Sanitizers multiply time and memory, so there the graphs are smaller and only the result counts.
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then n=20000 side=100; else n=1000000 side=1000; fi
bash "$DF_SOURCE/tests/bench/large.sh" "$DFC" . $n $side >csv 2>err || fail large "$(tail -n 3 err csv)"
while IFS=, read -r step seconds peak cpu status; do
    [ "$step" = step ] && continue
    echo "figure large: $step $seconds s, $cpu s of a core, peak $peak MiB"
    case $step in *compile) limit=30 ;; *) limit=10 ;; esac
    if [ "$status" = 0 ] && awk "BEGIN { exit !($seconds <= $limit && $peak <= 4096) }"; then pass "$step"; else
        fail "$step" "$seconds s, $peak MiB, exit $status"; fi
done <csv
