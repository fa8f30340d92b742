/* call_check.c - checks a call in a graph against the signature of its callee, for check_graph.c: the number of inputs,
 * scalars and outputs, and the hints (@…). Elaboration reads a call's scalars and hints through it. Formats and extents
 * depend on values, so elab/dims.c checks them during elaboration.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "compiler/declare/declare.h"
#include "runtime/graph/builder.h"

/* ---- phrases of messages ---- */

/* "2 inputs (a, b)", cut if it is too long for `text`. */
static void list_ports(const struct dfc_sig *sig, const uint16_t *ports, unsigned n, const char *what, char *text,
                       size_t size)
{
    size_t at = n ? (size_t)snprintf(text, size, "%u %s%s", n, what, n == 1 ? "" : "s")
                  : (size_t)snprintf(text, size, "no %ss", what);
    for (unsigned i = 0; i < n && at < size; i++) {
        if (i == 6 && n > 7) {
            at += (size_t)snprintf(text + at, size - at, ", ...");
            break;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : " (", sig->ports[ports[i]].ast->name.text);
    }
    if (n && at < size)
        snprintf(text + at, size - at, ")");
}

static const char *scalar_names(struct dfc_unit *u, const struct dfc_sig *sig)
{
    char text[400];
    size_t at = (size_t)snprintf(text, sizeof text, "%u scalar%s", sig->n_given, sig->n_given == 1 ? "" : "s");
    for (unsigned i = 0; i < sig->n_given && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ", " : " (", sig->scalars[i]->name.text);
    if (at < sizeof text)
        snprintf(text + at, sizeof text - at, ")");
    return dfc_printf(u, "%s", text);
}

void dfc_call_hint_order(struct dfc_unit *u, const struct dfc_callee *callee)
{
    const struct dfc_sig *sig = &callee->sig;
    const char *form = "";
    unsigned n = 0;
    for (unsigned i = 0; i < sig->n_in; i++)
        form = dfc_printf(u, "%s%s%s", form, n++ ? ", " : "", sig->ports[sig->in_port[i]].ast->name.text);
    for (unsigned i = 0; i < sig->n_given; i++)
        form = dfc_printf(u, "%s%s%s", form, n++ ? ", " : "", sig->scalars[i]->name.text);
    dfl_hint(u->sink, "a call has its streams first and its scalars last: '%s(%s)'", callee->name, form);
}

static void note_declared(struct dfc_unit *u, const struct dfc_callee *callee)
{
    if (callee->built_in)
        return;
    dfl_note(u->sink, callee->loc, "'%s' is declared here", callee->name);
}

/* ---- arguments ---- */

static unsigned count_positional(const struct dfl_stmt *stmt)
{
    unsigned n = 0;
    for (const struct dfl_actual *actual = stmt->actuals; actual && !actual->keyword.text; actual = actual->next)
        n++;
    return n;
}

const struct dfl_expr *dfc_call_scalar(const struct dfl_stmt *stmt, const struct dfc_sig *sig, unsigned scalar)
{
    unsigned position = 0;
    if (scalar >= sig->n_given)
        return sig->hidden[scalar - sig->n_given].value;
    for (const struct dfl_actual *actual = stmt->actuals; actual; actual = actual->next, position++)
        if (actual->keyword.text ? strcmp(actual->keyword.text, sig->scalars[scalar]->name.text) == 0
                                 : position == sig->n_in + scalar)
            return actual->expr;
    return NULL;
}

/* The first input that the call gives by its name, as only scalars are given. NULL: none. */
static const char *named_input(const struct dfl_stmt *stmt, const struct dfc_sig *sig)
{
    for (const struct dfl_actual *actual = stmt->actuals; actual; actual = actual->next)
        for (unsigned i = 0; i < sig->n_in && actual->keyword.text; i++)
            if (strcmp(sig->ports[sig->in_port[i]].ast->name.text, actual->keyword.text) == 0)
                return actual->keyword.text;
    return NULL;
}

