/* diag.c - implements the diagnostic sink, to which the parser and all of the front end report: it keeps the texts of
 * all source files that were read, and prints each message with its source line and a caret
 * (runtime/base/source_line.h). Names and messages are escaped and shortened.
 */
#include "dsl/diag.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/colour.h"
#include "runtime/base/intern.h"
#include "runtime/base/message.h"
#include "runtime/base/source_line.h"
#include "runtime/base/text.h"

struct source {
    char *name, *text; /* text NULL: memory ran out, and messages come without the source line */
    size_t length;
};

enum { KINDS = 16, PLACES = 8 }; /* of warnings that are folded; of each, how many lines are named */

struct kind { /* warnings with one format */
    const char *format;
    unsigned n;
    char text[160]; /* the last that was shown */
    struct dfl_loc left_out[PLACES];
};

struct dfl_sink {
    FILE *out;
    const char *program;
    struct source *sources;
    uint32_t n_sources;
    size_t capacity;
    unsigned errors, warnings, errors_told;
    uint64_t shown[DFL_MAX_ERRORS];     /* hashes of the errors that were shown */
    struct kind kinds[KINDS];
    bool no_warnings, one_error;
    bool json, open; /* open: the last JSON object still lacks the end of its notes */
    unsigned n_json, n_notes; /* objects so far; notes of the last one */
    bool muted; /* the last error or warning was not shown, so its notes and hints are not shown either */
};

struct dfl_loc dfl_loc_at(uint32_t file, const char *text, size_t at)
{
    struct dfl_loc loc = {file, 1, 1, 2};
    for (size_t i = 0; i < at; i++) {
        loc.col = text[i] == '\n' ? 1 : loc.col + 1;
        loc.line += text[i] == '\n';
    }
    loc.end_col = loc.col + 1;
    return loc;
}

struct dfl_sink *dfl_sink_new(FILE *out)
{
    struct dfl_sink *sink = calloc(1, sizeof *sink);
    if (sink)
        sink->out = out;
    return sink;
}

void dfl_sink_program(struct dfl_sink *sink, const char *name)
{
    sink->program = name;
}

void dfl_sink_json(struct dfl_sink *sink, FILE *out)
{
    sink->out = out;
    sink->json = true;
    fputc('[', out);
}

static void json_close(struct dfl_sink *sink)
{
    if (sink->open)
        fputs("] }", sink->out);
    sink->open = false;
}

void dfl_sink_free(struct dfl_sink *sink)
{
    if (!sink)
        return;
    json_close(sink);
    if (sink->json)
        fputs("]\n", sink->out);
    for (uint32_t i = 0; i < sink->n_sources; i++) {
        free(sink->sources[i].name);
        free(sink->sources[i].text);
    }
    free(sink->sources);
    free(sink);
}

