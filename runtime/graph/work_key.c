/* work_key.c - writes a work's dimensions and scalars as text (work_key.h), the key of measured times: for
 * measurements, --learn, and profiles/, which looks them up. */
#include "runtime/graph/work_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/error.h"
#include "runtime/graph/expr.h"

static struct df_number given_number(const struct df_arg *arg, union df_scalar value)
{
    switch (arg->type) {
    case DF_S_F32: return (struct df_number){ .kind = DF_KIND_F64, .f = value.f32 };
    case DF_S_F64: return (struct df_number){ .kind = DF_KIND_F64, .f = value.f64 };
    case DF_S_STR: return (struct df_number){ .kind = DF_KIND_STR, .s = value.str };
    case DF_S_I32: return (struct df_number){ .kind = DF_KIND_I64, .i = value.i32 };
    default: return (struct df_number){ .kind = DF_KIND_I64, .i = value.i64 };
    }
}

/* The graph's args as given, else by their defaults, in the form that df_expr_run() wants. has[i]: arg i has a
 * value. */
static void arg_values(const struct df_graph *graph, const union df_scalar *given, struct df_number *numbers,
                       bool *has)
{
    for (uint32_t i = 0; i < graph->n_args; i++) {
        const struct df_arg *arg = &graph->args[i];
        has[i] = given || arg->has_default;
        if (given) {
            numbers[i] = given_number(arg, given[i]);
            continue;
        }
        numbers[i] = (struct df_number){ .kind = DF_KIND_I64, .i = arg->i };
        if (arg->type == DF_S_F32 || arg->type == DF_S_F64)
            numbers[i] = (struct df_number){ .kind = DF_KIND_F64, .f = arg->f };
        else if (arg->type == DF_S_STR)
            numbers[i] = (struct df_number){ .kind = DF_KIND_STR, .s = df_graph_string(graph, arg->str) };
    }
}

static void print_quoted(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < 32)
            fprintf(out, "\\x%02x", (unsigned char)*s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

static void print_number(FILE *out, const struct df_number *n)
{
    if (n->kind == DF_KIND_STR)
        print_quoted(out, n->s ? n->s : "");
    else if (n->kind == DF_KIND_F64)
        fprintf(out, "%.17g", n->f);
    else
        fprintf(out, "%" PRId64, n->i);
}

static bool uses_arg_without_default(const uint64_t *code, uint32_t n_code, const bool *has)
{
    for (uint32_t i = 0; i < n_code; i++) {
        unsigned op = (unsigned)(code[i] & 0xff);
        if (op == DF_X_ARG && !has[code[i + 1]])
            return true;
        if (op <= DF_X_ARG)
            i++;                        /* its operand */
    }
    return false;
}

static void print_scalar(FILE *out, const struct df_graph *g, const struct df_scalar_value *s,
                         const struct df_number *args, const bool *has)
{
    struct df_number n = { .kind = DF_KIND_I64, .i = s->i };
    if (s->n_code) {
        const uint64_t *code = g->code + s->first_code;
        if (uses_arg_without_default(code, s->n_code, has) ||
            df_expr_run(code, s->n_code, g->strings, args, g->n_args, &n, NULL) != DF_OK) {
            fputc('?', out);
            return;
        }
    } else if (s->type == DF_S_F32 || s->type == DF_S_F64) {
        n = (struct df_number){ .kind = DF_KIND_F64, .f = s->f };
    } else if (s->type == DF_S_STR) {
        n = (struct df_number){ .kind = DF_KIND_STR, .s = df_graph_string(g, s->str) };
    }
    print_number(out, &n);
}

static void print_scalars(FILE *out, const struct df_graph *g, const struct df_work *work, const struct df_number *args,
                          const bool *has)
{
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    for (uint32_t i = 0; i < kernel->n_scalars; i++) {
        fprintf(out, "%s%s=", i ? " " : "", df_graph_string(g, g->kscalars[kernel->first_scalar + i].name));
        print_scalar(out, g, &g->scalars[g->node_scalars[work->first_scalar + i]], args, has);
    }
}

static void print_dims(FILE *out, const struct df_graph *g, const struct df_work *work)
{
    const struct df_kernel *kernel = &g->kernels[work->kernel];
    for (uint32_t i = 0; i < kernel->n_dims; i++) {
        const char *name = df_graph_string(g, g->dim_names[kernel->first_dim + i]);
        fprintf(out, "%s%s=%" PRIu64, i ? " " : "", name, g->dims[work->first_dim + i]);
    }
}

int dfr_work_key_make_for(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                          const union df_scalar *given, struct dfr_work_key *key, struct df_error *error)
{
    const struct df_work *w = &graph->works[work];
    const struct df_kernel *kernel = &graph->kernels[w->kernel];
    struct dfr_work_key made = { .kernel = df_graph_string(graph, kernel->name), .job_bytes = w->job_bytes };
    uint32_t code = emulated ? DF_CLASS_CPU : cls;
    made.hash = kernel->code_hash[code != DF_CLASS_CPU];

    struct df_number *args = malloc((graph->n_args + 1) * sizeof *args);
    bool *has = malloc((graph->n_args + 1) * sizeof *has);
    size_t size;
    FILE *dims = open_memstream(&made.dims, &size);
    FILE *scalars = open_memstream(&made.scalars, &size);
    bool whole = args && has && dims && scalars;
    if (whole) {
        arg_values(graph, given, args, has);
        print_dims(dims, graph, w);
        print_scalars(scalars, graph, w, args, has);
    }
    if (dims && fclose(dims) != 0)
        whole = false;
    if (scalars && fclose(scalars) != 0)
        whole = false;
    free(args);
    free(has);
    if (!whole) {
        dfr_work_key_free(&made);
        return dfr_error_memory(error);
    }
    *key = made;
    return DF_OK;
}

int dfr_work_key_make(const struct df_graph *graph, uint32_t work, uint32_t cls, bool emulated,
                      struct dfr_work_key *key, struct df_error *error)
{
    return dfr_work_key_make_for(graph, work, cls, emulated, NULL, key, error);
}

void dfr_work_key_free(struct dfr_work_key *key)
{
    free(key->dims);
    free(key->scalars);
    key->dims = key->scalars = NULL;
}
