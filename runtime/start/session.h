/* session.h - the call of a session for callers that have a state of their own during it, as generated libraries have.
 * library/library.c calls it. */
#ifndef DFR_SESSION_H
#define DFR_SESSION_H

#include "runtime/df.h"

/* As df_session_run(). If a kernel ends the calling thread, the function does not return, and ended(arg) is called last. ended may be NULL. */
int dfr_session_run(struct df_session *session, const struct df_session_call *call, void (*ended)(void *arg), void *arg,
                    struct df_error *error);

#endif
