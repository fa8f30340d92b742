/* journal.c - the journal of a run that can be resumed (journal.h). */
#include "runtime/cluster/journal.h"

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
#include "runtime/io/entry.h"
#include "runtime/threads/clock.h"

#define FIRST "dfc journal 2 program "
#define FIRST_1 "dfc journal 1 program "
enum { CHECK_BYTES = 18 };              /* " #" and 16 digits */

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
    struct dfr_journal_file *next;      /* files of lines `out` that no line `done` has followed yet */
    size_t n_next;
    bool begun;
    size_t good;                        /* bytes up to the last line that stands for itself */
};

static void free_files(struct dfr_journal_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(files[i].file.path);
    free(files);
}

static bool read_input(struct dfr_inputs *inputs, const char *text)
{
    struct dfr_input f = { 0 };
    int at = 0;
    if (sscanf(text, "input %" SCNd64 " %" SCNd64 " %n", &f.bytes, &f.changed_ns, &at) != 2 || at == 0)
        return false;
    struct dfr_input *more = realloc(inputs->files, (inputs->n + 1) * sizeof *more);
    if (more)
        inputs->files = more;
    if (!more || !(f.path = dfr_path_read(text + at)))
        return false;
    inputs->files[inputs->n++] = f;
    return true;
}

static bool read_out(struct reading *r, const char *text)
{
    struct dfr_journal_file f = { 0 };
    int at = 0;
    if (sscanf(text, "out %" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNx64 " %n", &f.file.node,
               &f.file.head_bytes, &f.file.tokens, &f.file.bytes, &f.from, &f.digest, &at) != 6 || at == 0)
        return false;
    struct dfr_journal_file *more = realloc(r->next, (r->n_next + 1) * sizeof *more);
    if (more)
        r->next = more;
    if (!more || !(f.file.path = dfr_path_read(text + at)))
        return false;
    r->next[r->n_next++] = f;
    return true;
}

/* A line that says how far the run is. */
static bool read_state(struct reading *r, const char *text)
{
    struct dfr_journal *j = r->j;
    int64_t waves, epoch;
    if (sscanf(text, "run %" SCNd64 " %" SCNd64, &epoch, &waves) == 2) {
        j->epoch = epoch;
        return epoch > 0 && waves == j->done;
    }
    if (sscanf(text, "accepted %" SCNd64, &epoch) == 1) {
        dfr_inputs_free(&r->inputs);
        r->inputs = r->accepted;
        r->accepted = (struct dfr_inputs){ 0 };
        return true;
    }
    if (sscanf(text, "done %" SCNd64 " %" SCNd64, &waves, &epoch) == 2) {
        free_files(j->files, j->n);
        j->files = r->next;
        j->n = r->n_next;
        r->next = NULL;
        r->n_next = 0;
        j->done = waves;
        return true;
    }
    if (sscanf(text, "all %" SCNd64, &waves) == 1)
        return j->all = waves == j->done;
    if (sscanf(text, "end %" SCNd64, &waves) == 1)
        return j->ended = j->all && waves == j->done;
    return false;
}

/* What a right line says. false: it cannot stand here. */
static bool read_line(struct reading *r, const char *text, bool first, bool *stands)
{
    *stands = false;
    if (first)
        return sscanf(text, FIRST "%" SCNx64, &r->program) == 1 || sscanf(text, FIRST_1 "%" SCNx64, &r->program) == 1;
    if (!strcmp(text, "begun")) {
        r->j->inputs_digest = dfr_inputs_digest(&r->inputs);
        return *stands = r->begun = true;
    }
    if (!strncmp(text, "input ", 6))
        return read_input(r->begun ? &r->accepted : &r->inputs, text);
    if (!r->begun)
        return !strncmp(text, "fact ", 5) && dfr_fact_read(&r->facts, text + 5);
    if (!strncmp(text, "out ", 4))
        return read_out(r, text);
    return *stands = read_state(r, text);
}

static int damaged(const struct dfr_journal *j, size_t number, struct df_error *error)
{
    return dfr_error(error, DF_E_REFUSED, "line %zu of the journal '%s' is damaged; if it is removed, the run begins anew", number, j->path);
}

