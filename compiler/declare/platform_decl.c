/* platform_decl.c - a declared machine: turns the syntax tree of a platform into struct df_platform and checks every
 * property and its unit of measure. It also reads a platform from a file.
 *
 * The device of class cpu is the host. It becomes unit 0 wherever it stands; the others keep their order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/declare/platform_decl.h"
#include "compiler/types/paths.h"

enum property { WORKERS, MEMORY, BANDWIDTH, CORES, H2D, D2H, PEER, ENGINES, LAUNCH, HANDOVER, JOBS, REGISTER, UNIFIED,
                N_PROPERTIES };
static const char *const properties[N_PROPERTIES] = {
    "workers", "memory", "bandwidth", "cores", "h2d", "d2h", "peer", "engines", "launch", "handover", "jobs", "register",
    "unified"
};

struct convert {
    struct dfl_sink *sink;
    struct df_platform *platform;
    bool ok;
};

#define NO_UNIT (-1)

/* Gives a value in its base unit (seconds, bytes, or none). `rate`: it is per second. */
static bool number_of(struct convert *c, const struct dfl_value *value, const char *what, int want, bool rate,
                      double *result)
{
    static const char *const examples[] = { "10 us", "6 GiB" };
    enum dfc_unit_kind kind = DFC_UNIT_TIME, per_kind = DFC_UNIT_TIME;
    double factor = 1, per = 1;
    bool known = !value->unit || dfc_unit_find(value->unit, &kind, &factor);
    bool per_known = !value->per || dfc_unit_find(value->per, &per_kind, &per);
    const char *unknown = !known ? value->unit : !per_known ? value->per : NULL;
    if (unknown) {
        dfl_error(c->sink, value->loc, "unknown unit '%s'", unknown);
        const char *close = dfl_suggest(unknown, dfc_unit_names, dfc_unit_n_names);
        if (close)
            dfl_hint(c->sink, "did you mean '%s'?", close);
    } else if ((want == NO_UNIT) != !value->unit || (value->unit && (int)kind != want) ||
               rate != (value->per != NULL) || (value->per && (per_kind != DFC_UNIT_TIME))) {
        if (want == NO_UNIT)
            dfl_error(c->sink, value->loc, "%s must be a number without a unit", what);
        else
            dfl_error(c->sink, value->loc, "%s must be given like '%s'", what, rate ? "6 GB/s" : examples[want]);
    } else {
        double scaled = factor < 1 ? value->number / (factor == 1e-3 ? 1e3 : factor == 1e-6 ? 1e6 : 1e9)
                                   : value->number * factor;
        *result = scaled / per;
        return true;
    }
    return c->ok = false;
}

static bool count_of(struct convert *c, const struct dfl_value *value, const char *what, uint32_t least, uint32_t most,
                     uint32_t *result)
{
    double n;
    if (!number_of(c, value, what, NO_UNIT, false, &n))
        return false;
    if (n != floor(n) || n < least || n > most) {
        dfl_error(c->sink, value->loc, "%s must be a whole number from %u to %u", what, (unsigned)least,
                  (unsigned)most);
        return c->ok = false;
    }
    *result = (uint32_t)n;
    return true;
}

static void bytes_of(struct convert *c, const struct dfl_value *value, const char *what, uint64_t *result)
{
    double n;
    if (!number_of(c, value, what, DFC_UNIT_BYTES, false, &n))
        return;
    if (n < 1 || n >= (double)DF_LIMIT_BYTES) {
        dfl_error(c->sink, value->loc, "%s must be from 1 B to 8 EiB", what);
        c->ok = false;
        return;
    }
    *result = (uint64_t)n;
}

static void delay_of(struct convert *c, const struct dfl_value *value, const char *what, double *result)
{
    double n;
    if (!number_of(c, value, what, DFC_UNIT_TIME, false, &n))
        return;
    if (n > DF_MOST_DELAY_S) {
        dfl_error(c->sink, value->loc, "%s must be at most %.0f s", what, DF_MOST_DELAY_S);
        c->ok = false;
        return;
    }
    *result = n;
}

