# dfc profile --loaded, and what follows from it: memory-bound jobs slow each other in every prediction. Times are put into the database by hand,
# so that the figures are known.
export DFC_PROFILE=$PWD/profile.db
sql() { python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(*(" ".join(str(x) for x in r) for r in c.execute(sys.argv[2])), sep="\n"); c.commit()' "$DFC_PROFILE" "$1"; }
quick="--goal=10% --max-runs=20 --max-time=100ms --nvcc=none"
cat > g.df <<'EOF'
param n = 1000 dynamic;
kernel src(out v: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }} cost cpu 1ms;
kernel work(in v: f32[k], out w: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) w[i] = v[i] + 1; }};
kernel last(in v: f32[k], in w: f32[k]) cpu {{ (void)v; (void)w; }} cost cpu 1ms;
graph main { a: f32[n] = src(); b = work(a); c = work(a); last(b, c); }
EOF
echo 'platform two { cpu host { workers = 2; bandwidth = 10 GB/s; } }' > two.df
echo 'platform old { cpu host { workers = 2; } }' > old.df
simulated() { "$DFC" simulate g.df "$@" --policy=eager --format=csv 2>err | awk -F, 'NR == 2 { printf "%.6g\n", $4 }'; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "'$2' instead of '$3'"; fi; }

# ---- measuring ----
expect alone 0 "^1 measured" "$DFC" profile g.df $quick
if [ "$(nproc)" -gt 1 ]; then
    expect loaded 0 "work k=1000 cpu .*; with 2 workers [0-9.]+x as long beside itself, [0-9.]+x beside the triad" \
        "$DFC" profile g.df $quick --loaded -- --workers=2
    is row "$(sql "SELECT workers, self_s > 0, triad_s > 0, one_bytes_per_s > 1e6, all_bytes_per_s > 1e6 FROM loads")" "2 1 1 1 1"
    is alone-beside-it "$(sql "SELECT count(*) FROM samples")" 2
    expect known 0 "^0 measured, 1 known before" "$DFC" profile g.df $quick --loaded -- --workers=2
    expect force 0 "^1 measured" "$DFC" profile g.df $quick --loaded --force -- --workers=2
    is every-set "$(sql "SELECT count(*) FROM loads")" 2
else
    skip loaded "one core"
    sql "CREATE TABLE IF NOT EXISTS loads (sample INTEGER PRIMARY KEY)" >/dev/null
fi
expect known-alone 0 "^0 measured, 1 known before" "$DFC" profile g.df $quick
expect one-worker 0 "work k=1000 cpu  not measured under load: no other worker runs beside it" \
    "$DFC" profile g.df $quick --loaded --force -- --workers=1
cat > gang.df <<'EOF'
kernel src(out v: f32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = 1; }};
kernel many(in v: f32[k], out w: f32[k]) threads(2) cpu {{ for (size_t i = 0; i < k; i++) w[i] = v[i] + 1; }};
kernel last(in v: f32[k]) cpu {{ (void)v; }};
graph main { a: f32[100] = src(); b = many(a); last(b); }
EOF
if [ "$(nproc)" -gt 1 ]; then
    expect gang 0 "many k=100 cpu  not measured under load: one job of it takes several workers" "$DFC" profile gang.df $quick --loaded
fi

