/* hint.c - hints for the syntax errors that expect.c reports: recognises constructs of C, Python or CUDA and says how
 * they are written in this language.
 *
 * Each group of functions below covers one part of the language and returns whether it printed a hint; the first hint
 * ends the search. An error that matches no common mistake gets none.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "dsl/expect.h"

/* One error, as the functions below see it. */
struct fault {
    struct dfl_reader *r;
    const char *after, *found;
    const struct dfl_expectation *e;
};

static bool has(const struct fault *f, const char *name)
{
    return dfl_expected(f->e, name);
}

static bool is(const char *symbol, const char *name)
{
    return strcmp(symbol, name) == 0;
}

static bool found_number(const struct fault *f)
{
    return is(f->found, "an integer") || is(f->found, "a float");
}

static bool found_operator(const struct fault *f)
{
    return f->found[0] == '\'' && strchr("+-*/%", f->found[1]);
}

static bool is_trait(const char *found)
{
    static const char *const traits[] = {
#define TRAIT(NAME, word) "'" word "'",
#include "dsl/traits.def"
#undef TRAIT
    };
    for (size_t i = 0; i < sizeof traits / sizeof traits[0]; i++)
        if (is(found, traits[i]))
            return true;
    return false;
}

static bool is_word(const char *found)
{
    return found[0] == '\'' && found[1] >= 'a' && found[1] <= 'z';
}

static bool declares(const struct fault *f, const char *word)
{
    return f->r->declaring && is(f->r->declaring, word);
}

/* The text of a token, cut to DFL_MAX_NAME bytes. */
static void text_of(const struct dfl_reader *r, const struct dfl_token_place *token, char text[DFL_MAX_NAME + 1])
{
    snprintf(text, DFL_MAX_NAME + 1, "%.*s", (int)token->length, r->text + token->offset);
}

/* The last byte before the token that is no blank. 0: the token is the text's first. */
static char byte_before(const struct dfl_reader *r, const struct dfl_token_place *token)
{
    size_t at = token->offset;
    while (at > 0 && isspace((unsigned char)r->text[at - 1]))
        at--;
    return at > 0 ? r->text[at - 1] : '\0';
}

/* Prints `hint` unless it is NULL; gives whether it did. */
static bool say(const struct fault *f, const char *hint)
{
    if (hint)
        dfl_hint(f->r->sink, "%s", hint);
    return hint != NULL;
}

/* Prints the hint "did you mean …" if one of the words is close to the token. */
static bool hint_close(const struct fault *f, const struct dfl_token_place *token, const char *const *words, size_t n)
{
    char text[DFL_MAX_NAME + 1];
    text_of(f->r, token, text);
    const char *close = dfl_suggest(text, words, n);
    if (close)
        dfl_hint(f->r->sink, "did you mean '%s'?", close);
    return close != NULL;
}

/* ---- declarations ---- */

