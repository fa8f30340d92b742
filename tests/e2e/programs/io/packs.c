/* packs.c - png_pack.h with and without packer_flush(): a flush packs every whole band that is held, on the workers, and the
 * compressed bytes are those that come without one. Bands are of 8 rows here.
 * packs STEP: flushes each row, each 1 + STEP, each 1 + 2 STEP, … */
#include <stdio.h>
#include <stdlib.h>

#include "png_pack.h"

#define ROW_BYTES 8192
#define HEIGHT 203

static size_t most_pieces;              /* of one call of df_pieces() */

void df_pieces(struct df_call *call, size_t n, df_piece *piece, void *arg)
{
    (void)call;
    most_pieces = n > most_pieces ? n : most_pieces;
    for (size_t i = 0; i < n; i++)
        piece(arg, i);
}

static unsigned char *take(const struct packer *p, size_t n, unsigned char *to)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(to, p->bands[i].packed, p->bands[i].packed_bytes);
        to += p->bands[i].packed_bytes;
    }
    return to;
}

/* The rows, with a flush behind each `every` of them; 0: none. Gives the compressed bytes. SIZE_MAX: a flush left a whole band. */
static size_t pack(size_t every, unsigned char *to)
{
    unsigned char *end = to;
    unsigned random = 1;
    struct packer *p = packer_new(HEIGHT, ROW_BYTES, 3);
    if (!p)
        return SIZE_MAX;
    for (size_t y = 1; y <= HEIGHT; y++) {
        unsigned char *row = packer_row(p);
        for (size_t i = 0; i < ROW_BYTES; i++)
            row[i] = (unsigned char)((random = random * 1664525 + 1013904223) >> 28);
        end = take(p, packer_put(NULL, p), end);
        if (every && y % every == 0) {
            size_t held = p->held, n = packer_flush(NULL, p);
            end = take(p, n, end);
            if (n != held / p->band_rows || p->held >= p->band_rows)
                return SIZE_MAX;
        }
    }
    packer_close(p);
    return (size_t)(end - to);
}

int main(int argc, char **argv)
{
    static unsigned char want[2 * HEIGHT * ROW_BYTES], got[2 * HEIGHT * ROW_BYTES];
    size_t n = pack(0, want), step = argc > 1 ? (size_t)atoi(argv[1]) : 10;
    if (most_pieces != BANDS)
        return fprintf(stderr, "packs: %zu bands at once\n", most_pieces), 1;
    for (size_t every = 1; every <= HEIGHT; every += step)
        if (pack(every, got) != n || memcmp(got, want, n) != 0)
            return fprintf(stderr, "packs: other bytes with a flush each %zu rows\n", every), 1;
    most_pieces = 0;
    pack(20, got);
    if (most_pieces != 3)               /* 20 rows and up to 7 that waited */
        return fprintf(stderr, "packs: %zu bands at once, flushed each 20 rows\n", most_pieces), 1;
    return 0;
}