static bool check_counts(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee)
{
    const struct dfc_sig *sig = &callee->sig;
    unsigned n = count_positional(stmt);
    if (n >= sig->n_in && n <= sig->n_in + sig->n_given)
        return true;
    char inputs[400];
    list_ports(sig, sig->in_port, sig->n_in, "input", inputs, sizeof inputs);
    dfl_error(u->sink, stmt->call_loc, "'%s' takes %s%s%s, but this call has %u argument%s", callee->name, inputs,
              sig->n_given ? " and " : "", sig->n_given ? scalar_names(u, sig) : "", n, n == 1 ? "" : "s");
    const char *port = named_input(stmt, sig);
    if (port)
        dfl_hint(u->sink, "'%s' is a port: streams are given by position", port);
    note_declared(u, callee);
    return false;
}

/* Is this keyword a scalar of the callee that was not given before? */
static bool check_keyword(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const struct dfl_actual *keyword)
{
    const struct dfc_sig *sig = &callee->sig;
    const char *name = keyword->keyword.text;
    unsigned i = 0;
    while (i < sig->n_given && strcmp(sig->scalars[i]->name.text, name) != 0)
        i++;
    if (i == sig->n_given) {
        struct dfr_array list = { 0 };
        const char **item;
        dfl_error(u->sink, keyword->keyword.loc, "'%s' has no scalar '%s'", callee->name, name);
        for (unsigned k = 0; k < sig->n_given; k++)
            if ((item = dfr_array_add(&list, sizeof *item, 1)))
                *item = sig->scalars[k]->name.text;
        bool port = false;
        for (unsigned p = 0; p < sig->n_ports; p++)
            port |= strcmp(sig->ports[p].ast->name.text, name) == 0;
        if (port)
            dfl_hint(u->sink, "'%s' is a port: streams are given by position", name);
        else
            dfc_hint_name(u, name, list.items, list.n);
        dfr_array_free(&list);
        return false;
    }
    if (dfc_call_scalar(stmt, sig, i) == keyword->expr)
        return true;
    dfl_error(u->sink, keyword->keyword.loc, "scalar '%s' is given twice", name);
    return false;
}

static bool check_scalars(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const struct dfc_names *scope)
{
    const struct dfc_sig *sig = &callee->sig;
    struct dfc_names names = *scope;
    bool ok = true, by_name = false;
    names.use = DFC_USE_SCALAR;
    for (const struct dfl_actual *actual = stmt->actuals; actual; actual = actual->next) {
        if (by_name && !actual->keyword.text) {
            dfl_error(u->sink, actual->expr->loc, "arguments by position come before those by name");
            return false;
        }
        by_name |= actual->keyword.text != NULL;
        if (actual->keyword.text)
            ok &= check_keyword(u, stmt, callee, actual);
    }
    for (unsigned i = 0; i < sig->n_given && ok; i++) {
        const struct dfl_expr *e = dfc_call_scalar(stmt, sig, i);
        struct dfc_value value;
        if (!e) {
            dfl_error(u->sink, stmt->call_loc, "scalar '%s' of '%s' is not given", sig->scalars[i]->name.text,
                      callee->name);
            dfc_call_hint_order(u, callee);
            note_declared(u, callee);
            ok = false;
        } else {
            const char *what = dfc_printf(u, "scalar '%s' of '%s'", sig->scalars[i]->name.text, callee->name);
            uint32_t id;
            if (dfc_fold(u, &names, e, &value)) {
                ok &= dfc_convert(u, e->loc, what, sig->scalars[i]->type, &value);
            } else {
                ok = false;
                if (e->kind == DFL_EXPR_INDEX || (e->kind == DFL_EXPR_NAME && dfc_index_find(&scope->callee->streams, e->s, &id)))
                    dfc_call_hint_order(u, callee);
            }
        }
    }
    return ok;
}

/* ---- targets ---- */

