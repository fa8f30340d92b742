/* read.c - reads a lock file, for --lock in load/load_cmd.c and for `dfc plan --check`, and checks that each member is there
 * and makes sense (lock.h). The room reports members that do not fit with it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lock/lock_impl.h"
#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"
#include "dsl/diag.h"
#include "runtime/base/text.h"

#define FORMAT 1
#define MOST_ROWS 65536

/* ---- errors ---- */

/* The text's place at which the member `name` begins; 0: it is not found. */
static size_t find_member(const struct dfc_lock *lock, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = lock->text; name[0] && (at = memmem(at, (size_t)(lock->text + lock->length - at), name, n)); at++) {
        const char *after = at + n + 1;
        if (at == lock->text || at[-1] != '"' || at[n] != '"')
            continue;
        while (after < lock->text + lock->length && strchr(" \t\r\n", *after) && *after)
            after++;
        if (*after == ':')
            return (size_t)(at - 1 - lock->text);
    }
    return 0;
}

static bool say(const struct dfc_lock *lock, size_t at, const char *message, const char *hint)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    if (!sink)
        return false;
    dfl_sink_program(sink, "dfc");
    dfl_error(sink, dfl_loc_at(dfl_sink_file(sink, lock->path, lock->text, lock->length), lock->text, at), "%s", message);
    if (hint)
        dfl_hint(sink, "%s", hint);
    dfl_sink_free(sink);
    return false;
}

