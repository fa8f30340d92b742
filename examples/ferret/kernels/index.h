/* index.h - the file of an index: what is known of each picture, and hash tables of the regions.
 *
 * File:     A header; then, each beginning at a multiple of eight bytes: where names begin (i64, one more than pictures); the names, each
 *           with a zero behind it; where small pictures begin, in the same way; these, as PNGs; regions (f32, 14 features and the share; a share
 *           of 0: no region); keys (i64) of each table, in ascending order; the region that has the key (i32).
 *           Numbers are in this machine's byte order.
 * Key:      Of a table, a region has `bits` numbers: the intervals in which it lies along that many directions. The key is a mixture of
 *           them. Regions that are near often have the same key (locality-sensitive hashing, Datar et al., SoCG 2004).
 * Opening:  The file is mapped, and everything in it is checked, so that what reads it cannot leave it. One that is being written has another
 *           name.
 */
#ifndef FERRET_INDEX_H
#define FERRET_INDEX_H

#include <df_io.h>

enum { MOST_TABLES = 64, MOST_BITS = 24 };

struct index_head {
    char magic[8];
    int64_t regions, tables, bits;      /* what the program was made with */
    double width;
    int64_t images, entries, name_bytes, png_bytes; /* how much there is; entries of each table */
};

struct index {
    const struct index_head *head;
    const int64_t *name_at, *png_at;
    const char *names;
    const uint8_t *pngs;
    const float *known;
    const int64_t *keys;
    const int32_t *ids;
    size_t bytes;                       /* of the file */
};

/* Maps a file. DF_OK, or DF_FAILED with a message. */
int index_open(struct df_call *call, const char *path, struct index *index);
void index_close(struct index *index);
/* Were the index and the program made with the same numbers? */
int index_fits(struct df_call *call, const char *path, const struct index *index, int64_t regions, int64_t tables, int64_t bits, double width);

/* The key of a table from its numbers. */
uint64_t index_key(size_t table, const int32_t *numbers, size_t bits);
static inline int32_t index_number(float at)
{
    const int32_t n = (int32_t)at;
    return n - ((float)n > at);         /* rounded down */
}
#endif
