/* hint_formula.c - hints for syntax errors inside formulas and tables, for hint.c and expect.c: recognises how C and
 * NumPy would write it.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dsl/expect.h"

static bool is(const char *symbol, const char *name)
{
    return strcmp(symbol, name) == 0;
}

static bool token_is(const struct dfl_reader *r, const struct dfl_token_place *token, const char *text)
{
    return token->length == strlen(text) && dfl_reader_text_is(r, token->offset, text);
}

bool dfl_expect_statement(struct dfl_reader *r, const char *after)
{
    bool loop = token_is(r, &r->previous, "for");
    if (!is(after, "statement_word"))
        return false;
    if (token_is(r, &r->previous, "else") && dfl_sink_errors(r->sink) > 0)
        return true; /* its 'if' was reported */
    dfl_error(r->sink, r->previous.loc, "formulas have no '%.*s' statement", (int)r->previous.length,
              r->text + r->previous.offset);
    dfl_hint(r->sink, "%s", loop ? "a formula holds for all its indices, as in 'o[y, x] = 2 * a[y, x];'; a reduction "
                                   "has ranges, as in 'sum(i in 0..n: v[i])'"
                                 : "a condition chooses a value, as in 'o[y] = a[y] > 0 ? a[y] : 0;'");
    return true;
}

/* Does "return" stand in front of this token? */
static bool after_return(const struct dfl_reader *r, const struct dfl_token_place *token)
{
    static const char word[] = "return";
    size_t at = token->offset, length = strlen(word);
    while (at > 0 && isspace((unsigned char)r->text[at - 1]))
        at--;
    return at < token->offset && at >= length && memcmp(r->text + at - length, word, length) == 0 &&
           (at == length || !(isalnum((unsigned char)r->text[at - length - 1]) || r->text[at - length - 1] == '_'));
}

static const char *hint_left_side(const struct dfl_reader *r, const char *found, const struct dfl_expectation *e)
{
    bool let = token_is(r, &r->previous, "let") || !dfl_expected(e, "'+='");
    if (is(found, "'=='"))
        return "'==' compares; a formula has '='";
    if (after_return(r, &r->previous))
        return "a formula returns nothing: it gives a port its elements, as in 'o[y, x] = ...;'";
    if (is(found, "'('") && (token_is(r, &r->previous, "print") || token_is(r, &r->previous, "printf")))
        return "formulas print nothing: a kernel of C code does, as in 'kernel show(in v: f32[n]) ordered cpu {{ printf(...); }};'";
    if (is(found, "'('"))
        return let ? "indices stand in brackets: 'let d[i, j] = ...;'" : "indices stand in brackets: 'o[y, x] = ...;'";
    if (is(found, "'['"))
        return "all indices stand in one pair of brackets: 'o[y, x]'";
    if (is(found, "':'"))
        return "a format stands in the signature; the type of a value is that of its expression";
    if (let)
        return "a value gets a name by 'let NAME = ...;', a port its elements by 'NAME[y, x] = ...;'";
    return "a formula is 'NAME[y, x] = ...;', or has '+=', 'min=' or 'max=' in the place of '='";
}

