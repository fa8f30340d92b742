# What dfc says of graphs and platforms of $programs, in full: each report must be the file of its name there. They follow from costs and virtual time, so that
# they are the same on every machine. DF_UPDATE_REPORTS=1 writes them anew: read the difference before you keep it.
cp "$programs"/*.df "$programs/trace.json" .
update=${DF_UPDATE_REPORTS:-}

compare() { # NAME TEXT
    if [ -n "$update" ]; then printf '%s\n' "$2" >"$programs/$1.txt"; fi
    if [ "$2" = "$(<"$programs/$1.txt")" ]; then pass "$1"; else fail "$1" "differs: $(diff <(echo "$2") "$programs/$1.txt" | head -n 8 | tr '\n' ' ')"; fi
}
# report NAME COMMAND…: what dfc prints for the command, and its exit status.
report() {
    local name=$1 said; shift
    said=$("$DFC" "$@" 2>&1; echo "exit $?")
    compare "$name" "$said"
}
# simulation NAME GRAPH OPTION…: the same without the times that planning takes.
simulation() {
    local name=$1 said; shift
    said=$("$DFC" simulate --platform=machine.df "$@" 2>&1 | sed -E 's/( [0-9]+) +[0-9.]+ (us|ms|s)$/\1/; s/^(([^,]*,){11})[0-9.]+$/\1/; s/"plan_ms": [0-9.]+/"plan_ms": 0/')
    compare "$name" "$said"
}
# files NAME FILE…: what was written there.
files() {
    local name=$1 file text=; shift
    for file; do text+="==== $file"$'\n'"$(<"$file")"$'\n'; done
    compare "$name" "${text%$'\n'}"
}

# ---- one machine ----
simulation simulate wave.df --policy=all
simulation simulate-csv wave.df --policy=eager,dmda,heft,gp --waves=3 --dl --prefetch --format=csv
simulation simulate-json wave.df --policy=peft,all-gpu,gp --waves=4 --evict=belady --format=json
simulation simulate-stream stream.df --waves=20 --policy=all --inflight=3
simulation simulate-passes volume.df --waves=12 --policy=all-gpu,gp --format=json
simulation simulate-passes-text volume.df --waves=12 --policy=all-gpu --passes=4
simulation simulate-errors wave.df --policy=dmda,heft,eager --error=sigma:0.3 --draws=6
simulation simulate-confounded wave.df --policy=pats,ws --error=confound:40 --draws=4 --format=csv
simulation simulate-confounded-more "$DF_SOURCE/examples/graphs/cholesky.df" -D T=6 --policy=heft,dmdas --error=confound:40 --format=csv
simulation simulate-off wave.df --policy=dmda,peft --error=off:30 --draws=4
"$DFC" simulate small.df --platform=machine.df --policy=dmda --waves=2 --gantt=gantt.svg --schedule=jobs.csv >said 2>&1 || fail pictures "$(<said)"
"$DFC" simulate small.df --platform=machine.df --policy=all-gpu,heft --schedule=jobs.json >said 2>&1 || fail schedule "$(<said)"
files simulate-files gantt.svg jobs.csv jobs.json

report partition partition wave.df --platform=machine.df
report partition-stream partition stream.df --platform=machine.df --waves=20 --format=json --schedule=stream.csv
report partition-csv partition wave.df --platform=machine.df --policy=heft --format=csv
report partition-two partition volume.df --platform=machine.df --policy=gp-thesis
"$DFC" partition small.df --platform=machine.df --policy=heft --waits -o heft.dot -o heft.svg --memory=memory.svg >said 2>&1 || fail pictures "$(<said)"
files partition-files stream.csv heft.dot heft.svg memory.svg

report explain explain wave.df --platform=machine.df --what-if
report explain-stream explain stream.df --platform=machine.df --what-if --waves=20
report explain-csv explain wave.df --platform=machine.df --policy=heft --format=csv
report explain-changes explain stream.df --platform=machine.df --what-if --format=csv
report explain-node explain volume.df --platform=machine.df --node='back*' --policy=heft
report explain-slow explain slow.df --platform=machine.df --top=0
report explain-serial explain serial.df --platform=machine.df --top=0
echo 'platform alone { cpu host { workers = 3; } }' >alone.df
expect serial-alone 0 '^slow: serial.df:7, fixed' "$DFC" explain serial.df --platform=alone.df --top=0
if "$DFC" explain serial.df --platform=alone.df --top=0 | grep -q 'on a GPU'; then fail serial-no-gpu; else pass serial-no-gpu; fi
report notes notes.df --lib --nvcc=none -o libnotes.so
[ -z "$("$DFC" notes.df --lib --nvcc=none -w -o libnotes.so 2>&1)" ] && pass notes-silent || fail notes-silent "-w has notes"
for step in graph dot metis plan ast; do report "emit-$step" small.df --platform=machine.df --emit=$step; done
report emit-plan-passes volume.df --platform=machine.df --emit=plan

# ---- many machines ----
report scale scale line.df --platform=site.df --waves=200
report scale-json scale line.df --platform=site.df --waves=100 --nodes=1,2,4 --vary=20 --read=2MB --write=1MB --format=json
report scale-csv scale line.df --platform=site.df --waves=50 --weak --nodes=1,4 --window=3 --format=csv --plot=scale.svg
report scale-parts scale volume.df --platform=site.df --share=parts --waves=20 --nodes=2,4,8
report demand scale tiles.df --platform=site.df --stream-policy=all --waves=100 --fires=high=50 --sizes=sizes.csv --plot=demand.svg
report demand-csv scale tiles.df --platform=site.df --stream-policy=ddwrr,odds --waves=60 --nodes=4,8 --requests=4 --most=8 --homes=2 --format=csv
files scale-files scale.svg sizes.csv demand.svg

report map map line.df --platform=site.df --budget=500 -o line.svg -o line.dot -o line.map
report map-groups map line.df --platform=site.df --budget=500 --feeding=demand --replicate=groups --format=csv
report map-drift map line.df --platform=site.df --budget=500 --show=hedpm --drift=work@30:3 --tune --waves=200 --plot=drift.svg
report map-drift-csv map line.df --platform=site.df --budget=500 --show=dpm --use=line.map --drift=big.2@10-40:2 --waves=60 --format=csv
report map-long map long.df --platform=few.df --budget=300 --format=csv
report map-unlike map "$DF_SOURCE/examples/cluster/ferret-stages.df" --platform="$DF_SOURCE/examples/cluster/fourteen.df" --budget=300 --format=csv
report map-word map line.df --platform=site.df --show=hedmp
report map-far-word map line.df --platform=site.df --replicate=x
files map-files line.svg line.dot line.map drift.svg

# ---- traces ----
report gantt gantt trace.json -o -
report windows gantt trace.json --windows -o windows.csv
"$DFC" gantt trace.json --windows -o windows.svg || fail windows
files windows-files windows.csv windows.svg
