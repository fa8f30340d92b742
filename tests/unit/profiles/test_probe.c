/* test_probe.c - the transfer model fitted to made-up copies, the units' peer links made of pairs, and the probe
 * against the emulator, whose links are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memmgr/staging.h"
#include "profiles/probe/probe_impl.h"
#include "runtime/start/back_ends.h"
#include "witness.h"

#define N 21
#define POOL (UINT64_C(2) << 20)        /* of a device: no copy is larger */
#define MEMORY (2 * POOL)               /* so that the probe takes such a pool */

#define BRIEFLY .quick = true, .array_bytes = 1 << 20

static uint64_t bytes[N];
static double seconds[N];

/* Copies over `link`, off by up to `noise`, every `spike`-th ten times too long. */
static void make_copies(const struct df_link *link, double noise, unsigned spike)
{
    uint64_t state = 12345;
    for (unsigned i = 0; i < N; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double off = (double)(state >> 11) / 4503599627370496.0 - 1;
        bytes[i] = UINT64_C(64) << i;
        seconds[i] = df_link_time_s(link, bytes[i]) * (1 + noise * off);
        if (spike && i % spike == spike - 1)
            seconds[i] *= 10;
    }
}

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%g is not within %g %% of %g", value, relative * 100, expected);
}

static void exact_copies_give_the_link_back(void **state)
{
    (void)state;
    static const struct df_link links[] = {
        { 12e9, 10e-6, 0 }, { 6e9, 10e-6, 4096 }, { 1e9, 1e-3, 0 }, { 50e9, 2e-6, 65536 }
    };
    for (unsigned i = 0; i < 4; i++) {
        struct df_link fitted;
        make_copies(&links[i], 0, 0);
        assert_true(dfw_link_fit(bytes, seconds, N, &fitted));
        assert_near(fitted.bytes_per_s, links[i].bytes_per_s, 0.001);
        assert_near(fitted.latency_s, links[i].latency_s, 0.001);
        assert_true(fabs((double)fitted.threshold_bytes - (double)links[i].threshold_bytes) <=
                    0.1 * (double)links[i].threshold_bytes);
    }
}

/* Wu's eq. 3.1 would take threshold_bytes / bytes_per_s = 10.9 us more for the byte beyond the threshold. */
static void copies_do_not_jump_at_the_threshold(void **state)
{
    (void)state;
    struct df_link link = { 12e9, 10e-6, 131072 };
    assert_true(df_link_time_s(&link, 131072) == 10e-6);
    assert_near(df_link_time_s(&link, 131073), 10e-6 + 1 / 12e9, 1e-9);
    assert_near(df_link_time_s(&link, 131072 + 12000), 11e-6, 1e-9);
}

static void noise_and_spikes_bend_it_little(void **state)
{
    (void)state;
    struct df_link link = { 12e9, 10e-6, 131072 }, fitted;
    make_copies(&link, 0.02, 6);
    assert_true(dfw_link_fit(bytes, seconds, N, &fitted));
    assert_near(fitted.bytes_per_s, link.bytes_per_s, 0.04);
    assert_near(fitted.latency_s, link.latency_s, 0.04);
    for (unsigned i = 0; i < N; i++)
        assert_near(df_link_time_s(&fitted, bytes[i]), df_link_time_s(&link, bytes[i]), 0.1);
}

static void what_is_no_link_is_refused(void **state)
{
    (void)state;
    struct df_link fitted = { .latency_s = 42 };
    make_copies(&(struct df_link){ 1e9, 1e-5, 0 }, 0, 0);
    assert_false(dfw_link_fit(bytes, seconds, 2, &fitted));
    for (unsigned i = 0; i < N; i++)
        seconds[i] = 1.0 / (i + 1);     /* faster the larger */
    assert_false(dfw_link_fit(bytes, seconds, N, &fitted));
    seconds[3] = NAN;
    assert_false(dfw_link_fit(bytes, seconds, N, &fitted));
    assert_true(fitted.latency_s == 42);
}

static double last_progress;
static char after[256];                 /* the last text that told of copies from a device */

