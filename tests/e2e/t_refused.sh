# What a program refuses before it starts, or warns of and runs on the CPU: whole sentences.
# program NAME BODY: compiles kernels of one byte vector and BODY.
program() {
    { echo 'kernel make(out v: u8[k]) cpu {{ memset(v, 1, k); }};
kernel both(in a: u8[k], out b: u8[k]) cpu {{ memcpy(b, a, k); }} gpu {{ (void)a; }};
kernel only(in a: u8[k], out b: u8[k]) gpu {{ (void)a; }};
kernel other(in a: u8[k], out b: u8[k]) cpu {{ memcpy(b, a, k); }} cost cpu 1us tpu 1us;
kernel show(in v: u8[k]) cpu {{ printf("%d\n", v[0]); }};'
      echo "graph main { v: u8[5000] = make(); $2 }"; } > "$1.df"
    "$DFC" "$1.df" -o "$1" --nvcc=none > "$1.log" 2>&1 || fail "$1-compiles" "$(tail -n 3 "$1.log")"
}
# says NAME STATUS SENTENCE COMMAND…: all it prints on stderr is the sentence.
says() {
    local name=$1 status=$2 want=$3 said got; shift 3
    said=$("$@" 2>&1 >/dev/null); got=$?
    [ "$got" = "$status" ] && [ "$said" = "$want" ] && pass "$name" || fail "$name" "exit $got: $said"
}
echo 'arg a: i32 = 2; kernel say(; x: i32) cpu {{ printf("%d\n", x); }}; graph main { say(1); say(6 / (a - 2)); }' > scalars.df
check scalars-compile "$DFC" scalars.df -o scalars
says scalar-of-a-node 1 "scalars: error: node 'main/say#2': scalar 'x': division by zero" ./scalars
program gpu_only 'w = only(v); show(w);'
says no-variant-no-gpu 1 "gpu_only: error: node 'main/only' (kernel 'only') cannot run: it has no cpu variant, and there is no GPU" ./gpu_only --device=none
says no-variant-for-emu 1 "gpu_only: error: node 'main/only' (kernel 'only') cannot run: this program has no variant of it for the devices present" ./gpu_only --device=emu
program hinted 'w = both(v) @gpu; show(w);'
says hint-no-gpu 0 "hinted: warning: node 'main/both' is '@gpu' and runs on the CPU: there is no GPU" ./hinted --device=none
says hint-kept 0 "" ./hinted --device=emu
says hint-too-large 1 "hinted: error: node 'main/both' (kernel 'both') cannot run: one job needs 16384 bytes of GPU memory and there are 12288; it is '@gpu'" \
    ./hinted --device=emu --gpu-mem=16383
says hint-just-fits 0 "" ./hinted --device=emu --gpu-mem=16384 --inflight=1
says hint-quiet 0 "" ./hinted --device=none --log=error
says hint-too-large-compiled 1 "hinted.df:6:40: error: node 'main/both' fits nowhere: one job of it needs 16384 bytes, 'gpu0' has 16383, and its hint forbids the cpu
    graph main { v: u8[5000] = make(); w = both(v) @gpu; show(w); }
                                           ^~~~
hint: remove its hint, make its tokens smaller, or plan for a larger device (--platform, --gpu-mem)" "$DFC" hinted.df -o refused --nvcc=none --gpu-mem=16383
[ -e refused ] && fail refused-is-not-made "there is a program" || pass refused-is-not-made
sed 's/w = both(v) @gpu; show(w);/for i in 0..3 { w[i] = both(v) @gpu; show(w[i]); }/; s/5000/n/; 1i param n = 5000;' hinted.df > loop.df
expect loop-too-large-compiled 1 'note: so do 2 more nodes' "$DFC" loop.df -o refused --nvcc=none --gpu-mem=16383
# A size that is given when it starts may be smaller.
sed 's/param n = 5000;/param n = 5000 dynamic;/' loop.df > dynamic.df
expect dynamic-too-large-compiled 0 "warning: the program carries no placement; it is made when the program starts: node 'main/both\[0\]' fits nowhere" \
    "$DFC" dynamic.df -o dynamic --nvcc=none --gpu-mem=16383
expect dynamic-smaller 0 '^1$' ./dynamic --n=4000 --device=emu --gpu-mem=16383
expect dynamic-too-large 1 "node 'main/both\[0\]' .*one job needs 16384 bytes of GPU memory" ./dynamic --device=emu --gpu-mem=16383
program free 'w = both(v); x = both(w); show(x);'
says too-large-runs-on-cpu 0 "free: warning: node 'main/both#1' (and 1 more node) runs on the CPU: one job needs 16384 bytes of GPU memory, more than there is" \
    ./free --device=emu --gpu-mem=4096
program elsewhere 'w = other(v) @tpu; show(w);'
says hint-other-class 0 "elsewhere: warning: node 'main/other' is placed on a class of device that this program cannot use; the hint is ignored" ./elsewhere --device=none
says trace-before-work 1 "free: error: cannot write 'no/where': No such file or directory" ./free --device=none --trace=no/where
says platform-missing 1 "free: error: cannot read 'no.df': No such file or directory
free: error: no platform could be read from 'no.df'" ./free --platform=no.df
# df_log: levels, node and wave.
says evict-belady-needs-places 2 "free: error: --evict=belady needs a policy that orders jobs before the run: 'eager' does not" \
    ./free --device=emu --policy=eager --evict=belady
