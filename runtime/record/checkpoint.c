/* checkpoint.c - writes accs to a file and reads them again (checkpoint.h), for runs that can be resumed (resumable.c), and their parts for ranks that share
 * them (spans.c). It has the engine bring accs to the host before. */
#include "runtime/record/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/tokens.h"
#include "runtime/record/digest.h"
#include "runtime/skips/skips.h"
#include "runtime/threads/clock.h"

#define LINE_BYTES 160
#define LOOK_S 0.05                     /* that the run has stopped is noticed after that, at the latest */

/* ---- fetching ---- */

static bool are_on_host(const struct df_run *run)
{
    for (uint32_t i = 0; i < run->firing.n_accs; i++)
        if (dfr_acc_holder(run, run->firing.accs[i]) != 0)
            return false;
    return true;
}

bool dfr_accs_fetch(struct df_run *run, double until_s)
{
    if (run->machine.n_gpus == 0)
        return true;
    dfr_fetch_accs(run);
    for (;;) {
        const uint32_t seen = atomic_load_explicit(&run->feed.events, memory_order_seq_cst);
        const double left_s = fmin(until_s - dfr_clock_s(), LOOK_S);
        if (are_on_host(run))
            return true;
        if (dfr_stopped(run) || left_s <= 0)
            return false;
        dfr_futex_wait(&run->feed.events, seen, (int64_t)(left_s * 1e9) + 1);
    }
}

/* ---- writing ---- */

static const void *memory_of(const struct df_run *run, uint32_t value)
{
    return run->memory.tokens ? dfr_tokens_acc(run, value) : run->memory.space->blocks[dfr_block_of(run, value, 0)].host;
}

/* The line has the same length whatever the digest. */
static void write_line(FILE *to, uint64_t program, int64_t waves, uint32_t n, uint64_t digest)
{
    fprintf(to, "dfc accs 1 program %016" PRIx64 " waves %" PRId64 " values %u digest %016" PRIx64 "\n", program, waves, n, digest);
}

int dfr_accs_write_part(const char *path, uint64_t program, int64_t waves, const struct dfr_acc *accs, uint32_t n, struct df_error *error)
{
    struct dfr_output to;
    uint64_t digest = 0;
    int status = dfr_output_continue(&to, path, 0, error);

    if (status != DF_OK)
        return status;
    to.stays = false;                   /* nothing is left if it fails; what a killed process leaves has a name that can be removed */
    to.syncs = true;
    write_line(to.file, program, waves, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t numbers[2] = { accs[i].value, accs[i].bytes };
        digest = dfr_hash(dfr_hash(digest, numbers, sizeof numbers), accs[i].data, accs[i].bytes);
        fwrite(numbers, sizeof numbers, 1, to.file);
        if (accs[i].bytes > 0)
            fwrite(accs[i].data, accs[i].bytes, 1, to.file);
    }
    rewind(to.file);
    write_line(to.file, program, waves, n, digest);
    return dfr_output_close(&to, true, error);
}

int dfr_accs_write(const struct df_run *run, const uint32_t *number, const char *path, uint64_t program, int64_t waves, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    struct dfr_acc *accs = malloc((g->n_values + (size_t)1) * sizeof *accs);
    uint32_t n = 0;

    if (!accs)
        return dfr_error_memory(error);
    for (uint32_t x = 0; x < g->n_values; x++)
        if (df_value_is_acc(g, x))
            accs[n++] = (struct dfr_acc){ number ? number[x] : x, memory_of(run, x), g->values[x].bytes };
    int status = dfr_accs_write_part(path, program, waves, accs, n, error);
    free(accs);
    return status;
}

/* ---- reading ---- */

/* Is the acc one of this node's? DF_NONE: of any. */
static bool is_wanted(const struct df_graph *g, uint32_t node, uint32_t value)
{
    bool own = node == DF_NONE;

    for (uint32_t a = 0; !own && a < df_node_n_acc(g, node); a++)
        own = df_node_acc(g, node, a) == value;
    return own && df_value_is_acc(g, value);
}

static unsigned count_accs(const struct df_graph *g, uint32_t node)
{
    unsigned n = 0;
    for (uint32_t x = 0; x < g->n_values; x++)
        n += is_wanted(g, node, x);
    return n;
}

/* Where the accs of this node lie in what follows the line, and its digest. false: it has not these and nothing else. */
static bool find_values(const struct df_graph *g, uint32_t node, const char *at, const char *end, const void **values, uint64_t *digest)
{
    *digest = 0;
    for (uint32_t x = 0; x < g->n_values; x++) {
        uint64_t numbers[2];
        if (!is_wanted(g, node, x))
            continue;
        if ((size_t)(end - at) < sizeof numbers)
            return false;
        memcpy(numbers, at, sizeof numbers);
        at += sizeof numbers;
        if (numbers[0] != x || numbers[1] != g->values[x].bytes || (uint64_t)(end - at) < numbers[1])
            return false;
        values[x] = at;
        at += numbers[1];
        *digest = dfr_hash(dfr_hash(*digest, numbers, sizeof numbers), values[x], numbers[1]);
    }
    return at == end;
}

static void accs_free(struct dfr_accs *accs)
{
    free(accs->file);
    free(accs->values);
    *accs = (struct dfr_accs){ 0 };
}

