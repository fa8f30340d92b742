/* platform_text.c - prints for `dfc probe` (compiler/commands/cmd_probe.c) a platform as a .df declaration, with numbers that are
 * readable and that parse back to exactly the same values. probe.c makes its identifiers with it.
 *
 * Each number gets the unit that brings it between 1 and 1000, so that none needs an exponent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiles/probe/probe_impl.h"

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void dfw_identifier(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; *from && n + 1 < size; from++) {
        if (n == 0 && *from >= '0' && *from <= '9' && n + 2 < size)
            to[n++] = '_';
        if (is_word(*from))
            to[n++] = *from;
        else if (n > 0 && to[n - 1] != '_')
            to[n++] = '_';
    }
    while (n > 0 && to[n - 1] == '_')
        n--;
    if (n == 0 && size > 1)
        to[n++] = 'x';
    to[n] = 0;
}

#define LEAST 0.001                     /* of a number in the smallest unit; less is written as 0 */
#define LEAST_S (LEAST * 1e-9)

struct scale {
    double factor;
    const char *name;
};

/* Scales are in falling order; the last one is for all smaller values. */
static void print_scaled(FILE *out, double value, const struct scale *scales, unsigned n)
{
    unsigned i = 0;
    while (i + 1 < n && value < scales[i].factor * 0.9999995)
        i++;
    double scaled = value / scales[i].factor;
    if (!(scaled >= LEAST))             /* 0, or too small to write without an exponent */
        scaled = 0;
    if (scaled < 999999.5)              /* %.6g would make an exponent of more */
        fprintf(out, "%.6g %s", scaled, scales[i].name);
    else
        fprintf(out, "%.0f %s", scaled, scales[i].name);
}