static void progress(void *arg, const char *what, double done_of_1)
{
    (void)arg;
    assert_true(what[0] != 0);
    const char *to = strstr(what, "copies to the device");
    assert_false(to && strncmp(what, after, (size_t)(to - what)) == 0); /* to the device comes first */
    if (strstr(what, "copies from the device"))
        snprintf(after, sizeof after, "%s", what);
    assert_true(done_of_1 >= last_progress && done_of_1 <= 1);
    last_progress = done_of_1;
}

enum { N_FIGURES = 10 };

/* Which figures are as emulated is added to met[]; true: all are, or were before. Times are real: on a machine that
 * others use something or other is disturbed in most attempts, but nothing in all of them. */
static bool is_as_emulated(const struct df_unit *gpu, const struct df_unit *emulated,
                           const struct dfw_probe_report *report, bool met[N_FIGURES], char *why, size_t size)
{
    const struct { const char *what; double got, expected, relative; } figures[N_FIGURES] = {
        { "H2D bandwidth", gpu->h2d.bytes_per_s, emulated->h2d.bytes_per_s, 0.1 },
        { "H2D latency", gpu->h2d.latency_s, emulated->h2d.latency_s, 0.1 },
        { "H2D threshold", (double)gpu->h2d.threshold_bytes, 32768, 1 },
        { "D2H bandwidth", gpu->d2h.bytes_per_s, emulated->d2h.bytes_per_s, 0.1 },
        { "D2H latency", gpu->d2h.latency_s, emulated->d2h.latency_s, 0.1 },
        { "D2H threshold", (double)gpu->d2h.threshold_bytes, 32768, 1 },
        { "engines", gpu->engines, emulated->engines, 0 },
        { "launch", gpu->launch_s, emulated->launch_s, 0.25 }, /* seen from outside: a little more */
        { "pinned copies", report->h2d[1].pinned, emulated->h2d.bytes_per_s, 0.15 },
        { "staged copies, faster than pinned ones by", report->h2d[1].staged / report->h2d[1].pinned, 0.525, 1 },
    };
    bool all = true;
    for (size_t i = 0; i < N_FIGURES; i++) {
        met[i] = met[i] || fabs(figures[i].got - figures[i].expected) <= figures[i].relative * figures[i].expected;
        if (!met[i])
            snprintf(why, size, "%s: %g is not within %g %% of %g", figures[i].what, figures[i].got,
                     figures[i].relative * 100, figures[i].expected);
        all = all && met[i];
    }
    return all;
}

/* The emulator can register, so both ways were measured, and the unit says which is faster. */
static bool says_what_is_faster(const struct df_unit *gpu, const struct dfw_paths *h2d, const struct dfw_paths *d2h)
{
    bool registering = 1 / h2d->registered + 1 / d2h->registered < 1 / h2d->staged + 1 / d2h->staged;
    return h2d->registered > 0 && d2h->registered > 0 &&
           gpu->registers == (registering ? DF_REGISTER_YES : DF_REGISTER_NO);
}

