/* pieces.c - a rank's trace events as lines in a file, read again in pieces (pieces.h), for replica.c, which sends them to rank 0. */
#include "runtime/ranks/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"

/* -1: errno says why. */
static int open_unnamed(void)
{
    const char *folder = getenv("TMPDIR");
    char *path;
    int fd = -1;

    if (asprintf(&path, "%s/df-trace-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        return -1;
    fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

int dfr_pieces_open(struct dfr_pieces *p, struct df_error *error)
{
    int fd = open_unnamed();

    *p = (struct dfr_pieces){ .piece = malloc(DFR_PIECE_BYTES) };
    if (fd >= 0 && !(p->file = fdopen(fd, "w+")))
        close(fd);
    if (p->file && p->piece)
        return DF_OK;
    int code = p->piece ? dfr_error(error, DF_E_IO, "cannot keep the trace of this rank in $TMPDIR: %s", strerror(errno)) : dfr_error_memory(error);
    dfr_pieces_close(p);
    return code;
}

void dfr_pieces_begin(struct dfr_pieces *p)
{
    fflush(p->file);                    /* a full disk is found by ferror() */
    fseeko(p->file, 0, SEEK_SET);
}

int dfr_pieces_next(struct dfr_pieces *p, size_t *size, struct df_error *error)
{
    const bool wrote = !ferror(p->file);
    const size_t n = wrote ? fread(p->piece, 1, DFR_PIECE_BYTES, p->file) : 0;
    const char *end = memrchr(p->piece, '\n', n);

    *size = end ? (size_t)(end + 1 - p->piece) : 0;
    if (ferror(p->file) || *size < (n > 0) || fseeko(p->file, (off_t)*size - (off_t)n, SEEK_CUR) != 0)
        return dfr_error(error, DF_E_IO, "the trace of this rank cannot be kept in $TMPDIR");
    return DF_OK;
}

void dfr_pieces_close(struct dfr_pieces *p)
{
    if (p->file)
        fclose(p->file);
    free(p->piece);
    *p = (struct dfr_pieces){ 0 };
}
