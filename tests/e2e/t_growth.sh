# Large graphs: gp stays near the area bound where list schedulers do not, and tests/bench/scale.py prints the growth. Its bound is worked out
# there anew from the times in the graph, so it also checks ours. Seconds are the bench's: make bench-scale.
cp "$DF_SOURCE/examples/graphs/study.df" .
cc -std=c11 -D_GNU_SOURCE -o layered "$DF_SOURCE/examples/graphs/layered.c" -lm
if grep -q 'fsanitize' "$DF_BUILD/obj/flags" 2>/dev/null; then n=2000 most=1.05; else n=10000 most=1.02; fi
./layered $n 0.1 1 >layered.df
"$DFC" simulate layered.df --policy=gp,heft --format=csv >csv 2>err || fail simulate "$(cat err)"
over() { awk -F, -v p="$1" '$3 == p { print $4 / $5 }' csv; }
if awk -v gp="$(over gp)" -v heft="$(over heft)" -v most=$most 'BEGIN { exit !(gp >= 1 && gp <= most && heft > gp) }'
then pass "near-the-bound"; else fail near-the-bound "gp $(over gp), heft $(over heft) of the bound at $n nodes; at most $most"; fi

./layered 1000 0.1 1 >small.df
"$DFC" simulate small.df --policy=gp --format=csv >csv
python3 "$DF_SOURCE/tests/bench/scale.py" "$DFC" ./layered study.df 1000 >table 2>err || fail scale.py "$(tail -n 3 err)"
expect growth 0 '^\| 1,000 \| `heft` \| 1\.[0-9]{4} \| [0-9]+ ms \| [0-9.]+ \|$' cat table
expect bound 0 "^\| 1,000 \| \`gp\` \| $(awk -v x="$(over gp)" 'BEGIN { printf "%.4f", x }') \|" cat table
expect usage 1 '^usage: scale.py' python3 "$DF_SOURCE/tests/bench/scale.py"
