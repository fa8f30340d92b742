/* journal.c - the journal of a run that can be resumed (journal.h), for resumable.c; spool.c looks up the inputs of an earlier run. */
#include "runtime/record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"
#include "runtime/base/text.h"
#include "runtime/df_io.h"
#include "runtime/threads/clock.h"

#ifndef DFC_VERSION
#define DFC_VERSION "of unknown version"
#endif

#define FIRST "dfc journal %d program "
enum { VERSION = 3, CHECK_BYTES = 18 }; /* " #" and 16 digits */

/* ---- lines ---- */

static uint64_t check_of(const char *line, size_t n)
{
    return dfr_hash(1, line, n);
}

/* A text of several lines that is written at once. */
struct lines {
    FILE *file;
    char *text;
    size_t size, begin;                 /* of the text; where the line begins that is being printed */
};

static bool lines_open(struct lines *l)
{
    *l = (struct lines){ 0 };
    l->file = open_memstream(&l->text, &l->size);
    return l->file;
}

static void line_end(struct lines *l)
{
    fflush(l->file);
    fprintf(l->file, " #%016" PRIx64 "\n", check_of(l->text + l->begin, l->size - l->begin));
    fflush(l->file);
    l->begin = l->size;
}

static void line(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(struct lines *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(l->file, format, list);
    va_end(list);
    line_end(l);
}

/* The length of the right line at `text`, which has n bytes, without its check and line break. -1: it is none. */
static ssize_t line_length(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);
    char digits[17] = "";
    uint64_t check;
    if (!end || end - text < CHECK_BYTES || memcmp(end - CHECK_BYTES, " #", 2) != 0)
        return -1;
    memcpy(digits, end - 16, 16);       /* the text has no 0 at its end, for which sscanf() would look */
    if (sscanf(digits, "%16" SCNx64, &check) != 1)
        return -1;
    return check_of(text, (size_t)(end - text) - CHECK_BYTES) == check ? end - text - CHECK_BYTES : -1;
}

/* ---- reading ---- */

struct reading {
    struct dfr_journal *j;
    uint64_t program;
    struct dfr_inputs inputs, accepted; /* accepted: of lines `input` that no line `accepted` has followed yet */
    struct dfr_facts facts;
    struct dfr_written_list next;       /* files of lines that no record has followed yet */
    int64_t limit;                      /* records of more waves are passed over */
    struct dfr_written_list whole;      /* whole files of records, each once; wave: INT64_MAX if several waves have written it */
    struct dfr_table by_path;           /* of these */
    bool begun, no_memory;
    size_t good;                        /* bytes up to the last line that stands for itself */
};

/* Frees what was read; the counts stay. */
static void forget(struct reading *r)
{
    dfr_written_free(&r->next);
    dfr_written_free(&r->whole);
    dfr_table_free(&r->by_path);
    dfr_inputs_free(&r->inputs);
    dfr_inputs_free(&r->accepted);
    dfr_facts_free(&r->facts);
}

static bool no_memory(struct reading *r)
{
    r->no_memory = true;
    return false;
}

/* Adds the input to one of r's two lists. */
static bool read_input(struct reading *r, struct dfr_inputs *inputs, const char *text)
{
    struct dfr_input f;
    const int status = dfr_input_read(text, &f);
    if (status == DF_OK && DFR_ARRAY_ROOM(inputs->files, inputs->n, inputs->room)) {
        inputs->files[inputs->n++] = f;
        return true;
    }
    free(f.path);
    return status == DF_E_FORMAT ? false : no_memory(r);
}

static bool read_file(struct reading *r, enum dfr_written_line kind, const char *text)
{
    struct dfr_written f;
    const int status = dfr_written_read(text, kind, &f);
    return status == DF_E_FORMAT ? false : (status == DF_OK && dfr_written_add(&r->next, &f)) || no_memory(r);
}

static bool is_path(const void *all, uint32_t id, const void *path)
{
    return !strcmp(((const struct dfr_written *)all)[id].path, path);
}