# What runs for the flow only is never repeated: the flow runs a second time, beside the triad. What cannot begin again is known alone.
cat > flow.df <<'EOF'
kernel numbers(out v: f32[k]) stream cpu {{
    if (df_wave(call) == 3)
        return DF_END;
    for (size_t i = 0; i < k; i++)
        v[i] = (float)(i % 7) / 3;
}};
kernel show(in v: f32[k]) ordered cpu {{
    double sum = 0;
    for (size_t i = 0; i < k; i++)
        sum += v[i];
    printf("%lld: %g\n", (long long)df_wave(call), sum);
}};
kernel mark(in v: f32[k]) cpu {{ (void)v; }};
graph main { v: f32[300000] = numbers(); show(v); mark(v); }
EOF
sed 's/if (df_wave(call) == 3)/static int calls; if (calls++ >= 3)/' flow.df > forgets.df
cat > late.df <<'EOF'
kernel numbers(out v: f32[k]) cpu {{
    static int calls;
    if (calls++ > 0)
        return df_fail(call, "there is no second time");
    for (size_t i = 0; i < k; i++)
        v[i] = (float)(i % 7) / 3;
}};
kernel show(in v: f32[k]) cpu {{ (void)v; }};
graph main { v: f32[300000] = numbers(); show(v); }
EOF
if [ "$(nproc)" -gt 1 ]; then
    expect flow 0 "numbers k=300000 cpu .*\(3 runs\); with 2 workers [0-9.]+x as long beside the triad$" "$DFC" profile flow.df $quick --loaded -- --workers=2
    is flow-rows "$(sql "SELECT kernel, loads.workers, self_s, triad_s > 0 FROM loads JOIN samples ON sample = id WHERE kernel IN ('numbers', 'show') ORDER BY kernel" | tr '\n' ';')" \
        "numbers 2 0.0 1;show 2 0.0 1;"
    expect flow-known 0 "^0 measured, 3 known before" "$DFC" profile flow.df $quick --loaded -- --workers=2
    expect flow-forgets 0 "numbers k=300000 cpu  not measured under load: stream 'main/numbers' ended before its first wave" \
        "$DFC" profile forgets.df $quick --loaded -- --workers=2
    expect flow-fails 0 "numbers k=300000 cpu  not measured under load: .*there is no second time" "$DFC" profile late.df $quick --loaded -- --workers=2
fi
expect no-report 2 "^dfc: error: --loaded: the report measures nothing" "$DFC" profile --report --loaded

# ---- predicting: work takes 10 ms alone, and 20 beside itself or the triad, so one job demands all of the bandwidth ----
sql "DELETE FROM loads" >/dev/null
sql "DELETE FROM samples WHERE id > (SELECT min(id) FROM samples WHERE kernel = 'work') OR kernel <> 'work'" >/dev/null
sql "UPDATE samples SET mean_s = 0.01, ci_s = NULL" >/dev/null
is as-ever "$(simulated --platform=two.df)" 0.012
expect no-line 0 "^eager" "$DFC" simulate g.df --platform=two.df --policy=eager
if "$DFC" simulate g.df --platform=two.df --policy=eager | grep -q share; then fail nothing-said "a line too many"; else pass nothing-said; fi
sql "INSERT INTO loads SELECT id, 2, 0.02, 0.02, 1e10, 1e10 FROM samples WHERE kernel = 'work'" >/dev/null
is slower "$(simulated --platform=two.df)" 0.022
check rehearsed "$DFC" compare g.df --platform=two.df --rehearse=1x --runs=1 --policy=eager,gp --csv=rehearsed.csv
is rehearsed-alone "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%.3f ", $at["predicted_s"] }' rehearsed.csv)" "0.012 0.012 "
is twice-the-bandwidth "$(simulated --platform=<(sed 's/10 GB/20 GB/' two.df))" 0.012
is no-bandwidth "$(simulated --platform=old.df)" 0.012
is one-at-a-time "$(simulated --platform=two.df --workers=1)" 0.022
is other-size "$(printf %.3f "$(simulated --platform=two.df -D n=2000)")" 0.042
expect line 0 "^Jobs and host copies share the host's memory, 10 GB/s; 1 of 3 works have a known demand.$" \
    "$DFC" simulate g.df --platform=two.df --policy=eager
expect no-bandwidth-line 0 "^Jobs do not slow each other here, though 1 of 3 works have a known demand: platform old has no bandwidth.$" \
    "$DFC" simulate g.df --platform=old.df --policy=eager
