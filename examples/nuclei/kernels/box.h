/* box.h - where each component of a tile lies. A CPU finds that here, a GPU in device.h.
 */
#ifndef NUCLEI_BOX_H
#define NUCLEI_BOX_H

#include <stddef.h>
#include <stdint.h>

/* A function that CPUs and GPUs run. */
#ifdef __CUDACC__
#define BOTH static __device__
#else
#define BOTH static inline
#endif

struct box {                            /* rows top … bottom, columns left … right, all included */
    int32_t top, left, bottom, right, area, label;
};

/* Components are numbered from 1 up without gaps, in the order of their first pixels. Gives how many there are; more than `most`, and without
 * boxes, if one has no room. */
static inline size_t find_boxes(const int32_t *labels, size_t h, size_t w, struct box *boxes, size_t most)
{
    size_t found = 0;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++) {
            const size_t id = (size_t)labels[y * w + x];
            if (id == 0)
                continue;
            if (id > most)
                return id;
            struct box *b = &boxes[id - 1];
            if (id > found) {
                *b = (struct box){ (int32_t)y, (int32_t)x, (int32_t)y, (int32_t)x, 0, (int32_t)id };
                found = id;
            }
            b->left = (int32_t)x < b->left ? (int32_t)x : b->left;
            b->right = (int32_t)x > b->right ? (int32_t)x : b->right;
            b->bottom = (int32_t)y;
            b->area++;
        }
    return found;
}
#endif
