/* error.h - filling struct df_error: whoever detects a failure writes the sentence, callers pass the code on. */
#ifndef DF_ERROR_H
#define DF_ERROR_H

#include "runtime/df.h"

/* Writes the sentence into *error where that is not NULL and gives `code`: `return
 * dfr_error(error, DF_E_IO, "…");` */
int dfr_error(struct df_error *error, int code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same for the one failure that every allocation shares. */
int dfr_error_memory(struct df_error *error);

#endif
