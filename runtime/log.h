/* log.h - what libdf says on stderr, by the level of the run's options. */
#ifndef DFR_LOG_H
#define DFR_LOG_H

#include "runtime/df.h"

/* One line, whole: "NAME: warning: …". */
void dfr_log(const struct df_run *run, int level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same whatever the level, without a word before it: what was asked for by an option. */
void dfr_say(const struct df_run *run, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
