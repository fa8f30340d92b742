/* pipeline_rig.c - draws pipelines. */
#include "pipeline_rig.h"

#include <math.h>

#include "runtime/base/random.h"

/* By Box and Muller. */
static double draw_normal(struct draws *draws, double mean, double deviation)
{
    for (;;) {
        double radius = sqrt(-2 * log((dfr_random_unit(dfr_random(&draws->seed)) + 0x1p-54))), angle = 6.283185307179586 * (dfr_random_unit(dfr_random(&draws->seed)) + 0x1p-54);
        double x = mean + deviation * radius * cos(angle);
        if (x > 0)
            return x;
    }
}

void draw_pipeline(struct draws *draws, struct dfp_pipeline *l, bool unlike)
{
    for (uint32_t p = 0; p < l->n_processors; p++)
        l->speed[p] = draw_normal(draws, 10, 5);
    for (uint32_t n = 0; n < l->n_stages; n++)
        l->work[n] = draw_normal(draws, 10, 5);
    for (uint32_t n = 0; n <= l->n_stages; n++)
        l->bytes[n] = draw_normal(draws, 10, 5);
    for (uint32_t a = 0; a <= l->n_processors; a++)
        for (uint32_t b = 0; b <= a; b++) {
            double rate = unlike ? draw_normal(draws, 10, 5) : 10, setup_s = unlike ? draw_normal(draws, 0.1, 0.05) : 0.1;
            dfp_pipeline_link(l, a, b, rate, setup_s);
        }
    dfp_pipeline_times(l);
}
