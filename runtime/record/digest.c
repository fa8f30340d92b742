/* digest.c - the program hash, the inputs, and digests of bytes (digest.h): for the journal, chunks and checkpoints of this room, for ranks, which must agree,
 * and for program/args_files.c, which asks what a run reads. */
#include "runtime/record/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"
#include "runtime/graph/arrays.h"
#include "runtime/graph/scalars.h"
#include "runtime/io/files.h"
#include "runtime/record/written.h"

/* ---- inputs ---- */

struct finding {
    struct dfr_inputs *inputs;
    struct dfr_table ids;               /* of the inputs, by path: a list may have many */
};

static bool is_path(const void *inputs, uint32_t id, const void *path)
{
    return strcmp(((const struct dfr_inputs *)inputs)->files[id].path, path) == 0;
}

/* /dev/null, /dev/zero and the like. */
static bool is_memory(const struct stat *s)
{
    return S_ISCHR(s->st_mode) && major(s->st_rdev) == 1;
}

/* Adds the file if there is one of this name. */
static int add_file(struct finding *f, const char *path, struct df_error *error)
{
    struct dfr_inputs *inputs = f->inputs;
    const uint32_t hash = dfr_hash_fold(dfr_hash(0, path, strlen(path)));
    uint32_t id;
    struct stat s;
    if (stat(path, &s) != 0 || S_ISDIR(s.st_mode) || dfr_table_find(&f->ids, hash, is_path, inputs, path, &id))
        return DF_OK;
    if (!DFR_ARRAY_ROOM(inputs->files, inputs->n, inputs->room))
        return dfr_error_memory(error);
    struct dfr_input file = { strdup(path), s.st_size, dfr_changed_ns(&s), !S_ISREG(s.st_mode) && !is_memory(&s) };
    if (!file.path || !dfr_table_reserve(&f->ids)) {
        free(file.path);
        return dfr_error_memory(error);
    }
    if (!S_ISREG(s.st_mode))
        file.bytes = file.changed_ns = 0;
    dfr_table_put(&f->ids, hash, (uint32_t)inputs->n);
    inputs->files[inputs->n++] = file;
    return DF_OK;
}

/* The files that the list names, and the list itself. */
static int add_list(struct finding *f, const char *path, struct df_error *error)
{
    char *line = NULL;
    size_t room = 0;
    struct stat s;
    FILE *list = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "r") : NULL; /* only its reader may read a pipe */
    int status = add_file(f, path, error);
    for (bool is_first = true; list && status == DF_OK && getline(&line, &room, list) > 0; is_first = false)
        status = add_file(f, dfr_list_path(line, is_first), error);
    free(line);
    if (list)
        fclose(list);
    return status;
}

static int add_matches(struct finding *f, const char *pattern, struct df_error *error)
{
    glob_t matches;
    int status = DF_OK;
    if (!strpbrk(pattern, "*?") || glob(pattern, GLOB_NOESCAPE, NULL, &matches) != 0)
        return DF_OK;
    for (size_t i = 0; i < matches.gl_pathc && status == DF_OK; i++)
        status = add_file(f, matches.gl_pathv[i], error);
    globfree(&matches);
    return status;
}

static int add_named(struct finding *f, const char *name, struct df_error *error)
{
    struct stat s;
    if (name[0] == '@')
        return add_list(f, name + 1, error);
    return stat(name, &s) == 0 ? add_file(f, name, error) : add_matches(f, name, error);
}

/* flags: of a node, those that it must have. */
static int find(const struct df_graph *g, const union df_scalar *args, unsigned flags, struct dfr_inputs *inputs, struct df_error *error)
{
    struct finding f = { .inputs = inputs };
    union df_scalar *values;
    int status = dfr_scalars_create(g, args, &values, error);
    *inputs = (struct dfr_inputs){ 0 };
    if (status != DF_OK)
        return status;
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++) {
        const struct df_kernel *k = &g->kernels[g->nodes[v].kernel];
        const union df_scalar *own = values + g->works[g->nodes[v].work].first_scalar;
        const bool reads = df_node_n_out(g, v) > 0 && (g->nodes[v].flags & flags) == flags;
        for (uint32_t i = 0; reads && i < k->n_scalars && status == DF_OK; i++)
            if (g->kscalars[k->first_scalar + i].type == DF_S_STR)
                status = add_named(&f, own[i].str, error);
    }
    free(values);
    dfr_table_free(&f.ids);
    if (status != DF_OK)
        dfr_inputs_free(inputs);
    return status;
}

int dfr_inputs_find(const struct df_graph *g, const union df_scalar *args, struct dfr_inputs *inputs, struct df_error *error)
{
    return find(g, args, 0, inputs, error);
}

