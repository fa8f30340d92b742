/* diag.c - the sink: it keeps the texts of the files that were read, and prints messages with the source line under
 * them.
 *
 * The source line is shown as it is, so that an editor finds it, with two exceptions. What a terminal would take for a
 * command is shown as '?': control characters, and bytes that are no UTF-8. A long line is cut to a window around the
 * caret. The caret's line repeats the tabs of the source line, so both align at any tab width.
 */
#include "dsl/diag.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 110, LEAD = 60 }; /* bytes of a source line that are shown; how many of them come before the caret */

struct source {
    char *name, *text; /* text NULL: memory ran out, and messages come without the source line */
    size_t length;
};

struct dfl_sink {
    FILE *out;
    struct source *sources;
    uint32_t n_sources, room;
    unsigned errors, warnings;
    bool muted; /* the last error or warning was not shown, so its notes and hints are not shown either */
};

struct dfl_sink *dfl_sink_new(FILE *out)
{
    struct dfl_sink *sink = calloc(1, sizeof *sink);
    if (sink)
        sink->out = out;
    return sink;
}

void dfl_sink_free(struct dfl_sink *sink)
{
    if (!sink)
        return;
    for (uint32_t i = 0; i < sink->n_sources; i++) {
        free(sink->sources[i].name);
        free(sink->sources[i].text);
    }
    free(sink->sources);
    free(sink);
}

uint32_t dfl_sink_file(struct dfl_sink *sink, const char *name, const char *text, size_t length)
{
    if (sink->n_sources == sink->room) {
        uint32_t room = sink->room ? sink->room * 2 : 8;
        struct source *more = realloc(sink->sources, room * sizeof *more);
        if (!more)
            return DFL_NO_FILE;
        sink->sources = more;
        sink->room = room;
    }
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* columns count from after a byte order mark */
        text += 3;
        length -= 3;
    }
    struct source *source = &sink->sources[sink->n_sources];
    source->name = strdup(name);
    source->text = malloc(length + 1);
    source->length = 0;
    if (source->text) {
        memcpy(source->text, text, length);
        source->length = length;
    }
    return sink->n_sources++;
}

const char *dfl_sink_file_name(const struct dfl_sink *sink, uint32_t file)
{
    if (file >= sink->n_sources || !sink->sources[file].name)
        return "?";
    return sink->sources[file].name;
}

/* ---- the source line ---- */

struct line {
    const unsigned char *text;
    size_t length;
};

static bool line_find(const struct source *source, uint32_t number, struct line *line)
{
    if (!source->text)
        return false;
    const char *at = source->text, *end = at + source->length;
    for (uint32_t i = 1; i < number; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return false;
        at = newline + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((newline ? newline : end) - at);
    if (length > 0 && at[length - 1] == '\r')
        length--;
    line->text = (const unsigned char *)at;
    line->length = length;
    return true;
}

/* Bytes of the character at text[0..left) if it can be shown as it is. 0: its first byte is shown as '?'. */
static size_t showable(const unsigned char *text, size_t left)
{
    unsigned char c = text[0];
    if (c == '\t' || (c >= 0x20 && c < 0x7f))
        return 1;
    size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xc2 && text[1] < 0xa0) ||                 /* C1 controls */
        (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90) || /* overlong */
        (c == 0xed && text[1] >= 0xa0) || (c == 0xf4 && text[1] >= 0x90)) /* surrogates, past U+10FFFF */
        return 0;
    if (c == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
                      (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9))) /* direction overrides */
        return 0;
    return length;
}

static bool continues(const struct line *line, size_t at)
{
    return at > 0 && at < line->length && (line->text[at] & 0xc0) == 0x80;
}

static void print_span(FILE *out, const struct line *line, size_t from, size_t to)
{
    for (size_t i = from; i < to;) {
        size_t length = showable(line->text + i, to - i);
        if (length == 0)
            fputc('?', out);
        else
            fwrite(line->text + i, 1, length, out);
        i += length ? length : 1;
    }
}

