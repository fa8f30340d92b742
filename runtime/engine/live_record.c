/* live_record.c - the file of --record and --play (live_record.h), for live.c. */
#include "runtime/engine/live_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/base/text.h"

#define CODE_BYTES 8u

struct dfr_live_record {
    const struct df_graph *graph;
    struct dfr_output output;           /* of --record */
    int file;
    int64_t head_bytes, wave_bytes;
    int64_t waves;                      /* of --play: how many there are */
    struct {
        uint32_t node;
        int64_t at, bytes;              /* in a wave, code included */
        _Atomic int64_t waves;          /* of --record: frames that are written; they come in order */
    } sources[DF_MAX_LIVE];
};

/* The sources by number, and the text that the file begins with. NULL: no memory. */
static char *describe(struct dfr_live_record *r)
{
    const struct df_graph *g = r->graph;
    char *text = NULL, name[1024];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("dfc record 1\n", out);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        if (!g->nodes[v].live)
            continue;
        const uint32_t i = g->nodes[v].live - 1, first = g->nodes[v].first_out;
        r->sources[i].node = v;
        r->sources[i].at = r->wave_bytes;
        r->sources[i].bytes = CODE_BYTES;
        for (uint32_t y = first; y < first + df_node_n_out(g, v); y++)
            r->sources[i].bytes += (int64_t)g->values[y].bytes;
        r->wave_bytes += r->sources[i].bytes;
        df_node_name(g, v, name, sizeof name);
        fprintf(out, "%lld %s\n", (long long)(r->sources[i].bytes - CODE_BYTES), name);
    }
    fputc('\n', out);
    return dfr_text_close(out, &text);
}

/* ---- bytes at a place ---- */

