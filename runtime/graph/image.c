/* image.c - serializes a graph with its plan, for dfc (compiler/build/), and maps the bytes back, for programs and generated libraries (image.h).
 *
 * Both directions go through one list of sections: the graph's arrays (arrays.h) and the few named below. Input is untrusted: sections must lie inside the
 * image, and df_graph_check() and check_plan() then check every index.
 */
#include "runtime/graph/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/arrays.h"
#include "runtime/base/error.h"

#define VERSION 16
#define BYTE_ORDER_MARK 0x01020304u
#define ALIGN 64

static const char magic[8] = "DFIMAGE";

/* The sections after the graph's arrays. */
enum {
    S_NAME = DFR_N_ARRAYS, S_MAIN, S_PLAN, S_TIME, S_TIME_SOURCE, S_PLACE, S_PRIORITY, S_ANY, S_SEQUENCE, S_DEVICES,
    S_SOURCES, S_KNOWN, S_DEMAND, N_SECTIONS
};

struct header {
    char magic[8];
    uint32_t version, byte_order;
    uint32_t size_bytes, n_sections;    /* sizeof(size_t); entries of the table that follows */
    uint64_t total_bytes;
};

struct entry {                          /* an entry of the table; its index is a number S_… or DFR_A_… */
    char tag[16];
    uint64_t item_bytes, count, offset; /* offset 0: the section is absent */
};

struct main_record {
    int64_t default_waves;
};

struct plan_record {                    /* a plan without its arrays */
    struct df_plan plan;                /* its pointers are 0 */
};

static const struct {
    const char *tag;
    size_t item_bytes;
} extra[N_SECTIONS - DFR_N_ARRAYS] = {
    { "name", 1 },
    { "main", sizeof(struct main_record) },
    { "plan", sizeof(struct plan_record) },
    { "plan.time_s", sizeof(double) },
    { "plan.source", 1 },
    { "plan.place", sizeof(uint16_t) },
    { "plan.priority", sizeof(float) },
    { "plan.any", sizeof(uint32_t) },
    { "plan.sequence", sizeof(uint32_t) },
    { "plan.devices", sizeof(uint32_t) },
    { "sources", 1 },
    { "known", 1 },
    { "plan.demand", sizeof(struct df_demand) },
};

static const char *section_tag(unsigned s)
{
    return s < DFR_N_ARRAYS ? dfr_array_infos[s].name : extra[s - DFR_N_ARRAYS].tag;
}

static size_t section_item_bytes(unsigned s)
{
    return s < DFR_N_ARRAYS ? dfr_array_infos[s].item_bytes : extra[s - DFR_N_ARRAYS].item_bytes;
}

/* ---- writing ---- */

struct section {
    const void *items;                  /* NULL: absent */
    uint64_t count;
};

/* Copies text up to its end and fills the rest with zeros, so that what stood in the buffer before does not matter. */
static void copy_text(char *to, const char *from, size_t size)
{
    size_t n = strnlen(from, size - 1);
    memset(to, 0, size);
    memcpy(to, from, n);
}

static void copy_link(struct df_link *to, const struct df_link *from)
{
    to->bytes_per_s = from->bytes_per_s;
    to->latency_s = from->latency_s;
    to->threshold_bytes = from->threshold_bytes;
}

/* Copies member by member into zeroed memory, so that padding and unused entries are zero. The units' figures stay out:
 * what a program needs of them is with what it knows of times (profiles/estimate/known.h). */
static void copy_platform(struct df_platform *to, const struct df_platform *from)
{
    copy_text(to->name, from->name, sizeof to->name);
    to->n_units = from->n_units;
    to->n_classes = from->n_classes;
    for (uint32_t c = 0; c < from->n_classes && c < DF_MAX_CLASSES; c++)
        copy_text(to->class_names[c], from->class_names[c], sizeof to->class_names[c]);
    for (uint32_t u = 0; u < from->n_units && u < DF_MAX_UNITS; u++) {
        const struct df_unit *unit = &from->units[u];
        copy_text(to->units[u].name, unit->name, sizeof unit->name);
        to->units[u].cls = unit->cls;
        to->units[u].workers = unit->workers;
        to->units[u].memory_bytes = unit->memory_bytes;
        to->units[u].memory_bytes_per_s = unit->memory_bytes_per_s;
        to->units[u].cores = unit->cores;
        copy_link(&to->units[u].h2d, &unit->h2d);
        copy_link(&to->units[u].d2h, &unit->d2h);
        copy_link(&to->units[u].peer, &unit->peer);
        to->units[u].engines = unit->engines;
        to->units[u].launch_s = unit->launch_s;
        to->units[u].handover_s = unit->handover_s;
        to->units[u].jobs = unit->jobs;
        to->units[u].registers = unit->registers;
        to->units[u].unified = unit->unified;
    }
}