static void the_emulators_link_is_found_again(void **state)
{
    (void)state;
    struct df_platform emulated = { .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, probed;
    /* So slow that copying the bytes is nothing beside it, under sanitizers and on a busy machine too. */
    emulated.units[1] = (struct df_unit){ .name = "g",
                                          .cls = 1,
                                          .workers = 1,
                                          .memory_bytes = MEMORY,
                                          .engines = 2,
                                          .h2d = { 0.4e9, 300e-6, 0 },
                                          .d2h = { 0.3e9, 220e-6, 0 },
                                          .launch_s = 6e-4 };
    struct dfw_probe_options options = { .device = DF_DEVICE_EMU, .emulated = &emulated, BRIEFLY };
    struct dfw_probe_report report;
    char why[128] = "";
    bool met[N_FIGURES] = { false }, handover_met = false;
    int n_quiet = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct df_error error = { "" };
        struct witness witness;
        last_progress = 0;
        after[0] = '\0';
        witness_begin(&witness);
        if (dfw_probe_with(&options, &probed, &report, progress, NULL, &error) != DF_OK)
            fail_msg("%s", error.text);
        n_quiet += witness_end(&witness);
        assert_true(last_progress == 1);
        assert_int_equal(probed.n_units, 2);
        assert_true(probed.units[0].workers >= 1);
        assert_true(probed.units[0].memory_bytes_per_s > 1e8 && probed.units[0].memory_bytes_per_s < 1e13);
        assert_true(probed.units[0].memory_bytes > 0);
        assert_true(probed.units[0].cores >= probed.units[0].workers);
        assert_string_equal(probed.units[1].name, "emu0");
        assert_int_equal(probed.units[1].memory_bytes, MEMORY);
        assert_true(report.h2d[1].staged > 0);
        assert_true(says_what_is_faster(&probed.units[1], &report.h2d[1], &report.d2h[1]));
        double handover_s = probed.units[1].handover_s; /* of it the 1.1 ms that a pair of jobs takes besides are no part */
        handover_met = handover_met || (handover_s > 1e-6 && handover_s < 5e-4);
        if (is_as_emulated(&probed.units[1], &emulated.units[1], &report, met, why, sizeof why) && handover_met)
            return;
        snprintf(why + strlen(why), sizeof why - strlen(why), "; handover %g s", handover_s);
    }
    attempts_judge(n_quiet, "%s", why);
}

/* What the probe does to a device, by its operations. */
static struct {
    const struct dfr_device_ops *ops;
    bool pinned;
    unsigned pins, copies, most_copies; /* copies since the memory was pinned; the most for which it was pinned once */
    unsigned chunks[2];                 /* later chunks of staged copies, to the device and from it */
} watched;

static int watched_copy(struct dfr_device *device, enum dfr_copy kind, void *to, const void *from, uint64_t size,
                        uint32_t stream, struct df_error *error)
{
    watched.copies += watched.pinned;
    watched.most_copies = watched.copies > watched.most_copies ? watched.copies : watched.most_copies;
    if (size == DFM_STAGING_CHUNK_BYTES && (kind == DFR_COPY_H2D ? to : from) != watched.ops->pool(device))
        watched.chunks[kind == DFR_COPY_D2H]++;
    return watched.ops->copy(device, kind, to, from, size, stream, error);
}

static int watched_register(void *memory, uint64_t size, struct df_error *error)
{
    watched.pinned = true;
    watched.copies = 0;
    watched.pins++;
    usleep(20000);                      /* as long as the copy, or longer */
    return watched.ops->host_register(memory, size, error);
}

static void watched_unregister(void *memory, uint64_t size)
{
    watched.pinned = false;
    watched.ops->host_unregister(memory, size);
}

/* Memory is pinned once for several copies, and pinning is a figure of its own. Staged copies go in chunks. (Whole copies
 * of that size are between the host and the begin of the pool.) */
static void copies_are_made_as_a_run_makes_them(void **state)
{
    struct df_platform p = { .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } };
    struct dfr_device_config config = { .unit = &p.units[1], .pool_bytes = POOL, .compute_streams = 1 };
    struct dfw_paths h2d, d2h;
    struct dfr_device_ops ops;
    struct dfr_device *device;
    struct df_error error = { "" };

    (void)state;
    p.units[1] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .memory_bytes = MEMORY, .engines = 2,
                                   .h2d = { 2e9, 1e-6, 0 }, .d2h = { 2e9, 1e-6, 0 } };
    watched.ops = dfr_back_end_of(DF_DEVICE_EMU);
    assert_int_equal(watched.ops->open(0, &config, &device, &error), DF_OK);
    ops = *watched.ops;
    ops.copy = watched_copy;
    ops.host_register = watched_register;
    ops.host_unregister = watched_unregister;
    device->ops = &ops;
    if (dfw_probe_device(&ops, device, &p.units[1], POOL, true, &h2d, &d2h, NULL, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    device->ops = watched.ops;
    watched.ops->close(device);
    assert_true(watched.pins > 2 && !watched.pinned);
    assert_true(watched.most_copies >= 2); /* one to warm up */
    assert_true(watched.chunks[0] > 8 && watched.chunks[1] > 8); /* three of each copy */
    assert_true(h2d.pinning > 0 && d2h.pinning > 0);
    assert_true(h2d.pinning < POOL / 20e-3 && d2h.pinning < POOL / 20e-3);
}

static void one_engine_is_seen(void **state)
{
    (void)state;
    struct df_platform emulated = { .n_units = 2, .n_classes = 2, .class_names = { "cpu", "gpu" } }, probed;
    emulated.units[1] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .memory_bytes = MEMORY, .engines = 1,
                                          .h2d = { 0.5e9, 50e-6, 0 }, .d2h = { 0.5e9, 50e-6, 0 } };
    struct dfw_probe_options options = { .device = DF_DEVICE_EMU, .emulated = &emulated, BRIEFLY };
    int n_quiet = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct witness witness;
        last_progress = 0;
        after[0] = '\0';
        witness_begin(&witness);
        assert_int_equal(dfw_probe_with(&options, &probed, NULL, progress, NULL, NULL), DF_OK);
        n_quiet += witness_end(&witness);
        if (probed.units[1].engines == 1)
            return;
    }
    attempts_judge(n_quiet, "two engines are seen where there is one");
}

