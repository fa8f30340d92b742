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
    while ((status = tile_read(t, argv[1])) == DF_OK) {
        if (!tile_filter(t) || tile_write(t, argv[2]) != DF_OK)
            return 1;
        t->call.wave++;
    }
    free(t);
    return status != DF_END;
}
