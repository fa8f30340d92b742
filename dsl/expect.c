/* expect.c - phrases a syntax error for parser.y ("expected ';' after the call, found 'graph'"), finds its location,
 * and asks hint.c for a hint.
 *
 * The parser reports every token that would be valid, often too many to print, so the set is reduced to what a person
 * would name. Tokens that can begin an expression become "an expression". Tokens that could only continue something
 * complete (operators, '[', '@') are dropped if anything else is expected.
 */
#include <stdio.h>
#include <string.h>

#include "dsl/expect.h"

enum { MOST_SHOWN = 6 };

bool dfl_expected(const struct dfl_expectation *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) == 0)
            return true;
    return false;
}

static bool has(const struct dfl_expectation *e, const char *name)
{
    return dfl_expected(e, name);
}

static void drop(struct dfl_expectation *e, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) != 0)
            e->names[kept++] = e->names[i];
    e->n = kept;
}

static void drop_all(struct dfl_expectation *e, const char *const *names)
{
    for (; *names; names++)
        drop(e, *names);
}

static bool has_all(const struct dfl_expectation *e, const char *const *names)
{
    for (; *names; names++)
        if (!has(e, *names))
            return false;
    return true;
}

/* If all of `names` are expected, one phrase replaces them and whatever else of `more` is expected. */
static bool replace(struct dfl_expectation *e, const char *const *names, const char *const *more, const char *phrase)
{
    if (!has_all(e, names))
        return false;
    drop_all(e, names);
    if (more)
        drop_all(e, more);
    memmove(e->names + 1, e->names, e->n * sizeof e->names[0]);
    e->names[0] = phrase;
    e->n++;
    return true;
}

#define TRAIT(NAME, word) "'" word "'",
static void simplify(struct dfl_expectation *e, const char *after, bool formula)
{
    static const char *const soft_words[] = {
#include "dsl/traits.def"
                                             "'flags'", "'open'", "'close'", "'cost'", "'split'", "'halo'",
                                             "'dynamic'", "'help'", "'while'", NULL};
    static const char *const operators[] = {"'*'", "'/'", "'%'", "'+'", "'-'", "'<'", "'<='", "'>'", "'>='", "'=='",
                                            "'!='", "'&&'", "'||'", NULL};
    static const char *const operands[] = {"a name", "an integer", "a float", "a string", "'!'", "'-'", "'('", NULL};
    static const char *const formula_operators[] = {"'?'", "'|'", "'^'", "'&'", "'<<'", "'>>'", NULL};
    static const char *const formula_operands[] = {"a name", "an integer", "a float", "'!'", "'-'", "'~'", "'('", NULL};
    static const char *const formula_words[] = {"a name", "'let'", NULL};
    static const char *const assigns[] = {"'='", "'+='", "'min='", "'max='"};
    static const char *const statement_words[] = {"'for'", "'if'", "'else'", NULL};
    static const char *const literals[] = {"an integer", "a float", "a string", NULL};
    static const char *const numbers[] = {"an integer", "a float", NULL};
    static const char *const declarations[] = {"'param'", "'arg'", "'type'", "'import'", "'link'", "'kernel'",
                                               "'graph'", "'platform'", "'table'", "'resource'", NULL};
    static const char *const statements[] = {"a name", "'for'", "'if'", "'('", NULL};
    static const char *const modes[] = {"'in'", "'out'", "'inout'", "'tmp'", "'acc'", NULL};
    static const char *const traits[] = {
#include "dsl/traits.def"
                                         NULL};
    static const char *const no_begin[] = {"'else'", "'promise'", NULL};
    static const char *const continuations[] = {"'['", "'@'", "'split'", "'halo'", "'border'", "'dynamic'", "'<<<'", "'->'",
                                                "a string", "a code block", "'flags'", "'help'", "'open'", "'close'", "'while'", NULL};
    static const char *const end[] = {"the end of the file", NULL};

    if (has(e, "a name") && has_all(e, soft_words))
        drop_all(e, soft_words);
    if (strcmp(after, "formulas") == 0)
        replace(e, formula_words, statement_words, "a formula");
    if (has(e, "a name") || has(e, "a formula"))
        drop_all(e, (const char *const[]){"'let'", "'border'", "'help'", NULL});
    if (has(e, "'+='") && e->n + 2 < DFL_MOST_EXPECTED) {
        drop(e, "a name");
        drop(e, "'='");
        drop(e, "'+='");
        for (size_t i = 0; i < sizeof assigns / sizeof assigns[0]; i++)
            e->names[e->n++] = assigns[i];
    }
    if (strcmp(after, "'->'") == 0)
        replace(e, (const char *const[]){"a name", NULL}, NULL, "'void'");
    if (has_all(e, operators)) { /* if operators fit, an expression has just ended */
        drop_all(e, operators);
        drop_all(e, formula_operators);
        drop(e, "a name"); /* a unit */
        drop(e, "'['");
        if (e->n > 1)
            drop(e, "'('");
    }
    if (!replace(e, operands, NULL, "an expression") && !replace(e, formula_operands, NULL, "an expression") &&
        !replace(e, literals, (const char *const[]){"'-'", NULL}, "a literal"))
        replace(e, numbers, NULL, "a number");
    if (replace(e, declarations, end, "a declaration"))
        return;
    replace(e, statements, no_begin, "a statement");
    replace(e, modes, NULL, "a port");
    if (replace(e, traits, NULL, "a trait"))
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a variant");
    else if (has(e, "a name") && has(e, "'cost'"))
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a variant");
    if (has(e, "')'"))
        drop(e, "'='"); /* of a keyword argument */
    if (strcmp(after, "number") == 0) {
        if (e->n > 1)
            drop(e, "a name"); /* a unit, which may be left out */
        else
            replace(e, (const char *const[]){"a name", NULL}, NULL, "a unit of time");
    }
    if (strcmp(after, "prices") == 0 || strcmp(after, "'cost'") == 0)
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a class");
    bool ends = has(e, "';'") || has(e, "','") || has(e, "')'") || has(e, "']'") || has(e, "'='") || has(e, "'{'");
    if (ends)
        drop_all(e, continuations);
    if (ends && !formula)
        drop(e, "':'");
}

