/* build_formula.c - constructs the nodes of formulas: borders, left-hand sides, conditional expressions, reductions.
 * The parser's actions call it.
 */
#include <string.h>

#include "dsl/build.h"
#include "dsl/parse.h"

#define NEW(r, type) ((struct type *)dfl_arena_alloc((r)->arena, sizeof(struct type)))

/* ---- borders ---- */

void dfl_build_border(struct dfl_reader *r, struct dfl_port *port, struct dfl_loc loc, struct dfl_tree edge)
{
    if (port->border) {
        dfl_error(r->sink, loc, "port '%s' has two borders", port->name.text);
        dfl_note(r->sink, port->border->loc, "the first is here");
        dfl_hint(r->sink, "different dimensions have theirs in one list: 'border clamp, 0'");
        return;
    }
    if (port->mode != DFL_IN && port->mode != DFL_INOUT) {
        dfl_error(r->sink, loc, "port '%s' has a border, but is '%s'", port->name.text, dfl_mode_name(port->mode));
        dfl_hint(r->sink, "a border says what is read outside of an 'in' port");
    }
    DFL_ONE(edge.e);
    port->border = edge.e; /* a ring until the signature is whole */
}

bool dfl_build_border_more(struct dfl_reader *r, struct dfl_port *ports, struct dfl_tree edge)
{
    if (ports->border) {
        DFL_MORE(ports->border, edge.e);
        ports->border = edge.e;
        return true;
    }
    dfl_expect_no_port(r, edge.e->loc, edge.e->kind == DFL_EXPR_NAME);
    return false;
}

/* ---- expressions ---- */

enum { N_REDUCTIONS = 9, N_FUNCTIONS = 2 }; /* of the reductions' names the first are functions, too */
static const char *const reductions[N_REDUCTIONS] = {"min", "max", "sum", "prod", "any", "all", "count", "argmin",
                                                     "argmax"};

/* Is it one of the reductions from `first` on? */
static bool is_reduction(const char *name, size_t first)
{
    for (size_t i = first; i < N_REDUCTIONS; i++)
        if (strcmp(reductions[i], name) == 0)
            return true;
    return false;
}

struct dfl_choices dfl_build_choice(struct dfl_reader *r, struct dfl_loc loc, struct dfl_tree cond,
                                    struct dfl_tree value)
{
    struct dfl_expr *e = NEW(r, dfl_expr);
    e->kind = DFL_EXPR_CHOICE;
    e->loc = loc;
    e->a = cond.e;
    e->b = value.e;
    DFL_ONE(e);
    return (struct dfl_choices){e, 1, dfl_build_depth(r, loc, cond.depth, value.depth)};
}

struct dfl_choices dfl_build_choice_more(struct dfl_reader *r, struct dfl_choices choices, struct dfl_choices one)
{
    DFL_MORE(choices.last, one.last);
    one.n = choices.n + 1;
    one.depth = dfl_build_depth(r, one.last->loc, choices.depth - 1, one.depth + choices.n - 1);
    return one;
}

struct dfl_tree dfl_build_choice_last(struct dfl_reader *r, struct dfl_choices choices, struct dfl_tree value)
{
    struct dfl_expr *first, *next;
    unsigned depth = dfl_build_depth(r, value.e->loc, choices.depth - 1, value.depth + choices.n - 1);
    DFL_FIRST(first, choices.last);
    for (struct dfl_expr *e = first; e; e = next) { /* each is the value of the one before it */
        next = e->next;
        e->next = NULL;
        e->args = next ? next : value.e;
        if (e->loc.line == value.e->loc.line)
            e->loc.end_col = value.e->loc.end_col;
    }
    return (struct dfl_tree){.e = first, .depth = depth};
}

struct dfl_tree dfl_build_formula_call(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                       struct dfl_tree args)
{
    struct dfl_expr *e = NEW(r, dfl_expr);
    e->kind = DFL_EXPR_CALL;
    e->loc = loc;
    e->s = name.text;
    e->args = dfl_build_exprs(args);
    if (is_reduction(name.text, N_FUNCTIONS)) {
        dfl_error(r->sink, loc, "'%s' has no range", name.text);
        dfl_hint(r->sink, "a reduction begins with its ranges: '%s(i in 0..n: v[i])'", name.text);
    }
    return (struct dfl_tree){.e = e, .depth = dfl_build_depth(r, loc, args.depth, 0)};
}

struct dfl_ranges dfl_build_range(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name, struct dfl_tree from,
                                  struct dfl_tree to)
{
    struct dfl_range *range = NEW(r, dfl_range);
    range->loc = loc;
    range->name = name;
    range->from = from.e;
    range->to = to.e;
    DFL_ONE(range);
    return (struct dfl_ranges){range, from.depth > to.depth ? from.depth : to.depth};
}

