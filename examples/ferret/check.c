/* check.c - ferret against its definitions, by direct loops.
 *
 *     check emd
 * The solver of kernels/emd.h: tiny problems against all flows that there are; larger ones by their potentials, which prove that no flow
 * is cheaper.
 *
 *     check picture PICTURE.png DUMPS WAVE
 * The regions of a picture (exact), its features (1e-5) and shares.
 *
 *     check search INDEX TABLE.csv DUMPS [FAMILIES]
 * Every distance against another solver, in double precision (1e-3), and the order. Which part of the nearest ten of all pictures was
 * found: 0.9 at least. FAMILIES is the part of what was found that has the family of what was looked for, at least.
 *
 * DUMPS is the folder of `ferret --dump='main/segment*' --dump='main/extract*'`. Exit status 1 if anything differs.
 */
#include "kernels/emd.h"
#include "kernels/index.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void verdict(int good, const char *what, double figure)
{
    printf("%s %s (%.3g)\n", good ? "ok" : "FAILED", what, figure);
    failures += !good;
}

static void *need(void *p)
{
    if (p)
        return p;
    fprintf(stderr, "check: no memory, or a file is missing\n");
    exit(1);
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = need(fopen(path, "rb"));
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = need(malloc(*bytes + 1));
    if (fread(data, 1, *bytes, file) != *bytes)
        need(NULL);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

/* What a node made in a wave; *bytes is how much it is. */
static void *dumped(const char *folder, const char *port, long wave, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/main.%s.%ld.npy", folder, port, wave);
    uint8_t *data = read_file(path, bytes);
    const size_t head = 10u + data[8] + 256u * data[9]; /* .npy, version 1 */
    *bytes -= head;
    memmove(data, data + head, *bytes);
    return data;
}

/* ---- emd ---- */

static uint64_t state = 1;
static int below(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)n);
}

/* The least cost of all flows from cell k on, one unit more or less in each cell. */
static int64_t try_all(struct emd *e, int k)
{
    const int i = k / e->m, j = k % e->m;
    int64_t least = INT64_MAX;
    if (k == e->n * e->m) {
        for (int a = 0; a < e->n; a++)
            if (e->supply[a])
                return INT64_MAX;
        return 0;
    }
    for (int much = 0; much <= e->supply[i] && much <= e->demand[j]; much++) {
        e->supply[i] -= much;
        e->demand[j] -= much;
        const int64_t rest = try_all(e, k + 1);
        if (rest != INT64_MAX && rest + (int64_t)much * e->cost[i][j] < least)
            least = rest + (int64_t)much * e->cost[i][j];
        e->supply[i] += much;
        e->demand[j] += much;
    }
    return least;
}

static struct emd any_problem(int most, int sum, int dearest)
{
    struct emd e = { .n = 1 + below(most), .m = 1 + below(most) };
    for (int k = 0; k < sum; k++) {
        e.supply[below(e.n)]++;
        e.demand[below(e.m)]++;
    }
    for (int i = 0; i < e.n; i++)
        for (int j = 0; j < e.m; j++)
            e.cost[i][j] = below(4) ? below(dearest) : dearest - 1; /* many are as far as can be */
    return e;
}

/* Does the flow move everything, and do the potentials prove that it is a cheapest one? */
static int is_proved(const struct emd *before, const struct emd *e, int64_t cost)
{
    int64_t sum = 0;
    for (int i = 0; i < e->n; i++) {
        int64_t row = 0;
        for (int j = 0; j < e->m; j++) {
            const int64_t reduced = (int64_t)e->cost[i][j] - e->u[i] - e->v[j];
            if (e->flow[i][j] < 0 || reduced < 0 || (reduced > 0 && e->flow[i][j] > 0))
                return 0;
            row += e->flow[i][j];
            sum += (int64_t)e->flow[i][j] * e->cost[i][j];
        }
        if (row != before->supply[i])
            return 0;
    }
    for (int j = 0; j < e->m; j++) {
        int64_t column = 0;
        for (int i = 0; i < e->n; i++)
            column += e->flow[i][j];
        if (column != before->demand[j])
            return 0;
    }
    return sum == cost;
}

