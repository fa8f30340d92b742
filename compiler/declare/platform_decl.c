/* platform_decl.c - a declared machine: turns the syntax tree of a platform into struct df_platform and checks every
 * property and its unit of measure. It also reads a platform from a file.
 *
 * The device of class cpu is the host. It becomes unit 0 wherever it stands; the others keep their order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/declare/declare.h"
#include "compiler/declare/platform_decl.h"
#include "compiler/types/paths.h"

enum property { WORKERS, MEMORY, BANDWIDTH, FLOPS, RANDOM, ATOMICS, CORES, H2D, D2H, PEER, ENGINES, LAUNCH, HANDOVER, JOBS, REGISTER, UNIFIED,
                N_PROPERTIES };
static const char *const properties[N_PROPERTIES] = {
    "workers", "memory", "bandwidth", "flops", "random", "atomics", "cores", "h2d", "d2h", "peer", "engines", "launch",
    "handover", "jobs", "register", "unified"
};

struct convert {
    struct dfc_unit *u;
    struct dfl_sink *sink;
    struct df_platform *platform;
    bool ok;
};

/* ---- values ---- */

struct measure { /* a number and the powers of its units */
    double n;
    int bytes, seconds;
};

static const struct dfc_names in_platform = { .use = DFC_USE_PLATFORM };

static bool is_param(const struct convert *c, const struct dfl_expr *e)
{
    uint32_t id;
    return dfc_index_find(&c->u->params, e->s, &id);
}

/* Is it the unit under the line of a rate: the s of 6 GB/s? */
static bool is_rate(const struct convert *c, const struct dfl_expr *e)
{
    return e->kind == DFL_EXPR_BINARY && e->op == DFL_OP_DIV && e->b->kind == DFL_EXPR_NAME && !is_param(c, e->b);
}

static bool has_units(const struct convert *c, const struct dfl_expr *e)
{
    if (!e)
        return false;
    bool has = e->kind == DFL_EXPR_QUANTITY || has_units(c, e->a) || (!is_rate(c, e) && has_units(c, e->b));
    for (const struct dfl_expr *arg = e->args; arg; arg = arg->next)
        has |= has_units(c, arg);
    return has;
}

static bool unknown_unit(struct convert *c, struct dfl_loc loc, const char *unit)
{
    dfl_error(c->sink, loc, "unknown unit '%s'", unit);
    dfc_hint_name(c->u, unit, dfc_unit_names, dfc_unit_n_names);
    return false;
}

/* One rounding: 1.2ms is the double nearest to 0.0012. */
static double scaled(double n, double factor)
{
    return factor < 1 ? n / (factor == 1e-3 ? 1e3 : factor == 1e-6 ? 1e6 : 1e9) : n * factor;
}

static bool measure(struct convert *c, const struct dfl_expr *e, struct measure *m);

static bool measure_number(struct convert *c, const struct dfl_expr *e, struct measure *m)
{
    struct dfc_value value;
    enum dfc_unit_kind kind;
    double factor;
    if (e->kind == DFL_EXPR_NAME && !is_param(c, e) && dfc_unit_find(e->s, &kind, &factor)) {
        dfl_error(c->sink, e->loc, "a number is missing before the unit '%s'", e->s);
        return false;
    }
    if (!dfc_fold(c->u, &in_platform, e, &value))
        return false;
    if (value.n.kind == DF_KIND_STR) {
        dfl_error(c->sink, e->loc, "a string is not a number");
        return false;
    }
    *m = (struct measure){ .n = value.n.kind == DF_KIND_I64 ? (double)value.n.i : value.n.f };
    return true;
}

static bool measure_quantity(struct convert *c, const struct dfl_expr *e, struct measure *m)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!dfc_unit_find(e->s, &kind, &factor))
        return unknown_unit(c, e->loc, e->s);
    *m = (struct measure){ scaled(e->is_int ? (double)e->i : e->f, factor), kind == DFC_UNIT_BYTES,
                           kind == DFC_UNIT_TIME };
    return true;
}

static bool measure_rate(struct convert *c, const struct dfl_expr *e, struct measure *m)
{
    enum dfc_unit_kind kind;
    double factor;
    if (!measure(c, e->a, m))
        return false;
    if (!dfc_unit_find(e->b->s, &kind, &factor))
        return unknown_unit(c, e->loc, e->b->s);
    m->n /= factor;
    m->bytes -= kind == DFC_UNIT_BYTES;
    m->seconds -= kind == DFC_UNIT_TIME;
    return true;
}