static void copy_plan(struct df_plan *to, const struct df_plan *from)
{
    copy_text(to->policy, from->policy, sizeof to->policy);
    copy_text(to->run_as, from->run_as, sizeof to->run_as);
    copy_platform(&to->platform, &from->platform);
    to->times.n_classes = from->times.n_classes;
    to->times.n_works = from->times.n_works;
    to->locked = from->locked;
    to->n_nodes = from->n_nodes;
    to->n_waves = from->n_waves;
    to->inflight = from->inflight;
    to->wave_s = from->wave_s;
    to->load_s = from->load_s;
    to->least_load_s = from->least_load_s;
    to->load_bound_s = from->load_bound_s;
    to->predicted_s = from->predicted_s;
    to->lower_bound_s = from->lower_bound_s;
    to->best_single_s = from->best_single_s;
    to->best_single_unit = from->best_single_unit;
    memcpy(to->pool_bytes, from->pool_bytes, sizeof to->pool_bytes);
    memcpy(to->largest_job_bytes, from->largest_job_bytes, sizeof to->largest_job_bytes);
    memcpy(to->memory, from->memory, sizeof to->memory);
    to->layout.n_values = from->layout.n_values;
    to->layout.by_size_bytes = from->layout.by_size_bytes;
    to->devices.n = from->devices.n;
}

/* NaN has many forms. One of them is written. */
static void normalise_times(double *times, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (isnan(times[i]))
            times[i] = NAN;
}

static void list_sections(const struct dfr_image *image, const struct main_record *main_record,
                          const struct plan_record *plan_record, struct section *sections)
{
    const struct df_graph *g = image->graph;
    const struct df_plan *plan = image->plan;
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        sections[a] = (struct section){ dfr_graph_array(g, a), dfr_graph_array_count(g, a) };
    sections[S_NAME] = (struct section){ g->name, strlen(g->name) + 1 };
    sections[S_MAIN] = (struct section){ main_record, 1 };
    if (plan) {
        uint64_t n_times = (uint64_t)plan->times.n_classes * plan->times.n_works;
        sections[S_PLAN] = (struct section){ plan_record, 1 };
        sections[S_TIME] = (struct section){ plan->times.time_s, n_times };
        sections[S_TIME_SOURCE] = (struct section){ plan->times.source, n_times };
        sections[S_DEMAND] = (struct section){ plan->times.demand, plan->times.demand ? n_times : 0 };
        sections[S_PLACE] = (struct section){ plan->place, (uint64_t)plan->n_nodes * plan->n_waves };
        sections[S_PRIORITY] = (struct section){ plan->priority, plan->n_nodes };
        sections[S_ANY] = (struct section){ plan->layout.any_line, plan->layout.n_values };
        sections[S_SEQUENCE] = (struct section){ plan->layout.sequence_line, plan->layout.n_values };
        sections[S_DEVICES] = (struct section){ plan->devices.page, plan->devices.n };
    }
    if (image->sources)
        sections[S_SOURCES] = (struct section){ image->sources, image->source_bytes };
    if (image->known)
        sections[S_KNOWN] = (struct section){ image->known, image->known_bytes };
}

static bool check_plan(const struct df_graph *g, const struct df_plan *plan, struct df_error *error);

