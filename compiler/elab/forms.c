/* forms.c - symbolic analysis of extents that vary from wave to wave: how they follow from the extents that kernels
 * decide, before any size is known. It shows fuse.c and root.c which extents are equal in every wave, and which may be
 * below 1.
 *
 * A form is scale * c + offset, where c, at least 1, is the extent in this wave of the form's equivalence class. Two
 * forms are equal if all three components are. An extent that has no such form, as n / 2, gets a class of its own. If a
 * call states a number for an extent whose bound its kernel leaves open, that extent is the same in all waves.
 */
#include <string.h>

#include "compiler/elab/elab.h"

struct walk {                           /* of one item */
    const struct dfc_elab *e;
    const struct dfc_item *item;
    struct dfc_forms *forms;
    struct dfc_form *variables;         /* by dimension variable */
    struct dfc_varying *how;
};

static const struct dfc_form same = { 0 };

static bool equal(const struct dfc_form *a, const struct dfc_form *b)
{
    return a->class == b->class && (!a->class || (a->scale == b->scale && a->offset == b->offset));
}

static struct dfc_form new_class(struct walk *w)
{
    return (struct dfc_form){ .class = ++w->forms->n, .scale = 1 };
}

/* An extent of which no more is known than that it differs. */
static struct dfc_form unknown(struct walk *w)
{
    w->how->may_be_empty = true;
    return new_class(w);
}

static bool may_be_below_1(const struct dfc_form *f)
{
    int64_t least;
    return f->class && (f->scale < 0 || __builtin_add_overflow(f->scale, f->offset, &least) || least < 1);
}

static bool is_number(const struct dfc_form *f)
{
    return !f->class && f->number;
}

/* a + sign * b. */
static bool add(const struct dfc_form *a, const struct dfc_form *b, int sign, struct dfc_form *sum)
{
    int64_t scale, offset;
    if ((!a->class && !a->number) || (!b->class && !b->number) || (a->class && b->class && a->class != b->class) ||
        __builtin_mul_overflow(b->scale, sign, &scale) || __builtin_mul_overflow(b->offset, sign, &offset) ||
        __builtin_add_overflow(a->scale, scale, &scale) || __builtin_add_overflow(a->offset, offset, &offset))
        return false;
    *sum = (struct dfc_form){ scale ? a->class | b->class : 0, scale, offset, true, a->class ? a->most : b->most };
    return true;
}

static bool multiply(const struct dfc_form *a, const struct dfc_form *b, struct dfc_form *product)
{
    const struct dfc_form *form = a->class ? a : b, *number = a->class ? b : a;
    if (!is_number(number) || number->offset == 0)
        return false;
    product->class = form->class;
    product->most = form->most;
    return !__builtin_mul_overflow(form->scale, number->offset, &product->scale) &&
           !__builtin_mul_overflow(form->offset, number->offset, &product->offset);
}

static struct dfc_form form_of(struct walk *w, const struct dfl_expr *e);

static struct dfc_form form_of_variable(const struct walk *w, const char *name)
{
    const struct dfc_sig *sig = &w->item->callee->sig;
    for (unsigned v = 0; v < sig->n_variables; v++)
        if (strcmp(sig->variables[v].name.text, name) == 0)
            return w->variables[v];
    return same;
}

static struct dfc_form form_of_operator(struct walk *w, const struct dfl_expr *e)
{
    const struct dfc_form a = form_of(w, e->a), b = e->b ? form_of(w, e->b) : same;
    struct dfc_form result = same;
    if (!a.class && !b.class)
        return same;
    if (e->b && ((e->op == DFL_OP_ADD && add(&a, &b, 1, &result)) || (e->op == DFL_OP_SUB && add(&a, &b, -1, &result)) ||
                 (e->op == DFL_OP_MUL && multiply(&a, &b, &result))))
        return result;
    return unknown(w);
}

static struct dfc_form form_of(struct walk *w, const struct dfl_expr *e)
{
    const struct dfc_names names = { .use = DFC_USE_PORT, .callee = w->item->callee };
    struct dfc_value value;
    bool varies = false;
    if (!dfc_fold(w->e->u, &names, e, &value))
        return same;
    w->how->dynamic |= value.dynamic != NULL;
    if (value.known)
        return (struct dfc_form){ .offset = value.n.i, .number = true };
    if (e->kind == DFL_EXPR_NAME)
        return form_of_variable(w, e->s);
    if (e->kind != DFL_EXPR_CALL)
        return form_of_operator(w, e);
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        varies |= form_of(w, arg).class != 0;
    return varies ? unknown(w) : same;
}

