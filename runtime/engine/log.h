/* log.h - what libdf says on stderr, by the level of the run's options. Each line begins with the process's name. */
#ifndef DFR_LOG_H
#define DFR_LOG_H

#include "runtime/df.h"

/* The last part of what the user typed to start this process. */
const char *dfr_program_name(void);

/* One line, whole: "PROGRAM: warning: …". */
void dfr_log(const struct df_run *run, int level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The same whatever the level, without a word before it: what was asked for by an option. */
void dfr_say(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif
