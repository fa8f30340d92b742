/* gantt_trace.c - reads a program's Chrome trace (--trace) into Gantt bars and has them drawn, for `dfc gantt` in
 * commands/cmd_gantt.c. cluster/windows.c takes the windows of ranks from it.
 *
 * The file is parsed event by event, so its JSON tree is never in memory as a whole. "X" events are durations, "C"
 * counters, and "M" the names of processes (units) and threads (workers and copy engines). Other events are skipped, so
 * traces of other programs can be drawn, too.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/show/gantt_impl.h"
#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"
#include "dsl/diag.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

#define MOST_LINES 1000                 /* of a picture */

struct names {                          /* texts, each kept once */
    struct dfr_array texts;             /* char * */
    struct dfr_table table;
};

struct thread {
    json_int_t process, number;
    char name[96];
    bool copies;
};

struct dfc_trace {
    const char *path;
    char *text;                         /* while it is read */
    size_t length, at;                  /* of the text; where the event is that is read */
    struct dfc_gantt gantt;             /* `line` is a thread's number, `what` and `kernel` are those of names */
    struct thread threads[MOST_LINES];
    uint32_t n_threads;
    struct names nodes, kernels;
    double begin_s, end_s;              /* of all bars */
    size_t n_copies;
    struct dfr_array windows;           /* struct dfc_window_change */
};

/* ---- errors ---- */

/* Reports an error at a place of the text, and what to do. */
static bool wrong(const struct dfc_trace *t, size_t at, const char *what, const char *hint)
{
    struct dfl_sink *sink = dfl_sink_new(stderr);
    struct dfl_loc loc;
    if (!sink)
        return false;
    dfl_sink_program(sink, "dfc");
    loc = dfl_loc_at(dfl_sink_file(sink, t->path, t->text, t->length), t->text, at);
    dfl_error(sink, loc, "%s", what);
    dfl_hint(sink, "%s", hint);
    dfl_sink_free(sink);
    return false;
}

static bool no_memory(void)
{
    dfc_error("out of memory");
    return false;
}

/* ---- names ---- */

struct piece {
    const char *text;
    size_t length;
};

static const char *text_of(const struct names *names, uint32_t id)
{
    return ((char *const *)names->texts.items)[id];
}

static bool is_piece(const void *context, uint32_t id, const void *key)
{
    const struct piece *piece = key;
    const char *text = text_of(context, id);
    return strncmp(text, piece->text, piece->length) == 0 && !text[piece->length];
}

/* The number of a name of `length` bytes. */
static bool number_of(struct names *names, const char *text, size_t length, uint32_t *id)
{
    struct piece piece = { text, length };
    uint32_t hash = dfr_hash_fold(dfr_hash(0, text, length));
    if (dfr_table_find(&names->table, hash, is_piece, names, &piece, id))
        return true;
    char *copy = strndup(text, length);
    char **place = copy && dfr_table_reserve(&names->table) ? dfr_array_add(&names->texts, sizeof *place, 1) : NULL;
    if (!place) {
        free(copy);
        return no_memory();
    }
    *place = copy;
    *id = names->texts.n - 1;
    dfr_table_put(&names->table, hash, *id);
    return true;
}

static void free_names(struct names *names)
{
    for (uint32_t i = 0; i < names->texts.n; i++)
        free(((char **)names->texts.items)[i]);
    dfr_array_free(&names->texts);
    dfr_table_free(&names->table);
}

/* ---- events ---- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The number of the event's thread. */
static bool thread_of(struct dfc_trace *t, const json_t *event, uint32_t *number)
{
    json_int_t process = json_integer_value(json_object_get(event, "pid"));
    json_int_t thread = json_integer_value(json_object_get(event, "tid"));
    for (*number = t->n_threads; (*number)-- > 0;)
        if (t->threads[*number].process == process && t->threads[*number].number == thread)
            return true;
    if (t->n_threads == MOST_LINES)
        return wrong(t, t->at, "this is one thread more than a picture has lines for", "1000 can be drawn");
    *number = t->n_threads++;
    t->threads[*number] = (struct thread){ .process = process, .number = thread };
    snprintf(t->threads[*number].name, sizeof t->threads->name, "%lld/%lld", (long long)process, (long long)thread);
    return true;
}

/* If the event has no kernel, it is what the node is called, without its path and its number. */
static bool kernel_of(struct dfc_trace *t, const json_t *event, const char *node, uint32_t *kernel)
{
    const char *name = string_of(json_object_get(event, "args"), "kernel"), *slash = strrchr(node, '/');
    if (*name)
        return number_of(&t->kernels, name, strlen(name), kernel);
    name = slash ? slash + 1 : node;
    return number_of(&t->kernels, name, strcspn(name, "[#"), kernel);
}

