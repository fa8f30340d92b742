/* replay.c - reads a recorded job and runs it again (replay.h), for --replay (program_main.c). */
#include "runtime/program/replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/graph/scalars.h"
#include "runtime/inspect/record_job.h"
#include "runtime/subgraph/part.h"

#define NAME_BYTES 1024

struct fit {                            /* a job and its node in this program */
    const struct df_graph *g;
    const struct dfr_job *job;
    uint32_t node;
    const struct df_kernel *kernel;
    const struct df_kport *ports;
    const struct df_work *work;
    bool warns;
};

/* ---- args and params ---- */

static const struct dfr_job_value *find(const struct dfr_job_values *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    return NULL;
}

int dfr_replay_read(const struct df_graph *g, struct dfr_command_line *line, struct dfr_job *job, struct df_error *error)
{
    const int status = dfr_job_read(line->replay, job, error);

    for (uint32_t i = 0; i < g->n_args && status == DF_OK; i++) {
        const char *name = df_graph_string(g, g->args[i].name);
        const struct dfr_job_value *v = find(&job->lists[DFR_JOB_ARGS], name);
        if (v && v->type == (enum df_scalar_type)g->args[i].type)
            line->args[i] = v->value;
        else if (!g->args[i].has_default)
            return dfr_error(error, DF_E_REFUSED, "'%s' does not fit this program: it has no value of --%s", line->replay, name);
    }
    for (uint32_t i = 0; i < g->n_params && status == DF_OK; i++) {
        const struct dfr_job_value *v = find(&job->lists[DFR_JOB_PARAMS], df_graph_string(g, g->params[i].name));
        if (v && v->type == DF_S_I64)
            line->params[i] = v->value.i64;
        line->params_changed = line->params_changed || line->params[i] != g->params[i].value;
    }
    return status;
}

/* ---- does it fit? ---- */

static int find_node(struct fit *f, struct df_error *error)
{
    char name[NAME_BYTES];
    for (uint32_t v = 0; v < f->g->n_nodes; v++) {
        df_node_name(f->g, v, name, sizeof name);
        if (strcmp(name, f->job->node) != 0)
            continue;
        f->node = v;
        f->kernel = &f->g->kernels[f->g->nodes[v].kernel];
        f->ports = f->g->kports + f->kernel->first_port;
        f->work = &f->g->works[f->g->nodes[v].work];
        return DF_OK;
    }
    return dfr_error(error, DF_E_REFUSED, "this program has no node '%s': the job was recorded by '%s'", f->job->node, f->job->program);
}

/* Can the token be one of port p? made: it is only compared. */
static bool token_fits(const struct fit *f, uint32_t p, const struct dfr_job_token *t)
{
    const uint64_t *most = f->g->port_dims + (size_t)(f->work->first_port + p) * DF_MAX_RANK;
    for (unsigned i = 0; i < f->ports[p].rank && t->is == DFR_JOB_THERE; i++)
        if (t->extents[i] > most[i])
            return false;
    return true;
}

static bool port_fits(const struct fit *f, uint32_t p)
{
    const struct df_kport *port = &f->ports[p];
    const struct dfr_job_port *then = &f->job->ports[p];
    const bool gets = port->in_slot >= 0 || port->mode == DF_ACC;

    return port->mode == then->mode && port->elem == then->elem && port->rank == then->rank &&
           (then->got.is != DFR_JOB_NONE) == gets && (port->out_slot >= 0 || then->made.is == DFR_JOB_NONE) && token_fits(f, p, &then->got) &&
           token_fits(f, p, &then->made) && (port->mode != DF_ACC || then->got.bytes == f->g->port_bytes[f->work->first_port + p]);
}

