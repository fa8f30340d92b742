/* Calls the graph of whole.df for four waves, and prints what it gives. The first argument has the options. */
#include "whole.h"

#include <stdio.h>

enum { WAVES = 4, N = 12, X = 5, H = 6, W = 8, K = 40 };

static void line(const char *name, const int32_t *v, size_t n)
{
    printf("%s:", name);
    for (size_t i = 0; i < n; i++)
        printf(" %d", (int)v[i]);
    puts(n ? "" : " -");
}

static void line64(const char *name, const int64_t *v, size_t n)
{
    printf("%s:", name);
    for (size_t i = 0; i < n; i++)
        printf(" %lld", (long long)v[i]);
    puts("");
}

int main(int argc, char **argv)
{
    static const size_t h[WAVES] = { 2, 6, 1, 3 }, w[WAVES] = { 3, 8, 1, 4 };
    static int32_t p[WAVES][H * W], a[WAVES][N * X], half[WAVES][H * W], s[WAVES][H * W], at[WAVES][K], b[WAVES][N * X], most[X];
    static int64_t total[N * X], result[3];
    struct whole_session *session;
    if (argc != 2 || whole_open(argv[1], &session) != WHOLE_OK)
        return printf("%s\n", whole_error()), 1;
    for (int k = 0; k < WAVES; k++) {
        for (size_t i = 0; i < h[k] * w[k]; i++)
            p[k][i] = k + (int32_t)(i * 5 % 11);
        for (int i = 0; i < N * X; i++)
            a[k][i] = (k * 7 + i) % 13 - 4;
    }
    if (whole_run_waves(session, WAVES, p[0], h, w, a[0], N, X, half[0], s[0], at[0], b[0], total, most, result, 3) != WHOLE_OK)
        return printf("%s\n", whole_error()), 1;
    const unsigned char *empty = whole_empty(session, 2);
    const size_t *extents = whole_extents(session, 4);
    for (int k = 0; k < WAVES; k++) {
        line("half", half[k], empty && empty[k] ? 0 : h[k] * w[k]);
        line("s", s[k], h[k] * w[k]);
        line("at", at[k], extents[4 * k]);
        line("b", b[k], N * X);
    }
    line64("total", total, N * X);
    line("most", most, X);
    line64("result", result, 3);
    return whole_close(session);
}
