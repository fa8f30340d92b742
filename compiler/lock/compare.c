/* compare.c - compares a lock file with one that was made now, as a table, for `dfc plan --check` in commands/cmd_plan.c (lock.h). Figures of the plan have the
 * verdicts equal, better, worse, or within the tolerance; the rows of nodes say what has changed, and do not count as worse by themselves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lock/lock_impl.h"
#include "compiler/tools/messages.h"
#include "runtime/base/text.h"

#define MOST_NODE_ROWS 40               /* as text */

struct comparison {
    const struct dfc_lock *was, *is;
    double tolerance;
    struct dfr_report_table table;
    unsigned worse;                     /* figures */
    size_t node_rows;
    bool other;                         /* nodes or units are other ones, so no program can be built with the lock */
};

static const struct dfr_column columns[] = {
    DFR_COLUMN("what", "what", TEXT), DFR_COLUMN("of", "of", TEXT, .width = -2), DFR_COLUMN("was", "was", TEXT), DFR_COLUMN("is", "is", TEXT),
    DFR_COLUMN(NULL, "was_s", SECONDS), DFR_COLUMN(NULL, "is_s", SECONDS), DFR_COLUMN(NULL, "was_bytes", BYTES), DFR_COLUMN(NULL, "is_bytes", BYTES),
    DFR_COLUMN("change", "change", CHANGE, .digits = 1), DFR_COLUMN("verdict", "verdict", TEXT, .width = -7),
};

/* ---- rows ---- */

static void add(struct comparison *c, const char *what, const char *of, const char *was, const char *is, const char *verdict)
{
    dfr_report_table_row(&c->table, (const struct dfr_cell[]){ DFR_STR(what), { .text = of || c->table.form != DFR_FORM_TEXT ? of : "" }, DFR_STR(was), DFR_STR(is),
                                                               DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_MISSING, DFR_STR(verdict) });
}

/* A row of two numbers, in seconds or bytes; NaN: there is none. */
static void add_numbers(struct comparison *c, const char *what, const char *of, double was, double is, bool seconds, const char *verdict)
{
    char texts[2][32] = { "-", "-" };
    const double numbers[] = { was, is };
    const bool as_text = c->table.form == DFR_FORM_TEXT;
    for (unsigned i = 0; i < 2; i++)
        if (!isnan(numbers[i]))
            seconds ? dfr_text_seconds(numbers[i], texts[i], sizeof texts[i]) : dfr_text_bytes((uint64_t)numbers[i], texts[i], sizeof texts[i]);
    dfr_report_table_row(&c->table, (const struct dfr_cell[]){
        DFR_STR(what), { .text = of || !as_text ? of : "" }, { .text = as_text ? texts[0] : NULL }, { .text = as_text ? texts[1] : NULL },
        DFR_NUM(seconds ? was : NAN), DFR_NUM(seconds ? is : NAN), DFR_NUM(seconds ? NAN : was), DFR_NUM(seconds ? NAN : is), DFR_NUM(was > 0 ? is / was - 1 : NAN),
        DFR_STR(verdict) });
}

/* -1: less by more than the tolerance; 1: more. */
static int judge(const struct comparison *c, double was, double is)
{
    return is > was * (1 + c->tolerance) ? 1 : was > is * (1 + c->tolerance) ? -1 : 0;
}

static const char *verdict_of(const struct comparison *c, double was, double is, const char *less, const char *more)
{
    const int judged = judge(c, was, is);
    return judged > 0 ? more : judged < 0 ? less : is > was || is < was ? "within tolerance" : "equal";
}

/* A figure of the plan, of which more is worse. */
static void add_figure(struct comparison *c, const char *what, const char *of, double was, double is, bool seconds)
{
    if (isnan(was) && isnan(is))
        return;
    const bool both = !isnan(was) && !isnan(is);
    c->worse += both && judge(c, was, is) > 0;
    add_numbers(c, what, of, was, is, seconds, !both ? "changed" : verdict_of(c, was, is, "better", "worse"));
}

/* ---- the plan ---- */

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void compare_texts(struct comparison *c, const char *member, const char *what, bool always)
{
    const char *was = dfc_lock_text(c->was->root, member), *is = dfc_lock_text(c->is->root, member);
    const bool equal = strcmp(was, is) == 0;
    if (always || !equal)
        add(c, what, NULL, was, is, equal ? "equal" : "changed");
}

static void compare_counts(struct comparison *c, const json_t *was, const json_t *is, const char *member, const char *what, const char *of)
{
    char before[32], now[32];
    const long long a = json_integer_value(json_object_get(was, member)), b = json_integer_value(json_object_get(is, member));
    snprintf(before, sizeof before, "%lld", a);
    snprintf(now, sizeof now, "%lld", b);
    if (a != b)
        add(c, what, of, before, now, "changed");
}