/* Does this ')' end a name in parentheses, as a cast of C does? A call of a function is none. */
static bool ends_cast(const struct dfl_reader *r, const struct dfl_token_place *close)
{
    const char *text = r->text;
    size_t at = close->offset, end;
    if (!token_is(r, close, ")"))
        return false;
    for (end = at; at > 0 && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_'); at--)
        ;
    if (at == end || at == 0 || text[at - 1] != '(')
        return false;
    at--;
    return at == 0 || !(isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_');
}

/* After a complete expression: `found` does not go on with it. */
static const char *hint_expression(const struct dfl_reader *r, const char *found, const struct dfl_expectation *e)
{
    const struct dfl_token_place *token = &r->token, *previous = &r->previous;
    bool number = strchr("0123456789", r->text[previous->offset]) != NULL;
    bool range_open = dfl_expected(e, "'if'");

    if (is(found, "'='") && token_is(r, previous, "let"))
        return "no formula can assign to a port that is named 'let'";
    if (is(found, "'='"))
        return range_open ? "a ':' stands before what is reduced: 'sum(i in 0..n: v[i])'"
               : r->n_brackets > 0 && is(e->names[0], "'in'") ? "a range is 'i in 0..n'" : "'==' compares";
    if (is(e->names[0], "'in'") && (e->n == 1 || is(found, "':'")))
        return e->n == 1 ? "a ':' stands before what is reduced: 'sum(i in 0..n: v[i])'" : "a range is 'i in 0..n'";
    if (is(found, "'if'"))
        return "a choice is 'condition ? value : other'";
    if (is(found, "'in'"))
        return "a reduction has its ranges in parentheses: 'sum(i in 0..n: v[i])'";
    if (is(found, "'['"))
        return "all indices stand in one pair of brackets: 'a[y, x]'";
    if (is(found, "'>>>'"))
        return "'>>' shifts";
    if (is(found, "'<<<'"))
        return "'<<' shifts";
    if (dfl_expected(e, "'..'"))
        return "a range is 'i in 0..n', where i ends at n - 1";
    if (is(found, "a name") && number && token->offset == previous->offset + previous->length)
        return "a number has no suffix: its type is that of what stands beside it";
    if ((is(found, "a name") || is(found, "an integer") || is(found, "a float")) && ends_cast(r, previous))
        return "a conversion is a function: 'i32(x)'";
    if (is(found, "a name") && token_is(r, token, "and"))
        return "'and' is '&&'";
    if (is(found, "a name") && token_is(r, token, "or"))
        return "'or' is '||'";
    if (is(found, "a name") && token_is(r, token, "is"))
        return "'==' compares";
    if (is(found, "a name") && token_is(r, previous, "not"))
        return "'not' is '!'";
    if (is(found, "a name") && token_is(r, previous, "lambda"))
        return "a formula is no function; 'let NAME[i] = ...;' names one for each i";
    if (is(found, "'for'"))
        return "a reduction has its ranges first: 'sum(i in 0..n: v[i])'";
    if (is(found, "':'") && r->n_brackets > 0 && dfl_expected(e, "']'"))
        return "a formula reads one element: a range of them is reduced, as in 'sum(i in 0..n: v[i])'";
    if (range_open && !is(found, "';'"))
        return "a ':' stands before what is reduced: 'sum(i in 0..n: v[i])'";
    if (dfl_expected(e, "':'") && !dfl_expected(e, "')'"))
        return "a choice is 'condition ? value : other'";
    return dfl_expected(e, "';'") ? "a formula ends with ';'" : NULL;
}

static const char *hint_operand(const struct dfl_reader *r, const char *found)
{
    if (is(found, "'*'") && token_is(r, &r->previous, "*"))
        return "a power is 'pow(x, 2)'";
    if (is(found, "'&'") || is(found, "'*'"))
        return "formulas have no pointers: an element is 'a[y, x]'";
    if (is(found, "'='") && token_is(r, &r->previous, ".."))
        return "a range leaves its upper end out: 'i in 0..n' ends at n - 1";
    if (is(found, "'if'"))
        return "a choice is 'condition ? value : other'";
    if (is(found, "'='"))
        return "a formula has '=', '+=', 'min=' or 'max='";
    if (is(found, "'>'") && token_is(r, &r->previous, "<"))
        return "'!=' compares";
    if (is(found, "'for'"))
        return "a range is 'i in 0..n'";
    if (is(found, "a string"))
        return "formulas compute with numbers and truth values";
    return NULL;
}

static const char *hint_table(const char *after, const char *found, const struct dfl_expectation *e)
{
    if (is(found, "'{'") && dfl_expected(e, "an expression"))
        return "a table of any rank is a flat list, row by row: '{ 1, 2, 3, 4 }'";
    if (is(found, "'['") && is(after, "'='"))
        return "the numbers stand in braces: 'table k: f32[3] = { 1, 2, 1 };'";
    if (dfl_expected(e, "':'") || dfl_expected(e, "'='") || dfl_expected(e, "'{'"))
        return "a table is 'table k: f32[3] = { 1, 2, 1 };'";
    return NULL;
}

/* An expression of a formula that is cut off by '//' on its line. */
static bool cut_by_comment(const struct dfl_reader *r, const char *after)
{
    size_t at = r->previous.offset + r->previous.length;
    if (!is(after, "fexpr") && !is(after, "fbinary") && !is(after, "funary") && !is(after, "fprimary") && !is(after, "name"))
        return false;
    while (at < r->length && (r->text[at] == ' ' || r->text[at] == '\t'))
        at++;
    return dfl_reader_text_is(r, at, "//") && r->declaring && is(r->declaring, "kernel");
}

bool dfl_expect_hint_formula(struct dfl_reader *r, const char *after, const char *found,
                             const struct dfl_expectation *e)
{
    if (cut_by_comment(r, after)) {
        dfl_hint(r->sink, "'//' begins a comment; a quotient that is rounded down is 'floor(a / b)'");
        return true;
    }
    const char *hint = NULL;
    bool table = r->declaring && is(r->declaring, "table");
    bool opens = is(found, "'{'") && r->n_braces == 1; /* the token itself is the first brace */
    if (!table && (opens || !dfl_reader_in_formula(r)))
        return false;
    if (table)
        hint = hint_table(after, found, e);
    else if (is(found, "a code block"))
        hint = "inline code stands behind the formulas, in a variant: '} cpu {{ ... }}'";
    else if (dfl_expected(e, "'='") && !dfl_expected(e, "')'"))
        hint = hint_left_side(r, found, e);
    else if (dfl_expected(e, "an expression"))
        hint = hint_operand(r, found);
    else if (!dfl_expected(e, "a formula"))
        hint = hint_expression(r, found, e);
    if (hint)
        dfl_hint(r->sink, "%s", hint);
    return true;
}
