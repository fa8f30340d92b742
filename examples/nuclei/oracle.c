/* oracle.c - every operation of the segmentation once more, as simply as it can be written: oracle DUMPS
 *
 * DUMPS has what a run with --dump of all nodes wrote of wave 0 (check.sh). Each operation is done again on the program's own input of it, and
 * compared. Components are flooded from each pixel, reconstruction is repeated until nothing changes, the distance is the least over all
 * pixels, and the watershed looks through all waiting pixels for the next. So it takes small pictures. Prints a line for each
 * operation; exit status 1: one differs.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int H, W, failed;
static const char *folder;

/* ---- reading and comparing ---- */

/* A token as doubles; every token of the segmentation has the tile's extents. */
static double *load(const char *name)
{
    char path[4096], header[4096], type;
    unsigned char start[10];
    unsigned bytes;
    snprintf(path, sizeof path, "%s/main.segment.%s.0.npy", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fread(start, 1, 10, file) != 10) {
        fprintf(stderr, "oracle: error: cannot read '%s'\n", path);
        exit(1);
    }
    size_t length = start[8] + 256u * start[9];
    if (length >= sizeof header || fread(header, 1, length, file) != length) {
        fprintf(stderr, "oracle: error: '%s' is cut off\n", path);
        exit(1);
    }
    header[length] = 0;
    const char *descr = strstr(header, "'descr': '"), *shape = strstr(header, "(");
    if (!descr || !shape || sscanf(descr + 11, "%c%u", &type, &bytes) != 2 || sscanf(shape, "(%d, %d", &H, &W) != 2) {
        fprintf(stderr, "oracle: error: '%s' has another header: %s\n", path, header);
        exit(1);
    }
    double *v = malloc((size_t)H * (size_t)W * sizeof *v);
    for (int i = 0; i < H * W; i++) {
        union { uint8_t u8; uint16_t u16; int32_t i32; float f32; } e;
        if (fread(&e, bytes, 1, file) != 1) {
            fprintf(stderr, "oracle: error: '%s' is cut off\n", path);
            exit(1);
        }
        v[i] = type == 'f' ? (double)e.f32 : bytes == 1 ? e.u8 : bytes == 2 ? e.u16 : e.i32;
    }
    fclose(file);
    return v;
}

static void compare(const char *name, const char *token, double *mine, double tolerance)
{
    double *theirs = load(token);
    int wrong = 0;
    for (int i = 0; i < H * W; i++)
        wrong += fabs(mine[i] - theirs[i]) > tolerance;
    printf("%s %s", wrong ? "FAILED" : "ok", name);
    printf(wrong ? ": %d pixels differ\n" : "\n", wrong);
    failed |= wrong > 0;
    free(theirs);
    free(mine);
}

static double *plane(void) { return calloc((size_t)H * (size_t)W, sizeof(double)); }

/* The pixel dy, dx further, or `outside`. */
static double at(const double *v, int p, int dy, int dx, double outside)
{
    int y = p / W + dy, x = p % W + dx;
    return y < 0 || x < 0 || y >= H || x >= W ? outside : v[y * W + x];
}

/* ---- operations ---- */

static int in_octagon(int dy, int dx) { return abs(dy) <= 9 && abs(dx) <= 9 && abs(dy) + abs(dx) <= 14; }

/* Erosion (least = 1) or dilation by the octagon, or by the 3 x 3 cross. */
static double *morph(const double *v, int least, int cross, double outside)
{
    double *o = plane();
    for (int p = 0; p < H * W; p++) {
        o[p] = v[p];
        for (int dy = -9; dy <= 9; dy++)
            for (int dx = -9; dx <= 9; dx++)
                if (cross ? abs(dy) + abs(dx) <= 1 : in_octagon(dy, dx)) {
                    double a = at(v, p, dy, dx, outside);
                    o[p] = least ? fmin(o[p], a) : fmax(o[p], a);
                }
    }
    return o;
}

static double *opened(const double *v, int cross, double most)
{
    double *e = morph(v, 1, cross, most), *o = morph(e, 0, cross, 0);
    free(e);
    return o;
}

