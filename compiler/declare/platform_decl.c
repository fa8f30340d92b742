/* platform_decl.c - converts the syntax tree of a platform declaration into struct df_platform, and checks every
 * property and its unit of measure: for decl.c, and for --platform files, which it reads for commands and generated
 * programs. cluster_decl.c reads clusters with it.
 *
 * The device of class cpu is the host. It becomes unit 0 wherever it is declared; the other devices keep their order.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/declare/platform_impl.h"
#include "compiler/types/paths.h"

enum property { WORKERS, MEMORY, BANDWIDTH, FLOPS, RANDOM, ATOMICS, CORES, H2D, D2H, PEER, ENGINES, LAUNCH, HANDOVER, JOBS, REGISTER, UNIFIED,
                N_PROPERTIES };
static const char *const properties[N_PROPERTIES] = {
    "workers", "memory", "bandwidth", "flops", "random", "atomics", "cores", "h2d", "d2h", "peer", "engines", "launch",
    "handover", "jobs", "register", "unified"
};

/* ALL [, ONE THREAD [, TWO [, FOUR …]]] */
static void bandwidth_of(struct dfc_convert *c, const struct dfl_expr *value, struct df_unit *unit)
{
    bool host = unit->cls == DF_CLASS_CPU;
    dfc_take_rate(c, value, "'bandwidth'", &unit->memory_bytes_per_s);
    unsigned i = 0;
    for (value = value->next; value && host && i < DF_BANDWIDTHS; value = value->next)
        dfc_take_rate(c, value, "a bandwidth by threads", &unit->figures.bytes_per_s[i++]);
    dfc_refuse_value(c, value, host ? "'bandwidth' has one value for all cores, and then those of 1, 2, 4, ... 256 threads"
                            : "a device's 'bandwidth' is one value, that of its memory");
}

/* F32 [, F64] */
static void flops_of(struct dfc_convert *c, const struct dfl_expr *value, double flops[2])
{
    unsigned i = 0;
    for (; value && i < 2; value = value->next, i++) {
        double per_s;
        if (!dfc_take_number(c, value, "'flops'", DFC_NO_UNIT, true, &per_s))
            continue;
        if (per_s >= DF_LEAST_RATE && per_s <= DF_MOST_RATE) {
            flops[i] = per_s;
            continue;
        }
        dfl_error(c->sink, value->loc, "'flops' must be from 1 / s to 1000000000 / ns");
        c->ok = false;
    }
    dfc_refuse_value(c, value, "'flops' has a value for f32 and one for f64, and nothing more");
}

/* Two times: one value, or both. */
static void times_of(struct dfc_convert *c, const struct dfl_expr *value, enum property p, double seconds[2])
{
    char what[16];
    snprintf(what, sizeof what, "'%s'", properties[p]);
    for (unsigned i = 0; value && i < 2; value = value->next, i++)
        dfc_take_delay(c, value, what, &seconds[i]);
    dfc_refuse_value(c, value, p == RANDOM ? "'random' has the time of a read whose address follows from the one before, and that of "
                                     "any other"
                                   : "'atomics' has the time of an update of a thread's own place, and that of a shared one");
}

static enum property find_property(const char *name)
{
    enum property p = 0;
    while (p < N_PROPERTIES && strcmp(properties[p], name) != 0)
        p++;
    return p;
}

