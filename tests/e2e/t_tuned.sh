# Stages on ranks that are tuned: a stage gets slow while the program runs, and rank 0 gives it more ranks. No wave is lost or repeated.
. "$here/ranks.sh"
have_ranks tuned || return 0

cat >slow.df <<'END'
arg last: i64 = 120;
kernel count(out p: i64[n]; last: i64) stream restart cpu {{
    if (df_wave(call) == last) return DF_END;
    for (size_t i = 0; i < n; i++) p[i] = df_wave(call) * 7 + (int64_t)i;
}};
kernel nap(in p: i64[n], out q: i64[n]; ms: i64, slow: i64) cpu {{
#include <stdlib.h>
#include <time.h>
    long ns = ms * 1000000 * (slow && df_wave(call) >= 60 ? 12 : 1);
    if (getenv("NAPS")) nanosleep(&(struct timespec){ 0, ns }, NULL);
    for (size_t i = 0; i < n; i++) q[i] = 3 * p[i] + 1;
}};
kernel show(in h: i64[n]) ordered cpu {{ printf("%lld %lld\n", (long long)df_wave(call), (long long)h[n - 1]); }};
graph first(in p: i64[8], out q: i64[8]) { q = nap(p, 10, 0); }
graph second(in p: i64[8], out q: i64[8]) { q = nap(p, 12, 1); }
graph main { p: i64[8] = count(last); a = first(p); b = second(a); show(b); }
END
check compile "$DFC" slow.df --nvcc=none -w -o slow
./slow --device=none >one
for way in order demand; do
    printf 'feeding %s\nfirst: a\nsecond: b\n' $way >$way.map
    NAPS=1 ranks 5 ./slow --cluster --device=none --inflight=1 --mapping=$way.map --tuned >$way.out 2>$way.said
    same $way $way.out one
    expect $way-why 0 "^slow: warning: after [0-9]+ waves (stage|processor) '[a-z0-9 ]+' takes [0-9.]+ times as long .*: a new mapping, with a wave every [0-9.]+ ms instead of [0-9.]+ ms$" cat $way.said
    expect $way-how 0 "^slow: warning: the stages are mapped anew: " cat $way.said
done
expect alone 2 'tuned is for stages on ranks: --mapping is missing' ranks 2 ./slow --cluster --tuned