static int check_ports(const struct fit *f, struct df_error *error)
{
    const struct dfr_job_values *dims = &f->job->lists[DFR_JOB_DIMS];

    for (uint32_t i = 0; i < f->kernel->n_dims; i++) {
        const char *name = df_graph_string(f->g, f->g->dim_names[f->kernel->first_dim + i]);
        const struct dfr_job_value *v = find(dims, name);
        if (v && (uint64_t)v->value.i64 != f->g->dims[f->work->first_dim + i])
            return dfr_error(error, DF_E_REFUSED, "the job does not fit this program: '%s' of node '%s' is %llu here, and was %lld when it was recorded", name,
                             f->job->node, (unsigned long long)f->g->dims[f->work->first_dim + i], (long long)v->value.i64);
    }
    for (uint32_t p = 0; p < f->kernel->n_ports && f->kernel->n_ports == f->job->n_ports; p++)
        if (!port_fits(f, p))
            return dfr_error(error, DF_E_REFUSED, "the job does not fit this program: port '%s' of node '%s' is declared differently",
                             df_graph_string(f->g, f->ports[p].name), f->job->node);
    return f->kernel->n_ports == f->job->n_ports ? DF_OK
           : dfr_error(error, DF_E_REFUSED, "the job does not fit this program: node '%s' has %u ports here, and had %u when it was recorded", f->job->node,
                       (unsigned)f->kernel->n_ports, (unsigned)f->job->n_ports);
}

static bool same_scalar(const struct dfr_job_value *then, enum df_scalar_type type, union df_scalar now)
{
    if (!then || then->type != type)
        return false;
    return type == DF_S_STR ? strcmp(then->value.str, now.str) == 0 : memcmp(&then->value, &now, type == DF_S_I32 || type == DF_S_F32 ? 4 : 8) == 0;
}

/* Says what may be meant to differ. */
static int warn_of_changes(const struct fit *f, const struct df_options *options, struct df_error *error)
{
    union df_scalar *scalars;
    const char *kernel = df_graph_string(f->g, f->kernel->name);
    const int status = dfr_scalars_create(f->g, options->args, &scalars, error);

    if (status != DF_OK)
        return status;
    if (f->warns && memcmp(f->job->code_hash, f->kernel->code_hash, sizeof f->job->code_hash) != 0)
        dfr_say("warning: the code of kernel '%s' has changed since the job was recorded", kernel);
    if (f->warns && f->job->has_state)
        dfr_say("note: the job gets what its node kept by df_state(), %llu bytes; pointers in them lead nowhere", (unsigned long long)f->job->state_bytes);
    for (uint32_t i = 0; i < f->kernel->n_scalars && f->warns; i++) {
        const struct df_kscalar *s = &f->g->kscalars[f->kernel->first_scalar + i];
        const char *name = df_graph_string(f->g, s->name);
        if (!same_scalar(find(&f->job->lists[DFR_JOB_SCALARS], name), (enum df_scalar_type)s->type, scalars[f->work->first_scalar + i]))
            dfr_say("warning: '%s' of kernel '%s' has another value than when the job was recorded", name, kernel);
    }
    free(scalars);
    return DF_OK;
}

/* ---- the node alone ---- */

/* What fires after the last wave fires before the first one here: what it reads is there. */
static void make_once(struct dfr_parts *parts)
{
    const struct df_graph *g = parts->cuts[DFR_BODY].graph;

    for (uint32_t v = 0; v < g->n_nodes; v++)
        ((struct df_node *)g->nodes)[v].flags = (uint8_t)((g->nodes[v].flags & ~DF_NODE_FINAL) | DF_NODE_ONCE);
    for (uint32_t x = 0; x < g->n_values; x++)
        ((struct df_value *)g->values)[x].flags = (uint8_t)((g->values[x].flags & ~DF_VALUE_ACC) | DF_VALUE_ONCE);
    for (uint32_t k = 0; k < parts->n_ports; k++)
        parts->ports[k].once = true;
}

/* The copy that was inserted to make what the node reads, and changes in place; DF_NONE: value x is no such copy. It is cut out with the node, because its port has
 * bytes, whatever the elements are. */
