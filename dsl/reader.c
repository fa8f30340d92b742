/* reader.c - the token filter between scanner (lexer.l) and parser (parser.y): tracks open brackets, limits their
 * nesting, and inserts a '}' that the author forgot. The files that report syntax errors ask it where the parser is.
 *
 * Words that begin a declaration are reserved. If one appears inside braces and is followed by what such a declaration
 * continues with, a '}' is missing: the parser is given one before the word. The open blocks close, the error names the
 * unmatched '{', and the rest of the file is parsed as intended. The end of the file is handled in the same way.
 */
#include <ctype.h>
#include <string.h>

#include "dsl/parse.h"
#include "dsl/reader.h"

#include "parser.h"

#include "lexer.h"
#include "runtime/base/array.h"

int dfl_yylex(DFL_YYSTYPE *value, struct dfl_loc *loc, struct dfl_reader *r);

struct dfl_loc dfl_reader_after(const struct dfl_reader *r)
{
    struct dfl_loc loc = r->previous.loc;
    if (loc.line == 0)
        return (struct dfl_loc){r->file, 1, 1, 2};
    loc.col = loc.end_col;
    loc.end_col++;
    return loc;
}

bool dfl_reader_in_formula(const struct dfl_reader *r)
{
    return r->n_braces > 0 && r->declaring && strcmp(r->declaring, "kernel") == 0;
}

bool dfl_reader_text_is(const struct dfl_reader *r, size_t offset, const char *begin)
{
    size_t n = strlen(begin);
    return offset <= r->length && n <= r->length - offset && memcmp(r->text + offset, begin, n) == 0;
}

/* ---- brackets ---- */

static int report_depth(struct dfl_reader *r, struct dfl_loc loc, const char *hint)
{
    dfl_error(r->sink, loc, "nested too deeply: more than %d levels", DFL_MAX_NESTING);
    dfl_hint(r->sink, "%s", hint);
    r->stopped = true;
    return DFL_T_END;
}

/* A statement or declaration begins with no '(' open, even if one was never closed before it. But a signature has its
 * ';' inside a '('. */
static void track_end(struct dfl_reader *r, unsigned still_open)
{
    if (r->n_brackets > still_open)
        r->n_brackets = still_open;
}

static bool is_open(const struct dfl_reader *r, char open)
{
    return r->n_brackets > 0 && r->brackets[r->n_brackets - 1].open == open;
}

/* Counts the brackets; a '?' is one that ':' closes. Gives the token's kind, or DFL_T_END if they are too deep. */
static int track(struct dfl_reader *r, int kind, struct dfl_loc loc)
{
    r->lone_brace = false;
    switch (kind) {
    case '(':
    case '[':
    case '?':
        if (r->n_brackets == DFL_MAX_NESTING)
            return report_depth(r, loc, dfl_reader_in_formula(r) ? "give a part of the expression a name with 'let'"
                                                                 : "give a part of the expression a name with 'param'");
        r->brackets[r->n_brackets++] = (struct dfl_bracket){(char)kind, loc};
        break;
    case ':':
        if (is_open(r, '?'))
            r->n_brackets--;
        break;
    case ')':
    case ']':
        while (is_open(r, '?'))
            r->n_brackets--;
        if (r->n_brackets > 0)
            r->n_brackets--;
        break;
    case ';':
        track_end(r, 1);
        break;
    case '{':
        track_end(r, 0);
        if (r->n_braces == DFL_MAX_NESTING)
            return report_depth(r, loc, "move the inner blocks into a graph of their own");
        r->braces[r->n_braces++] = loc;
        break;
    case '}':
        track_end(r, 0);
        if (r->n_braces > 0)
            r->n_braces--;
        else
            r->lone_brace = true;
        break;
    }
    return kind;
}

/* ---- missing braces ---- */

/* Does the text after the current token begin like the rest of a declaration: with a name, or with a string? */
static bool declaration_follows(const struct dfl_reader *r, bool string)
{
    size_t at = r->token.offset + r->token.length;
    while (at < r->length && (r->text[at] == ' ' || r->text[at] == '\t' || r->text[at] == '\r' || r->text[at] == '\n'))
        at++;
    if (at >= r->length)
        return false;
    unsigned char c = (unsigned char)r->text[at];
    return string ? c == '"' : isalpha(c) || c == '_';
}