static bool combine(struct convert *c, const struct dfl_expr *e, enum dfl_op op, const struct measure *b,
                    struct measure *a)
{
    int sign = op == DFL_OP_MUL ? 1 : -1;
    if (op == DFL_OP_MUL || op == DFL_OP_DIV) {
        if (op == DFL_OP_DIV && b->n == 0) {
            dfl_error(c->sink, e->loc, "division by zero");
            return false;
        }
        *a = (struct measure){ op == DFL_OP_MUL ? a->n * b->n : a->n / b->n, a->bytes + sign * b->bytes,
                               a->seconds + sign * b->seconds };
        return true;
    }
    if (op != DFL_OP_ADD && op != DFL_OP_SUB) {
        dfl_error(c->sink, e->loc, "values with units can be added, subtracted, multiplied and divided");
        return false;
    }
    if (a->bytes != b->bytes || a->seconds != b->seconds) {
        dfl_error(c->sink, e->loc, "values with different units cannot be added");
        return false;
    }
    a->n = op == DFL_OP_ADD ? a->n + b->n : a->n - b->n;
    return true;
}

static bool measure(struct convert *c, const struct dfl_expr *e, struct measure *m)
{
    struct measure b;
    if (is_rate(c, e))
        return measure_rate(c, e, m);
    if (!has_units(c, e))
        return measure_number(c, e, m);
    if (e->kind == DFL_EXPR_QUANTITY)
        return measure_quantity(c, e, m);
    if (e->kind == DFL_EXPR_UNARY && e->op == DFL_OP_NEG) {
        if (!measure(c, e->a, m))
            return false;
        m->n = -m->n;
        return true;
    }
    if (e->kind == DFL_EXPR_BINARY)
        return measure(c, e->a, m) && measure(c, e->b, &b) && combine(c, e, e->op, &b, m);
    dfl_error(c->sink, e->loc, "values with units can be added, subtracted, multiplied and divided");
    return false;
}

#define NO_UNIT (-1)

/* Gives a value in its base unit (seconds, bytes, or none). `rate`: it is per second. */
static bool number_of(struct convert *c, const struct dfl_expr *value, const char *what, int want, bool rate,
                      double *result)
{
    static const char *const examples[] = { "10 us", "6 GiB" };
    struct measure m;
    if (!measure(c, value, &m))
        return c->ok = false;
    if (m.bytes == (want == DFC_UNIT_BYTES) && m.seconds == (want == DFC_UNIT_TIME) - rate) {
        *result = m.n;
        return true;
    }
    if (want == NO_UNIT && rate)
        dfl_error(c->sink, value->loc, "%s must be given like '8 / ns'", what);
    else if (want == NO_UNIT)
        dfl_error(c->sink, value->loc, "%s must be a number without a unit", what);
    else
        dfl_error(c->sink, value->loc, "%s must be given like '%s'", what, rate ? "6 GB/s" : examples[want]);
    return c->ok = false;
}