uint32_t dfl_sink_file(struct dfl_sink *sink, const char *name, const char *text, size_t length)
{
    if (!DFR_ARRAY_ROOM(sink->sources, sink->n_sources, sink->capacity))
        return DFL_NO_FILE;
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

/* ---- messages ---- */

static void print_source(const struct dfl_sink *sink, struct dfl_loc loc)
{
    const struct source *source = loc.file < sink->n_sources ? &sink->sources[loc.file] : NULL;
    if (source && source->text)
        dfr_source_line(sink->out, source->text, source->length, loc.line, loc.col, loc.end_col);
}

static void json_place(const struct dfl_sink *sink, struct dfl_loc loc)
{
    if (loc.file == DFL_NO_FILE)
        return;
    fputs("\"file\": ", sink->out);
    dfr_text_json(sink->out, dfl_sink_file_name(sink, loc.file));
    fputs(", ", sink->out);
    if (loc.line > 0)
        fprintf(sink->out, "\"line\": %u, \"column\": %u, \"end_column\": %u, ", (unsigned)loc.line, (unsigned)loc.col,
                (unsigned)(loc.end_col > loc.col ? loc.end_col : loc.col + 1));
}

/* Notes and hints go into the array of the error or warning before them. */
static void print_json(struct dfl_sink *sink, struct dfl_loc loc, const char *kind, const char *format, va_list args)
{
    char text[DFR_MESSAGE_BYTES];
    bool note = sink->open && (strcmp(kind, "note") == 0 || strcmp(kind, "hint") == 0);
    dfr_message(text, sizeof text, format, args);
    if (note) {
        fputs(sink->n_notes++ ? ", { " : "{ ", sink->out);
    } else {
        json_close(sink);
        fputs(sink->n_json++ ? ",\n { " : " { ", sink->out);
    }
    json_place(sink, loc);
    fprintf(sink->out, "\"severity\": \"%s\", \"message\": ", kind);
    dfr_text_json(sink->out, text);
    fputs(note ? " }" : ", \"notes\": [", sink->out);
    if (!note) {
        sink->open = true;
        sink->n_notes = 0;
    }
}

static void print_text(const struct dfl_sink *sink, const char *kind, const char *format, va_list args)
{
    char text[DFR_MESSAGE_BYTES];
    dfr_message(text, sizeof text, format, args);
    fprintf(sink->out, "%s%s:%s %s\n", dfr_colour_begin(kind), kind, dfr_colour_end(), text);
}

static void print_message(struct dfl_sink *sink, struct dfl_loc loc, const char *kind, const char *format,
                          va_list args)
{
    if (sink->json) {
        print_json(sink, loc, kind, format, args);
        return;
    }
    if (loc.file != DFL_NO_FILE) {
        const char *name = dfl_sink_file_name(sink, loc.file);
        char shown[DFR_MESSAGE_BYTES];
        dfr_shown(shown, sizeof shown, name, strlen(name));
        fprintf(sink->out, "%s:", shown);
        if (loc.line > 0)
            fprintf(sink->out, "%u:%u:", (unsigned)loc.line, (unsigned)loc.col);
        fputc(' ', sink->out);
    } else if (sink->program && strcmp(kind, "note") != 0) {
        fprintf(sink->out, "%s: ", sink->program);
    }
    print_text(sink, kind, format, args);
    if (loc.file != DFL_NO_FILE && loc.line > 0)
        print_source(sink, loc);
}

/* Was this error shown before? A formula that is written out in several places is wrong in each of them. Else notes it. */
static bool again(struct dfl_sink *sink, struct dfl_loc loc, const char *format, va_list args)
{
    char text[DFR_MESSAGE_BYTES];
    const uint32_t place[] = { loc.file, loc.line, loc.col };
    dfr_message(text, sizeof text, format, args);
    const uint64_t hash = dfr_hash(dfr_hash(0, text, strlen(text)), place, sizeof place);
    for (unsigned i = 0; i < sink->errors; i++)
        if (sink->shown[i] == hash)
            return true;
    sink->shown[sink->errors] = hash;
    return false;
}

static unsigned most_errors(const struct dfl_sink *sink)
{
    return sink->one_error ? 1 : DFL_MAX_ERRORS;
}

void dfl_error(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool repeated = sink->errors < DFL_MAX_ERRORS && again(sink, loc, format, args);
    va_end(args);
    sink->muted = repeated || sink->errors >= most_errors(sink) || !sink->out;
    sink->errors += !repeated;
    if (sink->muted)
        return;
    va_start(args, format);
    print_message(sink, loc, "error", format, args);
    va_end(args);
}

/* The warnings of this format. NULL: there are too many formats, and the warning is shown. */
static struct kind *kind_of(struct dfl_sink *sink, const char *format)
{
    for (int i = 0; i < KINDS; i++) {
        struct kind *kind = &sink->kinds[i];
        if (!kind->format)
            kind->format = format;
        if (kind->format == format)
            return kind;
    }
    return NULL;
}

/* Counts a warning. true: enough like it were shown. */
static bool fold(struct dfl_sink *sink, struct dfl_loc loc, const char *format, va_list args)
{
    struct kind *kind = kind_of(sink, format);
    if (!kind)
        return false;
    if (kind->n++ < DFL_MAX_ALIKE) {
        dfr_message(kind->text, sizeof kind->text, format, args);
        return false;
    }
    if (kind->n <= DFL_MAX_ALIKE + PLACES)
        kind->left_out[kind->n - DFL_MAX_ALIKE - 1] = loc;
    return true;
}

void dfl_warning(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    va_list args;
    sink->warnings++;
    sink->muted = sink->no_warnings || !sink->out;
    if (sink->muted)
        return;
    va_start(args, format);
    sink->muted = !sink->json && fold(sink, loc, format, args); /* an editor has room for all */
    va_end(args);
    if (sink->muted)
        return;
    va_start(args, format);
    print_message(sink, loc, "warning", format, args);
    va_end(args);
}

void dfl_sink_no_warnings(struct dfl_sink *sink)
{
    sink->no_warnings = true;
}

void dfl_sink_one_error(struct dfl_sink *sink)
{
    sink->one_error = true;
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

void dfl_remark(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
{
    va_list args;
    sink->muted = sink->no_warnings || !sink->out || sink->json;
    if (sink->muted)
        return;
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
    if (sink->json)
        print_json(sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "hint", format, args);
    else
        print_text(sink, "hint", format, args);
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

/* "and 27 more like \"'x2' is never read\": g.df lines 8, 9 and others" */
static void print_left_out(const struct dfl_sink *sink, const struct kind *kind)
{
    unsigned n = kind->n - DFL_MAX_ALIKE, shown = 0;
    const struct dfl_loc *first = &kind->left_out[0], *before = NULL;
    char name[DFR_MESSAGE_BYTES];
    if (sink->program)
        fprintf(sink->out, "%s: ", sink->program);
    fprintf(sink->out, "warning: and %u more like \"%s\"", n, kind->text);
    if (first->file != DFL_NO_FILE) {
        const char *file = dfl_sink_file_name(sink, first->file);
        dfr_shown(name, sizeof name, file, strlen(file));
        for (unsigned i = 0; i < n && i < PLACES; i++) {
            const struct dfl_loc *loc = &kind->left_out[i];
            if (loc->file != first->file || (before && before->line == loc->line))
                continue;
            if (!before)
                fprintf(sink->out, ": %s:%u", name, (unsigned)loc->line);
            else
                fprintf(sink->out, ", %u", (unsigned)loc->line);
            before = loc;
            shown = i + 1;
        }
    }
    fputs(shown && shown < n ? " and others\n" : "\n", sink->out);
}

void dfl_sink_summary(struct dfl_sink *sink)
{
    if (sink->json)
        return;
    if (!sink->one_error && sink->errors > DFL_MAX_ERRORS && sink->errors > sink->errors_told)
        fprintf(sink->out, "%u errors shown, %u more\n", (unsigned)DFL_MAX_ERRORS, sink->errors - DFL_MAX_ERRORS);
    sink->errors_told = sink->errors;
    for (int i = 0; i < KINDS; i++) {
        if (sink->kinds[i].n > DFL_MAX_ALIKE)
            print_left_out(sink, &sink->kinds[i]);
        if (sink->kinds[i].n > DFL_MAX_ALIKE)
            sink->kinds[i].n = DFL_MAX_ALIKE;
    }
}