static void check_emd(void)
{
    int wrong = 0, unproved = 0;
    for (int k = 0; k < 3000; k++) {
        struct emd e = any_problem(3, 1 + below(6), 2 + below(9)), other = e;
        wrong += try_all(&other, 0) != emd_solve(&e);
    }
    verdict(wrong == 0, "emd: tiny problems that differ from the best of all flows", wrong);
    for (int k = 0; k < 3000; k++) {
        struct emd e = any_problem(32, 1 << below(17), 2 + below(1 << 18)), before = e;
        const int64_t cost = emd_solve(&e);
        unproved += !is_proved(&before, &e, cost);
    }
    verdict(unproved == 0, "emd: problems of up to 32 x 32 whose potentials prove nothing", unproved);
}

/* ---- a picture ---- */

struct picture {
    long h, w;
    int *v[3], *p[5], *label;
};

static long edge(long i, long n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static int *plane(const struct picture *s) { return need(calloc((size_t)(s->h * s->w), sizeof(int))); }

static struct picture read_picture(const char *path)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (!png_image_begin_read_from_file(&image, path))
        need(NULL);
    image.format = PNG_FORMAT_RGB;
    struct picture s = { .h = image.height, .w = image.width };
    uint8_t *rgb = need(malloc(PNG_IMAGE_SIZE(image)));
    png_image_finish_read(&image, NULL, rgb, 0, NULL);
    for (int c = 0; c < 5; c++) {
        s.p[c] = plane(&s);
        if (c < 3)
            s.v[c] = plane(&s);
    }
    s.label = plane(&s);
    for (long i = 0; i < s.h * s.w; i++) {
        const int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        const int luma = (int)floor((77 * r + 150 * g + 29 * b + 128) / 256.0);
        const double blue = 128 + floor((145 * (b - luma) + 128) / 256.0), red = 128 + floor((183 * (r - luma) + 128) / 256.0);
        s.v[0][i] = luma;
        s.v[1][i] = (int)fmin(fmax(blue, 0), 255);
        s.v[2][i] = (int)fmin(fmax(red, 0), 255);
    }
    free(rgb);
    return s;
}

/* The mean of 7 x 7 pixels, and where the pixel is. */
static void look(struct picture *s)
{
    for (long y = 0; y < s->h; y++)
        for (long x = 0; x < s->w; x++) {
            for (int c = 0; c < 3; c++) {
                int sum = 0;
                for (long j = -3; j <= 3; j++)
                    for (long i = -3; i <= 3; i++)
                        sum += s->v[c][edge(y + j, s->h) * s->w + edge(x + i, s->w)];
                s->p[c][y * s->w + x] = (sum + 24) / 49;
            }
            s->p[3][y * s->w + x] = (int)((float)x * (255 / (float)s->w));
            s->p[4][y * s->w + x] = (int)((float)y * (255 / (float)s->h));
        }
}

enum { CLUSTERS = 12, ROUNDS = 6 };
static const int importance[5] = { 3, 4, 4, 1, 1 };

static void assign(struct picture *s, int centre[CLUSTERS][5])
{
    for (long i = 0; i < s->h * s->w; i++) {
        long least = -1;
        for (int k = 0; k < CLUSTERS; k++) {
            long d = 0;
            for (int c = 0; c < 5; c++)
                d += (long)importance[c] * (s->p[c][i] - centre[k][c]) * (s->p[c][i] - centre[k][c]);
            if (least < 0 || d < least) {
                least = d;
                s->label[i] = k;
            }
        }
    }
}

static void cluster(struct picture *s)
{
    int centre[CLUSTERS][5];
    for (int k = 0; k < CLUSTERS; k++)
        for (int c = 0; c < 5; c++)
            centre[k][c] = s->p[c][(2 * k + 1) * s->h / (2 * CLUSTERS) * s->w + (10 * k + 1) % (2 * CLUSTERS) * s->w / (2 * CLUSTERS)];
    for (int round = 0; round < ROUNDS; round++) {
        long sum[CLUSTERS][6] = { 0 };
        assign(s, centre);
        for (long i = 0; i < s->h * s->w; i++)
            for (int c = 0; c < 6; c++)
                sum[s->label[i]][c] += c < 5 ? s->p[c][i] : 1;
        for (int k = 0; k < CLUSTERS; k++)
            for (int c = 0; c < 5 && sum[k][5]; c++)
                centre[k][c] = (int)((sum[k][c] + sum[k][5] / 2) / sum[k][5]);
    }
    assign(s, centre);
}