/* Reads the file if it has the accs of this node, or of all if it is DF_NONE, and no others. Else, and without memory, *accs is empty. */
static void read_file(const char *path, const struct df_graph *g, uint32_t node, uint64_t program, struct dfr_accs *accs)
{
    uint64_t hash, digest, found;
    unsigned n_values;
    int length = 0;
    size_t size;
    char *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    bool right = fd >= 0 && dfr_read_all(fd, &text, &size, NULL) == DF_OK;
    if (fd >= 0)
        close(fd);
    *accs = (struct dfr_accs){ .file = text, .values = calloc(g->n_values + 1u, sizeof *accs->values) };
    right = right && accs->values &&
                 sscanf(text, "dfc accs 1 program %16" SCNx64 " waves %" SCNd64 " values %u digest %16" SCNx64 "%n", &hash, &accs->waves, &n_values,
                        &digest, &length) == 4 &&
                 length < LINE_BYTES && text[length] == '\n' && hash == program && n_values == count_accs(g, node) && accs->waves >= 0;
    right = right && find_values(g, node, text + length + 1, text + size, accs->values, &found) && found == digest;
    if (!right)
        accs_free(accs);
}

/* ---- files of parts ---- */

char *dfr_accs_part_path(const char *path, const struct df_graph *g, uint32_t node)
{
    char *own;
    return asprintf(&own, "%s-%u", path, df_node_acc(g, node, 0)) < 0 ? NULL : own;
}

int dfr_accs_remove(const char *path)
{
    char *part = dfr_output_part_path(path);
    int error = unlink(path) != 0 && errno != ENOENT ? errno : 0;

    if (part && unlink(part) != 0 && errno != ENOENT)
        error = errno;
    free(part);
    return error;
}

int dfr_accs_remove_parts(const char *path, const struct df_graph *g)
{
    int error = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        char *own = df_node_n_acc(g, v) > 0 ? dfr_accs_part_path(path, g, v) : NULL;
        const int own_error = own ? dfr_accs_remove(own) : 0;
        error = error ? error : own_error;
        free(own);
    }
    return error;
}

/* ---- what a run begins with ---- */

/* The file with the accs of this node that has the most waves. NULL: none has any, or they are not all that it keeps. */
static const struct dfr_accs *find_file(const char *path, const struct df_graph *g, uint32_t v, uint64_t program, const struct dfr_accs_found *found)
{
    const struct dfr_accs *whole = &found->files[g->n_nodes];
    struct dfr_accs *own = &found->files[v];
    char *own_path = df_node_n_acc(g, v) > 0 && dfr_node_keeps_accs(g, v) ? dfr_accs_part_path(path, g, v) : NULL;

    if (!own_path)
        return NULL;
    read_file(own_path, g, v, program, own);
    if (own->waves <= whole->waves)
        accs_free(own);
    free(own_path);
    return own->waves > 0 ? own : whole->waves > 0 ? whole : NULL;
}

static void take_file(const struct df_graph *g, uint32_t v, const struct dfr_accs *file, struct dfr_accs_found *found)
{
    for (uint32_t a = 0; a < df_node_n_acc(g, v); a++)
        found->values[df_node_acc(g, v, a)] = file->values[df_node_acc(g, v, a)];
    found->least = file->waves < found->least ? file->waves : found->least;
    found->most = file->waves > found->most ? file->waves : found->most;
}

/* Takes the files of all nodes of which nothing is needed in the waves that their accs have had. */
static int take_files(const char *path, const struct df_graph *g, uint64_t program, int64_t done, struct dfr_accs_found *found, struct df_error *error)
{
    int64_t *late = malloc((g->n_nodes + (size_t)1) * sizeof *late);
    const struct dfr_accs **file = calloc(g->n_nodes + (size_t)1, sizeof *file);
    const bool good = late && file;

    for (uint32_t v = 0; v < g->n_nodes && good; v++)
        if ((file[v] = find_file(path, g, v, program, found)))
            found->first[v] = file[v]->waves;
    if (good)
        dfr_find_late(g, done, found->first, late);
    for (uint32_t v = 0; v < g->n_nodes && good; v++)
        if (found->first[v] > 0)
            take_file(g, v, file[v], found);
        else if (df_node_n_acc(g, v) > 0)
            found->least = 0;
    free(late);
    free(file);
    return good ? DF_OK : dfr_error_memory(error);
}

int dfr_accs_find(const char *path, const struct df_graph *g, uint64_t program, int64_t done, struct dfr_accs_found *found, struct df_error *error)
{
    *found = (struct dfr_accs_found){ .least = INT64_MAX, .values = calloc(g->n_values + (size_t)1, sizeof *found->values),
                                      .first = calloc(g->n_nodes + (size_t)1, sizeof *found->first),
                                      .files = calloc(g->n_nodes + (size_t)1, sizeof *found->files) };
    if (!found->values || !found->first || !found->files)
        return dfr_error_memory(error);
    struct dfr_accs *whole = &found->files[g->n_nodes];
    read_file(path, g, DF_NONE, program, whole);
    if (whole->waves > done)
        accs_free(whole);
    int status = take_files(path, g, program, done, found, error);
    if (found->least == INT64_MAX)
        found->least = 0;
    if (found->most == 0) {
        free(found->values);
        found->values = NULL;
    }
    return status;
}

void dfr_accs_found_free(const struct df_graph *g, struct dfr_accs_found *found)
{
    for (uint32_t v = 0; found->files && v <= g->n_nodes; v++)
        accs_free(&found->files[v]);
    free(found->files);
    free(found->values);
    free(found->first);
    *found = (struct dfr_accs_found){ 0 };
}