static bool rate_of(struct convert *c, const struct dfl_value *value, const char *what, double *bytes_per_s)
{
    if (!number_of(c, value, what, DFC_UNIT_BYTES, true, bytes_per_s))
        return false;
    if (*bytes_per_s >= DF_LEAST_RATE && *bytes_per_s <= DF_MOST_RATE)
        return true;
    dfl_error(c->sink, value->loc, "%s must be from 1 B/s to 1000000 TB/s", what);
    return c->ok = false;
}

/* BANDWIDTH [, LATENCY [, THRESHOLD]] */
static void link_of(struct convert *c, const struct dfl_property *property, struct df_link *link)
{
    const struct dfl_value *value = property->values;
    double n;
    if (!rate_of(c, value, "a link's bandwidth", &link->bytes_per_s))
        return;
    if ((value = value->next))
        delay_of(c, value, "a link's latency", &link->latency_s);
    if (value && (value = value->next) && number_of(c, value, "a link's threshold", DFC_UNIT_BYTES, false, &n)) {
        if (n < (double)DF_LIMIT_BYTES) {
            link->threshold_bytes = (uint64_t)n;
        } else {
            dfl_error(c->sink, value->loc, "a link's threshold must be at most 8 EiB");
            c->ok = false;
        }
    }
    if (value && value->next) {
        dfl_error(c->sink, value->next->loc, "a link has a bandwidth, a latency and a threshold, and nothing more");
        c->ok = false;
    }
}

static enum property find_property(const char *name)
{
    enum property p = 0;
    while (p < N_PROPERTIES && strcmp(properties[p], name) != 0)
        p++;
    return p;
}

static void set_property(struct convert *c, struct df_unit *unit, enum property p, const struct dfl_property *property)
{
    const struct dfl_value *value = property->values;
    if (p != H2D && p != D2H && p != PEER && value->next) {
        dfl_error(c->sink, value->next->loc, "'%s' takes one value", properties[p]);
        c->ok = false;
        return;
    }
    switch (p) {
    case WORKERS: count_of(c, value, "'workers'", 1, DF_MAX_WORKERS, &unit->workers); break;
    case MEMORY: bytes_of(c, value, "'memory'", &unit->memory_bytes); break;
    case BANDWIDTH: rate_of(c, value, "'bandwidth'", &unit->memory_bytes_per_s); break;
    case CORES: count_of(c, value, "'cores'", 1, DF_MAX_WORKERS, &unit->cores); break;
    case H2D: link_of(c, property, &unit->h2d); break;
    case D2H: link_of(c, property, &unit->d2h); break;
    case PEER: link_of(c, property, &unit->peer); break;
    case ENGINES: count_of(c, value, "'engines'", 1, 2, &unit->engines); break;
    case LAUNCH: delay_of(c, value, "'launch'", &unit->launch_s); break;
    case HANDOVER: delay_of(c, value, "'handover'", &unit->handover_s); break;
    case JOBS: count_of(c, value, "'jobs'", 1, 65535, &unit->jobs); break;
    case REGISTER:
        if (count_of(c, value, "'register'", 0, 1, &unit->registers))
            unit->registers = unit->registers ? DF_REGISTER_YES : DF_REGISTER_NO;
        break;
    case UNIFIED: count_of(c, value, "'unified'", 0, 1, &unit->unified); break;
    case N_PROPERTIES: break;
    }
}

