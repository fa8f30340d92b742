# The emulated GPU stops a kernel that touches a block it did not declare, and names node and port; with --emu-check=off it does not look.
cat >leak.c <<'EOT'
static const int32_t *saved;
int first_cpu(struct df_call *call, size_t k, int32_t *a) { (void)call; for (size_t i = 0; i < k; i++) a[i] = (int32_t)i; return DF_OK; }
int keep_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b) { (void)call; saved = a; memcpy(b, a, k * 4); return DF_OK; }
int steal_cpu(struct df_call *call, size_t k, const int32_t *b, int32_t *c)
{
    (void)call;
    for (size_t i = 0; i < k; i++)
        c[i] = b[i] + saved[i];
    return DF_OK;
}
int spoil_cpu(struct df_call *call, size_t k, const int32_t *c, int32_t *d)
{
    (void)call;
    d[0] = c[0];
    ((int32_t *)(uintptr_t)c)[k - 1] = 7;
    return DF_OK;
}
int hold_cpu(struct df_call *call, size_t k, const int32_t *a, const int32_t *c, int32_t *d)
{
    (void)call;
    d[0] = c[0];
    d[k - 1] = a[k - 1];
    return DF_OK;
}
int last_cpu(struct df_call *call, size_t k, const int32_t *d) { (void)call; return d[k - 1] == (int32_t)k - 1 && d[0] == 0 ? DF_OK : DF_FAILED; }
EOT
sed -i '1i #include <string.h>' leak.c
: >none.cu
graph() { # KERNEL: a graph in which it is the culprit. `hold` keeps `a` on the GPU without a copy of it that could be under way.
    cat <<EOT
kernel first(out a: i32[k]) cpu "leak.c" gpu "none.cu";
kernel keep(in a: i32[k], out b: i32[k]) cpu "leak.c" gpu "none.cu";
kernel $1(in b: i32[k], out c: i32[k]) cpu "leak.c" gpu "none.cu";
kernel hold(in a: i32[k], in c: i32[k], out d: i32[k]) cpu "leak.c" gpu "none.cu";
kernel last(in d: i32[k]) cpu "leak.c";
graph main { a: i32[1000] = first(); b = keep(a); c = $1(b); d = hold(a, c); last(d); }
EOT
}
graph steal >steal.df; graph spoil >spoil.df
check compile "$DFC" steal.df -o steal --nvcc=none
check compile-spoil "$DFC" spoil.df -o spoil --nvcc=none
if grep -q 'fsanitize=thread' "$DF_BUILD/obj/flags" 2>/dev/null; then skip undeclared "the thread sanitizer takes the signal"; else
    expect undeclared 1 "^steal: error: node 'main/steal', wave 0: it (read|touched) a block that it did not declare, of node 'main/first' port 'a'" ./steal --device=emu --policy=all-gpu
    expect read-only 1 "^spoil: error: node 'main/spoil', wave 0: it wrote to its input port 'b', which is read-only" ./spoil --device=emu --policy=all-gpu
fi
expect off 0 '' ./steal --device=emu --policy=all-gpu --emu-check=off
expect on-the-cpu 0 '' ./steal --device=none
expect bad-value 2 "emu-check" ./steal --emu-check=perhaps

# --sync-kernels: the next job is not begun before this one has ended well, so what fails is told as its own and nothing runs after it.
cat >pair.df <<'EOT'
kernel made(out a: i32[k]) cpu {{ for (size_t i = 0; i < k; i++) a[i] = 1; }};
kernel work(in a: i32[k], out b: i32[k]; n: i32) cpu {{ memcpy(b, a, k * 4); fprintf(stderr, "ran %d\n", n); }} gpu "none.cu";
kernel last(in a: i32[k], in b: i32[k]) cpu {{ (void)k; (void)a; (void)b; }};
graph main { a: i32[10] = made(); b = work(a, 1); c = work(a, 2); last(b, c); }
EOT
check pair-compile "$DFC" pair.df -o pair --nvcc=none
expect sync-fails 1 "node 'main/work(#[0-9])?', wave 0: emu0.*late-launch 1" ./pair --device=emu --policy=all-gpu --gpu-jobs=2 --sync-kernels --emu-fail=late-launch:1
./pair --device=emu --policy=all-gpu --gpu-jobs=2 --sync-kernels --emu-fail=late-launch:1 2>err
if grep -q '^ran' err; then fail sync-stops-there "$(cat err)"; else pass sync-stops-there; fi
expect sync-runs 0 '^ran 2' ./pair --device=emu --policy=all-gpu --sync-kernels
