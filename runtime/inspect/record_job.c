/* record_job.c - records jobs for --record-job, and compares a replayed one with its record for --replay (record_job.h). inspect.c calls it before and after
 * each job. */
#include "runtime/inspect/record_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/engine/call.h"
#include "runtime/engine/log.h"
#include "runtime/inspect/differ.h"
#include "runtime/inspect/requests.h"
#include "runtime/io/state.h"

#define NAME_BYTES 1024
#define PATH_BYTES 4096

struct held {                           /* of a job in flight, from before its call */
    bool on;
    void **ports;                       /* copies of what it changes in place; NULL: of nothing else */
    void *state;
    size_t state_bytes;
};

struct dfr_record {
    struct df_run *run;
    const char *folder;
    struct dfr_requests *requests;
    unsigned n_requests;
    bool failed;                        /* jobs that fail are recorded */
    struct dfr_replay *replay;          /* NULL: this is no replay */
    struct held *held;                  /* by place */
    uint32_t n_places, n_ports;         /* the most ports of a kernel */
    char program[PATH_BYTES];
};

/* ---- the job as it is ---- */

struct at {                             /* a job, where it is called */
    struct dfr_record *record;
    struct held *held;
    struct df_call *call;
    void *const *ports;
    struct dfr_device *device;          /* NULL: the ports are on the host */
    const struct df_graph *g;
    uint32_t node;
    const struct df_kernel *kernel;
    const struct df_kport *kports;
    const struct df_work *work;
};

static struct at at_job(struct dfr_record *record, uint32_t place, struct df_call *call, void *const *ports, struct dfr_device *device)
{
    const struct df_graph *g = record->run->graph;
    const uint32_t node = dfr_job_node(call->job);
    const struct df_kernel *kernel = &g->kernels[g->nodes[node].kernel];
    return (struct at){ .record = record, .held = &record->held[place], .call = call, .ports = ports, .device = device, .g = g, .node = node,
                        .kernel = kernel, .kports = g->kports + kernel->first_port, .work = &g->works[g->nodes[node].work] };
}

static int64_t wave_of(const struct at *at)
{
    return dfr_told_wave(at->record->run, at->call->job, at->call->wave);
}

/* A copy of what lies at a port; NULL: the job has failed. */
static void *copy_port(const struct at *at, const void *address, uint64_t bytes)
{
    struct df_error error = { "out of memory" };
    void *copy = malloc(bytes ? bytes : 1), *memory;
    int status = copy ? DF_OK : DF_E_MEMORY;

    if (status == DF_OK && bytes > 0 && !at->device) {
        memcpy(copy, address, bytes);
    } else if (status == DF_OK && bytes > 0) {
        const struct dfr_device_ops *ops = at->device->ops;
        memory = ops->host_alloc(bytes, &error);
        status = memory ? ops->copy(at->device, DFR_COPY_D2H, memory, address, bytes, at->call->stream, &error) : DF_E_MEMORY;
        if (status == DF_OK)
            status = ops->drain(at->device, &error);
        if (status == DF_OK)
            memcpy(copy, memory, bytes);
        if (memory)
            ops->host_free(memory, bytes);
    }
    if (status == DF_OK)
        return copy;
    df_fail(at->call, "a copy of a port's data: %s", error.text);
    free(copy);
    return NULL;
}

/* Is the value of this number, which the job reads or makes, there in this wave, and with which extents? Its data is not set. */
static struct dfr_job_token token_of(const struct at *at, uint32_t p, uint32_t value)
{
    const struct df_run *run = at->record->run;
    const uint32_t slot = dfr_job_slot(at->call->job);
    const uint64_t *dims = run->extents ? dfr_extents_of(run->extents, value, slot)
                                        : at->g->port_dims + (size_t)(at->work->first_port + p) * DF_MAX_RANK;
    struct dfr_job_token t = { .is = DFR_JOB_THERE, .bytes = df_elem_bytes((enum df_elem)at->kports[p].elem) };

    if (dfr_skips_empty(&run->skips, slot, value))
        return (struct dfr_job_token){ .is = DFR_JOB_EMPTY };
    for (unsigned i = 0; i < at->kports[p].rank; i++) {
        t.extents[i] = dims[i];
        t.bytes *= dims[i];
    }
    return t;
}

static bool is_changed_in_place(const struct df_kport *port)
{
    return port->mode == DF_INOUT || port->mode == DF_ACC;
}

