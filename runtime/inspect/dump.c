/* dump.c - selects the tokens that --dump requests, and writes them as .npy files (dump.h). */
#include "runtime/inspect/dump.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/df_io.h"
#include "runtime/graph/poison.h"
#include "runtime/base/suggest.h"

#define NAME_BYTES 1024
#define ALL_WAVES (-1)

struct request {
    const char *text;                   /* as given */
    size_t length;                      /* of its part before ":WAVE" */
    int64_t wave;                       /* ALL_WAVES: none was given */
    _Atomic uint64_t written;
};

struct dfr_dump {
    const struct df_graph *graph;
    const char *folder;
    unsigned n_requests;
    struct request *requests;
    uint8_t *named;                     /* by node: some request names it */
};

/* ---- requests ---- */

/* '*' stands for any text, and everything else for itself. The search goes back to the last star only, so its time is
 * not exponential. */
static bool matches(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *from = NULL;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            from = name;
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static int parse(struct request *r, const char *text, struct df_error *error)
{
    const char *colon = strrchr(text, ':');
    *r = (struct request){ .text = text, .length = colon ? (size_t)(colon - text) : strlen(text), .wave = ALL_WAVES };
    if (r->length == 0)
        return dfr_error(error, DF_E_ARGUMENT, "--dump: '%s' names no node; NODE or NODE:WAVE is expected", text);
    if (!colon)
        return DF_OK;
    errno = 0;
    r->wave = strtoll(colon + 1, NULL, 10);
    if (!colon[1] || colon[1 + strspn(colon + 1, "0123456789")] || errno)
        return dfr_error(error, DF_E_ARGUMENT, "--dump=%s: '%s' is not the number of a wave", text, colon + 1);
    return DF_OK;
}

/* Is the kernel a group, "grey+blur+sobel", one of whose members the name ends with? */
static bool is_fused(const char *kernel, const char *wanted)
{
    const char *slash = strrchr(wanted, '/'), *member = slash ? slash + 1 : wanted;
    const size_t n = strcspn(member, "#[");
    for (const char *at = strchr(kernel, '+') ? kernel : ""; *at; at += strcspn(at, "+"), at += *at == '+')
        if (strcspn(at, "+") == n && strncmp(at, member, n) == 0)
            return true;
    return false;
}

static int unknown(const struct dfr_dump *d, const struct request *r, struct df_error *error)
{
    char wanted[NAME_BYTES], name[NAME_BYTES], closest[NAME_BYTES];
    struct dfr_suggestion suggestion = { .name = wanted };
    snprintf(wanted, sizeof wanted, "%.*s", (int)(r->length < NAME_BYTES ? r->length : NAME_BYTES - 1), r->text);
    for (uint32_t v = 0; v < d->graph->n_nodes; v++) {
        const char *before = suggestion.closest, *rest;
        df_node_name(d->graph, v, name, sizeof name);
        rest = name + strlen(wanted);
        if (strncmp(name, wanted, strlen(wanted)) == 0 && *rest && strchr("[#/", *rest)) /* several nodes, or a graph */
            return dfr_error(error, DF_E_ARGUMENT, "--dump: there is no node '%.200s' alone; did you mean '%.200s%s'?",
                             wanted, wanted, *rest == '[' ? "[*]" : *rest == '#' ? "#*" : "/*");
        if (is_fused(df_graph_string(d->graph, d->graph->kernels[d->graph->nodes[v].kernel].name), wanted))
            return dfr_error(error, DF_E_ARGUMENT, "--dump: '%.200s' is inside of '%.200s'; dfc's option --no-fuse makes it a node",
                             wanted, name);
        dfr_suggest(&suggestion, name);
        if (suggestion.closest != before) { /* the next name is written over this one */
            memcpy(closest, name, sizeof closest);
            suggestion.closest = closest;
        }
    }
    if (suggestion.closest)
        return dfr_error(error, DF_E_ARGUMENT, "--dump: there is no node '%.200s'; did you mean '%.200s'?", wanted,
                         closest);
    return dfr_error(error, DF_E_ARGUMENT, "--dump: there is no node '%.200s'; names are as in messages: 'main/...'",
                     wanted);
}

/* Marks the nodes that a request names. */
static int resolve(struct dfr_dump *d, const struct request *r, struct df_error *error)
{
    const struct df_graph *g = d->graph;
    char name[NAME_BYTES];
    uint32_t found = DF_NONE;
    bool any = false;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        df_node_name(g, v, name, sizeof name);
        if (!matches(r->text, r->length, name))
            continue;
        found = v;
        any = any || df_node_n_out(g, v) > 0;
        d->named[v] |= df_node_n_out(g, v) > 0;
    }
    if (found == DF_NONE)
        return unknown(d, r, error);
    if (!any)
        return dfr_error(error, DF_E_ARGUMENT, "--dump=%s: it has no outputs; name the nodes that it reads", r->text);
    return DF_OK;
}

