/* requests.c - which jobs the options select that name nodes and waves, and the names of their files (requests.h): for --dump and --record-job. */
#include "runtime/inspect/requests.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/suggest.h"

#define NAME_BYTES 1024
#define ALL_WAVES (-1)

struct request {
    const char *text;                   /* as given */
    size_t length;                      /* of its part before ":WAVE" */
    int64_t wave;                       /* ALL_WAVES: none was given */
    _Atomic uint64_t written;
};

struct dfr_requests {
    const struct df_graph *graph;
    const char *option;
    enum dfr_requests_of of;
    unsigned n;
    struct request *items;
    uint8_t *named;                     /* by node: some request names it */
};

/* ---- names ---- */

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

static int parse(struct request *r, const char *option, const char *text, struct df_error *error)
{
    const char *colon = strrchr(text, ':');
    *r = (struct request){ .text = text, .length = colon ? (size_t)(colon - text) : strlen(text), .wave = ALL_WAVES };
    if (r->length == 0)
        return dfr_error(error, DF_E_ARGUMENT, "%s: '%s' names no node; NODE or NODE:WAVE is expected", option, text);
    if (!colon)
        return DF_OK;
    errno = 0;
    r->wave = strtoll(colon + 1, NULL, 10);
    if (!colon[1] || colon[1 + strspn(colon + 1, "0123456789")] || errno)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: '%s' is not the number of a wave", option, text, colon + 1);
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

static int unknown(const struct dfr_requests *d, const struct request *r, struct df_error *error)
{
    char wanted[NAME_BYTES], name[NAME_BYTES], closest[NAME_BYTES];
    struct dfr_suggestion suggestion = { .name = wanted };
    snprintf(wanted, sizeof wanted, "%.*s", (int)(r->length < NAME_BYTES ? r->length : NAME_BYTES - 1), r->text);
    for (uint32_t v = 0; v < d->graph->n_nodes; v++) {
        const char *before = suggestion.closest, *rest;
        df_node_name(d->graph, v, name, sizeof name);
        rest = name + strlen(wanted);
        if (strncmp(name, wanted, strlen(wanted)) == 0 && *rest && strchr("[#/", *rest)) /* several nodes, or a graph */
            return dfr_error(error, DF_E_ARGUMENT, "%s: there is no node '%.200s' alone; did you mean '%.200s%s'?",
                             d->option, wanted, wanted, *rest == '[' ? "[*]" : *rest == '#' ? "#*" : "/*");
        if (is_fused(df_graph_string(d->graph, d->graph->kernels[d->graph->nodes[v].kernel].name), wanted))
            return dfr_error(error, DF_E_ARGUMENT, "%s: '%.200s' is inside of '%.200s'; dfc's option --no-fuse makes it a node",
                             d->option, wanted, name);
        dfr_suggest(&suggestion, name);
        if (suggestion.closest != before) { /* the next name is written over this one */
            memcpy(closest, name, sizeof closest);
            suggestion.closest = closest;
        }
    }
    if (suggestion.closest)
        return dfr_error(error, DF_E_ARGUMENT, "%s: there is no node '%.200s'; did you mean '%.200s'?", d->option, wanted,
                         closest);
    return dfr_error(error, DF_E_ARGUMENT, "%s: there is no node '%.200s'; names are as in messages: 'main/...'",
                     d->option, wanted);
}

static bool may_name(const struct dfr_requests *d, uint32_t v)
{
    const struct df_graph *g = d->graph;
    return d->of == DFR_REQUESTS_OUTPUTS ? df_node_n_out(g, v) > 0 : !(g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY) && !df_node_is_ranges(g, v);
}

/* Marks the nodes that a request names. */
static int resolve(struct dfr_requests *d, const struct request *r, struct df_error *error)
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
        any = any || may_name(d, v);
        d->named[v] |= may_name(d, v);
    }
    if (found == DF_NONE)
        return unknown(d, r, error);
    if (!any)
        return dfr_error(error, DF_E_ARGUMENT, "%s=%s: %s", d->option, r->text,
                         d->of == DFR_REQUESTS_OUTPUTS ? "it has no outputs; name the nodes that it reads" : "it calls no kernel; name the nodes that read it");
    return DF_OK;
}

int dfr_requests_create(const struct df_graph *graph, const char *option, enum dfr_requests_of of, const char *const *texts, unsigned n,
                        struct dfr_requests **requests, struct df_error *error)
{
    struct dfr_requests *d = calloc(1, sizeof *d);
    int status = DF_OK;
    if (!d)
        return dfr_error_memory(error);
    *d = (struct dfr_requests){ .graph = graph, .option = option, .of = of, .n = n };
    d->items = calloc(n + 1u, sizeof *d->items);
    d->named = calloc((size_t)graph->n_nodes + 1, 1);
    if (!d->items || !d->named)
        status = dfr_error_memory(error);
    for (unsigned i = 0; i < n && status == DF_OK; i++) {
        status = parse(&d->items[i], option, texts[i], error);
        if (status == DF_OK)
            status = resolve(d, &d->items[i], error);
    }
    if (status == DF_OK)
        *requests = d;
    else
        dfr_requests_destroy(d);
    return status;
}

void dfr_requests_destroy(struct dfr_requests *d)
{
    if (!d)
        return;
    free(d->items);
    free(d->named);
    free(d);
}

/* ---- jobs ---- */

/* The first request that asks for the job's outputs; NULL: none does. */
static struct request *request_of(const struct dfr_requests *d, uint32_t node, int64_t wave)
{
    char name[NAME_BYTES];
    if (!d->named[node])
        return NULL;
    df_node_name(d->graph, node, name, sizeof name);
    for (unsigned i = 0; i < d->n; i++) {
        struct request *r = &d->items[i];
        if ((r->wave == ALL_WAVES || r->wave == wave) && matches(r->text, r->length, name))
            return r;
    }
    return NULL;
}

bool dfr_requests_want(const struct dfr_requests *d, uint32_t node, int64_t wave)
{
    return request_of(d, node, wave) != NULL;
}

void dfr_requests_met(struct dfr_requests *d, uint32_t node, int64_t wave)
{
    char name[NAME_BYTES];
    df_node_name(d->graph, node, name, sizeof name);
    for (unsigned i = 0; i < d->n; i++) {
        struct request *r = &d->items[i];
        if ((r->wave == ALL_WAVES || r->wave == wave) && matches(r->text, r->length, name))
            atomic_fetch_add(&r->written, 1);
    }
}

const char *dfr_requests_unmet(const struct dfr_requests *d, unsigned i)
{
    return i < d->n && atomic_load(&d->items[i].written) == 0 ? d->items[i].text : NULL;
}

/* ---- files ---- */

int dfr_requests_folder(const char *folder, struct df_error *error)
{
    struct stat info;
    int code = stat(folder, &info) != 0 ? errno : !S_ISDIR(info.st_mode) ? ENOTDIR : 0;
    if (code == 0 && access(folder, W_OK | X_OK) != 0)
        code = errno;
    return code ? dfr_error(error, DF_E_IO, "--dump-dir: cannot write to '%s': %s", folder, strerror(code)) : DF_OK;
}

size_t dfr_requests_stem(const struct df_graph *graph, uint32_t node, char *stem, size_t size)
{
    const size_t length = df_node_name(graph, node, stem, size);
    for (char *p = stem; *p; p++)
        if (*p == '/')
            *p = '.';
    return length < size ? length : 0;
}