static double *reconstructed(const double *marker, double less, const double *mask)
{
    double *o = plane();
    for (int p = 0; p < H * W; p++)
        o[p] = fmax(0, fmin(marker[p] - less, mask[p]));
    for (int changed = 1; changed;) {
        changed = 0;
        for (int p = 0; p < H * W; p++) {
            double most = o[p];
            for (int k = 0; k < 9; k++)
                most = fmax(most, at(o, p, k / 3 - 1, k % 3 - 1, 0));
            if (fmin(most, mask[p]) > o[p]) {
                o[p] = fmin(most, mask[p]);
                changed = 1;
            }
        }
    }
    return o;
}

/* Labels from 1 up in raster order, by a stack of pixels. */
static int *labelled(const double *m, int of, int neighbours, int *count)
{
    int *label = calloc((size_t)H * (size_t)W, sizeof *label), *stack = malloc((size_t)H * (size_t)W * sizeof *stack);
    *count = 0;
    for (int first = 0; first < H * W; first++) {
        int waiting = 0;
        if ((m[first] != 0) != of || label[first])
            continue;
        label[first] = ++*count;
        stack[waiting++] = first;
        while (waiting > 0) {
            int p = stack[--waiting];
            for (int k = 0; k < 9; k++) {
                int y = p / W + k / 3 - 1, x = p % W + k % 3 - 1;
                if (y < 0 || x < 0 || y >= H || x >= W || (neighbours == 4 && k % 2 == 0))
                    continue;
                if ((m[y * W + x] != 0) == of && !label[y * W + x]) {
                    label[y * W + x] = *count;
                    stack[waiting++] = y * W + x;
                }
            }
        }
    }
    free(stack);
    return label;
}

enum kind { AREA, EDGE, TOUCHED };

/* Of each component the area, whether it is at the edge, or whether it has a pixel of `by`: kept if least <= that < below. */
static double *chosen(const double *m, int of, int neighbours, enum kind kind, const double *by, double least, double below)
{
    int n;
    int *label = labelled(m, of, neighbours, &n);
    double *value = calloc((size_t)n + 1, sizeof *value), *o = plane();
    for (int p = 0; p < H * W; p++) {
        int y = p / W, x = p % W;
        value[label[p]] += kind == AREA ? 1 : kind == EDGE ? y == 0 || x == 0 || y == H - 1 || x == W - 1 : by[p] != 0;
    }
    for (int p = 0; p < H * W; p++)
        o[p] = label[p] && value[label[p]] >= least && value[label[p]] < below;
    free(label);
    free(value);
    return o;
}

static double *filled(const double *m)
{
    double *o = chosen(m, 0, 4, EDGE, NULL, 1, 1e30);
    for (int p = 0; p < H * W; p++)
        o[p] = 1 - o[p];
    return o;
}

static double *distances(const double *m)
{
    double *o = plane();
    for (int p = 0; p < H * W; p++) {
        double best = (double)(H + W) * (H + W);
        for (int q = 0; m[p] != 0 && q < H * W; q++)
            if (m[q] == 0)
                best = fmin(best, (double)(p / W - q / W) * (p / W - q / W) + (double)(p % W - q % W) * (p % W - q % W));
        o[p] = m[p] != 0 ? sqrt(best) : 0;
    }
    return o;
}

/* ---- the watershed ---- */

static const int near_y[8] = { -1, 0, 0, 1, -1, -1, 1, 1 }, near_x[8] = { 0, -1, 1, 0, -1, 1, -1, 1 };

/* Labels of the regional maxima, 0 elsewhere: a plateau is one if nothing beside it is higher. */
static int *peaks(const double *m, const double *level)
{
    int *label = calloc((size_t)H * (size_t)W, sizeof *label), n = 0;
    double *same = plane();
    for (int first = 0; first < H * W; first++) {
        int peak = 1, in = 1;
        if (m[first] == 0 || label[first])
            continue;
        memset(same, 0, (size_t)H * (size_t)W * sizeof *same);
        same[first] = 1;
        for (int grown = 1; grown && peak;) {
            grown = 0;
            for (int p = 0; p < H * W && peak; p++)
                for (int k = 0; k < 8 && same[p] != 0; k++) {
                    int y = p / W + near_y[k], x = p % W + near_x[k], q = y * W + x;
                    if (y < 0 || x < 0 || y >= H || x >= W || m[q] == 0)
                        continue;
                    peak &= level[q] <= level[first];
                    if (level[q] == level[first] && same[q] == 0) {
                        same[q] = 1;
                        in++;
                        grown = 1;
                    }
                }
        }
        n += peak;
        for (int p = 0; peak && p < H * W; p++)
            if (same[p] != 0)
                label[p] = n;
    }
    free(same);
    return label;
}