static struct dfr_job_token got_of(const struct at *at, uint32_t p)
{
    const struct df_kport *port = &at->kports[p];
    if (port->in_slot >= 0)
        return token_of(at, p, at->g->in_value[at->g->nodes[at->node].first_in + (uint32_t)port->in_slot]);
    return port->mode == DF_ACC ? token_of(at, p, at->g->nodes[at->node].first_out + (uint32_t)port->out_slot) : (struct dfr_job_token){ 0 };
}

static struct dfr_job_token made_of(const struct at *at, uint32_t p, int code)
{
    const struct df_kport *port = &at->kports[p];
    if (port->out_slot < 0 || (code != DF_OK && code != DF_SKIP))
        return (struct dfr_job_token){ 0 };
    return code == DF_SKIP && port->mode != DF_ACC ? (struct dfr_job_token){ .is = DFR_JOB_EMPTY }
                                                   : token_of(at, p, at->g->nodes[at->node].first_out + (uint32_t)port->out_slot);
}

/* ---- before the call ---- */

static void let_go(const struct dfr_record *record, struct held *h)
{
    for (uint32_t p = 0; h->ports && p < record->n_ports; p++) {
        free(h->ports[p]);
        h->ports[p] = NULL;
    }
    free(h->state);
    h->state = NULL;
    h->state_bytes = 0;
    h->on = false;
}

static bool hold(const struct at *at)
{
    struct held *h = at->held;
    size_t bytes;
    const void *state = dfr_state_of(at->call, &bytes);

    h->on = true;
    if (!h->ports && !(h->ports = calloc(at->record->n_ports + 1u, sizeof *h->ports)))
        return false;
    for (uint32_t p = 0; p < at->kernel->n_ports; p++) {
        const struct dfr_job_token got = is_changed_in_place(&at->kports[p]) ? got_of(at, p) : (struct dfr_job_token){ 0 };
        if (got.is == DFR_JOB_THERE && !(h->ports[p] = copy_port(at, at->ports[p], got.bytes)))
            return false;
    }
    if (state && !(h->state = malloc(bytes + 1)))
        return false;
    if (state)
        memcpy(h->state, state, bytes);
    h->state_bytes = bytes;
    return true;
}

/* ---- writing ---- */

static const char *variant_of(const struct at *at)
{
    return at->call->device ? at->call->device->ops->name : "cpu";
}

static void note_scalar(struct dfr_job_values *list, const char *name, enum df_scalar_type type, union df_scalar value)
{
    list->items[list->n++] = (struct dfr_job_value){ name, type, value };
}

/* Makes the lists, in memory that free_lists() returns. */
static bool make_lists(const struct at *at, struct dfr_job *job)
{
    const struct df_graph *g = at->g;
    const struct df_run *run = at->record->run;
    const uint32_t n[DFR_JOB_LISTS] = { run->options.args ? g->n_args : 0, g->n_params, at->kernel->n_dims, at->kernel->n_scalars };

    for (unsigned i = 0; i < DFR_JOB_LISTS; i++)
        if (!(job->lists[i].items = calloc(n[i] + 1u, sizeof *job->lists[i].items)))
            return false;
    for (uint32_t i = 0; i < n[DFR_JOB_ARGS]; i++)
        note_scalar(&job->lists[DFR_JOB_ARGS], df_graph_string(g, g->args[i].name), (enum df_scalar_type)g->args[i].type, run->options.args[i]);
    for (uint32_t i = 0; i < n[DFR_JOB_PARAMS]; i++)
        note_scalar(&job->lists[DFR_JOB_PARAMS], df_graph_string(g, g->params[i].name), DF_S_I64, (union df_scalar){ .i64 = g->params[i].value });
    for (uint32_t i = 0; i < n[DFR_JOB_DIMS]; i++)
        note_scalar(&job->lists[DFR_JOB_DIMS], df_graph_string(g, g->dim_names[at->kernel->first_dim + i]), DF_S_I64,
                    (union df_scalar){ .i64 = (int64_t)g->dims[at->work->first_dim + i] });
    for (uint32_t i = 0; i < n[DFR_JOB_SCALARS]; i++) {
        const struct df_kscalar *s = &g->kscalars[at->kernel->first_scalar + i];
        note_scalar(&job->lists[DFR_JOB_SCALARS], df_graph_string(g, s->name), (enum df_scalar_type)s->type, run->memory.scalars[at->work->first_scalar + i]);
    }
    return true;
}

