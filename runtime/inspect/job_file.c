/* job_file.c - writes and reads recorded jobs (job_file.h): record_job.c writes them, --replay (program/replay.c) and `dfc replay` read them. */
#include "runtime/inspect/job_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/bytes.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"

#define SAME_BYTES 6                    /* of the magic number, in all versions */

static const unsigned char magic[DFR_BYTES_MAGIC] = { 'd', 'f', 'c', 'j', 'o', 'b', 1, 0 };

/* ---- writing ---- */

static void put_text(struct dfr_bytes_writer *w, const char *text)
{
    dfr_bytes_put_text(w, text, strlen(text));
}

static void put_token(struct dfr_bytes_writer *w, const struct dfr_job_token *t, uint32_t rank)
{
    dfr_bytes_put_number(w, t->is);
    if (t->is != DFR_JOB_THERE)
        return;
    for (uint32_t i = 0; i < rank; i++)
        dfr_bytes_put_number(w, t->extents[i]);
    dfr_bytes_put_text(w, t->data, t->bytes);
}

static uint64_t bits_of(const struct dfr_job_value *v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v->value, v->type == DF_S_I32 || v->type == DF_S_F32 ? 4 : 8);
    return bits;
}

static void put_values(struct dfr_bytes_writer *w, const struct dfr_job_values *list)
{
    dfr_bytes_put_number(w, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        put_text(w, list->items[i].name);
        dfr_bytes_put_number(w, list->items[i].type);
        if (list->items[i].type == DF_S_STR)
            put_text(w, list->items[i].value.str);
        else
            dfr_bytes_put_number(w, bits_of(&list->items[i]));
    }
}

static void put_job(struct dfr_bytes_writer *w, const struct dfr_job *job)
{
    const char *const texts[] = { job->program, job->source, job->node, job->kernel, job->variant, job->message };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(w, texts[i]);
    dfr_bytes_put_number(w, (uint64_t)job->wave);
    dfr_bytes_put_number(w, (uint64_t)(int64_t)job->code);
    dfr_bytes_put_number(w, job->code_hash[0]);
    dfr_bytes_put_number(w, job->code_hash[1]);
    for (unsigned i = 0; i < DFR_JOB_LISTS; i++)
        put_values(w, &job->lists[i]);
    dfr_bytes_put_number(w, job->has_state);
    dfr_bytes_put_text(w, job->state, job->state_bytes);
    dfr_bytes_put_number(w, job->n_ports);
    for (uint32_t p = 0; p < job->n_ports; p++) {
        const struct dfr_job_port *port = &job->ports[p];
        put_text(w, port->name);
        dfr_bytes_put_number(w, port->mode);
        dfr_bytes_put_number(w, port->elem);
        dfr_bytes_put_number(w, port->rank);
        put_token(w, &port->got, port->rank);
        put_token(w, &port->made, port->rank);
    }
}

int dfr_job_write(const struct dfr_job *job, const char *path, struct df_error *error)
{
    struct dfr_bytes_writer count = { 0 }, body = { 0 }, head = { 0 };
    unsigned char digest[8];
    struct dfr_output output;
    int status;

    put_job(&count, job);
    if (!(body.to = malloc(count.n)))
        return dfr_error_memory(error);
    put_job(&body, job);
    head.to = digest;
    dfr_bytes_put_number(&head, dfr_hash(0, body.to, body.n));
    status = dfr_output_open(&output, path, error);
    if (status == DF_OK) {
        fwrite(magic, 1, sizeof magic, output.file);
        fwrite(digest, 1, sizeof digest, output.file);
        fwrite(body.to, 1, body.n, output.file); /* closing the file tells of a failure */
        status = dfr_output_close(&output, true, error);
    }
    free(body.to);
    return status;
}

/* ---- reading ---- */

/* A number that is at most `most`. */
static uint64_t get_most(struct dfr_bytes_reader *r, uint64_t most)
{
    const uint64_t number = dfr_bytes_get_number(r);
    r->ok = r->ok && number <= most;
    return r->ok ? number : 0;
}

/* A text without a NUL inside. */
static const char *get_text(struct dfr_bytes_reader *r)
{
    size_t length = 0;
    const char *text = dfr_bytes_get_text(r, &length);
    r->ok = r->ok && strlen(text) == length;
    return text;
}

static void get_token(struct dfr_bytes_reader *r, const struct dfr_job_port *port, struct dfr_job_token *t)
{
    uint64_t bytes = df_elem_bytes((enum df_elem)port->elem);
    size_t length = 0;

    *t = (struct dfr_job_token){ .is = (enum dfr_job_token_is)get_most(r, DFR_JOB_THERE) };
    if (t->is != DFR_JOB_THERE)
        return;
    for (uint32_t i = 0; i < port->rank; i++) {
        t->extents[i] = dfr_bytes_get_number(r);
        r->ok = r->ok && !__builtin_mul_overflow(bytes, t->extents[i], &bytes);
    }
    t->data = dfr_bytes_get_text(r, &length);
    t->bytes = length;
    r->ok = r->ok && length == bytes;
}