/* A unified device uses the host's memory, so it has none of its own, and no link. */
static void convert_unified(struct convert *c, const struct dfl_device *device,
                            const struct dfl_property *const *given, struct df_unit *unit)
{
    static const enum property others[] = { MEMORY, H2D, D2H, PEER, ENGINES, REGISTER };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct dfl_property *other = given[others[i]];
        if (!other)
            continue;
        dfl_error(c->sink, other->name.loc, "device '%s' is unified, so it has no '%s'", device->name.text,
                  properties[others[i]]);
        dfl_note(c->sink, given[UNIFIED]->name.loc, "its jobs use the host's memory, says this");
        c->ok = false;
    }
    df_unit_unify(unit);
}

static void convert_properties(struct convert *c, const struct dfl_device *device, struct df_unit *unit)
{
    const struct dfl_property *given[N_PROPERTIES] = { NULL };
    bool host = unit->cls == DF_CLASS_CPU;
    for (const struct dfl_property *property = device->properties; property; property = property->next) {
        enum property p = find_property(property->name.text);
        if (p == N_PROPERTIES) {
            dfl_error(c->sink, property->name.loc, "unknown property '%s' of a device", property->name.text);
            const char *close = dfl_suggest(property->name.text, properties, N_PROPERTIES);
            if (close)
                dfl_hint(c->sink, "did you mean '%s'?", close);
            else
                dfl_hint(c->sink, "the host has workers, memory, bandwidth and cores; a device has workers, memory, h2d, d2h,"
                         " peer, engines, launch, handover, jobs, register and unified");
            c->ok = false;
        } else if (given[p]) {
            dfl_error(c->sink, property->name.loc, "'%s' is given twice", property->name.text);
            dfl_note(c->sink, given[p]->name.loc, "the first is here");
            c->ok = false;
        } else if (host && (p == H2D || p == D2H || p == PEER || p == ENGINES || p == LAUNCH || p == HANDOVER ||
                            p == JOBS || p == REGISTER || p == UNIFIED)) {
            dfl_error(c->sink, property->name.loc, "the host has no '%s': that is for devices%s", properties[p],
                      p == UNIFIED ? "" : " with their own memory");
            c->ok = false;
        } else if (!host && p == BANDWIDTH) {
            dfl_error(c->sink, property->name.loc, "only the host has a 'bandwidth', that of its memory");
            dfl_hint(c->sink, "a device's links have theirs: 'h2d = 12 GB/s, 10 us;'");
            c->ok = false;
        } else if (!host && p == CORES) {
            dfl_error(c->sink, property->name.loc, "only the host has 'cores': those that emulated GPUs compute on");
            c->ok = false;
        } else {
            given[p] = property;
            set_property(c, unit, p, property);
        }
    }
    if (unit->unified) {
        convert_unified(c, device, given, unit);
    } else if (!host && (!given[H2D] || !given[D2H])) {
        dfl_error(c->sink, device->name.loc, "device '%s' has no '%s'", device->name.text, given[H2D] ? "d2h" : "h2d");
        dfl_hint(c->sink, "its link to the host: '%s = 12 GB/s, 10 us;'", given[H2D] ? "d2h" : "h2d");
        c->ok = false;
    }
}

static bool class_of(struct convert *c, const struct dfl_name *name, uint32_t *cls)
{
    struct df_platform *p = c->platform;
    for (*cls = 0; *cls < p->n_classes; ++*cls)
        if (strcmp(p->class_names[*cls], name->text) == 0)
            return true;
    if (p->n_classes == DF_MAX_CLASSES || strlen(name->text) >= sizeof p->class_names[0]) {
        dfl_error(c->sink, name->loc, p->n_classes == DF_MAX_CLASSES ? "class '%s' is one too many: there may be 8"
                                                                     : "class '%s' has too long a name", name->text);
        return c->ok = false;
    }
    strcpy(p->class_names[p->n_classes++], name->text);
    return true;
}

static bool copy_name(struct convert *c, const struct dfl_name *name, char *to, size_t size)
{
    if (strlen(name->text) >= size) {
        dfl_error(c->sink, name->loc, "'%s' is too long for a name here: it may have at most %zu characters",
                  name->text, size - 1);
        return c->ok = false;
    }
    strcpy(to, name->text);
    return true;
}