/* "a, b or c" */
static void list(char *text, size_t size, const struct dfl_expectation *e)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < e->n && i < MOST_SHOWN && used < size; i++) {
        bool last = i + 1 == e->n || i + 1 == MOST_SHOWN;
        int n = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : last ? " or " : ", ", e->names[i]);
        if (n < 0)
            return;
        used += (size_t)n;
    }
}

/* ---- what was read before, what was found ---- */

static void name_before(const struct dfl_reader *r, char *text, size_t size, const char *after)
{
    static const struct {
        const char *symbol, *words;
    } phrases[] = {
        {"call", "the call"}, {"expr", "the expression"}, {"unary", "the expression"}, {"primary", "the expression"},
        {"exprs", "the expression"}, {"actual", "the argument"}, {"actuals", "the arguments"}, {"format", "the format"},
        {"dims", "the format"}, {"sig", "the signature"}, {"port", "the port"}, {"ports", "the ports"},
        {"hint", "the hint"}, {"hints", "the call"}, {"variant", "the variant"}, {"variant_code", "the variant"},
        {"kernel_body", "the variant"},
        {"target_call", "the call"}, {"price", "the cost"}, {"prices", "the cost"}, {"a string", "the string"},
        {"more_files", "the string"}, {"code_file", "the string"}, {"flags", "the string"},
        {"a code block", "the code block"}, {"literal", "the default"}, {"help", "the description"},
        {"fexpr", "the expression"}, {"fexprs", "the expression"}, {"fbinary", "the expression"},
        {"funary", "the expression"}, {"fprimary", "the expression"}, {"ranges", "the range"}, {"range", "the range"},
        {"edge", "the border"}, {"formula_kernel", "the formulas"},
    };

    text[0] = '\0';
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (strcmp(phrases[i].symbol, after) == 0) {
            snprintf(text, size, " after %s", phrases[i].words);
            return;
        }
    size_t length = r->previous.length;
    const char *before = r->text + r->previous.offset;
    bool ends = length > 0 && strchr("{};", *before);
    if (length > 0 && length <= 40 && !ends && !memchr(before, '\n', length))
        snprintf(text, size, " after '%.*s'", (int)length, before);
}