/* How many items follow, of which each has at least so many bytes; and memory for them. */
static void *get_items(struct dfr_bytes_reader *r, uint32_t *n, size_t least, size_t size, bool *memory)
{
    *n = (uint32_t)get_most(r, r->left / least < UINT32_MAX ? r->left / least : UINT32_MAX);
    void *items = calloc((size_t)*n + 1, size);
    *memory = *memory && items;
    r->ok = r->ok && items;
    *n = r->ok ? *n : 0;
    return items;
}

static void get_values(struct dfr_bytes_reader *r, struct dfr_job_values *list, bool *memory)
{
    list->items = get_items(r, &list->n, 24, sizeof *list->items, memory);
    for (uint32_t i = 0; i < list->n && r->ok; i++) {
        struct dfr_job_value *v = &list->items[i];
        v->name = get_text(r);
        v->type = (enum df_scalar_type)get_most(r, DF_S_STR);
        if (v->type == DF_S_STR) {
            v->value.str = get_text(r);
        } else {
            const uint64_t bits = dfr_bytes_get_number(r);
            memcpy(&v->value, &bits, sizeof bits);
        }
    }
}

static void get_job(struct dfr_bytes_reader *r, struct dfr_job *job, bool *memory)
{
    const char **const texts[] = { &job->program, &job->source, &job->node, &job->kernel, &job->variant, &job->message };
    size_t length = 0;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = get_text(r);
    job->wave = (int64_t)get_most(r, INT64_MAX);
    const int64_t code = (int64_t)dfr_bytes_get_number(r);
    r->ok = r->ok && code >= INT32_MIN && code <= INT32_MAX;
    job->code = r->ok ? (int)code : 0;
    job->code_hash[0] = dfr_bytes_get_number(r);
    job->code_hash[1] = dfr_bytes_get_number(r);
    for (unsigned i = 0; i < DFR_JOB_LISTS; i++)
        get_values(r, &job->lists[i], memory);
    job->has_state = get_most(r, 1);
    job->state = dfr_bytes_get_text(r, &length);
    job->state_bytes = length;
    job->ports = get_items(r, &job->n_ports, 40, sizeof *job->ports, memory);
    for (uint32_t p = 0; p < job->n_ports && r->ok; p++) {
        struct dfr_job_port *port = &job->ports[p];
        port->name = get_text(r);
        port->mode = (uint32_t)get_most(r, DF_ACC);
        port->elem = (uint32_t)get_most(r, DF_N_ELEMS - 1);
        port->rank = (uint32_t)get_most(r, DF_MAX_RANK);
        get_token(r, port, &port->got);
        get_token(r, port, &port->made);
    }
}

static int read_file(const char *path, unsigned char **bytes, size_t *size, struct df_error *error)
{
    struct stat info;
    ssize_t got = 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = fd < 0 || fstat(fd, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;

    if (code == 0 && !(*bytes = malloc((size_t)info.st_size + 1)))
        code = ENOMEM;
    *size = 0;
    while (code == 0 && *size < (size_t)info.st_size && (got = read(fd, *bytes + *size, (size_t)info.st_size - *size)) > 0)
        *size += (size_t)got;
    if (code == 0 && got < 0)
        code = errno;
    if (fd >= 0)
        close(fd);
    return code ? dfr_error(error, DF_E_IO, "cannot read '%s': %s", path, strerror(code)) : DF_OK;
}

static int parse(const char *path, size_t size, struct dfr_job *job, struct df_error *error)
{
    struct dfr_bytes_reader r = dfr_bytes_read(job->file, size, magic);
    bool memory = true;

    if (!r.ok && (size < SAME_BYTES || memcmp(job->file, magic, SAME_BYTES) != 0))
        return dfr_error(error, DF_E_FORMAT, "'%s' is not a job that --record-job has written", path);
    if (!r.ok && size >= DFR_BYTES_MAGIC)
        return dfr_error(error, DF_E_FORMAT, "'%s' was written by another version of dfc (format %u, and %u is expected): record the job anew", path,
                         job->file[SAME_BYTES], magic[SAME_BYTES]);
    const uint64_t digest = dfr_bytes_get_number(&r);
    r.ok = r.ok && dfr_hash(0, r.at, r.left) == digest;
    if (r.ok)
        get_job(&r, job, &memory);
    if (!memory)
        return dfr_error_memory(error);
    return r.ok && r.left == 0 ? DF_OK : dfr_error(error, DF_E_FORMAT, "'%s' is damaged, or not complete", path);
}

int dfr_job_read(const char *path, struct dfr_job *job, struct df_error *error)
{
    size_t size;
    *job = (struct dfr_job){ 0 };
    int status = read_file(path, &job->file, &size, error);
    return status == DF_OK ? parse(path, size, job, error) : status;
}

void dfr_job_free(struct dfr_job *job)
{
    for (unsigned i = 0; i < DFR_JOB_LISTS; i++)
        free(job->lists[i].items);
    free(job->ports);
    free(job->file);
    *job = (struct dfr_job){ 0 };
}