static bool begins_declaration(const struct dfl_reader *r, int kind)
{
    switch (kind) {
    case DFL_T_PARAM: case DFL_T_ARG: case DFL_T_TYPE: case DFL_T_KERNEL: case DFL_T_GRAPH: case DFL_T_PLATFORM:
        return declaration_follows(r, false);
    case DFL_T_IMPORT: case DFL_T_LINK:
        return declaration_follows(r, true);
    default:
        return kind == DFL_T_TABLE; /* lexer.l has looked at what follows */
    }
}

void dfl_reader_report_missing(struct dfl_reader *r, struct dfl_loc open)
{
    if (r->missing_reported || r->stopped)
        return;
    r->missing_reported = true;
    if (r->token.length == 0)
        dfl_error(r->sink, dfl_reader_after(r), "expected '}' before the end of the file");
    else
        dfl_error(r->sink, dfl_reader_after(r), "expected '}' before '%.*s'", (int)r->token.length,
                  r->text + r->token.offset);
    dfl_note(r->sink, open, "to close this '{'");
}

/* The word, if the token is one that begins a declaration wherever it stands outside braces. NULL: it is none. */
static const char *declaring_word(int kind)
{
    static const struct {
        int kind;
        const char *word;
    } words[] = {
        {DFL_T_PARAM, "param"}, {DFL_T_ARG, "arg"}, {DFL_T_TYPE, "type"}, {DFL_T_IMPORT, "import"},
        {DFL_T_LINK, "link"}, {DFL_T_KERNEL, "kernel"}, {DFL_T_GRAPH, "graph"}, {DFL_T_PLATFORM, "platform"},
        {DFL_T_TABLE, "table"}, {DFL_T_RESOURCE, "resource"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].kind == kind)
            return words[i].word;
    return NULL;
}

static void note_declaration(struct dfl_reader *r, int kind)
{
    const char *word = declaring_word(kind);
    if (word)
        r->declaring = word;
}

/* ---- what the parser calls ---- */

static int insert_missing(struct dfl_reader *r, DFL_YYSTYPE *value, struct dfl_loc *loc)
{
    r->n_braces--;
    value->brace.missing = true;
    *loc = dfl_reader_after(r);
    return '}';
}

static void keep_token(struct dfl_tokens *tokens, const struct dfl_token_place *token, bool declares)
{
    if (DFR_ARRAY_ROOM(tokens->items, tokens->n, tokens->room))
        tokens->items[tokens->n++] = (struct dfl_token){token->offset, token->length, declares};
    else
        tokens->no_memory = true;
}

int dfl_yylex(DFL_YYSTYPE *value, struct dfl_loc *loc, struct dfl_reader *r)
{
    if (r->stopped || dfl_arena_failed(r->arena))
        return DFL_T_END;
    if (r->holds) {
        if (r->n_braces > 0)
            return insert_missing(r, value, loc);
        r->holds = r->missing_reported = false;
        value->name = r->held_name;
        note_declaration(r, r->held_kind);
        *loc = r->token.loc;
        return r->held_kind;
    }

    r->previous = r->token;
    r->bad_token = r->cut_line;
    r->cut_line = false;
    int kind = dfl_flex_lex(value, loc, r->scanner);
    r->token.loc = *loc;
    if (r->stopped)
        return DFL_T_END;
    if (r->tokens && kind != DFL_T_END)
        keep_token(r->tokens, &r->token, declaring_word(kind) != NULL);
    if (kind == DFL_T_END || begins_declaration(r, kind)) {
        track_end(r, 0);
        if (r->n_braces > 0) {
            r->holds = true;
            r->held_kind = kind;
            r->held_name = kind == DFL_T_END ? (struct dfl_name){0} : value->name;
            return insert_missing(r, value, loc);
        }
    }
    if (r->n_braces == 0)
        note_declaration(r, kind);
    return track(r, kind, *loc);
}