/* One step of joining, everything found anew from the pixels. 0: there is nothing left to join. */
static int join_two(struct picture *s)
{
    long sum[CLUSTERS][6] = { 0 }, best = ALIKE;
    int touching[CLUSTERS][CLUSTERS] = { 0 }, a = -1, b = -1, best_small = 0;
    for (long y = 0; y < s->h; y++)
        for (long x = 0; x < s->w; x++) {
            const long i = y * s->w + x;
            for (int c = 0; c < 6; c++)
                sum[s->label[i]][c] += c < 5 ? s->p[c][i] : 1;
            if (x > 0)
                touching[s->label[i]][s->label[i - 1]] = touching[s->label[i - 1]][s->label[i]] = 1;
            if (y > 0)
                touching[s->label[i]][s->label[i - s->w]] = touching[s->label[i - s->w]][s->label[i]] = 1;
        }
    for (int i = 0; i < CLUSTERS; i++)
        for (int j = i + 1; j < CLUSTERS; j++) {
            long d = 0;
            if (!touching[i][j])
                continue;
            for (int c = 0; c < 3; c++) {
                const long apart = sum[i][c] * 4 / sum[i][5] - sum[j][c] * 4 / sum[j][5];
                d += importance[c] * apart * apart;
            }
            const int small = sum[i][5] * SMALL < s->h * s->w || sum[j][5] * SMALL < s->h * s->w;
            if (small > best_small || (small == best_small && d / 2 < best)) {
                best = d / 2;
                best_small = small;
                a = i;
                b = j;
            }
        }
    for (long i = 0; i < s->h * s->w && a >= 0; i++)
        s->label[i] = s->label[i] == b ? a : s->label[i];
    return a >= 0;
}

static int number_regions(struct picture *s)
{
    int number[CLUSTERS], n = 0;
    for (int k = 0; k < CLUSTERS; k++) {
        number[k] = -1;
        for (long i = 0; i < s->h * s->w && number[k] < 0; i++)
            number[k] = s->label[i] == k ? n++ : -1;
    }
    for (long i = 0; i < s->h * s->w; i++)
        s->label[i] = number[s->label[i]];
    return n;
}

static void describe(const struct picture *s, int region, double *f)
{
    long n = 0, left = s->w, right = -1, top = s->h, bottom = -1;
    double x_sum = 0, y_sum = 0;
    for (long y = 0; y < s->h; y++)
        for (long x = 0; x < s->w; x++)
            if (s->label[y * s->w + x] == region) {
                n++;
                x_sum += (double)x;
                y_sum += (double)y;
                left = x < left ? x : left;
                right = x > right ? x : right;
                top = y < top ? y : top;
                bottom = y > bottom ? y : bottom;
            }
    for (int c = 0; c < 3; c++) {
        double mean = 0, two = 0, three = 0;
        for (long i = 0; i < s->h * s->w; i++)
            mean += s->label[i] == region ? (double)s->v[c][i] / (double)n : 0;
        for (long i = 0; i < s->h * s->w; i++)
            if (s->label[i] == region) {
                two += pow(s->v[c][i] - mean, 2) / (double)n;
                three += pow(s->v[c][i] - mean, 3) / (double)n;
            }
        f[c] = mean / (c ? 24 : 48);
        f[3 + c] = sqrt(two) / (c ? 16 : 32);
        f[6 + c] = cbrt(three) / (c ? 32 : 64);
    }
    const double width = (double)(right - left + 1), height = (double)(bottom - top + 1);
    f[9] = log(width / height) / 2;
    f[10] = sqrt(width * height / (double)(s->h * s->w));
    f[11] = (double)n / (width * height);
    f[12] = 2 * x_sum / (double)n / (double)s->w;
    f[13] = 2 * y_sum / (double)n / (double)s->h;
}

