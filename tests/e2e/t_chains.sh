# Which job a worker with a deque takes next, if jobs are long (runtime/engine/steal.h). They sleep, so a busy machine makes them longer and nobody idle.
workers_are_busy() { # PROGRAM
    check "run $1" ./$1 --waves=200 --workers=2 --device=none --inflight=4 --stats=json --stats-file=$1.json
    expect "busy in $1" 0 '^ok$' python3 -c '
import json
s = json.load(open("'$1'.json"))
busy = sum(w["busy_s"] for w in s["workers"]) / len(s["workers"]) / s["makespan_s"]
print("ok" if s["policy"] == "ws" and busy > 0.94 else "policy " + s["policy"] + f": workers are busy for {busy:.3f} of the time")'
}

# Chains of ordered nodes that differ in length, on two workers with deques: the longer ones must not fall so far behind that workers wait for them.
cat >chains.df <<'END'
kernel start(out a: i32[1]) cpu {{ a[0] = (int32_t)df_wave(call); }};
kernel chain(in a: i32[1], out b: i32[1]; us: i32) ordered cpu {{
#include <time.h>
    struct timespec t = { 0, 1000 * us };
    nanosleep(&t, NULL);
    b[0] = a[0] + 1;
}};
kernel last(in a: i32[1], in b: i32[1], in c: i32[1], in d: i32[1]) ordered cpu {{
    if (a[0] + b[0] + c[0] + d[0] != 4 * (df_wave(call) + 1)) return df_fail(call, "a wave was mistaken for another one");
}};
graph main {
    x: i32[1] = start();
    a = chain(x, 1000); b = chain(x, 1400); c = chain(x, 1400); d = chain(x, 1000);
    last(a, b, c, d);
}
END
check compile "$DFC" chains.df --nvcc=none -o chains
workers_are_busy chains

# A source whose every fourth wave takes long, and chains that wait for it: it is called ahead of them.
cat >ahead.df <<'END'
kernel sleep_us(inout a: i32[1]; us: i32) cpu {{
#include <time.h>
    struct timespec t = { 0, 1000 * us };
    nanosleep(&t, NULL);
    a[0]++;
}};
kernel source(out a: i32[1]) ordered cpu {{
#include <time.h>
    struct timespec t = { 0, df_wave(call) % 4 == 0 ? 6000000 : 200000 };
    nanosleep(&t, NULL);
    a[0] = (int32_t)df_wave(call);
}};
kernel last(in a: i32[1]) ordered cpu {{
    if (a[0] != 4 + df_wave(call)) return df_fail(call, "a wave was mistaken for another one");
}};
graph main {
    x: i32[1] = source();
    a = sleep_us(x, 1500); b = sleep_us(a, 1500); c = sleep_us(b, 1500); d = sleep_us(c, 1500);
    last(d);
}
END
check compile "$DFC" ahead.df --nvcc=none -o ahead
workers_are_busy ahead
