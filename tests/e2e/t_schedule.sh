# Schedules as data: `dfc simulate --schedule`, `dfc partition --schedule` and `dfc partition --format`, as CSV and as JSON.
cp "$programs/graph.df" .

# Every policy's schedule holds: its jobs, workers, dependencies, copies and makespan.
check one-wave python3 "$programs/check.py" "$DFC" graph.df 1
check waves python3 "$programs/check.py" "$DFC" graph.df 5 --inflight=3
check jobs-in-flight python3 "$programs/check.py" "$DFC" graph.df 4 --policy=eager,dmda,gp --gpu-jobs=3 --prefetch
check little-memory python3 "$programs/check.py" "$DFC" graph.df 4 --policy=dmda,ws,gp,all-gpu --gpu-mem=500kB
policies=(gp gp-thesis heft all-cpu all-gpu dmda eager)
mapfile -t said < <(python3 "$programs/placement.py" "$DFC" graph.df "${policies[@]}")
for i in "${!policies[@]}"; do
    [ "${said[i]:-}" = "${policies[i]}: right" ] && pass "placement ${policies[i]}" || fail "placement ${policies[i]}" "${said[i]:-nothing is said}"
done

# The same bytes each time; a chart beside it changes neither.
"$DFC" simulate graph.df --policy=dmda,gp --schedule=a.csv >/dev/null
"$DFC" simulate graph.df --policy=dmda --gantt=alone.svg >/dev/null
"$DFC" simulate graph.df --policy=dmda,gp --schedule=b.csv --gantt=g.svg >/dev/null
same repetition b.csv a.csv
same beside-a-chart g-dmda.svg alone.svg
"$DFC" simulate graph.df --schedule=a.json >/dev/null; "$DFC" simulate graph.df --schedule=b.json >/dev/null; same repetition-json b.json a.json

# One node that costs nothing, in a graph with a name that JSON must escape and on a platform without devices.
printf 'kernel seven(out v: u8) cost cpu 0us;\ngraph main { _ = seven(); }\n' >'a"b.df'
for c in simulate partition; do
    "$DFC" $c 'a"b.df' --policy=gp --device=none --schedule=one.json --format=json >figures.json 2>err || fail "one-node-$c" "$(cat err)"
    check "one-node-$c" python3 - <<'PY'
import json
one, figures = json.load(open("one.json")), json.load(open("figures.json"))
assert one["graph"] == figures["graph"] == 'a"b'
(row,) = one["policies"][0]["rows"]
assert row == {"kind": "job", "wave": 0, "node": "main/seven", "kernel": "seven", "unit": "host", "threads": 0, "start_s": 0, "end_s": 0}, row
PY
done
printf 'node,kernel,unit,worker,time_s,start_s,end_s\nmain/seven,seven,host,,0,0,0\n' >want.csv
same one-node-csv <("$DFC" partition 'a"b.df' --policy=gp --device=none --format=csv 2>/dev/null) want.csv

# What is wrong is told before any work, and nothing is replaced or left behind.
cp graph.df graph.csv; rm -f g.csv
for c in simulate partition; do
    for name in s.txt s csv dir.csv/s '' -; do
        expect "name-$c $name" 2 "^dfc: error: --schedule=$name: a name that ends in .csv or .json is expected$" "$DFC" $c graph.df --schedule="$name"
    done
    expect "needs-$c" 2 '^dfc: error: --schedule needs a value$' "$DFC" $c graph.df --schedule
    expect "input-$c" 1 "^dfc: error: 'graph.csv' is not written: it would replace 'graph.csv', which it is made of$" "$DFC" $c graph.csv --schedule=graph.csv
    expect "folder-$c" 1 "^dfc: error: cannot write 'no/s.csv': No such file or directory$" "$DFC" $c graph.df --schedule=no/s.csv
    expect "format-$c" 2 '^dfc: error: --format=xml: one of text, csv, json is expected$' "$DFC" $c graph.df --format=xml
done
same input-kept graph.csv graph.df
expect apart-figures 2 "^dfc: error: -o and --schedule would both write 'g.csv'$" "$DFC" simulate graph.df -o g.csv --schedule=g.csv
expect apart-chart 2 "^dfc: error: --gantt and --schedule would both write 'g.csv'$" "$DFC" simulate graph.df --policy=gp --gantt=g.csv --schedule=g.csv
expect apart-charts 2 "^dfc: error: --gantt and --schedule would both write 'g-ws.csv'$" "$DFC" simulate graph.df --policy=gp,ws --gantt=g.csv --schedule=g-ws.csv
expect apart-picture 2 "^dfc: error: --svg and --schedule would both write 'g.csv'$" "$DFC" partition graph.df --schedule=g.csv --svg=g.csv
ls g.csv g-ws.csv >left 2>/dev/null && fail nothing-written "$(cat left)" || pass nothing-written
if [ -c /dev/full ]; then
    ln -s /dev/full full.csv; ln -s /dev/full full.json
    for f in full.csv full.json; do for c in simulate partition; do
        expect "$f-$c" 1 "^dfc: error: cannot write '/dev/full': No space left on device$" "$DFC" $c graph.df --policy=gp --schedule=$f
    done; done
else
    skip full "no /dev/full here"
fi
[ -z "$(find . -name '.dfc-*')" ] && pass no-temporaries || fail no-temporaries "$(find . -name '.dfc-*')"
