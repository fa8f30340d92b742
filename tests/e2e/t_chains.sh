# Which job a worker with a deque takes next, if jobs are long (runtime/engine/steal.h). They sleep, so on a busy machine they are long, too. What is looked at
# is the order in which jobs begin, by the trace; not how long they take.
# order PROGRAM WANTED CODE: CODE looks at `begun`, names and waves of the jobs in the order of their begins, and gives a number that is as WANTED says.
order() {
    check "run $1" ./$1 --waves=200 --workers=2 --policy=ws --device=none --inflight=4 --trace=$1.json
    expect "order of $1" 0 '^ok ' python3 -c '
import json
jobs = [e for e in json.load(open("'$1'.json"))["traceEvents"] if e["ph"] == "X" and e["cat"] == "job"]
begun = [(e["name"], e["args"]["wave"]) for e in sorted(jobs, key=lambda e: e["ts"])]
'"$3"'
print("ok" if value '"$2"' else "not ok", value)'
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
# By how many waves a chain that goes on is before the last of the four, in the mean: 0.4 to 0.9. If workers took their newest job it would be 2.
order chains '< 1.4' '
next = {name: 0 for name, _ in begun if "chain" in name}
behind = []
for name, wave in begun:
    if name in next:
        behind.append(wave - min(next.values()))
        next[name] = wave + 1
value = sum(behind) / len(behind)'

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
# How many waves the source has begun when a wave comes to the end of its chain, in the mean: 2.0 to 2.3 more than that one. If workers took their newest job
# it would be 0.7.
order ahead '> 1.35' '
last, ahead = -1, []
for name, wave in begun:
    if name == "main/source":
        last = wave
    elif name == "main/sleep_us#4":
        ahead.append(last - wave)
value = sum(ahead) / len(ahead)'