/* Of how many nodes the time comes from where: "2 cost, 3 measured". */
static void count_sources(const struct dfc_lock *lock, char *text, size_t size)
{
    static const char *const words[] = { "cost", "measured", "estimated", "assumed" };
    size_t used = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        const char *name;
        json_t *node;
        unsigned n = 0;
        json_object_foreach(dfc_lock_list(lock, "nodes"), name, node)
            n += strcmp(dfc_lock_text(node, "from"), words[i]) == 0;
        if (n && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%u %s", used ? ", " : "", n, words[i]);
    }
}

/* A profile that is not there any more is seen here. */
static void compare_sources(struct comparison *c)
{
    char was[96] = "", is[96] = "";
    count_sources(c->was, was, sizeof was);
    count_sources(c->is, is, sizeof is);
    if (strcmp(was, is) != 0)
        add(c, "times from", NULL, was, is, "changed");
}

/* A lock of a graph that promises nothing has no such member. */
static void compare_promises(struct comparison *c)
{
    const char *was = dfc_lock_text(c->was->root, "promises"), *is = dfc_lock_text(c->is->root, "promises");
    if (was != is && (!was || !is || strcmp(was, is) != 0))
        add(c, "promises", NULL, was, is, "changed");
}

static void compare_plans(struct comparison *c)
{
    static const struct { const char *member, *what; } figures[] = {
        { "wave_s", "wave" }, { "bound_s", "bound of a wave" }, { "inflight_wave_s", "wave in flight" }, { "inflight_bound_s", "bound in flight" },
    };
    compare_texts(c, "dfc", "dfc", false);
    compare_texts(c, "policy", "policy", false);
    compare_texts(c, "run_as", "run as", false);
    compare_texts(c, "objective", "objective", false);
    compare_counts(c, c->was->root, c->is->root, "inflight", "waves in flight", NULL);
    compare_counts(c, c->was->root, c->is->root, "joint_waves", "joint waves", NULL);
    compare_texts(c, "graph", "graph", true);
    compare_texts(c, "times", "times", true);
    compare_sources(c);
    compare_texts(c, "platform", "platform", true);
    compare_promises(c);
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(c, figures[i].what, NULL, number(dfc_lock_list(c->was, "predicted"), figures[i].member),
                   number(dfc_lock_list(c->is, "predicted"), figures[i].member), true);
}

/* ---- units ---- */

static void compare_units(struct comparison *c)
{
    const char *name;
    json_t *unit, *was = dfc_lock_list(c->was, "units"), *is = dfc_lock_list(c->is, "units");
    json_object_foreach(was, name, unit) {
        const json_t *now = json_object_get(is, name);
        if (!now) {
            c->other = true;
            add(c, "unit", name, dfc_lock_text(unit, "class"), NULL, "gone");
            continue;
        }
        compare_counts(c, unit, now, "workers", "workers", name);
        add_figure(c, "memory", name, number(unit, "memory_bytes"), number(now, "memory_bytes"), false);
    }
    json_object_foreach(is, name, unit)
        if (!json_object_get(was, name))
            add(c, "unit", name, NULL, dfc_lock_text(unit, "class"), "new");
}

/* ---- nodes ---- */

/* May one more row of a node be shown? */
static bool takes_row(struct comparison *c)
{
    return ++c->node_rows <= MOST_NODE_ROWS || c->table.form != DFR_FORM_TEXT;
}

static void add_of_node(struct comparison *c, const char *what, const char *name, const char *was, const char *is, const char *verdict)
{
    if (takes_row(c))
        add(c, what, name, was, is, verdict);
}

/* The names of a node's units, malloc'ed; NULL: no memory. */
static char *place_text(const json_t *node)
{
    const json_t *unit = json_object_get(node, "unit");
    json_t *one;
    char *text = NULL;
    size_t size, i;
    FILE *out = open_memstream(&text, &size);
    if (out && json_is_string(unit))
        fputs(json_string_value(unit), out);
    json_array_foreach(unit, i, one)
        if (out)
            fprintf(out, "%s%s", i ? ", " : "", json_string_value(one));
    return dfr_text_close(out, &text);
}

static void compare_places(struct comparison *c, const char *name, const json_t *was, const json_t *is)
{
    char *before = place_text(was), *now = place_text(is);
    if (!before || !now)
        c->table.failed = true;
    else if (strcmp(before, now) != 0)
        add_of_node(c, "unit", name, before, now, "moved");
    free(before);
    free(now);
}

