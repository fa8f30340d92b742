# Examples under mpirun give the same bytes on 1 to 4 ranks as in one process: photo by tiles (nuclei in stages_apps), cholesky and a small graph in their one wave, ct
# by parts of its volume. A rank that dies with parts; what cannot be shared by parts.
. "$here/ranks.sh"
have_ranks ranks || return 0
examples=$DF_SOURCE/examples
formulas_for none
if long; then numbers='1 2 3 4'; else numbers='1 4'; fi

png=; ! printf '#include <png.h>\n' | cc -E - >/dev/null 2>&1 || png=1
if [ -z "$png" ]; then
    skip photo 'libpng is not installed'
elif long; then
    cc -std=c11 -D_GNU_SOURCE -o pattern "$examples/photo/synthetic.c" -lpng -lm && ./pattern 500 400 7 picture.png
    check compile-photo "$DFC" "$examples/photo/photo.df" --nvcc=none -o photo -D tile=64
    on_ranks photo "$numbers" photo --input=picture.png --output=output.png
fi

if long; then
    check compile-cholesky "$DFC" "$examples/cholesky/cholesky.df" --nvcc=none -w -o cholesky -D tiles=4
    on_ranks cholesky "$numbers" cholesky --n=150 --output=output.npy --matrix=output-matrix.npy
fi
cat >once.df <<'EOT'
import "std/io.df";
kernel fill(out p: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) p[i] = 7 * (int64_t)i; }};
kernel weigh(in p: i64[n], out q: i64[n]) cpu {{ for (size_t i = 0; i < n; i++) q[i] = p[i] * p[i]; printf("%lld\n", (long long)q[n - 1]); }};
graph main { p: i64[50] = fill(); q = weigh(p); write_raw_i64(q, "output.raw"); write_npy_i64(p, "output.npy"); }
EOT
check compile-once "$DFC" once.df --nvcc=none -w -o once
on_ranks once "$numbers" once
expect once-whole 0 '^400$' stat -c %s output.raw

# ---- by parts of accs ----
cat >shares.df <<'EOT'
arg last: i64 = 12;
arg deadly: i64 = -1;
arg other: i64 = 0;
arg together: i64 = 0;          // so many ranks have to be at work before one goes on: else one may have all shares on a busy machine
kernel count(out p: i64[n]; last: i64, other: i64) stream restart cpu {{
#include <stdlib.h>
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (df_wave(call) == last + (other && rank && atoi(rank) == 2)) return DF_END;
    for (size_t i = 0; i < n; i++) p[i] = df_wave(call) * 7 + (int64_t)i;
}};
kernel weigh(in p: i64[n], out q: i64[n]; deadly: i64, together: i64) cpu {{
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
    if (together > 0 && df_wave(call) == 0 && getenv("OMPI_COMM_WORLD_RANK")) {
        char name[64];
        snprintf(name, sizeof name, "begun.%s", getenv("OMPI_COMM_WORLD_RANK"));
        close(open(name, O_CREAT | O_WRONLY, 0600));
        for (int64_t rank = 1, times = 0; rank <= together && times < 10000; rank++)    // 100 s at most
            for (snprintf(name, sizeof name, "begun.%d", (int)rank); access(name, F_OK) != 0 && times < 10000; times++) usleep(10000);
    }
    if (df_wave(call) == deadly && open("killed", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) kill(getpid(), SIGKILL);
    if (df_wave(call) == 11 && getenv("OMPI_COMM_WORLD_RANK")) { int f = open("ranks", O_CREAT | O_APPEND | O_WRONLY, 0600); dprintf(f, "%s\n", getenv("OMPI_COMM_WORLD_RANK")); close(f); }
    for (size_t i = 0; i < n; i++) q[i] = p[i] * p[i];
}};
kernel back(in q: i64[n], acc vol: i64[z, n] split z) cpu {{
    struct df_part part = df_part(call);
    for (size_t k = 0; k < z; k++)
        for (size_t i = 0; i < n; i++)
            vol[k * n + i] = (int64_t)((uint64_t)vol[k * n + i] * 3 + (uint64_t)q[i] * (part.first + k));
}};
kernel tell(in vol: i64[z, n]) cpu {{
    uint64_t sum = 0;
    for (size_t i = 0; i < z * n; i++) sum = sum * 31 + (uint64_t)vol[i];
    printf("%lld after %lld waves\n", (long long)sum, (long long)df_wave(call));
}};
graph main { p: i64[50] = count(last, other); q = weigh(p, deadly, together); vol: i64[30, 50] = back(q) @parts(5); tell(vol); }
EOT
check compile-shares "$DFC" shares.df --nvcc=none -o shares
# shared NAME RANKS: these ranks have had the last wave, and so all of them.
shared() { rm -f begun.*; if [ "$(sort ranks | tr '\n' ' ')" = "$2 " ]; then pass "$1"; else fail "$1" "all waves were on ranks $(sort ranks | tr '\n' ' ')"; fi; rm -f ranks; }
rm -f ranks begun.*; on_ranks shares 4 shares --together=3; shared shares-all '1 2 3'
how='--device=none --share=parts' on_ranks shares-asked "$(long && echo '2 3 4' || echo 2)" shares --last=12; rm -f ranks
how='--device=none --share=waves' on_ranks shares-waves 3 shares; rm -f ranks
how='--device=emu --emu-all --policy=all-gpu' on_ranks shares-device 3 shares --together=2; shared shares-device-all '1 2'
on_ranks shares-none 3 shares --last=0
how='--device=none --resume' on_ranks shares-journal 3 shares; rm -f ranks
expect shares-journal-ended 0 "^shares: all 12 waves are done, as 'shares.journal' says: nothing is left to do$" ranks 3 ./shares --cluster --resume
./shares >shares.one
timeout 150 mpirun $root --oversubscribe --bind-to none --enable-recovery -n 4 ./shares --cluster --workers=1 --deadly=5 --heartbeat-timeout=4s >shares.out 2>shares.err
if [ $? = 0 ] && [ -e killed ]; then same shares-killed shares.out shares.one; else fail shares-killed "$(tail -n 5 shares.err | tr '\n' ' ')"; fi
expect shares-killed-told 0 '^shares: warning: rank [123] on .* counts as dead' cat shares.err
expect shares-unlike 1 '^shares: error: one rank has had 1[23] waves, and another one 1[23]: their inputs are not the same$' ranks 3 ./shares --cluster --other=1 --together=2; rm -f begun.*
expect shares-alone 2 'error: --share is for a run on several ranks: --cluster is missing' ./shares --share=parts
expect shares-word 2 "error: --share=halves: one of waves, parts is expected" ./shares --cluster --share=halves
expect shares-not 1 "^once: error: --share=parts: no acc is divided" ranks 2 ./once --cluster --share=parts

if pkg-config --exists fftw3f && [ -n "$png" ]; then
    cc -O1 -ffast-math -o phantom "$examples/ct/phantom.c" -lm && ./phantom 8 78 60 head.rct
    check compile-ct "$DFC" "$examples/ct/ct.df" --nvcc=none --no-opencl -w -o ct
    ct='--n=64 --w=78 --h=60 --input=head.rct --density=output.f32 --volume=output.vol --picture=output.png'
    # shellcheck disable=SC2086
    on_ranks ct "${numbers#1 }" ct $ct
    # shellcheck disable=SC2086
    how='--device=none --share=waves' on_ranks ct-waves 3 ct $ct
else
    skip ct 'no libfftw3-dev or libpng'
fi
