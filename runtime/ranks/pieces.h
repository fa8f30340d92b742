/* pieces.h - the events of a rank, kept in a file without a name in $TMPDIR until rank 0 asks for them, and read again in pieces.
 * replica.c keeps and sends them.
 *
 * Memory:   one piece, of DFR_PIECE_BYTES. It lasts until the next call.
 */
#ifndef DFR_PIECES_H
#define DFR_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "runtime/df.h"

#define DFR_PIECE_BYTES ((size_t)256 << 10)

struct dfr_pieces {
    FILE *file;                         /* lines are written here; NULL: there is none */
    char *piece;
};

/* DF_E_IO, DF_E_MEMORY. */
int dfr_pieces_open(struct dfr_pieces *pieces, struct df_error *error);
/* All lines are written. */
void dfr_pieces_begin(struct dfr_pieces *pieces);
/* The next whole lines; *size is 0 after the last one. DF_E_IO; also if a line is longer than a piece. */
int dfr_pieces_next(struct dfr_pieces *pieces, size_t *size, struct df_error *error);
void dfr_pieces_close(struct dfr_pieces *pieces);

#endif
