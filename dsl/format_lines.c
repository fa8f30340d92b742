/* format_lines.c - aligns columns across consecutive lines, and prints each line, for format.c. A line that is too long
 * is broken after a comma, at the outermost bracket that suffices, and continues under the open bracket. A kernel is
 * first broken before its variants.
 */
#include "dsl/format_impl.h"

#include <string.h>

#include "dsl/format.h"

enum { COMMENT_COLUMN = 48, DEEPEST = 72 }; /* where comments behind lines begin, if all lines are that short; how far a
                                             * line goes on below its bracket */

/* ---- widths ---- */

/* Columns of a text in UTF-8. */
static unsigned columns(const char *text, size_t length)
{
    unsigned n = 0;
    for (size_t i = 0; i < length; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

unsigned dfl_items_width(const struct dfl_item *items, size_t first, size_t end)
{
    unsigned n = 0;
    for (size_t i = first; i < end; i++)
        n += columns(items[i].text, items[i].length) + (i > first && items[i].space);
    return n;
}

bool dfl_items_break(const struct dfl_item *items, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (items[i].several_lines || items[i].ends_line || (items[i].comment && items[i].newlines > 0))
            return true;
    return false;
}

static unsigned width_of(const struct dfl_item *items, const struct dfl_line *line)
{
    return 4 * line->indent + line->pad + line->pad_type + line->pad_help + dfl_items_width(items, line->first, line->end);
}

static bool fits(const struct dfl_item *items, const struct dfl_line *line)
{
    return !dfl_items_break(items, line->first, line->end) && width_of(items, line) <= DFL_FORMAT_WIDTH;
}

/* ---- columns ---- */

static bool has_names(const struct dfl_line *line)
{
    return line->kind == DFL_LINE_PARAM || line->kind == DFL_LINE_ARG;
}

/* How many lines from `first` on stand together: without an empty line between them, and each as the first. */
static size_t run_of(const struct dfl_line *lines, size_t first, size_t n, bool (*together)(const struct dfl_line *a,
                                                                                            const struct dfl_line *b))
{
    size_t end = first + 1;
    while (end < n && !lines[end].blank && together(&lines[first], &lines[end]))
        end++;
    return end - first;
}

static bool both_names(const struct dfl_line *a, const struct dfl_line *b) { return has_names(a) && has_names(b); }
static bool both_args(const struct dfl_line *a, const struct dfl_line *b)
{
    return a->kind == DFL_LINE_ARG && b->kind == DFL_LINE_ARG;
}
static bool both_kernels(const struct dfl_line *a, const struct dfl_line *b)
{
    return a->kind == DFL_LINE_KERNEL && b->kind == DFL_LINE_KERNEL && a->whole && b->whole;
}
static bool both_code(const struct dfl_line *a, const struct dfl_line *b)
{
    return a->kind != DFL_LINE_COMMENT && b->kind != DFL_LINE_COMMENT && a->indent == b->indent;
}

static void align_words(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = items[lines[i].first].length > longest ? items[lines[i].first].length : longest;
    for (size_t i = 0; i < n; i++)
        lines[i].pad = (unsigned)(longest - items[lines[i].first].length);
}

static void align_types(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = items[lines[i].first + 1].length > longest ? items[lines[i].first + 1].length : longest;
    for (size_t i = 0; i < n; i++)
        lines[i].pad_type = (unsigned)(longest - items[lines[i].first + 1].length);
}

static unsigned head_width(const struct dfl_item *items, const struct dfl_line *line)
{
    return dfl_items_width(items, line->first, line->tail);
}

/* Kernels that are whole lines get their variants in one column, unless a long one would no longer fit then. */
static void align_tails(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    unsigned longest_tail = 0, column = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned tail = width_of(items, &lines[i]) - head_width(items, &lines[i]);
        longest_tail = tail > longest_tail ? tail : longest_tail;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned head = head_width(items, &lines[i]);
        if (head + longest_tail <= DFL_FORMAT_WIDTH && head > column)
            column = head;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned head = head_width(items, &lines[i]);
        if (lines[i].tail < lines[i].end && head < column)
            lines[i].pad = column - head;
    }
}

/* Descriptions begin in one column: that of comments if all that stands before them is short enough, and if no line becomes too long. */
static void align_help(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    unsigned longest = 0, longest_help = 0;
    for (size_t i = 0; i < n; i++) {
        if (lines[i].help == lines[i].end || !lines[i].whole)
            continue;
        unsigned help = dfl_items_width(items, lines[i].help, lines[i].end), before = width_of(items, &lines[i]) - help;
        longest = before > longest ? before : longest;
        longest_help = help > longest_help ? help : longest_help;
    }
    unsigned column = longest < COMMENT_COLUMN && COMMENT_COLUMN + longest_help <= DFL_FORMAT_WIDTH ? COMMENT_COLUMN : longest;
    for (size_t i = 0; i < n; i++) {
        unsigned help = dfl_items_width(items, lines[i].help, lines[i].end), before = width_of(items, &lines[i]) - help;
        if (lines[i].help < lines[i].end && lines[i].whole && before < column && column + help <= DFL_FORMAT_WIDTH)
            lines[i].pad_help = column - before;
    }
}

/* Comments behind lines begin in one column. */
static void align_comments(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    unsigned longest = 0, longest_comment = 0;
    for (size_t i = 0; i < n; i++) {
        if (!lines[i].comments || !lines[i].whole)
            continue;
        unsigned width = width_of(items, &lines[i]);
        unsigned comment = dfl_items_width(items, lines[i].end, lines[i].end + lines[i].comments);
        longest = width > longest ? width : longest;
        longest_comment = comment > longest_comment ? comment : longest_comment;
    }
    unsigned column = longest < COMMENT_COLUMN && COMMENT_COLUMN + longest_comment <= DFL_FORMAT_WIDTH ? COMMENT_COLUMN
                                                                                                     : longest + 2;
    for (size_t i = 0; i < n; i++)
        lines[i].comment_column = column;
}

void dfl_lines_align(const struct dfl_item *items, struct dfl_line *lines, size_t n)
{
    size_t run;
    for (size_t i = 0; i < n; i++)
        lines[i].whole = fits(items, &lines[i]);
    for (size_t i = 0; i < n; i += run)
        if ((run = run_of(lines, i, n, both_names)) > 1)
            align_words(items, lines + i, run);
    for (size_t i = 0; i < n; i += run)
        if ((run = run_of(lines, i, n, both_args)) > 1)
            align_types(items, lines + i, run);
    for (size_t i = 0; i < n; i += run) {
        run = run_of(lines, i, n, both_names);
        align_help(items, lines + i, run);
    }
    for (size_t i = 0; i < n; i += run)
        if ((run = run_of(lines, i, n, both_kernels)) > 1)
            align_tails(items, lines + i, run);
    for (size_t i = 0; i < n; i += run) {
        run = run_of(lines, i, n, both_code);
        align_comments(items, lines + i, run);
    }
}

/* ---- text ---- */

struct printer {
    FILE *out;
    const struct dfl_item *items;
    unsigned column, indent;            /* the next column; that of the line's beginning */
    unsigned brackets[256];             /* the columns after those that are open */
    unsigned n_brackets;
};

static void blanks(struct printer *p, unsigned n)
{
    fprintf(p->out, "%*s", (int)n, "");
    p->column += n;
}

static void new_line(struct printer *p, unsigned column)
{
    fputc('\n', p->out);
    p->column = 0;
    blanks(p, column);
}

static void put(struct printer *p, const struct dfl_item *item)
{
    const char *last = memrchr(item->text, '\n', item->length);
    fwrite(item->text, 1, item->length, p->out);
    p->column = last ? columns(last + 1, (size_t)(item->text + item->length - last - 1))
                     : p->column + columns(item->text, item->length);
    if (item->comment)
        return;
    if (dfl_item_opens(item) && p->n_brackets < sizeof p->brackets / sizeof *p->brackets)
        p->brackets[p->n_brackets++] = p->column + item->list;
    else if (dfl_item_closes(item) && p->n_brackets > 0)
        p->n_brackets--;
}

/* Where a broken line goes on. */
static unsigned next_column(const struct printer *p)
{
    unsigned below = p->n_brackets > 0 ? p->brackets[p->n_brackets - 1] : DEEPEST + 1;
    return below <= DEEPEST ? below : p->indent + 4;
}

/* Must item i begin a line, because of a comment? One that stood on a line of its own does so again. */
static bool begins_line(const struct dfl_item *items, size_t i)
{
    const struct dfl_item *before = &items[i - 1];
    return before->ends_line || ((items[i].comment || before->comment) && items[i].newlines > 0);
}

/* Columns up to the end of the first line of the items. */
static unsigned width_ahead(const struct dfl_item *items, size_t first, size_t end)
{
    unsigned n = 0;
    for (size_t i = first; i < end && (i == first || !begins_line(items, i)); i++) {
        const char *line = memchr(items[i].text, '\n', items[i].length);
        n += (i > first && items[i].space) +
             columns(items[i].text, line ? (size_t)(line - items[i].text) : items[i].length);
        if (line)
            break;
    }
    return n;
}

/* The item behind which the line is broken, so that what stands before fits: of those that are least deep in brackets,
 * the last. `end`: there is none. */
static size_t find_break(const struct printer *p, size_t first, size_t end)
{
    unsigned column = p->column;
    size_t best = end;
    for (size_t i = first; i < end; i++) {
        if (p->items[i].several_lines || (i > first && begins_line(p->items, i)))
            break;
        column += (i > first && p->items[i].space) + columns(p->items[i].text, p->items[i].length);
        if (column > DFL_FORMAT_WIDTH && best < end)
            break;
        if (p->items[i].may_break && i + 1 < end &&
            (best == end || column <= DFL_FORMAT_WIDTH) && (best == end || p->items[i].depth <= p->items[best].depth))
            best = i;
    }
    return best;
}

/* Prints items that go on a line, and on further ones if they are too long. */
static void put_items(struct printer *p, size_t first, size_t end)
{
    size_t stop = end;
    bool fresh = true;                  /* is it not yet known where the line is broken? */
    for (size_t i = first; i < end; i++) {
        const struct dfl_item *item = &p->items[i];
        bool broken = i > first && (i == stop + 1 || begins_line(p->items, i));
        if (broken) {
            new_line(p, next_column(p));
            fresh = true;
        }
        if (i > first && !broken && item->space)
            blanks(p, item->comment && item->ends_line ? 2 : 1);
        if (fresh)
            stop = p->column + width_ahead(p->items, i, end) > DFL_FORMAT_WIDTH ? find_break(p, i, end) : end;
        fresh = false;
        put(p, item);
        fresh |= item->several_lines;
    }
}

/* Is the item `open` or `close` behind a variant's code, or the function after such a word? */
static bool is_of_state(const struct dfl_item *items, size_t i)
{
    size_t word = dfl_item_is(&items[i], "open") || dfl_item_is(&items[i], "close") ? i : i - 1;
    bool opens = dfl_item_is(&items[word], "open") || dfl_item_is(&items[word], "close");
    return opens && *items[word - 1].text != ':' && *items[word - 1].text != '-';
}

/* The item behind a variant, or behind the costs, that begins at `first`. */
static size_t tail_end(const struct dfl_item *items, size_t first, size_t end)
{
    size_t i = first + 1;
    if (dfl_item_is(&items[first], "cost"))
        return end;
    /* a class follows a variant; a name in one follows ':', '->', 'open' or 'close', and flags follow a file */
    for (; i < end; i++) {
        const char c = *items[i].text, before = *items[i - 1].text;
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (word && items[i].depth == 0 && before != ':' && before != '-' && !dfl_item_is(&items[i], "flags") &&
            !is_of_state(items, i))
            break;
    }
    return i;
}

/* A kernel that fits no line: its variants and costs stand below it, all on one line or each on its own. But inline
 * code of several lines begins in the kernel's line. */
static void put_kernel(struct printer *p, const struct dfl_line *line)
{
    put_items(p, line->first, line->tail);
    bool code = dfl_items_break(p->items, line->tail, line->end);
    bool together = p->indent + 4 + dfl_items_width(p->items, line->tail, line->end) <= DFL_FORMAT_WIDTH;
    for (size_t i = line->tail, end; i < line->end; i = end) {
        end = tail_end(p->items, i, line->end);
        bool first = i == line->tail;
        bool fits_here = p->column + 1 + width_ahead(p->items, i, end) <= DFL_FORMAT_WIDTH;
        if (code ? !fits_here : first || !together)
            new_line(p, p->indent + 4);
        else
            blanks(p, 1);
        put_items(p, i, end);
    }
}

static void put_padded(struct printer *p, const struct dfl_line *line)
{
    size_t padded = line->kind == DFL_LINE_KERNEL ? line->tail : line->first + 1;
    for (size_t i = line->first; i < line->end; i++) {
        if (i > line->first)
            blanks(p, p->items[i].space + (i == padded ? line->pad : 0) +
                          (line->kind == DFL_LINE_ARG && i == line->first + 3 ? line->pad_type : 0) +
                          (i == line->help ? line->pad_help : 0));
        put(p, &p->items[i]);
    }
}

static bool has_comment(const struct dfl_item *items, size_t first, size_t end)
{
    while (first < end && !items[first].comment)
        first++;
    return first < end;
}

void dfl_line_print(FILE *out, const struct dfl_item *items, const struct dfl_line *line)
{
    struct printer p = { .out = out, .items = items, .indent = 4 * line->indent };
    bool comment = has_comment(items, line->first, line->end);
    if (line->blank)
        fputc('\n', out);
    blanks(&p, p.indent);
    if (line->whole && !comment)
        put_padded(&p, line);
    else if (line->kind == DFL_LINE_KERNEL && !comment)
        put_kernel(&p, line);
    else
        put_items(&p, line->first, line->end);
    for (size_t i = line->end; i < line->end + line->comments; i++) {
        bool aligned = line->whole && p.column < line->comment_column;
        blanks(&p, i > line->end ? 1 : aligned ? line->comment_column - p.column : 2);
        put(&p, &items[i]);
    }
    fputc('\n', out);
}