static void name_found(const struct dfl_reader *r, char *text, size_t size, const char *found)
{
    bool plain = strcmp(found, "a string") != 0 && strcmp(found, "a code block") != 0;
    if (r->token.length == 0)
        snprintf(text, size, "the end of the file");
    else if (!plain)
        snprintf(text, size, "%s", found);
    else if (r->token.length > 40)
        snprintf(text, size, "'%.37s...'", r->text + r->token.offset);
    else
        snprintf(text, size, "'%.*s'", (int)r->token.length, r->text + r->token.offset);
}

/* Where the error is shown: at the token that does not fit. If something is missing at a line's end, it is shown
 * there. */
static struct dfl_loc place(const struct dfl_reader *r, const struct dfl_expectation *e)
{
    bool begins = has(e, "a statement") || has(e, "a declaration") || has(e, "a formula"); /* nothing is missing before
                                                                                            * what may begin one */
    bool breaks = r->previous.loc.line != 0 && r->token.loc.line > r->previous.loc.line;
    if (r->token.length == 0 || (breaks && !begins))
        return dfl_reader_after(r);
    return r->token.loc;
}

/* If a bracket is open that could be closed here, says where it was opened, unless that is on this line. */
static void note_bracket(struct dfl_reader *r, const struct dfl_expectation *e)
{
    unsigned n = r->n_brackets;
    /* the token that does not fit may itself have opened one */
    if (n > 0 && r->brackets[n - 1].loc.line == r->token.loc.line && r->brackets[n - 1].loc.col == r->token.loc.col)
        n--;
    if (n == 0)
        return;
    const struct dfl_bracket *open = &r->brackets[n - 1];
    if (open->loc.line != r->token.loc.line && has(e, open->open == '(' ? "')'" : open->open == '[' ? "']'" : "':'"))
        dfl_note(r->sink, open->loc, "to close this '%c'", open->open);
}

void dfl_expect_no_port(struct dfl_reader *r, struct dfl_loc loc, bool is_name)
{
    const struct dfl_expectation e = {.names = {"a port"}, .n = 1};
    char what[128];
    name_found(r, what, sizeof what, "");
    dfl_error(r->sink, loc, "expected a port after ',', found %s", what);
    dfl_expect_hint(r, "','", is_name ? "a name" : "an integer", &e);
}

void dfl_expect_report(struct dfl_reader *r, const char *after, const char *found, const char *const *expected,
                       size_t n_expected)
{
    if (r->stopped || r->bad_token || dfl_arena_failed(r->arena))
        return;
    struct dfl_expectation e = {.n = n_expected < DFL_MOST_EXPECTED ? n_expected : DFL_MOST_EXPECTED};
    memcpy(e.names, expected, e.n * sizeof e.names[0]);
    simplify(&e, after, dfl_reader_in_formula(r));
    if (e.n == 1 && strcmp(after, "'='") == 0)
        replace(&e, (const char *const[]){"a name", NULL}, NULL, r->n_braces > 0 ? "a call" : "a format");

    if (dfl_expect_statement(r, after) || dfl_expect_misspelt(r, after, &e))
        return;
    char wanted[256], before[128], what[128];
    list(wanted, sizeof wanted, &e);
    name_before(r, before, sizeof before, after);
    name_found(r, what, sizeof what, found);
    dfl_error(r->sink, place(r, &e), "expected %s%s, found %s", e.n ? wanted : "something else", before, what);
    note_bracket(r, &e);
    dfl_expect_hint(r, after, found, &e);
}