static void print_time(FILE *out, double s)
{
    static const struct scale scales[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" } };
    print_scaled(out, s, scales, 4);
}

static void print_rate(FILE *out, double bytes_per_s)
{
    static const struct scale scales[] = { { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" }, { 1, "B/s" } };
    print_scaled(out, bytes_per_s, scales, 4);
}

/* Operations per second, as a number for some unit of time. */
static void print_per(FILE *out, double per_s)
{
    static const struct scale scales[] = { { 1e9, "/ ns" }, { 1e6, "/ us" }, { 1e3, "/ ms" }, { 1, "/ s" } };
    print_scaled(out, per_s, scales, 4);
}

static void print_bytes(FILE *out, uint64_t bytes)
{
    static const struct { unsigned shift; const char *name; } units[] = { { 30, "GiB" }, { 20, "MiB" }, { 10, "KiB" } };
    for (unsigned i = 0; i < 3; i++) {
        if (bytes && bytes % (UINT64_C(1) << units[i].shift) == 0) {
            fprintf(out, "%" PRIu64 " %s", bytes >> units[i].shift, units[i].name);
            return;
        }
    }
    fprintf(out, "%" PRIu64 " B", bytes);
}

static void print_link(FILE *out, const char *name, const struct df_link *link)
{
    fprintf(out, " %s = ", name);
    print_rate(out, link->bytes_per_s);
    fputs(", ", out);
    print_time(out, link->latency_s);
    if (link->threshold_bytes) {
        fputs(", ", out);
        print_bytes(out, link->threshold_bytes);
    }
    fputc(';', out);
}

/* Prints " name = first, second;", or only the first, or nothing if that is not known. */
static void print_two(FILE *out, const char *name, const double values[2], void (*print)(FILE *out, double value))
{
    if (!(values[0] > 0))
        return;
    fprintf(out, " %s = ", name);
    print(out, values[0]);
    if (values[1] > 0) {
        fputs(", ", out);
        print(out, values[1]);
    }
    fputc(';', out);
}

static void print_bandwidth(FILE *out, const struct df_unit *unit)
{
    if (!(unit->memory_bytes_per_s > 0))
        return;
    fputs(" bandwidth = ", out);
    print_rate(out, unit->memory_bytes_per_s);
    for (unsigned i = 0; i < DF_BANDWIDTHS && unit->figures.bytes_per_s[i] > 0; i++) {
        fputs(", ", out);
        print_rate(out, unit->figures.bytes_per_s[i]);
    }
    fputc(';', out);
}

static void print_figures(FILE *out, const struct df_figures *figures)
{
    print_two(out, "flops", figures->flops, print_per);
    print_two(out, "random", figures->random_s, print_time);
    print_two(out, "atomics", figures->atomic_s, print_time);
}

/* The name of unit u, with a number if units before it have the same name: "NVIDIA_H200_2". */
static void unit_name(const struct df_platform *p, uint32_t u, char *name, size_t size)
{
    unsigned same = 0;
    dfw_identifier(name, size, p->units[u].name);
    for (uint32_t i = 0; i < u; i++) {
        char other[sizeof p->units[0].name + 2];
        dfw_identifier(other, sizeof other, p->units[i].name);
        same += strcmp(other, name) == 0;
    }
    if (same) {
        size_t n = strlen(name);
        snprintf(name + n, size - n, "_%u", same + 1);
    }
}

static void print_unit(FILE *out, const struct df_platform *p, uint32_t u)
{
    const struct df_unit *unit = &p->units[u];
    char name[sizeof unit->name + 16];
    unit_name(p, u, name, sizeof name);
    fprintf(out, "    %s %s {", p->class_names[unit->cls], name);
    if (unit->cls == DF_CLASS_CPU || unit->workers != 1)
        fprintf(out, " workers = %" PRIu32 ";", unit->workers);
    if (unit->memory_bytes) {
        fputs(" memory = ", out);
        print_bytes(out, unit->memory_bytes);
        fputc(';', out);
    }
    print_bandwidth(out, unit);
    print_figures(out, &unit->figures);
    if (unit->cores)
        fprintf(out, " cores = %" PRIu32 ";", unit->cores);
    if (unit->unified) {
        fputs(" unified = 1;", out);
    } else if (unit->cls != DF_CLASS_CPU) {
        print_link(out, "h2d", &unit->h2d);
        print_link(out, "d2h", &unit->d2h);
        if (unit->peer.bytes_per_s > 0)
            print_link(out, "peer", &unit->peer);
        fprintf(out, " engines = %" PRIu32 ";", unit->engines);
    }
    if (unit->launch_s >= LEAST_S) {
        fputs(" launch = ", out);
        print_time(out, unit->launch_s);
        fputc(';', out);
    }
    if (unit->handover_s >= LEAST_S) {
        fputs(" handover = ", out);
        print_time(out, unit->handover_s);
        fputc(';', out);
    }
    if (unit->jobs)
        fprintf(out, " jobs = %" PRIu32 ";", unit->jobs);
    if (unit->registers && !unit->unified)
        fprintf(out, " register = %d;", unit->registers == DF_REGISTER_YES);
    fputs(" }\n", out);
}

static void print_paths(FILE *out, const char *unit, const char *direction, const struct dfw_paths *paths)
{
    if (paths->pinned <= 0)
        return;
    fprintf(out, "// %s %s of ", unit, direction);
    print_bytes(out, paths->bytes);
    fputs(": pinned memory ", out);
    print_rate(out, paths->pinned);
    fputs(", pageable memory staged ", out);
    print_rate(out, paths->staged);
    if (paths->registered > 0) {
        fputs(", registered ", out);
        print_rate(out, paths->registered);
        fprintf(out, " (%s is faster; registering, once, ", paths->registered > paths->staged ? "registered" : "staged");
        print_rate(out, paths->pinning);
        fputc(')', out);
    } else {
        fputs(", registering not supported", out);
    }
    fputc('\n', out);
}

/* Prints how the platform's links differ from what was measured of a pair, if a copy of 1 MiB differs by more than a
 * quarter. */
static void put_difference(FILE *out, const struct df_platform *p, uint32_t from, uint32_t to,
                           const struct df_link *link)
{
    const uint64_t bytes = UINT64_C(1) << 20;
    if (!(df_platform_peers(p, from) >> to & 1)) {
        fputs(", which the platform leaves out", out);
        return;
    }
    double measured_s = df_link_time_s(link, bytes), said_s = df_peer_time_s(p, from, to, bytes);
    if (measured_s > 1.25 * said_s || said_s > 1.25 * measured_s)
        fprintf(out, ", %s than the platform says", measured_s > said_s ? "slower" : "faster");
}

/* Prints each pair as it was measured. A platform cannot say that, since it has one link for each unit. */
static void print_pairs(FILE *out, const struct df_platform *p, const struct dfw_pairs *pairs)
{
    for (uint32_t from = 1; from < p->n_units; from++)
        for (uint32_t to = 1; to < p->n_units; to++) {
            const struct df_link *link = &pairs->link[from][to];
            char names[2][sizeof p->units[0].name + 16];
            if (from == to)
                continue;
            unit_name(p, from, names[0], sizeof names[0]);
            unit_name(p, to, names[1], sizeof names[1]);
            fprintf(out, "// %s to %s: ", names[0], names[1]);
            if (link->bytes_per_s > 0) {
                print_rate(out, link->bytes_per_s);
                fputs(", ", out);
                print_time(out, link->latency_s);
                fputs(" directly", out);
                put_difference(out, p, from, to, link);
                fputc('\n', out);
            } else {
                fputs("by way of the host\n", out);
            }
        }
}

int dfw_platform_print_report(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report)
{
    char name[sizeof platform->name + 2];
    if (report) {
        char machine[512];
        dfw_machine_name(machine, sizeof machine);
        fprintf(out, "// measured by 'dfc probe' on %s\n", machine);
        for (uint32_t u = 1; u < report->n_units && u < platform->n_units; u++) {
            char unit[sizeof platform->units[0].name + 16];
            unit_name(platform, u, unit, sizeof unit);
            print_paths(out, unit, "h2d", &report->h2d[u]);
            print_paths(out, unit, "d2h", &report->d2h[u]);
        }
        if (report->n_units == platform->n_units)
            print_pairs(out, platform, &report->pairs);
    }
    dfw_identifier(name, sizeof name, platform->name);
    fprintf(out, "platform %s {\n", name);
    for (uint32_t u = 0; u < platform->n_units; u++)
        print_unit(out, platform, u);
    fputs("}\n", out);
    return ferror(out) ? DF_E_IO : DF_OK;
}
