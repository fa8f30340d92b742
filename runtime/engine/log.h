/* log.h - logging to stderr, up to the level that the run's options set. Each line begins with the process's name. A
 * run logs by dfr_log() (engine/, gpu/, inspect/, start/). Who has no run, or prints what an option asked for, calls
 * dfr_say(): program/, ranks/, link/, io/, inspect/check_variants.c, compiler/front/ and profiles/db/. */
#ifndef DFR_LOG_H
#define DFR_LOG_H

#include "runtime/df.h"

/* The last part of the path by which the user started this process, as message.h shows it. It is valid until the
 * thread's next call. */
const char *dfr_program_name(void);

/* Writes one whole line: "PROGRAM: warning: …". */
void dfr_log(const struct df_run *run, int level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Writes a line whatever the level, without a word before it. It is for what an option asked for. */
void dfr_say(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif
