/* fold_names.c - resolves for fold.c a name in an expression outside formulas: a loop variable, dimension, scalar,
 * param or arg, tried in this order. The purpose of the expression decides which of these it may contain.
 */
#include <string.h>

#include "compiler/types/fold.h"

const char *dfc_use_words(enum dfc_use use)
{
    switch (use) {
    case DFC_USE_PARAM: return "the value of a param";
    case DFC_USE_TYPE: return "a type";
    case DFC_USE_PORT: return "the format of a port";
    case DFC_USE_ANNOTATION: return "an annotation";
    case DFC_USE_BOUND: return "a loop's bound";
    case DFC_USE_INDEX: return "an index";
    case DFC_USE_STAGE: return "the number of a stage";
    case DFC_USE_CONDITION: return "a condition";
    case DFC_USE_SCALAR: return "a scalar";
    case DFC_USE_HINT: return "a hint";
    case DFC_USE_COST: return "a cost";
    case DFC_USE_THREADS: return "a number of threads";
    case DFC_USE_TOLERANCE: return "a tolerance";
    case DFC_USE_HALO: return "a halo";
    case DFC_USE_LAUNCH: return "the extent of a launch";
    case DFC_USE_PLATFORM: return "a platform";
    case DFC_USE_ARGUMENT: return "an argument of a function";
    case DFC_USE_TABLE: return "a table";
    case DFC_USE_RESOURCE: return "the number of a resource";
    case DFC_USE_PROMISE: return "a promise";
    case DFC_USE_MOST: return "the bound of an extent";
    case DFC_USE_ROUNDS: return "a loop's bound";
    case DFC_USE_WHILE: return "the condition of a loop";
    }
    return "an expression";
}

static bool is_structure(enum dfc_use use)
{
    if (use == DFC_USE_RESOURCE)
        return true;
    return use == DFC_USE_BOUND || use == DFC_USE_ROUNDS || use == DFC_USE_INDEX || use == DFC_USE_STAGE || use == DFC_USE_CONDITION;
}

/* Is it a part of the code, which is compiled once? */
static bool is_compiled(enum dfc_use use)
{
    return use == DFC_USE_LAUNCH || use == DFC_USE_ARGUMENT;
}

/* Is it evaluated when the program runs? */
static bool is_late(enum dfc_use use)
{
    return use == DFC_USE_SCALAR || use == DFC_USE_WHILE;
}

/* ---- names ---- */

static bool fold_variable(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                          unsigned variable, struct dfc_value *value)
{
    if (is_structure(names->use)) {
        dfl_error(u->sink, e->loc, "dimension '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
        dfl_hint(u->sink, "loops, conditions and indices use params only");
        return false;
    }
    if (!names->dims) {
        *value = dfc_value_unknown(DF_KIND_I64);
        return true;
    }
    if (!names->dims[variable]) {
        dfl_error(u->sink, e->loc, "dimension '%s' of '%s' is not known here: none of its in ports has it", e->s,
                  names->callee->name);
        dfl_hint(u->sink, "annotate the target where '%s' is called", names->callee->name);
        return false;
    }
    if (names->bounded && names->bounded[variable]) {
        dfl_error(u->sink, e->loc, "dimension '%s' of '%s' may differ from wave to wave, so it is no number in %s", e->s,
                  names->callee->name, dfc_use_words(names->use));
        dfl_hint(u->sink, "kernels that read the stream get its extents, in each wave");
        return false;
    }
    *value = dfc_value_integer((int64_t)names->dims[variable]);
    return true;
}

/* Dimensions and scalars of the callee. *found is false if e->s is neither. */
static bool fold_local(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                       struct dfc_value *value, bool *found)
{
    const struct dfc_sig *sig = &names->callee->sig;
    *found = true;
    for (unsigned i = 0; i < sig->n_variables; i++)
        if (strcmp(sig->variables[i].name.text, e->s) == 0)
            return fold_variable(u, names, e, i, value);
    const unsigned n_scalars = is_compiled(names->use) ? sig->n_scalars : sig->n_given; /* code has the hidden ones, too */
    for (unsigned i = 0; i < n_scalars; i++) {
        if (strcmp(sig->scalars[i]->name.text, e->s) != 0)
            continue;
        if (!is_late(names->use) && !is_compiled(names->use)) {
            dfl_error(u->sink, e->loc, "scalar '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
            return false;
        }
        *value = names->scalars ? names->scalars[i] : dfc_value_unknown(dfc_scalar_kind(sig->scalars[i]->type));
        return true;
    }
    *found = false;
    return true;
}

static bool fold_arg(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                     const struct dfc_param *arg, struct dfc_value *value)
{
    if (!is_late(names->use)) {
        dfl_error(u->sink, e->loc, "arg '%s' cannot be used in %s: it is known only when the program runs", e->s,
                  dfc_use_words(names->use));
        if (is_compiled(names->use))
            dfl_hint(u->sink, "give the kernel a scalar, and pass '%s' where it is called", e->s);
        else if ((!is_structure(names->use) || names->use == DFC_USE_ROUNDS) && names->use != DFC_USE_PARAM && names->use != DFC_USE_HINT &&
                 names->use != DFC_USE_PLATFORM && names->use != DFC_USE_TABLE)
            dfl_hint(u->sink, "to give a size when the program runs, write 'param %s = ... dynamic;'", e->s);
        else if (is_structure(names->use))
            dfl_hint(u->sink, "the structure of a graph is known when it is compiled: 'param %s = ...;', which 'dfc -D %s=...' replaces", e->s, e->s);
        return false;
    }
    *value = dfc_value_unknown(dfc_scalar_kind(arg->decl->scalar));
    uint64_t *code = dfc_alloc(u, 2 * sizeof *code);
    if (!code)
        return false;
    code[0] = DF_X_ARG;
    code[1] = arg->arg;
    value->code = code;
    value->n_code = 2;
    value->stack = 1;
    return true;
}

static bool fold_param(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e,
                       const struct dfc_param *param, struct dfc_value *value)
{
    if (!param->ready)
        return false; /* the error was reported at its declaration */
    bool fixed = (is_structure(names->use) && names->use != DFC_USE_ROUNDS) || is_compiled(names->use) || names->use == DFC_USE_PLATFORM ||
                 names->use == DFC_USE_TABLE;
    if (param->value.dynamic && fixed) {
        if (strcmp(param->value.dynamic, e->s) == 0)
            dfl_error(u->sink, e->loc, "dynamic param '%s' cannot be used in %s", e->s, dfc_use_words(names->use));
        else
            dfl_error(u->sink, e->loc, "param '%s' depends on the dynamic param '%s' and cannot be used in %s", e->s,
                      param->value.dynamic, dfc_use_words(names->use));
        if (is_compiled(names->use))
            dfl_hint(u->sink, "the code is compiled once: use a dimension, or give the kernel a scalar");
        else if (names->use == DFC_USE_PLATFORM)
            dfl_hint(u->sink, "a program is planned for its platform before sizes are known");
        else if (names->use == DFC_USE_TABLE)
            dfl_hint(u->sink, "a table is compiled into the program; an 'in' port takes what is known at start");
        else
            dfl_hint(u->sink, "a dynamic param may change formats and costs, not the structure of the graph");
        return false;
    }
    *value = param->value;
    if (names->kinds_only)
        *value = dfc_value_unknown(param->value.n.kind);
    return true;
}

/* Reports that a name means nothing here, with the closest name that does. */
static void unknown_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e)
{
    if (names->callee && names->callee->graph) {
        uint32_t id;
        if (dfc_index_find(&names->callee->streams, e->s, &id)) {
            dfl_error(u->sink, e->loc, "'%s' is a stream: it has no value that could be used in %s", e->s,
                      dfc_use_words(names->use));
            return;
        }
    }
    for (unsigned i = 0; names->use == DFC_USE_ARGUMENT && i < names->callee->sig.n_ports; i++)
        if (strcmp(names->callee->sig.ports[i].ast->name.text, e->s) == 0) {
            dfl_error(u->sink, e->loc, "port '%s' is an array: as an argument it stands alone", e->s);
            return;
        }
    dfl_error(u->sink, e->loc, "unknown name '%s' in %s", e->s, dfc_use_words(names->use));
    if (!dfl_sink_shows(u->sink))
        return;
    struct dfr_array list = { 0 };
    const char **item;
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = env->name;
    for (unsigned i = 0; names->callee && i < names->callee->sig.n_variables; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = names->callee->sig.variables[i].name.text;
    for (unsigned i = 0; names->callee && i < names->callee->sig.n_given; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = names->callee->sig.scalars[i]->name.text;
    for (uint32_t i = 0; i < u->params.names.n; i++)
        if ((item = dfr_array_add(&list, sizeof *item, 1)))
            *item = dfc_index_names(&u->params)[i];
    if (names->use == DFC_USE_PORT && !(list.n && dfl_suggest(e->s, list.items, list.n)))
        dfl_hint(u->sink, "a dimension variable must stand alone in some port: 'f32[%s]'", e->s);
    else
        dfc_hint_name(u, e->s, list.items, list.n);
    dfr_array_free(&list);
}

bool dfc_fold_name(struct dfc_unit *u, const struct dfc_names *names, const struct dfl_expr *e, struct dfc_value *value)
{
    for (const struct dfc_env *env = names->env; env; env = env->outer)
        if (strcmp(env->name, e->s) == 0) {
            if (env->rounds && names->use != DFC_USE_INDEX) {
                dfl_error(u->sink, e->loc, "'%s' counts the rounds of a loop with 'while', and cannot be used in %s", e->s, dfc_use_words(names->use));
                dfl_hint(u->sink, "all rounds are one text: '%s' stands in indices of streams only; a kernel can count them, as in 'n[%s + 1] = next(n[%s]);'", e->s,
                         e->s, e->s);
                return false;
            }
            *value = env->known ? dfc_value_integer(env->value) : dfc_value_unknown(DF_KIND_I64);
            return true;
        }
    bool found = false;
    if (names->callee && !fold_local(u, names, e, value, &found))
        return false;
    if (found)
        return true;
    uint32_t id;
    if (!dfc_index_find(&u->params, e->s, &id)) {
        unknown_name(u, names, e);
        return false;
    }
    const struct dfc_param *param = &dfc_params(u)[id];
    return param->arg != DF_NONE ? fold_arg(u, names, e, param, value) : fold_param(u, names, e, param, value);
}

