/* watershed.c - the watershed of a mask, component by component (watershed.h): floods of two components never meet.
 *
 * Memory: work has six planes: components, marks, order and heap, and two that hold first the runs and then the boxes.
 */
#include "components.h"
#include "watershed.h"

int separate_cpu(struct df_call *call, size_t h, size_t w, const uint8_t *m, const uint16_t *f, int32_t *work, uint8_t *parts)
{
    const size_t plane = (h + 1) * (w + 4);
    int32_t *component = work, *mark = work + plane;
    (void)call;
    struct run *runs = (struct run *)(work + 4 * plane);
    int32_t n = number_runs(runs, find_runs(m, h, w, 1, 8, runs), h, w, component);
    struct box *boxes = (struct box *)(work + 4 * plane);
    find_boxes(component, h, w, boxes, (size_t)n);
    memset(mark, 0, h * w * sizeof *mark);
    memcpy(parts, m, h * w);
    for (int32_t i = 0; i < n; i++) {
        struct flood flood = { .h = (int64_t)h, .w = (int64_t)w, .component = component, .level = f, .mark = mark, .id = i + 1,
                               .order = work + 2 * plane, .heap = work + 3 * plane };
        flood_component(&flood, &boxes[i], parts);
    }
    return DF_OK;
}
