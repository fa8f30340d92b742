/* call.h - one job as its kernel sees it. This header declares what libdf itself needs of struct df_call beyond the
 * public df.h. */
#ifndef DFR_CALL_H
#define DFR_CALL_H

#include "runtime/df.h"

/* Records why the job failed, as df_fail() does, if a device found that out by itself. The message is copied. */
void dfr_call_failed(struct df_call *call, const char *message);

#endif
