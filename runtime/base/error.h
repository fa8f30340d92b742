/* error.h - fills struct df_error. The function that detects a failure writes the message; its callers pass the code on.
 *
 * Room:     runtime/base/ holds small facilities that every part needs: errors, options, output files, quantities as text, serialization, hash tables,
 *           tables of reports. It knows only df.h, and every other room may use it.
 */
#ifndef DF_ERROR_H
#define DF_ERROR_H

#include "runtime/df.h"

/* Writes the message into *error, unless `error` is NULL, and returns `code`, as in `return dfr_error(error, DF_E_IO, "…");`. The message is escaped and
 * shortened (message.h). */
int dfr_error(struct df_error *error, int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same for running out of memory, which every allocation can report. */
int dfr_error_memory(struct df_error *error);

#endif
