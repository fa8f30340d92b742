/* reconstruct.c - grey reconstruction by dilation over eight neighbours: Vincent's hybrid algorithm (IEEE Trans. Image Processing
 * 2, 1993). One pass downwards, one upwards, and then a queue of the pixels from which something can still grow.
 *
 * Result:   it is unique, so any order of work gives the same bytes.
 * Memory:   work: the queue, h * w indices, and behind it four rows with a pixel at each end.
 * Queue:    If it is full, pixels are lost from it. Then the passes are made again, which find them anew.
 */
#include <stdint.h>
#include <string.h>

#define JOIN(A, B) A##_##B
#define NAME(A, T) JOIN(A, T)

#define PIXEL uint8_t
#define MOST UINT8_MAX
#include "reconstruct.h"
#undef PIXEL
#undef MOST
#define PIXEL uint16_t
#define MOST UINT16_MAX
#include "reconstruct.h"

int reconstruct_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *marker, const uint8_t *mask, int32_t *work,
                    uint8_t *grown)
{
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        grown[i] = marker[i] < mask[i] ? marker[i] : mask[i];
    grow_uint8_t(grown, mask, h, w, work);
    return DF_OK;
}

int flatten_cpu(struct df_call *call, size_t h, size_t w, const uint16_t *l, int32_t *work, uint16_t *f, int32_t height)
{
    (void)call;
    for (size_t i = 0; i < h * w; i++)
        f[i] = (uint16_t)(l[i] > height ? l[i] - height : 0);
    grow_uint16_t(f, l, h, w, work);
    return DF_OK;
}