static int check_folder(const char *folder, struct df_error *error)
{
    struct stat info;
    int code = stat(folder, &info) != 0 ? errno : !S_ISDIR(info.st_mode) ? ENOTDIR : 0;
    if (code == 0 && access(folder, W_OK | X_OK) != 0)
        code = errno;
    return code ? dfr_error(error, DF_E_IO, "--dump-dir: cannot write to '%s': %s", folder, strerror(code)) : DF_OK;
}

int dfr_dump_create(const struct df_graph *graph, const char *const *requests, unsigned n_requests, const char *folder,
                    struct dfr_dump **dump, struct df_error *error)
{
    struct dfr_dump *d = calloc(1, sizeof *d);
    int status = check_folder(folder, error);
    if (!d)
        return dfr_error_memory(error);
    d->graph = graph;
    d->folder = folder;
    d->n_requests = n_requests;
    d->requests = calloc(n_requests + 1u, sizeof *d->requests);
    d->named = calloc((size_t)graph->n_nodes + 1, 1);
    if (!d->requests || !d->named)
        status = dfr_error_memory(error);
    for (unsigned i = 0; i < n_requests && status == DF_OK; i++) {
        status = parse(&d->requests[i], requests[i], error);
        if (status == DF_OK)
            status = resolve(d, &d->requests[i], error);
    }
    if (status != DF_OK) {
        dfr_dump_destroy(d);
        return status;
    }
    *dump = d;
    return DF_OK;
}

void dfr_dump_destroy(struct dfr_dump *d)
{
    if (!d)
        return;
    free(d->requests);
    free(d->named);
    free(d);
}

/* The first request that asks for the job's outputs; NULL: none does. */
static struct request *request_of(const struct dfr_dump *d, uint32_t node, int64_t wave)
{
    char name[NAME_BYTES];
    if (!d->named[node])
        return NULL;
    df_node_name(d->graph, node, name, sizeof name);
    for (unsigned i = 0; i < d->n_requests; i++) {
        struct request *r = &d->requests[i];
        if ((r->wave == ALL_WAVES || r->wave == wave) && matches(r->text, r->length, name))
            return r;
    }
    return NULL;
}

bool dfr_dump_wants(const struct dfr_dump *d, uint32_t node, int64_t wave)
{
    return request_of(d, node, wave) != NULL;
}

const char *dfr_dump_unmet(const struct dfr_dump *d, unsigned i)
{
    return i < d->n_requests && atomic_load(&d->requests[i].written) == 0 ? d->requests[i].text : NULL;
}

/* ---- files ---- */

/* The node's path with '.' for '/'. Returns false if it does not fit. */
static bool file_stem(const struct dfr_dump *d, uint32_t node, char name[NAME_BYTES])
{
    const size_t length = df_node_name(d->graph, node, name, NAME_BYTES);
    for (char *p = name; *p; p++)
        if (*p == '/')
            *p = '.';
    return length < NAME_BYTES;
}

/* Returns whether `file` is NODE.PORT.WAVE.npy of the node for a wave that a request names. */
static bool is_file_of(const struct dfr_dump *d, uint32_t node, const char *file)
{
    char name[NAME_BYTES];
    const size_t stem = file_stem(d, node, name) ? strlen(name) : 0;
    if (!stem || strncmp(file, name, stem) != 0 || file[stem] != '.')
        return false;
    for (uint32_t i = 0; i < df_node_n_out(d->graph, node); i++) {
        const char *port = df_graph_string(d->graph, dfr_out_port(d->graph, node, i)->name), *wave = file + stem + 1 + strlen(port);
        const size_t digits = strncmp(file + stem + 1, port, strlen(port)) == 0 && *wave == '.' ? strspn(wave + 1, "0123456789") : 0;
        if (digits > 0 && strcmp(wave + 1 + digits, ".npy") == 0)
            return request_of(d, node, strtoll(wave + 1, NULL, 10)) != NULL;
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
                found = d->named[v] && is_file_of(d, v, slash + 1);
    }
    free(real);
    return found;
}

static int make_path(const struct dfr_dump *d, uint32_t node, int64_t wave, const char *port, char **path,
                     struct df_error *error)
{
    char name[NAME_BYTES];
    if (!file_stem(d, node, name))
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
    for (unsigned i = 0; i < d->n_requests && status == DF_OK && out_slot == 0; i++) {
        char name[NAME_BYTES];
        struct request *r = &d->requests[i];
        df_node_name(g, node, name, sizeof name);
        if ((r->wave == ALL_WAVES || r->wave == wave) && matches(r->text, r->length, name))
            atomic_fetch_add(&r->written, 1);
    }
    return status;
}
