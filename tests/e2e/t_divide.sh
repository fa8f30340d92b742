# Nodes that are divided: the same bits as undivided, in any number of parts, under every policy, in little device memory.
formulas_for none
compile() { # PARTS FILE NAME [OPTION…]
    local parts=$1 file=$2 name=$3; shift 3
    "$DFC" "$file" --parts="$parts" -o "$name" --nvcc=none --no-opencl "$@" >compile.out 2>&1 || fail "$name-compile" "$(head -3 compile.out)"
}
runs() { # NAME REFERENCE WAVES MEMORY: this program as its reference; in make check under half of the policies and in half of the modes, in turns
    local name=$1 bad="" policies="eager random ws dmda gp all-gpu"
    turn=$((${turn:-0} + 1)); long || case $((turn % 2)) in 1) policies="eager ws gp" ;; *) policies="random dmda all-gpu" ;; esac
    local modes=("--device=none --workers=1" "--device=none --workers=3 --policy=eager" "--device=emu --serial --emu-all" \
                 "--device=none --workers=2 --policy=ws" "--device=none --serial" "--device=emu --poison --policy=random")
    long || modes=("${modes[@]:turn % 2 * 3:3}")
    for run in "${modes[@]}"; do
        ./"$name" --waves="$3" $run >run.out 2>run.err && cmp -s run.out "$2" || bad="$bad; $run: $(head -1 run.err)"
    done
    for policy in $policies; do
        for more in "" "--gpu-mem=$4"; do
            ./"$name" --waves="$3" --device=emu --emu-all --policy=$policy $more >run.out 2>run.err && cmp -s run.out "$2" ||
                bad="$bad; $policy $more: $(head -1 run.err)"
        done
    done
    if [ -z "$bad" ]; then pass "$name"; else fail "$name" "${bad:0:300}"; fi
}

# 37 rows: no number of parts divides them. In 37 parts the halo is larger than a part; 64 are more than there are rows.
compile 1 "$programs/rows.df" rows-1
./rows-1 --waves=5 --device=none >rows.ref
for n in 3 37; do
    compile $n "$programs/rows.df" rows-$n
    runs rows-$n rows.ref 5 40KiB
done
sed 's/param h = 37/param h = 1/' "$programs/rows.df" >one.df
compile 1 one.df one-1 && ./one-1 --waves=5 --device=none >one.ref
compile 3 one.df one-3 && ./one-3 --waves=5 >one.out && same one-3 one.out one.ref

# Formulas: borders, a group, one dimension, extents that the halo is larger than.
compile 1 "$programs/formulas.df" formulas-1
./formulas-1 --waves=4 --device=none >formulas.ref
compile 3 "$programs/formulas.df" formulas-3 && runs formulas-3 formulas.ref 4 48KiB
for n in 2 41; do
    for fuse in "" --no-fuse; do
        [ "$n$fuse" != 2--no-fuse ] || long || continue
        compile $n "$programs/formulas.df" formulas-$n$fuse $fuse
        ./formulas-$n$fuse --waves=4 --device=emu --policy=random >formulas.out && same formulas-$n$fuse formulas.out formulas.ref
    done
done
expect few 0 'blur.part\[36\]' "$DFC" "$programs/rows.df" --parts=64 --emit=graph
expect copies-none 0 '^n4 main/bump.part\[0\] .* in place of' \
    bash -c '"$DFC" "$1" --parts=3 --emit=graph | sed "s/^n9 /n4 /"' - "$programs/rows.df"

# @parts is obeyed, and stands before --parts.
sed 's/blur(a, t);/blur(a, t) @parts(4);/' "$programs/rows.df" >hint.df
expect hint 0 'blur.part\[3\]' "$DFC" hint.df --emit=graph
expect hint-first 0 'blur.a.view.* -> v[0-9]*, v[0-9]*, v[0-9]*, v[0-9]*$' "$DFC" hint.df --parts=2 --emit=graph
expect none 0 'main/blur w' "$DFC" "$programs/rows.df" --parts=1 --emit=graph
expect usage 2 "parts" "$DFC" "$programs/rows.df" --parts=0