static bool check_annotation(struct dfc_unit *u, const struct dfl_target *target, const struct dfc_callee *callee,
                             const struct dfc_port *port, const struct dfc_names *scope)
{
    struct dfc_names names = *scope;
    struct dfc_format format;
    char other[DFC_OTHER_NAME];
    names.use = DFC_USE_ANNOTATION;
    if (!dfc_format_fold(u, &names, target->annotation, &format))
        return false;
    if (format.elem == port->elem && format.rank == port->rank)
        return true;
    if (format.elem != port->elem)
        dfl_error(u->sink, target->annotation->loc, "'%s' is annotated as %s, but output '%s' of '%s' is %s",
                  target->name.text, df_elem_name((enum df_elem)format.elem), port->ast->name.text, callee->name,
                  df_elem_name(port->elem));
    else
        dfl_error(u->sink, target->annotation->loc,
                  "'%s' is annotated with %u dimension%s, but output '%s' of '%s' has %u", target->name.text,
                  format.rank, format.rank == 1 ? "" : "s", port->ast->name.text, callee->name, port->rank);
    dfl_note(u->sink, port->ast->loc, "the output is declared here");
    if (format.elem != port->elem && dfc_name_for_element(u, callee->name, (enum df_elem)format.elem, other))
        dfl_hint(u->sink, "'%s' gives %s", other, df_elem_name((enum df_elem)format.elem));
    return false;
}

static bool check_targets(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                          const struct dfc_names *scope)
{
    const struct dfc_sig *sig = &callee->sig;
    unsigned n = 0;
    bool ok = true;
    for (const struct dfl_target *target = stmt->targets; target; target = target->next)
        n++;
    if (n != sig->n_out) {
        char outputs[400];
        list_ports(sig, sig->out_port, sig->n_out, "output", outputs, sizeof outputs);
        if (n == 0)
            dfl_error(u->sink, stmt->call_loc, "'%s' has %s, and nothing takes %s", callee->name, outputs,
                      sig->n_out == 1 ? "it" : "them");
        else
            dfl_error(u->sink, stmt->targets->loc, "'%s' has %s, but this statement has %u target%s", callee->name,
                      outputs, n, n == 1 ? "" : "s");
        note_declared(u, callee);
        if (n == 0)
            dfl_hint(u->sink, "'_ = %s(...)' discards an output", callee->name);
        return false;
    }
    n = 0;
    for (const struct dfl_target *target = stmt->targets; target; target = target->next, n++)
        if (target->annotation && !callee->built_in) /* its format is known with its inputs' */
            ok &= check_annotation(u, target, callee, &sig->ports[sig->out_port[n]], scope);
    return ok;
}

/* ---- hints ---- */

static bool is_passes(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "passes") == 0;
}

static bool hint_value(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_names *names,
                       struct dfc_hints *hints)
{
    struct dfc_value value;
    if (!hint->arg) {
        dfl_error(u->sink, hint->loc, "'@%s' needs a value: '@%s(%s)'", hint->name.text, hint->name.text,
                  hint->name.text[0] == 'r' ? "0.5" : "2");
        return false;
    }
    if (!dfc_fold(u, names, hint->arg, &value))
        return false;
    if (value.seconds) {
        dfl_error(u->sink, hint->arg->loc, "'@%s' takes a number, and no time", hint->name.text);
        return false;
    }
    if (is_passes(hint) || strcmp(hint->name.text, "parts") == 0) {
        if (value.n.kind != DF_KIND_I64 || (value.known && (value.n.i < 1 || value.n.i > DF_MAX_PARTS))) {
            dfl_error(u->sink, hint->arg->loc, "'@%s' takes a number of %s, from 1 to %u", hint->name.text, hint->name.text, DF_MAX_PARTS);
            return false;
        }
        *(is_passes(hint) ? &hints->passes : &hints->parts) = value.known ? (uint32_t)value.n.i : 0;
        return true;
    }
    if (strcmp(hint->name.text, "depth") == 0) {
        if (value.n.kind != DF_KIND_I64 || (value.known && (value.n.i < 1 || value.n.i > 65535))) {
            dfl_error(u->sink, hint->arg->loc, "'@depth' takes a number of tokens, from 1 to 65535");
            return false;
        }
        hints->depth = value.known ? (uint32_t)value.n.i : 0;
        return true;
    }
    double rate = value.n.kind == DF_KIND_F64 ? value.n.f : (double)value.n.i;
    if (value.n.kind == DF_KIND_STR || (value.known && !(rate > 0 && rate <= 1))) {
        dfl_error(u->sink, hint->arg->loc, "'@rate' takes how often the node fires, above 0 and up to 1");
        return false;
    }
    if (value.known && (float)rate <= 0) {
        dfl_error(u->sink, hint->arg->loc, "'@rate' is kept in 32 bits, and there %g becomes 0", rate);
        dfl_hint(u->sink, "the least rate is %.2g", (double)FLT_TRUE_MIN);
        return false;
    }
    hints->rate = value.known ? rate : 0;
    return true;
}

