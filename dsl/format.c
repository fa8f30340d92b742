/* format.c - the formatter behind `dfc --format`: groups the file's tokens and comments into lines, and decides where
 * spaces and line breaks go. It works on the token list and needs no syntax tree, because the parser has already
 * accepted the tokens. format_lines.c aligns and prints the lines.
 */
#include "dsl/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dsl/format_impl.h"
#include "dsl/parse.h"
#include "runtime/base/array.h"

struct formatter {
    struct dfl_item *items;
    struct dfl_line *lines;
    size_t n_items, room_items, n_lines, room_lines;
    bool no_memory;
};

bool dfl_item_is(const struct dfl_item *item, const char *text)
{
    return item->length == strlen(text) && memcmp(item->text, text, item->length) == 0;
}

static bool is(const struct dfl_item *item, const char *text)
{
    return dfl_item_is(item, text);
}

static bool is_word(const struct dfl_item *item)
{
    return isalpha((unsigned char)item->text[0]) || item->text[0] == '_';
}

static bool is_one_of(const struct dfl_item *item, const char *const *words)
{
    for (; *words; words++)
        if (is(item, *words))
            return true;
    return false;
}

bool dfl_item_opens(const struct dfl_item *item)
{
    return is(item, "(") || is(item, "[") || is(item, "<<<") || (item->list && is(item, "{"));
}

bool dfl_item_closes(const struct dfl_item *item)
{
    return is(item, ")") || is(item, "]") || is(item, ">>>") || (item->list && is(item, "}"));
}

/* ---- items ---- */

static void add_item(struct formatter *f, const char *text, size_t length, bool comment, unsigned newlines)
{
    if (!DFR_ARRAY_ROOM(f->items, f->n_items, f->room_items)) {
        f->no_memory = true;
        return;
    }
    bool ends_line = comment && text[1] == '/';
    while (ends_line && isspace((unsigned char)text[length - 1]))
        length--;
    f->items[f->n_items++] = (struct dfl_item){ .text = text, .length = length, .comment = comment,
                                                .newlines = newlines, .ends_line = ends_line,
                                                .several_lines = memchr(text, '\n', length) != NULL };
}

/* Adds the comments between two tokens. Gives how many line ends stand behind the last of them. */
static unsigned add_comments(struct formatter *f, const char *at, const char *end)
{
    unsigned newlines = 0;
    while (at < end) {
        newlines += *at == '\n';
        if (*at != '/') {
            at++;
            continue;
        }
        const char *stop = at[1] == '/' ? memchr(at, '\n', (size_t)(end - at))
                                        : (const char *)memmem(at + 2, (size_t)(end - at - 2), "*/", 2) + 2;
        stop = stop ? stop : end;
        add_item(f, at, (size_t)(stop - at), true, newlines);
        newlines = 0;
        at = stop;
    }
    return newlines;
}

static void add_items(struct formatter *f, const char *text, size_t length, const struct dfl_tokens *tokens)
{
    const char *at = text;
    for (size_t i = 0; i < tokens->n; i++) {
        const struct dfl_token *token = &tokens->items[i];
        unsigned newlines = add_comments(f, at, text + token->offset);
        add_item(f, text + token->offset, token->length, false, newlines);
        if (!f->no_memory)
            f->items[f->n_items - 1].declares = token->declares;
        at = text + token->offset + token->length;
    }
    add_comments(f, at, text + length);
}

/* ---- blanks ---- */

/* What the blanks before a token depend on, beside the tokens around it. */
struct context {
    const struct dfl_item *before, *earlier; /* the last two tokens; NULL: none */
    const struct dfl_item *declaration;      /* the word that began the declaration */
    unsigned brackets, braces;
    bool in_cost;                            /* of a kernel */
    unsigned choices[DFL_MAX_NESTING + 1];   /* by depth of brackets: each '?' whose ':' is still to come */
};

static bool is_operator(const struct dfl_item *item)
{
    static const char *const operators[] = { "*", "/", "%", "+", "-", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!",
                                             "?", "|", "^", "&", "<<", ">>", "~", NULL };
    return !item->comment && is_one_of(item, operators);
}

