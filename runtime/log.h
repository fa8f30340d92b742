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

#endif
