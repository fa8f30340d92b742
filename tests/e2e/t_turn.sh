# A job of the host whose data comes from a GPU waits its turn: under policies that choose the unit of each job as it becomes ready, jobs that were given
# to the host before it run before it. `slow` keeps the only worker busy until the data of `after` has come.
: >none.cu
cat >slow.c <<'X'
#include "turn.df.h"
#include <stdio.h>
#include <time.h>
int slow_cpu(struct df_call *call, size_t k, int32_t *v)
{
    struct timespec pause = { .tv_nsec = 200000000 };
    (void)call;
    v[k - 1] = 1;
    nanosleep(&pause, NULL);
    fprintf(stderr, "slow\n");
    return DF_OK;
}
X
cat >turn.df <<'X'
kernel slow(out v: i32[k]) cpu "slow.c";
kernel before(out v: i32[k]) cpu {{ v[0] = 2; fprintf(stderr, "before\n"); }};
kernel made(out v: i32[k]) cpu {{ v[0] = 3; }} gpu "none.cu";
kernel after(in v: i32[k]) cpu {{ fprintf(stderr, "after %d\n", v[0]); }};
graph main { a: i32[8] = slow(); b: i32[8] = before(); c: i32[8] = made() @gpu; after(c); }
X
check compile "$DFC" turn.df -w -o turn --nvcc=none
printf '%s\n' slow before 'after 3' >want
for policy in dmda dmdar random; do
    ./turn --device=emu --workers=1 --policy=$policy 2>got
    same $policy got want
done
