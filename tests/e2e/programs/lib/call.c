/* call.c - calls edges() on the picture that the program edges makes itself, and prints the same bytes: call OPTIONS [WAVES].
 * With WAVES all waves are one call; else three calls are made, of which the one in the middle has other sizes. */
#include "edges.h"

#include <stdio.h>
#include <stdlib.h>

enum { H = 37, W = 53, MOST = 5 };
static uint8_t image[MOST][H * W], e[MOST][(H - 1) * W];
static int32_t d[MOST][(H - 1) * W];

static void picture(uint8_t *a, size_t wave)
{
    for (size_t i = 0; i < H * W; i++)
        a[i] = (uint8_t)(i * i * 31 + i * 7 + 100 * wave);
}

static int check(int rc)
{
    if (rc != EDGES_OK)
        fprintf(stderr, "%s\n", edges_error());
    return rc != EDGES_OK;
}

int main(int argc, char **argv)
{
    struct edges_session *session;
    int waves = argc > 2 ? atoi(argv[2]) : 1;
    size_t extents[4];
    for (int w = 0; w < waves; w++)
        picture(image[w], (size_t)w);
    if (check(edges_open(argv[1], &session)))
        return 1;
    if (waves > 1) {
        if (check(edges_run_waves(session, waves, image[0], H, W, e[0], d[0], 40.0f)))
            return 1;
    } else if (check(edges_run(session, image[0], H, W, e[0], d[0], 4.0f)) ||
               check(edges_run(session, image[0], H / 2, W, e[0], d[0], 4.0f)) ||
               check(edges_run(session, image[0], H, W, e[0], d[0], 40.0f))) {
        return 1;
    }
    if (check(edges_shape(session, H, W, 1, extents)) || extents[0] != H - 1 || extents[1] != W || extents[2] != 1)
        return 1;
    for (int w = 0; w < waves; w++) {
        fwrite(e[w], 1, sizeof e[w], stdout);
        fwrite(d[w], 1, sizeof d[w], stdout);
    }
    return check(edges_close(session));
}
