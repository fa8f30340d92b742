/* reader.h - the state that scanner, parser and the code for syntax errors share while one file is parsed. Private to
 * dsl/.
 *
 * The text passes through lexer.l (bytes to tokens), reader.c (bracket nesting and missing '}'), parser.y (tokens to
 * calls of build.h) and build*.c (nodes). expect.c words syntax errors; hint.c adds hints to them.
 *
 * Memory:   nodes and strings belong to the arena. None are freed individually, so error recovery cannot leak.
 * Lists:    a list that is being built is a ring, referred to by its last element, whose `next` is the first. DFL_FIRST
 *           turns the ring into the NULL-terminated list of ast.h.
 */
#ifndef DFL_READER_H
#define DFL_READER_H

#include "dsl/arena.h"
#include "dsl/ast.h"

/* ---- values of tokens and of nonterminals that are not nodes ---- */

struct dfl_number {
    int64_t i;
    double f;
    bool is_int;
    bool is_min; /* the digits are 2^63, which is right only after '-'; .i is INT64_MIN then */
};

struct dfl_code {
    const char *text;
    struct dfl_loc loc;
};

struct dfl_brace {
    bool missing; /* reader.c put this '}' in, before a declaration or the end of the file */
};

/* An expression, or the ring of a list of them, with the depth of the tree under it. */
struct dfl_tree {
    struct dfl_expr *e;
    unsigned depth;
    bool is_min; /* see dfl_number */
};

/* A run of '-' and '!', outermost first; the operand goes under `inner`. */
struct dfl_prefix {
    struct dfl_expr *outer, *inner;
    unsigned depth;
};

/* A ring of COND ? VALUE :, each the value of the one before it; their number; the depth of the tree. */
struct dfl_choices {
    struct dfl_expr *last;
    unsigned n, depth;
};

/* A ring of a reduction's ranges, with the depth of the deepest of their ends. */
struct dfl_ranges {
    struct dfl_range *last;
    unsigned depth;
};

/* An if and its else-ifs: the first statement, and the one that a further else would belong to. */
struct dfl_chain {
    struct dfl_stmt *first, *last;
};

/* ---- the reader ---- */

struct dfl_tokens; /* parse.h */

struct dfl_token_place { /* of one token, for messages */
    struct dfl_loc loc;
    size_t offset, length; /* in text; length 0: none, or the end of the file */
};

struct dfl_bracket {
    char open;
    struct dfl_loc loc;
};

struct dfl_reader {
    struct dfl_sink *sink;
    struct dfl_arena *arena;
    uint32_t file;
    const char *text; /* borrowed; begins after a byte order mark */
    size_t length;

    /* scanner */
    void *scanner;
    char *buffer;           /* flex's copy of text; it writes into it */
    uint32_t line, col;     /* of the next byte */
    struct dfl_loc opened;  /* where the comment or code block begins that is being read */
    struct dfl_loc inside;  /* the first byte of the code */
    size_t inside_offset;
    unsigned code_braces;

    /* tokens */
    struct dfl_tokens *tokens; /* NULL: they are not kept */
    struct dfl_token_place token, previous;
    struct dfl_bracket brackets[DFL_MAX_NESTING]; /* '(', '[' and '?' open since the last brace or statement */
    struct dfl_loc braces[DFL_MAX_NESTING];
    unsigned n_brackets, n_braces;
    const char *declaring; /* the word that began the declaration being read; NULL before the first */
    bool lone_brace; /* the token is a '}' that closes nothing */

    /* a token that waits while the parser is given the '}' missing before it */
    bool holds, missing_reported;
    int held_kind;
    struct dfl_name held_name;

    /* errors */
    struct dfl_loc bad; /* the last bytes that were no token */
    bool bad_token; /* the scanner has reported something since the previous token: an error here would repeat it */
    bool marks_hinted[3]; /* what to write for a '?' of `dfc wrap` has been said: for a port's mode, for an extent, for a launch */
    bool cut_line;  /* the current token swallowed the rest of its line; that may be why the next one does not fit */
    bool stopped;   /* a limit was passed: the rest of the file is not read, and causes no further error */
    bool no_memory; /* the parser's stack could not grow */

    struct dfl_decl *decls; /* ring */
    struct dfl_promise *promises; /* ring: of the graph being read */
};

/* reader.c: the location of one byte, just after the previous token. */
struct dfl_loc dfl_reader_after(const struct dfl_reader *r);

/* foreign.c: if the file is in another, known format, reports that in one error. false: it may be a .df file. */
bool dfl_foreign(struct dfl_sink *sink, uint32_t file, const char *text, size_t length);

/* reader.c: returns whether the token is inside the braces of a kernel. */
bool dfl_reader_in_formula(const struct dfl_reader *r);

/* reader.c: does the text from `offset` on begin with `begin`? */
bool dfl_reader_text_is(const struct dfl_reader *r, size_t offset, const char *begin);

/* reader.c: reports a '}' that was put in and fits the grammar; `open` is its '{'. One report covers all that are
 * missing at one place. */
void dfl_reader_report_missing(struct dfl_reader *r, struct dfl_loc open);

/* ---- literal.c: the values of literals; errors are reported, and some value is returned nevertheless ---- */

struct dfl_number dfl_literal_int(struct dfl_reader *r, struct dfl_loc loc, const char *digits);
struct dfl_number dfl_literal_float(struct dfl_reader *r, struct dfl_loc loc, const char *digits);
/* body[0..length): what is between the quotes; loc: of the opening quote */
const char *dfl_literal_string(struct dfl_reader *r, struct dfl_loc loc, const char *body, size_t length);
struct dfl_name dfl_literal_name(struct dfl_reader *r, struct dfl_loc loc, const char *text, size_t length);

/* ---- expect.c: the words of a syntax error ---- */

/* Reports a syntax error. `after`: what the parser has just read; `found`: the token that does not fit; `expected`: the
 * tokens that would fit. All are named as in parser.y. */
void dfl_expect_report(struct dfl_reader *r, const char *after, const char *found, const char *const *expected,
                       size_t n_expected);

/* Reports a name or number (the current token) after a ',' where a port is expected. */
void dfl_expect_no_port(struct dfl_reader *r, struct dfl_loc loc, bool is_name);

/* ---- lists ---- */

#define DFL_ONE(node) ((node)->next = (node))
#define DFL_MORE(ring, node) ((node)->next = (ring)->next, (ring)->next = (node))
#define DFL_FIRST(first, ring) \
    do { \
        __typeof__(ring) last_ = (ring); \
        (first) = last_ ? last_->next : NULL; \
        if (last_) \
            last_->next = NULL; \
    } while (0)

#endif
