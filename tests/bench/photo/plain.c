/* plain.c - examples/photo without a runtime: the same kernels, one after another in one
 * thread. plain IN.png OUT.png */
#include <stdio.h>
#include <stdlib.h>

#include "plain.h"

int main(int argc, char **argv)
{
    struct tile *t = calloc(1, sizeof *t);
    int status = 0;
    if (argc != 3 || !t) {
        fputs("usage: plain IN.png OUT.png\n", stderr);
        return 2;
    }
    while ((status = read_cpu(&t->call, BIG, BIG, t->rgb, argv[1], TILE)) == DF_OK) {
        if (!tile_filter(t) || write_cpu(&t->call, TILE, TILE, t->edges, argv[2]) != DF_OK)
            return 1;
        t->call.wave++;
    }
    free(t);
    return status != DF_END;
}