static bool hint_class(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee,
                       struct dfc_hints *hints)
{
    const char *name = hint->name.text;
    uint32_t cls;
    if (!dfc_index_find(&u->classes, name, &cls) || hint->arg) {
        struct dfr_array list = { 0 };
        const char **item;
        dfl_error(u->sink, hint->loc,
                  hint->arg && dfc_index_find(&u->classes, name, &cls) ? "'@%s' takes no value" : "unknown hint '@%s'",
                  name);
        for (uint32_t c = 0; c < u->classes.names.n && !hint->arg; c++)
            if ((item = dfr_array_add(&list, sizeof *item, 1)))
                *item = dfc_index_names(&u->classes)[c];
        if ((item = dfr_array_add(&list, sizeof *item, 10))) {
            item[0] = "depth";
            item[1] = "rate";
            item[2] = "quiet";
            item[3] = "nofuse";
            item[4] = "parts";
            item[5] = "passes";
            item[6] = "worker";
            item[7] = "stage";
            item[8] = "newest";
            item[9] = "every";
        }
        const char *close = list.n ? dfl_suggest(name, list.items, list.n) : NULL;
        if (close)
            dfl_hint(u->sink, "did you mean '@%s'?", close);
        else
            dfl_hint(u->sink, "hints are @cpu, @gpu, @depth(n), @rate(p), @parts(n), @passes(n), @stage(n), @newest(n), @every(t), @worker, @quiet and @nofuse");
        dfr_array_free(&list);
        return false;
    }
    if (!((callee->code_classes | callee->cost_classes) >> cls & 1)) {
        dfl_error(u->sink, hint->loc, "'@%s' on '%s', which has no %s variant", name, callee->name, name);
        note_declared(u, callee);
        dfl_hint(u->sink, strcmp(name, "gpu") == 0 ? "'gpu \"file.cu\"' gives it one, and formulas have code for both; without '@gpu' it runs on the CPU"
                          : strcmp(name, "cpu") == 0 ? "'cpu \"file.c\"' gives it one, and formulas have code for both"
                                                     : "a cost for the class, or no hint");
        return false;
    }
    hints->cls = (int)cls;
    return true;
}

static bool is_quiet(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "quiet") == 0;
}

static bool is_nofuse(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "nofuse") == 0;
}

static bool hint_alone(struct dfc_unit *u, const struct dfl_hint *hint)
{
    if (hint->arg)
        dfl_error(u->sink, hint->loc, "'@%s' takes no value", hint->name.text);
    return !hint->arg;
}

static bool hint_nofuse(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee)
{
    if (callee->kernel->has_formulas)
        return hint_alone(u, hint);
    dfl_error(u->sink, hint->loc, "'@nofuse' on '%s', which has no formulas", callee->name);
    dfl_hint(u->sink, "only kernels that are written as formulas are fused");
    return false;
}

static bool is_worker(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "worker") == 0;
}

/* Why the kernel's calls cannot be on another rank than the first; *hint is what to do. NULL: they can. */
static const char *why_not_on_workers(const struct dfc_callee *callee, const char **hint)
{
    const unsigned traits = callee->kernel->traits;

    *hint = "'@worker' stands on what reads or writes in each wave: a source, or a sink";
    if (callee->sig.n_in > 0 && callee->sig.n_out > 0)
        return "is neither a source nor a sink";
    if (traits & DFL_ONCE)
        return "fires once, for all waves";
    if (callee->sig.n_in == 0 && traits & (DFL_STREAM | DFL_ORDERED) && (~traits & (DFL_RESTART | DFL_RESUME))) {
        *hint = "a stream can if it is 'restart' and 'resume', as those of std/io are: it begins with any wave, again and again";
        return "cannot give any wave by its number";
    }
    if (callee->sig.n_out == 0 && traits & DFL_ORDERED && !(traits & DFL_RESUME)) {
        *hint = "each rank gets some waves only. A sink without 'ordered' can be there, and one of std/io that writes a file for each wave";
        return "gets all waves in order";
    }
    return NULL;
}