int dfr_inputs_of_workers(const struct df_graph *g, const union df_scalar *args, struct dfr_inputs *inputs, struct df_error *error)
{
    return find(g, args, DF_NODE_WORKER, inputs, error);
}

/* ---- of another rank ---- */

void dfr_input_write(FILE *to, const struct dfr_input *input)
{
    fprintf(to, "%" PRId64 " %" PRId64 " ", input->bytes, input->changed_ns);
    dfr_path_write(to, input->path);
}

int dfr_input_read(const char *text, struct dfr_input *input)
{
    int at = 0;
    *input = (struct dfr_input){ 0 };
    if (sscanf(text, "%" SCNd64 " %" SCNd64 " %n", &input->bytes, &input->changed_ns, &at) != 2 || at == 0)
        return DF_E_FORMAT;
    return (input->path = dfr_path_read(text + at)) ? DF_OK : DF_E_MEMORY;
}

char *dfr_inputs_text(const struct dfr_inputs *inputs)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    for (size_t i = 0; i < inputs->n; i++) {
        dfr_input_write(to, &inputs->files[i]);
        fputc('\n', to);
    }
    return dfr_text_close(to, &text);
}

/* One line of the text beside the file that stands there in the list; NULL: the list has no more. */
static bool is_input(const struct dfr_input *file, const char *line, char *why, size_t size)
{
    struct dfr_input there;
    const bool told = dfr_input_read(line, &there) == DF_OK, same = told && file && !strcmp(there.path, file->path);

    if (!told)
        snprintf(why, size, "it has told no list of its files");
    else if (!file)
        snprintf(why, size, "it reads '%.80s', which rank 0 does not", there.path);
    else if (!same)
        snprintf(why, size, "it reads '%.80s' where rank 0 reads '%.80s'", there.path, file->path);
    else if (there.bytes != file->bytes)
        snprintf(why, size, "'%.80s' has %lld bytes there, and %lld on rank 0", there.path, (long long)there.bytes, (long long)file->bytes);
    else if (there.changed_ns != file->changed_ns)
        snprintf(why, size, "'%.80s' was changed at another time there than on rank 0", there.path);
    free(there.path);
    return same && there.bytes == file->bytes && there.changed_ns == file->changed_ns;
}

bool dfr_inputs_are(const struct dfr_inputs *inputs, const char *text, size_t n, char *why, size_t size)
{
    FILE *from = n ? fmemopen((void *)text, n, "r") : NULL;
    char *line = NULL;
    size_t room = 0, i = 0;
    bool same = true;
    for (ssize_t length; same && from && (length = getline(&line, &room, from)) > 0; i++) {
        line[strcspn(line, "\n")] = '\0';
        same = is_input(i < inputs->n ? &inputs->files[i] : NULL, line, why, size);
    }
    if (same && i < inputs->n) {
        snprintf(why, size, "it does not find '%.80s'", inputs->files[i].path);
        same = false;
    }
    free(line);
    if (from)
        fclose(from);
    return same;
}

void dfr_inputs_free(struct dfr_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        free(inputs->files[i].path);
    free(inputs->files);
    *inputs = (struct dfr_inputs){ 0 };
}

uint64_t dfr_inputs_digest(const struct dfr_inputs *inputs)
{
    uint64_t h = 0;
    for (size_t i = 0; i < inputs->n; i++) {
        const struct dfr_input *f = &inputs->files[i];
        h = dfr_hash(h, f->path, strlen(f->path));
        h = dfr_hash(h, (const int64_t[]){ f->bytes, f->changed_ns }, 2 * sizeof(int64_t));
    }
    return h;
}

/* ---- the program ---- */

static uint64_t add_number(uint64_t h, uint64_t number)
{
    return dfr_hash(h, &number, sizeof number);
}

static uint64_t add_text(uint64_t h, const char *text)
{
    return dfr_hash(h, text, strlen(text));
}

static uint64_t add_kernel(uint64_t h, const struct df_graph *g, const struct df_kernel *k)
{
    h = add_text(h, df_graph_string(g, k->name));
    h = dfr_hash(h, k->code_hash, sizeof k->code_hash);
    h = add_number(h, k->traits);
    for (uint32_t p = 0; p < k->n_ports; p++) {
        const struct df_kport *port = &g->kports[k->first_port + p];
        h = add_number(h, (uint64_t)port->mode << 16 | (uint64_t)port->elem << 8 | port->rank);
        h = add_number(h, port->initial);
    }
    return h;
}

