/* claims.c - which node of a run writes which file (recorded.h): kernel_outputs.c asks when a kernel opens one, so that no two nodes write the same. */
#include "runtime/record/recorded.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/process_lock.h"
#include "runtime/engine/engine.h"
#include "runtime/io/state.h"

enum { MOST = 4096 };                   /* files that are noted: nodes that share a pattern meet in the first wave, and memory does not grow with the waves */

struct claim {
    uint64_t file;                      /* hash of its folder and its name there */
    uint32_t node;
};

struct claims {                         /* the run keeps them (dfr_run_state()) */
    struct dfr_array claims;
    struct dfr_table by_file;
};

DFR_PROCESS_LOCK(claiming);

/* Hashes the folder and the name, because the file may not be there yet. false: this is no file that a node can have for itself, or the
 * folder is missing, which who opens the file says. */
static bool hash_file(const char *path, uint64_t *hash)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return false;
    char *folder = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
    const bool found = folder && stat(folder, &status) == 0;
    free(folder);
    if (found) {
        const uint64_t place[] = { status.st_dev, status.st_ino };
        *hash = dfr_hash(dfr_hash(0, place, sizeof place), name, strlen(name));
    }
    return found;
}

static bool is_of_file(const void *claims, uint32_t id, const void *file)
{
    return ((const struct claim *)claims)[id].file == *(const uint64_t *)file;
}

/* The node that has the file, which is this one if none had it. DF_NONE: no memory. */
static uint32_t claim_file(struct claims *c, uint64_t file, uint32_t node)
{
    uint32_t id;
    if (dfr_table_find(&c->by_file, dfr_hash_fold(file), is_of_file, c->claims.items, &file, &id))
        return ((const struct claim *)c->claims.items)[id].node;
    if (c->claims.n >= MOST)
        return node;
    struct claim *claim = dfr_table_reserve(&c->by_file) ? dfr_array_add(&c->claims, sizeof *claim, 1) : NULL;
    if (!claim)
        return DF_NONE;
    *claim = (struct claim){ file, node };
    dfr_table_put(&c->by_file, dfr_hash_fold(file), c->claims.n - 1);
    return node;
}

static int end_claims(void *state, int good, struct df_error *error)
{
    struct claims *c = state;
    (void)good, (void)error;
    dfr_array_free(&c->claims);
    dfr_table_free(&c->by_file);
    return DF_OK;
}

int dfr_output_claim(struct df_call *call, const char *path, struct df_error *error)
{
    struct df_run *run = call->run;
    const uint32_t node = dfr_job_node(call->job);
    uint64_t file;
    char name[256];
    if (!hash_file(path, &file))
        return DF_OK;
    pthread_mutex_lock(&claiming);
    struct claims *c = dfr_run_state(run, sizeof *c, end_claims);
    const uint32_t has = c ? claim_file(c, file, node) : DF_NONE;
    pthread_mutex_unlock(&claiming);
    if (has == node)
        return DF_OK;
    if (has == DF_NONE)
        return dfr_error_memory(error);
    df_node_name(run->graph, has, name, sizeof name);
    return dfr_error(error, DF_E_ARGUMENT, "cannot write '%s': node '%s' writes it, too", path, name);
}