/* Is the operator after this token a prefix? */
static bool prefix_follows(const struct dfl_item *before)
{
    static const char *const openers[] = { "(", "[", ",", ";", "=", "+=", ":", "{", "..", "<<<", "in", "if", "halo", NULL };
    return !before || before->edges || is_operator(before) || is_one_of(before, openers);
}

static bool is_prefix(const struct context *c, const struct dfl_item *item)
{
    return is(item, "!") || is(item, "~") || (is(item, "-") && prefix_follows(c->before));
}

static bool space_before_bracket(const struct context *c)
{
    static const char *const words[] = { "if", "in", "=", "+=", ":", ",", ";", "{", "}", NULL };
    if (is_word(c->before) && c->in_cost && c->brackets == 0)
        return true;                    /* cost cpu (…) */
    if (is(c->before, "halo") && c->brackets == 1 && c->earlier && !is(c->earlier, "="))
        return true;                    /* split y halo (…) */
    return is_operator(c->before) || is_one_of(c->before, words);
}

static bool time_follows(const struct dfl_item *slash)
{
    static const char *const units[] = { "s", "ms", "us", "ns", NULL };
    return is_one_of(slash + 1, units);
}

/* A number and its unit: 10 us in a platform or a promise, 10us elsewhere. A unit that the digits would swallow stands apart. */
static bool space_before_unit(const struct context *c, const struct dfl_item *item)
{
    return is(c->declaration, "platform") || is(c->declaration, "graph") || is(item, "dynamic") || is(item, "split") || is(item, "halo") ||
           is(item, "border") || is(item, "if") || is(item, "help") || is(item, "while") ||
           strchr("eExX", item->text[0]);
}

/* Is it the '=' of 'o[y] min= e'? */
static bool ends_assign(const struct context *c, const struct dfl_item *item)
{
    return is(item, "=") && (is(c->before, "min") || is(c->before, "max")) && is(c->declaration, "kernel") &&
           c->earlier && (is(c->earlier, "]") || (is_word(c->earlier) && !is(c->earlier, "let")));
}

static bool ends_choice(const struct context *c, const struct dfl_item *item)
{
    return is(item, ":") && c->choices[c->brackets] > 0;
}

/* Does the description of an arg or param begin at item i? */
static bool begins_help(const struct formatter *f, size_t i)
{
    return is(&f->items[i], "help") && !f->items[i].comment && i + 1 < f->n_items && !f->items[i + 1].comment && f->items[i + 1].text[0] == '"';
}

static bool space_between(const struct context *c, const struct dfl_item *item)
{
    static const char *const tight_before[] = { ")", "]", ",", ";", ":", "[", "..", "<<<", ">>>", NULL },
                             *const tight_after[] = { "(", "[", "..", "<<<", ">>>", "@", NULL };
    const struct dfl_item *before = c->before;
    bool platform = is(c->declaration, "platform");
    if (is(before, "!") || is(before, "~") || (is(before, "-") && prefix_follows(c->earlier)))
        return false;
    if (ends_choice(c, item))
        return true;
    if (ends_assign(c, item))
        return false;
    if (is_one_of(item, tight_before) || is_one_of(before, tight_after))
        return false;
    if (platform && is(item, "/") && is_word(before) && time_follows(item))
        return false;
    if (platform && is(before, "/") && is_word(c->earlier) && time_follows(before))
        return false;
    if (is(item, "("))
        return space_before_bracket(c);
    if (isdigit((unsigned char)before->text[0]) && is_word(item))
        return space_before_unit(c, item);
    return true;
}

static bool begins_cost(const struct context *c, const struct dfl_item *item)
{
    return c->brackets == 0 && is(item, "cost") && is(c->declaration, "kernel") && !is(c->before, "kernel") &&
           !is(c->before, ":") && !is(c->before, "->");
}

/* How bad is it to break a line behind the item? In a formula the brackets around it decide, then how tightly the
 * operator binds; elsewhere to break behind operators is the last resort. */
