/* loop.c - runs a job of a loop (graph/graph.h): its rounds, on the unit that has the job. It is the variant of every loop's kernel, for the CPU and for devices,
 * which the tables of functions that dfc makes refer to.
 *
 * Empty:    a step with an empty input is left out, and one that returns DF_SKIP makes empty what it would have made; for this round. If a token of the
 *           condition is empty, the loop ends. The result of each carried stream is its last token that was not empty: the one that a select over the
 *           rounds, written out one after the other, would pass on.
 * Device:   on a device whose memory the host cannot read, the tokens of the condition are copied to the host before each round, and waited for.
 * Rows:     on the CPU, steps of formulas that could be divided are run by rows, with the help of workers that have no job.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/engine/engine.h"
#include "runtime/graph/expr.h"
#include "runtime/threads/clock.h"

#define PIECE_S 150e-6                  /* a piece of a step that is shared with idle workers takes about so long */
enum { MOST_PIECES = 64 };

struct place {                          /* of a token */
    void *now, *next;                   /* what steps read; where the next one of a carried token is made */
    void *places[2];
    bool empty, made, next_empty;       /* made: this round has made one, so that `next` is to become `now` */
};

struct rounds {
    struct df_call *call;
    void *stream;
    const struct df_graph *graph;
    const struct df_loop *loop;
    const size_t *dims;
    const union df_scalar *scalars;
    unsigned char *tmp;
    struct place *tokens;
    double *seconds;                    /* by step: what it took when it was last run as a whole; 0: it was not yet */
    bool on_host;                       /* the host reads the memory of tokens */
    struct dfr_event *event;            /* of a device; NULL: none yet */
    uint64_t round;
};

static const struct df_loop_token *token_of(const struct rounds *r, uint32_t t) { return &r->graph->loop_tokens[r->loop->first_token + t]; }

static int device_failed(struct rounds *r, const struct df_error *error) { return df_fail(r->call, "in round %llu: %s", (unsigned long long)r->round, error->text); }

/* Copies on the job's stream, behind the steps. */
static int copy(struct rounds *r, enum dfr_copy kind, void *to, const void *from, uint64_t bytes)
{
    struct df_error error;
    if (r->on_host) {
        memcpy(to, from, bytes);
        return DF_OK;
    }
    return r->call->device->ops->copy(r->call->device, kind, to, from, bytes, r->call->stream, &error) == DF_OK ? DF_OK : device_failed(r, &error);
}

static int wait(struct rounds *r)
{
    struct dfr_device *device = r->call->device;
    struct df_error error;
    int status = DF_OK;
    if (r->on_host)
        return DF_OK;
    if (!r->event)
        status = device->ops->event_create(device, &r->event, &error);
    if (status == DF_OK)
        status = device->ops->event_record(device, r->event, r->call->stream, &error);
    if (status == DF_OK)
        status = dfr_event_wait(device, r->event, 0, &error);
    return status == DF_OK ? DF_OK : device_failed(r, &error);
}

/* ---- the condition ---- */

union element {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
};

static struct df_number number_of(uint32_t elem, const union element *x)
{
    struct df_number n = { .kind = DF_KIND_I64 };
    switch (elem) {
    case DF_U8: n.i = x->u8; break;
    case DF_U16: n.i = x->u16; break;
    case DF_U32: n.i = x->u32; break;
    case DF_I8: n.i = x->i8; break;
    case DF_I16: n.i = x->i16; break;
    case DF_I32: n.i = x->i32; break;
    case DF_I64: n.i = x->i64; break;
    default:
        n.kind = DF_KIND_F64;
        n.f = elem == DF_F32 ? (double)x->f32 : x->f64;
    }
    return n;
}

/* Fetches the tokens of the condition. *empty: one has no value. */
static int fetch(struct rounds *r, union element *values, bool *empty)
{
    const struct df_loop *loop = r->loop;
    int code = DF_OK;
    *empty = false;
    for (uint32_t i = 0; i < loop->n_reads; i++)
        *empty |= r->tokens[r->graph->loop_reads[loop->first_read + i]].empty;
    for (uint32_t i = 0; i < loop->n_reads && !*empty && code == DF_OK; i++) {
        const uint32_t t = r->graph->loop_reads[loop->first_read + i];
        code = copy(r, DFR_COPY_D2H, &values[i], r->tokens[t].now, df_elem_bytes((enum df_elem)token_of(r, t)->elem));
    }
    return code == DF_OK && loop->n_reads > 0 && !*empty ? wait(r) : code;
}