/* ---- between devices ---- */

static struct df_platform devices_with(const struct df_link *peers, uint32_t n)
{
    struct df_platform p = { .n_units = 1 + n, .n_classes = 2, .class_names = { "cpu", "gpu" } };
    p.units[0].workers = 1;
    for (uint32_t u = 1; u <= n; u++)
        p.units[u] = (struct df_unit){ .cls = 1, .workers = 1, .memory_bytes = MEMORY, .engines = 2,
                                       .h2d = { 1e9, 1e-5, 0 }, .d2h = { 1e9, 1e-5, 0 }, .peer = peers[u - 1] };
    return p;
}

/* Each pair measured as platform.h says. */
static void measure_as_modelled(const struct df_platform *p, struct dfw_pairs *pairs)
{
    *pairs = (struct dfw_pairs){ 0 };
    for (uint32_t a = 1; a < p->n_units; a++)
        for (uint32_t b = 1; b < p->n_units; b++)
            if (df_platform_peers(p, a) >> b & 1) {
                bool a_slower = df_link_time_s(&p->units[a].peer, 1 << 20) >=
                                df_link_time_s(&p->units[b].peer, 1 << 20);
                pairs->link[a][b] = p->units[a_slower ? a : b].peer;
            }
}

static void pairs_give_the_units_links(void **state)
{
    (void)state;
    const struct df_link links[4] = { { 40e9, 5e-6, 0 }, { 10e9, 8e-6, 4096 }, { 0, 0, 0 }, { 20e9, 6e-6, 0 } };
    struct df_platform told = devices_with(links, 4), got = devices_with(links, 4);
    struct dfw_pairs pairs;
    measure_as_modelled(&told, &pairs);
    for (uint32_t u = 1; u <= 4; u++)
        got.units[u].peer = (struct df_link){ 0 };
    dfw_pairs_give(&pairs, &got);
    for (uint32_t a = 1; a <= 4; a++) {
        assert_int_equal(df_platform_peers(&got, a), df_platform_peers(&told, a));
        for (uint32_t b = 1; b <= 4; b++)
            assert_true(df_platform_copy_s(&got, a, b, 1 << 24) == df_platform_copy_s(&told, a, b, 1 << 24));
    }
    pairs.link[1][4].bytes_per_s = 5e9; /* one direction is slow: that one counts, and unit 1 has a faster pair yet */
    dfw_pairs_give(&pairs, &got);
    assert_true(got.units[1].peer.bytes_per_s == 10e9 && got.units[4].peer.bytes_per_s == 10e9);
}

