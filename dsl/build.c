/* build.c - constructs the nodes of the syntax tree, except those of expressions (build_expr.c) and of formulas
 * (build_formula.c). The parser's actions call it.
 */
#include "dsl/build.h"
#include "dsl/parse.h"

#include <string.h>

#define NEW(r, type) ((struct type *)dfl_arena_alloc((r)->arena, sizeof(struct type)))

_Static_assert(sizeof(struct dfl_stmt) <= DFL_ARENA_SPARE && sizeof(struct dfl_kernel) <= DFL_ARENA_SPARE &&
               sizeof(struct dfl_variant) <= DFL_ARENA_SPARE, "the largest nodes must fit the arena's spare block");

/* ---- formats and signatures ---- */

struct dfl_format *dfl_build_format(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                    struct dfl_tree dims)
{
    struct dfl_format *format = NEW(r, dfl_format);
    format->loc = loc;
    format->name = name;
    format->dims = dfl_build_exprs(dims);
    for (struct dfl_expr *dim = format->dims; dim; dim = dim->next) {
        if (format->rank == DFL_MAX_RANK) {
            dfl_error(r->sink, dim->loc, "format has more than %d dimensions", DFL_MAX_RANK);
            break;
        }
        format->rank++;
    }
    return format;
}

struct dfl_port *dfl_build_port(struct dfl_reader *r, struct dfl_loc loc, enum dfl_mode mode, struct dfl_name name,
                                struct dfl_format *format)
{
    struct dfl_port *port = NEW(r, dfl_port);
    port->loc = loc;
    port->mode = mode;
    port->name = name;
    port->format = format;
    return port;
}

void dfl_build_initial(struct dfl_reader *r, struct dfl_port *port, struct dfl_loc loc, struct dfl_tree value)
{
    if (port->initial) {
        dfl_error(r->sink, loc, "port '%s' has two first values", port->name.text);
        dfl_note(r->sink, port->initial->loc, "the first is here");
        return;
    }
    if (port->mode != DFL_ACC) {
        dfl_error(r->sink, loc, "port '%s' has a first value, but is '%s'", port->name.text, dfl_mode_name(port->mode));
        dfl_hint(r->sink, "an 'acc' port alone has a value before the first wave");
    }
    port->initial = value.e;
}

struct dfl_sig *dfl_build_sig(struct dfl_reader *r, struct dfl_loc loc, struct dfl_port *ports,
                              struct dfl_scalar_decl *scalars)
{
    struct dfl_sig *sig = NEW(r, dfl_sig);
    sig->loc = loc;
    DFL_FIRST(sig->ports, ports);
    DFL_FIRST(sig->scalars, scalars);
    for (struct dfl_port *port = sig->ports; port; port = port->next)
        if (++sig->n_ports > DFL_MAX_PORTS) {
            dfl_error(r->sink, port->loc, "signature has more than %d ports", DFL_MAX_PORTS);
            break;
        }
    for (struct dfl_port *port = sig->ports; port && !dfl_arena_failed(r->arena); port = port->next)
        DFL_FIRST(port->border, port->border);
    for (struct dfl_scalar_decl *scalar = sig->scalars; scalar; scalar = scalar->next)
        if (++sig->n_scalars > DFL_MAX_PORTS) {
            dfl_error(r->sink, scalar->loc, "signature has more than %d scalars", DFL_MAX_PORTS);
            break;
        }
    return sig;
}

enum dfl_scalar dfl_build_scalar_type(struct dfl_reader *r, struct dfl_name name)
{
    for (unsigned i = 0; i <= DFL_STRING; i++)
        if (strcmp(dfl_scalar_name((enum dfl_scalar)i), name.text) == 0)
            return (enum dfl_scalar)i;
    dfl_error(r->sink, name.loc, "'%s' is not the type of a scalar", name.text);
    const char *same = dfl_suggest_type(name.text);
    for (unsigned i = 0; same && i <= DFL_STRING; i++)
        if (strcmp(dfl_scalar_name((enum dfl_scalar)i), same) == 0) {
            dfl_hint(r->sink, "did you mean '%s'?", same);
            return (enum dfl_scalar)i;
        }
    dfl_hint(r->sink, "scalars are i32, i64, f32, f64 or str");
    return DFL_I64;
}

