/* outputs.c - the record of the files that a run writes (outputs.h): kernel_outputs.c opens and closes each file through it; resumable.c, chunk.c and ranks
 * create it, and get from it what a wave has written. */
#include "runtime/record/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/engine/engine.h"
#include "runtime/io/npy.h"
#include "runtime/record/held.h"

struct mark {                           /* how long a file was after a wave */
    int64_t wave, tokens, bytes;
};

struct dfr_appending {
    struct dfr_appending *next;
    struct dfr_written file;            /* as it was at the last sync, or is to go on */
    int fd;                             /* -1: it is not open */
    struct mark *marks;                 /* n of them, of the waves after that, in order */
    size_t n, room;
};

struct place {                          /* of an entry */
    uint32_t node;
    int64_t wave, at, bytes;
    uint64_t path;                      /* hash of a whole file's path; 0: of one that is appended to */
};

struct scratch {                        /* the entries of a chunk, as they came */
    struct dfr_output to;
    struct place *places;               /* n of them */
    size_t n, room;
};

struct part {                           /* of a graph, with nodes that are told by other numbers */
    const struct df_graph *graph;
    const uint32_t *node;
};

struct dfr_outputs {
    pthread_mutex_t lock;
    struct part parts[2];
    char *chunk, *direct;
    struct dfr_held *held;              /* NULL: no file waits for its wave to be accepted */
    struct dfr_appending *appending;
    struct dfr_folder *folders;         /* in which whole files were written; marked: since the last sync */
    struct scratch scratch;
    struct dfr_written_list whole;      /* closed, and not given yet */
};

int dfr_outputs_create(const char *chunk, struct dfr_outputs **outputs, struct df_error *error)
{
    struct dfr_outputs *o = calloc(1, sizeof *o);
    if (!o || (chunk && !(o->chunk = strdup(chunk)))) {
        free(o);
        return dfr_error_memory(error);
    }
    pthread_mutex_init(&o->lock, NULL);
    *outputs = o;
    return DF_OK;
}

int dfr_outputs_create_held(struct dfr_held *held, struct dfr_outputs **outputs, struct df_error *error)
{
    int status = dfr_outputs_create(NULL, outputs, error);
    if (status == DF_OK)
        (*outputs)->held = held;
    return status;
}

bool dfr_outputs_is_chunk(const struct dfr_outputs *o)
{
    return o->chunk;
}

const char *dfr_outputs_direct(struct dfr_outputs *o)
{
    return o->direct;
}

void dfr_outputs_free(struct dfr_outputs *o)
{
    if (!o)
        return;
    for (struct dfr_appending *a = o->appending, *next; a; a = next) {
        next = a->next;
        free(a->file.path);
        free(a->marks);
        free(a);
    }
    dfr_folders_free(o->folders);
    if (o->scratch.to.file)
        dfr_output_close(&o->scratch.to, false, NULL);
    free(o->scratch.places);
    dfr_written_free(&o->whole);
    pthread_mutex_destroy(&o->lock);
    free(o->chunk);
    free(o->direct);
    free(o);
}

void dfr_outputs_part(struct dfr_outputs *o, const struct df_graph *part, const uint32_t *node)
{
    o->parts[o->parts[0].graph != NULL] = (struct part){ part, node };
}

static uint32_t node_of(const struct dfr_outputs *o, const struct df_call *call)
{
    uint32_t node = dfr_job_node(call->job);
    for (unsigned i = 0; i < 2; i++)
        if (o->parts[i].graph == call->run->graph)
            return o->parts[i].node[node];
    return node;
}

/* ---- runs that can be resumed ---- */

/* Adds a file to the record. NULL: no memory. */
static struct dfr_appending *add_appending(struct dfr_outputs *o, const struct dfr_written *file)
{
    struct dfr_appending *a = calloc(1, sizeof *a);
    char *path = a ? strdup(file->path) : NULL;
    if (!path) {
        free(a);
        return NULL;
    }
    *a = (struct dfr_appending){ .next = o->appending, .file = *file, .fd = -1 };
    a->file.path = path;
    return o->appending = a;
}

int dfr_outputs_before(struct dfr_outputs *o, const struct dfr_written *file, struct df_error *error)
{
    return add_appending(o, file) ? DF_OK : dfr_error_memory(error);
}

