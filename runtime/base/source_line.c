/* source_line.c - prints a source line with a caret below it (source_line.h), for dsl/diag.c and for mappings that rank
 * 0 reads (ranks/rank0_stages.c). */
#include "runtime/base/source_line.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/colour.h"
#include "runtime/base/message.h"

enum { WINDOW = 110, LEAD = 60 };       /* columns of a line that are shown; how many of them come before the caret */

struct line {
    const char *text;
    size_t length;
};

static bool line_find(const char *text, size_t length, uint32_t number, struct line *line)
{
    const char *at = text, *end = text + length;
    for (uint32_t i = 1; i < number; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return false;
        at = newline + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    line->text = at;
    line->length = (size_t)((newline ? newline : end) - at);
    if (line->length > 0 && at[line->length - 1] == '\r')
        line->length--;
    return true;
}

/* Bytes of the character at text[0..left) if it is shown as it is, which a tab is here. 0: its first byte is escaped. */
static size_t showable(const char *text, size_t left)
{
    return *text == '\t' ? 1 : dfr_shown_bytes(text, left);
}

/* Moves *at past the character there, or past the end of the line by one. Gives its columns; a tab counts as one. */
static int pass(const struct line *line, size_t *at)
{
    size_t length = *at < line->length ? showable(line->text + *at, line->length - *at) : 1;
    *at += length ? length : 1;
    return length ? 1 : DFR_ESCAPED_BYTES;
}

/* Finds the part of the line that is shown: all of it, or WINDOW columns, at most LEAD of them before the caret unless
 * the line ends with them. */
static void find_window(const struct line *line, size_t caret, size_t *from, size_t *to)
{
    int lead = 0, rest = 0, columns = 0;
    for (size_t at = 0; at < line->length;) {
        int before = at < caret;
        int n = pass(line, &at);
        lead += before ? n : 0;
        rest += n;
    }
    *from = 0;
    while (lead > LEAD && rest > WINDOW) {
        int n = pass(line, from);
        lead -= n;
        rest -= n;
    }
    *to = *from;
    for (size_t at = *from; at < line->length && (columns += pass(line, &at)) <= WINDOW;)
        *to = at;
}

static void print_span(FILE *out, const struct line *line, size_t from, size_t to)
{
    for (size_t i = from; i < to;) {
        size_t length = showable(line->text + i, to - i);
        char escaped[DFR_ESCAPED_BYTES + 1];
        if (length)
            fwrite(line->text + i, 1, length, out);
        else
            fwrite(escaped, 1, dfr_shown(escaped, sizeof escaped, line->text + i, 1), out);
        i += length ? length : 1;
    }
}

static void repeat(FILE *out, char c, int n)
{
    for (; n > 0; n--)
        fputc(c, out);
}

/* The caret's line: below each character, as many columns as it takes above. */
static void print_caret(FILE *out, const struct line *line, size_t from, size_t caret, size_t stop)
{
    size_t at = from;
    while (at < caret) {
        bool tab = at < line->length && line->text[at] == '\t';
        repeat(out, tab ? '\t' : ' ', pass(line, &at));
    }
    fprintf(out, "%s^", dfr_colour_begin("caret"));
    repeat(out, '~', pass(line, &at) - 1);
    while (at < stop)
        repeat(out, '~', pass(line, &at));
    fprintf(out, "%s\n", dfr_colour_end());
}

void dfr_source_line(FILE *out, const char *text, size_t length, uint32_t number, uint32_t col, uint32_t end_col)
{
    struct line line;
    if (length == 0 || !line_find(text, length, number, &line))
        return;
    size_t caret = col > 0 ? col - 1 : 0;
    if (caret > line.length)
        caret = line.length;
    size_t stop = end_col > col ? end_col - 1 : caret + 1;
    size_t from, to;
    find_window(&line, caret, &from, &to);
    if (stop > to)
        stop = to;
    fputs(from > 0 ? "    ..." : "    ", out);
    print_span(out, &line, from, to);
    fputs(to < line.length ? "...\n" : "\n", out);
    fputs(from > 0 ? "       " : "    ", out);
    print_caret(out, &line, from, caret, stop);
}