# A device with an eighth of the memory that a token takes: the parts run there.
for kind in rows formulas; do
    for n in 1 32; do compile $n "$programs/$kind.df" large-$kind-$n -D h=4096 -D w=64; done
    ./large-$kind-1 --waves=2 --device=none >large.ref
    ./large-$kind-32 --waves=2 --device=emu --emu-all --policy=all-gpu --gpu-mem=128KiB --stats >large.out 2>large.err
    same eighth-$kind large.out large.ref
    expect eighth-$kind-there 0 'main/.*\.part\[[0-9]*\]  *gpu' cat large.err
done

# Nobody says it: a node is shared by a GPU and two workers, as large as they are fast, and a rehearsal comes to what is promised.
# The GPU alone takes 9.36 ms, and 7 ms would be ideal.
expect shared 0 '^divided: main/f in 3 parts, by the speeds of the units \(75\.[0-9] : 12\.[0-9] : 12\.[0-9] %\): a wave takes 7\..* in place of 9\.' \
    "$DFC" "$programs/share.df" --emit=plan
expect shared-told 0 '^divided: main/f in 3 parts' "$DFC" explain "$programs/share.df"
check shared-drawn "$DFC" partition "$programs/share.df" -o shared.svg
expect shared-picture 0 '>divided: main/f in 3 parts, by the speeds of the units \(75' cat shared.svg
expect shared-dot 0 '>divided: main/f in 3 parts, by the speeds of the units \(75' "$DFC" "$programs/share.df" --emit=dot
check undivided-drawn "$DFC" partition "$programs/share.df" --parts=1 -o shared.svg
expect undivided-picture 1 '^$' grep divided: shared.svg
expect shared-rehearsed 0 '^gp  *~?7\.[0-4][0-9]* ms' "$DFC" compare "$programs/share.df" --rehearse --policy=gp
expect declined 0 '^n1 main/f u1' "$DFC" "$programs/share.df" --emit=plan --parts=1
# What is tried and would not pay is told, in the picture, too: here copies take next to nothing.
sed 's/4.0ns/0.4ns/; s/12 GB/1200 GB/g; s/engines = 2/engines = 1/' "$programs/share.df" >fast.df
for what in explain partition --emit=plan; do
    expect "not-divided $what" 0 '^not divided: main/f in [23] parts, .*: a wave would take .*, which is not 3 % less than .*$' "$DFC" $what fast.df
done
check not-divided-drawn "$DFC" partition fast.df -o fast.svg
expect not-divided-picture 0 '>not divided: main/f in [23] parts' cat fast.svg
# Jobs of 40 us are not divided; nor are those of a graph whose times nobody knows.
sed 's/28.6ns/0.02ns/; s/4.0ns/0.02ns/' "$programs/share.df" >short.df
expect short 0 '^n1 main/f ' "$DFC" short.df --emit=plan
sed 's/ cost cpu (28.6ns.*;/ cpu {{ (void)0; }};/' "$programs/share.df" >unknown.df
expect unknown 0 '^n1 main/f ' "$DFC" unknown.df --emit=plan
# For the workers alone, and because the GPU's memory is short.
expect workers 0 '^divided: main/f in 2 parts, for the CPU workers: ' "$DFC" "$programs/share.df" --emit=plan --device=none
sed 's/workers = 2/workers = 1/; s/28.6ns/400.0ns/' "$programs/share.df" >room.df
expect room 0 '^divided: main/f in [0-9]* parts, because a job does not fit in a device' "$DFC" room.df --emit=plan --gpu-mem=2MiB