struct dfl_ranges dfl_build_range_more(struct dfl_ranges ranges, struct dfl_ranges one)
{
    DFL_MORE(ranges.last, one.last);
    if (ranges.depth > one.depth)
        one.depth = ranges.depth;
    return one;
}

struct dfl_tree dfl_build_reduce(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                 struct dfl_ranges ranges, struct dfl_tree cond, struct dfl_tree body)
{
    struct dfl_expr *e = NEW(r, dfl_expr);
    unsigned depth = cond.depth > body.depth ? cond.depth : body.depth;
    e->kind = DFL_EXPR_REDUCE;
    e->loc = loc;
    e->s = name.text;
    e->a = body.e;
    e->b = cond.e;
    DFL_FIRST(e->ranges, ranges.last);
    if (!is_reduction(name.text, 0)) {
        dfl_error(r->sink, name.loc, "there is no reduction '%s'", name.text);
        const char *close = dfl_suggest(name.text, reductions, N_REDUCTIONS);
        if (close)
            dfl_hint(r->sink, "did you mean '%s'?", close);
        else
            dfl_hint(r->sink, "reductions are sum, prod, min, max, any, all, count, argmin and argmax; a mean is 'sum(i in 0..n: v[i]) / f32(n)'");
    }
    return (struct dfl_tree){.e = e, .depth = dfl_build_depth(r, loc, ranges.depth, depth)};
}

/* ---- formulas ---- */

void dfl_build_formulas(struct dfl_kernel *kernel, struct dfl_loc block, struct dfl_formula *formulas)
{
    kernel->has_formulas = true;
    kernel->formulas_loc = block;
    kernel->formulas_loc.end_col = block.col + 1;
    DFL_FIRST(kernel->formulas, formulas);
}

static struct dfl_formula *formula_new(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                       struct dfl_tree indices, struct dfl_expr *value)
{
    struct dfl_formula *formula = NEW(r, dfl_formula);
    formula->loc = loc;
    formula->name = name;
    formula->indices = dfl_build_exprs(indices);
    formula->value = value;
    return formula;
}

struct dfl_formula *dfl_build_let(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                  struct dfl_tree indices, struct dfl_expr *value)
{
    struct dfl_formula *formula = formula_new(r, loc, name, indices, value);
    formula->is_let = true;
    for (const struct dfl_expr *index = formula->indices; index; index = index->next)
        if (index->kind != DFL_EXPR_NAME) {
            dfl_error(r->sink, index->loc, "an index of 'let' is a name");
            dfl_hint(r->sink, "a let with indices is a function of them, as in 'let %s[i, j] = a[y + i, x + j];'",
                     name.text);
        }
    return formula;
}

/* Reports a word before '=' that is not min or max. */
static void report_assign(struct dfl_reader *r, const struct dfl_name *name, const struct dfl_name *word)
{
    if (dfl_suggest_type(name->text) || strcmp(name->text, "const") == 0 || strcmp(name->text, "auto") == 0) {
        dfl_error(r->sink, name->loc, "'%s' declares nothing in a formula", name->text);
        dfl_hint(r->sink, "a value gets a name by 'let %s = ...;', and its type from the expression", word->text);
        return;
    }
    dfl_error(r->sink, word->loc, "expected '=', '+=', 'min=' or 'max=' after '%s', found '%s'", name->text, word->text);
}

struct dfl_formula *dfl_build_formula(struct dfl_reader *r, struct dfl_loc loc, struct dfl_name name,
                                      struct dfl_tree indices, struct dfl_name assign, struct dfl_expr *value)
{
    static const char *const assigns[] = {"", "+", "min", "max"}; /* in the order of the enumeration */
    struct dfl_formula *formula = formula_new(r, loc, name, indices, value);
    while (formula->assign < DFL_MOST && strcmp(assigns[formula->assign], assign.text) != 0)
        formula->assign++;
    if (strcmp(assigns[formula->assign], assign.text) != 0)
        report_assign(r, &name, &assign);
    for (const struct dfl_expr *index = formula->indices; index; index = index->next)
        if (index->kind != DFL_EXPR_NAME && index->kind != DFL_EXPR_INT) {
            dfl_error(r->sink, index->loc, "an index on the left side is a name or a number, not an expression");
            dfl_hint(r->sink, index->kind == DFL_EXPR_INDEX ? "compute on the right side; a histogram is '%s[b] += count(i in 0..n if a[i] == b);'"
                                                            : "compute on the right side, as in '%s[y, x] = a[y - 1, x];'", name.text);
        }
    return formula;
}
