# dfc map --drift: a mapping while stages and processors get slower, in virtual time, with tuning and without; and what is refused.
cluster=$DF_SOURCE/examples/cluster
ferret() { "$DFC" map "$cluster/ferret-stages.df" --platform="$cluster/fourteen.df" --feeding=demand --budget=3000 "$@"; }
study() { "$DFC" map "$cluster/hedpm.df" --platform="$cluster/hedpm-site.df" "$@"; }

# A stage slows to a third of its speed at wave 200. 50 waves later the rate is that of the best mapping for the new times, but for a tenth.
ferret --drift=rank@200:3 --tune --format=csv --plot=rate.svg >rate.csv
check back-soon python3 - <<'END'
import csv
rows = list(csv.DictReader(open("rate.csv")))
assert len(rows) == 1000 and list(rows[0]) == ["wave"] + [f"{m}_{u}" for m in ("stays", "tuned", "best") for u in ("s", "per_s")], rows[0]
rate = lambda name, a, b: (b - a) / (float(rows[b][name + "_s"]) - float(rows[a][name + "_s"]))
assert rate("tuned", 250, 350) >= 0.9 * rate("best", 250, 350) > 1.4 * rate("stays", 250, 350), [rate(n, 250, 350) for n in ("tuned", "best", "stays")]
assert rate("tuned", 50, 190) == rate("stays", 50, 190) > rate("best", 50, 190)
assert all(abs(float(r["tuned_per_s"]) / rate("tuned", w - 20, w) - 1) < 1e-4 for w, r in enumerate(rows) if w >= 20)
END
! long || { ferret --drift=rank@200:3 --tune --format=csv >again.csv; same deterministic again.csv rate.csv; }
ferret --drift=rank@200:3 --tune >said
expect says-why 0 "^wave 206: stage 'rank' takes 3\.00 times as long as was counted with: a new mapping, with a wave every [0-9]+ us instead of [0-9]+ us from wave [0-9]+ on:$" cat said
expect table 0 '^tuned +[0-9]+ +[0-9]+ +[0-9]+$' cat said
expect plot 0 '>rank@200:3</text>' cat rate.svg
expect plot-change 0 'a new mapping from wave 2[0-9]+ on' cat rate.svg
# The mapping that it says can be run: the text is one of --use.
sed -n '/^wave 206/,$p' said | tail -n +2 >new.map
expect new-mapping 0 '^given ' ferret --budget=100 --use=new.map

# What happens once changes nothing.
ferret --budget=100 --drift=rank@200-202:50 --drift=p6@300-300:20 --tune >once
expect once 0 '^The tuner found nothing to do\.$' cat once
ferret --budget=100 --drift=rank@200-202:50 --tune --format=csv >once.csv
check once-the-same python3 -c "
import csv
assert all(r['tuned_s'] == r['stays_s'] for r in csv.DictReader(open('once.csv')))"

# A processor: it has a name, too. The waves in order, and fewer.
study --budget=100 --drift=p4@50:4 --tune --waves=400 >p4
expect processor 0 "^wave [0-9]+: stage 's6' takes 4\.00 times as long as was counted with.*: (a new mapping|the mapping stays)" cat p4
expect fewer 0 '^400 waves that drift, in virtual time:$' cat p4
expect untuned 0 '^stays .*' study --budget=100 --drift=p4@50:4
study --budget=100 --drift=p4@50:4 >u; expect not-tuned 1 '' grep -e ^tuned -e '^wave ' u
expect no-rate-yet 0 '^stays +[0-9.]+ +- +-$' study --budget=100 --drift=p4@5:4 --waves=10

# ---- what is refused ----
syntax="it is NAME@WAVE:FACTOR, or NAME@FIRST-LAST:FACTOR"
for wrong in rank rank@ @200:3 rank@200 rank@x:3 rank@200: rank@200:0 rank@200:-3 rank@200:3x rank@300-200:3 rank@2000000:3 rank@200:nan; do
    expect "syntax-$wrong" 2 "^dfc: error: --drift=$wrong: $syntax" ferret "--drift=$wrong"
done
expect name 1 "--drift=rnak@200:3: there is no such stage or processor; did you mean 'rank'\?" ferret --budget=1 --drift=rnak@200:3
expect name-far 1 "--drift=xylophone@200:3: there is no such stage or processor$" ferret --budget=1 --drift=xylophone@200:3
many=$(for i in $(seq 17); do echo "--drift=rank@$i:2"; done)
# shellcheck disable=SC2086 # several words
expect many 2 '--drift is given more than 16 times' ferret $many
expect tune-alone 2 '--tune: --drift=NAME@WAVE:FACTOR says what drifts' ferret --tune
expect waves-alone 2 '--waves: --drift=NAME@WAVE:FACTOR says what drifts' ferret --waves=10
expect plot-alone 2 '--plot: --drift=NAME@WAVE:FACTOR says what drifts' ferret --plot=x.svg
expect waves-none 2 '--waves' ferret --drift=rank@1:2 --waves=0
expect same-file 2 'x.svg' ferret --drift=rank@1:2 --plot=x.svg -o x.svg
cp "$cluster/ferret-stages.df" own.df
expect onto-input 1 'own.df' "$DFC" map own.df --platform="$cluster/fourteen.df" --drift=rank@1:2 --plot=own.df
expect no-folder 1 'none/x.svg' ferret --drift=rank@1:2 --plot=none/x.svg