static const struct dfl_target *target_at(const struct dfc_item *item, unsigned slot)
{
    const struct dfl_target *target = item->stmt->targets;
    while (target && slot-- > 0)
        target = target->next;
    return target;
}

static int64_t fold_number(const struct dfc_elab *e, const struct dfc_names *names, const struct dfl_expr *expr)
{
    struct dfc_value value;
    return dfc_fold(e->u, names, expr, &value) && value.known && value.n.kind == DF_KIND_I64 ? value.n.i : 0;
}

/* The bound in the annotation of the call, for a variable that stands in out ports. 0: it is not known. */
static int64_t annotated_bound(const struct walk *w, uint32_t variable)
{
    const struct dfc_names names = dfc_frame_names(w->e, w->item->frame, w->item->env, DFC_USE_ANNOTATION);
    const struct dfc_sig *sig = &w->item->callee->sig;
    for (unsigned i = 0; i < sig->n_out; i++) {
        const struct dfl_target *target = target_at(w->item, i);
        const struct dfl_expr *extent = target && target->annotation ? target->annotation->dims : NULL;
        for (unsigned d = 0; extent && d < sig->ports[sig->out_port[i]].rank; d++, extent = extent->next) {
            const struct dfc_dim *dim = &sig->ports[sig->out_port[i]].dims[d];
            if (dim->kind == DFC_DIM_VARIABLE && dim->variable == variable && dfc_extent_has_bound(extent))
                return fold_number(w->e, &names, extent->b);
        }
    }
    return 0;
}

/* The bound of a variable of the item's kernel. 0: it is not known. */
static int64_t bound_of(const struct walk *w, uint32_t variable)
{
    const struct dfc_names names = { .use = DFC_USE_PORT };
    const struct dfl_expr *bound = w->item->callee->sig.variables[variable].bound;
    return dfc_bound_is_open(bound) ? annotated_bound(w, variable) : fold_number(w->e, &names, bound);
}

/* Of a kernel that stands for what a caller gives, variables of one name are one. */
static struct dfc_form decided(struct walk *w, uint32_t variable)
{
    const struct dfc_sig *sig = w->forms->given;
    const char *name = w->item->callee->sig.variables[variable].name.text;
    struct dfc_form form = { .scale = 1, .most = bound_of(w, variable) };
    for (unsigned v = 0; sig && strchr(w->item->callee->name, '.') && v < sig->n_variables; v++)
        if (strcmp(sig->variables[v].name.text, name) == 0)
            form.class = v + 1;
    form.class = form.class ? form.class : new_class(w).class;
    return form;
}

static struct dfc_form *input(const struct walk *w, unsigned slot)
{
    return w->forms->of[w->e->in_values[w->item->first_in + slot]];
}

/* What in ports have alone gives the variables. All ends must agree. */
static void bind_inputs(struct walk *w)
{
    const struct dfc_sig *sig = &w->item->callee->sig;
    bool known[sig->n_variables + 1u];
    memset(known, 0, sizeof known);
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfc_port *port = &sig->ports[sig->in_port[i]];
        for (unsigned d = 0; d < port->rank; d++) {
            const struct dfc_form *form = &input(w, i)[d];
            const uint32_t v = port->dims[d].variable;
            w->how->varies |= form->class != 0;
            if (port->dims[d].kind != DFC_DIM_VARIABLE)
                continue;
            w->how->unlike |= known[v] && !equal(&w->variables[v], form);
            if (!known[v])
                w->variables[v] = *form;
            known[v] = true;
        }
    }
    for (unsigned i = 0; i < sig->n_in; i++) {
        const struct dfc_port *port = &sig->ports[sig->in_port[i]];
        for (unsigned d = 0; d < port->rank; d++) {
            const struct dfc_form form = port->dims[d].kind == DFC_DIM_EXPR ? form_of(w, port->dims[d].expr) : same;
            w->how->unlike |= port->dims[d].kind != DFC_DIM_VARIABLE && !equal(&form, &input(w, i)[d]);
        }
    }
}