struct dfl_scalar_decl *dfl_build_scalar(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                         enum dfl_scalar type)
{
    struct dfl_scalar_decl *scalar = NEW(r, dfl_scalar_decl);
    scalar->loc = loc;
    scalar->name = name;
    scalar->type = type;
    return scalar;
}

/* ---- kernels ---- */

struct dfl_kernel *dfl_build_kernel(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_sig *sig)
{
    struct dfl_kernel *kernel = NEW(r, dfl_kernel);
    kernel->loc = loc;
    kernel->name = name;
    kernel->sig = sig;
    return kernel;
}

void dfl_build_trait(struct dfl_reader *r, struct dfl_kernel *kernel, struct dfl_loc loc, enum dfl_trait trait,
                     struct dfl_expr *args)
{
    if (kernel->traits >> trait & 1) {
        dfl_error(r->sink, loc, "'%s' is given twice", dfl_trait_words[trait]);
        dfl_note(r->sink, kernel->trait_loc[trait], "first given here");
        return;
    }
    kernel->traits |= 1u << trait;
    kernel->trait_loc[trait] = loc;
    if (trait == DFL_TRAIT_THREADS)
        kernel->threads = args;
    if (trait == DFL_TRAIT_TOLERANCE)
        kernel->tolerance = args;
    if (trait == DFL_TRAIT_USES)
        kernel->uses = args;
}

struct dfl_variant *dfl_build_variant(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name cls)
{
    struct dfl_variant *variant = NEW(r, dfl_variant);
    variant->loc = loc;
    variant->cls = cls;
    return variant;
}

void dfl_build_kernel_variant(struct dfl_kernel *kernel, struct dfl_variant *variant)
{
    if (kernel->variants)
        DFL_MORE(kernel->variants, variant);
    else
        DFL_ONE(variant);
    kernel->variants = variant;
}

struct dfl_kernel *dfl_build_kernel_end(struct dfl_kernel *kernel, struct dfl_price *prices)
{
    DFL_FIRST(kernel->variants, kernel->variants);
    DFL_FIRST(kernel->prices, prices);
    return kernel;
}

struct dfl_variant *dfl_build_files(struct dfl_variant *variant, struct dfl_tree first, struct dfl_tree more)
{
    variant->path = first.e->s;
    variant->path_loc = first.e->loc;
    variant->flags = first.e->args;
    variant->more_files = dfl_build_exprs(more);
    return variant;
}

void dfl_build_state_function(struct dfl_reader *r, struct dfl_name word, struct dfl_name *place,
                              struct dfl_name name)
{
    if (!place->text) {
        *place = name;
        return;
    }
    dfl_error(r->sink, word.loc, "'%s' is given twice", word.text);
    dfl_note(r->sink, place->loc, "the first function is here");
}

struct dfl_price *dfl_build_price(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name cls, struct dfl_expr *expr)
{
    struct dfl_price *price = NEW(r, dfl_price);
    price->loc = loc;
    price->cls = cls;
    price->expr = expr;
    return price;
}

/* ---- graphs ---- */

struct dfl_target *dfl_build_target(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                    struct dfl_tree indices, struct dfl_format *annotation)
{
    struct dfl_target *target = NEW(r, dfl_target);
    target->loc = loc;
    target->name = name;
    target->indices = dfl_build_exprs(indices);
    target->annotation = annotation;
    return target;
}

struct dfl_actual *dfl_build_actual(struct dfl_reader *r, struct dfl_name keyword, struct dfl_expr *expr)
{
    struct dfl_actual *actual = NEW(r, dfl_actual);
    actual->keyword = keyword;
    actual->expr = expr;
    return actual;
}

struct dfl_hint *dfl_build_hint(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_expr *arg)
{
    struct dfl_hint *hint = NEW(r, dfl_hint);
    hint->loc = loc;
    hint->name = name;
    hint->arg = arg;
    return hint;
}

struct dfl_stmt *dfl_build_stmt(struct dfl_reader *r, struct dfl_loc loc, enum dfl_stmt_kind kind)
{
    struct dfl_stmt *stmt = NEW(r, dfl_stmt);
    stmt->kind = kind;
    stmt->loc = loc;
    return stmt;
}

struct dfl_stmt *dfl_build_call(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name callee,
                                struct dfl_actual *actuals)
{
    struct dfl_stmt *stmt = dfl_build_stmt(r, loc, DFL_STMT_CALL);
    stmt->call_loc = loc;
    stmt->callee = callee;
    DFL_FIRST(stmt->actuals, actuals);
    return stmt;
}

