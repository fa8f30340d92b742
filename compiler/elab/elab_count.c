/* elab_count.c - counts for elab.c the nodes and streams that elaboration would create, before it creates any, so that
 * a program beyond the limits is rejected at once and without memory.
 *
 * A loop whose body does not depend on its variable counts as its trip count times one iteration. A nested graph
 * depends on nothing around its call, so it is counted once. Only loops whose inner bounds vary with the iteration are
 * walked iteration by iteration. Statements that elab.c will reject count as nothing.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/elab/elab.h"

struct count {
    struct dfc_unit *u;
    unsigned depth;
    const struct dfl_block *too_deep;   /* where blocks are nested too deep; else NULL */
    const struct dfl_stmt *passed;      /* the statement that passed a limit */
    char what[100];                     /* the limit, as a sentence */
    uint64_t of_loop;                   /* how many of them the statement makes, if it is a loop; 0: not known */
};

/* ---- sums ---- */

static void add(uint64_t *sum, uint64_t n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = UINT64_MAX;
}

static void add_tally(struct dfc_tally *sum, const struct dfc_tally *tally)
{
    add(&sum->nodes, tally->nodes);
    add(&sum->streams, tally->streams);
    add(&sum->steps, tally->steps);
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Is the sum, of which the statement makes `own`, within all limits? own NULL: not all of it is counted. */
static bool fits(struct count *c, const struct dfl_stmt *stmt, const struct dfc_tally *sum,
                 const struct dfc_tally *own)
{
    const struct { const char *what; uint64_t n, own; unsigned limit; } sums[] = {
        { "the program has more than %u nodes", sum->nodes, own ? own->nodes : 0, DFC_MAX_NODES },
        { "the program has more than %u streams", sum->streams, own ? own->streams : 0, DFC_MAX_STREAMS },
        { "elaborating the program takes more than %u statements and rounds of loops", sum->steps, 0, DFC_MAX_STEPS },
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (sums[i].n > sums[i].limit) {
            c->passed = stmt;
            snprintf(c->what, sizeof c->what, sums[i].what, sums[i].limit);
            c->of_loop = stmt->kind == DFL_STMT_FOR && sums[i].own < UINT64_MAX ? sums[i].own : 0;
            return false;
        }
    return true;
}

/* ---- does a loop's body depend on its variable? ---- */

static bool uses_variable(const struct dfl_expr *e, const char *variable)
{
    if (!e)
        return false;
    if (e->kind == DFL_EXPR_NAME && strcmp(e->s, variable) == 0)
        return true;
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        if (uses_variable(arg, variable))
            return true;
    return uses_variable(e->a, variable) || uses_variable(e->b, variable);
}

/* Only bounds and conditions count. Indices and scalars change nothing about how many nodes there are. */
static bool depends(const struct dfl_block *block, const char *variable)
{
    for (const struct dfl_stmt *stmt = block ? block->stmts : NULL; stmt; stmt = stmt->next)
        if (stmt->kind != DFL_STMT_CALL &&
            (uses_variable(stmt->from, variable) || uses_variable(stmt->to, variable) || uses_variable(stmt->cond, variable) ||
             depends(stmt->body, variable) || depends(stmt->otherwise, variable)))
            return true;
    return false;
}

/* ---- statements ---- */

static bool count_block(struct count *c, const struct dfl_block *block, const struct dfc_env *env,
                        struct dfc_tally *sum);

static bool value_of(struct count *c, const struct dfc_env *env, enum dfc_use use, const struct dfl_expr *expr,
                     int64_t *value)
{
    const struct dfc_names names = { .use = use, .env = env };
    bool known;
    return dfc_fold_int(c->u, &names, expr, value, &known);
}

static bool count_call(struct count *c, const struct dfl_stmt *stmt, struct dfc_tally *sum)
{
    struct dfc_callee *callee = dfc_callee_called(c->u, stmt);
    if (!callee)
        return true;
    add(&sum->nodes, 1);
    for (const struct dfl_target *target = stmt->targets; target; target = target->next)
        add(&sum->streams, strcmp(target->name.text, "_") != 0);
    if (!callee->graph)
        return true;
    callee->used = true;                /* it is not counted, nor told to be too large, once more by itself */
    if (!callee->counted) {
        struct dfc_tally inner = { .streams = callee->sig.n_ports };
        if (!count_block(c, callee->graph->body, NULL, &inner))
            return false;
        callee->tally = inner;
        callee->counted = true;
    }
    add_tally(sum, &callee->tally);
    return true;
}

/* A round and each statement of the body is a step, whatever the bounds inside. */
static uint64_t least_steps(const struct dfl_block *body, uint64_t rounds)
{
    uint64_t n = 1;
    for (const struct dfl_stmt *stmt = body->stmts; stmt; stmt = stmt->next)
        n++;
    return times(rounds, n);
}

/* One round, and the items that begin and end the loop. */
static bool count_while(struct count *c, const struct dfl_stmt *stmt, const struct dfc_env *outer, struct dfc_tally *sum)
{
    int64_t from;
    if (!value_of(c, outer, DFC_USE_ROUNDS, stmt->from, &from))
        return true;
    const struct dfc_env env = { stmt->var.text, from, outer ? outer->depth + 1 : 1, true, outer, true };
    add(&sum->nodes, 2);
    return count_block(c, stmt->body, &env, sum);
}

static bool count_for(struct count *c, const struct dfl_stmt *stmt, const struct dfc_env *outer,
                      struct dfc_tally *sum)
{
    int64_t from, to;
    if (stmt->cond)
        return count_while(c, stmt, outer, sum);
    if (!value_of(c, outer, DFC_USE_BOUND, stmt->from, &from) || !value_of(c, outer, DFC_USE_BOUND, stmt->to, &to) ||
        to <= from || (uint64_t)to - (uint64_t)from > DFC_MAX_STEPS)
        return true;
    bool each = depends(stmt->body, stmt->var.text);
    uint64_t rounds = (uint64_t)to - (uint64_t)from, n = each ? rounds : 1;
    if (!fits(c, stmt, &(const struct dfc_tally){ .steps = least_steps(stmt->body, rounds) }, NULL))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const struct dfc_env env = { stmt->var.text, from + (int64_t)i, outer ? outer->depth + 1 : 1, true, outer, false };
        struct dfc_tally round = { .steps = 1 };
        if (!count_block(c, stmt->body, &env, &round))
            return false;
        if (!each)
            round = (struct dfc_tally){ times(round.nodes, rounds), times(round.streams, rounds),
                                         times(round.steps, rounds) };
        add_tally(sum, &round);
        if (each && !fits(c, stmt, sum, NULL))
            return false;
    }
    return true;
}

static bool count_if(struct count *c, const struct dfl_stmt *stmt, const struct dfc_env *env, struct dfc_tally *sum)
{
    for (const struct dfl_stmt *arm = stmt; arm;) {
        int64_t value;
        if (!value_of(c, env, DFC_USE_CONDITION, arm->cond, &value))
            return true;
        if (value)
            return count_block(c, arm->body, env, sum);
        const struct dfl_stmt *next = dfc_next_arm(arm->otherwise);
        if (!next && arm->otherwise)
            return count_block(c, arm->otherwise, env, sum);
        arm = next;
    }
    return true;
}

/* false: a limit is passed; c says where. */
static bool count_block(struct count *c, const struct dfl_block *block, const struct dfc_env *env,
                        struct dfc_tally *sum)
{
    bool ok = c->depth < DFC_MAX_DEPTH;
    if (!ok)
        c->too_deep = block;
    c->depth++;
    for (const struct dfl_stmt *stmt = block->stmts; stmt && ok; stmt = stmt->next) {
        struct dfc_tally own = { .steps = 1 };
        ok = stmt->kind == DFL_STMT_CALL  ? count_call(c, stmt, &own)
             : stmt->kind == DFL_STMT_FOR ? count_for(c, stmt, env, &own)
                                          : count_if(c, stmt, env, &own);
        add_tally(sum, &own);
        ok = ok && fits(c, stmt, sum, &own);
    }
    c->depth--;
    return ok;
}

/* ---- the whole ---- */

static void report(const struct count *c)
{
    struct dfl_sink *sink = c->u->sink;
    const struct dfl_stmt *stmt = c->passed;
    if (c->too_deep) {
        dfl_error(sink, c->too_deep->loc, "blocks and graphs are nested more than %u deep", DFC_MAX_DEPTH);
        return;
    }
    dfl_error(sink, stmt->kind == DFL_STMT_CALL ? stmt->call_loc : stmt->loc, "%s", c->what);
    if (c->of_loop)
        dfl_hint(sink, "this loop makes %llu of them", (unsigned long long)c->of_loop);
}

bool dfc_elab_count(struct dfc_unit *u, struct dfc_callee *root, struct dfc_tally *tally)
{
    struct count c = { .u = u };
    struct dfl_sink *sink = u->sink;
    root->used = true;
    *tally = (struct dfc_tally){ 0 };
    u->sink = dfl_sink_new(NULL);       /* what is wrong with a statement is reported when it is elaborated */
    bool ok = u->sink ? count_block(&c, root->graph->body, NULL, tally) : dfc_no_memory(u);
    dfl_sink_free(u->sink);
    u->sink = sink;
    if (!ok && !u->no_memory)
        report(&c);
    return ok;
}
