/* diag.h - diagnostics: errors, warnings, notes and hints, each with the place in the source that it concerns. The
 * scanner, the parser and the front end of compiler/ report to one; so do the rest of compiler/ and the commands, when
 * an error concerns a place in a file that they have read.
 *
 *   file:line:col: error: message with 'names' in quotes
 *       the source line
 *       ^~~~
 *   hint: what to do about it
 *
 * Words:    a *location* is a span on one line of one loaded file. A *sink* collects the diagnostics of one
 *           compilation.
 * Memory:   a sink owns copies of the source texts and of every message; dfl_sink_free() frees all.
 * Shown:    names and messages are escaped and shortened as runtime/base/message.h describes. So is the source line;
 *           the caret stays below its place.
 * Threads:  one thread per sink.
 * Errors:   reporting never fails and never exits. After DFL_MAX_ERRORS, errors are counted but not printed. Of
 *           warnings that differ only in names, the first DFL_MAX_ALIKE are printed; dfl_sink_summary() prints how many
 *           more there are, and where. Callers check dfl_sink_errors() and decide what to do.
 */
#ifndef DFL_DIAG_H
#define DFL_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DFL_MAX_ERRORS 20
#define DFL_MAX_ALIKE 3

struct dfl_loc {
    uint32_t file;    /* index given by dfl_sink_file(); DFL_NO_FILE: a message without a place */
    uint32_t line;    /* from 1 */
    uint32_t col;     /* from 1, in bytes */
    uint32_t end_col; /* first column after the span; > col */
};
#define DFL_NO_FILE UINT32_MAX

/* The place of text[at]. */
struct dfl_loc dfl_loc_at(uint32_t file, const char *text, size_t at);

struct dfl_sink;

struct dfl_sink *dfl_sink_new(FILE *out); /* out NULL: errors and warnings are counted and not printed */
void dfl_sink_free(struct dfl_sink *sink);

/* From now on messages go to `out` as one JSON array, whose end dfl_sink_free() writes: objects with "file", "line",
 * "column", "end_column" (none of them: without a place), "severity" ("error", "warning"), "message" and "notes". Notes
 * are such objects, too, with "note" or "hint" as severity. Columns are bytes, from 1. */
void dfl_sink_json(struct dfl_sink *sink, FILE *out);

/* The name that stands before errors and warnings without a place: "dfc: error: …". Borrowed; NULL, as at first: none. */
void dfl_sink_program(struct dfl_sink *sink, const char *name);

/* From now on no warning is shown. */
void dfl_sink_no_warnings(struct dfl_sink *sink);

/* From now on no error is shown if there was one before. */
void dfl_sink_one_error(struct dfl_sink *sink);

/* Registers a source text under the name shown in messages (copied; text may hold any bytes). Returns its index. */
uint32_t dfl_sink_file(struct dfl_sink *sink, const char *name, const char *text, size_t length);
const char *dfl_sink_file_name(const struct dfl_sink *sink, uint32_t file);

/* Each prints at once. `dfl_note` and `dfl_hint` belong to the error or warning before them, and are suppressed with it.
 * The format is printf's. */
void dfl_error(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dfl_warning(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dfl_note(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A note that belongs to no error and no warning; hints may follow. It is left out where warnings are, and in JSON. */
void dfl_remark(struct dfl_sink *sink, struct dfl_loc loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dfl_hint(struct dfl_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns whether a note or hint would be printed now, so that callers need not compute one in vain. */
bool dfl_sink_shows(const struct dfl_sink *sink);

unsigned dfl_sink_errors(const struct dfl_sink *sink);
unsigned dfl_sink_warnings(const struct dfl_sink *sink);

/* Prints how many errors and warnings were suppressed since the last call. Call it at the end of a compilation. */
void dfl_sink_summary(struct dfl_sink *sink);

/* The name among names[0..n) that is closest to `name` (edit distance, at most a third of its length), or NULL. */
const char *dfl_suggest(const char *name, const char *const *names, size_t n);

/* Translates a type name of C, C++ or NumPy: "f64" for "double". NULL: no such type is known. */
const char *dfl_suggest_type(const char *name);

/* How formulas write what NumPy, Python or C call by this name: a hint for "mean" or "clip". NULL: it is no such name. */
const char *dfl_hint_function(const char *name);

#endif
