/* extract.cu - sums over each region on a GPU. A thread adds up a strip of a row. The least x and y are kept as greatest negative numbers
 * until all threads have ended. */
#include "device.h"

static __global__ void find_greatest(int64_t pixels, const uint8_t *label, int32_t *greatest)
{
    EACH(strip, (pixels + STRIP - 1) / STRIP) {
        int32_t most = 0;
        for (int64_t i = strip * STRIP; i < pixels && i < (strip + 1) * STRIP; i++)
            most = label[i] > most ? label[i] : most;
        raise(greatest, most);
    }
}

static __global__ void begin_sums(int64_t n, int64_t h, int64_t w, int64_t *sums)
{
    EACH(i, n) {
        int64_t *s = sums + 18 * i;
        for (int c = 0; c < 16; c++)
            s[c] = 0;
        s[1] = -w;
        s[3] = -h;
        s[16] = h;
        s[17] = w;
    }
}

static __global__ void add_strips(int64_t h, int64_t w, const uint8_t *v, const uint8_t *label, int64_t *sums)
{
    const int64_t across = (w + STRIP - 1) / STRIP;
    EACH(strip, h * across) {
        const int64_t y = strip / across, end = (strip % across + 1) * STRIP < w ? (strip % across + 1) * STRIP : w;
        for (int64_t x = strip % across * STRIP; x < end;) {
            const int at = label[y * w + x];
            const int64_t from = x;
            int64_t *s = sums + 18 * at, sum[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
            for (; x < end && label[y * w + x] == at; x++)
                for (int c = 0; c < 3; c++) {
                    const int64_t a = v[(c * h + y) * w + x];
                    sum[3 * c] += a;
                    sum[3 * c + 1] += a * a;
                    sum[3 * c + 2] += a * a * a;
                }
            add(&s[0], x - from);
            raise(&s[1], -from);
            raise(&s[2], x - 1);
            raise(&s[3], -y);
            raise(&s[4], y);
            add(&s[5], (x - from) * (from + x - 1) / 2);
            add(&s[6], (x - from) * y);
            for (int c = 0; c < 9; c++)
                add(&s[7 + c], sum[c]);
        }
    }
}

static __global__ void end_sums(int64_t n, int64_t *sums)
{
    EACH(i, n) {
        sums[18 * i + 1] = -sums[18 * i + 1];
        sums[18 * i + 3] = -sums[18 * i + 3];
    }
}

/* The first word of `sums` holds the greatest label before there are sums. */
int moments_gpu(struct df_call *call, cudaStream_t stream, size_t h, size_t w, size_t *n, const uint8_t *v, const uint8_t *label,
                int64_t *sums)
{
    int32_t greatest = 0;
    clear(stream, sums, sizeof *sums);
    LAUNCH(find_greatest, (h * w + STRIP - 1) / STRIP, stream, (int64_t)(h * w), label, (int32_t *)sums);
    if (after(call) != DF_OK || bring(call, stream, &greatest, sums, sizeof greatest) != DF_OK)
        return DF_FAILED;
    if ((size_t)greatest >= *n)
        return df_fail(call, "a picture has %d regions, and the program was made for %zu", greatest + 1, *n);
    *n = (size_t)greatest + 1;
    LAUNCH(begin_sums, *n, stream, (int64_t)*n, (int64_t)h, (int64_t)w, sums);
    LAUNCH(add_strips, h * ((w + STRIP - 1) / STRIP), stream, (int64_t)h, (int64_t)w, v, label, sums);
    LAUNCH(end_sums, *n, stream, (int64_t)*n, sums);
    return after(call);
}
