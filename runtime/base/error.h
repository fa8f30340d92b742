/* error.h - filling struct df_error. Whoever detects a failure writes the sentence; its callers pass the code on.
 *
 * Room:     runtime/base/ holds small things that every part needs: errors, options, output files, quantities as text,
 *           rows of bytes, tables of names. It knows df.h, and nothing else. Every other room may use it.
 */
#ifndef DF_ERROR_H
#define DF_ERROR_H

#include "runtime/df.h"

/* Writes the sentence into *error, unless `error` is NULL, and gives `code`. So a caller can say `return
 * dfr_error(error, DF_E_IO, "…");` The sentence is escaped and shortened as message.h says. */
int dfr_error(struct df_error *error, int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same for running out of memory, which every allocation can report. */
int dfr_error_memory(struct df_error *error);

#endif
