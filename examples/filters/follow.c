/* follow.c - the last stage of canny.df: from every strong edge (2) along weak ones (1) that touch it, in eight
 * directions. What is reached is white. Each pixel is put on the stack once at most.
 */
#include <stdint.h>
#include <string.h>

int follow_cpu(struct df_call *call, size_t n, size_t m, const uint8_t *e, int64_t *at, uint8_t *o)
{
    size_t waiting = 0;
    (void)call;
    memset(o, 0, n * m);
    for (size_t i = 0; i < n * m; i++)
        if (e[i] == 2) {
            o[i] = 255;
            at[waiting++] = (int64_t)i;
        }
    while (waiting > 0) {
        size_t i = (size_t)at[--waiting], y = i / m, x = i % m;
        for (size_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < n; v++)
            for (size_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < m; u++)
                if (e[v * m + u] == 1 && o[v * m + u] == 0) {
                    o[v * m + u] = 255;
                    at[waiting++] = (int64_t)(v * m + u);
                }
    }
    return DF_OK;
}