static int write_at(int file, const void *bytes, size_t n, int64_t at)
{
    const char *from = bytes;
    while (n > 0) {
        const ssize_t done = pwrite(file, from, n, at);
        if (done < 0 && errno != EINTR)
            return errno;
        from += done > 0 ? done : 0;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

static int read_at(int file, void *bytes, size_t n, int64_t at)
{
    char *to = bytes;
    while (n > 0) {
        const ssize_t done = pread(file, to, n, at);
        if (done == 0 || (done < 0 && errno != EINTR))
            return done == 0 ? ENODATA : errno;
        to += done > 0 ? done : 0;
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* ---- opening and closing ---- */

static int open_record(struct dfr_live_record *r, const char *path, const char *head, struct df_error *error)
{
    int status = dfr_output_open(&r->output, path, error);
    struct stat info;
    if (status != DF_OK)
        return status;
    r->file = fileno(r->output.file);
    if (fstat(r->file, &info) == 0 && !S_ISREG(info.st_mode))
        return dfr_error(error, DF_E_IO, "cannot write '%s': --record needs a file, because frames of several sources have places in it", path);
    const int code = write_at(r->file, head, strlen(head), 0);
    dfr_output_pause(&r->output);
    return code == 0 ? DF_OK : dfr_error(error, DF_E_IO, "cannot write '%s': %s", path, strerror(code));
}

/* The head of the file, up to its empty line, as far as `n` bytes have it. */
static void read_head(int file, char *head, size_t n)
{
    const ssize_t got = pread(file, head, n - 1, 0);
    head[got > 0 ? got : 0] = '\0';
    char *end = strstr(head, "\n\n");
    if (end)
        end[2] = '\0';
}

static int open_play(struct dfr_live_record *r, const char *path, const char *head, struct df_error *error)
{
    const size_t n = strlen(head) + 1024;
    struct stat info;
    r->file = open(path, O_RDONLY | O_CLOEXEC);
    if (r->file < 0 || fstat(r->file, &info) != 0)
        return dfr_error(error, DF_E_IO, "--play: cannot read '%s': %s", path, strerror(errno));
    char *own = malloc(n);
    if (!own)
        return dfr_error_memory(error);
    read_head(r->file, own, n);
    int status = DF_OK;
    if (strncmp(own, "dfc record ", 11) != 0 || !strstr(own, "\n\n"))
        status = dfr_error(error, DF_E_ARGUMENT, "--play: '%s' is no file that --record has written", path);
    else if (strcmp(own, head) != 0) {
        own[strlen(own) - 2] = '\0';
        status = dfr_error(error, DF_E_ARGUMENT, "--play: '%s' has the frames of other sources: it says '%s', and this program has '%.*s'", path, strchr(own, '\n') + 1,
                           (int)strcspn(strchr(head, '\n') + 1, "\n"), strchr(head, '\n') + 1);
    } else if ((info.st_size - r->head_bytes) % r->wave_bytes != 0)
        status = dfr_error(error, DF_E_ARGUMENT, "--play: '%s' is cut off within a frame", path);
    r->waves = (info.st_size - r->head_bytes) / r->wave_bytes;
    free(own);
    return status;
}

int dfr_live_record_open(const struct df_graph *graph, const char *record_path, const char *play_path, struct dfr_live_record **record, struct df_error *error)
{
    struct dfr_live_record *r = *record = calloc(1, sizeof *r);
    if (!r)
        return dfr_error_memory(error);
    r->graph = graph;
    r->file = -1;
    char *head = describe(r);
    if (!head)
        return dfr_error_memory(error);
    r->head_bytes = (int64_t)strlen(head);
    const int status = record_path ? open_record(r, record_path, head, error) : open_play(r, play_path, head, error);
    free(head);
    return status;
}

int dfr_live_record_close(struct dfr_live_record *r, bool keep, struct df_error *error)
{
    int64_t waves = INT64_MAX;
    int status = DF_OK;
    if (!r)
        return DF_OK;
    for (uint32_t i = 0; i < r->graph->n_live; i++)
        waves = r->sources[i].waves < waves ? r->sources[i].waves : waves;
    if (r->output.file) {
        dfr_output_resume(&r->output);
        if (keep && ftruncate(r->file, r->head_bytes + waves * r->wave_bytes) != 0)
            status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", r->output.path, strerror(errno));
        const int closed = dfr_output_close(&r->output, keep && status == DF_OK, error);
        status = status == DF_OK ? closed : status;
    } else if (r->file >= 0) {
        close(r->file);
    }
    free(r);
    return status;
}

/* ---- frames ---- */

bool dfr_live_record_plays(const struct dfr_live_record *r)
{
    return !r->output.file;
}

static int64_t place_of(const struct dfr_live_record *r, uint32_t i, int64_t wave)
{
    return r->head_bytes + wave * r->wave_bytes + r->sources[i].at;
}

int dfr_live_record_write(struct dfr_live_record *r, uint32_t i, int64_t wave, int code, void *const *ports)
{
    const struct df_graph *g = r->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[r->sources[i].node].kernel];
    const int64_t code_word = code;
    int64_t at = place_of(r, i, wave);
    int status = write_at(r->file, &code_word, sizeof code_word, at);
    at += CODE_BYTES;
    for (uint32_t p = 0; p < kernel->n_ports && status == 0; p++) {
        const int slot = g->kports[kernel->first_port + p].out_slot;
        if (slot < 0)
            continue;
        const uint64_t bytes = g->values[g->nodes[r->sources[i].node].first_out + (unsigned)slot].bytes;
        status = code == DF_OK ? write_at(r->file, ports[p], bytes, at) : 0;
        at += (int64_t)bytes;
    }
    r->sources[i].waves = wave + 1;
    return status;
}

int dfr_live_record_read(struct dfr_live_record *r, uint32_t i, int64_t wave, int *code, void *const *ports)
{
    const struct df_graph *g = r->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[r->sources[i].node].kernel];
    int64_t code_word = DF_END, at = place_of(r, i, wave);
    int status = wave < r->waves ? read_at(r->file, &code_word, sizeof code_word, at) : 0;
    *code = code_word == DF_OK || code_word == DF_SKIP ? (int)code_word : DF_END;
    at += CODE_BYTES;
    for (uint32_t p = 0; p < kernel->n_ports && status == 0 && *code == DF_OK; p++) {
        const int slot = g->kports[kernel->first_port + p].out_slot;
        if (slot < 0)
            continue;
        const uint64_t bytes = g->values[g->nodes[r->sources[i].node].first_out + (unsigned)slot].bytes;
        status = read_at(r->file, ports[p], bytes, at);
        at += (int64_t)bytes;
    }
    return status;
}