/* Does the annotation of the call say a number for extent d of that output, or, if there is none, the out port of the graph around
 * it? */
static bool is_annotated_with_number(const struct dfc_elab *e, const struct dfc_item *item, unsigned slot, unsigned d)
{
    const struct dfl_target *target = target_at(item, slot);
    const struct dfc_frame *frame = &dfc_frames(e)[item->frame];
    const struct dfc_sig *sig = &frame->graph->sig;
    if (target && target->annotation) {
        const struct dfl_expr *extent = target->annotation->dims; /* NULL: it is a declared type */
        for (unsigned i = 0; extent && i < d; i++)
            extent = extent->next;
        return !extent || !dfc_extent_has_bound(extent);
    }
    for (unsigned i = 0; target && !target->indices && i < sig->n_out; i++) {
        const struct dfc_port *port = &sig->ports[sig->out_port[i]];
        if (strcmp(port->ast->name.text, target->name.text) != 0 || d >= port->rank)
            continue;
        if (port->dims[d].kind == DFC_DIM_NUMBER)
            return true;
        return !(dfc_port_varies(sig, port) >> d & 1) && is_annotated_with_number(e, &dfc_items(e)[frame->item], i, d);
    }
    return false;
}

/* A variable whose bound is open, and for which the call says a number. */
static bool is_exact(const struct walk *w, uint32_t variable)
{
    const struct dfc_sig *sig = &w->item->callee->sig;
    for (unsigned i = 0; i < sig->n_out && dfc_bound_is_open(sig->variables[variable].bound); i++)
        for (unsigned d = 0; d < sig->ports[sig->out_port[i]].rank; d++) {
            const struct dfc_dim *dim = &sig->ports[sig->out_port[i]].dims[d];
            if (dim->kind == DFC_DIM_VARIABLE && dim->variable == variable && is_annotated_with_number(w->e, w->item, i, d))
                return true;
        }
    return false;
}

static void find_output(struct walk *w, unsigned slot)
{
    const struct dfc_sig *sig = &w->item->callee->sig;
    const struct dfc_port *port = &sig->ports[sig->out_port[slot]];
    struct dfc_form *of = w->forms->of[w->item->first_out + slot];
    for (unsigned d = 0; d < port->rank; d++) {
        const struct dfc_dim *dim = &port->dims[d];
        of[d] = dim->kind == DFC_DIM_VARIABLE ? w->variables[dim->variable]
                : dim->kind == DFC_DIM_EXPR ? form_of(w, dim->expr) : same;
        w->how->varies |= of[d].class != 0;
        w->how->may_be_empty |= may_be_below_1(&of[d]);
    }
}

/* A select passes on one of its inputs. */
static void find_select(struct walk *w)
{
    struct dfc_form *of = w->forms->of[w->item->first_out];
    memcpy(of, input(w, 0), sizeof w->forms->of[0]);
    for (unsigned i = 1; i < w->item->callee->sig.n_in; i++)
        for (unsigned d = 0; d < DF_MAX_RANK; d++)
            if (!equal(&of[d], &input(w, i)[d]))
                of[d] = new_class(w);
    for (unsigned d = 0; d < DF_MAX_RANK; d++)
        w->how->varies |= of[d].class != 0;
}

bool dfc_forms_make(const struct dfc_elab *e, struct dfc_forms *forms)
{
    *forms = (struct dfc_forms){ .of = dfc_alloc(e->u, ((size_t)e->values.n + 1) * sizeof *forms->of) };
    if (e->u->options->root || e->u->options->exported) {
        forms->given = &dfc_frames(e)[1].graph->sig;
        forms->n = forms->given->n_variables;
    }
    return forms->of;
}

struct dfc_form dfc_form_said(const struct dfc_elab *e, struct dfc_forms *forms, const struct dfc_port *port, unsigned d)
{
    const struct dfc_item item = { .callee = dfc_frames(e)[1].graph };
    const struct dfc_sig *sig = &item.callee->sig;
    struct dfc_varying how = { 0 };
    struct walk w = { e, &item, forms, dfc_alloc(e->u, (sig->n_variables + 1u) * sizeof *w.variables), &how };
    for (unsigned v = 0; w.variables && v < sig->n_variables; v++)
        if (sig->variables[v].bound)
            w.variables[v] = sig->variables[v].from_input ? (struct dfc_form){ .class = v + 1, .scale = 1 } : new_class(&w);
    return w.variables && port->dims[d].expr ? form_of(&w, port->dims[d].expr) : same;
}