static bool take_bar(struct dfc_trace *t, const json_t *event)
{
    const json_t *begin = json_object_get(event, "ts"), *length = json_object_get(event, "dur");
    const char *node = string_of(event, "name"), *what = string_of(event, "cat");
    struct dfc_gantt_bar bar = { .kind = !strcmp(what, "h2d")    ? DFC_BAR_TO_DEVICE
                                         : !strcmp(what, "d2h")  ? DFC_BAR_FROM_DEVICE
                                         : !strcmp(what, "peer") ? DFC_BAR_TO_PEER
                                                                 : DFC_BAR_JOB };
    if (!json_is_number(begin) || !json_is_number(length) || json_number_value(length) < 0)
        return wrong(t, t->at, "this event has no beginning 'ts' and length 'dur' in microseconds",
                     "a trace is what a program writes with --trace=FILE");
    bar.begin_s = json_number_value(begin) * 1e-6;
    bar.end_s = bar.begin_s + json_number_value(length) * 1e-6;
    bar.wave = (uint32_t)json_integer_value(json_object_get(json_object_get(event, "args"), "wave"));
    if (!thread_of(t, event, &bar.line) || !number_of(&t->nodes, node, strlen(node), &bar.what) ||
        !kernel_of(t, event, node, &bar.kernel))
        return false;
    t->threads[bar.line].copies |= bar.kind != DFC_BAR_JOB;
    t->n_copies += bar.kind != DFC_BAR_JOB;
    t->begin_s = fmin(t->begin_s, bar.begin_s);
    t->end_s = fmax(t->end_s, bar.end_s);
    dfc_gantt_add(&t->gantt, bar);
    return !t->gantt.failed || no_memory();
}

/* Counters "window" and "rate" of one time and rank come one after the other, the rate first. */
static bool take_counter(struct dfc_trace *t, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const char *name = string_of(event, "name");
    const double at_s = json_number_value(json_object_get(event, "ts")) * 1e-6;
    const int64_t rank = json_integer_value(json_object_get(event, "pid"));
    struct dfc_window_change *last = t->windows.n ? (struct dfc_window_change *)t->windows.items + t->windows.n - 1 : NULL;

    if (strcmp(name, "window") != 0 && strcmp(name, "rate") != 0)
        return true;
    if (strcmp(name, "rate") == 0) {
        if (!(last = dfr_array_add(&t->windows, sizeof *last, 1)))
            return no_memory();
        *last = (struct dfc_window_change){ .at_s = at_s, .rank = rank, .rate = json_number_value(json_object_get(args, "waves/s")) };
    } else if (last && last->rank == rank && last->at_s == at_s) {
        last->window = json_number_value(json_object_get(args, "waves"));
    }
    return true;
}

const struct dfc_window_change *dfc_trace_windows(const struct dfc_trace *t, size_t *n)
{
    *n = t->windows.n;
    return t->windows.items;
}

double dfc_trace_end_s(const struct dfc_trace *t)
{
    return t->end_s;
}

static bool take_event(struct dfc_trace *t, const json_t *event)
{
    const char *kind = string_of(event, "ph");
    uint32_t thread;
    if (strcmp(kind, "X") == 0)
        return take_bar(t, event);
    if (strcmp(kind, "C") == 0)
        return take_counter(t, event);
    if (strcmp(kind, "M") == 0 && strcmp(string_of(event, "name"), "thread_name") == 0) {
        if (!thread_of(t, event, &thread))
            return false;
        snprintf(t->threads[thread].name, sizeof t->threads->name, "%s",
                 string_of(json_object_get(event, "args"), "name"));
    }
    return true;
}

/* ---- the file ---- */

static size_t skip(const struct dfc_trace *t, size_t at, const char *what)
{
    return at + strspn(t->text + at, what);
}

/* Finds where the list of events begins: the value of "traceEvents", or the whole text. */
static bool find_events(struct dfc_trace *t)
{
    const char *blanks = " \t\r\n";
    size_t at = skip(t, 0, blanks);
    if (t->text[at] == '{') {
        const char *key = strstr(t->text + at, "\"traceEvents\"");
        at = key ? (size_t)(key - t->text) + strlen("\"traceEvents\"") : at;
        at = skip(t, at, blanks);
        at = t->text[at] == ':' ? skip(t, at + 1, blanks) : at;
    }
    t->at = at + 1;
    return t->text[at] == '[' || wrong(t, at, "a list of events, \"traceEvents\", is expected",
                                       "a trace is what a program writes with --trace=FILE");
}

