/* report.c - counts the connected regions of a mask, by a union-find over its pixels. */
#include <stdio.h>

/* The root of a pixel's tree, whose paths are halved on the way. */
static int32_t root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

int report_cpu(struct df_call *call, size_t m, size_t n, const uint8_t *t, const int32_t *area, const double *mean, const float *most, int32_t *labels)
{
    long regions = 0;
    (void)call;
    for (size_t i = 0; i < m * n; i++) {
        labels[i] = (int32_t)i;
        if (t[i] && i % n && t[i - 1])
            join(labels, (int32_t)(i - 1), (int32_t)i);
        if (t[i] && i >= n && t[i - n])
            join(labels, (int32_t)(i - n), (int32_t)i);
    }
    for (size_t i = 0; i < m * n; i++)
        regions += t[i] && labels[i] == (int32_t)i;
    printf("%ld spots, %d pixels, mean %.4f, most %.4f\n", regions, *area, *mean, *most);
    return DF_OK;
}