static uint32_t copy_of(const struct df_graph *g, uint32_t x)
{
    const uint32_t v = g->values[x].producer;
    return g->nodes[v].flags & DF_NODE_INSERTED && g->kernels[g->nodes[v].kernel].flags & DF_KERNEL_COPY ? v : DF_NONE;
}

static int cut_out(const struct fit *f, struct dfr_parts *parts, struct df_error *error)
{
    uint8_t *place = malloc(f->g->n_nodes + 1u);

    *parts = (struct dfr_parts){ 0 };
    if (!place)
        return dfr_error_memory(error);
    memset(place, DFR_ELSEWHERE, f->g->n_nodes);
    place[f->node] = DFR_BODY;
    for (uint32_t i = 0; i < df_node_n_in(f->g, f->node); i++) {
        const uint32_t copy = copy_of(f->g, f->g->in_value[f->g->nodes[f->node].first_in + i]);
        if (copy != DF_NONE)
            place[copy] = DFR_BODY;
    }
    const int status = dfr_parts_make_at(f->g, place, parts, error);
    if (status == DF_OK && df_node_is_final(f->g, f->node))
        make_once(parts);
    return status;
}

/* The recorded token of value x, which the node or a copy for it reads. */
static const struct dfr_job_token *token_of(const struct fit *f, uint32_t x)
{
    for (uint32_t p = 0; p < f->kernel->n_ports; p++) {
        const uint32_t read = f->ports[p].in_slot < 0 ? DF_NONE : f->g->in_value[f->g->nodes[f->node].first_in + (uint32_t)f->ports[p].in_slot];
        const uint32_t copy = read == DF_NONE ? DF_NONE : copy_of(f->g, read);
        if (read == x || (copy != DF_NONE && f->g->in_value[f->g->nodes[copy].first_in] == x))
            return &f->job->ports[p].got;
    }
    return NULL;
}

/* All that the part reads, by rising port. */
static int find_values(const struct fit *f, const struct dfr_parts *parts, struct dfr_value *values, uint32_t *n, struct df_error *error)
{
    *n = 0;
    for (uint32_t k = 0; k < parts->n_ports; k++) {
        const struct dfr_port *port = &parts->ports[k];
        if (!(port->to >> DFR_BODY & 1))
            continue;
        const struct dfr_job_token *t = token_of(f, port->value), none = { 0 };
        t = t ? t : &none;              /* there is none that the part reads and the job did not */
        struct dfr_value *v = &values[(*n)++];
        if (t->is == DFR_JOB_THERE && port->n_extents == 0 && t->bytes != port->bytes)
            return dfr_error(error, DF_E_REFUSED, "the job does not fit this program: a token that node '%s' reads has another size", f->job->node);
        *v = (struct dfr_value){ .port = port->value, .empty = t->is == DFR_JOB_EMPTY, .data = t->bytes > 0 ? t->data : NULL, .bytes = t->bytes,
                                 .n_extents = t->is == DFR_JOB_THERE ? port->n_extents : 0 };
        for (unsigned i = 0; i < v->n_extents; i++)
            v->extents[i] = (int64_t)t->extents[i];
    }
    return DF_OK;
}

static int run_part(const struct dfr_job *job, const struct dfr_parts *parts, const struct df_options *options, const struct dfr_value *values, uint32_t n,
                    struct df_error *error)
{
    struct dfr_part *part = NULL;
    int64_t local;
    int status = dfr_part_open(parts, DFR_BODY, options, values, n, &part, error);

    while (status == DF_OK && !dfr_part_has_room(part) && !dfr_part_is_over(part) && (status = dfr_part_poll(part, error)) == DF_OK)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL); /* until what fires once has fired */
    if (status == DF_OK)
        status = dfr_part_begin(part, job->wave, values, n, &local, error);
    if (status == DF_OK)
        status = dfr_part_finish(part, NULL, error);
    dfr_part_close(part);
    return status;
}

/* ---- where it runs, and what is said ---- */