static unsigned depth_of(const struct context *c, const struct dfl_item *item)
{
    static const char *const loose[] = { "?", ":", "||", "&&", NULL }, *const tight[] = { "*", "/", "%", NULL };
    bool operator = is_operator(item) || ends_choice(c, item);
    if (c->braces == 0 || !is(c->declaration, "kernel"))
        return c->brackets + (operator ? 100 : 0);
    return 4 * c->brackets + (!operator ? 0 : is_one_of(item, loose) ? 1 : is_one_of(item, tight) ? 3 : 2);
}

static void set_token(struct context *c, struct dfl_item *item)
{
    if (item->declares)
        *c = (struct context){ .declaration = item };
    item->list = c->braces == 0 && is(c->declaration, "table") && (is(item, "{") || is(item, "}"));
    item->edges = is(item, "border") && c->braces == 0 && c->brackets == 1 && !is(c->before, ":");
    item->space = c->before && space_between(c, item);
    item->may_break = is(item, ",") || (is(item, ";") && c->brackets > 0) ||
                      (is_operator(item) && !is_prefix(c, item)) || ends_choice(c, item);
    c->in_cost |= begins_cost(c, item);
    c->brackets -= dfl_item_closes(item);
    item->depth = depth_of(c, item);
    c->choices[c->brackets] -= ends_choice(c, item);
    c->choices[c->brackets] += is(item, "?");
    c->brackets += dfl_item_opens(item);
    if (dfl_item_opens(item))
        c->choices[c->brackets] = 0;
    c->braces += is(item, "{") && !item->list;
    c->braces -= is(item, "}") && !item->list;
    c->earlier = c->before;
    c->before = item;
}

static bool set_spaces(struct formatter *f)
{
    struct context c = { 0 };
    size_t *open = malloc((f->n_items + 1) * sizeof *open), n_open = 0;
    if (!open)
        return false;
    for (size_t i = 0; i < f->n_items; i++) {
        struct dfl_item *item = &f->items[i];
        if (item->comment) {
            item->space = true;
            if (i > 0)                  /* a comment that begins a line does so because it did */
                item[-1].may_break = false;
        } else {
            set_token(&c, item);
            if (i > 0 && begins_help(f, i)) /* which may stand below what it describes */
                item[-1].may_break = true;
        }
        if (!item->comment && is(item, "{"))
            open[n_open++] = i;
        else if (!item->comment && is(item, "}"))
            f->items[open[--n_open]].match = i;
        if (i > 0 && f->items[i - 1].comment)
            item->space = true;
    }
    free(open);
    return true;
}

/* ---- lines ---- */

static bool is_token(const struct formatter *f, size_t i, const char *text)
{
    return i < f->n_items && !f->items[i].comment && is(&f->items[i], text);
}

/* Where a kernel's variants begin: behind its signature and traits. */
static size_t find_tail(const struct formatter *f, size_t first, size_t end)
{
    bool signature = false;
    for (size_t i = first; i < end; i++) {
        const struct dfl_item *item = &f->items[i];
        if (item->comment || item->depth > 0)
            continue;
        if (signature && is(item, "{") && i + 1 == end)
            return end;                 /* formulas begin on the next line */
        if (signature && (is(item, "{") || (is_word(item) && !is_one_of(item, dfl_trait_words))))
            return i;
        signature |= is(item, ")");
    }
    return end;
}

static enum dfl_line_kind kind_of(const struct formatter *f, size_t first, unsigned indent)
{
    static const char *const constants[] = { "param", "type", "link", NULL };
    const struct dfl_item *item = &f->items[first];
    if (item->comment)
        return DFL_LINE_COMMENT;
    if (indent > 0)
        return DFL_LINE_PLAIN;
    return is(item, "arg") ? DFL_LINE_ARG : is(item, "kernel") ? DFL_LINE_KERNEL
         : is_one_of(item, constants) ? DFL_LINE_PARAM : DFL_LINE_PLAIN;
}