static void set_property(struct dfc_convert *c, struct df_unit *unit, enum property p, const struct dfl_property *property)
{
    const struct dfl_expr *value = property->values;
    if (p != H2D && p != D2H && p != PEER && !(p >= BANDWIDTH && p <= ATOMICS) && value->next) {
        dfl_error(c->sink, value->next->loc, "'%s' takes one value", properties[p]);
        c->ok = false;
        return;
    }
    switch (p) {
    case WORKERS: dfc_take_count(c, value, "'workers'", 1, DF_MAX_WORKERS, &unit->workers); break;
    case MEMORY: dfc_take_bytes(c, value, "'memory'", &unit->memory_bytes); break;
    case BANDWIDTH: bandwidth_of(c, value, unit); break;
    case FLOPS: flops_of(c, value, unit->figures.flops); break;
    case RANDOM: times_of(c, value, p, unit->figures.random_s); break;
    case ATOMICS: times_of(c, value, p, unit->figures.atomic_s); break;
    case CORES: dfc_take_count(c, value, "'cores'", 1, DF_MAX_WORKERS, &unit->cores); break;
    case H2D: dfc_take_link(c, property, &unit->h2d); break;
    case D2H: dfc_take_link(c, property, &unit->d2h); break;
    case PEER: dfc_take_link(c, property, &unit->peer); break;
    case ENGINES: dfc_take_count(c, value, "'engines'", 1, 2, &unit->engines); break;
    case LAUNCH: dfc_take_delay(c, value, "'launch'", &unit->launch_s); break;
    case HANDOVER: dfc_take_delay(c, value, "'handover'", &unit->handover_s); break;
    case JOBS: dfc_take_count(c, value, "'jobs'", 1, 65535, &unit->jobs); break;
    case REGISTER:
        if (dfc_take_count(c, value, "'register'", 0, 1, &unit->registers))
            unit->registers = unit->registers ? DF_REGISTER_YES : DF_REGISTER_NO;
        break;
    case UNIFIED: dfc_take_count(c, value, "'unified'", 0, 1, &unit->unified); break;
    case N_PROPERTIES: break;
    }
}