/* Are there right lines of two records in these bytes? A crash may have left lines of the last one alone, whose first lines were not written. */
static bool has_two_records(const char *text, size_t n)
{
    const char *end = text + n, *at = text;
    unsigned found = 0;
    while (found < 2 && (at = memchr(at, '\n', (size_t)(end - at))) && ++at < end)
        found += line_length(at, (size_t)(end - at)) >= 0 && strncmp(at, "out ", 4) != 0 && strncmp(at, "input ", 6) != 0;
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
        if (!read_line(r, text + at, at == 0, &stands))
            return damaged(r->j, number, error);
        at += (size_t)length + CHECK_BYTES + 1;
        number++;
        if (stands)
            r->good = at;
    }
    return at < n && has_two_records(text + at, n - at) ? damaged(r->j, number, error) : DF_OK;
}

/* ---- is it this program's? ---- */

/* Two runs find their inputs in one order: `at` is where it is looked for first. */
static const struct dfr_input *find_input(const struct dfr_inputs *inputs, const char *path, size_t at)
{
    if (at < inputs->n && !strcmp(inputs->files[at].path, path))
        return &inputs->files[at];
    for (size_t i = 0; i < inputs->n; i++)
        if (!strcmp(inputs->files[i].path, path))
            return &inputs->files[i];
    return NULL;
}

#define ACCEPT "; --accept-changed goes on with the inputs as they are now"

static int check_inputs(const struct reading *r, const struct dfr_inputs *now, struct df_error *error)
{
    const char *journal = r->j->path;
    for (size_t i = 0; i < r->inputs.n; i++) {
        const struct dfr_input *then = &r->inputs.files[i], *file = find_input(now, then->path, i);
        if (!file)
            return dfr_error(error, DF_E_REFUSED, "the run of the journal '%s' read '%s', which is not there or not read any more" ACCEPT, journal,
                             then->path);
        if (file->bytes != then->bytes || file->changed_ns != then->changed_ns)
            return dfr_error(error, DF_E_REFUSED, "'%s' has changed since the run of the journal '%s' began (%lld bytes then, %lld now)" ACCEPT,
                             then->path, journal, (long long)then->bytes, (long long)file->bytes);
    }
    for (size_t i = 0; i < now->n; i++)
        if (!find_input(&r->inputs, now->files[i].path, i))
            return dfr_error(error, DF_E_REFUSED, "'%s' is read now, and was not by the run of the journal '%s'" ACCEPT, now->files[i].path, journal);
    return DF_OK;
}

/* Says how the inputs differ, a line for each. NULL: no memory. */
static char *list_changes(const struct reading *r, const struct dfr_inputs *now)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < r->inputs.n; i++) {
        const struct dfr_input *then = &r->inputs.files[i], *file = find_input(now, then->path, i);
        if (!file)
            fprintf(out, "'%.200s' is not read any more\n", then->path);
        else if (file->bytes != then->bytes || file->changed_ns != then->changed_ns)
            fprintf(out, "'%.200s' has changed (%lld bytes then, %lld now)\n", then->path, (long long)then->bytes, (long long)file->bytes);
    }
    for (size_t i = 0; i < now->n; i++)
        if (!find_input(&r->inputs, now->files[i].path, i))
            fprintf(out, "'%.200s' is read now\n", now->files[i].path);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
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
    int status = check_inputs(r, run->inputs, error);
    if (status == DF_OK || !run->accept)
        return status;
    r->j->accepted = list_changes(r, run->inputs);
    return r->j->accepted ? DF_OK : dfr_error_memory(error);
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

/* Behind what the journal has. Beyond `ulimit -f` that fails with EFBIG, and no signal comes. */
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
        fprintf(l->file, "input %" PRId64 " %" PRId64 " ", inputs->files[i].bytes, inputs->files[i].changed_ns);
        dfr_path_write(l->file, inputs->files[i].path);
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
    line(&l, FIRST "%016" PRIx64, run->program);
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

