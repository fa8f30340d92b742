/* written.c - files that a run has written, and their lines (written.h): outputs.c notes them, and the journal and chunks write and read them. The other files
 * of this room use its path quoting and its copy of bytes. */
#include "runtime/record/written.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/df_io.h"
#include "runtime/io/npy.h"

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

bool dfr_written_add(struct dfr_written_list *list, const struct dfr_written *file)
{
    if (!file->path || !DFR_ARRAY_ROOM(list->items, list->n, list->room)) {
        free(file->path);
        return false;
    }
    list->items[list->n++] = *file;
    return true;
}

void dfr_written_free(struct dfr_written_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].path);
    free(list->items);
    *list = (struct dfr_written_list){ 0 };
}

void dfr_written_line(FILE *to, enum dfr_written_line line, const struct dfr_written *f)
{
    switch (line) {
    case DFR_LINE_ENTRY:
        fprintf(to, "entry %s %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ", f->appended ? "append" : "whole", f->node, f->wave,
                f->head_bytes, f->tokens, f->bytes);
        break;
    case DFR_LINE_OUT:
        fprintf(to, "out %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %016" PRIx64 " ", f->node, f->head_bytes, f->tokens, f->bytes,
                f->from, f->digest);
        break;
    case DFR_LINE_FILE:
        fprintf(to, "file %" PRId64 " %" PRId64 " %" PRId64 " %016" PRIx64 " ", f->wave, f->bytes, f->changed_ns, f->digest);
    }
    dfr_path_write(to, f->path);
}

int dfr_written_read(const char *text, enum dfr_written_line line, struct dfr_written *f)
{
    char kind[8] = "";
    int at = 0;
    *f = (struct dfr_written){ .wave = -1, .appended = line == DFR_LINE_OUT };
    switch (line) {
    case DFR_LINE_ENTRY:
        sscanf(text, "entry %7s %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %n", kind, &f->node, &f->wave, &f->head_bytes, &f->tokens,
               &f->bytes, &at);
        f->appended = !strcmp(kind, "append");
        if (!f->appended && strcmp(kind, "whole") != 0)
            at = 0;
        break;
    case DFR_LINE_OUT:
        sscanf(text, "out %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %n", &f->node, &f->head_bytes, &f->tokens, &f->bytes,
               &f->from, &f->digest, &at);
        break;
    case DFR_LINE_FILE:
        sscanf(text, "file %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %n", &f->wave, &f->bytes, &f->changed_ns, &f->digest, &at);
    }
    if (at == 0 || f->head_bytes < 0 || f->tokens < 0 || f->from < 0 || f->bytes < (line == DFR_LINE_ENTRY ? f->head_bytes : f->from))
        return DF_E_FORMAT;
    return (f->path = dfr_path_read(text + at)) ? DF_OK : DF_E_MEMORY;
}

int dfr_written_count(const struct dfr_written *f, FILE *stream, struct df_error *error)
{
    if (!f->appended || f->head_bytes != DF_NPY_HEADER_BYTES || fflush(stream) != 0)
        return DF_OK;                   /* closing tells of what cannot be written */
    return dfr_npy_count(fileno(stream), f->tokens, error);
}

int dfr_copy_bytes(FILE *from, FILE *to, int64_t n, struct df_error *error)
{
    char *room = malloc(1 << 16);
    if (!room)
        return dfr_error_memory(error);
    const bool all = n == INT64_MAX;
    size_t got = 1;
    errno = 0;
    while (n > 0 && (got = fread(room, 1, n < 1 << 16 ? (size_t)n : 1 << 16, from)) > 0 && fwrite(room, 1, got, to) == got)
        n -= (int64_t)got;
    free(room);
    if (n == 0 || (all && got == 0 && !ferror(from)))
        return DF_OK;
    return dfr_error(error, DF_E_IO, ferror(to) ? "cannot write: %s" : "cannot read: %s",
                     errno ? strerror(errno) : "the file is shorter than it says");
}
