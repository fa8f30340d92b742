#include <time.h>
#include "flow.df.h"
static void rest(long us) { nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, 0); }
int src_cpu(struct df_call *call, size_t k, float *v) { if (df_wave(call) == 9) return DF_END; v[0] = (float)k; return DF_OK; }
int spiky_cpu(struct df_call *call, size_t k, const float *v, float *w, int scale)
{ rest(df_wave(call) % 4 == 1 ? 200000 : 5000); w[0] = v[0] * (float)scale; return DF_OK; }
int last_cpu(struct df_call *call, size_t k, const float *v) { return v[0] < 0 ? df_fail(call, "negative") : DF_OK; }
