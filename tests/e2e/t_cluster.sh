# --cluster: programs under mpirun give the same bytes as in one process, with 1 to 4 ranks; errors of kernels and of graphs are told once, in
# words, and end the run on all ranks.
. "$here/ranks.sh"
formulas_for none

# ---- what needs no mpirun ----
cat >chain.df <<'EOT'
arg bad: i64 = -1;
arg last: i64 = 40;
kernel count(out v: i64[n]; last: i64) stream cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) v[i] = df_wave(call) * 100 + (int64_t)i;
}};
kernel offset(out v: i64[n]) once cpu {{ for (size_t i = 0; i < n; i++) v[i] = 7 * (int64_t)i; }};
kernel pick(in v: i64[n], in o: i64[n], out few: i64[m <= 16]; bad: i64) cpu {{
    if (df_wave(call) == bad) return df_fail(call, "wave %lld is bad", (long long)df_wave(call));
    if (df_wave(call) % 7 == 3) return DF_SKIP;
    *m = (size_t)(df_wave(call) % 5) * 3;
    for (size_t i = 0; i < *m; i++) few[i] = v[i] + o[i];
}};
kernel twice(inout few: i64[m]) cpu {{ for (size_t i = 0; i < m; i++) few[i] *= 2; }};
kernel odd(in v: i64[n], out w: i64[n]) cpu {{
    if (df_wave(call) % 2 == 0) return DF_SKIP;
    for (size_t i = 0; i < n; i++) w[i] = -v[i];
}};
kernel even(in v: i64[n], out w: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) w[i] = v[i]; }};
kernel add(in w: i64[n], acc sum: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) sum[i] = (int64_t)((uint64_t)sum[i] * 3 + (uint64_t)w[i]); }};
kernel show(in few: i64[m], in v: i64[n]) ordered cpu {{
    uint64_t s = 0;
    for (size_t i = 0; i < m; i++) s = s * 31 + (uint64_t)few[i];
    printf("wave %lld: %zu, %lld, %lld\n", (long long)df_wave(call), m, (long long)s, (long long)v[1]);
}};
kernel total(in sum: i64[n]) cpu {{ printf("after %lld waves: %lld\n", (long long)df_wave(call), (long long)sum[n - 1]); }};
graph main {
    v: i64[16] = count(last);
    o: i64[16] = offset();
    few = pick(v, o, bad);
    more = twice(few);
    a = odd(v);
    b = even(v);
    w = select(a, b);
    sum = add(w);
    total(sum);
    show(more, v);
}
EOT
check compile "$DFC" chain.df --nvcc=none -o chain
expect window-alone 2 'error: --window is for a run on several ranks: --cluster is missing' ./chain --window=3
expect timeout-alone 2 'error: --wave-timeout is for a run on several ranks: --cluster is missing' ./chain --wave-timeout=3s
expect no-time 2 "error: --heartbeat-timeout=3 apples: a time is expected, such as 500ms, 30s or 2min" ./chain --cluster --heartbeat-timeout='3 apples'
for other in --serial --learn --device=sim --rehearse --passes=2 '--dump=*' --record-job=failed --check=variants; do
    expect "not-with$other" 2 "error: --cluster: it does not go with ${other%%=[!sop]*}, which is for a run in one process" ./chain --cluster "$other"
done
DF_MPI=/nowhere/libdf-mpi.so expect no-plug-in 1 "error: --cluster: cannot load MPI's plug-in: /nowhere/libdf-mpi.so" ./chain --cluster

have_ranks ranks || return 0

# ---- the same bytes ----
./chain --device=none >chain.alone
expect one-rank 0 'warning: --cluster: there is one rank, so all runs in this process; mpirun -n N starts N of them' ./chain --cluster --device=none
ranks 1 ./chain --cluster --device=none >chain.1 2>/dev/null
same one-rank-same chain.1 chain.alone
on_ranks chain "$(long && echo '2 3 4' || echo 4)" chain
how='--window=2 --inflight=3 --device=none' on_ranks chain-window 3 chain --waves=11
how='--device=emu --emu-all' on_ranks chain-emu 2 chain
on_ranks chain-none 2 chain --last=0
expect progress 0 'chain: 11 of 11 waves, .*, [12] ranks?$' sh -c "timeout 150 mpirun $root --oversubscribe --bind-to none -n 3 ./chain --cluster --workers=1 --waves=11 --progress=on"