/* Two pairs with links of their own, the rest through a switch: no links of units say that, the switch's are nearer. */
static void slow_pairs_count_where_they_are_most(void **state)
{
    (void)state;
    const struct df_link fast = { 50e9, 2e-6, 0 }, slow = { 10e9, 8e-6, 0 }, none[4] = { { 0, 0, 0 } };
    struct df_platform p = devices_with(none, 4);
    struct dfw_pairs pairs = { 0 };
    for (uint32_t a = 1; a <= 4; a++)
        for (uint32_t b = 1; b <= 4; b++)
            if (a != b)
                pairs.link[a][b] = (a - 1) / 2 == (b - 1) / 2 ? fast : slow;
    dfw_pairs_give(&pairs, &p);
    for (uint32_t u = 1; u <= 4; u++)
        assert_memory_equal(&p.units[u].peer, &slow, sizeof slow);
    p.n_units = 4;                      /* of three, one is slow: that can be said */
    dfw_pairs_give(&pairs, &p);
    assert_memory_equal(&p.units[1].peer, &fast, sizeof fast);
    assert_memory_equal(&p.units[2].peer, &fast, sizeof fast);
    assert_memory_equal(&p.units[3].peer, &slow, sizeof slow);
}

/* Whoever has a link reaches all that have one. */
static void islands_are_not_joined(void **state)
{
    (void)state;
    const struct df_link link = { 40e9, 5e-6, 0 }, links[5] = { link, link, link, link, link };
    struct df_platform p = devices_with(links, 5);
    struct dfw_pairs pairs;
    measure_as_modelled(&p, &pairs);
    for (uint32_t a = 1; a <= 2; a++)
        for (uint32_t b = 3; b <= 5; b++)
            pairs.link[a][b] = pairs.link[b][a] = (struct df_link){ 0 };
    dfw_pairs_give(&pairs, &p);
    assert_int_equal(df_platform_peers(&p, 1), 0);
    assert_int_equal(df_platform_peers(&p, 3), 1 << 4 | 1 << 5);
    pairs.link[4][5] = (struct df_link){ 0 }; /* that way alone is no way: 1 and 2 are as large a group, and first */
    dfw_pairs_give(&pairs, &p);
    assert_int_equal(df_platform_peers(&p, 1), 1 << 2);
    assert_int_equal(df_platform_peers(&p, 3) | df_platform_peers(&p, 5), 0);
    p.units[2].cls = 2;                 /* other classes do not send to each other */
    dfw_pairs_give(&pairs, &p);
    assert_int_equal(df_platform_peers(&p, 1), 0);
    assert_int_equal(df_platform_peers(&p, 3), 1 << 4);
    p.n_units = 1;
    dfw_pairs_give(&pairs, &p);
}

/* Of three devices the first two send to each other. false: why says which figure is off. */
static bool measures_pairs(const struct df_platform *told, char *why, size_t size)
{
    const struct dfr_device_ops *ops = dfr_back_end_of(DF_DEVICE_EMU);
    struct dfr_device *devices[4];
    struct df_platform p = *told;
    struct dfw_pairs pairs = { 0 };
    struct df_error error = { "" };
    for (uint32_t u = 1; u <= 3; u++) {
        struct dfr_device_config config = { .unit = &told->units[u], .pool_bytes = POOL, .compute_streams = 1 };
        p.units[u].peer = (struct df_link){ 0 };
        assert_int_equal(ops->open(u - 1, &config, &devices[u], &error), DF_OK);
    }
    last_progress = 0;
    after[0] = '\0';
    int status = dfw_probe_peers(ops, devices, &p, POOL, &pairs, progress, NULL, &error);
    for (uint32_t u = 1; u <= 3; u++)
        ops->close(devices[u]);
    if (status != DF_OK)
        fail_msg("%s", error.text);
    assert_true(last_progress == 1);
    for (uint32_t a = 1; a <= 3; a++) {
        assert_int_equal(df_platform_peers(&p, a), df_platform_peers(told, a));
        for (uint32_t b = 1; b <= 3; b++) {
            if (!(df_platform_peers(told, a) >> b & 1)) {
                assert_true(pairs.link[a][b].bytes_per_s == 0);
                continue;
            }
            for (uint64_t n = 64; n <= 16 << 20; n *= 512) {
                double expected_s = df_peer_time_s(told, a, b, n), got_s = df_link_time_s(&pairs.link[a][b], n);
                snprintf(why, size, "%u to %u: %g s, not %g, for %g bytes", a, b, got_s, expected_s, (double)n);
                if (!(fabs(got_s - expected_s) <= 0.1 * expected_s))
                    return false;
            }
        }
    }
    return true;
}

