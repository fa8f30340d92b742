/* scalars.c - evaluates the scalar parameters of all nodes once before the run: constants, and expressions over args (scalars.h). The start of a run, of a
 * session's call and of a measurement calls it, and so do record/, ranks/ and subgraph/, which need the values of args. */
#include "runtime/graph/scalars.h"

#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/graph/expr.h"

static int evaluate(const struct df_graph *g, const struct df_scalar_value *s, const struct df_number *args,
                    union df_scalar *value, struct df_error *error)
{
    struct df_number number;
    int status;

    if (s->n_code > 0) {
        status = df_expr_run(g->code + s->first_code, s->n_code, g->strings, args, g->n_args, &number, error);
        return status != DF_OK ? status : df_number_to_scalar(number, (enum df_scalar_type)s->type, value, error);
    }
    switch (s->type) {
    case DF_S_I32:
        value->i32 = (int32_t)s->i;
        break;
    case DF_S_I64:
        value->i64 = s->i;
        break;
    case DF_S_F32:
        value->f32 = (float)s->f;
        break;
    case DF_S_F64:
        value->f64 = s->f;
        break;
    default:
        value->str = df_graph_string(g, s->str);
    }
    return DF_OK;
}

/* The values that the caller gave, else the defaults. */
static int args_as_numbers(const struct df_graph *g, const union df_scalar *given, struct df_number *numbers,
                           struct df_error *error)
{
    for (uint32_t a = 0; a < g->n_args; a++) {
        const struct df_arg *arg = &g->args[a];
        struct df_scalar_value stated = { .type = arg->type, .str = arg->str, .i = arg->i, .f = arg->f };
        union df_scalar value;

        if (given) {
            value = given[a];
        } else {
            if (!arg->has_default)
                return dfr_error(error, DF_E_ARGUMENT, "arg '%s' has no default and got no value",
                                 df_graph_string(g, arg->name));
            evaluate(g, &stated, NULL, &value, error);
        }
        numbers[a] = df_scalar_to_number(value, (enum df_scalar_type)arg->type);
    }
    return DF_OK;
}

/* Repeats the error with the first node and scalar that it is of. */
static int say_where(const struct df_graph *g, uint32_t scalar, int status, const struct df_error *why,
                     struct df_error *error)
{
    char name[256];
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const struct df_work *work = &g->works[g->nodes[v].work];
        const struct df_kernel *kernel = &g->kernels[work->kernel];
        for (uint32_t s = 0; s < kernel->n_scalars; s++) {
            if (g->node_scalars[work->first_scalar + s] != scalar)
                continue;
            df_node_name(g, v, name, sizeof name);
            return dfr_error(error, status, "node '%s': scalar '%s': %s", name,
                             df_graph_string(g, g->kscalars[kernel->first_scalar + s].name), why->text);
        }
    }
    return dfr_error(error, status, "%s", why->text);
}

bool dfr_scalars_scratch_make(const struct df_graph *g, struct dfr_scalars_scratch *scratch)
{
    scratch->numbers = malloc((g->n_args + 1) * sizeof *scratch->numbers);
    scratch->by_id = malloc((g->n_scalars + 1) * sizeof *scratch->by_id);
    return scratch->numbers && scratch->by_id;
}

void dfr_scalars_scratch_free(struct dfr_scalars_scratch *scratch)
{
    free(scratch->numbers);
    free(scratch->by_id);
}

int dfr_scalars_fill(const struct df_graph *g, const union df_scalar *args, const struct dfr_scalars_scratch *scratch,
                     union df_scalar *scalars, struct df_error *error)
{
    struct df_error why = { "" };
    int status = args_as_numbers(g, args, scratch->numbers, error);

    for (uint32_t i = 0; status == DF_OK && i < g->n_scalars; i++) {
        status = evaluate(g, &g->scalars[i], scratch->numbers, &scratch->by_id[i], &why);
        if (status != DF_OK)
            status = say_where(g, i, status, &why, error);
    }
    for (uint32_t i = 0; status == DF_OK && i < g->n_node_scalars; i++)
        scalars[i] = scratch->by_id[g->node_scalars[i]];
    return status;
}

int dfr_scalars_create(const struct df_graph *g, const union df_scalar *args, union df_scalar **scalars,
                       struct df_error *error)
{
    union df_scalar *all = malloc((g->n_node_scalars + 1) * sizeof *all);
    struct dfr_scalars_scratch scratch;
    bool good = dfr_scalars_scratch_make(g, &scratch) && all;
    int status = good ? dfr_scalars_fill(g, args, &scratch, all, error) : dfr_error_memory(error);

    dfr_scalars_scratch_free(&scratch);
    if (status == DF_OK)
        *scalars = all;
    else
        free(all);
    return status;
}