/* Is there another round? */
static int holds(struct rounds *r, bool *on)
{
    const struct df_graph *g = r->graph;
    const struct df_loop *loop = r->loop;
    const struct df_kernel *kernel = &g->kernels[g->nodes[dfr_job_node(r->call->job)].kernel];
    struct df_number numbers[loop->n_scalars + loop->n_reads + 1u], result;
    union element values[loop->n_reads + 1u];
    struct df_error error;
    bool empty;
    int code = fetch(r, values, &empty);

    *on = false;
    if (code != DF_OK || empty)
        return code;
    for (uint32_t i = 0; i < loop->n_scalars; i++)
        numbers[i] = df_scalar_to_number(r->scalars[i], (enum df_scalar_type)g->kscalars[kernel->first_scalar + i].type);
    for (uint32_t i = 0; i < loop->n_reads; i++)
        numbers[loop->n_scalars + i] = number_of(token_of(r, g->loop_reads[loop->first_read + i])->elem, &values[i]);
    if (df_expr_run(g->code + loop->first_code, loop->n_code, g->strings, numbers, loop->n_scalars + loop->n_reads, &result, &error) != DF_OK)
        return df_fail(r->call, "its condition before round %llu: %s", (unsigned long long)r->round, error.text);
    *on = result.kind == DF_KIND_I64 ? result.i != 0 : result.f < 0 || result.f > 0; /* not 0, and no NaN */
    return DF_OK;
}

/* ---- steps ---- */

struct pieces {                         /* a step of formulas, by rows */
    struct rounds *rounds;
    const struct df_step *step;
    df_function *function;
    void *const *ports;
    uint32_t n;
};

static int call_step(struct rounds *r, struct df_call *call, const struct df_step *step, df_function *function, void *const *ports)
{
    return function(call, r->stream, r->dims + step->first_dim, ports, r->scalars + step->first_scalar);
}

static void call_rows(void *arg, size_t i)
{
    const struct pieces *p = arg;
    const uint64_t rows = p->step->rows;
    struct df_call own = { .run = p->rounds->call->run, .job = p->rounds->call->job, .wave = p->rounds->call->wave, .threads = 1, .step = p->step };
    own.first_row = rows * i / p->n;
    own.n_rows = rows * (i + 1) / p->n - own.first_row;
    call_step(p->rounds, &own, p->step, p->function, p->ports);
}

/* Into how many pieces is the step worth dividing? Only formulas have rows that are counted here; their code cannot fail. The first round shows how long
 * a step takes. */
static uint32_t count_pieces(const struct rounds *r, uint32_t s)
{
    const struct df_step *step = &r->graph->steps[r->loop->first_step + s];
    const struct df_kernel *k = &r->graph->kernels[step->kernel];
    const double n = r->seconds[s] / PIECE_S;
    if (!step->rows || !step->by_rows || r->call->device || !r->call->pieces || !(n >= 2))
        return 1;
    for (unsigned p = 0; p < k->n_ports; p++)
        if (r->graph->kports[k->first_port + p].mode == DF_TMP && df_port_is_on(&r->graph->kports[k->first_port + p], DF_ON_HOST))
            return 1;                   /* pieces would share the scratch */
    return (uint32_t)fmin(n, step->rows < MOST_PIECES ? (double)step->rows : MOST_PIECES);
}

static void *read_from(const struct rounds *r, const struct df_step_port *port)
{
    const struct place *token = &r->tokens[port->reads];
    return port->next ? token->next : token->now;
}

static bool is_empty(const struct rounds *r, const struct df_step_port *port)
{
    const struct place *token = &r->tokens[port->reads];
    return port->next ? token->next_empty : token->empty;
}

static void made(struct rounds *r, const struct df_step_port *port, bool full)
{
    struct place *token = &r->tokens[port->writes];
    if (!token_of(r, port->writes)->carried) {
        token->empty = !full;
        return;
    }
    token->made = full;
    token->next_empty = !full;
}

static df_function *function_of(const struct rounds *r, const struct df_step *step)
{
    const struct df_functions *functions = &r->graph->functions[step->kernel];
    const struct df_call *call = r->call;
    return call->device ? dfr_device_function(call->device->ops, &call->run->options, functions) : functions->cpu;
}

static void *write_to(const struct rounds *r, const struct df_step_port *port)
{
    return token_of(r, port->writes)->carried ? r->tokens[port->writes].next : r->tokens[port->writes].now;
}

/* Finds the step's tokens. An inout port changes a copy of what it reads. *empty: an input is. */
static int make_ports(struct rounds *r, const struct df_step *step, void **ports, bool *empty)
{
    const struct df_kernel *k = &r->graph->kernels[step->kernel];
    const struct df_step_port *port = r->graph->step_ports + step->first_port;
    int code = DF_OK;
    *empty = false;
    for (unsigned p = 0; p < k->n_ports; p++)
        *empty |= port[p].reads != DF_NONE && is_empty(r, &port[p]);
    for (unsigned p = 0; p < k->n_ports && !*empty && code == DF_OK; p++) {
        ports[p] = port[p].writes != DF_NONE ? write_to(r, &port[p]) : port[p].reads != DF_NONE ? read_from(r, &port[p]) : r->tmp + port[p].place;
        if (port[p].writes != DF_NONE && port[p].reads != DF_NONE)
            code = copy(r, DFR_COPY_D2D, ports[p], read_from(r, &port[p]), token_of(r, port[p].reads)->bytes);
    }
    return code;
}