/* A later line for a path replaces an earlier one. */
static bool take_whole(struct reading *r, const struct dfr_written *file)
{
    struct dfr_written *all = r->whole.items;
    const uint32_t hash = dfr_hash_fold(dfr_hash(0, file->path, strlen(file->path)));
    uint32_t id;
    if (dfr_table_find(&r->by_path, hash, is_path, all, file->path, &id)) {
        const int64_t wave = all[id].wave == file->wave ? file->wave : INT64_MAX;
        free(all[id].path);
        all[id] = *file;
        all[id].wave = wave;
        return true;
    }
    if (!dfr_table_reserve(&r->by_path)) {
        free(file->path);
        return false;
    }
    if (!dfr_written_add(&r->whole, file))
        return false;
    dfr_table_put(&r->by_path, hash, (uint32_t)r->whole.n - 1);
    return true;
}

/* Takes a record, which has more waves than the one before it, or fewer if it is a line `back`. */
static bool read_record(struct reading *r, int64_t waves)
{
    struct dfr_journal *j = r->j;
    struct dfr_written_list taken = r->next;
    bool good = true;
    r->next = (struct dfr_written_list){ 0 };
    if (waves > r->limit) {
        dfr_written_free(&taken);
        return true;
    }
    dfr_written_free(&j->files);
    j->done = waves;
    for (size_t i = 0; i < taken.n; i++)
        good &= taken.items[i].appended ? dfr_written_add(&j->files, &taken.items[i]) : take_whole(r, &taken.items[i]);
    free(taken.items);
    return good || no_memory(r);
}

/* A line that says how far the run is. */
static bool read_state(struct reading *r, const char *text)
{
    struct dfr_journal *j = r->j;
    int64_t waves, epoch;
    if (sscanf(text, "run %" SCNd64 " %" SCNd64, &epoch, &waves) == 2) {
        if (epoch < 1 || epoch == INT64_MAX)
            return false;
        j->epoch = epoch;
        return waves == j->done || waves > r->limit;
    }
    if (sscanf(text, "accepted %" SCNd64, &epoch) == 1) {
        dfr_inputs_free(&r->inputs);
        r->inputs = r->accepted;
        r->accepted = (struct dfr_inputs){ 0 };
        return true;
    }
    if (sscanf(text, "done %" SCNd64 " %" SCNd64, &waves, &epoch) == 2)
        return waves >= j->done && read_record(r, waves);
    if (sscanf(text, "back %" SCNd64 " %" SCNd64, &waves, &epoch) == 2) {
        j->all = false;
        return (waves <= j->done || waves > r->limit) && read_record(r, waves);
    }
    if (sscanf(text, "all %" SCNd64, &waves) == 1 && waves > r->limit)
        return true;
    if (sscanf(text, "all %" SCNd64, &waves) == 1)
        return j->all = waves == j->done;
    if (sscanf(text, "end %" SCNd64, &waves) == 1)
        return j->ended = j->all && waves == j->done;
    return false;
}

/* Interprets a line whose check number is right. Returns false if it cannot follow the lines before it. */
static bool read_line(struct reading *r, const char *text, bool first, bool *stands)
{
    *stands = false;
    int version;
    if (first)
        return sscanf(text, FIRST "%" SCNx64, &version, &r->program) == 2 && version >= 1 && version <= VERSION;
    if (!strcmp(text, "begun")) {
        r->j->inputs_digest = dfr_inputs_digest(&r->inputs);
        return *stands = r->begun = true;
    }
    if (!strncmp(text, "input ", 6))
        return read_input(r, r->begun ? &r->accepted : &r->inputs, text + 6);
    if (!r->begun)
        return !strncmp(text, "fact ", 5) && dfr_fact_read(&r->facts, text + 5);
    if (!strncmp(text, "out ", 4))
        return read_file(r, DFR_LINE_OUT, text);
    if (!strncmp(text, "file ", 5))
        return read_file(r, DFR_LINE_FILE, text);
    return *stands = read_state(r, text);
}

static int damaged(const struct dfr_journal *j, size_t number, struct df_error *error)
{
    return dfr_error(error, DF_E_REFUSED, "line %zu of the journal '%s' is damaged; if it is removed, the run begins anew", number, j->path);
}

/* Returns whether these bytes have valid lines of two records. A crash may leave valid lines of the last record, of which earlier lines were not written. */
static bool has_two_records(const char *text, size_t n)
{
    const char *end = text + n, *at = text;
    unsigned found = 0;
    while (found < 2 && (at = memchr(at, '\n', (size_t)(end - at))) && ++at < end)
        found += line_length(at, (size_t)(end - at)) >= 0 && strncmp(at, "out ", 4) != 0 && strncmp(at, "file ", 5) != 0 && strncmp(at, "input ", 6) != 0;
    return found == 2;
}