/* Where the description of a param or an arg begins. */
static size_t find_help(const struct formatter *f, const struct dfl_line *line)
{
    if (line->kind != DFL_LINE_PARAM && line->kind != DFL_LINE_ARG)
        return line->end;
    for (size_t i = line->first + 2; i + 1 < line->end; i++)
        if (begins_help(f, i))
            return i;
    return line->end;
}

/* Adds a line, with the comments that stand behind it. Gives the item after them. */
static size_t add_line(struct formatter *f, size_t first, size_t end, unsigned indent, bool begins)
{
    if (!DFR_ARRAY_ROOM(f->lines, f->n_lines, f->room_lines)) {
        f->no_memory = true;
        return end;
    }
    struct dfl_line *line = &f->lines[f->n_lines++];
    *line = (struct dfl_line){ .kind = kind_of(f, first, indent), .first = first, .end = end, .indent = indent,
                               .blank = !begins && f->items[first].newlines > 1 };
    line->tail = line->kind == DFL_LINE_KERNEL ? find_tail(f, first, end) : end;
    line->help = find_help(f, line);
    if (line->kind == DFL_LINE_COMMENT)
        return end;
    while (end + line->comments < f->n_items && f->items[end + line->comments].comment &&
           f->items[end + line->comments].newlines == 0)
        line->comments++;
    return end + line->comments;
}

static bool begins_block(const struct formatter *f, size_t i)
{
    return is_token(f, i, "{") && !f->items[i].list;
}

/* The item after the `;` that ends a statement, or the `{` of its block. */
static size_t find_end(const struct formatter *f, size_t i)
{
    while (i < f->n_items && !begins_block(f, i) && !(is_token(f, i, ";") && f->items[i].depth == 0))
        i++;
    return i < f->n_items ? i : f->n_items - 1;
}

static size_t skip_comments(const struct formatter *f, size_t i)
{
    while (i < f->n_items && f->items[i].comment)
        i++;
    return i;
}

/* The last item of a kernel whose formulas end at i: that of the variants and costs behind them. */
static size_t find_kernel_last(const struct formatter *f, size_t i)
{
    for (size_t at = skip_comments(f, i + 1); at < f->n_items && !f->items[at].declares && !is_token(f, i, ";");
         at = skip_comments(f, at + 1))
        i = at;
    return i;
}

/* The last item of the statement that begins at i, with all its blocks. */
static size_t find_last(const struct formatter *f, size_t i)
{
    bool kernel = f->items[i].declares && is_token(f, i, "kernel");
    for (;;) {
        i = find_end(f, i);
        if (begins_block(f, i))
            i = f->items[i].match;
        if (kernel)
            return is_token(f, i, "}") ? find_kernel_last(f, i) : i;
        size_t next = skip_comments(f, i + 1);
        if (!is_token(f, i, "}") || !is_token(f, next, "else"))
            return i;
        i = next;
    }
}

static bool fits_one_line(const struct formatter *f, size_t first, size_t last, unsigned indent)
{
    for (size_t i = first; i <= last; i++)
        if (f->items[i].comment || (i > first && f->items[i].newlines > 0))
            return false;
    return !dfl_items_break(f->items, first, last + 1) &&
           4 * indent + dfl_items_width(f->items, first, last + 1) <= DFL_FORMAT_WIDTH;
}

static size_t add_lines(struct formatter *f, size_t i, size_t end, unsigned indent);

/* Adds the lines of a statement or declaration. Gives the item after it. */
static size_t add_statement(struct formatter *f, size_t i, unsigned indent, bool begins)
{
    size_t last = find_last(f, i), first = i, at = find_end(f, i);
    if (!begins_block(f, at) || fits_one_line(f, i, last, indent))
        return add_line(f, i, last + 1, indent, begins);
    for (;;) {
        size_t close = f->items[at].match;
        if (close == at + 1) {          /* an empty block stays in its line */
            at = close;
        } else {
            size_t inner = add_line(f, first, at + 1, indent, begins);
            add_lines(f, inner, close, indent + 1);
            first = at = close;
            begins = true;
        }
        if (close == last || f->items[i].declares)
            return add_line(f, first, last + 1, indent, begins);
        size_t next = skip_comments(f, close + 1);
        if (next > close + 1) {         /* comments between `}` and `else` */
            size_t rest = add_line(f, first, close + 1, indent, begins);
            add_lines(f, rest, next, indent);
            first = next;
            begins = true;
        }
        at = find_end(f, next);
    }
}

