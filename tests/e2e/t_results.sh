# What `make results` and its neighbours are made of: gp's budget, the tables with their checks, the plots, and that StarPU's absence is counted.
graph=$DF_SOURCE/examples/graphs/cholesky.df
makespan() { "$DFC" simulate "$graph" -D T=4 --policy=gp --format=csv "$@" 2>err | awk -F, 'NR == 2 { print $4 }'; }
few=$(makespan --budget=20) usual=$(makespan) many=$(makespan --budget=3x)
if awk -v a="$few" -v b="$usual" -v c="$many" 'BEGIN { exit !(a >= b && b >= c && c > 0) }'; then pass budget; else fail budget "$few $usual $many"; fi
if [ "$(makespan --budget=1x)" = "$usual" ]; then pass budget-times; else fail budget-times "$(makespan --budget=1x), $usual"; fi
expect wrong-budget 2 '--budget=0: a whole number from 1' "$DFC" simulate "$graph" --budget=0
expect wrong-budget-word 2 '--budget=10y' "$DFC" simulate "$graph" --budget=10y
expect wrong-cap 2 '--time-cap=-1: a time is expected' "$DFC" simulate "$graph" --time-cap=-1
expect wrong-objective 2 "--objective" "$DFC" simulate "$graph" --objective=both

# Any policy's placement can be drawn, with its critical path.
for policy in gp heft dmda eager; do
    check "drawn $policy" "$DFC" partition "$graph" -D T=4 --policy=$policy -o $policy.dot
    if [ "$(grep -c 'penwidth="\?3.5' $policy.dot)" -ge 4 ]; then pass "path $policy"; else fail "path $policy" "$(grep -c penwidth $policy.dot)"; fi
done
expect online 0 'for one wave as dmda decides in the run; .* with these places fixed' "$DFC" partition "$graph" -D T=4 --policy=dmda
expect wrong-policy 2 "unknown policy 'dmad'; did you mean 'dmda'" "$DFC" partition "$graph" --policy=dmad

bench=$DF_SOURCE/tests/bench head=family,budget,$("$DFC" simulate "$graph" -D T=2 --policy=eager --format=csv | head -n 1)
collected() { # DIR GP_MAKESPAN BOUND: two graphs, three policies
    mkdir -p "$1"; echo "$head" | tee "$1/runs.csv" "$1/deep.csv" >"$1/large.csv"
    for g in one two; do
        echo "stencils,1,$g,p,dmda,2,$3,10,10,4,0,1,1,0"; echo "stencils,1,$g,p,gp,$2,$3,10,10,2,0,1,1,5"; echo "stencils,1,$g,p,all-cpu,8,$3,0,0,0,0,8,0,0"
        echo "folder,1,$g,p,dmda,2,$3,10,10,4,0,1,1,0"; echo "folder,1,$g,p,gp,$2,$3,10,10,2,0,1,1,5"
    done >>"$1/runs.csv"
    printf 'stencils,10,one,p,gp,1.5,%s,10,10,2,0,1,1,5\nstencils,10,two,p,gp,1.6,%s,10,10,2,0,1,1,5\n' "$3" "$3" >>"$1/deep.csv"
    printf '1000,1,l,p,gp,1.5,1,10,10,2,0,1,1,5\n' >>"$1/large.csv"
    { echo "set,error,guard,$errors"
      for p in heft pams; do for e in 50 100; do
          echo "tiles,off:$e,on,one,p,$p,2,$([ $p = heft ] && echo $((2 + e / 50)) || echo 2),9,1,1"
      done; done
      for s in 0.3 0.6; do for g in on off; do for name in one two; do
          echo "latency,sigma:$s,$g,$name,p,gp,2,3,4,$([ $g-$name = off-two ] && echo 0.5 || echo 1),0.4"
      done; done; done; } >"$1/wrong.csv"
}
errors=$("$DFC" simulate "$graph" -D T=2 --policy=eager --error=off:10 --draws=1 --format=csv | head -n 1)
printf 'before\n<!-- results:families -->\nold\n<!-- end -->\nafter\n' >page.md
collected good 1.6 1
check tables python3 "$bench/results.py" good
expect ratio 0 '`dmda` \| 1\.250 \| 1\.250 \| 1\.25 \| 2 \| 0 \| 0' cat good/tables.md
expect budgets 0 'stencils \| 1\.033 \| 1\.067 \(one\) \| 1\.250 \| 1\.25 \|' cat good/tables.md
expect folder 0 '^## folder$' cat good/tables.md
check plots python3 -c 'import xml.dom.minidom as m; [m.parse("good/" + n) for n in ("families.svg", "profile.svg", "wrong.svg")]'
expect wrong-tiles 0 '`heft` \| 1\.50 \| 2\.00' cat good/tables.md
expect wrong-flat 0 '`pams` \| 1\.00 \| 1\.00' cat good/tables.md
expect wrong-guard 0 'the graphs above \(2\) \| σ = 0\.6 \| 1\.000 \| 1\.000 \(one\) \| 0\.707 \| 0\.500 \(two\)' cat good/tables.md
collected slow 2.5 1
expect gp-behind 1 'gp is slower than another policy on 4: one \(dmda\)' python3 "$bench/results.py" slow
collected wrong 1.6 1.7
expect bound 1 'gp on one takes 1.6 s, less than the bound' python3 "$bench/results.py" wrong
expect no-place 1 "page.md has 0 places for 'copies'" python3 "$bench/results.py" good --update=page.md
for n in families against copies growth budgets wrong-latency wrong-tiles wrong-guard; do printf '<!-- results:%s -->\nold\n<!-- end -->\nafter %s\n' $n $n; done >page.md
check update python3 "$bench/results.py" good --update=page.md
if [ "$(grep -c '^after' page.md)" = 8 ] && ! grep -q '^old' page.md && grep -q '`all-cpu`' page.md; then pass updated; else fail updated "$(cat page.md)"; fi

mkdir nothing; printf '#!/bin/sh\nexit 1\n' >nothing/pkg-config; chmod +x nothing/pkg-config
expect starpu-absent 0 '^0 run, 1 skipped' env PATH="$PWD/nothing:$PATH" bash "$bench/starpu/run.sh" "$DF_BUILD" "$PWD/starpu"