int dfr_image_write(const struct dfr_image *image, unsigned char **bytes, size_t *size, struct df_error *error)
{
    struct section sections[N_SECTIONS] = { { 0 } };
    struct main_record main_record = { image->default_waves };
    struct plan_record *plan_record = NULL;
    if (image->plan) {
        if (!check_plan(image->graph, image->plan, error))
            return DF_E_FORMAT;
        if (!(plan_record = calloc(1, sizeof *plan_record)))
            return dfr_error_memory(error);
        copy_plan(&plan_record->plan, image->plan);
    }
    list_sections(image, &main_record, plan_record, sections);

    size_t total = sizeof(struct header) + N_SECTIONS * sizeof(struct entry);
    for (unsigned s = 0; s < N_SECTIONS; s++)
        total = (total + ALIGN - 1) / ALIGN * ALIGN + sections[s].count * section_item_bytes(s);
    unsigned char *block = calloc(1, total + ALIGN);
    if (!block) {
        free(plan_record);
        return dfr_error_memory(error);
    }
    struct header header = { .version = VERSION, .byte_order = BYTE_ORDER_MARK, .size_bytes = sizeof(size_t),
                             .n_sections = N_SECTIONS, .total_bytes = total };
    memcpy(header.magic, magic, sizeof magic);
    memcpy(block, &header, sizeof header);
    size_t at = sizeof(struct header) + N_SECTIONS * sizeof(struct entry);
    for (unsigned s = 0; s < N_SECTIONS; s++) {
        at = (at + ALIGN - 1) / ALIGN * ALIGN;
        struct entry entry = { .item_bytes = section_item_bytes(s), .count = sections[s].count,
                               .offset = sections[s].items ? at : 0 };
        memcpy(entry.tag, section_tag(s), strlen(section_tag(s)));
        memcpy(block + sizeof header + s * sizeof entry, &entry, sizeof entry);
        if (sections[s].count)
            memcpy(block + at, sections[s].items, sections[s].count * entry.item_bytes);
        if (s == DFR_A_cost_s || s == S_TIME)
            normalise_times((double *)(void *)(block + at), sections[s].count);
        at += sections[s].count * entry.item_bytes;
    }
    free(plan_record);
    *bytes = block;
    *size = total;
    return DF_OK;
}

/* ---- reading ---- */

static int bad(struct df_error *error, const char *why, const char *what)
{
    return dfr_error(error, DF_E_FORMAT, "image: %s%s", why, what);
}

/* Fills sections[] with what the table says. All that they point at lies inside the image. */
static int read_table(const unsigned char *bytes, size_t size, struct section *sections, struct df_error *error)
{
    struct header header;
    if ((uintptr_t)bytes % ALIGN)
        return bad(error, "not aligned to 64 bytes", "");
    if (size < sizeof header)
        return bad(error, "truncated", "");
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic))
        return bad(error, "not an image", "");
    if (header.byte_order != BYTE_ORDER_MARK || header.size_bytes != sizeof(size_t))
        return bad(error, "made for another machine", "");
    if (header.version != VERSION || header.n_sections != N_SECTIONS)
        return bad(error, "made by another version", "");
    if (header.total_bytes > size || size - sizeof header < N_SECTIONS * sizeof(struct entry))
        return bad(error, "truncated", "");
    for (unsigned s = 0; s < N_SECTIONS; s++) {
        struct entry entry;
        char tag[sizeof entry.tag] = "";
        memcpy(&entry, bytes + sizeof header + s * sizeof entry, sizeof entry);
        memcpy(tag, section_tag(s), strlen(section_tag(s)));
        if (memcmp(entry.tag, tag, sizeof tag) || entry.item_bytes != section_item_bytes(s))
            return bad(error, "made by another version: section ", section_tag(s));
        if (!entry.offset) {
            if (s < S_PLAN || entry.count)
                return bad(error, "no section ", section_tag(s));
            continue;
        }
        if (entry.offset % ALIGN || entry.offset > header.total_bytes ||
            entry.count > (header.total_bytes - entry.offset) / entry.item_bytes)
            return bad(error, "out of range: section ", section_tag(s));
        sections[s] = (struct section){ bytes + entry.offset, entry.count };
    }
    return DF_OK;
}

static int read_graph(const struct section *sections, struct df_graph *g, struct df_error *error)
{
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++) {
        if (dfr_array_infos[a].owns_count) {
            if (sections[a].count >= DF_NONE)
                return bad(error, "out of range: section ", section_tag(a));
            dfr_graph_array_set_count(g, a, (uint32_t)sections[a].count);
        }
        dfr_graph_array_set(g, a, sections[a].items);
    }
    for (unsigned a = 0; a < DFR_N_ARRAYS; a++)
        if (dfr_graph_array_count(g, a) != sections[a].count)
            return bad(error, "wrong length: section ", section_tag(a));
    const struct section *name = &sections[S_NAME];
    if (!name->count || ((const char *)name->items)[name->count - 1])
        return bad(error, "the name does not end", "");
    g->name = name->items;
    struct df_error inner;
    if (!df_graph_check(g, &inner))
        return bad(error, "", inner.text);
    return DF_OK;
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static bool is_link(const struct df_link *link)
{
    return link->bytes_per_s > 0 && link->latency_s >= 0 && isfinite(link->latency_s);
}

