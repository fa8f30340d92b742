# Ranks of unlike machines follow plans of their own: each plans at its start, with the times that the program knows, for what it finds.
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
have_ranks ranks || return 0
cp "$programs/plans.py" .
cat >two.df <<'EOF'
kernel count(out v: f32[n]; last: i64) stream cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) v[i] = (float)(df_wave(call) + (int64_t)i);
}};
kernel half(in v: f32[n], out w: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) w[i] = v[i] / 2; }} cost cpu 2ms gpu 50us;
kernel show(in w: f32[n]) ordered cpu {{ printf("%lld %g\n", (long long)df_wave(call), w[1]); }};
arg last: i64 = 60;
graph main { v: f32[5000] = count(last); a = half(v); b = half(a); show(b); }
EOF
machine() { echo "platform $1 { cpu host { workers = 1; memory = 4 GiB; } gpu card { h2d = $2, 10 us; d2h = $2, 10 us; engines = 2; launch = 5 us; } }" >"$1.df"; }
machine near '10 GB/s'; machine far '0.01 MB/s'
check compile "$DFC" two.df --nvcc=none -o two
./two --device=none >one

# Rank 1 has no device; rank 2 one that is near; rank 3 one to which a token takes 2 s, so that it is better left alone.
emu='--device=emu --emu-all --guard=off --workers=1'
# shellcheck disable=SC2086
timeout 150 mpirun $root --oversubscribe --bind-to none -n 1 ./two --cluster --workers=1 --window=2 --stats=json --stats-file=s.json : \
    -n 1 ./two --cluster --device=none --workers=2 : -n 1 ./two --cluster $emu --platform=near.df : -n 1 ./two --cluster $emu --platform=far.df >out 2>err ||
    fail ranks "$(tail -n 3 err)"
same result out one
python3 plans.py s.json || failures=$((failures + 1))