static void convert_device(struct convert *c, const struct dfl_device *device, const struct dfl_device *first)
{
    struct df_platform *p = c->platform;
    uint32_t cls;
    for (const struct dfl_device *other = first; other != device; other = other->next)
        if (strcmp(other->name.text, device->name.text) == 0) {
            dfl_error(c->sink, device->name.loc, "device '%s' is declared twice", device->name.text);
            dfl_note(c->sink, other->name.loc, "the first is here");
            c->ok = false;
            return;
        }
    if (!class_of(c, &device->cls, &cls))
        return;
    if (cls == DF_CLASS_CPU && p->units[0].workers) {
        dfl_error(c->sink, device->cls.loc, "a platform has exactly one device of class cpu, the host");
        c->ok = false;
        return;
    }
    if (cls != DF_CLASS_CPU && p->n_units == DF_MAX_UNITS) {
        dfl_error(c->sink, device->name.loc, "a platform has at most %d devices", DF_MAX_UNITS);
        c->ok = false;
        return;
    }
    struct df_unit *unit = &p->units[cls == DF_CLASS_CPU ? 0 : p->n_units++];
    *unit = (struct df_unit){ .cls = cls, .workers = 1, .engines = 2 };
    if (copy_name(c, &device->name, unit->name, sizeof unit->name))
        convert_properties(c, device, unit);
}

bool dfc_platform_convert(struct dfl_sink *sink, const struct dfl_platform *ast, struct df_platform *platform)
{
    struct convert c = { .sink = sink, .platform = platform, .ok = true };
    memset(platform, 0, sizeof *platform);
    platform->n_units = 1;
    platform->n_classes = 2;
    strcpy(platform->class_names[DF_CLASS_CPU], "cpu");
    strcpy(platform->class_names[DF_CLASS_GPU], "gpu");
    copy_name(&c, &ast->name, platform->name, sizeof platform->name);
    for (const struct dfl_device *device = ast->devices; device; device = device->next)
        convert_device(&c, device, ast->devices);
    if (c.ok && !platform->units[0].workers) {
        dfl_error(sink, ast->name.loc, "platform '%s' has no host", ast->name.text);
        dfl_hint(sink, "a host is a device of class cpu: 'cpu host { workers = 3; }'");
        c.ok = false;
    }
    return c.ok;
}

bool dfc_platform_read(struct dfl_sink *sink, const char *path, struct df_platform *platform)
{
    const struct dfc_front_options options = { .path = path };
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    unsigned before = dfl_sink_errors(sink);
    const char *why;
    char *text;
    size_t length;
    if (!dfc_read_file(&options, path, &text, &length, &why)) {
        dfl_error(sink, nowhere, "cannot read '%s': %s", path, why);
        return false;
    }
    struct dfl_file *file = dfl_parse(sink, path, text, length);
    free(text);
    if (!file) {
        dfl_error(sink, nowhere, "out of memory");
        return false;
    }
    const struct dfl_decl *decl = file->decls;
    while (decl && decl->kind != DFL_PLATFORM)
        decl = decl->next;
    bool ok = dfl_sink_errors(sink) == before;
    if (ok && !decl)
        dfl_error(sink, (struct dfl_loc){ file->file, 1, 1, 2 }, "'%s' declares no platform", path);
    const struct dfl_decl *second = decl ? decl->next : NULL;
    while (second && second->kind != DFL_PLATFORM)
        second = second->next;
    if (ok && second) {
        dfl_error(sink, second->name.loc, "a file for --platform declares one platform, and this is the second");
        dfl_note(sink, decl->name.loc, "the first is here");
        ok = false;
    }
    ok = ok && decl && dfc_platform_convert(sink, decl->platform, platform);
    dfl_file_free(file);
    return ok;
}
