/* platform.c - the default platform, and queries about platforms (platform.h), for the planners, policies, the simulator, dfc and the start of a run. The
 * default has plausible round numbers, so that a plan can be made before anything was measured. `dfc probe` measures a machine; a `platform` declaration
 * describes one. */
#include "runtime/graph/platform.h"

#include <stdio.h>
#include <string.h>

#include "runtime/threads/bind.h"

void df_platform_default(struct df_platform *platform, uint32_t gpus)
{
    const struct df_link link = { .bytes_per_s = 12e9, .latency_s = 10e-6 };
    uint32_t cores = dfr_cores_count();
    if (gpus > DF_MAX_UNITS - 1)
        gpus = DF_MAX_UNITS - 1;
    memset(platform, 0, sizeof *platform);
    snprintf(platform->name, sizeof platform->name, "default");
    platform->n_classes = 2;
    snprintf(platform->class_names[DF_CLASS_CPU], sizeof platform->class_names[0], "cpu");
    snprintf(platform->class_names[DF_CLASS_GPU], sizeof platform->class_names[0], "gpu");
    platform->n_units = 1 + gpus;
    snprintf(platform->units[0].name, sizeof platform->units[0].name, "host");
    platform->units[0].cls = DF_CLASS_CPU;
    platform->units[0].workers = cores <= 1 ? 1 : cores - 1 < DF_MAX_WORKERS ? cores - 1 : DF_MAX_WORKERS;
    for (uint32_t u = 1; u <= gpus; u++) {
        struct df_unit *unit = &platform->units[u];
        snprintf(unit->name, sizeof unit->name, "gpu%u", (unsigned)(u - 1));
        unit->cls = DF_CLASS_GPU;
        unit->workers = 1;
        unit->h2d = unit->d2h = link;
        unit->engines = 2;
        unit->launch_s = 5e-6;
    }
}

uint32_t df_platform_other_class(const struct df_platform *platform)
{
    for (uint32_t u = 1; u < platform->n_units; u++)
        if (platform->units[u].cls != DF_CLASS_CPU && platform->units[u].cls != DF_CLASS_GPU)
            return platform->units[u].cls;
    return DF_CLASS_CPU;
}

void df_unit_unify(struct df_unit *unit)
{
    unit->unified = 1;
    unit->memory_bytes = 0;
    unit->h2d = unit->d2h = (struct df_link){ .bytes_per_s = DF_MOST_RATE, .threshold_bytes = DF_LIMIT_BYTES - 1 };
    unit->peer = (struct df_link){ 0 };
    unit->engines = 0;
    unit->registers = DF_REGISTER_NO;
}

uint32_t df_platform_on_host(const struct df_platform *platform)
{
    uint32_t units = 1;
    for (uint32_t u = 1; u < platform->n_units; u++)
        units |= platform->units[u].unified ? 1u << u : 0;
    return units;
}

bool df_link_usable(const struct df_link *link)
{
    return link->bytes_per_s >= DF_LEAST_RATE && link->bytes_per_s <= DF_MOST_RATE && link->latency_s >= 0 &&
           link->latency_s <= DF_MOST_DELAY_S && link->threshold_bytes < DF_LIMIT_BYTES;
}

static bool is_rate(double per_s)
{
    return per_s == 0 || (per_s >= DF_LEAST_RATE && per_s <= DF_MOST_RATE);
}

bool df_figures_usable(const struct df_figures *f)
{
    bool good = is_rate(f->flops[0]) && is_rate(f->flops[1]);
    for (unsigned i = 0; i < DF_BANDWIDTHS; i++)
        good = good && is_rate(f->bytes_per_s[i]);
    for (unsigned i = 0; i < 2; i++)
        good = good && f->random_s[i] >= 0 && f->random_s[i] <= DF_MOST_DELAY_S && f->atomic_s[i] >= 0 &&
               f->atomic_s[i] <= DF_MOST_DELAY_S;
    return good;
}

static bool links_alike(const struct df_link *a, const struct df_link *b)
{
    return a->bytes_per_s == b->bytes_per_s && a->latency_s == b->latency_s && a->threshold_bytes == b->threshold_bytes;
}

bool df_unit_links_alike(const struct df_unit *a, const struct df_unit *b)
{
    return links_alike(&a->h2d, &b->h2d) && links_alike(&a->d2h, &b->d2h) && links_alike(&a->peer, &b->peer) &&
           a->engines == b->engines && a->launch_s == b->launch_s && a->handover_s == b->handover_s &&
           a->unified == b->unified;
}

bool df_unit_alike(const struct df_unit *a, const struct df_unit *b)
{
    return a->cls == b->cls && a->workers == b->workers && a->memory_bytes == b->memory_bytes && a->jobs == b->jobs &&
           df_unit_links_alike(a, b);
}

bool df_platform_alike(const struct df_platform *a, const struct df_platform *b)
{
    bool alike = a->n_units == b->n_units && a->units[0].memory_bytes_per_s == b->units[0].memory_bytes_per_s &&
                 a->units[0].cores == b->units[0].cores;
    for (uint32_t u = 0; u < a->n_units && alike; u++)
        alike = df_unit_alike(&a->units[u], &b->units[u]) &&
                !strcmp(a->class_names[a->units[u].cls], b->class_names[b->units[u].cls]);
    return alike;
}

uint32_t df_platform_peers(const struct df_platform *platform, uint32_t unit)
{
    const struct df_unit *units = platform->units;
    uint32_t peers = 0;
    if (unit == 0 || !(units[unit].peer.bytes_per_s > 0))
        return 0;
    for (uint32_t u = 1; u < platform->n_units; u++)
        if (u != unit && units[u].cls == units[unit].cls && units[u].peer.bytes_per_s > 0)
            peers |= 1u << u;
    return peers;
}

double df_platform_copy_s(const struct df_platform *platform, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct df_unit *units = platform->units;
    if (from == to || !bytes)
        return 0;
    if (df_platform_peers(platform, from) >> to & 1)
        return df_peer_time_s(platform, from, to, bytes);
    return (from ? df_link_time_s(&units[from].d2h, bytes) : 0) + (to ? df_link_time_s(&units[to].h2d, bytes) : 0);
}
