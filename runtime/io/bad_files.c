/* bad_files.c - the list of files that kernels could not read (bad_files.h). */
#include "runtime/io/bad_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/error.h"
#include "runtime/engine/log.h"
#include "runtime/df_io.h"
#include "runtime/engine/engine.h"

struct dfr_bad_files {
    const char *path;
    pthread_mutex_t lock;
    FILE *file;
    int code;                           /* errno of the first write that failed */
};

int dfr_bad_files_open(const char *path, bool more, struct dfr_bad_files **bad, struct df_error *error)
{
    struct dfr_bad_files *made = calloc(1, sizeof *made);
    struct stat info;
    if (!made)
        return dfr_error_memory(error);
    made->path = path;
    made->file = fopen(path, more ? "a+e" : "w+e");
    if (!made->file) {
        const int code = errno;
        free(made);
        return dfr_error(error, DF_E_IO, "cannot write '%s': %s", path, strerror(code));
    }
    if (fstat(fileno(made->file), &info) != 0 || !S_ISREG(info.st_mode)) { /* it is read, too */
        fclose(made->file);
        free(made);
        return dfr_error(error, DF_E_IO, "cannot list files in '%s': it is no regular file", path);
    }
    pthread_mutex_init(&made->lock, NULL);
    *bad = made;
    return DF_OK;
}

/* How many files are listed, and whether this one is; NULL: none is asked for. */
static int64_t listed(struct dfr_bad_files *bad, const char *path, bool *is)
{
    char *line = NULL;
    size_t room = 0;
    int64_t n = 0;
    rewind(bad->file);
    for (; getline(&line, &room, bad->file) > 0; n++) {
        line[strcspn(line, "\n")] = '\0';
        *is |= path && strcmp(line, path) == 0;
    }
    free(line);
    fseek(bad->file, 0, SEEK_END);
    return n;
}

/* A file is listed once, although a later pass, or a run that was resumed, may find it again. */
static void note(struct dfr_bad_files *bad, const char *path)
{
    bool is = false;
    listed(bad, path, &is);
    errno = 0;
    if (!is && (fprintf(bad->file, "%s\n", path) < 0 || fflush(bad->file) != 0) && !bad->code)
        bad->code = errno ? errno : EIO;
}

int df_bad_file(struct df_call *call, const char *path)
{
    struct dfr_bad_files *bad = call->run->options.bad_files;
    char node[256];
    if (!bad || !call->failed)
        return DF_FAILED;
    df_node_name(call->run->graph, dfr_job_node(call->job), node, sizeof node);
    pthread_mutex_lock(&bad->lock);
    note(bad, path);
    pthread_mutex_unlock(&bad->lock);
    if (call->run->options.log_level >= DF_LOG_WARNING)
        dfr_say("warning: node '%s', wave %lld is empty: %s", node, (long long)df_wave(call), call->message);
    call->failed = false;
    call->message[0] = '\0';
    return DF_SKIP;
}

int dfr_bad_files_close(struct dfr_bad_files *bad, int status, struct df_error *error)
{
    if (!bad)
        return status;
    bool is = false;
    const int64_t n = listed(bad, NULL, &is);
    errno = 0;
    if (fclose(bad->file) != 0 && !bad->code)
        bad->code = errno ? errno : EIO;
    if (status == DF_OK && bad->code)
        status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", bad->path, strerror(bad->code));
    else if (status == DF_OK && n > 0)
        status = dfr_error(error, DF_E_KERNEL, "%lld file%s could not be read and made empty waves; '%s' lists what to repair, and @%s reads it again",
                           (long long)n, n == 1 ? "" : "s", bad->path, bad->path);
    pthread_mutex_destroy(&bad->lock);
    free(bad);
    return status;
}