says evict-belady 0 "" ./free --device=emu --policy=all-gpu --evict=belady
says evict-word 2 "free: error: --evict=fifo: one of auto, lru, belady is expected" ./free --evict=fifo
cat > log.df <<'X'
kernel say(out v: u8[k]) cpu {{
    df_log(call, DF_LOG_ERROR, "a %d", 1);
    df_log(call, DF_LOG_WARNING, "b");
    df_log(call, DF_LOG_INFO, "c");
    df_log(call, DF_LOG_DEBUG, "d");
    v[0] = 1;
}};
graph main { _: u8[2] = say(); }
X
check log-compiles "$DFC" log.df -o log
lines="log: error: node 'main/say', wave 0: a 1
log: warning: node 'main/say', wave 0: b
log: node 'main/say', wave 0: c
log: debug: node 'main/say', wave 0: d"
n=0
for level in error warning info debug; do
    n=$((n + 1))
    says "log-$level" 0 "$(head -n $n <<<"$lines")" ./log --log=$level
done
says log-default 0 "$(head -n 2 <<<"$lines")" ./log
# Sizes that no machine has, in a run and in measuring.
echo 'kernel src(out v: f32[k]) cpu {{ v[0] = 1; }}; kernel sink(in a: f32[k]) cpu {{ }};
graph main { a: f32[99999999999999] = src(); sink(a); }' > huge.df
check huge-compiles "$DFC" huge.df -o huge
huge="^huge: error: node 'main/src' \(kernel 'src'\) cannot run: one job needs 364 TiB of memory, and this machine has [0-9.]+ [GT]iB$"
expect huge 1 "$huge" ./huge
expect huge-emulated 1 "$huge" ./huge --device=emu --emu-all
expect huge-profile 1 "$huge" "$DFC" profile huge.df --max-runs=2
# Scratch that only a GPU has: the host needs none of it where the node runs there. (Its first GiB is made, which takes seconds if it is emulated.)
bytes=$(awk '/^(MemTotal|SwapTotal):/ { k += $2 } END { printf "%.0f", k * 1024 + 2 ^ 30 }' /proc/meminfo)
hints=(""); ! long || hints+=(" @gpu")
for hint in "${hints[@]}"; do
    echo "kernel src(out a: u8[k]) cpu {{ a[0] = 7; }};
    kernel f(in a: u8[k], tmp t: u8[$bytes], out b: u8[k]) cpu {{ t[0] = 1; b[0] = a[0] + t[0]; }} gpu {{ (void)a; }};
    kernel sink(in a: u8[k]) cpu {{ printf(\"%d\\n\", a[0]); }};
    graph main { a: u8[100] = src(); b = f(a)$hint; sink(b); }
    platform p { cpu host { workers = 2; } gpu g { memory = $((2 * bytes)) B; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; } }" > tmp.df
    check "scratch-compiles$hint" "$DFC" tmp.df -o tmp --nvcc=none
    expect "scratch-of-no-host$hint" 1 "cannot run: one job needs .* of memory, and this machine has" ./tmp --device=none
    if [ "$(cat /proc/sys/vm/overcommit_memory)" = 2 ]; then
        skip "scratch-of-a-gpu$hint" "this machine reserves no more memory than it has"
    else
        check "scratch-of-a-gpu$hint" ./tmp --device=sim --policy=eager --gpu-jobs=1
        ! long || expect "scratch-of-an-emulated-gpu$hint" 0 '^8$' ./tmp --device=emu --policy=eager --gpu-jobs=1 --emu-check=off
    fi
done

# ---- a stranger's program: it is planned and drawn, reads no file outside its folder, and is not compiled ----
mkdir -p stranger/sub && printf 'secret: of=another\n' >secret.df && ln -s ../secret.df stranger/link.df && printf 'kernel extra(out v: u8[k]) cpu {{ memset(v, 1, k); }} cost cpu 1us;\n' >stranger/sub/extra.df
cat >stranger/good.df <<'EOF'
import "sub/extra.df";
import "std/raw.df";
link "m";
kernel make(out v: u8[k]) cpu "k.c" flags "-O3" cost cpu 1us;
kernel show(in v: u8[k]) cpu {{ }} cost cpu 1us;
graph main { v: u8[5] = make(); w: u8[5] = extra(); show(v); show(w); }
EOF
printf 'int make_cpu(struct df_call *c, size_t k, uint8_t *v) { return DF_OK; }\n' >stranger/k.c
for command in partition simulate explain '--emit=graph'; do expect "untrusted-$command" 0 . "$DFC" $command stranger/good.df --untrusted; done
expect untrusted-compile 1 "^dfc: error: --untrusted: 'stranger/good.df' is not compiled, because compiling a program gives it the rights of who compiles it" \
    "$DFC" stranger/good.df --untrusted -o stranger/good
[ -e stranger/good ] && fail untrusted-no-file 'there is a program' || pass untrusted-no-file
for command in run compare profile; do expect "untrusted-$command" 1 '^dfc: error: --untrusted: ' "$DFC" $command stranger/good.df --untrusted; done
for import in "$PWD/secret.df" ../secret.df link.df /proc/self/fd/9; do
    { echo "import \"$import\";"; sed 1,2d stranger/good.df; } >stranger/bad.df
    "$DFC" partition stranger/bad.df --untrusted >bad.out 2>&1 9< <(cat secret.df)
    expect "untrusted-import-${import//[^a-z]/}" 0 "^stranger/bad\.df:1:8: error: cannot import '.*': it is not below the program's folder, and the program is --untrusted$" cat bad.out
    grep -q 'of=another' bad.out && fail untrusted-reads "$(cat bad.out)"
done
expect untrusted-folder 0 . "$DFC" partition stranger/good.df --untrusted -I "$PWD"
mkdir -p kept && ln -s kept good.dfc
expect keep-link 1 "^dfc: error: cannot make the folder 'good\.dfc': Not a directory" "$DFC" stranger/good.df --nvcc=none -o good --keep