static uint64_t add_node(uint64_t h, const struct df_graph *g, const union df_scalar *values, uint32_t v)
{
    const struct df_node *node = &g->nodes[v];
    const struct df_kernel *k = &g->kernels[node->kernel];
    const struct df_work *work = &g->works[node->work];
    h = add_number(h, (uint64_t)node->kernel << 32 | node->flags);
    h = dfr_hash(h, g->dims + work->first_dim, k->n_dims * sizeof *g->dims);
    h = dfr_hash(h, g->in_value + node->first_in, df_node_n_in(g, v) * sizeof *g->in_value);
    for (uint32_t y = node->first_out; y < node->first_out + df_node_n_out(g, v); y++)
        h = add_number(h, g->values[y].bytes);
    for (uint32_t i = 0; i < k->n_scalars; i++) {
        const union df_scalar *s = &values[work->first_scalar + i];
        const uint32_t type = g->kscalars[k->first_scalar + i].type;
        h = type == DF_S_STR ? add_text(h, s->str)
                             : dfr_hash(h, s, type == DF_S_I64 || type == DF_S_F64 ? sizeof(int64_t) : sizeof(int32_t));
    }
    return h;
}

int dfr_program_digest(const struct df_graph *g, const union df_scalar *args, uint64_t *digest, struct df_error *error)
{
    union df_scalar *values;
    int status = dfr_scalars_create(g, args, &values, error);
    uint64_t h = 0;
    if (status != DF_OK)
        return status;
    for (uint32_t k = 0; k < g->n_kernels; k++)
        h = add_kernel(h, g, &g->kernels[k]);
    for (uint32_t v = 0; v < g->n_nodes; v++)
        h = add_node(h, g, values, v);
    free(values);
    *digest = g->identity ? add_text(h, g->identity) : h;
    return DF_OK;
}

uint64_t dfr_graph_digest(const struct df_graph *g, const union df_scalar *args)
{
    uint64_t hash = dfr_hash(1, g->name, strlen(g->name));

    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        hash = dfr_hash(hash, dfr_graph_array(g, a), dfr_graph_array_count(g, a) * dfr_array_infos[a].item_bytes);
    for (uint32_t i = 0; i < g->n_args; i++)
        switch (g->args[i].type) {
        case DF_S_STR:
            hash = dfr_hash(hash, args[i].str, args[i].str ? strlen(args[i].str) + 1 : 0);
            break;
        case DF_S_I32:
        case DF_S_F32:
            hash = dfr_hash(hash, &args[i], sizeof(int32_t));
            break;
        default:
            hash = dfr_hash(hash, &args[i], sizeof args[i].i64);
        }
    return g->identity ? dfr_hash(hash, g->identity, strlen(g->identity)) : hash;
}

/* ---- bytes ---- */

int dfr_bytes_digest(int fd, int64_t first, int64_t end, uint64_t *digest, int64_t *n, struct df_error *error)
{
    enum { PIECE = 1 << 20 };
    unsigned char *piece = malloc(PIECE);
    ssize_t got = 1;
    *digest = 0;
    *n = 0;
    if (!piece)
        return dfr_error_memory(error);
    while (first + *n < end && got > 0) {
        size_t wanted = end - first - *n < PIECE ? (size_t)(end - first - *n) : PIECE, have = 0;
        while (have < wanted && (got = pread(fd, piece + have, wanted - have, (off_t)(first + *n + (int64_t)have))) > 0)
            have += (size_t)got;
        *digest = dfr_hash(*digest, piece, have);
        *n += (int64_t)have;
    }
    free(piece);
    return got < 0 ? dfr_error(error, DF_E_IO, "%s", strerror(errno)) : DF_OK;
}

int64_t dfr_changed_ns(const struct stat *status)
{
    return status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
}

int dfr_content_digest(const char *path, int64_t first, int64_t end, struct dfr_content *content, struct df_error *error)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int status = fd < 0 || fstat(fd, &info) != 0 ? dfr_error(error, DF_E_IO, "%s", strerror(errno))
                 : !S_ISREG(info.st_mode)        ? dfr_error(error, DF_E_IO, "it is no regular file")
                                                 : dfr_bytes_digest(fd, first, end, &content->digest, &content->n, error);
    if (fd >= 0)
        close(fd);
    if (status == DF_OK) {
        content->bytes = info.st_size;
        content->changed_ns = dfr_changed_ns(&info);
    }
    return status;
}

int dfr_read_all(int fd, char **text, size_t *n, struct df_error *error)
{
    struct stat status;
    ssize_t got = 1;
    *text = NULL;
    *n = 0;
    if (fstat(fd, &status) != 0)
        return DF_E_IO;
    if (!(*text = malloc((size_t)status.st_size + 1)))
        return dfr_error_memory(error);
    while (*n < (size_t)status.st_size && (got = pread(fd, *text + *n, (size_t)status.st_size - *n, (off_t)*n)) > 0)
        *n += (size_t)got;
    (*text)[*n] = '\0';
    return got < 0 ? DF_E_IO : DF_OK;
}