struct dfl_block *dfl_build_block(struct dfl_reader *r, struct dfl_loc open, struct dfl_stmt *stmts)
{
    struct dfl_block *block = NEW(r, dfl_block);
    block->loc = open;
    DFL_FIRST(block->stmts, stmts);
    return block;
}

struct dfl_chain dfl_build_if(struct dfl_reader *r, struct dfl_loc loc, struct dfl_expr *cond, struct dfl_block *body)
{
    struct dfl_stmt *stmt = dfl_build_stmt(r, loc, DFL_STMT_IF);
    stmt->cond = cond;
    stmt->body = body;
    return (struct dfl_chain){stmt, stmt};
}

struct dfl_chain dfl_build_else_if(struct dfl_reader *r, struct dfl_chain chain, struct dfl_chain more)
{
    struct dfl_block *block = NEW(r, dfl_block);
    block->loc = more.first->loc;
    block->stmts = more.first;
    chain.last->otherwise = block;
    chain.last = more.last;
    return chain;
}

struct dfl_promise *dfl_build_promise(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name what, struct dfl_name unit, enum dfl_op op, struct dfl_expr *bound)
{
    struct dfl_promise *promise = NEW(r, dfl_promise);
    promise->what = what;
    promise->unit = unit;
    promise->op = op;
    promise->bound = bound;
    promise->loc = loc;
    return promise;
}

struct dfl_promise *dfl_build_promise_of(struct dfl_reader *r, struct dfl_loc loc, struct dfl_tree tree)
{
    const struct dfl_name none = { 0 };
    struct dfl_expr *e = tree.e;
    const bool compares = e->kind == DFL_EXPR_BINARY && e->op >= DFL_OP_LT && e->op <= DFL_OP_NE && e->a->kind == DFL_EXPR_NAME;
    if (!compares)
        return dfl_build_promise(r, loc, none, none, DFL_OP_NOT, e);
    return dfl_build_promise(r, loc, (struct dfl_name){ e->a->s, e->a->loc }, none, e->op, e->b);
}

void dfl_build_promises(struct dfl_reader *r, struct dfl_promise *promises)
{
    if (r->promises && promises) {      /* a second block: its ring goes behind the first one's */
        struct dfl_promise *first = r->promises->next;
        r->promises->next = promises->next;
        promises->next = first;
    }
    r->promises = promises ? promises : r->promises;
}

struct dfl_graph *dfl_build_graph(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_sig *sig,
                                  struct dfl_block *body)
{
    struct dfl_graph *graph = NEW(r, dfl_graph);
    graph->loc = loc;
    graph->name = name;
    graph->sig = sig;
    graph->body = body;
    DFL_FIRST(graph->promises, r->promises);
    r->promises = NULL;
    return graph;
}

/* ---- platforms and declarations ---- */

struct dfl_property *dfl_build_property(struct dfl_reader *r, struct dfl_name name, struct dfl_tree values)
{
    struct dfl_property *property = NEW(r, dfl_property);
    property->name = name;
    property->values = dfl_build_exprs(values);
    return property;
}

struct dfl_property *dfl_build_device_inside(struct dfl_reader *r, struct dfl_device *device)
{
    struct dfl_property *property = NEW(r, dfl_property);
    property->name = device->name;
    property->device = device;
    return property;
}

struct dfl_device *dfl_build_device(struct dfl_reader *r, struct dfl_name cls, struct dfl_name name,
                                    struct dfl_property *properties)
{
    struct dfl_device *device = NEW(r, dfl_device);
    device->cls = cls;
    device->name = name;
    DFL_FIRST(device->properties, properties);
    return device;
}

struct dfl_platform *dfl_build_platform(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                        struct dfl_device *devices)
{
    struct dfl_platform *platform = NEW(r, dfl_platform);
    platform->loc = loc;
    platform->name = name;
    DFL_FIRST(platform->devices, devices);
    return platform;
}

struct dfl_decl *dfl_build_decl(struct dfl_reader *r, struct dfl_loc loc, enum dfl_decl_kind kind, struct dfl_name name)
{
    struct dfl_decl *decl = NEW(r, dfl_decl);
    decl->kind = kind;
    decl->loc = loc;
    decl->name = name;
    return decl;
}
