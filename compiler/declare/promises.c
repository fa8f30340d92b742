/* promises.c - checks for the front end (check_graph.c) the promises of a graph: what can be promised, in which direction, and the bounds, which may contain
 * params. Whether a promise holds is derived later, by `dfc check`.
 */
#include "compiler/declare/declare.h"
#include "compiler/declare/platform_impl.h"

#define CONFIDENCE "confidence"

static const struct word {
    const char *name;
    enum dfl_op op;
    const char *example;
} words[] = {
    [DF_PROMISE_RATE] = { "rate", DFL_OP_GE, "rate >= 41 / s" },
    [DF_PROMISE_LATENCY] = { "latency", DFL_OP_LE, "latency <= 90 ms" },
    [DF_PROMISE_MEMORY] = { "memory", DFL_OP_LE, "memory gpu0 <= 3 GiB" },
    [DF_N_PROMISE_KINDS] = { CONFIDENCE, DFL_OP_NOT, "confidence 0.99" },
};
enum { N_WORDS = sizeof words / sizeof *words };

static bool refuse(struct dfc_unit *u, const struct dfl_promise *ast, const char *message)
{
    dfl_error(u->sink, ast->loc, "%s", message);
    dfl_hint(u->sink, "promises are '%s;', '%s;', '%s;' and '%s;'", words[0].example, words[1].example, words[2].example, words[3].example);
    return false;
}

/* N_WORDS: none, which was reported. */
static unsigned find_word(struct dfc_unit *u, const struct dfl_promise *ast)
{
    const char *names[N_WORDS];
    for (unsigned i = 0; i < N_WORDS; i++) {
        names[i] = words[i].name;
        if (ast->what.text && strcmp(ast->what.text, words[i].name) == 0)
            return i;
    }
    if (!ast->what.text) {
        refuse(u, ast, "this is no promise");
    } else {
        dfl_error(u->sink, ast->what.loc, "'%s' cannot be promised", ast->what.text);
        if (!dfc_hint_name(u, ast->what.text, names, N_WORDS))
            dfl_hint(u->sink, "rate, latency, memory of a unit and their confidence can");
    }
    return N_WORDS;
}

static bool check_form(struct dfc_unit *u, const struct dfl_promise *ast, unsigned word)
{
    const bool memory = word == DF_PROMISE_MEMORY;
    if (ast->op != words[word].op) {
        dfl_error(u->sink, ast->loc, "a promise of %s is written like '%s'", words[word].name, words[word].example);
        return false;
    }
    if (!memory == !ast->unit.text)
        return true;
    dfl_error(u->sink, ast->loc, memory ? "whose memory is missing" : "%s is not of a unit", words[word].name);
    dfl_hint(u->sink, "it is written like '%s'", words[word].example);
    return false;
}

static bool check_bound(struct dfc_unit *u, const struct dfl_promise *ast, unsigned word, double *bound)
{
    struct dfc_convert c = { .u = u, .sink = u->sink, .ok = true, .promise = true };
    uint64_t bytes = 0;
    switch (word) {
    case DF_PROMISE_RATE:
        if (dfc_take_number(&c, ast->bound, "a rate", DFC_NO_UNIT, true, bound) && !(*bound > 0 && *bound <= DF_MOST_RATE))
            dfc_refuse_value(&c, ast->bound, "a rate must be above 0, and at most 1e18 / s");
        break;
    case DF_PROMISE_LATENCY:
        if (dfc_take_number(&c, ast->bound, "a latency", DFC_UNIT_TIME, false, bound) && !(*bound > 0 && *bound <= DF_MOST_DELAY_S))
            dfc_refuse_value(&c, ast->bound, "a latency must be above 0, and at most 1e9 s");
        break;
    case DF_PROMISE_MEMORY:
        dfc_take_bytes(&c, ast->bound, "memory", &bytes);
        *bound = (double)bytes;
        break;
    default:
        if (dfc_take_number(&c, ast->bound, "a confidence", DFC_NO_UNIT, false, bound) && !(*bound >= DF_LEAST_CONFIDENCE && *bound <= DF_MOST_CONFIDENCE))
            dfc_refuse_value(&c, ast->bound, "a confidence must be from 0.5 to 0.999");
        break;
    }
    return c.ok;
}

static bool same_unit(const struct dfl_promise *a, const struct dfl_promise *b)
{
    return a->unit.text && b->unit.text ? strcmp(a->unit.text, b->unit.text) == 0 : a->unit.text == b->unit.text;
}

/* Is there an earlier promise of the same? */
static const struct dfl_promise *find_before(const struct dfl_graph *graph, const struct dfl_promise *ast)
{
    for (const struct dfl_promise *p = graph->promises; p != ast; p = p->next)
        if (p->what.text && strcmp(p->what.text, ast->what.text) == 0 && same_unit(p, ast))
            return p;
    return NULL;
}

static bool check(struct dfc_unit *u, const struct dfl_graph *graph, const struct dfl_promise *ast, unsigned *word, double *bound)
{
    *word = find_word(u, ast);
    const struct dfl_promise *before = *word < N_WORDS ? find_before(graph, ast) : NULL;
    if (*word == N_WORDS || !check_form(u, ast, *word))
        return false;
    if (before) {
        dfl_error(u->sink, ast->loc, "'%s%s%s' is given twice", ast->what.text, ast->unit.text ? " " : "", ast->unit.text ? ast->unit.text : "");
        dfl_note(u->sink, before->loc, "first given here");
        return false;
    }
    return check_bound(u, ast, *word, bound);
}

bool dfc_promises_check(struct dfc_unit *u, struct dfc_callee *graph)
{
    unsigned n = 0, word;
    bool ok = true;
    for (const struct dfl_promise *ast = graph->graph->promises; ast; ast = ast->next)
        n++;
    struct dfc_promise *promises = n ? dfc_alloc(u, n * sizeof *promises) : NULL;
    if (n && !promises)
        return false;
    graph->promises = promises;
    graph->confidence = DF_DEFAULT_CONFIDENCE;
    for (const struct dfl_promise *ast = graph->graph->promises; ast; ast = ast->next) {
        double bound;
        if (!check(u, graph->graph, ast, &word, &bound))
            ok = false;
        else if (word == DF_N_PROMISE_KINDS)
            graph->confidence = bound;
        else
            promises[graph->n_promises++] = (struct dfc_promise){ (enum df_promise_kind)word, ast->unit.text, bound, ast->loc };
    }
    return ok;
}
