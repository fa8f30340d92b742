/* bad_files.c - maintains the list of files that kernels could not read (bad_files.h): kernels, as those of std/, add to it with df_bad_file(), and df_main()
 * opens and closes it. */
#include "runtime/io/bad_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/intern.h"
#include "runtime/engine/log.h"
#include "runtime/df_io.h"
#include "runtime/engine/engine.h"

#define MOST_TOLD 20                    /* rows of the table at the end */

struct bad_file {
    char *path, *why;                   /* why: NULL: an earlier run found it, or there is no memory */
};

struct dfr_bad_files {
    const char *path;                   /* NULL: there is no file with the list */
    pthread_mutex_t lock;
    FILE *file;                         /* NULL: as path */
    bool is_new, more, begun;           /* is_new: it was not there before */
    struct dfr_array files;             /* of struct bad_file: what the file lists */
    struct dfr_table ids;               /* of these */
    int code;                           /* errno of the first write that failed */
};

static void free_list(struct dfr_bad_files *bad)
{
    struct bad_file *files = bad->files.items;
    for (uint32_t i = 0; i < bad->files.n; i++) {
        free(files[i].path);
        free(files[i].why);
    }
    dfr_array_free(&bad->files);
    dfr_table_free(&bad->ids);
    free(bad);
}

int dfr_bad_files_open(const char *path, bool more, struct dfr_bad_files **bad, struct df_error *error)
{
    struct stat info;
    const bool is_new = path && stat(path, &info) != 0;
    if (path && !is_new && !S_ISREG(info.st_mode))
        return dfr_error(error, DF_E_IO, "cannot list files in '%s': it is no regular file", path); /* it is read, too */
    struct dfr_bad_files *made = calloc(1, sizeof *made);
    if (!made)
        return dfr_error_memory(error);
    *made = (struct dfr_bad_files){ .path = path, .file = path ? fopen(path, "a+e") : NULL, .is_new = is_new, .more = more };
    if (path && !made->file) {
        const int status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", path, strerror(errno));
        free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    *bad = made;
    return DF_OK;
}

static bool is_path(const void *bad, uint32_t id, const void *path)
{
    return strcmp(((const struct bad_file *)((const struct dfr_bad_files *)bad)->files.items)[id].path, path) == 0;
}

static void failed(struct dfr_bad_files *bad)
{
    if (!bad->code)
        bad->code = errno ? errno : EIO;
}

/* Adds the file to the table, and why it cannot be read (NULL: nobody knows). Returns false if it is listed already. */
static bool add(struct dfr_bad_files *bad, const char *path, const char *why)
{
    const uint32_t hash = dfr_hash_fold(dfr_hash(0, path, strlen(path)));
    uint32_t id;
    struct bad_file *at;
    char *copy;
    if (dfr_table_find(&bad->ids, hash, is_path, bad, path, &id))
        return false;
    errno = ENOMEM;
    if (!dfr_table_reserve(&bad->ids) || !(copy = strdup(path))) {
        failed(bad);
        return true;
    }
    if (!(at = dfr_array_add(&bad->files, sizeof *at, 1))) {
        free(copy);
        failed(bad);
        return true;
    }
    *at = (struct bad_file){ copy, why ? strdup(why) : NULL };
    dfr_table_put(&bad->ids, hash, bad->files.n - 1);
    return true;
}

/* Truncates the list of a previous run, or reads it if this run resumes that one. */
static void begin(struct dfr_bad_files *bad)
{
    char *line = NULL;
    size_t room = 0;
    if (bad->begun)
        return;
    bad->begun = true;
    errno = 0;
    if (!bad->file)
        return;
    if (!bad->more) {
        if (ftruncate(fileno(bad->file), 0) != 0)
            failed(bad);
        return;
    }
    rewind(bad->file);
    while (getline(&line, &room, bad->file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        add(bad, line, NULL);
    }
    free(line);
    fseek(bad->file, 0, SEEK_END);
}

void dfr_bad_files_begin(struct dfr_bad_files *bad)
{
    if (!bad)
        return;
    pthread_mutex_lock(&bad->lock);
    begin(bad);
    pthread_mutex_unlock(&bad->lock);
}

/* A file is listed once, although a later pass, or a run that was resumed, may find it again. */
static void note(struct dfr_bad_files *bad, const char *path, const char *why)
{
    begin(bad);                         /* a worker may be here before the thread that began the run */
    if (!add(bad, path, why) || !bad->file)
        return;
    errno = 0;
    if (fprintf(bad->file, "%s\n", path) < 0 || fflush(bad->file) != 0)
        failed(bad);
}

/* The process lacked memory or file descriptors, so the file may be good. */
static bool is_own(int code)
{
    return code == ENOMEM || code == EMFILE || code == ENFILE;
}

int df_bad_file(struct df_call *call, const char *path)
{
    struct dfr_bad_files *bad = call->run->options.bad_files;
    char node[256];
    if (!bad || !call->failed || is_own(call->fail_errno))
        return DF_FAILED;
    df_node_name(call->run->graph, dfr_job_node(call->job), node, sizeof node);
    pthread_mutex_lock(&bad->lock);
    note(bad, path, call->message);
    pthread_mutex_unlock(&bad->lock);
    if (call->run->options.log_level >= DF_LOG_WARNING)
        dfr_say("warning: node '%s', wave %lld is empty: %s", node, (long long)df_wave(call), call->message);
    call->failed = false;
    call->message[0] = '\0';
    return DF_SKIP;
}

/* A table of the files, and why. */
static void tell(const struct dfr_bad_files *bad)
{
    const struct bad_file *files = bad->files.items;
    int width = 4;
    for (uint32_t i = 0; i < bad->files.n && i < MOST_TOLD; i++)
        width = (int)strlen(files[i].path) > width ? (int)strlen(files[i].path) : width;
    fprintf(stderr, "\n%-*s  reason\n", width, "file");
    for (uint32_t i = 0; i < bad->files.n && i < MOST_TOLD; i++)
        fprintf(stderr, "%-*s  %s\n", width, files[i].path, files[i].why ? files[i].why : "an earlier run could not read it");
    if (bad->files.n > MOST_TOLD)
        fprintf(stderr, "... and %u more%s\n", bad->files.n - MOST_TOLD, bad->file ? "" : "; --bad-files=FILE lists them all");
}

int dfr_bad_files_close(struct dfr_bad_files *bad, int status, uint32_t *n, struct df_error *error)
{
    *n = 0;
    if (!bad)
        return status;
    if (status == DF_OK)                /* nothing was left to do for a run that was resumed: what it found before counts */
        begin(bad);
    errno = 0;
    if (bad->file && fclose(bad->file) != 0)
        failed(bad);
    if (bad->is_new && !bad->begun)     /* the run was refused */
        unlink(bad->path);
    if (status == DF_OK && bad->code)
        status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", bad->path, strerror(bad->code));
    else if (status == DF_OK && (*n = bad->files.n) > 0) {
        tell(bad);
        status = bad->path ? dfr_error(error, DF_E_KERNEL, "%u file%s could not be read and made empty waves; '%s' lists what to repair, and @%s reads it again",
                                       *n, *n == 1 ? "" : "s", bad->path, bad->path)
                           : dfr_error(error, DF_E_KERNEL, "%u file%s could not be read and made empty waves", *n, *n == 1 ? "" : "s");
    }
    pthread_mutex_destroy(&bad->lock);
    free_list(bad);
    return status;
}