/* A unified device uses the host's memory, so it has none of its own, and no link. */
static void convert_unified(struct dfc_convert *c, const struct dfl_device *device,
                            const struct dfl_property *const *given, struct df_unit *unit)
{
    static const enum property others[] = { MEMORY, BANDWIDTH, H2D, D2H, PEER, ENGINES, REGISTER };
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

static void convert_properties(struct dfc_convert *c, const struct dfl_device *device, struct df_unit *unit)
{
    const struct dfl_property *given[N_PROPERTIES] = { NULL };
    bool host = unit->cls == DF_CLASS_CPU;
    for (const struct dfl_property *property = device->properties; property; property = property->next) {
        enum property p = find_property(property->name.text);
        if (property->device) {
            dfl_error(c->sink, property->name.loc, "device '%s' stands in a device", property->name.text);
            dfl_hint(c->sink, "only the node of a cluster has devices inside");
            c->ok = false;
        } else if (p == N_PROPERTIES) {
            dfl_error(c->sink, property->name.loc, "unknown property '%s' of a device", property->name.text);
            const char *close = dfl_suggest(property->name.text, properties, N_PROPERTIES);
            if (close)
                dfl_hint(c->sink, "did you mean '%s'?", close);
            else
                dfl_hint(c->sink, "the host has workers, memory, bandwidth, flops, random, atomics and cores; a device has"
                         " workers, memory, bandwidth, flops, random, atomics, h2d, d2h, peer, engines, launch, handover,"
                         " jobs, register and unified");
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

static bool class_of(struct dfc_convert *c, const struct dfl_name *name, uint32_t *cls)
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

static bool copy_name(struct dfc_convert *c, const struct dfl_name *name, char *to, size_t size)
{
    if (strlen(name->text) >= size) {
        dfl_error(c->sink, name->loc, "'%s' is too long for a name here: it may have at most %zu characters",
                  name->text, size - 1);
        return c->ok = false;
    }
    strcpy(to, name->text);
    return true;
}

static void convert_device(struct dfc_convert *c, const struct dfl_device *device, const struct dfl_device *first)
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

bool dfc_platform_is_cluster(const struct dfl_platform *ast)
{
    for (const struct dfl_device *device = ast->devices; device; device = device->next)
        if (strcmp(device->cls.text, "node") == 0 || strcmp(device->cls.text, "network") == 0)
            return true;
    return false;
}

static bool refuse_cluster(struct dfl_sink *sink, const struct dfl_platform *ast)
{
    dfl_error(sink, ast->name.loc, "platform '%s' is a cluster, and here one machine is needed", ast->name.text);
    dfl_hint(sink, "'dfc scale GRAPH.df --platform=FILE' and 'dfc map' take a cluster, in a file of its own");
    return false;
}

bool dfc_platform_convert(struct dfc_unit *u, const struct dfl_platform *ast, struct df_platform *platform)
{
    struct dfl_sink *sink = u->sink;
    struct dfc_convert c = { .u = u, .sink = sink, .platform = platform, .ok = true };
    memset(platform, 0, sizeof *platform);
    if (dfc_platform_is_cluster(ast))
        return refuse_cluster(sink, ast);
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

/* ---- files ---- */

static struct dfl_file *read_file(struct dfl_sink *sink, const char *path)
{
    const struct dfc_front_options options = { .path = path };
    const struct dfl_loc nowhere = { .file = DFL_NO_FILE };
    const char *why;
    char *text;
    size_t length;
    if (!dfc_read_file(&options, path, &text, &length, &why)) {
        dfl_error(sink, nowhere, "cannot read '%s': %s", path, why);
        return NULL;
    }
    struct dfl_file *file = dfl_parse(sink, path, text, length);
    free(text);
    if (!file)
        dfl_error(sink, nowhere, "out of memory");
    return file;
}

/* The platform that the file declares. NULL: it declares none, or two (reported). */
static const struct dfl_platform *find_platform(struct dfl_sink *sink, const char *path, const struct dfl_file *file)
{
    const struct dfl_decl *first = NULL;
    for (const struct dfl_decl *decl = file->decls; decl; decl = decl->next) {
        if (decl->kind != DFL_PLATFORM)
            continue;
        if (first) {
            dfl_error(sink, decl->name.loc, "a file for --platform declares one platform, and this is the second");
            dfl_note(sink, first->name.loc, "the first is here");
            return NULL;
        }
        first = decl;
    }
    if (!first)
        dfl_error(sink, (struct dfl_loc){ file->file, 1, 1, 2 }, "'%s' declares no platform", path);
    return first ? first->platform : NULL;
}

bool dfc_platform_read_as(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                          bool (*convert)(struct dfc_unit *u, const struct dfl_platform *ast, void *result), void *result)
{
    const struct dfc_front_options options = { .path = path, .defines = defines, .n_defines = n_defines };
    unsigned before = dfl_sink_errors(sink);
    struct dfl_file *file = read_file(sink, path);
    struct dfc_unit u = { .sink = sink, .options = &options, .arena = dfl_arena_new() };
    const struct dfl_platform *declared =
        file && u.arena && dfl_sink_errors(sink) == before ? find_platform(sink, path, file) : NULL;
    bool ok = declared && dfc_declare_params(&u, file) && dfl_sink_errors(sink) == before &&
              convert(&u, declared, result);
    if (!u.arena || u.no_memory)
        dfl_error(sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "out of memory");
    dfc_index_free(&u.params);
    dfr_array_free(&u.param_items);
    dfl_arena_free(u.arena);
    dfl_file_free(file);
    return ok && !u.no_memory;
}

static bool convert_platform(struct dfc_unit *u, const struct dfl_platform *ast, void *platform)
{
    return dfc_platform_convert(u, ast, platform);
}

bool dfc_platform_read(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                       struct df_platform *platform)
{
    return dfc_platform_read_as(sink, path, defines, n_defines, convert_platform, platform);
}

bool dfc_platform_has_param(const char *path, const char *name)
{
    struct dfl_sink *sink = dfl_sink_new(NULL);
    struct dfl_file *file = sink ? read_file(sink, path) : NULL;
    bool found = false;
    for (const struct dfl_decl *decl = file ? file->decls : NULL; decl; decl = decl->next)
        found |= decl->kind == DFL_PARAM && strcmp(decl->name.text, name) == 0;
    dfl_file_free(file);
    dfl_sink_free(sink);
    return found;
}