cp "$DF_SOURCE"/examples/sum/*.df "$DF_SOURCE"/examples/sum/vec.* . && check compile-sum "$DFC" sum.df --nvcc=none -o sum
on_ranks sum 3 sum --waves=9 --seed=5
check compile-photo "$DFC" "$DF_SOURCE/examples/photo/photo.df" --nvcc=none --no-opencl -o photo -D tile=64

# Random programs of streams (tests/random/streams.py), beside what their model computes.
python3 "$DF_SOURCE/tests/random/streams.py" "$DF_BUILD" --programs=$(long && echo 3 || echo 1) --jobs=1 --under="mpirun $root --oversubscribe --bind-to none -n 3" \
    --run='--cluster --device=none --workers=1' >random.out 2>&1
grep -E '^(not )?ok' random.out || fail random "$(tail -n 3 random.out)"

# ---- what goes wrong ----
# A worker is killed in wave 20, and another one gets its waves.
cat >killed.df <<'EOT'
kernel count(out v: i64[n]) stream cpu {{ if (df_wave(call) == 60) return DF_END; v[0] = df_wave(call); }};
kernel square(in v: i64[n], out w: i64[n]; deadly: i32) cpu {{
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
    if (deadly && v[0] == 20 && open("killed", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
        kill(getpid(), SIGKILL);
    w[0] = v[0] * v[0];
}};
kernel show(in w: i64[n]) ordered cpu {{ printf("%lld\n", (long long)w[0]); }};
arg deadly: i32 = 0;
graph main { v: i64[1] = count(); w = square(v, deadly); show(w); }
EOT
check compile-killed "$DFC" killed.df --nvcc=none -o killer && ./killer >killed.one
timeout 150 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 4 ./killer --cluster --workers=1 --deadly=1 --heartbeat-timeout=5s >killed.4 2>killed.err
if [ $? = 0 ] && [ -e killed ]; then same killed killed.4 killed.one; else fail killed "$(tail -n 5 killed.err | tr '\n' ' ')"; fi
expect killed-told 0 '^killer: warning: rank [123] on .* counts as dead' cat killed.err
ranks 3 ./chain --cluster --bad=12 >fails.out 2>&1; got=$?
if [ $got = 1 ] && grep -qE "^chain: error: rank [12] on .*: node 'main/pick', wave 12: wave 12 is bad$" fails.out; then pass kernel-fails
else fail kernel-fails "exit $got: $(tail -n 6 fails.out | tr '\n' ' ')"; fi
if [ "$(grep -c 'wave 12 is bad' fails.out)" = 1 ]; then pass told-once; else fail told-once "$(grep 'wave 12' fails.out | tr '\n' ' ')"; fi
expect missing-input 1 "^photo: error: .*nowhere.png" ranks 2 ./photo --cluster --input=nowhere.png --output=output
cat >straight.df <<'EOT'
kernel count(out v: i64[n]) stream cpu {{ if (df_wave(call) == 3) return DF_END; v[0] = df_wave(call); }};
kernel show(in v: i64[n]) ordered cpu {{ printf("%lld\n", (long long)v[0]); }};
graph main { v: i64[1] = count(); show(v); }
EOT
check compile-straight "$DFC" straight.df --nvcc=none -o straight
expect nothing-to-hand-out 1 "^straight: error: --cluster: nothing of this graph can run on other ranks: what comes before node 'main/show', which sees the waves in order" \
    ranks 2 ./straight --cluster
# A rank without --cluster: the others do not wait for it for ever in MPI's start.
DF_MPI_TIMEOUT=2 timeout 150 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 1 ./chain --cluster --workers=1 --last=4 : -n 1 ./chain --last=4 >alone.out 2>&1
[ $? = 124 ] && fail without-cluster-ends "$(tail -n 3 alone.out)" || pass without-cluster-ends
expect without-cluster-waits 0 '^chain: error: MPI_Init has not returned for 2 s: a rank has died, cannot be reached, or runs without --cluster' cat alone.out
expect without-cluster-warned 0 '^chain: warning: this is one of 2 processes of an mpirun, and runs all waves by itself: --cluster is missing$' cat alone.out
timeout 150 mpirun $root --oversubscribe --bind-to none -n 1 ./chain --cluster --workers=1 --last=4 : -n 1 ./chain --cluster --workers=1 --last=5 >unlike.out 2>&1
got=$?
if [ $got = 1 ] && grep -q 'another program than rank 0, or with other arguments' unlike.out; then pass unlike; else fail unlike "exit $got: $(tail -n 6 unlike.out | tr '\n' ' ')"; fi