static void check_picture(const char *path, const char *folder, long wave)
{
    struct picture s = read_picture(path);
    size_t n_labels, n_features, n_shares;
    const uint8_t *label = dumped(folder, "segment.paint.label", wave, &n_labels);
    const float *features = dumped(folder, "extract.features.f", wave, &n_features);
    const int32_t *share = dumped(folder, "extract.shares.share", wave, &n_shares);
    double off = 0, roots = 0, share_off = 0, root[CLUSTERS] = { 0 };
    long unlike_pixels = 0, sum = 0;
    look(&s);
    cluster(&s);
    while (join_two(&s)) { }
    const int n = number_regions(&s);
    for (long i = 0; i < s.h * s.w; i++) {
        unlike_pixels += n_labels != (size_t)(s.h * s.w) || label[i] != s.label[i];
        root[s.label[i]]++;
    }
    verdict(unlike_pixels == 0, "segment: pixels with another region", (double)unlike_pixels);
    verdict(n_features == (size_t)n * 14 * sizeof *features && n_shares == (size_t)n * sizeof *share, "extract: regions", n);
    if (failures)
        return;
    for (int i = 0; i < n; i++) {
        double f[14];
        describe(&s, i, f);
        for (int k = 0; k < 14; k++) /* a cube root is steep at 0 */
            off = fmax(off, k >= 6 && k < 9 ? fabs(pow(f[k], 3) - pow((double)features[14 * i + k], 3)) : fabs(f[k] - (double)features[14 * i + k]));
        root[i] = sqrt(root[i]);
        roots += root[i];
    }
    verdict(off < 1e-5, "extract: largest difference of a feature", off);
    for (int i = 0; i < n; i++) {
        sum += share[i];
        share_off = fmax(share_off, fabs(share[i] - 65536 * root[i] / roots));
    }
    verdict(share_off <= n && sum == 65536, "extract: largest difference of a share of 65536", share_off);
}

/* ---- the search ---- */

struct side {
    int n;
    double weight[32];
    const float *f[32];
};

/* The distance by another way: shortest paths in the residual network by Bellman and Ford, in double precision. Nodes: source, regions of a,
 * regions of b, sink. */
static double distance_of(const struct side *a, const struct side *b)
{
    enum { MOST = 66 };
    static double cost[MOST][MOST], room[MOST][MOST];
    const int n = a->n + b->n + 2, sink = n - 1;
    double sum = 0;
    memset(room, 0, sizeof room);
    for (int i = 0; i < a->n; i++) {
        room[0][1 + i] = a->weight[i];
        cost[0][1 + i] = cost[1 + i][0] = 0;
        for (int j = 0; j < b->n; j++) {
            double d = 0;
            for (int k = 0; k < 14; k++)
                d += fabs((double)a->f[i][k] - (double)b->f[j][k]);
            cost[1 + i][1 + a->n + j] = fmin(d, 4);
            cost[1 + a->n + j][1 + i] = -fmin(d, 4);
            room[1 + i][1 + a->n + j] = 2;
        }
    }
    for (int j = 0; j < b->n; j++) {
        room[1 + a->n + j][sink] = b->weight[j];
        cost[1 + a->n + j][sink] = cost[sink][1 + a->n + j] = 0;
    }
    for (;;) {
        double to[MOST] = { 0 }, much = 2;
        int from[MOST] = { 0 };
        for (int i = 1; i < n; i++)
            to[i] = 1e9;
        for (int changed = 1; changed;) {
            changed = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    if (room[i][j] > 1e-12 && to[i] < 1e8 && to[i] + cost[i][j] < to[j] - 1e-12) {
                        to[j] = to[i] + cost[i][j];
                        from[j] = i;
                        changed = 1;
                    }
        }
        if (to[sink] > 1e8)
            return sum;
        for (int j = sink; j; j = from[j])
            much = fmin(much, room[from[j]][j]);
        for (int j = sink; j; j = from[j]) {
            room[from[j]][j] -= much;
            room[j][from[j]] += much;
        }
        sum += much * to[sink];
    }
}

struct found {
    const struct index_head *head;
    const int64_t *name_at;
    const char *names;
    struct side *images;
};

