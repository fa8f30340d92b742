# A unified device, on the emulated GPU: what plans, virtual time and runs say of it, and what looks into its jobs. t_random.sh has the results
# of random graphs there.
cat >k.c <<'EOT'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
void first(int32_t *a, size_t k) { for (size_t i = 0; i < k; i++) a[i] = (int32_t)i; }
void twice(const int32_t *a, int32_t *b, int32_t *t, size_t k) { memcpy(t, a, 4 * k); for (size_t i = 0; i < k; i++) b[i] = 2 * t[i]; }
void bump(int32_t *a, size_t k) { for (size_t i = 0; i < k; i++) a[i]++; }
void last(const int32_t *a, const int32_t *b, size_t k) { printf("%d %d\n", (int)a[k - 1], (int)b[k - 1]); }
EOT
: >none.cu
cat >g.df <<'EOT'
kernel first(out a: i32[k])                             cpu "k.c": first(a, k) -> void;
kernel twice(in a: i32[k], out b: i32[k], tmp t: i32[k]) cpu "k.c": twice(a, b, t, k) -> void gpu "none.cu";
kernel bump(inout a: i32[k])                            cpu "k.c": bump(a, k) -> void gpu "none.cu";
kernel last(in a: i32[k], in b: i32[k]) ordered         cpu "k.c": last(a, b, k) -> void;
graph main { a: i32[3000] = first(); b = twice(a) @gpu; c = bump(b) @gpu; d = twice(c) @gpu; last(b, d); }
EOT
echo 'platform thor { cpu host { workers = 2; } gpu thor { unified = 1; launch = 5 us; } }' >thor.df
check compile "$DFC" g.df --platform thor.df -o g --nvcc=none
for ((wave = 0; wave < 8; wave++)); do echo 5998 11998; done >want

# Tokens are not copied, and nothing is said to be copied.
for policy in eager ws dmda heft gp all-gpu; do
    ./g --device=emu --platform=thor.df --policy=$policy --waves=8 --stats=json --stats-file=/dev/stderr >got 2>stats
    same "$policy" got want
    if grep -q '"h2d_copies": 0, .*"d2h_copies": 0, .*"evictions": 0, .*"misses": 0, .*"prefetches": 0' stats &&
       ! grep -q '"jobs": 0, "busy_s": 0}], "memories"' stats; then pass "$policy-copies"; else fail "$policy-copies" "$(cat stats)"; fi
done
expect planned 0 'copies: 0 to devices \(0 bytes\), 0 back' "$DFC" g.df --platform thor.df --emit=plan
expect planned-memory 0 'gpu thor: 1 worker, unified; .* needs 12288 bytes for a wave, 12288 for its largest job' "$DFC" g.df --platform thor.df --emit=plan
expect simulated 0 '^all-gpu .* 0     0 B       0 B          0 ' "$DFC" simulate g.df --platform thor.df
"$DFC" explain g.df --platform thor.df --what-if >explained 2>&1
if grep -q 'thor, computing' explained && ! grep -Eq 'copies to it|link.* twice as fast' explained; then pass explained
else fail explained "$(head -n 20 explained)"; fi
expect rehearsed 0 '^all-gpu .* [+-][0-9.]+ %' "$DFC" compare g.df --rehearse --platform thor.df --policies=all-gpu,eager --waves=4 --runs=1

# The memory that a limit is for is that of scratch alone. One job's scratch is three pages here.
expect scratch 0 '^5998 11998' ./g --device=emu --platform=thor.df --policy=all-gpu --gpu-mem=12288 --gpu-jobs=4
expect no-scratch 1 "kernel 'twice'\) cannot run: one job needs 12288 bytes of GPU memory and there are 8192" ./g --device=emu --platform=thor.df --gpu-mem=8192

# What looks into a run finds the tokens where they are.
for options in '--poison --policy=all-gpu' --check=variants '--dump=main/bump:3 --policy=all-gpu'; do
    # shellcheck disable=SC2086
    ./g --device=emu --platform=thor.df --waves=8 $options >got 2>err
    same "look-${options:2:4}" got want
done
check dumped python3 -c 'assert int.from_bytes(open("main.bump.a.3.npy", "rb").read()[-4:], "little") == 5999'
