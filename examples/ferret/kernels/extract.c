/* extract.c - sums over each region, from which describe.df makes the features. Labels are 0 … n - 1, without gaps. */
#include <string.h>

static void count_row(const uint8_t *label, const uint8_t *v, size_t pixels, size_t y, size_t w, int64_t (*sums)[18])
{
    for (size_t x = 0; x < w;) {
        const uint8_t at = label[x];
        const size_t from = x;
        int64_t *s = sums[at];
        int32_t one[3] = { 0 }, two[3] = { 0 };
        int64_t three[3] = { 0 };
        for (; x < w && label[x] == at; x++)
            for (size_t c = 0; c < 3; c++) {
                const int32_t a = v[c * pixels + x];
                one[c] += a;
                two[c] += a * a;
                three[c] += a * a * a;
            }
        const int64_t n = (int64_t)(x - from);
        s[1] = s[0] == 0 || (int64_t)from < s[1] ? (int64_t)from : s[1];
        s[2] = (int64_t)x - 1 > s[2] ? (int64_t)x - 1 : s[2];
        s[3] = s[0] == 0 ? (int64_t)y : s[3];
        s[4] = (int64_t)y;
        s[5] += n * (int64_t)(from + x - 1) / 2;
        s[6] += n * (int64_t)y;
        for (size_t c = 0; c < 3; c++) {
            s[7 + 3 * c] += one[c];
            s[8 + 3 * c] += two[c];
            s[9 + 3 * c] += three[c];
        }
        s[0] += n;
    }
}

int moments_cpu(struct df_call *call, size_t h, size_t w, size_t *n, const uint8_t *v, const uint8_t *label, int64_t *sums)
{
    size_t found = 0;
    for (size_t i = 0; i < h * w; i++)
        found = label[i] + 1u > found ? label[i] + 1u : found;
    if (found > *n)
        return df_fail(call, "a picture has %zu regions, and the program was made for %zu", found, *n);
    *n = found;
    memset(sums, 0, found * 18 * sizeof *sums);
    for (size_t y = 0; y < h; y++)
        count_row(label + y * w, v + y * w, h * w, y, w, (int64_t (*)[18])sums);
    for (size_t i = 0; i < found; i++) {
        sums[18 * i + 16] = (int64_t)h;
        sums[18 * i + 17] = (int64_t)w;
    }
    return DF_OK;
}
