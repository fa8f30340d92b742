/* expect.c - the words of a syntax error: "expected ';' after the call, found 'graph'", where it stands, and a hint.
 *
 * The parser knows every token that would fit, which is too much to say. The set is first brought to what a person
 * would name: the tokens that begin an expression become "an expression"; those that could only have gone on with
 * what is complete already (operators, '[', '@') are left out where something else is expected as well.
 */
#include <stdio.h>
#include <string.h>

#include "dsl/reader.h"

enum { MOST = 64, MOST_SHOWN = 6 };

struct expectation {
    const char *names[MOST];
    size_t n;
};

static bool has(const struct expectation *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) == 0)
            return true;
    return false;
}

static void drop(struct expectation *e, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->names[i], name) != 0)
            e->names[kept++] = e->names[i];
    e->n = kept;
}

static void drop_all(struct expectation *e, const char *const *names)
{
    for (; *names; names++)
        drop(e, *names);
}

static bool has_all(const struct expectation *e, const char *const *names)
{
    for (; *names; names++)
        if (!has(e, *names))
            return false;
    return true;
}

/* Where all of `names` are expected, one phrase stands for them and for what is in `more`. */
static bool replace(struct expectation *e, const char *const *names, const char *const *more, const char *phrase)
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

static void simplify(struct expectation *e, const char *after)
{
    static const char *const soft_words[] = {"'ordered'", "'stream'", "'once'", "'sync'", "'threads'", "'tolerance'",
                                             "'cost'", "'split'", "'halo'", "'dynamic'", NULL};
    static const char *const operators[] = {"'*'", "'/'", "'%'", "'+'", "'-'", "'<'", "'<='", "'>'", "'>='", "'=='",
                                            "'!='", "'&&'", "'||'", NULL};
    static const char *const operands[] = {"a name", "an integer", "a float", "a string", "'!'", "'-'", "'('", NULL};
    static const char *const literals[] = {"an integer", "a float", "a string", NULL};
    static const char *const numbers[] = {"an integer", "a float", NULL};
    static const char *const declarations[] = {"'param'", "'arg'", "'type'", "'import'", "'link'", "'kernel'",
                                               "'graph'", "'platform'", NULL};
    static const char *const statements[] = {"a name", "'for'", "'if'", "'('", NULL};
    static const char *const modes[] = {"'in'", "'out'", "'inout'", "'tmp'", "'acc'", NULL};
    static const char *const traits[] = {"'ordered'", "'stream'", "'once'", "'sync'", "'threads'", "'tolerance'", NULL};
    static const char *const only_else[] = {"'else'", NULL};
    static const char *const continuations[] = {"'['", "'@'", "'split'", "'halo'", "'dynamic'", "':'", "'<<<'", NULL};
    static const char *const end[] = {"the end of the file", NULL};

    if (has(e, "a name") && has_all(e, soft_words))
        drop_all(e, soft_words);
    if (has_all(e, operators)) { /* an expression is complete, unless an operand is missing */
        drop_all(e, operators);
        drop(e, "a name"); /* a unit */
        drop(e, "'['");
        if (e->n > 1)
            drop(e, "'('");
    }
    if (!replace(e, operands, NULL, "an expression") &&
        !replace(e, literals, (const char *const[]){"'-'", NULL}, "a literal"))
        replace(e, numbers, NULL, "a number");
    if (replace(e, declarations, end, "a declaration"))
        return;
    replace(e, statements, only_else, "a statement");
    replace(e, modes, NULL, "a port");
    if (replace(e, traits, NULL, "a trait"))
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a variant");
    else if (has(e, "a name") && has(e, "'cost'"))
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a variant");
    if (has(e, "')'"))
        drop(e, "'='"); /* of a keyword argument */
    if (strcmp(after, "number") == 0 && e->n > 1)
        drop(e, "a name"); /* a unit */
    if (strcmp(after, "prices") == 0)
        replace(e, (const char *const[]){"a name", NULL}, NULL, "a class");
    bool ends = has(e, "';'") || has(e, "','") || has(e, "')'") || has(e, "']'") || has(e, "'='") || has(e, "'{'");
    if (ends)
        drop_all(e, continuations);
}

/* "a, b or c" */
static void list(char *text, size_t size, const struct expectation *e)
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
        {"hint", "the hint"}, {"hints", "the call"}, {"variant", "the variant"}, {"kernel_body", "the variant"},
        {"target_call", "the call"}, {"price", "the cost"}, {"prices", "the cost"}, {"a string", "the string"},
        {"a code block", "the code block"}, {"literal", "the default"}, {"value", "the value"}, {"values", "the value"},
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

/* The token that does not fit; but what is missing at a line's end is shown there. */
static struct dfl_loc place(const struct dfl_reader *r, const struct expectation *e)
{
    bool begins = has(e, "a statement") || has(e, "a declaration"); /* then nothing is missing before it */
    bool breaks = r->previous.loc.line != 0 && r->token.loc.line > r->previous.loc.line;
    if (r->token.length == 0 || (breaks && !begins))
        return dfl_reader_after(r);
    return r->token.loc;
}