/* The data of all ports. What is on a device is copied, into `copies`, by twice the port. */
static bool make_ports(const struct at *at, int code, struct dfr_job *job, void **copies)
{
    for (uint32_t p = 0; p < at->kernel->n_ports; p++) {
        struct dfr_job_port *port = &job->ports[p];
        *port = (struct dfr_job_port){ .name = df_graph_string(at->g, at->kports[p].name), .mode = at->kports[p].mode, .elem = at->kports[p].elem,
                                       .rank = at->kports[p].rank, .got = got_of(at, p), .made = made_of(at, p, code) };
        struct dfr_job_token *tokens[] = { &port->got, &port->made };
        for (unsigned i = 0; i < 2; i++) {
            if (tokens[i]->is != DFR_JOB_THERE)
                continue;
            if (i == 0 && is_changed_in_place(&at->kports[p]))
                tokens[i]->data = at->held->ports[p];
            else if (at->device)
                tokens[i]->data = copies[2 * p + i] = copy_port(at, at->ports[p], tokens[i]->bytes);
            else
                tokens[i]->data = at->ports[p];
            if (!tokens[i]->data && tokens[i]->bytes > 0)
                return false;
        }
    }
    job->n_ports = at->kernel->n_ports;
    return true;
}

/* Where the graph main is; the place of a call in another graph may be an imported file. */
static const char *source_of(const struct df_graph *g, uint32_t node)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->scopes[g->nodes[v].scope].parent == DF_NONE && g->nodes[v].file)
            return df_graph_string(g, g->nodes[v].file);
    return df_graph_string(g, g->nodes[node].file);
}

static void make_rest(const struct at *at, int code, const char *node, const char *source, struct dfr_job *job)
{
    job->program = at->record->program;
    job->source = source;
    job->node = node;
    job->kernel = df_graph_string(at->g, at->kernel->name);
    job->variant = variant_of(at);
    job->wave = wave_of(at) > 0 ? wave_of(at) : 0;
    job->code = code;
    job->message = at->call->failed ? at->call->message : "";
    memcpy(job->code_hash, at->kernel->code_hash, sizeof job->code_hash);
    job->has_state = at->held->state;
    job->state = at->held->state;
    job->state_bytes = at->held->state_bytes;
}

static int write_to_folder(const struct at *at, const struct dfr_job *job, struct df_error *error)
{
    char stem[NAME_BYTES], *path;
    if (!dfr_requests_stem(at->g, at->node, stem, sizeof stem))
        return dfr_error(error, DF_E_IO, "cannot record '%.100s...': its name is too long for a file", stem);
    if (asprintf(&path, "%s/%s.%lld.job", at->record->folder, stem, (long long)job->wave) < 0)
        return dfr_error_memory(error);
    const int status = dfr_job_write(job, path, error);
    if (status == DF_OK && at->record->failed && job->code != DF_OK && job->code != DFR_JOB_UNENDED)
        dfr_log(at->record->run, DF_LOG_WARNING, "the job that failed is in '%s'; 'dfc replay' runs it again", path);
    free(path);
    return status;
}

static int write_job(const struct at *at, int code, struct df_error *error)
{
    char node[NAME_BYTES];
    const char *file = source_of(at->g, at->node);
    char *source = *file ? realpath(file, NULL) : NULL;
    void **copies = calloc(2 * (size_t)at->kernel->n_ports + 1, sizeof *copies);
    struct dfr_job job = { .ports = calloc(at->kernel->n_ports + 1u, sizeof *job.ports) };
    int status = copies && job.ports && make_lists(at, &job) && make_ports(at, code, &job, copies) ? DF_OK : dfr_error_memory(error);

    if (status == DF_OK) {
        df_node_name(at->g, at->node, node, sizeof node);
        make_rest(at, code, node, source ? source : file, &job);
        status = write_to_folder(at, &job, error);
    }
    for (uint32_t i = 0; copies && i < 2u * at->kernel->n_ports; i++)
        free(copies[i]);
    free(copies);
    free(source);
    dfr_job_free(&job);
    return status;
}

/* ---- replay ---- */