static bool hint_worker(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee, struct dfc_hints *hints)
{
    const char *what, *why;
    hints->worker = hint;
    if (!hint_alone(u, hint))
        return false;
    if (!(why = why_not_on_workers(callee, &what)))
        return true;
    dfl_error(u->sink, hint->loc, "'@worker' on '%s', which %s", callee->name, why);
    note_declared(u, callee);
    dfl_hint(u->sink, "%s", what);
    return false;
}

static bool is_stage(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "stage") == 0;
}

/* Stages are calls of graph main that fire in each wave. */
static bool check_stage_place(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee, const struct dfc_callee *graph)
{
    if (strcmp(graph->name, "main") != 0) {
        dfl_error(u->sink, hint->loc, "'@stage' in graph '%s': stages are made of the calls in graph 'main'", graph->name);
        dfl_hint(u->sink, "the call of '%s' in 'main' may have '@stage(n)', and all in it is of that stage", graph->name);
        return false;
    }
    if (callee->graph || callee->built_in || !(callee->kernel->traits & DFL_ONCE))
        return true;
    dfl_error(u->sink, hint->loc, "'@stage' on '%s', which fires once, for all waves", callee->name);
    note_declared(u, callee);
    dfl_hint(u->sink, "what fires once is in no stage: rank 0 makes it, and sends it to the ranks that read it");
    return false;
}

static bool hint_stage(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee, const struct dfc_names *scope,
                       struct dfc_hints *hints)
{
    struct dfc_names names = *scope;
    int64_t number;
    bool known;
    names.use = DFC_USE_STAGE;
    if (!check_stage_place(u, hint, callee, scope->callee))
        return false;
    if (!hint->arg) {
        dfl_error(u->sink, hint->loc, "'@stage' needs a value: '@stage(0)'");
        dfl_hint(u->sink, "calls with one number are one stage; a stage reads what those before it make");
        return false;
    }
    if (!dfc_fold_int(u, &names, hint->arg, &number, &known))
        return false;
    if (known && (number < 0 || number >= DF_MAX_STAGES)) {
        dfl_error(u->sink, hint->arg->loc, "'@stage' takes a number from 0 to %u", DF_MAX_STAGES - 1);
        return false;
    }
    hints->stage = known ? (uint32_t)number + 1 : 0;
    return true;
}

static bool is_newest(const struct dfl_hint *hint)
{
    return strcmp(hint->name.text, "newest") == 0;
}

static bool is_live(const struct dfl_hint *hint)
{
    return is_newest(hint) || strcmp(hint->name.text, "every") == 0;
}

/* Frames that wait have places of one size. */
static bool check_fixed(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee)
{
    for (unsigned i = 0; i < callee->sig.n_out; i++) {
        const struct dfc_port *port = &callee->sig.ports[callee->sig.out_port[i]];
        for (unsigned d = 0; d < port->rank; d++)
            if (port->dims[d].own) {
                dfl_error(u->sink, hint->loc, "'@newest' on '%s', whose output '%s' has other extents in each wave", callee->name, port->ast->name.text);
                note_declared(u, callee);
                dfl_hint(u->sink, "frames that wait have places of one size");
                return false;
            }
    }
    return true;
}

/* A stream on the CPU that depends on the clock. */
static bool check_live(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee)
{
    const char *name = hint->name.text;
    if (callee->built_in || !(callee->kernel->traits & DFL_STREAM)) {
        dfl_error(u->sink, hint->loc, "'@%s' on '%s', which is no stream", name, callee->name);
        note_declared(u, callee);
        dfl_hint(u->sink, "it is for sources that give a frame in each call until they return DF_END: 'kernel camera(out f: u8[h, w]) stream …'");
        return false;
    }
    if (!((callee->code_classes | callee->cost_classes) >> DF_CLASS_CPU & 1)) {
        dfl_error(u->sink, hint->loc, "'@%s' on '%s', which has no cpu variant", name, callee->name);
        note_declared(u, callee);
        dfl_hint(u->sink, "a thread of the host waits for its frames");
        return false;
    }
    return !is_newest(hint) || check_fixed(u, hint, callee);
}

