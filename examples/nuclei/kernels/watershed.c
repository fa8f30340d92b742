/* watershed.c - the watershed of a mask, component by component (watershed.h): floods of two components never meet.
 *
 * Memory: work has six planes: components, marks, order and heap, and two that hold first the runs and then the boxes.
 */
#include "components.h"
#include "watershed.h"

static void find_boxes(const int32_t *component, size_t h, size_t w, struct box *boxes, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        boxes[i] = (struct box){ INT32_MAX, INT32_MAX, -1, -1, 0, 0 };
    for (int32_t y = 0; y < (int32_t)h; y++)
        for (int32_t x = 0; x < (int32_t)w; x++) {
            int32_t id = component[(size_t)y * w + (size_t)x];
            if (id == 0)
                continue;
            struct box *b = &boxes[id - 1];
            b->top = y < b->top ? y : b->top;
            b->left = x < b->left ? x : b->left;
            b->right = x > b->right ? x : b->right;
            b->bottom = y;
        }
}

int separate_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *m, const uint16_t *f, int32_t *work, uint8_t *parts)
{
    const size_t plane = (h + 1) * (w + 4);
    int32_t *component = work, *mark = work + plane;
    (void)call;
    struct run *runs = (struct run *)(work + 4 * plane);
    int32_t n = number_runs(runs, find_runs(m, h, w, 1, 8, runs), h, w, component);
    struct box *boxes = (struct box *)(work + 4 * plane);
    find_boxes(component, h, w, boxes, n);
    memset(mark, 0, h * w * sizeof *mark);
    memcpy(parts, m, h * w);
    for (int32_t i = 0; i < n; i++) {
        struct flood flood = { .h = (int64_t)h, .w = (int64_t)w, .component = component, .level = f, .mark = mark, .id = i + 1,
                               .order = work + 2 * plane, .heap = work + 3 * plane };
        flood_component(&flood, &boxes[i], parts);
    }
    return DF_OK;
}
