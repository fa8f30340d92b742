/* fuzz_files.c - the files that dfc and its programs read beside a .df, of any bytes: they are refused in words, or
 * what they say makes sense. The first byte says which reader gets the others.
 *
 *   0  the profile database, as the bytes of an SQLite file;
 *   1  the same, as lines of SQL that are run on an empty profile database;
 *   2  a file of platforms;
 *   3  an image, which is the graph and plan of a program;
 *   4  what a program learned (runtime/start/learn.h), beside an empty profile database;
 *   5  what a program prints for --stats=json;
 *   6  the pack of a program's sources;
 *   7  the pack of measured times;
 *   8  a trace that is written: the bytes are names and events, and SQLite reads the JSON;
 *   9  a trace that is read (dfc gantt), and drawn;
 *   :  a mapping of stages to processors;
 *   ;  a journal: each line gets the check number that it needs, unless it begins with '!';
 *   <  an object file of which `dfc wrap` writes the functions.
 *
 * FUZZ_READER=9 in the environment takes that reader, whatever the first byte is.
 *
 * Files:    are written into a folder in memory (/dev/shm), which is removed at the end.
 * Machine:  is called "fuzz" here, so that databases of one machine are read on every other.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/cluster/windows.h"
#include "compiler/show/gantt.h"
#include "compiler/trial/compare_stats.h"
#include "compiler/front/front.h"
#include "compiler/front/pack.h"
#include "compiler/wrap/kernel_text.h"
#include "fuzz.h"
#include "profiles/db/db_impl.h"
#include "runtime/base/intern.h"
#include "runtime/base/message.h"
#include "runtime/record/journal.h"
#include "runtime/subgraph/mapping_text.h"
#include "runtime/trace/trace.h"

#define MOST_NODES 64u                  /* of an image's graph that is planned */
#define SQL_STEPS 20000                 /* of SQLite's machine, for the statements of an input */

static char folder[64], file[96], learned[112], learned_file[144];
static struct fuzz_front sample;        /* the graph whose times are asked for */
static unsigned char *empty;            /* a new profile database */
static size_t empty_bytes;

/* The linker puts these in the place of the functions that ask the machine. */
void __wrap_dfw_machine_name(char *buffer, size_t size);
void __wrap_dfr_learn_machine(char *buffer, size_t size);

void __wrap_dfw_machine_name(char *buffer, size_t size)
{
    snprintf(buffer, size, "fuzz");
}

void __wrap_dfr_learn_machine(char *buffer, size_t size)
{
    snprintf(buffer, size, "fuzz");
}

/* ---- files ---- */

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
        fuzz_fail("%s cannot be written", path);
}

static void remove_files(void)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", file, suffixes[i]);
        unlink(path);
    }
    unlink(learned_file);
    snprintf(learned_file + strlen(learned_file), 5, ".bad");
    unlink(learned_file);
    learned_file[strlen(learned_file) - 4] = 0;
}

static void remove_folder(void)
{
    remove_files();
    rmdir(learned);
    rmdir(folder);
    fuzz_front_free(&sample);
    free(empty);
}

static const char sample_text[] =
    "param n = 64; arg seed: i32 = 1;\n"
    "kernel make(out v: f32[k]; seed: i32) cpu \"a.c\";\n"
    "kernel add(in a: f32[k], in b: f32[k], out c: f32[k]) cpu \"a.c\" gpu \"a.cu\";\n"
    "kernel show(in v: f32[k]) ordered cpu \"a.c\";\n"
    "graph main { a: f32[n] = make(seed); b: f32[n] = make(2); c: f32[2 * n] = make(3); d: f32[9] = make(4);\n"
    "    ab = add(a, b); cc = add(c, c); dd = add(d, d); show(ab); show(cc); show(dd); }\n";

static void read_empty(void)
{
    FILE *in = fopen(file, "rb");
    struct stat status;
    if (!in || fstat(fileno(in), &status) != 0)
        fuzz_fail("%s cannot be read", file);
    empty_bytes = (size_t)status.st_size;
    empty = malloc(empty_bytes + 1);
    if (!empty || fread(empty, 1, empty_bytes, in) != empty_bytes)
        fuzz_fail("%s cannot be read", file);
    fclose(in);
}