/* Bytes per second; 0: not known. */
static bool is_rate(double bytes_per_s)
{
    return bytes_per_s >= 0 && isfinite(bytes_per_s);
}

static bool check_platform(const struct df_platform *p)
{
    if (!ends(p->name, sizeof p->name) || !p->n_units || p->n_units > DF_MAX_UNITS || p->n_classes < 2 ||
        p->n_classes > DF_MAX_CLASSES)
        return false;
    for (uint32_t c = 0; c < p->n_classes; c++)
        if (!ends(p->class_names[c], sizeof p->class_names[c]))
            return false;
    for (uint32_t u = 0; u < p->n_units; u++) {
        const struct df_unit *unit = &p->units[u];
        if (!ends(unit->name, sizeof unit->name) || unit->cls >= p->n_classes || !unit->workers ||
            unit->registers > DF_REGISTER_NO || unit->unified > (u > 0) || !(unit->launch_s >= 0) ||
            !(unit->handover_s >= 0) || !is_rate(unit->memory_bytes_per_s) ||
            (u && (!is_link(&unit->h2d) || !is_link(&unit->d2h))) ||
            (unit->peer.bytes_per_s != 0 && !is_link(&unit->peer)))
            return false;
    }
    return true;
}

/* Checks that every token lies inside the memory that its wave needs. */
static bool check_layout(const struct df_graph *g, const struct df_plan *plan)
{
    const struct df_host_layout *layout = &plan->layout;
    if (!layout->any_line && !layout->sequence_line && layout->n_values == 0)
        return true;
    if (!layout->any_line || !layout->sequence_line || layout->n_values != g->n_values)
        return false;
    for (uint32_t x = 0; x < g->n_values; x++) {
        const struct df_memory_need *need = &plan->memory[0];
        bool once = df_value_is_once(g, x);
        uint64_t any = once ? need->once_bytes : need->wave_bytes, bytes = g->values[x].bytes;
        uint64_t sequence = once ? need->once_bytes : need->sequence_bytes;
        if (bytes > any || (uint64_t)layout->any_line[x] * DF_LINE_BYTES > any - bytes ||
            bytes > sequence || (uint64_t)layout->sequence_line[x] * DF_LINE_BYTES > sequence - bytes)
            return false;
    }
    return true;
}

/* The same for devices. A token of no bytes has a page too. */
static bool check_devices(const struct df_graph *g, const struct df_plan *plan)
{
    uint64_t of_unit = (uint64_t)plan->n_waves * g->n_values, n = (plan->platform.n_units - 1) * of_unit;
    if (plan->devices.n == 0)
        return true;
    if (!plan->devices.page || plan->devices.n != n)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const struct df_memory_need *need = &plan->memory[1 + i / of_unit];
        const struct df_value *value = &g->values[i % g->n_values];
        uint64_t most = value->flags & DF_VALUE_ONCE ? need->once_bytes : need->wave_bytes;
        uint64_t bytes = value->bytes ? value->bytes : 1, at = (uint64_t)plan->devices.page[i] * DF_PAGE_BYTES;
        if (plan->devices.page[i] != DF_NONE && (bytes > most || at > most - bytes))
            return false;
    }
    return true;
}

