# tests/rehearse.py judges stored figures: those within all bounds, and one beyond each of them.
judge=$DF_SOURCE/tests/rehearse.py

# stored FILE POLICY FACTOR…: the figures of two graphs. All policies are predicted to take 1 s, but gp 0.9 s, and those that decide while the
# graph runs 0.98 to 1.02 s. Rehearsals take what is predicted; that of the policy is multiplied, in graph a.
stored() {
    python3 - "$@" <<'END'
import json, sys
placed, online = ["gp", "gp-thesis", "heft", "peft", "all-cpu"], ["dmda", "dmdas", "pats", "eager", "ws"]
def graph():
    rows = {p: {"policy": p, "predicted_s": 0.9 if p == "gp" else 1.0, "median_s": 0.9 if p == "gp" else 1.0, "scale": "2", "late": "1"} for p in placed + online}
    return [rows, {p: [0.98, 1.02] for p in online}]
results = {"a": graph(), "b": graph()}
for policy, factor in zip(sys.argv[2::2], sys.argv[3::2]):
    for file in "a" if policy != "all" else "ab":
        for p in [policy] if policy != "all" else placed:
            results[file][0][p]["median_s"] *= float(factor)
json.dump({"folder": "two", "runs": 5, "results": results}, open(sys.argv[1], "w"))
END
}

stored good.json
expect good 0 '^all within bounds$' python3 "$judge" --results=good.json --table=t.md
expect good-counts 0 "^gp's lead over heft against the simulated one: 2 of 2 within 10 %, worst \+0.0 %$" python3 "$judge" --results=good.json
expect table 0 '^\| a \| 2 \| 10 \| \+0\.0 %' cat t.md
expect table-name 0 'make check-rehearse DIR=two`: medians of 5 runs' cat t.md
printf 'graph,family\na,one\nb,two\n' >families.csv
stored families.json peft 1.09 eager 1.049
check families python3 "$judge" --results=families.json --table=f.md --families=families.csv
expect family 0 '^\| one \| 1 \| \+9\.0 % \| 5 of 5 \| \+2\.8 % \| 5 of 5 \| 10 \|' cat f.md
expect family-other 0 '^\| two \| 1 \| \+0\.0 % \|' cat f.md

stored worst.json peft 1.11
expect worst 1 '^a: peft is \+11\.0 % off$' python3 "$judge" --results=worst.json
stored fast.json peft 0.89
expect fast 1 '^a: peft is -11\.0 % off$' python3 "$judge" --results=fast.json
stored near.json peft 1.09 eager 1.049
expect near 0 '^all within bounds$' python3 "$judge" --results=near.json
stored median.json all 1.04
expect median 1 '^the median of placed policies is 4\.0 %$' python3 "$judge" --results=median.json
stored range.json eager 1.06 ws 0.94
expect range 0 '^decided while the graph runs: 8 of 10 within 3 %, worst -4\.1 %$' python3 "$judge" --results=range.json
stored beyond.json eager 1.06 ws 0.94 pats 1.5
expect beyond 1 '^more than 20 % of the rehearsals of online policies are more than 3 % off$' python3 "$judge" --results=beyond.json
stored lead.json gp 1.12
expect lead-heft 1 "^a: gp's lead over heft is -10\.7 % off$" python3 "$judge" --results=lead.json
stored lead2.json gp 1.15
expect lead-dmda 1 "^a: gp's lead over dmda is -11\.3 % off$" python3 "$judge" --results=lead2.json
stored behind.json gp-thesis 0.91 gp 1.07
expect behind 1 '^a: gp is 5\.8 % behind the best policy$' python3 "$judge" --results=behind.json
expect how-many 1 '^2 of 2 graphs rehearsed, 1 beyond bounds$' python3 "$judge" --results=behind.json
expect nothing 2 'a dfc and a folder, or --results' python3 "$judge"