bool dfc_form_is_said(const struct dfc_forms *forms, const struct dfc_form *said, const struct dfc_form *made)
{
    return said->class == 0 || said->class > forms->given->n_variables || equal(said, made);
}

const char *dfc_form_name(const struct dfc_forms *forms, const struct dfc_form *form)
{
    bool is_variable = form->class && form->class <= forms->given->n_variables && form->scale == 1 && form->offset == 0;
    return is_variable ? forms->given->variables[form->class - 1].name.text : NULL;
}

struct dfc_varying dfc_item_varies(const struct dfc_elab *e, const struct dfc_item *item, struct dfc_forms *forms)
{
    const struct dfc_sig *sig = &item->callee->sig;
    struct dfc_varying how = { 0 };
    struct walk w = { e, item, forms, dfc_alloc(e->u, (sig->n_variables + 1u) * sizeof *w.variables), &how };
    if (!w.variables)
        return how;
    if (item->callee->loop_part) {
        for (unsigned i = 0; i < sig->n_out; i++)
            memcpy(forms->of[item->first_out + i], input(&w, i), sizeof forms->of[0]);
        return how;
    }
    if (item->callee->built_in) {
        find_select(&w);
        return how;
    }
    for (unsigned v = 0; v < sig->n_variables; v++)
        w.variables[v] = sig->variables[v].bound && !is_exact(&w, v) ? decided(&w, v) : same;
    bind_inputs(&w);
    for (unsigned i = 0; i < sig->n_out; i++)
        find_output(&w, i);
    how.dynamic &= how.varies;
    how.may_be_empty &= how.varies;
    return how;
}

/* ---- annotations ---- */

static bool report_annotation(const struct dfc_elab *e, const struct dfc_item *item, const struct dfl_target *target, unsigned d,
                              const struct dfc_form *form, bool bounded)
{
    struct dfl_sink *sink = e->u->sink;
    const char *name = item->callee->name;
    if (!form->class)
        dfl_error(sink, target->annotation->loc, "extent %u of '%s' is the same in all waves, so it has no bound", d + 1, name);
    else if (!bounded)
        dfl_error(sink, target->annotation->loc, "'%s' is annotated with the same extent %u in all waves, but what '%s' gives differs from wave "
                  "to wave", target->name.text, d + 1, name);
    else
        dfl_error(sink, target->annotation->loc, "'%s' is annotated with another bound of extent %u than '%s' gives, which is %lld",
                  target->name.text, d + 1, name, (long long)(form->scale * form->most + form->offset));
    dfl_hint(sink, !form->class ? "leave out what stands before and with '<='" : "write the same bounds, as in 'n <= 100', or leave out the "
                                                                                 "annotation");
    return false;
}

/* Is it known that the annotation has another bound? */
static bool is_other_bound(const struct dfc_elab *e, const struct dfc_item *item, const struct dfl_expr *bound, const struct dfc_form *form)
{
    const struct dfc_names names = dfc_frame_names(e, item->frame, item->env, DFC_USE_ANNOTATION);
    const int64_t said = dfc_bound_is_open(bound) ? 0 : fold_number(e, &names, bound);
    int64_t most;
    return form->most && said && !__builtin_mul_overflow(form->scale, form->most, &most) && !__builtin_add_overflow(most, form->offset, &most) &&
           said != most;
}

bool dfc_form_check_annotations(const struct dfc_elab *e, const struct dfc_item *item, const struct dfc_forms *forms)
{
    unsigned slot = 0;
    for (const struct dfl_target *t = item->stmt->targets; t && slot < item->callee->sig.n_out; t = t->next, slot++) {
        const struct dfc_form *form = forms->of[item->first_out + slot];
        unsigned d = 0;
        for (const struct dfl_expr *x = t->annotation ? t->annotation->dims : NULL; x && d < DF_MAX_RANK; x = x->next, d++) {
            const bool bounded = dfc_extent_has_bound(x);
            if (bounded != (form[d].class != 0) || (bounded && is_other_bound(e, item, x->b, &form[d])))
                return report_annotation(e, item, t, d, &form[d], bounded);
        }
    }
    return true;
}