bool dfc_lock_wrong(const struct dfc_lock *lock, const char *member, const char *hint, const char *format, ...)
{
    char message[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return say(lock, member ? find_member(lock, member) : 0, message, hint);
}

const char *dfc_lock_remedy(const struct dfc_lock *lock, char *text, size_t size)
{
    const char *source = dfc_lock_text(lock->root, "source");
    snprintf(text, size, "'dfc plan %s -o %s' makes it anew", source ? source : "GRAPH.df", lock->path);
    return text;
}

/* ---- members ---- */

enum kind { TEXT, HASH, COUNT, NUMBER, SECONDS, OBJECT };

struct member {
    const char *name;
    enum kind kind;
};

static bool is_hash(const char *text)
{
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool is_kind(const json_t *value, enum kind kind)
{
    switch (kind) {
    case TEXT: return json_is_string(value);
    case HASH: return json_is_string(value) && is_hash(json_string_value(value));
    case COUNT: return json_is_integer(value) && json_integer_value(value) >= 0;
    case NUMBER: return json_is_number(value);
    case SECONDS: return json_is_number(value) && json_number_value(value) >= 0;
    case OBJECT: return json_is_object(value);
    }
    return false;
}

/* Has the object these members? `owner` is its name, NULL: it is the whole file. */
static bool check_members(const struct dfc_lock *lock, const char *owner, const json_t *object, const struct member *members, size_t n)
{
    static const char *const words[] = { "text", "16 hex digits", "a whole number", "a number", "a number of at least 0", "an object" };
    char hint[1024];
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_object_get(object, members[i].name);
        if (value && is_kind(value, members[i].kind))
            continue;
        return dfc_lock_wrong(lock, owner ? owner : members[i].name, dfc_lock_remedy(lock, hint, sizeof hint), "%s%s%s'%s' is %s%s", owner ? "'" : "",
                              owner ? owner : "", owner ? "': " : "", members[i].name, value ? "not " : "missing", value ? words[members[i].kind] : "");
    }
    return true;
}
#define MEMBERS(list) (list), sizeof (list) / sizeof *(list)

static bool check_units(const struct dfc_lock *lock)
{
    static const struct member members[] = { { "class", TEXT }, { "workers", COUNT }, { "memory_bytes", COUNT } };
    const char *name;
    json_t *unit, *units = dfc_lock_list(lock, "units");
    json_object_foreach(units, name, unit)
        if (!check_members(lock, name, unit, MEMBERS(members)))
            return false;
    return true;
}

static bool check_divided(const struct dfc_lock *lock)
{
    const char *name;
    json_t *weights, *weight, *divided = dfc_lock_list(lock, "divided");
    char hint[1024];
    size_t k;
    json_object_foreach(divided, name, weights) {
        bool good = json_array_size(weights) > 1 && json_array_size(weights) <= DF_MAX_PARTS;
        json_array_foreach(weights, k, weight)
            good = good && json_number_value(weight) > 0;
        if (!good)
            return dfc_lock_wrong(lock, name, dfc_lock_remedy(lock, hint, sizeof hint), "'%s': a list of the parts' weights is expected, each above 0", name);
    }
    return true;
}

static bool is_unit(const struct dfc_lock *lock, const json_t *value)
{
    return json_is_string(value) && json_object_get(dfc_lock_list(lock, "units"), json_string_value(value));
}

static bool check_place(const struct dfc_lock *lock, const char *name, const json_t *node)
{
    const json_t *unit = json_object_get(node, "unit");
    const uint32_t n = dfc_lock_count(lock, "joint_waves");
    char hint[1024];
    bool good = json_is_array(unit) ? json_array_size(unit) == n : n == 1 && is_unit(lock, unit);
    json_t *one;
    size_t i;
    json_array_foreach(unit, i, one)
        good = good && is_unit(lock, one);
    if (good)
        return true;
    dfc_lock_remedy(lock, hint, sizeof hint);
    return n == 1 ? dfc_lock_wrong(lock, name, hint, "'%s': 'unit' names none of the units above", name)
                  : dfc_lock_wrong(lock, name, hint, "'%s': 'unit' is no list of %u of the units above", name, (unsigned)n);
}

static bool check_nodes(const struct dfc_lock *lock)
{
    static const struct member members[] = { { "priority", NUMBER }, { "time_s", SECONDS }, { "from", TEXT }, { "times", OBJECT }, { "kernel", TEXT }, { "size", TEXT },
                                             { "bytes", COUNT } };
    const char *name;
    json_t *node, *nodes = dfc_lock_list(lock, "nodes");
    json_object_foreach(nodes, name, node)
        if (!check_members(lock, name, node, MEMBERS(members)) || !check_place(lock, name, node))
            return false;
    return true;
}

static bool check_format(const struct dfc_lock *lock)
{
    const json_t *format = json_object_get(lock->root, "format");
    char hint[1024];
    if (!json_is_integer(format))
        return dfc_lock_wrong(lock, "format", "a lock file is what 'dfc plan GRAPH.df -o FILE' writes", "this is no lock file: 'format' is %s",
                              format ? "no whole number" : "missing");
    if (json_integer_value(format) == FORMAT)
        return true;
    return dfc_lock_wrong(lock, "format", dfc_lock_remedy(lock, hint, sizeof hint), "the lock file has format %lld, and this dfc reads format %d",
                          (long long)json_integer_value(format), FORMAT);
}

static bool check(const struct dfc_lock *lock)
{
    static const struct member members[] = { { "dfc", TEXT }, { "program", TEXT }, { "source", TEXT }, { "policy", TEXT }, { "run_as", TEXT },
                                             { "objective", TEXT }, { "inflight", COUNT }, { "joint_waves", COUNT }, { "graph", HASH }, { "times", HASH },
                                             { "platform", HASH }, { "predicted", OBJECT }, { "units", OBJECT }, { "divided", OBJECT }, { "nodes", OBJECT } };
    static const struct member predicted[] = { { "wave_s", SECONDS }, { "bound_s", SECONDS } };
    char hint[1024];
    if (!check_format(lock) || !check_members(lock, NULL, lock->root, MEMBERS(members)) ||
        !check_members(lock, "predicted", dfc_lock_list(lock, "predicted"), MEMBERS(predicted)))
        return false;
    const json_int_t rows = json_integer_value(dfc_lock_list(lock, "joint_waves")), inflight = json_integer_value(dfc_lock_list(lock, "inflight"));
    if (rows < 1 || rows > MOST_ROWS || inflight > MOST_ROWS)
        return dfc_lock_wrong(lock, rows < 1 || rows > MOST_ROWS ? "joint_waves" : "inflight", dfc_lock_remedy(lock, hint, sizeof hint),
                              "the number of waves is from %d to %d", rows < 1 || rows > MOST_ROWS, MOST_ROWS);
    return check_units(lock) && check_divided(lock) && check_nodes(lock);
}

/* ---- the file ---- */

static bool parse(struct dfc_lock *lock)
{
    json_error_t error;
    char message[JSON_ERROR_TEXT_LENGTH + 64];
    lock->root = json_loadb(lock->text, lock->length, JSON_REJECT_DUPLICATES, &error);
    if (!lock->root) {
        const size_t at = error.position > 0 ? (size_t)error.position - 1 : 0;
        snprintf(message, sizeof message, "this is not JSON: %s", error.text);
        return say(lock, at < lock->length ? at : lock->length, message, "was the lock file copied whole, or merged by hand?");
    }
    return check(lock);
}

struct dfc_lock *dfc_lock_read(const char *path)
{
    static const struct dfc_front_options options;
    struct dfc_lock *lock = calloc(1, sizeof *lock);
    const char *why = "out of memory";
    if (!lock || !(lock->path = strdup(path)) || !dfc_read_file(&options, path, &lock->text, &lock->length, &why)) {
        dfc_error("cannot read '%s': %s", path, why);
    } else if (parse(lock)) {
        return lock;
    }
    dfc_lock_free(lock);
    return NULL;
}