/* The record of a file; NULL: error. */
static struct dfr_appending *find_appending(struct dfr_outputs *o, uint32_t node, const char *path, struct df_error *error)
{
    struct dfr_appending *a = o->appending;
    while (a && strcmp(a->file.path, path) != 0)
        a = a->next;
    if (a && a->file.node != node) {
        dfr_error(error, DF_E_ARGUMENT, "cannot write '%s': another node writes it, too, so this run cannot be resumed", path);
        return NULL;
    }
    if (!a && !(a = add_appending(o, &(struct dfr_written){ .appended = true, .wave = -1, .node = node, .path = (char *)path })))
        dfr_error_memory(error);
    return a;
}

/* The folder of a whole file is to be synced. false: no memory. */
static bool note_folder(struct dfr_outputs *o, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct dfr_folder *f = dfr_folder_note(&o->folders, path, slash ? (size_t)(slash - path) + 1 : 0);
    if (f)
        f->marked = true;
    return f;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* The file of a run that can be resumed. */
static int continue_file(struct dfr_outputs *o, struct dfr_output *to, struct dfr_recorded *recorded, int *begins, struct df_error *error)
{
    char *path = recorded->file.path;
    struct dfr_appending *a = NULL;
    if (!is_file(path) && !o->direct)
        o->direct = strdup(path);
    if (recorded->file.appended && is_file(path) && !(a = find_appending(o, recorded->file.node, path, error)))
        return DF_E_ARGUMENT;
    if (a) {
        recorded->file = a->file;
        recorded->file.path = path;
    }
    int status = dfr_output_continue(to, path, recorded->file.bytes, error);
    if (status != DF_OK)
        return status;
    if (a && recorded->file.head_bytes == DF_NPY_HEADER_BYTES && recorded->file.bytes > 0 &&
        (status = dfr_npy_uncount(fileno(to->file), recorded->file.tokens, recorded->file.bytes, error)) != DF_OK) {
        dfr_output_close(to, false, NULL);
        return status;
    }
    if (a)
        a->fd = fileno(to->file);
    recorded->appending = a;
    to->syncs = a;                      /* whole files are synced by dfr_outputs_sync(), many at once */
    *begins = recorded->file.bytes == 0;
    return DF_OK;
}

/* A file of a rank whose waves another one accepts. */
static int hold_file(struct dfr_outputs *o, const struct df_call *call, struct dfr_output *to, struct dfr_recorded *recorded, struct df_error *error)
{
    if (!(call->run->graph->nodes[dfr_job_node(call->job)].flags & DF_NODE_WORKER)) {
        recorded->outputs = NULL;
        return dfr_output_open(to, recorded->file.path, error);
    }
    if (recorded->file.appended)
        return dfr_error(error, DF_E_REFUSED, "'%s' is one file that all waves make together, so ranks cannot write it ('@worker'): with %%d in the name "
                         "each wave has a file of its own", recorded->file.path);
    recorded->round = call->wave;
    return dfr_held_open(o->held, recorded->file.path, recorded->file.wave, to, error);
}

int dfr_recorded_open(struct dfr_outputs *o, struct df_call *call, struct dfr_output *to, struct dfr_recorded *recorded, int *begins, struct df_error *error)
{
    recorded->outputs = o;
    recorded->file.node = node_of(o, call);
    recorded->file.wave = recorded->file.appended ? -1 : df_wave(call);
    if (o->held)
        return hold_file(o, call, to, recorded, error);
    pthread_mutex_lock(&o->lock);
    int status = o->chunk ? dfr_output_scratch(to, o->chunk, error) : continue_file(o, to, recorded, begins, error);
    pthread_mutex_unlock(&o->lock);
    return status;
}

/* false: no memory. */
static bool add_mark(struct dfr_appending *a, struct mark mark)
{
    if (!DFR_ARRAY_ROOM(a->marks, a->n, a->room))
        return false;
    a->marks[a->n++] = mark;
    return true;
}

int dfr_recorded_pause(struct dfr_recorded *recorded, struct df_call *call, FILE *file)
{
    struct dfr_outputs *o = recorded->outputs;
    if (o->chunk && !recorded->file.appended)
        return df_fail(call, "'%s' is one file that all waves make together, so it cannot be written in chunks", recorded->file.path);
    if (o->held)
        return df_fail(call, "this file is open from wave to wave, so ranks cannot write it ('@worker'): each wave needs a file of its own");
    if (!recorded->appending)
        return DF_OK;
    pthread_mutex_lock(&o->lock);
    recorded->appending->file.head_bytes = recorded->file.head_bytes;
    bool good = add_mark(recorded->appending, (struct mark){ df_wave(call), recorded->file.tokens, ftello(file) });
    pthread_mutex_unlock(&o->lock);
    return good ? DF_OK : df_fail(call, "out of memory");
}

/* Takes what the waves before `waves` have written. */
static void take_marks(struct dfr_appending *a, int64_t waves)
{
    size_t n = 0;
    while (n < a->n && a->marks[n].wave < waves)
        n++;
    if (n == 0)
        return;
    a->file.tokens = a->marks[n - 1].tokens;
    a->file.bytes = a->marks[n - 1].bytes;
    a->n -= n;
    memmove(a->marks, a->marks + n, a->n * sizeof *a->marks);
}

/* Lists what these waves have written. fds: of the files that are appended to, which come first. false: no memory. */
static bool list_written(struct dfr_outputs *o, int64_t waves, struct dfr_written_list *files, int *fds)
{
    size_t n_left = 0;
    bool good = true;
    for (struct dfr_appending *a = o->appending; a && good; a = a->next) {
        struct dfr_written file;
        take_marks(a, waves);
        if (a->file.bytes == 0)
            continue;
        file = a->file;
        file.path = strdup(file.path);
        if ((good = dfr_written_add(files, &file)))
            fds[files->n - 1] = a->fd >= 0 ? dup(a->fd) : -1;
    }
    for (size_t i = 0; i < o->whole.n; i++)
        if (good && o->whole.items[i].wave < waves)
            good = dfr_written_add(files, &o->whole.items[i]);
        else
            o->whole.items[n_left++] = o->whole.items[i];
    o->whole.n = n_left;
    return good;
}

static int sync_folders(struct dfr_outputs *o, struct df_error *error)
{
    for (struct dfr_folder *f = o->folders; f; f = f->next) {
        bool changed = f->marked;
        f->marked = false;
        int fd = changed ? open(*f->path ? f->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        bool good = !changed || (fd >= 0 && syncfs(fd) == 0);
        int code = errno;
        if (fd >= 0)
            close(fd);
        if (!good)
            return dfr_error(error, DF_E_IO, "cannot write to '%s': %s", *f->path ? f->path : ".", strerror(code));
    }
    return DF_OK;
}

void dfr_outputs_sweep(struct dfr_outputs *o, uint64_t hash)
{
    for (const struct dfr_folder *f = o->folders; f; f = f->next)
        dfr_held_sweep(f->path, hash);
}

int dfr_outputs_sync(struct dfr_outputs *o, int64_t waves, struct dfr_written_list *files, struct df_error *error)
{
    size_t n = 1;
    int status = DF_OK;

    *files = (struct dfr_written_list){ 0 };
    pthread_mutex_lock(&o->lock);
    for (struct dfr_appending *a = o->appending; a; a = a->next)
        n++;
    int *fds = malloc(n * sizeof *fds);
    status = fds && list_written(o, waves, files, fds) ? sync_folders(o, error) : dfr_error_memory(error);
    pthread_mutex_unlock(&o->lock);
    for (size_t i = 0; i < files->n && files->items[i].appended; i++) { /* kernels go on meanwhile */
        if (fds[i] >= 0 && fdatasync(fds[i]) != 0 && status == DF_OK)
            status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", files->items[i].path, strerror(errno));
        if (fds[i] >= 0)
            close(fds[i]);
    }
    free(fds);
    return status;
}

int dfr_outputs_finish(const struct dfr_written *file, struct df_error *error)
{
    struct dfr_output to;
    struct stat status;
    char *part = dfr_output_part_path(file->path);
    if (!part)
        return dfr_error_memory(error);
    bool is_there = stat(part, &status) == 0;
    free(part);
    if (!is_there)
        return stat(file->path, &status) == 0 && status.st_size == file->bytes
                   ? DF_OK : dfr_error(error, DF_E_IO, "'%s' is not as the run before has left it", file->path);
    int rc = dfr_output_continue(&to, file->path, file->bytes, error);
    if (rc != DF_OK)
        return rc;
    to.syncs = true;
    rc = dfr_written_count(file, to.file, error);
    int closed = dfr_output_close(&to, rc == DF_OK, error);
    return rc != DF_OK ? rc : closed;
}

/* ---- chunks ---- */

static int collect(struct dfr_outputs *o, struct dfr_written *entry, FILE *file, struct df_error *error)
{
    struct scratch *s = &o->scratch;
    int status = DF_OK;
    if (!s->to.file && (status = dfr_output_scratch(&s->to, o->chunk, error)) == DF_OK)
        dfr_output_pause(&s->to);
    if (status != DF_OK)
        return status;
    const int64_t at = ftello(s->to.file);
    entry->bytes = ftello(file);
    dfr_written_line(s->to.file, DFR_LINE_ENTRY, entry);
    fputc('\n', s->to.file);
    rewind(file);
    status = dfr_copy_bytes(file, s->to.file, entry->bytes, error);
    if (status == DF_OK && !DFR_ARRAY_ROOM(s->places, s->n, s->room))
        status = dfr_error_memory(error);
    if (status == DF_OK)
        s->places[s->n++] = (struct place){ entry->node, entry->wave, at, ftello(s->to.file) - at,
                                            entry->appended ? 0 : dfr_hash(1, entry->path, strlen(entry->path)) };
    return status;
}

int dfr_recorded_close(struct dfr_recorded *recorded, struct dfr_output *to, bool keep, struct df_error *error)
{
    struct dfr_outputs *o = recorded->outputs;
    struct dfr_written file = recorded->file;
    int status = DF_OK;
    if (o->held)
        return keep ? dfr_held_close(o->held, file.wave, recorded->round, to, error) : dfr_output_close(to, false, error);
    pthread_mutex_lock(&o->lock);
    if (keep && o->chunk && !(file.appended && ftello(to->file) == file.head_bytes)) { /* other chunks may hold tokens of another size */
        status = collect(o, &file, to->file, error);
    } else if (keep && !o->chunk && !file.appended) {
        file.path = strdup(file.path);
        status = dfr_written_add(&o->whole, &file) && note_folder(o, recorded->file.path) ? DF_OK : dfr_error_memory(error);
    }
    if (recorded->appending)
        recorded->appending->fd = -1;
    pthread_mutex_unlock(&o->lock);
    int closed = dfr_output_close(to, keep && status == DF_OK, error);
    return status != DF_OK ? status : closed;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_wave(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->node != y->node ? compare(x->node, y->node) : x->wave != y->wave ? compare(x->wave, y->wave) : compare(x->at, y->at);
}

static int by_path(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->path != y->path ? (x->path > y->path) - (x->path < y->path) : by_wave(a, b);
}

/* Of a file that several waves of a node have rewritten, keeps only the entry of the last one. */
static void drop_older(struct scratch *s)
{
    size_t n = 0;
    qsort(s->places, s->n, sizeof *s->places, by_path);
    for (size_t i = 0; i < s->n; i++)
        if (!s->places[i].path || i + 1 == s->n || s->places[i].path != s->places[i + 1].path || s->places[i].node != s->places[i + 1].node)
            s->places[n++] = s->places[i];
    s->n = n;
}

/* Jobs have written in any order. */
int dfr_outputs_chunk(struct dfr_outputs *o, FILE *to, struct df_error *error)
{
    struct scratch *s = &o->scratch;
    int status = DF_OK;
    if (s->n == 0)
        return DF_OK;
    drop_older(s);
    qsort(s->places, s->n, sizeof *s->places, by_wave);
    for (size_t i = 0; i < s->n && status == DF_OK; i++)
        status = fseeko(s->to.file, (off_t)s->places[i].at, SEEK_SET) == 0
                     ? dfr_copy_bytes(s->to.file, to, s->places[i].bytes, error)
                     : dfr_error(error, DF_E_IO, "cannot read what was written: %s", strerror(errno));
    return status;
}
