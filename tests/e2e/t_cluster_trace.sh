# --trace under --cluster: one file of all ranks on one clock, and the windows over time drawn from it.
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
cat >one.json <<'EOF'
{"traceEvents":[{"ph":"X","name":"a","cat":"job","pid":0,"tid":0,"ts":0,"dur":3,"args":{"node":"a","wave":0}}]}
EOF
expect no-windows 1 "^dfc: error: 'one.json' has no windows: it is not the trace of a run on many ranks \(--cluster --trace=FILE\)$" "$DFC" gantt --windows one.json -o w.svg
[ ! -e w.svg ] && pass nothing-left || fail nothing-left 'w.svg is there'
cat >two.json <<'EOF'
{"traceEvents":[{"ph":"X","name":"a","cat":"job","pid":1,"tid":0,"ts":0,"dur":3000000,"args":{"node":"a","wave":0}},
{"ph":"C","name":"rate","pid":1,"tid":0,"ts":0,"args":{"waves/s":0}},
{"ph":"C","name":"window","pid":1,"tid":0,"ts":0,"args":{"waves":2}},
{"ph":"C","name":"other","pid":1,"tid":0,"ts":0,"args":{"x":9}},
{"ph":"C","name":"rate","pid":1,"tid":0,"ts":1500000,"args":{"waves/s":12.5}},
{"ph":"C","name":"window","pid":1,"tid":0,"ts":1500000,"args":{"waves":4}}]}
EOF
check csv "$DFC" gantt --windows two.json -o w.csv
printf 'seconds,rank,window,waves_per_s\n0.000000,1,2,0\n1.500000,1,4,12.5\n' >expected
same csv-lines w.csv expected
check svg "$DFC" gantt --windows two.json -o w.svg
expect steps 0 'points="60.0,197.0 465.0,197.0 465.0,66.0 870.0,66.0"' cat w.svg
check still-gantt "$DFC" gantt two.json -o g.svg

have_ranks ranks || return 0
cp "$programs/merged.py" .
cat >two.df <<'EOF'
kernel count(out v: f32[n]; last: i64) stream cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) v[i] = (float)(df_wave(call) + (int64_t)i);
}};
kernel half(in v: f32[n], out w: f32[n]; bad: i64) cpu {{
    if (df_wave(call) == bad) return df_fail(call, "it is bad");
    for (size_t i = 0; i < n; i++) w[i] = v[i] / 2;
}};
kernel show(in w: f32[n]) ordered cpu {{ printf("%lld %g\n", (long long)df_wave(call), w[1]); }};
arg last: i64 = 80;
arg bad: i64 = -1;
graph main { v: f32[500] = count(last); a = half(v, -1); b = half(a, bad); show(b); }
EOF
check compile "$DFC" two.df --nvcc=none -o two
run() { timeout 150 mpirun $root --oversubscribe --bind-to none "$@"; }
./two >one
run -n 4 ./two --cluster --workers=1 --trace=t.json >out 2>err || fail run "$(tail -n 3 err)"
same result out one
python3 merged.py t.json 4 80 || failures=$((failures + 1))
check drawn "$DFC" gantt t.json -o t.svg
check windows-drawn "$DFC" gantt --windows t.json -o w.svg
# A rank whose events do not fit into its $TMPDIR says so, and the trace does.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 run --mca btl tcp,self -n 3 sh -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || { trap "" XFSZ; ulimit -f 1; }; exec "$@"' \
    sh ./two --cluster --workers=1 --trace=full.json >out 2>err || fail full-run "$(tail -n 3 err)"
same full-result out one
expect full-told 0 '^two: warning: the trace has not all events of rank 1: the trace of this rank cannot be kept in \$TMPDIR$' cat err
expect full-untraced 0 '^\{"rank":1,.*"traced":false' cat full.json
expect full-traced 0 '^\{"rank":2,.*"traced":true' cat full.json
rm -f t.json
run -n 3 ./two --cluster --workers=1 --trace=t.json --bad=40 >out 2>err && fail failed 'status 0'
[ ! -e t.json ] && pass failed-leaves-none || fail failed-leaves-none 't.json is there'
expect no-folder 1 "error: cannot write 'no/such/t.json'" run -n 2 ./two --cluster --workers=1 --trace=no/such/t.json