static void begin(void)
{
    struct df_error error = { "" };
    struct dfw_db *db;
    snprintf(folder, sizeof folder, "/dev/shm/dfc-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        fuzz_fail("no folder can be made in /dev/shm");
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(learned, sizeof learned, "%s.learned", file);
    snprintf(learned_file, sizeof learned_file, "%s/run.jsonl", learned);
    if (mkdir(learned, 0700) != 0)
        fuzz_fail("%s cannot be made", learned);
    if (dfw_db_open(file, true, &db, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    dfw_db_close(db);
    read_empty();
    remove_files();
    fuzz_front_run(&sample, (const uint8_t *)sample_text, strlen(sample_text));
    if (!sample.front)
        fuzz_fail("%s", sample.said);
    atexit(remove_folder);
}

/* ---- what a database says ---- */

static void check_times(const struct df_graph *graph, const struct df_times *times)
{
    struct df_platform platform;
    for (size_t i = 0; i < (size_t)times->n_classes * times->n_works; i++)
        if (times->time_s[i] < 0 || times->time_s[i] > DF_LIMIT_JOB_S)
            fuzz_fail("%g s is no time", times->time_s[i]);
    df_platform_default(&platform, 1);
    platform.units[0].workers = 2;
    fuzz_plan(graph, &platform, times);
}

/* The times that follow from what is known, which must pass through a pack. */
static void check_known(const struct dfw_known *known, const struct df_graph *graph)
{
    struct df_error error = { "" };
    struct df_times times;
    struct dfw_known read;
    unsigned char *bytes, *again;
    size_t size, size_again;
    if (dfw_known_times(known, graph, &times, &error) != DF_OK || dfw_known_pack(known, &bytes, &size, &error) != DF_OK)
        fuzz_fail("no times: %s", error.text);
    check_times(graph, &times);
    dfr_times_free(&times);
    if (dfw_known_open(bytes, size, &read, &error) != DF_OK)
        fuzz_fail("a pack of times is refused: %s", error.text);
    if (dfw_known_pack(&read, &again, &size_again, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    if (size != size_again || memcmp(bytes, again, size) != 0)
        fuzz_fail("a pack of times reads back as something else");
    dfw_known_free(&read);
    free(bytes);
    free(again);
}

/* What is written of a platform must be read, and be written again as the same text. */
static void check_platform(const struct df_platform *platform)
{
    struct df_platform read = *platform;
    struct df_times times;
    struct df_error error = { "" };
    char *text[2] = { NULL, NULL };
    size_t size[2];
    for (unsigned i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text[i], &size[i]);
        struct dfl_sink *sink = dfl_sink_new(stderr);
        if (!out || !sink || dfw_platform_print_report(out, &read, NULL) != DF_OK || fclose(out) != 0)
            fuzz_fail("no memory");
        write_file(file, text[i], size[i]);
        if (!dfc_platform_read(sink, file, NULL, 0, &read))
            fuzz_fail("what was written of a platform is refused: %s", text[i]);
        dfl_sink_free(sink);
    }
    if (strcmp(text[0], text[1]) != 0)
        fuzz_fail("a platform reads back as another one: %s%s", text[0], text[1]);
    free(text[0]);
    free(text[1]);
    if (dfw_known_times(&(struct dfw_known){ 0 }, sample.front->graph, &times, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    fuzz_plan(sample.front->graph, platform, &times);
    dfr_times_free(&times);
}

static void must_fail_in_words(int status, const struct df_error *error)
{
    if ((status != DF_E_IO && status != DF_E_FORMAT) || !error->text[0])
        fuzz_fail("status %d: %s", status, error->text);
    fuzz_words(error->text, strlen(error->text));
}

static int found_group(void *arg, const struct dfw_group *group, struct df_error *error)
{
    struct dfw_points points;
    int status = dfw_points_load(arg, group->device, group->variant, group->kernel, group->hash, &points, error);
    if (status == DF_OK)
        dfw_points_free(&points);
    return status;
}

static void found_key(void *arg, const struct dfw_key *key)
{
    *(size_t *)arg += strlen(key->work.dims);
}

static void ask_database(struct dfw_db *db)
{
    struct df_error error = { "" };
    struct df_platform platforms[2];
    bool found[2] = { false, false };
    size_t length = 0;
    for (unsigned emulated = 0; emulated < 2; emulated++) {
        struct dfw_known known;
        int status = dfw_known_load(db, sample.front->graph, emulated ? DFW_EMULATOR : "GPU", emulated, &known, &error);
        if (status == DF_OK) {
            check_known(&known, sample.front->graph);
            dfw_known_free(&known);
        } else {
            must_fail_in_words(status, &error);
        }
        status = dfw_platform_load_for(db, emulated, &platforms[emulated], &found[emulated], &error);
        if (status != DF_OK)
            must_fail_in_words(status, &error);
    }
    int status = dfw_groups_each(db, found_group, db, &error);
    if (status != DF_OK)
        must_fail_in_words(status, &error);
    status = dfw_sample_each(db, found_key, &length, &error);
    if (status != DF_OK)
        must_fail_in_words(status, &error);
    dfw_db_close(db);
    remove_files();
    for (unsigned emulated = 0; emulated < 2; emulated++)
        if (found[emulated])
            check_platform(&platforms[emulated]);
}

static void open_database(void)
{
    struct df_error error = { "" };
    struct dfw_db *db = NULL;
    int status = dfw_db_open(file, false, &db, &error);
    if (status != DF_OK)
        must_fail_in_words(status, &error);
    else if (db)
        ask_database(db);
}

/* ---- the readers ---- */

static void read_database(const uint8_t *data, size_t size)
{
    write_file(file, data, size);
    open_database();
}

/* Rows are what is tried here. What could keep SQLite itself busy, or bring in other files, is refused. */
static int allow(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)arg, (void)b, (void)c, (void)d;
    switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return a && strncmp(a, "sqlite_", 7) == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_TRANSACTION:
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int enough(void *arg)
{
    (void)arg;
    return 1;
}

static void read_rows(const uint8_t *data, size_t size)
{
    char *sql = (char *)fuzz_copy(data, size);
    sqlite3 *db;
    write_file(file, empty, empty_bytes);
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fuzz_fail("%s", sqlite3_errmsg(db));
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 16);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 1 << 14);
    sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_progress_handler(db, SQL_STEPS, enough, NULL);
    for (char *rest = sql, *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        sqlite3_exec(db, line, NULL, NULL, NULL); /* a line that is wrong does not keep back the next */
    sqlite3_close(db);
    free(sql);
    open_database();
}

static void read_platform(const uint8_t *data, size_t size)
{
    struct df_platform platform;
    char *said = NULL;
    size_t n_said;
    FILE *out = open_memstream(&said, &n_said);
    struct dfl_sink *sink = out ? dfl_sink_new(out) : NULL;
    if (!sink)
        fuzz_fail("no memory");
    write_file(file, data, size);
    bool good = dfc_platform_read(sink, file, NULL, 0, &platform);
    dfl_sink_summary(sink);
    fclose(out);
    if (good != (dfl_sink_errors(sink) == 0) || (!good && n_said == 0))
        fuzz_fail("a platform is %s with %u errors", good ? "taken" : "refused", dfl_sink_errors(sink));
    fuzz_words(said, n_said);
    if (good)
        check_platform(&platform);
    dfl_sink_free(sink);
    free(said);
}

static void read_known(const uint8_t *data, size_t size)
{
    struct df_error error = { "" };
    struct dfw_known known;
    int status = dfw_known_open(data, size, &known, &error);
    if (status != DF_OK) {
        must_fail_in_words(status, &error);
        return;
    }
    check_known(&known, sample.front->graph);
    dfw_known_free(&known);
}

static void read_pack(const uint8_t *data, size_t size)
{
    struct df_error error = { "" };
    struct dfc_pack pack;
    int status = dfc_pack_open(data, size, &pack, &error);
    if (status != DF_OK) {
        must_fail_in_words(status, &error);
        return;
    }
    size_t length = 0;
    for (size_t i = 0; i < pack.n_files; i++)
        length += strlen(pack.files[i].path) + pack.files[i].length;
    if (length > size)
        fuzz_fail("a pack of %zu bytes has files of %zu", size, length);
    dfc_pack_close(&pack);
}

static void read_image(const uint8_t *data, size_t size)
{
    struct df_error error = { "" };
    struct dfr_image image;
    struct df_times times;
    size_t size_again;
    unsigned char *bytes = fuzz_copy(data, size);
    int status = dfr_image_open(bytes, size, NULL, 0, &image, &error);
    if (status == DF_OK) {
        free(fuzz_image(&image, &size_again, NULL));
        if (image.known)
            read_known(image.known, image.known_bytes);
        if (image.sources)
            read_pack(image.sources, image.source_bytes);
        if (image.graph->n_nodes <= MOST_NODES) {
            fuzz_times(image.graph, &times);
            check_times(image.graph, image.plan ? &image.plan->times : &times);
            dfr_times_free(&times);
        }
        fuzz_image_close(&image);
    } else {
        must_fail_in_words(status, &error);
    }
    free(bytes);
}

static void read_learned(const uint8_t *data, size_t size)
{
    write_file(file, empty, empty_bytes);
    write_file(learned_file, data, size);
    open_database();
}

static void read_stats(const uint8_t *data, size_t size)
{
    char *text = (char *)fuzz_copy(data, size);
    struct dfc_run_stats stats[2];
    struct dfc_policy_stats policy;
    if (dfc_run_stats_read(text, &stats[0])) {
        stats[1] = stats[0];
        dfc_policy_stats_of("gp", stats, 2, &policy);
        dfc_policy_stats_rank(&policy, 1);
    }
    free(text);
}

/* Whether the file is JSON with so many events. */
static bool has_events(sqlite3_int64 n)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    FILE *in = fopen(file, "rb");
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int c;
    while (in && out && (c = getc(in)) != EOF)
        putc(c, out);
    if (!in || fclose(in) != 0 || !out || fclose(out) != 0 || sqlite3_open(":memory:", &db) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT json_valid(?1) AND json_array_length(?1, '$.traceEvents') = ?2", -1, &s, NULL) !=
            SQLITE_OK)
        fuzz_fail("%s cannot be read", file);
    sqlite3_bind_text(s, 1, text, (int)length, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, n);
    bool good = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1;
    if (!good)
        fprintf(stderr, "%s", text);
    sqlite3_finalize(s);
    sqlite3_close(db);
    free(text);
    return good;
}

/* One row of jobs and one of copies. The first half of the bytes is their names, each byte of the other is an event. */
static void write_trace(const uint8_t *data, size_t size)
{
    struct df_error error = { "" };
    struct dfr_trace *trace;
    const struct df_graph *graph = sample.front->graph;
    char *name = (char *)fuzz_copy(data, size / 2);
    const char *const unit_names[] = { "host", name };
    sqlite3_int64 n = 2;                /* the units' names */
    if (dfr_trace_create(2, 16, &trace, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    for (uint32_t r = 0; r < 2; r++) {
        struct dfr_trace_row *row = dfr_trace_row(trace, r);
        row->what = r ? "h2d" : "job";
        row->process = r;
        snprintf(row->name, sizeof row->name, "%s", name);
        for (size_t i = size / 2 + r; i < size; i += 2)
            dfr_trace_add(row, data[i] % (r ? graph->n_values : graph->n_nodes), (int64_t)i - 3, (double)i,
                          data[i] + 1e6, data[i]);
        n += *name ? 2 * (sqlite3_int64)(row->n ? row->n : 1) + (sqlite3_int64)row->n + (row->dropped > 0) : 0; /* all overlap, so each is a row */
    }
    if (dfr_trace_write(trace, graph, unit_names, 2, 1.5, file, &error) != DF_OK)
        fuzz_fail("%s", error.text);
    if (!has_events(n))
        fuzz_fail("the trace is no JSON of %lld events", (long long)n);
    dfr_trace_destroy(trace);
    free(name);
}

/* ---- readers that tell of errors on stderr ---- */

static FILE *real_stderr;
static char *said;
static size_t n_said;

static void begin_saying(void)
{
    real_stderr = stderr;
    if (!(stderr = open_memstream(&said, &n_said)))
        fuzz_fail("no memory");
}

/* What fails says why, in words. */
static void end_saying(bool good)
{
    fclose(stderr);
    stderr = real_stderr;
    if (!good && n_said == 0)
        fuzz_fail("a file is refused without a message");
    fuzz_words(said, n_said);
    free(said);
    said = NULL;
}

static void check_picture(const struct dfc_trace *trace, bool (*draw)(const struct dfc_trace *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        fuzz_fail("no memory");
    const bool drawn = draw(trace, out);
    fclose(out);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
            fuzz_fail("a picture holds byte 0x%02x", (unsigned char)text[i]);
    if (drawn && (strstr(text, "=\"nan") || strstr(text, "=\"-nan") || strstr(text, "=\"inf") || strstr(text, "=\"-inf")))
        fuzz_fail("a picture has a place that is no number: %s", text);
    free(text);
}

static bool draw_trace(const struct dfc_trace *trace, FILE *out)
{
    return dfc_trace_draw((struct dfc_trace *)trace, out);
}

static bool draw_windows(const struct dfc_trace *trace, FILE *out)
{
    return dfc_windows_draw(trace, "t.json", out);
}

static bool print_windows(const struct dfc_trace *trace, FILE *out)
{
    return dfc_windows_csv(trace, "t.json", out);
}

static void read_trace(const uint8_t *data, size_t size)
{
    write_file(file, data, size);
    begin_saying();
    struct dfc_trace *trace = dfc_trace_read(file);
    if (trace) {
        check_picture(trace, draw_windows);
        check_picture(trace, print_windows);
        check_picture(trace, draw_trace);
        dfc_trace_free(trace);
    }
    end_saying(trace);
}

/* The first byte says whether processors have names of their own. */
static void read_map(const uint8_t *data, size_t size)
{
    static const char *const stages[] = { "load", "segment", "extract", "rank", "keep" }, *const processors[] = { "fast.0", "fast.1", "slow.0" };
    static const bool serial[] = { false, false, true, false, false }, optional[] = { true, false, false, false, true };
    const bool free_names = size > 0 && data[0] & 1, all = size > 0 && data[0] & 2;
    const struct dfr_map_words words = { .stages = stages, .n_stages = 5, .serial = all ? NULL : serial, .optional = all ? NULL : optional,
                                         .processors = free_names ? NULL : processors, .n_processors = 3, .too_many = "there are %u" };
    struct dfr_map_read read;
    struct dfr_map_wrong wrong;
    char *text = (char *)fuzz_copy(data + (size > 0), size - (size > 0));
    size -= size > 0;
    if (dfr_map_read(&words, text, size, &read, &wrong)) {
        for (uint32_t s = 0; s < 5; s++)
            if (read.group_of_stage[s] == DFR_NO_GROUP ? all || !optional[s] : read.group_of_stage[s] >= read.n_groups)
                fuzz_fail("stage %u is in group %u of %u", s, read.group_of_stage[s], read.n_groups);
        for (uint32_t p = 0; p < (free_names ? read.n_named : 3); p++)
            if (read.group_of[p] != DFR_NO_GROUP && read.group_of[p] >= read.n_groups)
                fuzz_fail("processor %u is in group %u of %u", p, read.group_of[p], read.n_groups);
    } else {
        if (!wrong.message[0] || wrong.line < 1 || wrong.col < 1 || wrong.end_col < wrong.col)
            fuzz_fail("%u:%u-%u: '%s'", wrong.line, wrong.col, wrong.end_col, wrong.message);
        begin_saying();
        dfr_message_print(stderr, "error: %s", wrong.message);
        dfr_message_print(stderr, "hint: %s", wrong.hint);
        end_saying(false);
    }
    free(text);
}

/* Writes the lines with their check numbers. */
static void write_journal(const uint8_t *data, size_t size)
{
    FILE *out = fopen(file, "wb");
    char *text = (char *)fuzz_copy(data, size), *at = text;
    if (!out)
        fuzz_fail("%s cannot be written", file);
    for (size_t length; at < text + size; at += length + 1) {
        const char *end = memchr(at, '\n', (size_t)(text + size - at));
        length = end ? (size_t)(end - at) : (size_t)(text + size - at);
        if (*at == '!')
            fprintf(out, "%.*s\n", (int)length - 1, at + 1);
        else if (fwrite(at, 1, length, out) == length)
            fprintf(out, " #%016llx\n", (unsigned long long)dfr_hash(1, at, length));
    }
    fclose(out);
    free(text);
}

/* A journal that can be gone on with is one that can be gone on with again. */
static void read_journal(const uint8_t *data, size_t size)
{
    struct dfr_input files[] = { { (char *)"a.png", 10, 100, false }, { (char *)"b.png", 20, 200, false } };
    struct dfr_fact items[] = { { (char *)"arg", (char *)"seed", (char *)"7" } };
    const struct dfr_inputs inputs = { .files = files, .n = 2 };
    const struct dfr_facts facts = { .items = items, .n = 1 };
    int before = DF_E_REFUSED;
    write_journal(data, size);
    for (unsigned i = 0; i < 3; i++) {  /* as it is; again; anew */
        struct df_error error = { "" };
        struct dfr_journal journal;
        const struct dfr_journal_run run = { .resume = i < 2, .accept = size & 1, .program = 0x1234, .inputs = &inputs, .facts = &facts };
        const int status = dfr_journal_open(&journal, file, &run, &error);
        if (status == DF_OK) {
            if (journal.done < 0 || journal.epoch < 1)
                fuzz_fail("%lld waves are done by process %lld", (long long)journal.done, (long long)journal.epoch);
            for (size_t i_file = 0; i_file < journal.files.n; i_file++) {
                const struct dfr_written *f = &journal.files.items[i_file];
                if (f->from < 0 || f->bytes < f->from || f->head_bytes < 0 || f->tokens < 0)
                    fuzz_fail("a file has the bytes from %lld to %lld", (long long)f->from, (long long)f->bytes);
            }
            struct df_error why = { "" };
            if (dfr_journal_check_files(&journal, &why) != DF_OK)
                fuzz_words(why.text, strlen(why.text));
            dfr_journal_close(&journal);
        } else if (i == 1 && before == DF_OK) {
            fuzz_fail("a journal is taken, and then refused: %s", error.text);
        } else {
            fuzz_words(error.text, strlen(error.text));
        }
        before = status;
    }
}

static void read_object(const uint8_t *data, size_t size)
{
    struct dfc_prototypes prototypes;
    char why[DFC_WHY_BYTES], *text = NULL;
    size_t length;
    const struct dfc_wrapped_file wrapped = { .path = "old.o" };
    if (!dfc_prototypes_read)
        return;
    write_file(file, data, size);
    begin_saying();
    const bool good = dfc_prototypes_read(file, false, &prototypes);
    end_saying(good);
    FILE *out = open_memstream(&text, &length);
    if (!out)
        fuzz_fail("no memory");
    for (const struct dfc_function *f = good ? prototypes.functions : NULL; f; f = f->next) {
        const char *refused = dfc_kernel_refused(f, &wrapped, why);
        if (refused)
            dfc_kernel_print_refused(out, f, &wrapped, refused, prototypes.functions);
        else if (!dfc_kernel_print(out, f, &wrapped))
            fuzz_fail("no memory");
    }
    fclose(out);
    free(text);
    dfc_prototypes_free(&prototypes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *, size_t) = { read_database, read_rows,  read_platform,
                                                                read_image,    read_learned, read_stats,
                                                                read_pack,     read_known,   write_trace,
                                                                read_trace,    read_map,     read_journal,
                                                                read_object };
    if (!sample.front)
        begin();
    if (size == 0)
        return 0;
    const char *reader = getenv("FUZZ_READER");
    readers[(uint8_t)((reader ? (uint8_t)reader[0] : data[0]) - '0') % (sizeof readers / sizeof *readers)](data + 1, size - 1);
    remove_files();
    return 0;
}
