/* dump.c - writes the tokens that --dump requests as .npy files (dump.h). inspect.c calls it after each job; program/args_files.c asks whether it would write a
 * given file. */
#include "runtime/inspect/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/df_io.h"
#include "runtime/graph/poison.h"
#include "runtime/inspect/requests.h"

#define NAME_BYTES 1024

struct dfr_dump {
    const struct df_graph *graph;
    const char *folder;
    struct dfr_requests *requests;
};

int dfr_dump_create(const struct df_graph *graph, const char *const *requests, unsigned n_requests, const char *folder,
                    struct dfr_dump **dump, struct df_error *error)
{
    struct dfr_dump *d = calloc(1, sizeof *d);
    if (!d)
        return dfr_error_memory(error);
    *d = (struct dfr_dump){ .graph = graph, .folder = folder };
    int status = dfr_requests_folder(folder, error);
    if (status == DF_OK)
        status = dfr_requests_create(graph, "--dump", DFR_REQUESTS_OUTPUTS, requests, n_requests, &d->requests, error);
    if (status == DF_OK)
        *dump = d;
    else
        dfr_dump_destroy(d);
    return status;
}

void dfr_dump_destroy(struct dfr_dump *d)
{
    if (!d)
        return;
    dfr_requests_destroy(d->requests);
    free(d);
}

bool dfr_dump_wants(const struct dfr_dump *d, uint32_t node, int64_t wave)
{
    return dfr_requests_want(d->requests, node, wave);
}

const char *dfr_dump_unmet(const struct dfr_dump *d, unsigned i)
{
    return dfr_requests_unmet(d->requests, i);
}

/* ---- files ---- */

/* Returns whether `file` is NODE.PORT.WAVE.npy of the node for a wave that a request names. */
static bool is_file_of(const struct dfr_dump *d, uint32_t node, const char *file)
{
    char name[NAME_BYTES];
    const size_t stem = dfr_requests_stem(d->graph, node, name, sizeof name);
    if (!stem || strncmp(file, name, stem) != 0 || file[stem] != '.')
        return false;
    for (uint32_t i = 0; i < df_node_n_out(d->graph, node); i++) {
        const char *port = df_graph_string(d->graph, dfr_out_port(d->graph, node, i)->name), *wave = file + stem + 1 + strlen(port);
        const size_t digits = strncmp(file + stem + 1, port, strlen(port)) == 0 && *wave == '.' ? strspn(wave + 1, "0123456789") : 0;
        if (digits > 0 && strcmp(wave + 1 + digits, ".npy") == 0)
            return dfr_requests_want(d->requests, node, strtoll(wave + 1, NULL, 10));
    }
    return false;
}

bool dfr_dump_writes_to(const struct dfr_dump *d, const char *path)
{
    struct stat folder, own;
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    bool found = false;
    if (slash && slash > real) {
        *slash = '\0';
        if (stat(real, &own) == 0 && stat(d->folder, &folder) == 0 && own.st_dev == folder.st_dev && own.st_ino == folder.st_ino)
            for (uint32_t v = 0; v < d->graph->n_nodes && !found; v++)
                found = is_file_of(d, v, slash + 1);
    }
    free(real);
    return found;
}

static int make_path(const struct dfr_dump *d, uint32_t node, int64_t wave, const char *port, char **path,
                     struct df_error *error)
{
    char name[NAME_BYTES];
    if (!dfr_requests_stem(d->graph, node, name, sizeof name))
        return dfr_error(error, DF_E_IO, "cannot dump '%.100s...': its name is too long for a file", name);
    if (asprintf(path, "%s/%s.%s.%lld.npy", d->folder, name, port, (long long)wave) < 0)
        return dfr_error_memory(error);
    return DF_OK;
}

int dfr_dump_write(struct dfr_dump *d, uint32_t node, int64_t wave, uint32_t out_slot, const uint64_t *extents,
                   const void *memory, struct df_error *error)
{
    const struct df_graph *g = d->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    const struct df_kport *port = dfr_out_port(g, node, out_slot);
    uint32_t wport = g->works[g->nodes[node].work].first_port + (uint32_t)(port - (g->kports + kernel->first_port));
    struct df_npy npy = { .elem = (enum df_elem)port->elem, .rank = port->rank };
    uint64_t bytes = df_elem_bytes((enum df_elem)port->elem);
    struct dfr_output output;
    char *path;
    int status = make_path(d, node, wave, df_graph_string(g, port->name), &path, error);
    if (status != DF_OK)
        return status;
    status = dfr_output_open(&output, path, error);
    free(path);
    if (status != DF_OK)
        return status;
    for (unsigned i = 0; i < port->rank; i++) {
        npy.extents[i] = (extents ? extents : g->port_dims + (size_t)wport * DF_MAX_RANK)[i];
        bytes *= npy.extents[i];
    }
    df_npy_write(output.file, &npy);
    fwrite(memory, 1, bytes, output.file); /* closing the file tells of a failure */
    status = dfr_output_close(&output, true, error);
    if (status == DF_OK && out_slot == 0)
        dfr_requests_met(d->requests, node, wave);
    return status;
}