/* Words that begin a declaration in other languages. */
static const char *foreign_declaration(const char *word)
{
    static const struct {
        const char *word, *hint;
    } foreign[] = {
        {"const", "a constant is 'param n = 4;'"}, {"constexpr", "a constant is 'param n = 4;'"},
        {"define", "a constant is 'param n = 4;'"}, {"let", "a constant is 'param n = 4;'"},
        {"int", "a constant is 'param n = 4;'"}, {"var", "a constant is 'param n = 4;'"},
        {"include", "another file is read by 'import \"lib.df\";'"},
        {"use", "another file is read by 'import \"lib.df\";'"},
        {"void", "a function is declared by 'kernel NAME(in a: f32[k], out b: f32[k]) cpu \"file.c\";'"},
        {"function", "a function is declared by 'kernel NAME(in a: f32[k], out b: f32[k]) cpu \"file.c\";'"},
        {"typedef", "a format gets a name by 'type vec = f32[n];'"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (is(word, foreign[i].word))
            return foreign[i].hint;
    return NULL;
}

static bool hint_declaration(const struct fault *f)
{
    static const char *const words[] = {"param", "arg", "type", "import", "link", "kernel", "graph", "platform"};
    char text[DFL_MAX_NAME + 1];

    if (!has(f, "a declaration"))
        return false;
    if (f->r->lone_brace)
        return say(f, "there is no '{' that this '}' closes");
    if (is(f->found, "a name")) {
        if (hint_close(f, &f->r->token, words, sizeof words / sizeof words[0]))
            return true;
        text_of(f->r, &f->r->token, text);
        if (say(f, foreign_declaration(text)))
            return true;
    }
    if (is(f->found, "a name") || is(f->found, "'for'") || is(f->found, "'if'") || is(f->found, "'('"))
        return say(f, "statements stand inside a graph: graph main { ... }");
    if (is(f->found, "';'"))
        return say(f, "no ';' follows the '}' of a graph or platform");
    return say(f, "a file holds param, arg, type, import, link, kernel, graph and platform declarations");
}

/* Declarations that end with ';': param, arg, type, import, link. */
static bool hint_constant(const struct fault *f)
{
    if (f->r->n_braces > 0)
        return false;
    if (is(f->after, "name") && declares(f, "param"))
        return say(f, is(f->found, "':'") ? "a param has no type: 'param n = 8;'"
                                          : "a param has a value, which 'dfc -D n=...' replaces: 'param n = 8;'");
    if (is(f->after, "name") && declares(f, "arg") && has(f, "':'"))
        return say(f, "an arg has a type, and it may have a default: 'arg n: i32 = 8;'");
    if (is(f->after, "name") && declares(f, "type") && has(f, "'='"))
        return say(f, "a format gets a name by 'type vec = f32[n];'");
    if (is(f->found, "a string") && has(f, "';'") && (declares(f, "arg") || declares(f, "param")))
        return say(f, "a description has the word 'help' before it: 'arg n: i32 = 8 help \"rows\";'");
    if (is(f->after, "help") && (is(f->found, "'='") || is(f->found, "'dynamic'")))
        return say(f, "a description comes last: 'arg n: i32 = 8 help \"rows\";'");
    if (is(f->after, "'help'"))
        return say(f, "a description stands in quotes: 'help \"rows\"'");
    if (is(f->after, "'import'"))
        return say(f, "the name of a file stands in quotes: 'import \"lib.df\";'");
    if (is(f->after, "'link'"))
        return say(f, "the name of a library stands in quotes: 'link \"openblas\";'");
    return false;
}

/* ---- kernels ---- */

static bool token_says(const struct fault *f, const char *text)
{
    return f->r->token.length == strlen(text) && dfl_reader_text_is(f->r, f->r->token.offset, text);
}

static bool hint_signature(const struct fault *f)
{
    static const char *const modes[] = {"in", "out", "inout", "tmp"};

    if (has(f, "a port") && is(f->found, "a name"))
        return hint_close(f, &f->r->token, modes, sizeof modes / sizeof modes[0]) ||
               (token_says(f, "border") && say(f, "a border stands behind a format: 'in x: f32[n] border clamp'")) ||
               say(f, "a port begins with its mode, as in 'in x: f32[n]'; scalars come after a ';'");
    if (f->r->n_braces > 0 || f->r->n_brackets == 0 || !is(f->after, "name") || !has(f, "':'"))
        return false;
    return say(f, is(f->found, "'['") || is(f->found, "a name") ? "the format stands after the name: 'in x: f32[n]'"
                                                                : "a port has a format: 'in x: f32[n]'");
}

/* After a class a string or a code block must come. */
static bool hint_variant(const struct fault *f)
{
    char previous[DFL_MAX_NAME + 1];

    if (!has(f, "a code block") && !(is(f->found, "a code block") && has(f, "a variant")))
        return false;
    text_of(f->r, &f->r->previous, previous);
    if (is(f->found, "'{'"))
        return say(f, "code stands between '{{' and '}}'");
    if (is(f->found, "a code block"))
        return say(f, "inline code names its class: 'cpu {{ ... }}'");
    if (is(f->found, "'('") && byte_before(f->r, &f->r->previous) == '"')
        return say(f, "a function follows a ':', as in 'cpu \"old.c\": my_add(a, b)'");
    if (is(f->found, "a name") && dfl_reader_text_is(f->r, f->r->token.offset + f->r->token.length, "."))
        return say(f, "the name of a file stands in quotes: 'cpu \"kernels.c\"'");
    if (is(f->found, "a name") && !is(previous, "cpu") && !is(previous, "gpu"))
        return say(f, "what stands before a variant is a trait, one of:"
#define TRAIT(NAME, word) " " word
#include "dsl/traits.def"
#undef TRAIT
        );
    return false;
}

static bool hint_target(const struct fault *f)
{
    if (!declares(f, "kernel"))
        return false;
    if (is(f->found, "'<'") && (has(f, "';'") || has(f, "'<<<'")))
        return say(f, "a launch is '<<<grid, block>>>'");
    const bool nothing = dfl_reader_text_is(f->r, f->r->token.offset, "-> void");
    if (is(f->found, "'->'") && byte_before(f->r, &f->r->token) == ')' && has(f, "'{'") && !nothing)
        return say(f, "results are out ports: 'kernel f(in a: f32[n], out b: f32[n])'");
    if (is(f->found, "'->'"))
        return say(f, "'-> void' follows a function and its arguments, as in 'cpu \"old.c\": my_add(a, b) -> void'");
    if (is(f->found, "'>'") && is(f->after, "'>'"))
        return say(f, "a launch that begins with '<<<' ends with '>>>'");
    return false;
}

/* Files of a variant, and their flags. */
static bool hint_files(const struct fault *f)
{
    static const char each[] = "flags stand after the name of each file that they are for: 'cpu \"a.c\" flags \"-O3\" \"b.c\" flags \"-O3\": f(a)'; "
                               "dfc's --cflags are for all files";

    if (!declares(f, "kernel"))
        return false;
    if (is(f->found, "'flags'"))
        return say(f, each);
    if (is(f->after, "'flags'"))
        return say(f, "flags stand in quotes: 'cpu \"a.c\" flags \"-O3\": f(a)'");
    if (!is(f->found, "','") || !has(f, "a variant"))
        return false;
    return say(f, byte_before(f->r, &f->r->token) == '"' ? "files stand one after another, without commas: 'cpu \"a.c\" \"b.c\": f(a)'"
                                                          : "traits and variants stand one after another, without commas");
}

static bool hint_cost(const struct fault *f)
{
    if (has(f, "a unit of time"))
        return say(f, "units of time are s, ms, us and ns");
    if (is(f->after, "'cost'") && found_number(f))
        return say(f, "a cost names its class: 'cost cpu 1.2ms gpu 80us'");
    if (!is(f->after, "prices"))
        return false;
    if (found_number(f))
        return say(f, "a cost has a unit, as in 'cost cpu 1.2ms gpu 80us'");
    return found_operator(f) && say(f, "a cost that is computed stands in parentheses: 'cost cpu (2us + 1ns * k)'");
}

/* ---- graphs ---- */

static bool follows_type(const struct dfl_reader *r);

static bool hint_extent(const struct fault *f)
{
    if (is(f->found, "'('") && byte_before(f->r, &f->r->token) != ']' && follows_type(f->r))
        return say(f, "extents stand in brackets: 'f32[8]'");
    if (!is(f->found, "'<='") || !(is(f->after, "'['") || is(f->after, "','")))
        return false;
    return say(f, "an extent that differs from wave to wave has a name before its bound: 'u8[h <= 480]'");
}

static bool hint_loop(const struct fault *f)
{
    static const char form[] = "a loop is 'for i in 0..n { ... }', where i ends at n - 1";

    if (is(f->after, "'..'") && is(f->found, "'='"))
        return say(f, "the upper end of a range is not in it: '0..n + 1' ends at n");
    if (is(f->after, "'for'") && is(f->found, "'('"))
        return say(f, form);
    return (has(f, "'..'") || has(f, "'in'")) && !is_word(f->found) && say(f, form);
}

/* Does the previous token end what looks like a type: f32[8], float? */
static bool follows_type(const struct dfl_reader *r)
{
    static const char *const elements[] = {
#define DF_ELEMENT(ID, name, ...) #name,
#include "runtime/elements.def"
        "bytes"};
    char text[DFL_MAX_NAME + 1];

    text_of(r, &r->previous, text);
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (is(text, elements[i]))
            return true;
    return is(text, "]") || dfl_suggest_type(text);
}

static bool is_open_bracket(const struct dfl_reader *r)
{
    return r->n_brackets > 0 && r->brackets[r->n_brackets - 1].open == '[';
}

static bool token_before_is(const struct fault *f, const char *text)
{
    return f->r->previous.length == strlen(text) && dfl_reader_text_is(f->r, f->r->previous.offset, text);
}

static bool hint_statement(const struct fault *f)
{
    bool unfinished = is(f->after, "name") && has(f, "'('") && f->r->n_braces > 0;

    if (unfinished && token_before_is(f, "return"))
        return say(f, "a graph returns nothing: its out ports are assigned, as in 'w = f(v);'");
    if (unfinished && is(f->found, "'->'"))
        return say(f, "a stream goes into a call, as in 'f(a);' or 'b = f(a);'");
    if (f->r->n_braces > 0 && is(f->found, "'='") && byte_before(f->r, &f->r->token) == ':')
        return say(f, "'=' assigns: 'b = f(a);'");
    if (unfinished && is(f->found, "','"))
        return say(f, "several outputs stand in parentheses: '(a, b) = f(c);'");
    if (is(f->after, "name") && has(f, "'('") && is(f->found, "'}'"))
        return say(f, "a statement is a call, and ends with ';', as in 'c = add(a, b);'");
    if (is(f->found, "'@'"))
        return say(f, "a hint stands behind a call in a graph, as in 'b = f(a) @gpu;'");
    if (unfinished && (is(f->found, "';'") || is(f->found, "'['")))
        return say(f, byte_before(f->r, &f->r->previous) == '='
                          ? "a statement is a call, as in 'c = add(a, b);': a value cannot get a second name"
                          : "a statement is a call, as in 'c = add(a, b);'");
    if (f->r->n_braces > 0 && is(f->found, "a name") && has(f, "'='") && follows_type(f->r))
        return say(f, "a format stands after the name: 'a: f32[n] = make();'");
    if (is(f->found, "'='") && f->r->n_braces > 0 && (has(f, "'{'") || (has(f, "')'") && !has(f, "','"))))
        return say(f, "'==' compares");
    if (is(f->found, "':'") && is_open_bracket(f->r))
        return say(f, "an index is one number; a part of a stream is made by a kernel: 'kernel part(in v: f32[n], out w: f32[n - 4]) { w[i] = v[i + 4]; }'");
    if (is(f->found, "':'") && f->r->n_brackets > 0 && f->r->n_braces > 0 && has(f, "')'"))
        return say(f, "an output is assigned, as in 'b: f32[n] = f(a);'");
    return has(f, "';'") && (is(f->after, "call") || is(f->after, "hints")) && say(f, "a statement ends with ';'");
}

static bool hint_word(const struct fault *f)
{
    const bool mode = is(f->found, "'in'") || is(f->found, "'out'") || is(f->found, "'inout'") || is(f->found, "'tmp'") || is(f->found, "'acc'");

    if (mode && f->r->n_brackets > 0 && f->r->n_braces == 0)
        return say(f, "ports stand first, with ',' between them; scalars come after a ';'");
    if (is(f->found, "'else'"))
        return say(f, "'else' follows the '}' of an 'if'");
    if ((has(f, "a variant") || has(f, "a code block")) && is_trait(f->found))
        return say(f, "traits stand before the variants");
    if (!is_word(f->found) || !(has(f, "a name") || has(f, "a statement") || has(f, "an expression")))
        return false;
    dfl_hint(f->r->sink, "'%.*s' is a word of the language and cannot be a name", (int)f->r->token.length,
             f->r->text + f->r->token.offset);
    return true;
}

/* The word before the token may be another one misspelt: then that word is what is wrong. */
bool dfl_expect_misspelt(struct dfl_reader *r, const char *after, const struct dfl_expectation *e)
{
    static const char *const heads[] = {
#define TRAIT(NAME, word) word,
#include "dsl/traits.def"
#undef TRAIT
                                        "cost"},
                             *const statements[] = {"for", "if", "else"};
    const struct fault f = {.r = r, .after = after, .found = "", .e = e};
    bool head = has(&f, "a code block"), statement = is(after, "name") && has(&f, "'('") && r->n_braces > 0;
    const char *const *words = head ? heads : statements;
    size_t n = head ? sizeof heads / sizeof heads[0] : sizeof statements / sizeof statements[0];
    char text[DFL_MAX_NAME + 1];

    text_of(r, &r->previous, text);
    if (!(head || statement) || !dfl_suggest(text, words, n))
        return false;
    dfl_error(r->sink, r->previous.loc, head ? "unknown word '%s' in a kernel" : "unknown word '%s' in a graph", text);
    hint_close(&f, &r->previous, words, n);
    return true;
}

void dfl_expect_hint(struct dfl_reader *r, const char *after, const char *found, const struct dfl_expectation *e)
{
    if (dfl_expect_hint_formula(r, after, found, e))
        return;
    static bool (*const groups[])(const struct fault *) = {hint_declaration, hint_word, hint_constant, hint_signature,
                                                           hint_files, hint_variant, hint_target, hint_cost, hint_extent, hint_loop,
                                                           hint_statement};
    const struct fault f = {.r = r, .after = after, .found = found, .e = e};

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (groups[i](&f))
            return;
}
