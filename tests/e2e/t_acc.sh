# Accumulators: a volume under every policy, with much memory and little; errors of programs.
export NVCC=none DFC_PROFILE=$PWD/profile.db
formulas_for none

# A volume of 16 KiB, changed by 50 waves, and what is made of it afterwards.
cat >volume.df <<'EOF'
kernel gen(out p: f32[n]) cpu {{ for (size_t i = 0; i < n; i++) p[i] = (float)((i * 7 + 13 * df_wave(call)) % 101) / 7; }};
kernel filter(in p: f32[n], out q: f32[n]) { q[i] = sqrt(p[i] + 1); }
kernel project(in q: f32[n], acc vol: f32[z, n] = 0.125, out trace: f32) cpu {{
    for (size_t k = 0; k < z; k++)
        for (size_t i = 0; i < n; i++)
            vol[k * n + i] = vol[k * n + i] * 0.999f + q[(i + k) % n];
    *trace = vol[0];
}} cost cpu 200us gpu 20us;
kernel scale(inout v: f32[z, n], in t: f32[n]) { v[k, i] = v[k, i] * t[i]; }
kernel table(out t: f32[n]) once { t[i] = 1 + i * 0.5; }
kernel each(in t: f32) ordered cpu {{ printf("%d %a\n", (int)df_wave(call), *t); }};
kernel show(in v: f32[m, n]) cpu {{ for (size_t i = 0; i < m * n; i += 7) printf("%a ", v[i]); printf("of %d\n", (int)df_wave(call)); }};
graph main {
    p: f32[256] = gen();
    q = filter(p);
    (vol: f32[16, 256], trace) = project(q);
    t: f32[256] = table();
    w = scale(vol, t);
    show(w);
    each(trace);
}
EOF
if "$DFC" volume.df -o volume 2>said && ./volume --waves=50 >want; then pass volume; else fail volume "$(cat said)"; fi
for policy in eager ws ddwrr random dmda dmdas gp gp-thesis heft peft all-cpu all-gpu pats; do
    for options in "--workers=2 --inflight=3" "--device=emu --emu-all --inflight=8" \
        "--device=emu --emu-all --inflight=4 --gpu-mem=32KiB" "--device=emu --emu-all --inflight=1 --workers=2 --gpu-mem=24KiB"; do
        if ./volume --waves=50 --policy="$policy" $options >got 2>said && cmp -s want got; then pass "same-$policy"
        else fail "same-$policy" "$options: $(head -c 300 said)"; fi
    done
done

# A library: each call begins anew, and a result has one token a call.
cat >tally.df <<'EOF'
kernel stats(in p: f32[n], acc sum: f64[n], acc low: f32[n], out twice: f32[n]) {
    sum[i] += p[i];
    low[i] min= p[i];
    twice[i] = 2 * p[i];
}
kernel above(in sum: f64[n], in low: f32[n], out m: f64[n]) { m[i] = sum[i] - low[i]; }
graph tally(in p: f32[n], out total: f64[n], out m: f64[n], out twice: f32[n]) {
    (total, low, twice) = stats(p);
    m = above(total, low);
}
EOF
cat >call.c <<'EOF'
#include <stdio.h>
#include "tally.h"
int main(int argc, char **argv)
{
    struct tally_session *s;
    float p[18], twice[18];
    double total[3], m[3];
    for (int i = 0; i < 18; i++)
        p[i] = (float)(i % 5) - 1.5f;
    if (tally_open(argc > 1 ? argv[1] : NULL, &s))
        return puts(tally_error());
    for (int waves = 1; waves <= 5; waves += 2) {
        if (tally_run_waves(s, waves, p, 3, total, m, twice))
            return puts(tally_error());
        printf("%d: %g %g %g, %g %g %g, %g\n", waves, total[0], total[1], total[2], m[0], m[1], m[2], twice[3 * waves - 1]);
    }
    return tally_close(s);
}
EOF
printf '1: -1.5 -0.5 0.5, 0 0 0, 1\n3: -0.5 2.5 0.5, 1 3 2, 3\n5: 2.5 2.5 2.5, 4 4 4, 5\n' >want
sanitize=$(grep -oE -- '-fsanitize=[a-z]+' "$DF_BUILD/obj/flags" | head -n 1)
# shellcheck disable=SC2086
if "$DFC" --lib tally.df -o libtally.so 2>said && cc $sanitize -o call call.c -L. -ltally -Wl,-rpath,. 2>>said; then pass library; else fail library "$(cat said)"; fi
check says-one-token grep -q 'total: f64\[n\], one token a call' tally.h
for options in "--workers=1" "--workers=2" "--device=emu --emu-all --policy=all-gpu"; do
    if ./call "$options" >got 2>said && cmp -s want got; then pass "calls $options"; else fail "calls $options" "$(cat got said)"; fi
done