expect explain-line 0 "^Jobs and host copies share the host's memory, 10 GB/s; 1 of 3" "$DFC" explain g.df --platform=two.df
expect explain 0 "placed by gp: 22 ms for one wave; no schedule is shorter than 12 ms" "$DFC" explain g.df --platform=two.df
expect partition 0 "predicted  *22 ms" "$DFC" partition g.df --platform=two.df --policy=heft
"$DFC" simulate g.df --platform=two.df --format=csv | sed 's/,[^,]*$//' >once
"$DFC" simulate g.df --platform=two.df --format=csv | sed 's/,[^,]*$//' >twice
same repetition twice once

# An emulated GPU: its jobs and copies share the host's cores. Three jobs of 4 ms on two cores take 6; a real GPU computes by itself.
cat > three.df <<'EOF'
kernel start(out v: f32[k]) cost cpu 0s;
kernel near(in v: f32[k]) cost cpu 4ms;
kernel far(in v: f32[k]) cost gpu 4ms;
graph main { v: f32[1] = start(); near(v); near(v); far(v); }
EOF
echo 'platform emulated { cpu host { workers = 2; cores = 2; } gpu e { h2d = 1 GB/s; d2h = 1 GB/s; launch = 0 us; } }' > emulated.df
three() { "$DFC" simulate three.df "$@" --policy=eager --format=csv 2>err | awk -F, 'NR == 2 { printf "%.4g\n", $4 }'; }
is three-on-two-cores "$(three --platform=emulated.df)" 0.006
is a-core-each "$(three --platform=<(sed 's/cores = 2/cores = 3/' emulated.df))" 0.004
is no-cores "$(three --platform=<(sed 's/cores = 2;//' emulated.df))" 0.004
expect cores-line 0 "^The GPUs are emulated: their jobs and copies share 2 cores with the CPU workers.$" \
    "$DFC" simulate three.df --platform=emulated.df --policy=eager
check rehearsed-cores "$DFC" compare three.df --platform=emulated.df --rehearse=1x --runs=1 --policy=eager --csv=rehearsed.csv
is rehearsed-by-itself "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%.3f", $at["predicted_s"] }' rehearsed.csv)" 0.004

# A program carries the demands, also to other sizes.
check build "$DFC" g.df -o g --platform=two.df --nvcc=none
in_program() { ./g --device=sim --policy=eager --workers=2 --waves=1 --stats=json "$@" 2>&1 | sed -E 's/.*"makespan_s": ([0-9.e-]+).*/\1/'; }
if awk "BEGIN { exit !(($(in_program) - 0.022) ^ 2 < 1e-12) }"; then pass in-program; else fail in-program "$(in_program)"; fi
if awk "BEGIN { exit !(($(in_program --n=2000) - 0.042) ^ 2 < 1e-10) }"; then pass in-program-sizes; else fail in-program-sizes "$(in_program --n=2000)"; fi

# Runs that learn: their samples are loaded ones. Beside a time that was measured alone they give a demand, if the bandwidth was probed.
sql "DELETE FROM loads" >/dev/null
check learn ./g --learn --workers=2
expect taken 0 "1 time more, from 1 run with --learn" "$DFC" partition g.df --platform=two.df
is in-a-run "$(sql "SELECT workers, self_s IS NULL FROM loads")" "2 1"
sql "UPDATE samples SET mean_s = 0.015 WHERE id IN (SELECT sample FROM loads)" >/dev/null
expect no-demand-yet 0 "^eager" "$DFC" simulate g.df --platform=two.df --policy=eager
sql "INSERT INTO platforms SELECT 77, machine, 0, 'p', 0 FROM samples LIMIT 1" >/dev/null
sql "INSERT INTO units VALUES (77, 0, 'cpu', 'host', 2, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0)" >/dev/null
sql "INSERT INTO bandwidths VALUES (77, 1e10)" >/dev/null
is learned "$(simulated)" 0.017
