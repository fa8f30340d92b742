# `dfc scale` beside SimGrid: where rank 0's link, the file system, the network, or none of them limits, the times differ by at most 3 %.
said=$(CXX=${CXX:-c++} "$DF_SOURCE/tests/bench/simgrid.sh" "$DF_BUILD" out 2>&1); status=$?
if [[ $said == skip* ]]; then skip simgrid "${said#*: }"; exit 0; fi
expect within-3-percent 0 '^largest difference: [0-2]\.[0-9]+ %$' echo "$said"
for case in 'link .* rank 0.s link' 'files .* the file system' 'unlike .* the network' 'window-1 .* nodes'; do
    expect "${case%% *}" 0 "^$case\$" echo "$said"
done
[ $status = 0 ] && pass status || fail status "$status: $said"