static int write_state(struct dfr_journal *j, const char *what, int64_t a, int64_t b, struct df_error *error)
{
    struct lines l;
    if (!lines_open(&l))
        return dfr_error_memory(error);
    line(&l, "%s %" PRId64 " %" PRId64, what, a, b);
    return append(j, &l, error);
}

/* ---- opening ---- */

static int lock(struct dfr_journal *j, struct df_error *error)
{
    if (flock(j->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) /* some file systems cannot lock */
        return DF_OK;
    return dfr_error(error, DF_E_REFUSED, "another process is at work with the journal '%s'", j->path);
}

void dfr_journal_wait(const char *path, double seconds)
{
    const double until_s = dfr_clock_s() + seconds;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && dfr_clock_s() < until_s)
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    close(fd);
}

static int read_whole(struct dfr_journal *j, char **text, size_t *n, struct df_error *error)
{
    struct stat status;
    ssize_t got = 1;
    *n = 0;
    if (fstat(j->fd, &status) != 0)
        return cannot(j, "read", error);
    if (!S_ISREG(status.st_mode))
        return dfr_error(error, DF_E_REFUSED, "'%s' cannot be a journal: it is no regular file", j->path);
    j->size = status.st_size;
    if (!(*text = malloc((size_t)status.st_size + 1)))
        return dfr_error_memory(error);
    while (*n < (size_t)status.st_size && (got = pread(j->fd, *text + *n, (size_t)status.st_size - *n, (off_t)*n)) > 0)
        *n += (size_t)got;
    return got < 0 ? cannot(j, "read", error) : DF_OK;
}

/* Could these bytes be the beginning of a journal whose first lines were not written to their end? */
static bool is_torn_head(const char *text, size_t n)
{
    const size_t most = n < strlen(FIRST) ? n : strlen(FIRST);
    return strncmp(text, FIRST, most) == 0 || strncmp(text, FIRST_1, most) == 0;
}

/* Takes what is in the file: cuts off what a crash has left, or all of it if the run begins anew. */
static int take(struct reading *r, const struct dfr_journal_run *run, struct df_error *error)
{
    const bool resume = run->resume;
    struct dfr_journal *j = r->j;
    char *text = NULL;
    size_t n;
    int status = read_whole(j, &text, &n, error);
    if (status == DF_OK && !is_torn_head(text, n))
        status = dfr_error(error, DF_E_REFUSED, "'%s' is no journal", j->path);
    if (status == DF_OK)
        status = read_lines(r, text, n, error);
    free(text);
    if (status == DF_OK && !resume && !j->ended && j->done > 0)
        status = dfr_error(error, DF_E_REFUSED, "the journal '%s' is of a run that has not ended, after %lld waves: --resume goes on with it; if it is "
                           "removed, the run begins anew", j->path, (long long)j->done);
    if (status == DF_OK && r->begun && resume)
        status = check_program(r, run, error);
    if (status != DF_OK)
        return status;
    if (!resume || !r->begun) {
        free_files(j->files, j->n);
        *j = (struct dfr_journal){ .fd = j->fd, .path = j->path };
        r->good = 0;
        r->begun = false;
    }
    j->size = (int64_t)r->good;
    return ftruncate(j->fd, (off_t)r->good) == 0 ? DF_OK : cannot(j, "write", error);
}

int dfr_journal_open(struct dfr_journal *j, const char *path, const struct dfr_journal_run *run, struct df_error *error)
{
    struct reading r = { .j = j };
    int status;

    *j = (struct dfr_journal){ .fd = -1, .path = strdup(path) };
    if (!j->path)
        return dfr_error_memory(error);
    j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (j->fd < 0 && errno == ETXTBSY)
        status = dfr_error(error, DF_E_REFUSED, "'%s' cannot be a journal: it is a program that runs", path);
    else
        status = j->fd < 0 ? cannot(j, "open", error) : lock(j, error);
    if (status == DF_OK)
        status = take(&r, run, error);
    if (status == DF_OK && !r.begun)
        status = write_head(j, run, error);
    j->epoch++;
    if (status == DF_OK && j->accepted && !j->all)
        status = write_accepted(j, run->inputs, error);
    if (status == DF_OK && !j->ended)
        status = write_state(j, "run", j->epoch, j->done, error);
    free_files(r.next, r.n_next);
    dfr_inputs_free(&r.inputs);
    dfr_inputs_free(&r.accepted);
    dfr_facts_free(&r.facts);
    if (status != DF_OK)
        dfr_journal_close(j);
    return status;
}