/* Gives the job what it kept from the waves before. */
static int give_kept(const struct at *at, const struct dfr_job *job)
{
    struct df_error error = { "" };
    int status = DF_OK;

    if (dfr_job_slot(at->call->job) == at->record->run->inflight)
        at->call->wave = job->wave;     /* of what fires after the last wave, how many there were */
    if (job->has_state && !dfr_state_give(at->call, job->state, job->state_bytes))
        return DF_FAILED;
    for (uint32_t p = 0; p < at->kernel->n_ports && status == DF_OK; p++) {
        const struct dfr_job_token *got = &job->ports[p].got;
        if (at->kports[p].mode != DF_ACC || got->is != DFR_JOB_THERE || got->bytes == 0)
            continue;
        if (!at->device) {
            memcpy(at->ports[p], got->data, got->bytes);
            continue;
        }
        void *memory = at->device->ops->host_alloc(got->bytes, &error);
        status = memory ? DF_OK : DF_E_MEMORY;
        if (memory)
            memcpy(memory, got->data, got->bytes);
        if (status == DF_OK)
            status = at->device->ops->copy(at->device, DFR_COPY_H2D, at->ports[p], memory, got->bytes, at->call->stream, &error);
        if (status == DF_OK)
            status = at->device->ops->drain(at->device, &error);
        if (memory)
            at->device->ops->host_free(memory, got->bytes);
    }
    return status == DF_OK ? DF_OK : df_fail(at->call, "%s", error.text);
}

static struct df_tolerance tolerance_of(const struct at *at, const struct dfr_job *job)
{
    const bool same = strcmp(job->variant, variant_of(at)) == 0;
    return at->kernel->tolerance.given || !same ? at->kernel->tolerance : DFR_SAME_BITS;
}

static int compare_port(const struct at *at, uint32_t p, int code)
{
    struct dfr_replay *replay = at->record->replay;
    const struct dfr_job_token *then = &replay->job->ports[p].made, now = made_of(at, p, code);
    const char *name = df_graph_string(at->g, at->kports[p].name);
    const uint64_t n = now.bytes / df_elem_bytes((enum df_elem)at->kports[p].elem);
    struct dfr_difference d;
    char text[320];

    if (then->is != now.is)
        return df_fail(at->call, "output '%.64s' is %s, and was %s when the job was recorded", name, now.is == DFR_JOB_EMPTY ? "empty" : "not empty",
                       then->is == DFR_JOB_EMPTY ? "empty" : "not empty");
    if (now.is != DFR_JOB_THERE)
        return DF_OK;
    replay->n_outputs++;
    for (unsigned i = 0; i < at->kports[p].rank; i++)
        if (then->extents[i] != now.extents[i])
            return df_fail(at->call, "extent %u of output '%.64s' is %llu, and was %llu when the job was recorded", i + 1, name,
                           (unsigned long long)now.extents[i], (unsigned long long)then->extents[i]);
    if (n == 0)
        return DF_OK;
    void *copy = at->device ? copy_port(at, at->ports[p], now.bytes) : NULL;
    const void *data = at->device ? copy : at->ports[p];
    if (at->device && !copy)
        return DF_FAILED;
    const bool differs = dfr_differ((enum df_elem)at->kports[p].elem, then->data, data, n, tolerance_of(at, replay->job), &d);
    replay->bits = replay->bits && memcmp(then->data, data, now.bytes) == 0;
    replay->n_elements += n;
    free(copy);
    if (!differs)
        return DF_OK;
    dfr_difference_text(&d, now.extents, at->kports[p].rank, "recorded", "here", text, sizeof text);
    return df_fail(at->call, "output '%.40s'%s", name, text);
}

static const char *what_was(int code)
{
    return code == DF_OK ? "made its outputs" : code == DF_SKIP ? "skipped the wave" : code == DF_END ? "ended the stream" : "failed";
}

/* Of a job that did not fail. What failed, or did not end, when it was recorded made nothing to compare with. */
static int compare(const struct at *at, int code)
{
    const struct dfr_job *job = at->record->replay->job;
    const bool made = job->code == DF_OK || job->code == DF_SKIP || job->code == DF_END;

    if (made && job->code != code)
        return df_fail(at->call, "it %s, and %s when it was recorded", what_was(code), what_was(job->code));
    for (uint32_t p = 0; made && p < at->kernel->n_ports && !at->call->failed; p++)
        compare_port(at, p, code);
    return at->call->failed ? DF_FAILED : code;
}

/* ---- the hooks ---- */

static bool is_failure(const struct at *at, int code)
{
    return at->call->failed || (code != DF_OK && code != DF_SKIP && code != DF_END);
}

static bool is_wanted(const struct at *at)
{
    return at->record->requests && dfr_requests_want(at->record->requests, at->node, wave_of(at));
}