/* The job's message says which step it was. */
static int step_failed(struct rounds *r, const struct df_kernel *k, int code)
{
    struct df_call *call = r->call;
    char why[sizeof call->message];
    if (!call->failed)
        return code;
    memcpy(why, call->message, sizeof why);
    snprintf(call->message, sizeof call->message, "'%.60s' in round %llu: %.160s", df_graph_string(r->graph, k->name), (unsigned long long)r->round, why);
    return code;
}

static int run_step(struct rounds *r, uint32_t s)
{
    const struct df_step *step = &r->graph->steps[r->loop->first_step + s];
    const struct df_kernel *k = &r->graph->kernels[step->kernel];
    const struct df_step_port *port = r->graph->step_ports + step->first_port;
    void *ports[k->n_ports + 1u];
    df_function *function = function_of(r, step);
    bool empty;
    int code = make_ports(r, step, ports, &empty);
    uint32_t n = count_pieces(r, s);

    if (code == DF_OK && !empty && n > 1) {
        struct pieces pieces = { r, step, function, ports, n };
        df_pieces(r->call, n, call_rows, &pieces);
    } else if (code == DF_OK && !empty) {
        const double begin_s = r->round == 0 ? dfr_clock_s() : 0;
        r->call->step = step;
        code = call_step(r, r->call, step, function, ports);
        r->call->step = NULL;
        if (r->round == 0)
            r->seconds[s] = dfr_clock_s() - begin_s;
    }
    if (code != DF_OK && code != DF_SKIP)
        return step_failed(r, k, code);
    for (unsigned p = 0; p < k->n_ports; p++)
        if (port[p].writes != DF_NONE)
            made(r, &port[p], code == DF_OK && !empty);
    return DF_OK;
}

/* ---- rounds ---- */

static void begin_tokens(struct rounds *r, void *const *ports)
{
    for (uint32_t t = 0; t < r->loop->n_tokens; t++) {
        const struct df_loop_token *token = token_of(r, t);
        struct place *p = &r->tokens[t];
        *p = (struct place){ .places = { token->out_port != DF_NONE ? ports[token->out_port] : r->tmp + token->place[0], r->tmp + token->place[1] } };
        p->now = token->in_port != DF_NONE ? ports[token->in_port] : p->places[0];
        p->next = p->places[p->now == p->places[0]];
    }
}

/* What this round has made is what the next one reads. */
static void end_round(struct rounds *r)
{
    for (uint32_t t = 0; t < r->loop->n_tokens; t++) {
        struct place *p = &r->tokens[t];
        if (!token_of(r, t)->carried)
            continue;
        p->empty = !p->made;
        if (p->made) {
            p->now = p->next;
            p->next = p->places[p->now == p->places[0]];
        }
        p->made = false;
    }
}

static int run_round(struct rounds *r)
{
    for (uint32_t s = 0; s < r->loop->n_steps; s++) {
        int code = run_step(r, s);
        if (code != DF_OK)
            return code;
    }
    end_round(r);
    return DF_OK;
}

static int run_rounds(struct rounds *r)
{
    const struct df_run *run = r->call->run;
    const bool measured = !run->firing.codes; /* by itself, in no run */
    bool on = true;
    for (r->round = 0; r->round < r->loop->most; r->round++) {
        int code = !measured && dfr_stopped(run) ? df_fail(r->call, "the run has stopped") : holds(r, &on);
        if (code == DF_OK && on)
            code = run_round(r);
        if (code != DF_OK || !on)
            return code;
    }
    return DF_OK;
}

/* Puts the last tokens where readers find them. */
static int give_last(struct rounds *r)
{
    int code = DF_OK;
    for (uint32_t t = 0; t < r->loop->n_tokens && code == DF_OK; t++)
        if (token_of(r, t)->out_port != DF_NONE && r->tokens[t].now != r->tokens[t].places[0])
            code = copy(r, DFR_COPY_D2D, r->tokens[t].places[0], r->tokens[t].now, token_of(r, t)->bytes);
    return code;
}

int df_loop(struct df_call *call, void *stream, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    const struct df_graph *g = call->run->graph;
    const struct df_kernel *kernel = &g->kernels[g->nodes[dfr_job_node(call->job)].kernel];
    const struct df_loop *loop = &g->loops[kernel->loop];
    struct place tokens[loop->n_tokens + 1u];
    double seconds[loop->n_steps + 1u];
    struct rounds r = { .call = call, .stream = stream, .graph = g, .loop = loop, .dims = dims, .scalars = scalars, .tmp = ports[kernel->n_ports - 1],
                        .tokens = tokens, .seconds = seconds, .on_host = !call->device || call->device->ops->runs_cpu_code };
    memset(seconds, 0, sizeof seconds);
    begin_tokens(&r, ports);
    int code = run_rounds(&r);
    if (code == DF_OK)
        code = give_last(&r);
    if (call->run->rounds)
        atomic_fetch_add_explicit(&call->run->rounds[kernel->loop], r.round, memory_order_relaxed);
    if (r.event) {
        wait(&r);                       /* nothing of the event is under way when it goes */
        call->device->ops->event_destroy(call->device, r.event);
    }
    return code;
}