/* ---- hints ---- */

static bool is_name(const char *found)
{
    return strcmp(found, "a name") == 0;
}

static bool is_trait(const char *found)
{
    static const char *const traits[] = {"'ordered'", "'stream'", "'once'", "'sync'", "'threads'", "'tolerance'"};
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (strcmp(found, traits[i]) == 0)
            return true;
    return false;
}

static bool is_word(const char *found)
{
    return found[0] == '\'' && found[1] >= 'a' && found[1] <= 'z';
}

static void hint_declaration(struct dfl_reader *r, const char *found)
{
    static const char *const words[] = {"param", "arg", "type", "import", "link", "kernel", "graph", "platform"};
    char text[DFL_MAX_NAME + 1];

    if (r->lone_brace) {
        dfl_hint(r->sink, "there is no '{' that this '}' closes");
        return;
    }
    if (is_name(found)) {
        snprintf(text, sizeof text, "%.*s", (int)r->token.length, r->text + r->token.offset);
        const char *close = dfl_suggest(text, words, sizeof words / sizeof words[0]);
        if (close) {
            dfl_hint(r->sink, "did you mean '%s'?", close);
            return;
        }
    }
    if (is_name(found) || strcmp(found, "'for'") == 0 || strcmp(found, "'if'") == 0 || strcmp(found, "'('") == 0)
        dfl_hint(r->sink, "statements stand inside a graph: graph main { ... }");
    else if (strcmp(found, "';'") == 0)
        dfl_hint(r->sink, "no ';' follows the '}' of a graph or platform");
    else
        dfl_hint(r->sink, "a file holds param, arg, type, import, link, kernel, graph and platform declarations");
}

/* Where a bracket that could be closed here was opened, if that is on another line. */
static void note_bracket(struct dfl_reader *r, const struct expectation *e)
{
    unsigned n = r->n_brackets;
    /* the token that does not fit may itself have opened one */
    if (n > 0 && r->brackets[n - 1].loc.line == r->token.loc.line && r->brackets[n - 1].loc.col == r->token.loc.col)
        n--;
    if (n == 0)
        return;
    const struct dfl_bracket *open = &r->brackets[n - 1];
    if (open->loc.line != r->token.loc.line && has(e, open->open == '(' ? "')'" : "']'"))
        dfl_note(r->sink, open->loc, "to close this '%c'", open->open);
}

static void hint(struct dfl_reader *r, const char *after, const char *found, const struct expectation *e)
{
    const char *text = r->text + r->token.offset;
    int length = (int)r->token.length;

    if (has(e, "a declaration"))
        hint_declaration(r, found);
    else if (has(e, "a port") && is_name(found))
        dfl_hint(r->sink, "a port begins with its mode, as in 'in x: f32[n]'; scalars come after a ';'");
    else if (strcmp(found, "'else'") == 0)
        dfl_hint(r->sink, "'else' follows the '}' of an 'if'");
    else if ((has(e, "a name") || has(e, "a statement")) && is_word(found))
        dfl_hint(r->sink, "'%.*s' is a word of the language and cannot be a name", length, text);
    else if (has(e, "'('") && strcmp(after, "name") == 0 && strcmp(found, "';'") == 0)
        dfl_hint(r->sink, "a statement is a call, as in 'c = add(a, b);'");
    else if (strcmp(found, "'='") == 0 && strcmp(after, "name") == 0 && has(e, "'{'"))
        dfl_hint(r->sink, "'==' compares");
    else if (strcmp(after, "prices") == 0 && (strcmp(found, "an integer") == 0 || strcmp(found, "a float") == 0))
        dfl_hint(r->sink, "a cost has a unit, as in 'cost cpu 1.2ms gpu 80us'");
    else if (has(e, "a variant") && is_trait(found))
        dfl_hint(r->sink, "traits stand before the variants");
    else if (has(e, "';'") && (strcmp(after, "call") == 0 || strcmp(after, "hints") == 0))
        dfl_hint(r->sink, "a statement ends with ';'");
}

void dfl_expect_report(struct dfl_reader *r, const char *after, const char *found, const char *const *expected,
                       size_t n_expected)
{
    if (r->stopped || r->bad_token || dfl_arena_failed(r->arena))
        return;
    struct expectation e = {.n = n_expected < MOST ? n_expected : MOST};
    memcpy(e.names, expected, e.n * sizeof e.names[0]);
    simplify(&e, after);
    if (e.n == 1 && strcmp(after, "'='") == 0)
        replace(&e, (const char *const[]){"a name", NULL}, NULL, r->n_braces > 0 ? "a call" : "a format");

    char wanted[256], before[128], what[128];
    list(wanted, sizeof wanted, &e);
    name_before(r, before, sizeof before, after);
    name_found(r, what, sizeof what, found);
    dfl_error(r->sink, place(r, &e), "expected %s%s, found %s", e.n ? wanted : "something else", before, what);
    note_bracket(r, &e);
    hint(r, after, found, &e);
}