static bool hint_live(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee, const struct dfc_names *names, struct dfc_hints *hints)
{
    struct dfc_value value;
    if (!check_live(u, hint, callee))
        return false;
    if (!hint->arg) {
        dfl_error(u->sink, hint->loc, is_newest(hint) ? "'@newest' needs a value: '@newest(2)'" : "'@every' needs a value: '@every(33ms)'");
        return false;
    }
    if (!dfc_fold(u, names, hint->arg, &value))
        return false;
    if (is_newest(hint) && (value.n.kind != DF_KIND_I64 || value.seconds || (value.known && (value.n.i < 1 || value.n.i > DF_MAX_NEWEST)))) {
        dfl_error(u->sink, hint->arg->loc, "'@newest' takes a number of frames, from 1 to %u", DF_MAX_NEWEST);
        return false;
    }
    if (!is_newest(hint) && (value.seconds != 1 || (value.known && !(value.n.f > 0 && value.n.f < DF_LIMIT_JOB_S)))) {
        dfl_error(u->sink, hint->arg->loc, "'@every' takes a time above 0 and below %g s", DF_LIMIT_JOB_S);
        dfl_hint(u->sink, "units of time are s, ms, us and ns: '@every(33ms)'");
        return false;
    }
    if (is_newest(hint))
        hints->live.newest = value.known ? (uint32_t)value.n.i : 0;
    else
        hints->live.every_s = value.known ? value.n.f : 0;
    return true;
}

/* Nodes of live sources are the host's. */
static bool check_live_class(struct dfc_unit *u, const struct dfl_hint *live, const struct dfl_hint *class, struct dfc_hints *hints)
{
    if (!live || hints->cls == -1 || hints->cls == DF_CLASS_CPU) {
        hints->cls = live ? DF_CLASS_CPU : hints->cls;
        return true;
    }
    dfl_error(u->sink, class->loc, "'@%s' beside '@%s'", class->name.text, live->name.text);
    dfl_hint(u->sink, "a thread of the host waits for its frames, so it is '@cpu'");
    return false;
}

static bool hint_parts(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee,
                       const struct dfc_names *names, struct dfc_hints *hints)
{
    if (callee->sig.split || callee->kernel->has_formulas)
        return hint_value(u, hint, names, hints);
    dfl_error(u->sink, hint->loc, "'@parts' on '%s', which cannot be divided", callee->name);
    note_declared(u, callee);
    dfl_hint(u->sink, "'split' on its ports says along which dimension it can, and 'halo' what a part reads besides");
    return false;
}

/* Does the kernel have accs, and make nothing else? *other: the first port that it makes beside accs. */
static bool makes_accs(const struct dfc_sig *sig, const char **other)
{
    bool any = false;
    *other = NULL;
    for (unsigned i = sig->n_out; i-- > 0;) {
        const struct dfl_port *port = sig->ports[sig->out_port[i]].ast;
        any |= port->mode == DFL_ACC;
        *other = port->mode == DFL_ACC ? *other : port->name.text;
    }
    *other = any ? *other : NULL;
    return any && !*other;
}

static bool hint_passes(struct dfc_unit *u, const struct dfl_hint *hint, const struct dfc_callee *callee,
                        const struct dfc_names *names, struct dfc_hints *hints)
{
    const char *other;
    hints->passes_loc = hint->loc;
    if (!makes_accs(&callee->sig, &other)) {
        dfl_error(u->sink, hint->loc, other ? "'@passes' on '%s', which makes '%s' in each wave" : "'@passes' on '%s', which has no 'acc'",
                  callee->name, other);
        note_declared(u, callee);
        dfl_hint(u->sink, "the waves go by several times for the parts of an 'acc', if its kernel makes nothing else");
        return false;
    }
    if (callee->sig.split || callee->kernel->has_formulas)
        return hint_value(u, hint, names, hints);
    dfl_error(u->sink, hint->loc, "'@passes' on '%s', which cannot be divided", callee->name);
    note_declared(u, callee);
    dfl_hint(u->sink, "'split' on its ports says along which dimension it can: then some parts are changed in each pass");
    return false;
}

