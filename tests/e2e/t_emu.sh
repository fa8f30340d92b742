# The emulated GPU stops a kernel that touches a block it did not declare, and names node and port; with --emu-check=off it does not look.
cp "$programs/leak.c" .
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
expect sync-fails 1 "node 'main/work(#[0-9])?', wave 0: emu0.*late-launch 1" env DF_EMU_TRIAL=fail=late-launch:1 ./pair --device=emu --policy=all-gpu --gpu-jobs=2 --sync-kernels
DF_EMU_TRIAL=fail=late-launch:1 ./pair --device=emu --policy=all-gpu --gpu-jobs=2 --sync-kernels 2>err
if grep -q '^ran' err; then fail sync-stops-there "$(cat err)"; else pass sync-stops-there; fi
expect sync-runs 0 '^ran 2' ./pair --device=emu --policy=all-gpu --sync-kernels

# --gpus: of the platform's GPUs, those that are named, each with its own memory.
cat >three.platform <<'EOT'
platform three {
    cpu host { workers = 2; }
    gpu a { memory = 1 MiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; }
    gpu b { memory = 8 KiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; }
    gpu c { memory = 1 MiB; h2d = 6 GB/s, 10 us; d2h = 6 GB/s, 10 us; }
}
EOT
expect gpus-all 0 'emu2' ./pair --device=emu --platform=three.platform --policy=eager --stats
./pair --device=emu --platform=three.platform --policy=eager --gpus=2,0 --stats=json --stats-file=/dev/stderr 2>stats >/dev/null
if grep -q emu0 stats && grep -q emu2 stats && ! grep -q emu1 stats; then pass gpus-two; else fail gpus-two "$(cat stats)"; fi
expect gpus-own-memory 0 '^pair: emu1: 8192 bytes for up to' ./pair --device=emu --platform=three.platform --policy=eager --gpus=1 --log=info
expect gpus-too-many 1 'error: there is no emu device 3: there are 3, from 0 to 2' ./pair --device=emu --platform=three.platform --gpus=0,3
expect gpus-only-one 1 'error: there is no emu device 1, only device 0' ./pair --device=emu --gpus=1
expect gpus-list 2 "error: --gpus: 'all' is not a list of devices" ./pair --device=emu --gpus=all
expect gpus-demanded 1 'error: no (cuda|CUDA) device: ' env CUDA_VISIBLE_DEVICES= ./pair --gpus=0
# Memory of the emulated GPU, and pinned memory, has its pages before a run, as on a GPU: no kernel pays for them. Nor does a kernel that is
# measured: a source is called once, so it has no call to warm up.
cat >paged.c <<'EOT'
#include <sys/mman.h>
#include <string.h>
static int paged(struct df_call *call, const void *memory, size_t bytes)
{
    unsigned char pages[64];
    if (mincore((void *)(uintptr_t)memory, bytes, pages) != 0)
        return df_fail(call, "mincore");
    for (size_t i = 0; i < bytes / 4096; i++)
        if (!(pages[i] & 1))
            return df_fail(call, "page %zu is missing", i);
    return DF_OK;
}
int fresh_cpu(struct df_call *call, size_t k, unsigned char *a) { memset(a, 1, k > 9 ? 9 : k); return paged(call, a, k); }
int work_cpu(struct df_call *call, size_t k, const unsigned char *a, unsigned char *b) { memcpy(b, a, 9); return paged(call, b, k); }
int last_cpu(struct df_call *call, size_t k, const unsigned char *b) { (void)b, (void)k; return DF_OK; }
EOT
cat >paged.df <<'EOT'
kernel fresh(out a: u8[k])              cpu "paged.c";
kernel work(in a: u8[k], out b: u8[k])  cpu "paged.c" gpu "none.cu";
kernel last(in b: u8[k])                cpu "paged.c";
graph main { a: u8[262144] = fresh(); b = work(a); last(b); }
EOT
if [ "$(getconf PAGESIZE)" != 4096 ] || ! python3 -c 'import mmap; mmap.mmap(-1, 4096).madvise(23)' 2>/dev/null; then
    skip pages "a Linux before 5.14, or other pages"
else
    check paged-compile "$DFC" paged.df -o paged --nvcc=none --cflags=-D_GNU_SOURCE
    for policy in all-cpu all-gpu; do check paged-$policy ./paged --device=emu --policy=$policy; done
    expect paged-measured 0 "^4 measured" env DFC_PROFILE=$PWD/paged.db "$DFC" profile paged.df --device=emu --nvcc=none --cflags=-D_GNU_SOURCE
fi