# A part that skips makes the whole empty.
for n in 1 3; do compile $n "$programs/skips.df" skips-$n; done
./skips-1 --waves=8 --device=none >skips.ref
expect skips 0 '^5$' bash -c 'wc -l <skips.ref'
runs skips-3 skips.ref 8 40KiB
# Parts of which one skips, and accs that are divided alike.
for n in 1 3; do compile $n "$programs/kept.df" kept-$n; done
./kept-1 --waves=20 --device=none >kept.ref
runs kept-3 kept.ref 20 40KiB
# Views of a token that is empty, and has no memory.
for n in 1 3; do compile $n "$programs/empty.df" empty-$n; done
./empty-1 --waves=6 --device=none >empty.ref
expect empty 0 '^5 12 36$' cat empty.ref
runs empty-3 empty.ref 6 40KiB
# Final nodes begin when a job is left out, and the first of them takes no worker.
compile 3 "$programs/final.df" final-3
for policy in eager ddfcfs dmda gp all-cpu; do
    expect "final $policy" 0 '^104$' timeout 150 ./final-3 --waves=4 --device=emu --workers=1 --policy=$policy
done

# The example of docs/language.md: a kernel of code with a halo. Its results have the same bits in 1, 3 and 8 parts.
awk '/^## /{ on = $0 == "## Nodes in parts" } /^```/{ code = !code; n += on && code; next } on && code && n == 1' "$DF_SOURCE/docs/language.md" >example.df
cat >>example.df <<'X2'
kernel volume(out a: f32[z, y, x]) cpu {{
    for (size_t i = 0; i < z * y * x; i++) a[i] = (float)((i * 37 + (size_t)df_wave(call) * 11) % 101);
}};
kernel weights(out t: f32[k]) once cpu {{ for (size_t i = 0; i < k; i++) t[i] = (float)(i + 1) / 15; }};
kernel print(in b: f32[z, y, x]) ordered cpu {{ for (size_t i = 0; i < z * y * x; i++) printf("%.9g\n", b[i]); }};
graph main { a: f32[9, 3, 4] = volume(); t: f32[5] = weights(); b = blur(a, t); print(b); }
X2
check example-whole "$DFC" -w example.df --parts=1 -o whole
./whole --waves=3 >want
expect example-sum 0 '^324 ' awk '{ n++; s += $1 } END { print n, s }' want
for n in $(! long || echo 3) 8; do
    check "example-parts-$n" "$DFC" -w example.df --parts=$n -o parts
    ./parts --waves=3 --workers=3 >got; same "example-in-$n" got want
done

# A view has many outputs of one kind: --dump writes each of them to a file of its own, and together they are the whole.
cat > dump.df <<'X'
kernel src(out v: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) v[i] = (int)(i * i); }};
kernel f(in v: i32[k], out o: i32[k]) { o[x] = v[x] * 3; }
kernel show(in v: i32[k]) ordered cpu {{ printf("%d\n", v[k - 1]); }};
graph main { v: i32[100] = src(); o = f(v) @parts(3); show(o); }
X
compile 1 dump.df dump
mkdir dumped && ./dump --waves=2 --dump='main/*' --dump-dir=dumped >dump.out 2>&1 || fail dump "$(cat dump.out)"
python3 - <<'X' && pass dump || fail dump "$(ls dumped | tr '\n' ' ')"
import os
import struct
name = "dumped/main.{}.{}.npy".format
read = lambda of, wave: struct.iter_unpack("<i", open(name(of, wave), "rb").read()[256:])
for wave in 0, 1:
    src, whole = list(read("src.v", wave)), list(read("f.o.join.whole", wave))
    assert len(src) == 100 and sum((list(read(f"f.v.view.part[{p}]", wave)) for p in range(3)), []) == src
    assert sum((list(read(f"f.part[{p}].o", wave)) for p in range(3)), []) == whole == [(3 * a,) for a, in src]
assert len(os.listdir("dumped")) == 2 * (1 + 3 + 3 + 1)
X