/* Each pass has a part at least. */
static bool check_passes(struct dfc_unit *u, const struct dfc_hints *hints)
{
    if (!hints->parts || hints->passes <= hints->parts)
        return true;
    dfl_error(u->sink, hints->passes_loc, "'@passes(%u)' beside '@parts(%u)'", (unsigned)hints->passes, (unsigned)hints->parts);
    dfl_hint(u->sink, "each pass changes one part at least, so there are no more passes than parts");
    return false;
}

bool dfc_call_is_quiet(const struct dfl_stmt *stmt)
{
    const struct dfl_hint *hint = stmt->hints;
    while (hint && !is_quiet(hint))
        hint = hint->next;
    return hint != NULL;
}

const struct dfl_hint *dfc_call_worker(const struct dfl_stmt *stmt)
{
    const struct dfl_hint *hint = stmt->hints;
    while (hint && !is_worker(hint))
        hint = hint->next;
    return hint;
}

const struct dfl_hint *dfc_call_stage(const struct dfl_stmt *stmt)
{
    const struct dfl_hint *hint = stmt->hints;
    while (hint && !is_stage(hint))
        hint = hint->next;
    return hint;
}

bool dfc_call_is_apart(const struct dfl_stmt *stmt)
{
    const struct dfl_hint *hint = stmt->hints;
    while (hint && !is_nofuse(hint))
        hint = hint->next;
    return hint != NULL;
}

bool dfc_call_hints(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *scope, struct dfc_hints *hints)
{
    const struct dfl_hint *given[11] = { NULL };        /* class, depth, rate, quiet, nofuse, parts, passes, worker, stage, newest, every */
    struct dfc_names names = *scope;
    bool ok = true;
    names.use = DFC_USE_HINT;
    *hints = (struct dfc_hints){ .cls = -1 };
    for (const struct dfl_hint *hint = stmt->hints; hint; hint = hint->next) {
        unsigned which = strcmp(hint->name.text, "depth") == 0 ? 1 : strcmp(hint->name.text, "rate") == 0 ? 2
                       : is_quiet(hint) ? 3 : is_nofuse(hint) ? 4 : strcmp(hint->name.text, "parts") == 0 ? 5 : is_passes(hint) ? 6
                       : is_worker(hint) ? 7 : is_stage(hint) ? 8 : is_newest(hint) ? 9 : is_live(hint) ? 10 : 0;
        if (callee->graph && which != 3 && which != 8) {
            dfl_error(u->sink, hint->loc, "'%s' is a graph: hints belong to the nodes inside it", callee->name);
            return false;
        }
        ok &= which == 3 ? hint_alone(u, hint)
            : which == 4 ? hint_nofuse(u, hint, callee)
            : which == 5 ? hint_parts(u, hint, callee, &names, hints)
            : which == 6 ? hint_passes(u, hint, callee, &names, hints)
            : which == 7 ? hint_worker(u, hint, callee, hints)
            : which == 8 ? hint_stage(u, hint, callee, scope, hints)
            : which >= 9 ? hint_live(u, hint, callee, &names, hints)
            : which      ? hint_value(u, hint, &names, hints)
                         : hint_class(u, hint, callee, hints);
        if (given[which] && ok) {
            dfl_error(u->sink, hint->loc, which ? "'@%s' is given twice" : "'@%s' names a second class for one node",
                      hint->name.text);
            dfl_note(u->sink, given[which]->loc, "the first is here");
            ok = false;
        }
        given[which] = hint;
    }
    return ok && check_passes(u, hints) && check_live_class(u, given[9] ? given[9] : given[10], given[0], hints);
}

/* ---- the call ---- */

bool dfc_call_check(struct dfc_unit *u, const struct dfl_stmt *stmt, const struct dfc_callee *callee,
                    const struct dfc_names *names)
{
    struct dfc_hints hints;
    bool ok = dfc_call_hints(u, stmt, callee, names, &hints);
    ok &= check_counts(u, stmt, callee) && check_scalars(u, stmt, callee, names);
    return check_targets(u, stmt, callee, names) && ok;
}