static void the_emulators_peers_are_found_again(void **state)
{
    (void)state;
    const struct df_link links[3] = { { 0.3e9, 700e-6, 0 }, { 0.25e9, 1e-3, 0 }, { 0, 0, 0 } };
    const struct df_platform told = devices_with(links, 3);
    char why[128] = "";
    int n_quiet = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct witness witness;
        witness_begin(&witness);
        bool good = measures_pairs(&told, why, sizeof why);
        n_quiet += witness_end(&witness);
        if (good)
            return;
    }
    attempts_judge(n_quiet, "%s", why);
}

/* Of a unified device nothing is measured but its launches. It has no memory of its own, and no peers. */
static void a_unified_device_has_no_link(void **state)
{
    (void)state;
    struct df_link link = { 1e9, 1e-5, 0 };
    struct df_platform emulated = { .n_units = 3, .n_classes = 2, .class_names = { "cpu", "gpu" } }, probed;
    emulated.units[1] = (struct df_unit){ .name = "u", .cls = 1, .workers = 1, .launch_s = 1e-3 };
    df_unit_unify(&emulated.units[1]);
    emulated.units[2] = (struct df_unit){ .name = "g", .cls = 1, .workers = 1, .memory_bytes = MEMORY, .engines = 2,
                                          .h2d = link, .d2h = link, .peer = link };
    struct dfw_probe_options options = { .device = DF_DEVICE_EMU, .emulated = &emulated, BRIEFLY };
    struct dfw_probe_report report;
    struct df_error error = { "" };
    if (dfw_probe_with(&options, &probed, &report, NULL, NULL, &error) != DF_OK)
        fail_msg("%s", error.text);
    assert_true(probed.units[1].unified && !probed.units[2].unified);
    assert_true(df_link_time_s(&probed.units[1].h2d, 1 << 30) == 0);
    assert_int_equal(probed.units[1].memory_bytes, 0);
    assert_true(probed.units[1].launch_s >= 1e-3);
    assert_true(report.h2d[1].pinned == 0 && report.h2d[2].pinned > 0);
    assert_int_equal(df_platform_peers(&probed, 2), 0);
    assert_int_equal(df_platform_on_host(&probed), 3);
}

static void a_machine_without_gpu_is_a_platform(void **state)
{
    (void)state;
    struct dfw_probe_options options = { .device = DF_DEVICE_NONE, BRIEFLY };
    struct df_platform probed;
    assert_int_equal(dfw_probe_with(&options, &probed, NULL, NULL, NULL, NULL), DF_OK);
    assert_int_equal(probed.n_units, 1);
    assert_int_equal(probed.units[0].cls, DF_CLASS_CPU);
    assert_string_equal(probed.class_names[0], "cpu");
    char name[512], again[512];
    dfw_machine_name(name, sizeof name);
    dfw_machine_name(again, sizeof again);
    assert_string_equal(name, again);
    assert_non_null(strstr(name, " x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_copies_give_the_link_back), cmocka_unit_test(copies_do_not_jump_at_the_threshold), cmocka_unit_test(noise_and_spikes_bend_it_little),
        cmocka_unit_test(what_is_no_link_is_refused),      cmocka_unit_test(the_emulators_link_is_found_again),
        cmocka_unit_test(one_engine_is_seen),              cmocka_unit_test(a_unified_device_has_no_link),
        cmocka_unit_test(copies_are_made_as_a_run_makes_them), cmocka_unit_test(a_machine_without_gpu_is_a_platform),
        cmocka_unit_test(pairs_give_the_units_links),      cmocka_unit_test(islands_are_not_joined),
        cmocka_unit_test(slow_pairs_count_where_they_are_most),
        cmocka_unit_test(the_emulators_peers_are_found_again),
    };
    return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
