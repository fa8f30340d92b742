# Accumulators of nodes that are divided: the same bits as undivided, in any number of parts, under every policy, in little
# device memory.
formulas_for none
export NVCC=none DFC_PROFILE=$PWD/profile.db
source=$DF_SOURCE/tests/e2e/programs/volume/volume.df
for n in 1 3 13; do
    if "$DFC" "$source" --parts=$n -o volume-$n 2>said; then pass "compile-$n"; else fail "compile-$n" "$(cat said)"; fi
done
./volume-1 --waves=20 --device=none >want
check has-all test "$(wc -l <want)" -gt 500
# in_turn N OF OPTIONS…: of the lines OPTIONS those numbers that are N modulo OF, all if there is time: so each policy and all options have their turn.
in_turn() {
    local number=$1 of=$2 i; shift 2
    for ((i = 1; i <= $#; i++)); do if long || ((i % of == number % of)); then printf '%s\n' "${!i}"; fi; done
}
# some_of WORDS: these, and all the policies if there is time.
some_of() { if long; then echo eager ws dmda gp all-gpu ddwrr random dmdas gp-thesis heft all-cpu; else echo "$@"; fi; }
turn=0
for n in 3 13; do
    for policy in $(if [ $n = 3 ]; then some_of dmda gp; else some_of eager ws all-gpu; fi); do
        mapfile -t lines < <(in_turn $((turn++)) 4 "--device=none --workers=2 --inflight=3" "--device=emu --emu-all --inflight=4" \
            "--device=emu --emu-all --inflight=1 --workers=2 --gpu-mem=40KiB" "--device=emu --emu-all --gpu-mem=24KiB")
        for options in "${lines[@]}"; do
            if ./volume-$n --waves=20 --policy="$policy" $options >got 2>said && cmp -s want got; then pass "same-$n-$policy"
            else fail "same-$n-$policy" "$options: $(head -c 300 said)"; fi
        done
    done
    for options in "--serial" "--device=emu --serial --emu-all" "--device=none --poison" "--device=emu --emu-all --poison" "--workers=1 --device=none"; do
        if ./volume-$n --waves=20 $options >got 2>said && cmp -s want got; then pass "same-$n $options"
        else fail "same-$n $options" "$(head -c 300 said)"; fi
    done
done
expect why-not 1 "cannot be divided: it reduces over data" "$DFC" <(printf 'kernel g(out p: f32[9]) cpu {{ p[0] = 0; }};
kernel h(in p: f32[n], acc hits: i64[7]) { hits[b] += count(i in 0..n if i32(p[i]) == b); }
kernel s(in hits: i64[7]) cpu {{ }};
graph main { p = g(); hits = h(p) @parts(2); s(hits); }') --emit=graph

# The waves go by several times, for the parts in turn.
for n in 2 13; do
    for policy in $(if [ $n = 2 ]; then some_of eager dmda; else some_of dmda gp; fi); do
        mapfile -t lines < <(in_turn $((turn++)) 4 "--device=none --workers=1" "--device=none --workers=2 --inflight=3" "--device=emu --emu-all --inflight=4" \
            "--device=emu --emu-all --workers=2 --gpu-mem=24KiB")
        for options in "${lines[@]}"; do
            if ./volume-13 --waves=20 --passes=$n --policy="$policy" $options >got 2>said && cmp -s want got; then pass "passes-$n-$policy"
            else fail "passes-$n-$policy" "$options: $(head -c 300 said)"; fi
        done
    done
done

# What is copied: the volume once, and a projection once a pass. Memory for a 1st, a 2nd, a 4th, an 8th and a 16th of the volume.
parts=$DF_SOURCE/tests/e2e/programs/volume/parts.df
"$DFC" "$parts" --parts=1 -o parts && ./parts --waves=20 >want 2>said
for n in 1 2 $(! long || echo 4 8) 16; do
    "$DFC" "$parts" --parts=$((2 * n)) -o parts-$n
    for policy in $(if [ $n = 2 ]; then some_of eager dmda gp; else some_of dmda; fi); do
        ./parts-$n --waves=20 --policy=$policy --device=emu --emu-all --gpu-mem=$((1024 / n + 16))KiB --stats=json,totals --stats-file=stats >got 2>said
        if cmp -s want got; then pass "parts-$n-$policy"; else fail "parts-$n-$policy" "$(head -c 300 said)"; fi
        are "bytes-$n-$policy" "20 $n $((20 * 4096 * n)) $((1 << 20))" stats waves passes h2d_bytes d2h_bytes
    done
done
expect asked-more 0 "warning: --passes=9: an acc has 4 parts at most, so the waves go by so often" ./parts-2 --waves=3 --passes=9 --device=none
expect asked-more-stats 0 "passes           4:" ./parts-2 --waves=3 --passes=9 --device=none --stats
expect asked-more-simulated 0 "warning: --passes=9: an acc has 4 parts at most, so the waves go by so often" ./parts-2 --waves=3 --passes=9 --device=sim --stats
expect asked-more-simulate 0 "warning: --passes=9: an acc has 4 parts at most, so the waves go by so often" "$DFC" simulate "$parts" --parts=4 --waves=3 --passes=9
expect asked-once-simulate 0 "warning: --passes=2: the waves go by once, because no acc is divided" "$DFC" simulate "$parts" --parts=1 --waves=3 --passes=2
expect asked-once 1 "passes=2: the waves of this run go by once, because no acc is divided" ./parts --waves=3 --passes=2
expect asked-waves 1 "because --serial, --poison, --dump, --record-job, --check=variants and --rehearse are for runs of one pass" ./parts-2 --waves=3 --passes=2 --poison
# Parts that read only what is once: nothing is kept of the waves.
printf %s 'kernel table(out p: f32[n]) once cpu {{ for (size_t i = 0; i < n; i++) p[i] = (float)i; }};
kernel back(in p: f32[n] split n, acc vol: f32[n] split n) cpu {{ for (size_t i = 0; i < n; i++) vol[i] += p[i] + (float)df_wave(call); }};
kernel tell(in vol: f32[n]) cpu {{ printf("%g %g\n", vol[0], vol[n - 1]); }};
graph main { p: f32[4] = table(); vol: f32[4] = back(p); tell(vol); }' >once.df
"$DFC" once.df --parts=4 -o once
for options in "--device=none --passes=4" "--device=emu --emu-all --passes=3"; do
    expect "once $options" 0 '^10 25$' ./once --waves=5 $options
done
expect too-long 1 "passes=2: to keep what the parts read of all waves takes .*iB of host memory, and half of this machine's .*iB may be used" \
    ./parts-2 --waves=1000000000000 --passes=2

# A stream goes by several times, too: it ends early, at the cap, in the first wave, or behind a cap that it does not come near;
# it skips, and so does the node behind it.
stream=$DF_SOURCE/tests/e2e/programs/volume/stream.df
for n in 1 8; do
    if "$DFC" "$stream" --parts=$n -o stream-$n 2>said; then pass "stream-$n"; else fail "stream-$n" "$(cat said)"; fi
done
shapes=("30 20 5" "20 50 100" "20 0 5" "100000 9 2"); ! long || shapes+=("30 20 100" "20 20 100" "1 5 5" "7 1 3")
for shape in "${shapes[@]}"; do
    read -r waves end gaps <<<"$shape"
    ./stream-1 --waves="$waves" --end="$end" --gaps="$gaps" --device=none >want 2>said
    check "stream-counts $shape" grep -aq " of $((end < waves ? end : waves))$" want
    for policy in eager dmda gp; do
        mapfile -t lines < <(in_turn $((turn++)) 4 "--device=none --workers=1 --passes=2" "--device=none --workers=2 --inflight=3 --passes=8" \
            "--device=emu --emu-all --inflight=4 --passes=3" "--device=emu --emu-all --workers=2 --gpu-mem=272KiB")
        for options in "${lines[@]}"; do
            if timeout 150 ./stream-8 --waves="$waves" --end="$end" --gaps="$gaps" --policy="$policy" $options --stats=json,totals --stats-file=stats >got 2>said &&
                cmp -s want got && grep -q "\"waves\": $((end < waves ? end : waves))," stats; then pass "stream-$policy"
            else fail "stream-$policy $shape" "$options: $(head -c 300 said)"; fi
        done
    done
done
# The memory is just enough. If a token that is in use lies where a part of the next pass would go, another part goes to the host and comes
# again. That is a matter of moments, so one of three runs must copy exactly what the formula says, and the result is the same each time.
exact_bytes() {
    local got
    for _ in 1 2 3; do
        ./stream-8 --waves=60 --end=50 --policy="$1" --device=emu --emu-all --gpu-mem=272KiB --stats=json,totals --stats-file=stats >got 2>said || return
        cmp got want-50 || return
        got=$(numbers stats waves passes h2d_bytes d2h_bytes)
        [ "$got" = "50 4 $((49 * 4096 * 4)) $((1 << 20))" ] && return # weigh skips one
    done
    echo "$got"; return 1
}
./stream-1 --waves=60 --end=50 --device=none >want-50
for policy in eager gp $(! long || echo dmda all-gpu); do check "stream-bytes-$policy" exact_bytes "$policy"; done

# Without a cap a stream goes by several times, too: what comes is kept.
for end in 0 $(! long || echo 1) 20; do
    ./stream-1 --end=$end --device=none >want 2>said
    for options in "--device=none --workers=1" "--device=none --workers=2 --policy=eager" "--device=emu --emu-all --gpu-mem=272KiB --policy=gp"; do
        if timeout 150 ./stream-8 --end=$end --passes=3 $options --stats=json,totals --stats-file=stats >got 2>said && cmp -s want got &&
            grep -q "\"waves\": $end, .*\"passes\": 3" stats; then pass "no-cap-$end"
        else fail "no-cap-$end" "$options: $(head -c 300 said)"; fi
    done
    if timeout 150 ./stream-8 --end=$end --device=emu --emu-all --gpu-mem=272KiB --stats=json,totals --stats-file=stats >got 2>said && cmp -s want got &&
        grep -q "\"waves\": $end, .*\"passes\": 4" stats && [ ! -s said ]; then pass "no-cap-unasked-$end"
    else fail "no-cap-unasked-$end" "$(head -c 300 said)"; fi
done
printf %s 'arg left: i64; arg right: i64; param n = 100000000 dynamic; param m = 1 dynamic;
kernel project(out p: u8[n]; end: i64) stream cpu {{ p[0] = (uint8_t)df_wave(call); return df_wave(call) < end ? DF_OK : DF_END; }};
kernel back(in p: u8[n], in q: u8[n], acc vol: i64[z, x] split z) cpu {{ for (size_t k = 0; k < z; k++) vol[k * x] += p[0] + 100 * q[0]; }};
kernel tell(in vol: i64[z, x]) cpu {{ printf("%lld %lld of %lld\n", (long long)vol[0], (long long)vol[x], (long long)df_wave(call)); }};
graph main { p: u8[n] = project(left); q: u8[n] = project(right); vol: i64[2, m] = back(p, q) @cpu; tell(vol); }' >pair.df
"$DFC" pair.df --parts=2 -o pair
for ends in "2 2" "2 3" "3 1" "0 2"; do
    read -r left right <<<"$ends"
    least=$((left < right ? left : right)) sum=$((least * (least - 1) / 2 * 101))
    for policy in eager gp; do
        for workers in 1 2; do
            expect "pair $ends $policy" 0 "^$sum $sum of $least\$" \
                timeout 150 ./pair --left="$left" --right="$right" --passes=2 --inflight=1 --policy=$policy --workers=$workers --device=none
        done
    done
done
# What comes does not fit in host memory: the run says how much would be needed.
for options in "--n=500000000 --passes=2 --device=none" "--n=140000000 --m=11200000 --device=emu --gpu-mem=980MB"; do
    expect "pair-too-long $options" 1 "the stream has more than [0-9]* waves: what the parts of an acc read of so many takes [0-9.]* .iB, and half of the host's memory may keep it. 'restart' at the stream keeps nothing; --passes=1 copies the acc in each wave$" \
        timeout 150 ./pair --left=1000000 --right=1000000 --inflight=1 --workers=2 $options
done

# The simulator copies what the engine copies.
cat >gpu.df <<'EOF'
platform p { cpu host { workers = 2; } gpu emu0 { memory = 272 KiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; engines = 2; launch = 8 us; } }
EOF
"$DFC" "$parts" --platform gpu.df --parts=8 -o both 2>said
for policy in eager dmda gp $(! long || echo ws random all-gpu); do
    for device in emu sim; do
        ./both --waves=20 --policy=$policy --device=$device --emu-all --platform=gpu.df --stats=json,totals --stats-file=$device >got 2>said
    done
    for device in emu sim; do are "both-$policy-$device" "20 4 $((20 * 4096 * 4)) $((1 << 20))" $device waves passes h2d_bytes d2h_bytes; done
done

# 1 to 16 passes on the platform of Table 5.2: at most 1 % slower.
for policy in dmda gp; do
    sizes=(1 16); ! long && [ $policy = dmda ] || sizes=(1 2 4 8 16)
    for n in "${sizes[@]}"; do
        "$DFC" simulate "$DF_SOURCE/tests/e2e/programs/volume/thesis.df" -D limit=$n --parts=$((2 * n)) --passes=$n --waves=496 --policy=$policy \
            --format=json -o thesis-$n 2>said || fail thesis "$(cat said)"
    done
    check "thesis-$policy" python3 -c "
import json, sys
rows = {n: json.load(open('thesis-%d' % n))['policies'][0] for n in ($(IFS=,; echo "${sizes[*]}"))}
print(*('%d: %.4g s' % (n, r['makespan_s']) for n, r in rows.items()))
bytes = [(n, r['h2d_bytes'], r['d2h_bytes']) for n, r in rows.items()]
if bytes != [(n, n * 496 * 960 * 1248 * 4, 1 << 32) for n in rows]: sys.exit(str(bytes))
if max(r['makespan_s'] for r in rows.values()) > 1.01 * rows[1]['makespan_s']: sys.exit('slower')"
done
for what in "--emit=plan" explain; do
    expect "says-$what" 0 "part by part: several waves go by 4 times, because 8 parts of an acc do not fit in a device's memory together; each wave leaves 4.* KiB" \
        "$DFC" $what "$parts" --platform gpu.df --parts=8
    expect "says-stream-$what" 0 "part by part: several waves go by 4 times, because 8 parts" \
        "$DFC" $what "$stream" --platform gpu.df --parts=8
done

# dfc divides what fits nowhere else, and the waves go by as often as its parts need.
thesis=$DF_SOURCE/tests/e2e/programs/volume/thesis.df
expect says-divided 0 'divided: main/back in 10 parts, because a job does not fit in a device.s memory: a wave takes .*; undivided it fits nowhere' \
    "$DFC" explain "$thesis" -D limit=4
expect divided 0 '"passes": 5' "$DFC" simulate "$thesis" -D limit=4 --waves=20 --policy=dmda --format=json
expect divided-more 0 '"makespan_s": 0.73[0-9]*, .*"passes": 40' "$DFC" simulate "$thesis" -D limit=4 --waves=20 --policy=gp --format=json
expect many 0 '"passes": 10' "$DFC" simulate "$thesis" -D limit=4 --waves=20 --policy=gp --format=json --passes=10

# What the thesis calls 38 and 10 %: projections that are copied while another one is added, against one after the other (docs/results/thesis).
overlap() { # SIZE: by how many percent two waves in flight are faster than one
    for inflight in 1 2; do
        "$DFC" simulate "$DF_SOURCE/examples/studies/volume.df" -D n="$1" --parts=1 --inflight=$inflight --waves=496 --policy=all-gpu --format=csv | tail -n 1 | cut -d, -f4
    done | awk '{ s[NR] = $1 } END { printf "%.1f\n", 100 * (1 - s[2] / s[1]) }'
}
expect overlap-256 0 '^48.4$' overlap 256
expect overlap-512 0 '^10.7$' overlap 512