/* Reads lines until one is wrong. */
static int read_lines(struct reading *r, char *text, size_t n, struct df_error *error)
{
    size_t at = 0, number = 1;
    ssize_t length;
    while (at < n && (length = line_length(text + at, n - at)) >= 0) {
        bool stands;
        text[at + (size_t)length] = '\0';
        const bool good = read_line(r, text + at, at == 0, &stands);
        text[at + (size_t)length] = ' '; /* it may be read once more */
        if (!good)
            return r->no_memory ? dfr_error_memory(error) : damaged(r->j, number, error);
        at += (size_t)length + CHECK_BYTES + 1;
        number++;
        if (stands)
            r->good = at;
    }
    return at < n && has_two_records(text + at, n - at) ? damaged(r->j, number, error) : DF_OK;
}

/* ---- is it this program's? ---- */

/* Returns the input with this path, or NULL. Two runs find their inputs in the same order, so the search starts at *next and sets it after the input found:
 * looking up a list of n inputs in order takes O(n). */
static const struct dfr_input *find_input(const struct dfr_inputs *inputs, const char *path, size_t *next)
{
    for (size_t i = 0; i < inputs->n; i++) {
        const size_t at = (*next + i) % inputs->n;
        if (!strcmp(inputs->files[at].path, path)) {
            *next = at + 1;
            return &inputs->files[at];
        }
    }
    return NULL;
}

/* The places where two lists of inputs differ, one after the other. */
struct changes {
    const struct dfr_inputs *then, *now;
    size_t at, next;
};

/* Returns whether there is one more: then or now is NULL if the input was read at one time only. */
static bool next_change(struct changes *c, const struct dfr_input **then, const struct dfr_input **now)
{
    while (c->at < c->then->n + c->now->n) {
        const size_t i = c->at++, n = c->then->n;
        c->next = i == n ? 0 : c->next;
        *then = i < n ? &c->then->files[i] : find_input(c->then, c->now->files[i - n].path, &c->next);
        *now = i < n ? find_input(c->now, (*then)->path, &c->next) : &c->now->files[i - n];
        if (i < n ? !*now || (*now)->bytes != (*then)->bytes || (*now)->changed_ns != (*then)->changed_ns : !*then)
            return true;
    }
    return false;
}

#define ACCEPT "; --accept-changed goes on with the inputs as they are now"

static int refuse_change(const char *journal, const struct dfr_input *then, const struct dfr_input *now, struct df_error *error)
{
    if (!now)
        return dfr_error(error, DF_E_REFUSED, "the run of the journal '%s' read '%s', which is not there or not read any more" ACCEPT, journal, then->path);
    if (!then)
        return dfr_error(error, DF_E_REFUSED, "'%s' is read now, and was not by the run of the journal '%s'" ACCEPT, now->path, journal);
    return dfr_error(error, DF_E_REFUSED, "'%s' has changed since the run of the journal '%s' began (%lld bytes then, %lld now)" ACCEPT,
                     then->path, journal, (long long)then->bytes, (long long)now->bytes);
}

/* Refuses changed inputs, or accepts them and says how they differ, a line for each, in j->accepted. */
static int check_inputs(const struct reading *r, const struct dfr_journal_run *run, struct df_error *error)
{
    struct changes changes = { .then = &r->inputs, .now = run->inputs };
    const struct dfr_input *then, *now;
    size_t size;
    if (!next_change(&changes, &then, &now))
        return DF_OK;
    if (!run->accept)
        return refuse_change(r->j->path, then, now, error);
    FILE *out = open_memstream(&r->j->accepted, &size);
    if (!out)
        return dfr_error_memory(error);
    do {
        if (!now)
            fprintf(out, "'%.200s' is not read any more\n", then->path);
        else if (!then)
            fprintf(out, "'%.200s' is read now\n", now->path);
        else
            fprintf(out, "'%.200s' has changed (%lld bytes then, %lld now)\n", then->path, (long long)then->bytes, (long long)now->bytes);
    } while (next_change(&changes, &then, &now));
    return dfr_text_close(out, &r->j->accepted) ? DF_OK : dfr_error_memory(error);
}