/* Adds the lines of items [i, end), which are whole statements and comments. */
static size_t add_lines(struct formatter *f, size_t i, size_t end, unsigned indent)
{
    for (bool begins = true; i < end && !f->no_memory; begins = false)
        i = f->items[i].comment ? add_line(f, i, i + 1, indent, begins) : add_statement(f, i, indent, begins);
    return i;
}

/* ---- the whole ---- */

static bool print_lines(const struct formatter *f, char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (!out)
        return false;
    for (size_t i = 0; i < f->n_lines; i++)
        dfl_line_print(out, f->items, &f->lines[i]);
    return fclose(out) == 0;
}

static void formatter_free(struct formatter *f)
{
    free(f->items);
    free(f->lines);
}

/* Reads a text into a tree, printed in *tree, and into items. *tree is NULL if it has errors or memory ran out. */
static void read_items(struct dfl_sink *sink, const char *name, const char *text, size_t length, struct formatter *f,
                       char **tree)
{
    struct dfl_tokens tokens = { 0 };
    size_t n;
    unsigned before = dfl_sink_errors(sink);
    struct dfl_file *file = dfl_parse_tokens(sink, name, text, length, &tokens);
    *tree = NULL;
    f->no_memory |= !file || tokens.no_memory;
    FILE *out = file && dfl_sink_errors(sink) == before ? open_memstream(tree, &n) : NULL;
    if (out) {
        dfl_print(out, file);
        fclose(out);
        add_items(f, text, length, &tokens);
    }
    dfl_file_free(file);
    free(tokens.items);
}

static bool same_items(const struct formatter *a, const struct formatter *b)
{
    if (a->n_items != b->n_items)
        return false;
    for (size_t i = 0; i < a->n_items; i++)
        if (a->items[i].length != b->items[i].length ||
            memcmp(a->items[i].text, b->items[i].text, a->items[i].length) != 0)
            return false;
    return true;
}

/* Has the formatted text the same tokens and comments, and the same tree? */
static bool is_the_same(const struct formatter *f, const char *tree, const char *name, const char *text, size_t length)
{
    struct formatter again = { 0 };
    struct dfl_sink *sink = dfl_sink_new(NULL);
    char *other = NULL;
    if (sink)
        read_items(sink, name, text, length, &again, &other);
    bool same = other && same_items(f, &again) && strcmp(tree, other) == 0;
    formatter_free(&again);
    free(other);
    dfl_sink_free(sink);
    return same;
}

bool dfl_format(struct dfl_sink *sink, const char *name, const char *text, size_t length, char **formatted, size_t *n)
{
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    unsigned before = dfl_sink_errors(sink);
    struct formatter f = { 0 };
    char *tree;
    *formatted = NULL;
    read_items(sink, name, text + mark, length - mark, &f, &tree);
    bool good = tree && !f.no_memory && set_spaces(&f);
    if (good) {
        add_lines(&f, 0, f.n_items, 0);
        dfl_lines_align(f.items, f.lines, f.n_lines);
        good = !f.no_memory && print_lines(&f, formatted, n);
    }
    if (!good && dfl_sink_errors(sink) == before)
        dfl_error(sink, nowhere, "out of memory");
    if (good && !is_the_same(&f, tree, name, *formatted, *n)) {
        dfl_error(sink, nowhere,
                  "'%s' cannot be formatted: the result would be another program; this is a mistake in dfc", name);
        good = false;
    }
    formatter_free(&f);
    free(tree);
    if (!good) {
        free(*formatted);
        *formatted = NULL;
    }
    return good;
}