int dfr_record_before(struct dfr_record *record, uint32_t place, struct df_call *call, void *const *ports, struct dfr_device *device)
{
    const struct at at = at_job(record, place, call, ports, device);
    struct df_error error = { "" };

    if (record->replay)
        return record->replay->node == at.node ? give_kept(&at, record->replay->job) : DF_OK;
    if (!record->failed && !is_wanted(&at))
        return DF_OK;
    let_go(record, at.held);
    if (!hold(&at))
        return df_fail(call, "out of memory for --record-job");
    return !is_wanted(&at) || write_job(&at, DFR_JOB_UNENDED, &error) == DF_OK ? DF_OK : df_fail(call, "%s", error.text);
}

/* A job that failed has a message already, so that one about its file is only told. */
static int record(const struct at *at, int code)
{
    struct df_error error = { "" };
    const bool failed = is_failure(at, code);

    if (!is_wanted(at) && !(at->record->failed && failed))
        return code;
    if (write_job(at, failed && code == DF_OK ? DF_FAILED : code, &error) == DF_OK) {
        if (at->record->requests)
            dfr_requests_met(at->record->requests, at->node, wave_of(at));
        return code;
    }
    if (!failed)
        return df_fail(at->call, "%s", error.text);
    dfr_log(at->record->run, DF_LOG_WARNING, "--record-job: %s", error.text);
    return code;
}

int dfr_record_after(struct dfr_record *r, uint32_t place, struct df_call *call, int code, void *const *ports, struct dfr_device *device)
{
    const struct at at = at_job(r, place, call, ports, device);

    if (r->replay && r->replay->node == at.node) {
        r->replay->done = true;
        r->replay->bits = true;
        r->replay->code = is_failure(&at, code) ? DF_FAILED : code;
        snprintf(r->replay->variant, sizeof r->replay->variant, "%s", variant_of(&at));
        if (!is_failure(&at, code))
            code = compare(&at, code);
    } else if (at.held->on) {
        code = record(&at, code);
        let_go(r, at.held);
    }
    return code;
}

/* ---- making and ending ---- */

const char *dfr_record_unmet(const struct dfr_record *r, unsigned i)
{
    return r->requests ? dfr_requests_unmet(r->requests, i) : NULL;
}

static int read_requests(struct dfr_record *r, const struct df_options *o, struct df_error *error)
{
    const char **texts = malloc((o->n_record_jobs + 1u) * sizeof *texts);

    if (!texts)
        return dfr_error_memory(error);
    for (unsigned i = 0; i < o->n_record_jobs; i++)
        if (strcmp(o->record_jobs[i], "failed") == 0)
            r->failed = true;
        else
            texts[r->n_requests++] = o->record_jobs[i];
    int status = dfr_requests_folder(r->folder, error);
    if (status == DF_OK && r->n_requests > 0)
        status = dfr_requests_create(r->run->graph, "--record-job", DFR_REQUESTS_CALLS, texts, r->n_requests, &r->requests, error);
    free(texts);
    return status;
}

int dfr_record_create(struct df_run *run, uint32_t n_places, struct dfr_record **record, struct df_error *error)
{
    const struct df_options *o = &run->options;
    struct dfr_record *r = calloc(1, sizeof *r);
    int status = DF_OK;

    if (!r)
        return dfr_error_memory(error);
    r->run = run;
    r->folder = o->dump_dir ? o->dump_dir : ".";
    r->replay = o->replay;
    r->n_places = n_places;
    for (uint32_t k = 0; k < run->graph->n_kernels; k++)
        r->n_ports = run->graph->kernels[k].n_ports > r->n_ports ? run->graph->kernels[k].n_ports : r->n_ports;
    if (!(r->held = calloc(n_places + 1u, sizeof *r->held)))
        status = dfr_error_memory(error);
    const ssize_t n = readlink("/proc/self/exe", r->program, sizeof r->program - 1);
    r->program[n > 0 ? n : 0] = '\0';
    if (status == DF_OK && o->n_record_jobs > 0)
        status = read_requests(r, o, error);
    if (status == DF_OK)
        *record = r;
    else
        dfr_record_destroy(r);
    return status;
}

void dfr_record_destroy(struct dfr_record *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; r->held && i < r->n_places; i++) {
        let_go(r, &r->held[i]);
        free(r->held[i].ports);
    }
    free(r->held);
    dfr_requests_destroy(r->requests);
    free(r);
}