static int check_program(const struct reading *r, const struct dfr_journal_run *run, struct df_error *error)
{
    char what[1024];
    if (r->program != run->program && r->facts.n == 0)
        return dfr_error(error, DF_E_REFUSED, "the journal '%s' is of another program, or of other arguments or sizes (it does not say which); if it is "
                         "removed, the run begins anew", r->j->path);
    if (r->program != run->program && run->facts && dfr_facts_differ(&r->facts, run->facts, DFR_THEN_NOW, what, sizeof what))
        return dfr_error(error, DF_E_REFUSED, "the journal '%s' is of another run: %s; if it is removed, the run begins anew", r->j->path, what);
    if (r->program != run->program)
        return dfr_error(error, DF_E_REFUSED, "the journal '%s' is of another program: its nodes, their order or their constants differ; if it is removed, "
                         "the run begins anew", r->j->path);
    return check_inputs(r, run, error);
}

/* ---- writing ---- */

static int cannot(const struct dfr_journal *j, const char *what, struct df_error *error)
{
    return dfr_error(error, DF_E_IO, "cannot %s the journal '%s': %s", what, j->path, strerror(errno));
}

/* Is the file as this process has left it? */
static int check_fence(const struct dfr_journal *j, struct df_error *error)
{
    struct stat own, there;
    if (fstat(j->fd, &own) != 0)
        return cannot(j, "read", error);
    if (own.st_size == j->size && stat(j->path, &there) == 0 && there.st_ino == own.st_ino && there.st_dev == own.st_dev)
        return DF_OK;
    return dfr_error(error, DF_E_REFUSED, "another process has gone on with the journal '%s'; this one, number %lld, has written its last record",
                     j->path, (long long)j->epoch);
}

/* Appends the lines. Beyond `ulimit -f` that fails with EFBIG instead of SIGXFSZ. */
static bool write_lines(const struct dfr_journal *j, const struct lines *l)
{
    struct dfr_output signals = { .file = NULL };
    size_t at = 0;
    ssize_t n = 0;
    dfr_output_resume(&signals);
    while (at < l->size && (n = pwrite(j->fd, l->text + at, l->size - at, (off_t)j->size + (off_t)at)) > 0)
        at += (size_t)n;
    bool good = at == l->size && fdatasync(j->fd) == 0;
    int why = errno;
    dfr_output_pause(&signals);
    errno = why;
    return good;
}

/* Writes the lines at once, and syncs them. */
static int append(struct dfr_journal *j, struct lines *l, struct df_error *error)
{
    int status = fclose(l->file) == 0 ? check_fence(j, error) : dfr_error_memory(error);
    if (status == DF_OK && !write_lines(j, l)) {
        status = cannot(j, "write", error);
        if (ftruncate(j->fd, (off_t)j->size) != 0)
            return status;              /* half of a line stays, and is cut off when the journal is opened */
    } else if (status == DF_OK) {
        j->size += (int64_t)l->size;
    }
    free(l->text);
    return status;
}

static void write_inputs(struct lines *l, const struct dfr_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        fputs("input ", l->file);
        dfr_input_write(l->file, &inputs->files[i]);
        line_end(l);
    }
}

static int write_accepted(struct dfr_journal *j, const struct dfr_inputs *inputs, struct df_error *error)
{
    struct lines l;
    if (!lines_open(&l))
        return dfr_error_memory(error);
    write_inputs(&l, inputs);
    line(&l, "accepted %" PRId64, j->epoch);
    return append(j, &l, error);
}

static int write_head(struct dfr_journal *j, const struct dfr_journal_run *run, struct df_error *error)
{
    struct lines l;
    if (!lines_open(&l))
        return dfr_error_memory(error);
    line(&l, FIRST "%016" PRIx64, VERSION, run->program);
    for (size_t i = 0; run->facts && i < run->facts->n; i++) {
        fputs("fact ", l.file);
        dfr_fact_write(l.file, &run->facts->items[i]);
        line_end(&l);
    }
    write_inputs(&l, run->inputs);
    line(&l, "begun");
    j->inputs_digest = dfr_inputs_digest(run->inputs);
    return append(j, &l, error);
}

static void write_file(struct lines *l, const struct dfr_written *file)
{
    dfr_written_line(l->file, file->appended ? DFR_LINE_OUT : DFR_LINE_FILE, file);
    line_end(l);
}