static double *separated(const double *m, const double *level)
{
    enum { FREE, WAITING, DONE };
    int *label = peaks(m, level), *order = malloc((size_t)H * (size_t)W * sizeof *order), n = 0;
    char *state = calloc((size_t)H * (size_t)W, 1), *taken = calloc((size_t)H * (size_t)W, 1);
    double *o = plane();
    for (int p = 0; p < H * W; p++) {
        o[p] = m[p] != 0;
        if (label[p]) {
            order[n++] = p;
            state[p] = DONE;
        }
    }
    for (;;) {
        int next = -1;
        for (int i = 0; i < n; i++)
            if (!taken[i] && (next < 0 || level[order[i]] > level[order[next]]))
                next = i;
        if (next < 0)
            break;
        taken[next] = 1;
        const int p = order[next];
        int line = 0, label_of_p = label[p], beside[8];
        for (int k = 0; k < 8; k++) {
            int y = p / W + near_y[k], x = p % W + near_x[k], q = y * W + x;
            beside[k] = y < 0 || x < 0 || y >= H || x >= W || m[q] == 0 ? -1 : q;
            if (state[p] == WAITING && beside[k] >= 0 && label[q]) {
                line |= label_of_p && label[q] != label_of_p;
                label_of_p = label[q];
            }
        }
        state[p] = DONE;
        if (line) {
            o[p] = 0;
            continue;
        }
        label[p] = label_of_p;
        for (int k = 0; k < 8; k++)
            if (beside[k] >= 0 && state[beside[k]] == FREE) {
                state[beside[k]] = WAITING;
                order[n++] = beside[k];
            }
    }
    free(label);
    free(order);
    free(state);
    free(taken);
    return o;
}

/* ---- all of them ---- */

static double *numbered(const double *m)
{
    int n;
    int *label = labelled(m, 1, 8, &n);
    double *o = plane();
    for (int p = 0; p < H * W; p++)
        o[p] = label[p];
    free(label);
    return o;
}

static void masks(void)
{
    double *v, *by;
    v = load("inks.reddish"), by = load("inks.red");
    compare("touched", "touched#1.m", chosen(v, 1, 8, TOUCHED, by, 1, 1e30), 0);
    compare("open", "open_octagon.dilate_row.b", opened(load("inks.rc"), 0, 255), 0);
    compare("reconstruct", "reconstruct.grown", reconstructed(load("open_octagon.dilate_row.b"), 0, load("inks.rc")), 0);
    compare("fill", "fill#1.m", filled(load("darker.surely")), 0);
    compare("area", "sized#1.m", chosen(load("fill#1.m"), 1, 8, AREA, NULL, 11, 1000), 0);
    compare("touched#2", "touched#2.m", chosen(load("darker.maybe"), 1, 8, TOUCHED, load("sized#1.m"), 1, 1e30), 0);
    compare("fill#2", "fill#2.m", filled(load("without_blood.b")), 0);
    compare("open-cross", "dilate_cross#1.b", opened(load("fill#2.m"), 1, 1), 0);
    compare("area#2", "sized#2.m", chosen(load("dilate_cross#1.b"), 1, 8, AREA, NULL, 30, 1e30), 0);
    compare("dilate-cross", "dilate_cross#2.b", morph(load("sized#2.m"), 0, 1, 0), 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle DUMPS\n");
        return 2;
    }
    folder = argv[1];
    masks();
    double *m = load("dilate_cross#2.b");
    compare("distance", "distance.d", distances(m), 1e-5);
    compare("flatten", "flatten.f", reconstructed(load("levels.l"), 256, load("levels.l")), 0);
    compare("watershed", "separate.parts", separated(m, load("flatten.f")), 0);
    compare("area#3", "sized#3.m", chosen(load("separate.parts"), 1, 4, AREA, NULL, 21, 1000), 0);
    compare("fill#3", "fill#3.m", filled(load("sized#3.m")), 0);
    compare("label", "label.labels", numbered(load("fill#3.m")), 0);
    return failed;
}