void dfr_journal_close(struct dfr_journal *j)
{
    free_files(j->files, j->n);
    free(j->accepted);
    free(j->path);
    if (j->fd >= 0)
        close(j->fd);
    *j = (struct dfr_journal){ .fd = -1 };
}

/* ---- records ---- */

/* The digest of what a file has after its first `from` bytes. */
static int digest_file(const char *path, int64_t from, int64_t end, uint64_t *digest, struct df_error *error)
{
    struct df_error why;
    char *part = dfr_output_part_path(path);
    int64_t n = 0;
    int fd = part ? open(part, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = fd < 0 ? dfr_error(&why, DF_E_IO, "%s", strerror(errno)) : dfr_bytes_digest(fd, from, end, digest, &n, &why);
    if (fd >= 0)
        close(fd);
    free(part);
    if (status != DF_OK)
        return dfr_error(error, DF_E_IO, "cannot read '%s', which the run has written: %s", path, why.text);
    return n == end - from ? DF_OK : dfr_error(error, DF_E_REFUSED, "'%s' is shorter than what the run has written", path);
}

static const struct dfr_journal_file *find_file(const struct dfr_journal *j, const struct dfr_appended *file)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->files[i].file.node == file->node && !strcmp(j->files[i].file.path, file->path))
            return &j->files[i];
    return NULL;
}

/* The new state of a file. One that has not grown stays as it was. */
static int next_file(const struct dfr_journal *j, const struct dfr_appended *file, struct dfr_journal_file *next, struct df_error *error)
{
    const struct dfr_journal_file *before = find_file(j, file);
    *next = (struct dfr_journal_file){ .file = *file, .from = before ? before->file.bytes : 0 };
    if (before && before->file.bytes == file->bytes) {
        next->from = before->from;
        next->digest = before->digest;
    } else {
        int status = digest_file(file->path, next->from, file->bytes, &next->digest, error);
        if (status != DF_OK)
            return status;
    }
    return (next->file.path = strdup(file->path)) ? DF_OK : dfr_error_memory(error);
}

int dfr_journal_done(struct dfr_journal *j, int64_t waves, const struct dfr_appended *files, size_t n, struct df_error *error)
{
    struct dfr_journal_file *next = calloc(n + 1, sizeof *next);
    struct lines l;
    int status = next ? DF_OK : dfr_error_memory(error);
    for (size_t i = 0; i < n && status == DF_OK; i++)
        status = next_file(j, &files[i], &next[i], error);
    if (status == DF_OK && !lines_open(&l))
        status = dfr_error_memory(error);
    if (status != DF_OK) {
        free_files(next, next ? n : 0);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const struct dfr_appended *f = &next[i].file;
        fprintf(l.file, "out %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %016" PRIx64 " ", f->node, f->head_bytes, f->tokens,
                f->bytes, next[i].from, next[i].digest);
        dfr_path_write(l.file, f->path);
        line_end(&l);
    }
    line(&l, "done %" PRId64 " %" PRId64, waves, j->epoch);
    status = append(j, &l, error);
    if (status != DF_OK) {
        free_files(next, n);
        return status;
    }
    free_files(j->files, j->n);
    j->files = next;
    j->n = n;
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
    for (size_t i = 0; i < j->n; i++) {
        const struct dfr_journal_file *f = &j->files[i];
        uint64_t digest;
        int status = digest_file(f->file.path, f->from, f->file.bytes, &digest, error);
        if (status != DF_OK)
            return status;
        if (digest != f->digest)
            return dfr_error(error, DF_E_REFUSED, "'%s' is not as the run of the journal '%s' has left it; if the journal is removed, the run begins anew",
                             f->file.path, j->path);
    }
    return DF_OK;
}
