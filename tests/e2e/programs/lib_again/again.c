/* again.c - what a call of a session leaves for the next wave in its place, the next pass and the next call: ./again GRAPH OPTIONS.
 * Each line says what differs from what is computed here. No line: nothing does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"

#define WANT(is, want, ...) \
    do { \
        long long is_ = (is), want_ = (want); \
        if (is_ != want_) { \
            printf(__VA_ARGS__); \
            printf(": %lld and not %lld\n", is_, want_); \
        } \
    } while (0)

enum { CALLS = 12, WAVES = 5, UNWRITTEN = -77 };

/* All that a call gets lies in memory of its own, which is freed afterwards. */
static int32_t *numbers(size_t n, int32_t first, int32_t step)
{
    int32_t *p = malloc(n * sizeof *p);
    for (size_t i = 0; p && i < n; i++)
        p[i] = first + (int32_t)i * step;
    return p;
}

static int done(int rc, const char *error)
{
    if (rc)
        printf("%d %s\n", rc, error);
    return rc != 0;
}

static int lost(const char *options)
{
    struct lost_session *s;
    if (done(lost_open(options, &s), lost_error()))
        return 1;
    for (int call = 0; call < CALLS; call++) {
        int32_t *a = numbers(WAVES * 6, call, 1), *c = numbers(WAVES * 6, UNWRITTEN, 0);
        done(lost_run_waves(s, WAVES, a, c), lost_error());
        const unsigned char *empty = lost_empty(s, 1);
        for (int w = 0; w < WAVES; w++) {
            WANT(empty && empty[w], w < 2, "call %d, wave %d: empty", call, w);
            for (int i = 6 * w; w >= 2 && i < 6 * w + 6; i++)
                WANT(c[i], 2 * a[i], "call %d, wave %d", call, w);
        }
        free(a);
        free(c);
    }
    return lost_close(s);
}

/* Every second call fails, in another wave each time. */
static int fails(const char *options)
{
    struct fails_session *s;
    if (done(fails_open(options, &s), fails_error()))
        return 1;
    for (int call = 0; call < CALLS; call++) {
        const int n = 40 + call % 3, waves = 1 + call % 4, at = call % 2 ? call % waves : -1;
        int32_t *arrays[] = { numbers((size_t)(n * waves), 1, 0), numbers((size_t)(n * waves), UNWRITTEN, 0), numbers((size_t)n, UNWRITTEN, 0) };
        int32_t *a = arrays[0], *o = arrays[1], *t = arrays[2];
        int rc = fails_run_waves(s, waves, a, (size_t)n, o, t, at);
        WANT(rc, at < 0 ? 0 : -6, "call %d: %s", call, rc ? fails_error() : "it did not fail");
        for (int i = 0; at < 0 && i < n * waves; i++)
            WANT(o[i], 1, "call %d: o[%d]", call, i);
        for (int i = 0; at < 0 && i < n; i++)
            WANT(t[i], waves, "call %d: t[%d]", call, i);
        for (int i = 0; i < 3; i++)
            free(arrays[i]);
    }
    /* Arrays of a call that failed in other roles. */
    int32_t *a = numbers(200, 1, 0), *b = numbers(200, 1, 0), *t = numbers(100, 0, 0);
    WANT(fails_run_waves(s, 2, a, 100, b, t, 1), -6, "it did not fail");
    for (int i = 0; i < 200; i++)
        b[i] = 1;
    done(fails_run_waves(s, 2, b, 100, a, t, -1), fails_error());
    WANT(t[99], 2, "in other roles");
    free(a);
    free(b);
    free(t);
    return fails_close(s);
}

static int bounded(const char *options)
{
    struct bounded_session *s;
    if (done(bounded_open(options, &s), bounded_error()))
        return 1;
    for (int call = 0; call < CALLS; call++) {
        const int64_t waves = 1 + call % 3;
        size_t *n = malloc((size_t)waves * sizeof *n);
        int32_t *b = numbers(5 * (size_t)waves, 10 * call, 1), *v = numbers(6 * (size_t)waves, call, 1), *t = numbers(6, UNWRITTEN, 0);
        int32_t *c = numbers(5 * (size_t)waves, UNWRITTEN, 0);
        for (int64_t w = 0; w < waves; w++)
            n[w] = 1 + (size_t)(call + 2 * w) % 5;
        done(bounded_run_waves(s, waves, b, n, v, t, c), bounded_error());
        const size_t *extents = bounded_extents(s, 3);
        for (int64_t w = 0; w < waves; w++) {
            WANT(extents[4 * w], (long long)n[w], "call %d, wave %d: extent", call, (int)w);
            for (size_t i = 0; i < n[w]; i++)
                WANT(c[5 * w + (int64_t)i], b[5 * w + (int64_t)(n[w] - 1 - i)], "call %d, wave %d: c[%d]", call, (int)w, (int)i);
        }
        for (int i = 0; i < 6; i++) {
            long long sum = 0;
            for (int64_t w = 0; w < waves; w++)
                sum += v[6 * w + i];
            WANT(t[i], sum, "call %d: t[%d]", call, i);
        }
        WANT(bounded_empty(s, 3) != NULL, 0, "call %d: empty", call);
        free(n);
        free(b);
        free(v);
        free(t);
        free(c);
    }
    return bounded_close(s);
}

static int several(const char *options)
{
    struct several_session *s;
    enum { N = 320 };
    if (done(several_open(options, &s), several_error()))
        return 1;
    for (int call = 0; call < CALLS; call++) {
        const int waves = 1 + call % 5;
        int32_t *a = numbers((size_t)waves * N, call, 3), *f = numbers((size_t)waves * N, UNWRITTEN, 0), *t = numbers(N, UNWRITTEN, 0);
        done(several_run_waves(s, waves, a, N, f, t), several_error());
        WANT(several_empty(s, 1) != NULL || several_empty(s, 2) != NULL, 0, "call %d: empty", call);
        for (int i = 0; i < N; i++) {
            long long sum = 0;
            for (int w = 0; w < waves; w++) {
                sum += a[w * N + i];
                WANT(f[w * N + i], a[w * N + N - 1 - i], "call %d, wave %d: f[%d]", call, w, i);
            }
            WANT(t[i], sum, "call %d: t[%d]", call, i);
        }
        free(a);
        free(f);
        free(t);
    }
    return several_close(s);
}

/* Says what each call says; -2 is the result after the last wave. */
static int forgets(const char *options)
{
    struct forgets_it_session *s;
    int32_t *a = numbers(WAVES * 8, 1, 1), *b = numbers(WAVES * 8, UNWRITTEN, 0), *u = numbers(8, UNWRITTEN, 0);
    if (done(forgets_it_open(options, &s), forgets_it_error()))
        return 1;
    for (int at = -3; at < WAVES; at++)
        done(forgets_it_run_waves(s, WAVES, a, 8, b, u, at), forgets_it_error());
    free(a);
    free(b);
    free(u);
    return forgets_it_close(s);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *options);
    } graphs[] = { { "lost", lost }, { "fails", fails }, { "bounded", bounded }, { "several", several }, { "forgets", forgets } };
    for (size_t i = 0; argc == 3 && i < sizeof graphs / sizeof *graphs; i++)
        if (strcmp(graphs[i].name, argv[1]) == 0)
            return graphs[i].run(argv[2]);
    return 2;
}
