# --stats under --cluster: what all ranks did, by rank and in all; a rank that died is there, too. The sums are those of one process.
formulas_for none
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
have_ranks ranks || return 0
cp "$programs/ranks.py" "$programs/shares.py" .
run() { timeout 150 mpirun $root --oversubscribe --bind-to none "$@"; }

cat >two.df <<'EOF'
kernel count(out v: f32[n]; last: i64) stream cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) v[i] = (float)(df_wave(call) + (int64_t)i);
}};
kernel half(in v: f32[n], out w: f32[n]; deadly: i32) cpu {{
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
    if (deadly && df_wave(call) == 20 && open("killed", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
        kill(getpid(), SIGKILL);
    for (size_t i = 0; i < n; i++) w[i] = v[i] / 2;
}};
kernel show(in w: f32[n]) ordered cpu {{ printf("%lld %g\n", (long long)df_wave(call), w[1]); }};
arg last: i64 = 60;
arg deadly: i32 = 0;
graph main { v: f32[5000] = count(last); a = half(v, deadly); b = half(a, 0); show(b); }
EOF
check compile "$DFC" two.df --nvcc=none -o two
./two >one

run -n 4 ./two --cluster --workers=1 --stats=json --stats-file=s.json >out 2>err || fail json "$(tail -n 3 err)"
same json-result out one
python3 ranks.py s.json 4 60 5000 || failures=$((failures + 1))
run -n 3 ./two --cluster --workers=1 --stats >out 2>said || fail text "$(tail -n 3 said)"
same text-result out one
expect words 0 '^ranks            3$' cat said
expect by-rank 0 '^   [12]  .*  worked  ' cat said
expect sums 0 '^ all +60 +60 +0 +0 +[0-9.]+ [KM]iB +[0-9.]+ [KM]iB$' cat said
expect nodes 0 '^main/half#2 +cpu +60 ' cat said
[ "$(grep -c '^ranks ' said)" = 1 ] && pass told-once || fail told-once "$(cat said)"
run -n 3 ./two --cluster --workers=1 --stats=totals >out 2>said; grep -q '^kernel' said && fail totals "$(cat said)" || pass totals

# A rank that is killed is listed, and what it held was given to others.
run --enable-recovery -n 3 ./two --cluster --workers=1 --window=4 --deadly=1 --heartbeat-timeout=3s --stats=json --stats-file=d.json >out 2>err
if [ -e killed ]; then same died-result out one; else fail died "$(tail -n 3 err)"; fi
python3 ranks.py d.json 3 60 5000 died || failures=$((failures + 1))

# Ranks that share the parts of an acc: in one piece, and in steps.
cp "$here/programs/checkpoint_ranks/shared.df" . && check compile-shared "$DFC" shared.df --nvcc=none -o shared
touch go && ./shared && mv result.raw shared.one
for steps in '' '--journal --checkpoint=10ms'; do
    name=shared${steps:+-steps}
    # shellcheck disable=SC2086
    run -n 4 ./shared --cluster --workers=1 --device=none --stats=json --stats-file=s.json --trace=t.json $steps 2>err || fail $name "$(tail -n 3 err)"
    same $name-result result.raw shared.one
    python3 shares.py s.json t.json 4 100 3 5 || failures=$((failures + 1))
    check $name-drawn "$DFC" gantt t.json -o t.svg
    rm -f result.raw s.json t.json
done