static bool count_of(struct convert *c, const struct dfl_expr *value, const char *what, uint32_t least, uint32_t most,
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

static void bytes_of(struct convert *c, const struct dfl_expr *value, const char *what, uint64_t *result)
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

static void delay_of(struct convert *c, const struct dfl_expr *value, const char *what, double *result)
{
    double n;
    if (!number_of(c, value, what, DFC_UNIT_TIME, false, &n))
        return;
    if (n < 0 || n > DF_MOST_DELAY_S) {
        dfl_error(c->sink, value->loc, n < 0 ? "%s must be from 0 to %.0f s" : "%s must be at most %.0f s", what,
                  DF_MOST_DELAY_S);
        c->ok = false;
        return;
    }
    *result = n;
}

static bool rate_of(struct convert *c, const struct dfl_expr *value, const char *what, double *bytes_per_s)
{
    if (!number_of(c, value, what, DFC_UNIT_BYTES, true, bytes_per_s))
        return false;
    if (*bytes_per_s >= DF_LEAST_RATE && *bytes_per_s <= DF_MOST_RATE)
        return true;
    dfl_error(c->sink, value->loc, "%s must be from 1 B/s to 1000000 TB/s", what);
    return c->ok = false;
}

static void too_many(struct convert *c, const struct dfl_expr *value, const char *what)
{
    if (!value)
        return;
    dfl_error(c->sink, value->loc, "%s", what);
    c->ok = false;
}

/* ALL [, ONE THREAD [, TWO [, FOUR …]]] */
static void bandwidth_of(struct convert *c, const struct dfl_expr *value, struct df_unit *unit)
{
    bool host = unit->cls == DF_CLASS_CPU;
    rate_of(c, value, "'bandwidth'", &unit->memory_bytes_per_s);
    unsigned i = 0;
    for (value = value->next; value && host && i < DF_BANDWIDTHS; value = value->next)
        rate_of(c, value, "a bandwidth by threads", &unit->figures.bytes_per_s[i++]);
    too_many(c, value, host ? "'bandwidth' has one value for all cores, and then those of 1, 2, 4, ... 256 threads"
                            : "a device's 'bandwidth' is one value, that of its memory");
}

/* F32 [, F64] */
static void flops_of(struct convert *c, const struct dfl_expr *value, double flops[2])
{
    unsigned i = 0;
    for (; value && i < 2; value = value->next, i++) {
        double per_s;
        if (!number_of(c, value, "'flops'", NO_UNIT, true, &per_s))
            continue;
        if (per_s >= DF_LEAST_RATE && per_s <= DF_MOST_RATE) {
            flops[i] = per_s;
            continue;
        }
        dfl_error(c->sink, value->loc, "'flops' must be from 1 / s to 1000000000 / ns");
        c->ok = false;
    }
    too_many(c, value, "'flops' has a value for f32 and one for f64, and nothing more");
}

/* Two times: one value, or both. */
static void times_of(struct convert *c, const struct dfl_expr *value, enum property p, double seconds[2])
{
    char what[16];
    snprintf(what, sizeof what, "'%s'", properties[p]);
    for (unsigned i = 0; value && i < 2; value = value->next, i++)
        delay_of(c, value, what, &seconds[i]);
    too_many(c, value, p == RANDOM ? "'random' has the time of a read whose address follows from the one before, and that of "
                                     "any other"
                                   : "'atomics' has the time of an update of a thread's own place, and that of a shared one");
}

/* BANDWIDTH [, LATENCY [, THRESHOLD]] */
static void link_of(struct convert *c, const struct dfl_property *property, struct df_link *link)
{
    const struct dfl_expr *value = property->values;
    double n;
    if (!rate_of(c, value, "a link's bandwidth", &link->bytes_per_s))
        return;
    if ((value = value->next))
        delay_of(c, value, "a link's latency", &link->latency_s);
    if (value && (value = value->next) && number_of(c, value, "a link's threshold", DFC_UNIT_BYTES, false, &n)) {
        if (n >= 0 && n < (double)DF_LIMIT_BYTES) {
            link->threshold_bytes = (uint64_t)n;
        } else {
            dfl_error(c->sink, value->loc, n < 0 ? "a link's threshold must not be negative"
                                                 : "a link's threshold must be at most 8 EiB");
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
    const struct dfl_expr *value = property->values;
    if (p != H2D && p != D2H && p != PEER && !(p >= BANDWIDTH && p <= ATOMICS) && value->next) {
        dfl_error(c->sink, value->next->loc, "'%s' takes one value", properties[p]);
        c->ok = false;
        return;
    }
    switch (p) {
    case WORKERS: count_of(c, value, "'workers'", 1, DF_MAX_WORKERS, &unit->workers); break;
    case MEMORY: bytes_of(c, value, "'memory'", &unit->memory_bytes); break;
    case BANDWIDTH: bandwidth_of(c, value, unit); break;
    case FLOPS: flops_of(c, value, unit->figures.flops); break;
    case RANDOM: times_of(c, value, p, unit->figures.random_s); break;
    case ATOMICS: times_of(c, value, p, unit->figures.atomic_s); break;
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

bool dfc_platform_convert(struct dfc_unit *u, const struct dfl_platform *ast, struct df_platform *platform)
{
    struct dfl_sink *sink = u->sink;
    struct convert c = { .u = u, .sink = sink, .platform = platform, .ok = true };
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

bool dfc_platform_read(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                       struct df_platform *platform)
{
    const struct dfc_front_options options = { .path = path, .defines = defines, .n_defines = n_defines };
    unsigned before = dfl_sink_errors(sink);
    struct dfl_file *file = read_file(sink, path);
    struct dfc_unit u = { .sink = sink, .options = &options, .arena = dfl_arena_new() };
    const struct dfl_platform *declared =
        file && u.arena && dfl_sink_errors(sink) == before ? find_platform(sink, path, file) : NULL;
    bool ok = declared && dfc_declare_params(&u, file) && dfl_sink_errors(sink) == before &&
              dfc_platform_convert(&u, declared, platform);
    if (!u.arena || u.no_memory)
        dfl_error(sink, (struct dfl_loc){ .file = DFL_NO_FILE }, "out of memory");
    dfc_index_free(&u.params);
    dfr_array_free(&u.param_items);
    dfl_arena_free(u.arena);
    dfl_file_free(file);
    return ok && !u.no_memory;
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