static void compare_time(struct comparison *c, const char *name, const char *class, double was, double is)
{
    char what[64];
    snprintf(what, sizeof what, "time %s", class);
    if (isnan(was) != isnan(is) || was < is || was > is)
        if (takes_row(c))
            add_numbers(c, what, name, was, is, true, isnan(was) || isnan(is) ? "changed" : verdict_of(c, was, is, "faster", "slower"));
}

/* On all classes, so that what has moved a node is seen, too. */
static void compare_times(struct comparison *c, const char *name, const json_t *was, const json_t *is)
{
    json_t *before = json_object_get(was, "times"), *now = json_object_get(is, "times"), *value;
    const char *class;
    json_object_foreach(before, class, value)
        compare_time(c, name, class, number(before, class), number(now, class));
    json_object_foreach(now, class, value)
        if (!json_object_get(before, class))
            compare_time(c, name, class, NAN, number(now, class));
}

/* What "code" says of a kernel that has none: "". */
static const char *code_of(const json_t *node)
{
    const char *code = dfc_lock_text(node, "code");
    return code ? code : "";
}

static void compare_sizes(struct comparison *c, const char *name, const json_t *was, const json_t *is)
{
    const char *before = dfc_lock_text(was, "size"), *now = dfc_lock_text(is, "size");
    const double bytes = number(was, "bytes"), bytes_now = number(is, "bytes");
    if (strcmp(before, now) != 0)
        add_of_node(c, "size", name, before, now, "changed");
    else if ((bytes > bytes_now || bytes < bytes_now) && takes_row(c))
        add_numbers(c, "size", name, bytes, bytes_now, false, "changed");
}

static void compare_node(struct comparison *c, const char *name, const json_t *was, const json_t *is)
{
    if (strcmp(dfc_lock_text(was, "kernel"), dfc_lock_text(is, "kernel")) != 0)
        add_of_node(c, "kernel", name, dfc_lock_text(was, "kernel"), dfc_lock_text(is, "kernel"), "changed");
    if (strcmp(code_of(was), code_of(is)) != 0)
        add_of_node(c, "code", name, code_of(was), code_of(is), "changed");
    compare_sizes(c, name, was, is);
    compare_times(c, name, was, is);
    compare_places(c, name, was, is);
}

static void compare_nodes(struct comparison *c)
{
    const char *name;
    json_t *node, *was = dfc_lock_list(c->was, "nodes"), *is = dfc_lock_list(c->is, "nodes");
    json_object_foreach(was, name, node) {
        const json_t *now = json_object_get(is, name);
        if (now) {
            compare_node(c, name, node, now);
            continue;
        }
        c->other = true;
        add_of_node(c, "node", name, dfc_lock_text(node, "kernel"), NULL, "gone");
    }
    json_object_foreach(is, name, node)
        if (!json_object_get(was, name)) {
            c->other = true;
            add_of_node(c, "node", name, NULL, dfc_lock_text(node, "kernel"), "new");
        }
}

/* ---- all of it ---- */

static void print_text_end(FILE *out, const struct comparison *c)
{
    char hint[1024];
    if (c->node_rows > MOST_NODE_ROWS)
        fprintf(out, "… and %zu more rows of nodes, which --format=csv has\n", c->node_rows - MOST_NODE_ROWS);
    if (c->worse)
        fprintf(out, "\n%u figure%s worse by more than %.4g %%\n", c->worse, c->worse == 1 ? " is" : "s are", 100 * c->tolerance);
    else
        fprintf(out, "\nnothing is worse by more than %.4g %%\n", 100 * c->tolerance);
    if (c->other)
        fprintf(out, "no program can be built with this lock any more, because nodes or units are other ones; %s\n",
                dfc_lock_remedy(c->was, hint, sizeof hint));
}

bool dfc_lock_compare(FILE *out, enum dfr_form form, const struct dfc_lock *was, const struct dfc_lock *is, double tolerance, unsigned *worse)
{
    struct comparison c = { .was = was, .is = is, .tolerance = tolerance };
    if (form == DFR_FORM_JSON) {
        fputs("{\"lock\": ", out);
        dfr_text_json(out, was->path);
        fprintf(out, ", \"tolerance\": %.9g,\n \"rows\": [", tolerance);
    }
    dfr_report_table_begin(&c.table, out, form, DFR_COLUMNS(columns));
    compare_plans(&c);
    compare_units(&c);
    compare_nodes(&c);
    const bool good = dfr_report_table_end(&c.table);
    *worse = c.worse;
    if (!good)
        dfc_error("out of memory");
    else if (form == DFR_FORM_JSON)
        fprintf(out, "\n ], \"worse\": %u, \"buildable\": %s}\n", c.worse, c.other ? "false" : "true");
    else if (form == DFR_FORM_TEXT)
        print_text_end(out, &c);
    return good;
}