static bool read_events(struct dfc_trace *t)
{
    json_error_t error;
    bool good = find_events(t);
    while (good && t->text[t->at = skip(t, t->at, " \t\r\n,")] != ']') {
        json_t *event = json_loadb(t->text + t->at, t->length - t->at, JSON_DISABLE_EOF_CHECK, &error);
        if (!event)
            return t->at >= t->length || t->at + (size_t)error.position >= t->length
                       ? wrong(t, t->length, "the list of events does not end", "was the file copied whole?")
                       : wrong(t, t->at + (size_t)error.position - 1, error.text, "a trace is written in JSON");
        good = take_event(t, event);
        json_decref(event);
        t->at += (size_t)error.position;
    }
    return good && (t->gantt.n_bars || wrong(t, t->at, "nothing ran: there is no event with 'ph' \"X\"",
                                             "a trace is what a program writes with --trace=FILE"));
}

struct dfc_trace *dfc_trace_read(const char *path)
{
    static const struct dfc_front_options options;
    struct dfc_trace *t = calloc(1, sizeof *t);
    char *bytes = NULL;
    const char *why;
    if (!t) {
        no_memory();
        return NULL;
    }
    t->path = path;
    t->begin_s = INFINITY;
    bool good = dfc_read_file(&options, path, &bytes, &t->length, &why);
    if (!good)
        dfc_error("cannot read '%s': %s", path, why);
    if (good) {
        t->text = realloc(bytes, t->length + 1); /* with an end, which a byte 0 within may be, too */
        good = t->text || no_memory();
    }
    if (good) {
        t->text[t->length] = '\0';
        good = read_events(t);
    }
    free(t->text ? t->text : bytes);
    t->text = NULL;
    if (good)
        return t;
    dfc_trace_free(t);
    return NULL;
}

void dfc_trace_free(struct dfc_trace *trace)
{
    free(trace->gantt.bars);
    dfr_array_free(&trace->windows);
    free_names(&trace->nodes);
    free_names(&trace->kernels);
    free(trace);
}

/* ---- drawing ---- */

static void name_of(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar, char *name, size_t size)
{
    const struct dfc_trace *t = view->arg;
    snprintf(name, size, "%s", text_of(&t->nodes, bar->what));
}

static const char *peer_of(const struct dfc_gantt_view *view, const struct dfc_gantt_bar *bar)
{
    (void)view, (void)bar;
    return "a peer";                    /* a trace does not say which */
}

static int by_number(const void *a, const void *b, void *arg)
{
    const struct thread *threads = arg, *x = &threads[*(const uint32_t *)a], *y = &threads[*(const uint32_t *)b];
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Makes the lines, in the order of the processes and threads, and moves the bars to them. */
static void make_lines(struct dfc_trace *t, struct dfc_gantt_line *lines)
{
    uint32_t order[MOST_LINES], line_of[MOST_LINES];
    for (uint32_t i = 0; i < t->n_threads; i++)
        order[i] = i;
    qsort_r(order, t->n_threads, sizeof *order, by_number, t->threads);
    for (uint32_t i = 0; i < t->n_threads; i++) {
        const struct thread *thread = &t->threads[order[i]];
        snprintf(lines[i].name, sizeof lines[i].name, "%s", thread->name);
        lines[i].copies = thread->copies;
        lines[i].begins = !i || t->threads[order[i - 1]].process != thread->process;
        line_of[order[i]] = i;
    }
    for (size_t i = 0; i < t->gantt.n_bars; i++) {
        struct dfc_gantt_bar *bar = &t->gantt.bars[i];
        bar->line = line_of[bar->line];
        bar->begin_s -= t->begin_s;
        bar->end_s -= t->begin_s;
    }
}

bool dfc_trace_draw(struct dfc_trace *t, FILE *out)
{
    struct dfc_gantt_line *lines = calloc((size_t)t->n_threads + 1, sizeof *lines);
    const char *slash = strrchr(t->path, '/');
    char title[400], time[32];
    if (!lines)
        return false;
    make_lines(t, lines);
    size_t n = (size_t)snprintf(title, sizeof title, "%s: %zu jobs", slash ? slash + 1 : t->path,
                                t->gantt.n_bars - t->n_copies);
    if (t->n_copies && n < sizeof title)
        n += (size_t)snprintf(title + n, sizeof title - n, " and %zu copies", t->n_copies);
    if (n < sizeof title)
        snprintf(title + n, sizeof title - n, " in %s", dfr_text_seconds(t->end_s - t->begin_s, time, sizeof time));
    struct dfc_gantt_view view = { .title = title, .end_s = t->end_s - t->begin_s, .lines = lines,
                                   .n_lines = t->n_threads, .kernels = t->kernels.texts.items,
                                   .n_kernels = t->kernels.texts.n, .bars = t->gantt.bars, .n_bars = t->gantt.n_bars,
                                   .name = name_of, .peer = peer_of, .arg = t };
    bool drawn = dfc_gantt_draw(&view, out);
    free(lines);
    return drawn;
}