static struct found read_index(const char *path)
{
    size_t bytes;
    const char *at = read_file(path, &bytes);
    struct found x = { .head = (const void *)at };
    const struct index_head *h = x.head;
    x.name_at = (const void *)(at += sizeof *h);
    x.names = at += (h->images + 1) * 8;
    at += (h->name_bytes + 7) / 8 * 8 + (h->images + 1) * 8 + (h->png_bytes + 7) / 8 * 8;
    x.images = need(calloc((size_t)h->images, sizeof *x.images));
    for (int64_t i = 0; i < h->images; i++)
        for (const float *r = (const float *)(const void *)at + i * h->regions * 15; x.images[i].n < h->regions && r[14] > 0; r += 15) {
            x.images[i].f[x.images[i].n] = r;
            x.images[i].weight[x.images[i].n++] = (double)r[14] / 65536;
        }
    return x;
}

static int by_size(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }
static int64_t image_of(const struct found *x, const char *name)
{
    for (int64_t i = 0; i < x->head->images; i++)
        if (strcmp(x->names + x->name_at[i], name) == 0)
            return i;
    return -1;
}

static const char *family(const char *name) { return strrchr(name, '-') ? strrchr(name, '-') : name; }

static void check_search(const char *index, const char *table, const char *folder, const char *families)
{
    const struct found x = read_index(index);
    size_t bytes;
    char *text = read_file(table, &bytes), *line = strtok(text, "\n"), last[4096] = "", query[4096], name[4096];
    long wave = -1, rows = 0, near = 0, alike = 0, unordered = 0, unknown = 0;
    double *all = need(malloc((size_t)x.head->images * sizeof *all)), *sorted = need(malloc((size_t)x.head->images * sizeof *all));
    double off = 0, before = 0, said;
    int rank;
    while ((line = strtok(NULL, "\n")) && sscanf(line, "%4095[^,],%d,%4095[^,],%lf", query, &rank, name, &said) == 4) {
        if (strcmp(query, last) != 0) {
            size_t n_f, n_share;
            const float *f = dumped(folder, "extract.features.f", ++wave, &n_f);
            const int32_t *share = dumped(folder, "extract.shares.share", wave, &n_share);
            struct side q = { .n = (int)(n_share / sizeof *share) };
            for (int i = 0; i < q.n; i++) {
                q.f[i] = f + 14 * i;
                q.weight[i] = share[i] / 65536.0;
            }
            for (int64_t i = 0; i < x.head->images; i++)
                all[i] = sorted[i] = distance_of(&q, &x.images[i]);
            qsort(sorted, (size_t)x.head->images, sizeof *sorted, by_size);
            strcpy(last, query);
            before = 0;
        }
        const int64_t image = image_of(&x, name);
        if (image < 0 || rank > x.head->images) {
            unknown++;
            continue;
        }
        off = fmax(off, fabs(all[image] - said));
        near += all[image] <= sorted[x.head->images < 10 ? x.head->images - 1 : 9] + 1e-9;
        alike += strcmp(family(query), family(name)) == 0;
        unordered += said < before;
        before = said;
        rows++;
    }
    verdict(rows > 0 && unknown == 0, "search: pictures found", (double)rows);
    verdict(off < 1e-3, "search: largest difference of a distance from the other solver's", off);
    verdict(unordered == 0, "search: rows that are not in order", (double)unordered);
    verdict((double)near >= 0.9 * (double)rows, "search: part of the nearest ten of all pictures that was found", (double)near / (double)rows);
    if (families)
        verdict((double)alike >= atof(families) * (double)rows, "search: part of what was found that is of the same family", (double)alike / (double)rows);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "emd") == 0)
        check_emd();
    else if (argc == 5 && strcmp(argv[1], "picture") == 0)
        check_picture(argv[2], argv[3], atol(argv[4]));
    else if ((argc == 5 || argc == 6) && strcmp(argv[1], "search") == 0)
        check_search(argv[2], argv[3], argv[4], argv[5]);
    else {
        fprintf(stderr, "usage: check emd | check picture PICTURE.png DUMPS WAVE | check search INDEX TABLE.csv DUMPS [FAMILIES]\n");
        return 2;
    }
    return failures > 0;
}