/* Where it was recorded, unless the command line says it. */
static void choose_place(const struct dfr_job *job, struct df_options *o)
{
    static const struct {
        const char *name;
        enum df_device_kind kind;
    } kinds[] = { { "emu", DF_DEVICE_EMU }, { "cuda", DF_DEVICE_CUDA }, { "opencl", DF_DEVICE_OPENCL } };
    const bool open = o->device == DF_DEVICE_AUTO;

    if (o->policy)
        return;
    o->policy = o->device == DF_DEVICE_NONE || (open && strcmp(job->variant, "cpu") == 0) ? "all-cpu" : "all-gpu";
    if (open)
        o->device = DF_DEVICE_NONE;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds && open; i++)
        if (strcmp(kinds[i].name, job->variant) == 0) {
            o->device = kinds[i].kind;
            o->emu_all = o->emu_all || o->device == DF_DEVICE_EMU;
        }
}

static int tell(const struct dfr_job *job, const struct dfr_replay *replay, int status, const struct df_error *error)
{
    const bool failed = job->code != DF_OK && job->code != DF_SKIP && job->code != DF_END;
    const char *where = replay->variant;

    if (status != DF_OK) {
        if (replay->code == DF_FAILED && job->message[0] && strstr(error->text, job->message))
            dfr_say("node '%s', wave %lld, on %s: it fails as it did when it was recorded", job->node, (long long)job->wave, where);
        return status;
    }
    if (job->code == DFR_JOB_UNENDED)
        dfr_say("node '%s', wave %lld, on %s: it has ended, which it had not when it was recorded", job->node, (long long)job->wave, where);
    else if (failed)
        dfr_say("node '%s', wave %lld, on %s: it does not fail; when it was recorded, it did: %s", job->node, (long long)job->wave, where, job->message);
    else if (replay->code != DF_OK)
        dfr_say("node '%s', wave %lld, on %s: it %s, as recorded", job->node, (long long)job->wave, where,
                replay->code == DF_SKIP ? "skips the wave" : "ends the stream");
    else if (replay->n_outputs == 0)
        dfr_say("node '%s', wave %lld, on %s: it has no outputs to compare, and does not fail", job->node, (long long)job->wave, where);
    else
        dfr_say("node '%s', wave %lld, on %s: %s; %llu element%s compared", job->node, (long long)job->wave, where,
                replay->bits ? "the same bits as recorded" : "within the tolerance of what was recorded", (unsigned long long)replay->n_elements,
                replay->n_elements == 1 ? "" : "s");
    return DF_OK;
}

int dfr_replay_run(const struct df_graph *g, const struct dfr_command_line *line, const struct dfr_job *job, struct df_error *error)
{
    struct fit f = { .g = g, .job = job, .warns = line->options.log_level >= DF_LOG_WARNING };
    struct dfr_replay replay = { .job = job };
    struct dfr_parts parts = { 0 };
    struct dfr_value *values = NULL;
    struct df_options options = line->options;
    uint32_t n;
    int status = find_node(&f, error);

    if (status == DF_OK)
        status = check_ports(&f, error);
    if (status == DF_OK)
        status = warn_of_changes(&f, &options, error);
    if (status == DF_OK)
        status = cut_out(&f, &parts, error);
    if (status == DF_OK && !(values = calloc(parts.n_ports + 1u, sizeof *values)))
        status = dfr_error_memory(error);
    if (status == DF_OK)
        status = find_values(&f, &parts, values, &n, error);
    if (status == DF_OK) {
        options.inflight = 1;
        options.replay = &replay;
        choose_place(job, &options);
        while (parts.cuts[DFR_BODY].node[replay.node] != f.node)
            replay.node++;
        status = run_part(job, &parts, &options, values, n, error);
        if (status == DF_OK && !replay.done)
            status = dfr_error(error, DF_E_REFUSED, "node '%s' was not called: an input is empty, or has an extent of 0, which cannot be given", job->node);
        status = tell(job, &replay, status, error);
    }
    dfr_parts_free(&parts);
    free(values);
    return status;
}