/* The caret's line: one column for each character shown above it. */
static void print_caret(FILE *out, const struct line *line, size_t from, size_t caret, size_t stop)
{
    for (size_t i = from; i < caret;) {
        bool inside = i < line->length;
        size_t length = inside ? showable(line->text + i, line->length - i) : 1;
        fputc(inside && line->text[i] == '\t' ? '\t' : ' ', out);
        i += length ? length : 1;
    }
    fputc('^', out);
    size_t length = caret < line->length ? showable(line->text + caret, line->length - caret) : 1;
    for (size_t i = caret + (length ? length : 1); i < stop;) {
        length = showable(line->text + i, line->length - i);
        fputc('~', out);
        i += length ? length : 1;
    }
    fputc('\n', out);
}

static void print_source(const struct dfl_sink *sink, struct dfl_loc loc)
{
    struct line line;
    if (loc.file >= sink->n_sources || !line_find(&sink->sources[loc.file], loc.line, &line))
        return;
    size_t caret = loc.col > 0 ? loc.col - 1 : 0;
    if (caret > line.length)
        caret = line.length;
    size_t stop = loc.end_col > loc.col ? loc.end_col - 1 : caret + 1;
    size_t from = 0, to = line.length;
    if (line.length > WINDOW) {
        from = caret > LEAD ? caret - LEAD : 0;
        if (from + WINDOW > line.length)
            from = line.length - WINDOW;
        to = from + WINDOW;
        while (from > 0 && continues(&line, from))
            from--;
        while (continues(&line, to))
            to++;
    }
    if (stop > to)
        stop = to;
    fputs(from > 0 ? "    ..." : "    ", sink->out);
    print_span(sink->out, &line, from, to);
    fputs(to < line.length ? "...\n" : "\n", sink->out);
    fputs(from > 0 ? "       " : "    ", sink->out);
    print_caret(sink->out, &line, from, caret, stop);
}

/* ---- messages ---- */

static void print_message(const struct dfl_sink *sink, struct dfl_loc loc, const char *kind, const char *format,
                          va_list args)
{
    if (loc.file != DFL_NO_FILE) {
        fprintf(sink->out, "%s:", dfl_sink_file_name(sink, loc.file));
        if (loc.line > 0)
            fprintf(sink->out, "%u:%u:", (unsigned)loc.line, (unsigned)loc.col);
        fputc(' ', sink->out);
    }
    fprintf(sink->out, "%s: ", kind);
    vfprintf(sink->out, format, args);
    fputc('\n', sink->out);
    if (loc.file != DFL_NO_FILE && loc.line > 0)
        print_source(sink, loc);
}

void dfl_error(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    sink->muted = sink->errors++ >= DFL_MAX_ERRORS;
    if (sink->muted)
        return;
    va_list args;
    va_start(args, format);
    print_message(sink, loc, "error", format, args);
    va_end(args);
}

void dfl_warning(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    sink->muted = sink->warnings++ >= DFL_MAX_WARNINGS;
    if (sink->muted)
        return;
    va_list args;
    va_start(args, format);
    print_message(sink, loc, "warning", format, args);
    va_end(args);
}

void dfl_note(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    if (sink->muted)
        return;
    va_list args;
    va_start(args, format);
    print_message(sink, loc, "note", format, args);
    va_end(args);
}

void dfl_hint(struct dfl_sink *sink, const char *format, ...)
{
    if (sink->muted)
        return;
    va_list args;
    va_start(args, format);
    fputs("hint: ", sink->out);
    vfprintf(sink->out, format, args);
    fputc('\n', sink->out);
    va_end(args);
}

bool dfl_sink_shows(const struct dfl_sink *sink)
{
    return !sink->muted;
}

unsigned dfl_sink_errors(const struct dfl_sink *sink)
{
    return sink->errors;
}

unsigned dfl_sink_warnings(const struct dfl_sink *sink)
{
    return sink->warnings;
}

void dfl_sink_summary(struct dfl_sink *sink)
{
    if (sink->errors > DFL_MAX_ERRORS)
        fprintf(sink->out, "%u errors shown, %u more\n", (unsigned)DFL_MAX_ERRORS, sink->errors - DFL_MAX_ERRORS);
    if (sink->warnings > DFL_MAX_WARNINGS)
        fprintf(sink->out, "%u warnings shown, %u more\n", (unsigned)DFL_MAX_WARNINGS,
                sink->warnings - DFL_MAX_WARNINGS);
}