/* The record that the run goes back to, once more. */
static int write_back(struct dfr_journal *j, struct df_error *error)
{
    struct lines l;
    if (!lines_open(&l))
        return dfr_error_memory(error);
    for (size_t i = 0; i < j->files.n; i++)
        write_file(&l, &j->files.items[i]);
    line(&l, "back %" PRId64 " %" PRId64, j->done, j->epoch);
    return append(j, &l, error);
}

static int write_state(struct dfr_journal *j, const char *what, int64_t a, int64_t b, struct df_error *error)
{
    struct lines l;
    if (!lines_open(&l))
        return dfr_error_memory(error);
    line(&l, "%s %" PRId64 " %" PRId64, what, a, b);
    return append(j, &l, error);
}

/* ---- opening ---- */

/* Another process may have the file for so long. Some file systems cannot lock. */
static int lock(struct dfr_journal *j, double seconds, struct df_error *error)
{
    const double until_s = dfr_clock_s() + seconds;
    while (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (dfr_clock_s() >= until_s)
            return dfr_error(error, DF_E_REFUSED, "another process is at work with the journal '%s'", j->path);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    return DF_OK;
}

static int read_whole(struct dfr_journal *j, char **text, size_t *n, struct df_error *error)
{
    struct stat status;
    if (fstat(j->fd, &status) == 0 && !S_ISREG(status.st_mode))
        return dfr_error(error, DF_E_REFUSED, "'%s' cannot be a journal: it is no regular file", j->path);
    j->size = status.st_size;
    const int rc = dfr_read_all(j->fd, text, n, error);
    return rc == DF_E_IO ? cannot(j, "read", error) : rc;
}

/* Could these bytes be the beginning of a journal whose first lines were not written to their end? */
static int check_head(const struct dfr_journal *j, const char *text, size_t n, struct df_error *error)
{
    static const char begin[] = "dfc journal ", program[] = " program ";
    const size_t length = sizeof begin - 1;
    size_t at = length;
    int version = 0;
    if (strncmp(text, begin, n < length ? n : length) != 0)
        return dfr_error(error, DF_E_REFUSED, "'%s' is no journal", j->path);
    for (; at < n && text[at] >= '0' && text[at] <= '9' && version < 100000; at++)
        version = 10 * version + text[at] - '0';
    if (at >= n)
        return DF_OK;
    if (version < 1 || strncmp(text + at, program, n - at < sizeof program - 1 ? n - at : sizeof program - 1) != 0)
        return dfr_error(error, DF_E_REFUSED, "'%s' is no journal", j->path);
    return version <= VERSION ? DF_OK : dfr_error(error, DF_E_REFUSED, "the journal '%s' is of version %d, which a newer dfc writes; this program, made by dfc "
                                                  DFC_VERSION ", reads versions up to %d: make the program again with that dfc", j->path, version, VERSION);
}

/* ---- whole files of waves that are done ---- */

/* Is it there as the journal says? */
static bool is_as_written(const struct dfr_written *f)
{
    struct df_error why;
    struct stat status;
    struct dfr_content content;
    if (stat(f->path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != f->bytes)
        return false;
    return dfr_changed_ns(&status) == f->changed_ns ||
           (dfr_content_digest(f->path, 0, f->bytes, &content, &why) == DF_OK && content.n == f->bytes && content.digest == f->digest);
}

/* Returns the first wave whose file is missing or has changed, and names the file in j->redone. INT64_MAX: none. */
static int64_t find_lost(struct reading *r)
{
    const struct dfr_written *all = r->whole.items, *first = NULL;
    char more[48] = "";
    unsigned n = 0;
    for (size_t i = 0; i < r->whole.n; i++)
        if (all[i].wave < r->j->done && !is_as_written(&all[i])) {
            first = first && first->wave <= all[i].wave ? first : &all[i];
            n++;
        }
    if (!first)
        return INT64_MAX;
    if (n > 1)
        snprintf(more, sizeof more, ", and so %s %u more", n == 2 ? "is" : "are", n - 1);
    free(r->j->redone);
    if (asprintf(&r->j->redone, "'%s', which wave %lld has written, is missing or has changed%s", first->path, (long long)first->wave, more) < 0)
        r->j->redone = NULL;
    return first->wave;
}

/* Goes back to the last record before the first wave whose file is lost. */
static int go_back(struct reading *r, char *text, struct df_error *error)
{
    struct dfr_journal *j = r->j;
    const size_t good = r->good;
    r->limit = find_lost(r);
    if (r->limit == INT64_MAX)
        return DF_OK;
    forget(r);
    dfr_written_free(&j->files);
    j->done = 0;
    j->all = r->begun = false;
    int status = read_lines(r, text, good, error);
    r->good = good;
    return status;
}

/* Reads the file, and truncates it: behind the last complete record, or to nothing if the run begins anew. */
static int take(struct reading *r, const struct dfr_journal_run *run, struct df_error *error)
{
    const bool resume = run->resume;
    struct dfr_journal *j = r->j;
    char *text = NULL;
    size_t n;
    int status = read_whole(j, &text, &n, error);
    if (status == DF_OK)
        status = check_head(j, text, n, error);
    if (status == DF_OK)
        status = read_lines(r, text, n, error);
    if (status == DF_OK && !resume && !j->ended && j->done > 0)
        status = dfr_error(error, DF_E_REFUSED, "the journal '%s' is of a run that has not ended, after %lld waves: --resume goes on with it; if it is "
                           "removed, the run begins anew", j->path, (long long)j->done);
    if (status == DF_OK && r->begun && resume)
        status = check_program(r, run, error);
    if (status == DF_OK && r->begun && resume && !j->ended && !run->accept)
        status = go_back(r, text, error);
    free(text);
    if (status != DF_OK)
        return status;
    if (!resume || !r->begun) {
        dfr_written_free(&j->files);
        *j = (struct dfr_journal){ .fd = j->fd, .path = j->path };
        r->good = 0;
        r->begun = false;
    }
    j->size = (int64_t)r->good;
    return ftruncate(j->fd, (off_t)r->good) == 0 ? DF_OK : cannot(j, "write", error);
}

char *dfr_journal_input(const char *path, const char *name)
{
    struct dfr_journal j = { .fd = open(path, O_RDONLY | O_CLOEXEC), .path = (char *)path };
    struct reading r = { .j = &j, .limit = INT64_MAX };
    char *text = NULL, *found = NULL;
    size_t n;
    if (j.fd >= 0 && read_whole(&j, &text, &n, NULL) == DF_OK)
        read_lines(&r, text, n, NULL);
    for (size_t i = 0; i < r.inputs.n && !found; i++) {
        const char *input = r.inputs.files[i].path, *slash = strrchr(input, '/');
        if (!strcmp(slash ? slash + 1 : input, name))
            found = strdup(input);
    }
    forget(&r);
    dfr_written_free(&j.files);
    free(text);
    if (j.fd >= 0)
        close(j.fd);
    return found;
}

int dfr_journal_open(struct dfr_journal *j, const char *path, const struct dfr_journal_run *run, struct df_error *error)
{
    struct reading r = { .j = j, .limit = INT64_MAX };
    int status;

    *j = (struct dfr_journal){ .fd = -1, .path = strdup(path) };
    if (!j->path)
        return dfr_error_memory(error);
    j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0 && errno == ETXTBSY)
        status = dfr_error(error, DF_E_REFUSED, "'%s' cannot be a journal: it is a program that runs", path);
    else
        status = j->fd < 0 ? cannot(j, "open", error) : lock(j, run->lock_s, error);
    if (status == DF_OK)
        status = take(&r, run, error);
    if (status == DF_OK && !r.begun)
        status = write_head(j, run, error);
    if (status == DF_OK)
        j->epoch++;
    if (status == DF_OK && j->accepted && !j->all)
        status = write_accepted(j, run->inputs, error);
    if (status == DF_OK && r.limit < INT64_MAX)
        status = write_back(j, error);
    if (status == DF_OK && !j->ended)
        status = write_state(j, "run", j->epoch, j->done, error);
    forget(&r);
    if (status != DF_OK)
        dfr_journal_close(j);
    return status;
}

void dfr_journal_close(struct dfr_journal *j)
{
    dfr_written_free(&j->files);
    free(j->accepted);
    free(j->redone);
    free(j->path);
    if (j->fd >= 0)
        close(j->fd);
    *j = (struct dfr_journal){ .fd = -1 };
}

/* ---- records ---- */

/* The digest of the bytes of a file that the run has appended to, from file->from on. */
static int digest_file(const struct dfr_written *file, uint64_t *digest, struct df_error *error)
{
    struct df_error why;
    struct dfr_content content;
    char *part = dfr_output_part_path(file->path);
    if (!part)
        return dfr_error_memory(error);
    const bool is_part = access(part, F_OK) == 0;
    int status = dfr_content_digest(is_part ? part : file->path, file->from, file->bytes, &content, &why);
    free(part);
    if (status != DF_OK)
        return dfr_error(error, status, "cannot read '%s', which the run has written: %s", file->path, why.text);
    *digest = content.digest;
    return content.n == file->bytes - file->from ? DF_OK : dfr_error(error, DF_E_REFUSED, "'%s' is shorter than what the run has written", file->path);
}

static const struct dfr_written *find_file(const struct dfr_journal *j, const struct dfr_written *file)
{
    for (size_t i = 0; i < j->files.n; i++)
        if (j->files.items[i].node == file->node && !strcmp(j->files.items[i].path, file->path))
            return &j->files.items[i];
    return NULL;
}

/* Adds the new state of a file that is appended to. If nothing was, the digest of the last record is kept. */
static int add_appended(const struct dfr_journal *j, const struct dfr_written *file, struct dfr_written_list *next, struct df_error *error)
{
    const struct dfr_written *before = find_file(j, file);
    struct dfr_written f = *file;
    const bool same = before && before->bytes == file->bytes;
    f.from = same ? before->from : before ? before->bytes : file->head_bytes == DF_NPY_HEADER_BYTES ? DF_NPY_HEADER_BYTES : 0;
    int status = DF_OK;
    if (same)
        f.digest = before->digest;
    else
        status = digest_file(&f, &f.digest, error);
    f.path = status == DF_OK ? strdup(file->path) : NULL;
    return status != DF_OK || dfr_written_add(next, &f) ? status : dfr_error_memory(error);
}

/* Writes the line of a whole file; none for what cannot be read, such as a file that was moved meanwhile, or is no regular file. */
static void write_whole(struct lines *l, const struct dfr_written *file)
{
    struct df_error why;
    struct dfr_content content;
    if (dfr_content_digest(file->path, 0, INT64_MAX, &content, &why) == DF_OK && content.n == content.bytes)
        write_file(l, &(struct dfr_written){ .path = file->path, .wave = file->wave, .bytes = content.n, .changed_ns = content.changed_ns,
                                             .digest = content.digest });
}

int dfr_journal_done(struct dfr_journal *j, int64_t waves, const struct dfr_written_list *files, struct df_error *error)
{
    struct dfr_written_list next = { 0 };
    struct lines l;
    int status = DF_OK;
    for (size_t i = 0; i < files->n && status == DF_OK; i++)
        if (files->items[i].appended)
            status = add_appended(j, &files->items[i], &next, error);
    if (status == DF_OK && !lines_open(&l))
        status = dfr_error_memory(error);
    if (status == DF_OK) {
        for (size_t i = 0; i < next.n; i++)
            write_file(&l, &next.items[i]);
        for (size_t i = 0; i < files->n; i++)
            if (!files->items[i].appended)
                write_whole(&l, &files->items[i]);
        line(&l, "done %" PRId64 " %" PRId64, waves, j->epoch);
        status = append(j, &l, error);
    }
    if (status != DF_OK) {
        dfr_written_free(&next);
        return status;
    }
    dfr_written_free(&j->files);
    j->files = next;
    j->done = waves;
    return DF_OK;
}

int dfr_journal_all(struct dfr_journal *j, struct df_error *error)
{
    int status = write_state(j, "all", j->done, j->epoch, error);
    j->all = status == DF_OK;
    return status;
}

int dfr_journal_end(struct dfr_journal *j, struct df_error *error)
{
    int status = write_state(j, "end", j->done, j->epoch, error);
    j->ended = status == DF_OK;
    return status;
}

int dfr_journal_check_files(const struct dfr_journal *j, struct df_error *error)
{
    for (size_t i = 0; i < j->files.n; i++) {
        const struct dfr_written *f = &j->files.items[i];
        uint64_t digest;
        int status = digest_file(f, &digest, error);
        if (status != DF_OK)
            return status;
        if (digest != f->digest)
            return dfr_error(error, DF_E_REFUSED, "'%s' is not as the run of the journal '%s' has left it; if the journal is removed, the run begins anew",
                             f->path, j->path);
    }
    return DF_OK;
}
