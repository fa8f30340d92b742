/* entry.c - entries of a chunk, written and read (entry.h). */
#include "runtime/record/entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

void dfr_path_write(FILE *to, const char *path)
{
    for (const char *p = path; *p; p++) {
        if (*p == '\n' || *p == '\\')
            fputc('\\', to);
        fputc(*p == '\n' ? 'n' : *p, to);
    }
}

char *dfr_path_read(const char *text)
{
    char *path = strdup(text), *to = path;
    for (const char *p = text; path && *p && *p != '\n'; p++) {
        if (*p == '\\' && p[1])
            *to++ = *++p == 'n' ? '\n' : *p;
        else
            *to++ = *p;
    }
    if (path)
        *to = '\0';
    return path;
}

void dfr_entry_write(FILE *to, const struct dfr_entry *e)
{
    fprintf(to, "entry %s %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ", e->appended ? "append" : "whole", e->node,
            e->wave, e->head_bytes, e->tokens, e->bytes);
    dfr_path_write(to, e->path);
    fputc('\n', to);
}

int dfr_entry_read(FILE *from, struct dfr_entry *e)
{
    char kind[8], *line = NULL;
    size_t room = 0;
    int at = 0;
    ssize_t n = getline(&line, &room, from);
    bool good = n > 0 && line[n - 1] == '\n' &&
                sscanf(line, "entry %7s %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", kind, &e->node, &e->wave,
                       &e->head_bytes, &e->tokens, &e->bytes, &at) == 6 && at > 0 &&
                e->head_bytes >= 0 && e->tokens >= 0 && e->bytes >= e->head_bytes && (!strcmp(kind, "append") || !strcmp(kind, "whole"));
    if (good) {
        e->appended = kind[0] == 'a';
        e->path = dfr_path_read(line + at);
        good = e->path;
    }
    free(line);
    return good ? 1 : n < 0 && feof(from) ? 0 : -1;
}

int dfr_copy_bytes(FILE *from, FILE *to, int64_t n, struct df_error *error)
{
    char *room = malloc(1 << 16);
    if (!room)
        return dfr_error_memory(error);
    errno = 0;
    while (n > 0) {
        size_t piece = n < 1 << 16 ? (size_t)n : 1 << 16;
        if (fread(room, 1, piece, from) != piece || fwrite(room, 1, piece, to) != piece)
            break;
        n -= (int64_t)piece;
    }
    free(room);
    if (n == 0)
        return DF_OK;
    return dfr_error(error, DF_E_IO, ferror(to) ? "cannot write: %s" : "cannot read: %s",
                     errno ? strerror(errno) : "the file is shorter than it says");
}