static bool check_plan(const struct df_graph *g, const struct df_plan *plan, struct df_error *error)
{
    const char *why = NULL;
    if (!ends(plan->policy, sizeof plan->policy) || !ends(plan->run_as, sizeof plan->run_as))
        why = "the name of its policy does not end";
    else if (!check_platform(&plan->platform))
        why = "its platform makes no sense";
    else if (plan->n_nodes != g->n_nodes || plan->times.n_works != g->n_works || plan->times.n_classes != g->n_classes)
        why = "it was made for another graph";
    else if (plan->best_single_unit >= plan->platform.n_units)
        why = "its best single unit does not exist";
    for (uint64_t i = 0; !why && i < (uint64_t)plan->n_nodes * plan->n_waves; i++)
        if (plan->place[i] >= plan->platform.n_units || isnan(plan->priority[i % plan->n_nodes]))
            why = "a node is placed nowhere";
    for (size_t i = 0; !why && i < (size_t)g->n_classes * g->n_works; i++)
        if (plan->times.time_s[i] < 0 || isinf(plan->times.time_s[i]) || plan->times.source[i] > DF_TIME_DEFAULT)
            why = "a time makes no sense";
    for (size_t i = 0; !why && plan->times.demand && i < (size_t)g->n_classes * g->n_works; i++)
        if (!is_rate(plan->times.demand[i].bytes_per_s) || !(plan->times.demand[i].sensitivity >= 0) ||
            plan->times.demand[i].sensitivity > 1)
            why = "a demand makes no sense";
    if (!why && (!check_layout(g, plan) || !check_devices(g, plan)))
        why = "a token lies outside its memory";
    if (why)
        dfr_error(error, DF_E_FORMAT, "image: the plan is wrong: %s", why);
    return !why;
}

static int read_plan(const struct section *sections, const struct df_graph *g, struct df_plan **plan,
                     struct df_error *error)
{
    struct df_plan *p = malloc(sizeof *p);
    if (!p)
        return dfr_error_memory(error);
    memcpy(p, sections[S_PLAN].items, sizeof *p);
    p->times.time_s = (double *)sections[S_TIME].items;
    p->times.source = (uint8_t *)sections[S_TIME_SOURCE].items;
    p->times.demand = (struct df_demand *)sections[S_DEMAND].items;
    p->place = (uint16_t *)sections[S_PLACE].items;
    p->priority = (float *)sections[S_PRIORITY].items;
    p->layout.any_line = (uint32_t *)sections[S_ANY].items;
    p->layout.sequence_line = (uint32_t *)sections[S_SEQUENCE].items;
    p->devices.page = (uint32_t *)sections[S_DEVICES].items;
    p->owner = p;                       /* the arrays are the image's */
    uint64_t n_times = (uint64_t)g->n_classes * g->n_works;
    bool whole = p->times.time_s && p->times.source && p->place && p->priority && sections[S_TIME].count == n_times &&
                 sections[S_TIME_SOURCE].count == n_times && p->n_waves > 0 &&
                 (!p->times.demand || sections[S_DEMAND].count == n_times) &&
                 sections[S_PLACE].count == (uint64_t)g->n_nodes * p->n_waves &&
                 sections[S_PRIORITY].count == g->n_nodes && sections[S_ANY].count == p->layout.n_values &&
                 sections[S_SEQUENCE].count == p->layout.n_values && sections[S_DEVICES].count == p->devices.n;
    if (!whole || !check_plan(g, p, error)) {
        free(p);
        return whole ? DF_E_FORMAT : bad(error, "the plan is incomplete", "");
    }
    *plan = p;
    return DF_OK;
}

int dfr_image_open(const unsigned char *bytes, size_t size, const struct df_functions *functions, size_t n_functions,
                   struct dfr_image *image, struct df_error *error)
{
    struct section sections[N_SECTIONS] = { { 0 } };
    struct dfr_image opened = { 0 };
    int rc = read_table(bytes, size, sections, error);
    if (rc != DF_OK)
        return rc;
    if (sections[S_MAIN].count != 1 || (sections[S_PLAN].items && sections[S_PLAN].count != 1))
        return bad(error, "wrong length: section ", section_tag(S_MAIN));
    if (!(opened.graph = calloc(1, sizeof *opened.graph)))
        return dfr_error_memory(error);
    rc = read_graph(sections, opened.graph, error);
    if (rc == DF_OK && functions)
        rc = dfr_graph_set_functions(opened.graph, functions, n_functions, error);
    if (rc == DF_OK && sections[S_PLAN].items)
        rc = read_plan(sections, opened.graph, &opened.plan, error);
    if (rc != DF_OK) {
        df_graph_free(opened.graph);
        return rc;
    }
    opened.sources = sections[S_SOURCES].items;
    opened.source_bytes = sections[S_SOURCES].count;
    opened.known = sections[S_KNOWN].items;
    opened.known_bytes = sections[S_KNOWN].count;
    opened.default_waves = ((const struct main_record *)sections[S_MAIN].items)->default_waves;
    *image = opened;
    return DF_OK;
}
