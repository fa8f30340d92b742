/* output.c - implements output files that appear whole or not at all (output.h), for all code that writes files: dfc, profiles/, the record of a run (record/),
 * programs and their traces. It also makes folders. */
#include "runtime/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/process_lock.h"
#include "runtime/base/unfinished.h"

/* ---- files that may not grow, and pauses ---- */

static void block_limit(struct dfr_output *output)
{
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    output->blocks = pthread_sigmask(SIG_BLOCK, &limit, &before) == 0 && !sigismember(&before, SIGXFSZ);
}

/* Takes a signal that came meanwhile, which was this thread's own, and lets later ones come again. */
static void release_limit(const struct dfr_output *output)
{
    sigset_t limit;
    if (!output->blocks)
        return;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    while (sigtimedwait(&limit, NULL, &(const struct timespec){ 0 }) > 0)
        ;
    pthread_sigmask(SIG_UNBLOCK, &limit, NULL);
}

enum { BEGIN_BYTES = 1 << 20 };

static void begin_writing(struct dfr_output *output)
{
    const int64_t at = output->replaces ? ftello(output->file) : 0, more = at - output->begun;
    if (more < BEGIN_BYTES)
        return;
    sync_file_range(fileno(output->file), output->begun, more, SYNC_FILE_RANGE_WRITE); /* if it fails, closing or fsync() tells of it */
    output->begun = at;
}

void dfr_output_pause(struct dfr_output *output)
{
    begin_writing(output);
    release_limit(output);
    output->blocks = false;
}

void dfr_output_resume(struct dfr_output *output)
{
    if (!output->blocks)
        block_limit(output);
}

/* ---- opening ---- */

enum { ROOM_TRIES = 100 };

static int fail(struct dfr_output *output, const char *path, const char *why, struct df_error *error)
{
    dfr_error(error, DF_E_IO, "cannot write '%s': %s", path, why);
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
    return DF_E_IO;
}

/* The path of the file itself, with links followed. NULL: no memory. */
static char *real_place(const char *path)
{
    char resolved[PATH_MAX];
    return strdup(realpath(path, resolved) ? resolved : path);
}

int dfr_output_make_room(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    if (lstat(path, &status) != 0)
        return errno;
    return !S_ISDIR(status.st_mode) ? ENOTDIR : 0;
}

/* The name of a temporary file, ending in XXXXXX: in the folder of the file itself, or in `room` there, which is made. NULL, with errno. */
static char *temporary_name(const char *path, const char *room, int64_t wave)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *name = NULL;
    int n = room ? asprintf(&name, "%.*s%s/%s.%lld-XXXXXX", (int)(base - path), path, room, base, (long long)wave)
                 : asprintf(&name, "%.*s.dfc-XXXXXX", (int)(base - path), path);
    if (n < 0)
        return NULL;
    if (room) {
        char *end = strrchr(name, '/');
        *end = '\0';
        const int error = dfr_output_make_room(name);
        *end = '/';
        if (error != 0) {
            free(name);
            errno = error;
            return NULL;
        }
    }
    return name;
}

DFR_PROCESS_LOCK(opening);

/* As open() of a regular file, but never descriptor 0, 1 or 2, which may be free in a host process: else what another thread prints would
 * be in the file. So these are taken meanwhile, by one thread at a time. */
static int open_above_standard(const char *path, int flags)
{
    int taken[3], n = 0;
    pthread_mutex_lock(&opening);
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && (taken[n] = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0)
            n++;
    int file = open(path, flags | O_CLOEXEC, 0666), error = errno;
    while (n > 0)
        close(taken[--n]);
    pthread_mutex_unlock(&opening);
    errno = error;
    return file;
}

/* As mkstemp(), but with the rights that open() gives. umask() tells them only by a change that all threads of the process would see. */
static int make_new(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    enum { RANDOM = 6, TRIES = 1000 };
    unsigned char random[RANDOM];
    int fd = -1;
    for (int i = 0; fd < 0 && i < TRIES && (i == 0 || errno == EEXIST); i++) {
        if (getrandom(random, sizeof random, 0) != sizeof random)
            return -1;
        for (int k = 0; k < RANDOM; k++)
            name[strlen(name) - RANDOM + (size_t)k] = letters[random[k] % (sizeof letters - 1)];
        fd = open_above_standard(name, O_RDWR | O_CREAT | O_EXCL);
    }
    return fd;
}

/* Opens an unnamed file (O_TMPFILE) in the folder of that path, which disappears however the process ends. -1 with errno; not all file systems have them. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const int fd = folder ? open_above_standard(folder, O_TMPFILE | O_RDWR) : -1;
    const int error = errno;
    free(folder);
    errno = error;
    return fd;
}

static bool has_no_nameless(int error)
{
    return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
}

/* Makes the temporary file beside output->path, or in `room` there, and gives its descriptor, or -1 with errno. */
static int make_temporary(struct dfr_output *output, const char *room, int64_t wave)
{
    output->temporary = temporary_name(output->path, room, wave);
    if (!output->temporary)
        return -1;
    sigset_t before;
    dfr_unfinished_enter(&before);
    int fd = make_new(output->temporary), error = errno;
    if (fd >= 0)
        dfr_unfinished_add(output->temporary);
    dfr_unfinished_leave(&before);
    errno = error;
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return -1;
    }
    return fd;
}

/* Sets *regular: whether the path is a regular file or none yet. Gives the reason if it cannot be written, else
 * NULL. */
static const char *look(const char *path, bool *regular)
{
    struct stat status;
    *regular = true;
    if (!*path)
        return "the name is empty";
    if (stat(path, &status) != 0)
        return NULL;
    if (S_ISDIR(status.st_mode))
        return "it is a folder";
    *regular = S_ISREG(status.st_mode);
    return access(path, W_OK) == 0 ? NULL : strerror(errno);
}

static int open_temporary(struct dfr_output *output, const char *path, const char *room, int64_t wave, struct df_error *error)
{
    bool regular;
    memset(output, 0, sizeof *output);
    const char *why = look(path, &regular);
    if (why)
        return fail(output, path, why, error);
    output->path = real_place(path);
    if (!output->path)
        return dfr_error_memory(error);
    if (!regular) {
        output->file = fopen(path, "w");
        if (!output->file)
            return fail(output, path, strerror(errno), error);
        block_limit(output);
        return DF_OK;
    }
    output->replaces = access(output->path, F_OK) == 0;
    int fd = -1;
    for (unsigned i = 0; fd < 0 && i < ROOM_TRIES; i++) { /* another process may remove the room while it is empty */
        fd = make_temporary(output, room, wave);
        if (fd < 0 && (!room || errno != ENOENT))
            break;
    }
    if (fd < 0)
        return fail(output, path, strerror(errno), error);
    output->file = fdopen(fd, "w");
    if (!output->file) {
        int code = errno;
        close(fd);
        unlink(output->temporary);
        dfr_unfinished_drop(output->temporary);
        return fail(output, path, strerror(code), error);
    }
    block_limit(output);
    return DF_OK;
}

int dfr_output_open(struct dfr_output *output, const char *path, struct df_error *error)
{
    return open_temporary(output, path, NULL, 0, error);
}

int dfr_output_open_in(struct dfr_output *output, const char *path, const char *room, int64_t wave, struct df_error *error)
{
    return open_temporary(output, path, room, wave, error);
}

/* ---- files that another run goes on with ---- */

char *dfr_output_part_path(const char *path)
{
    char *real = real_place(path), *text = NULL;
    if (real && asprintf(&text, "%s.part", real) < 0)
        text = NULL;
    free(real);
    return text;
}

/* Cuts the file to its first `at` bytes, and goes behind them. NULL, or why not. */
static const char *cut(FILE *file, int64_t at)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0)
        return strerror(errno);
    if (status.st_size < at)
        return "it is shorter than what an earlier run has written to it";
    return ftruncate(fileno(file), (off_t)at) == 0 && fseeko(file, (off_t)at, SEEK_SET) == 0 ? NULL : strerror(errno);
}

int dfr_output_continue(struct dfr_output *output, const char *path, int64_t at, struct df_error *error)
{
    bool regular;
    memset(output, 0, sizeof *output);
    const char *why = look(path, &regular);
    if (why || !regular)
        return why ? fail(output, path, why, error) : dfr_output_open(output, path, error);
    output->path = real_place(path);
    output->temporary = dfr_output_part_path(path);
    if (!output->path || !output->temporary) {
        fail(output, path, "", NULL);
        return dfr_error_memory(error);
    }
    if (at > 0 && access(output->temporary, F_OK) != 0 && rename(output->path, output->temporary) != 0)
        return fail(output, output->temporary, strerror(errno), error);
    int fd = open_above_standard(output->temporary, O_RDWR | O_CREAT | O_NOFOLLOW); /* its name can be guessed */
    output->file = fd < 0 ? NULL : fdopen(fd, "r+");
    why = output->file ? cut(output->file, at) : errno == ELOOP ? "it is a link, which may be another's" : strerror(errno);
    if (why) {
        char *part = output->temporary;
        output->temporary = NULL;
        if (output->file)
            fclose(output->file);
        else if (fd >= 0)
            close(fd);
        fail(output, part, why, error);
        free(part);
        return DF_E_IO;
    }
    output->stays = true;
    block_limit(output);
    return DF_OK;
}

int dfr_output_scratch(struct dfr_output *output, const char *path, struct df_error *error)
{
    memset(output, 0, sizeof *output);
    output->path = real_place(path);
    if (!output->path)
        return dfr_error_memory(error);
    int fd = open_nameless(output->path);
    if (fd < 0 && has_no_nameless(errno) && (fd = make_temporary(output, NULL, 0)) >= 0) {
        unlink(output->temporary);
        dfr_unfinished_drop(output->temporary);
        free(output->temporary);
        output->temporary = NULL;
    }
    if (fd < 0)
        return fail(output, path, strerror(errno), error);
    if (!(output->file = fdopen(fd, "w+"))) {
        int code = errno;
        close(fd);
        return fail(output, path, strerror(code), error);
    }
    block_limit(output);
    return DF_OK;
}

/* ---- closing ---- */

void dfr_output_sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    int fd = open(!slash ? "." : slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash)
        *slash = '/';
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int dfr_output_flush(FILE *file)
{
    const int before = ferror(file) ? errno : 0; /* a long token leaves by the write itself */
    errno = 0;
    if (fflush(file) == 0 && !ferror(file))
        return 0;
    return errno ? errno : before ? before : EIO;
}

/* Writes out and closes the file. Gives 0, or the errno of the first thing that went wrong. */
static int finish(FILE *file)
{
    int code = dfr_output_flush(file);
    if (fclose(file) != 0 && code == 0)
        code = errno;
    return code;
}

int dfr_output_close(struct dfr_output *output, bool keep, struct df_error *error)
{
    int status = DF_OK, code = 0;
    if (output->syncs && keep && (fflush(output->file) != 0 || fsync(fileno(output->file)) != 0))
        code = errno;
    int closed = output->file ? finish(output->file) : 0;
    code = code ? code : closed;
    if (keep && code == 0 && output->temporary && rename(output->temporary, output->path) != 0)
        code = errno;
    if (keep && code != 0)
        status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", output->path, strerror(code));
    if (output->syncs && keep && code == 0)
        dfr_output_sync_folder(output->path);
    if (output->temporary && !output->stays && (!keep || code != 0))
        unlink(output->temporary);
    if (output->temporary && !output->stays)
        dfr_unfinished_drop(output->temporary);
    release_limit(output);
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
    return status;
}

enum { PART_TRIES = 10000 };

/* A name that no file has. NULL, with errno. The file of another process may take it meanwhile: link() tells. */
static char *take_part_name(const char *path, const char *temporary)
{
    for (unsigned i = 1; i < PART_TRIES; i++) {
        char number[16] = "", *name;
        if (i > 1)
            snprintf(number, sizeof number, "%u", i);
        if (asprintf(&name, "%s.part%s", path, number) < 0)
            return NULL;
        if (link(temporary, name) == 0) {
            unlink(temporary);
            return name;
        }
        /* some file systems have no links */
        if (errno != EEXIST && access(name, F_OK) != 0 && rename(temporary, name) == 0)
            return name;
        const int code = errno;
        free(name);
        errno = code;
        if (code != EEXIST)
            return NULL;
    }
    return NULL;
}

int dfr_output_close_part(struct dfr_output *output, char **part, struct df_error *error)
{
    char *path, *temporary;
    int status = dfr_output_hold(output, &path, &temporary, error);
    *part = NULL;
    if (status != DF_OK || !temporary)
        return status;
    if (!(*part = take_part_name(path, temporary))) {
        status = dfr_error(error, DF_E_IO, "cannot write '%s.part': %s", path, strerror(errno));
        unlink(temporary);
    }
    dfr_unfinished_drop(temporary);
    free(path);
    free(temporary);
    return status;
}

int dfr_output_hold(struct dfr_output *output, char **path, char **temporary, struct df_error *error)
{
    int status = DF_OK;
    *path = output->temporary ? strdup(output->path) : NULL;
    *temporary = output->temporary;
    if (*temporary && !*path)
        status = dfr_error_memory(error);
    else if (*temporary && output->syncs && (fflush(output->file) != 0 || fsync(fileno(output->file)) != 0))
        status = dfr_error(error, DF_E_IO, "cannot write '%s': %s", output->path, strerror(errno));
    output->syncs = false;
    output->temporary = NULL;           /* so it is not renamed */
    int closed = dfr_output_close(output, status == DF_OK, error);
    status = status == DF_OK ? closed : status;
    if (status == DF_OK || !*temporary)
        return status;
    unlink(*temporary);
    dfr_unfinished_drop(*temporary);
    free(*temporary);
    free(*path);
    *temporary = *path = NULL;
    return status;
}

int dfr_output_check(const char *path, struct df_error *error)
{
    struct dfr_output output = { 0 };
    bool regular;
    const char *why = look(path, &regular);
    if (why || !regular) /* opening a pipe would wait for its reader */
        return why ? fail(&output, path, why, error) : DF_OK;
    char *real = real_place(path);
    const int fd = real ? open_nameless(real) : -1, code = real ? errno : ENOMEM;
    free(real);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 || !has_no_nameless(code))
        return fd >= 0 ? DF_OK : fail(&output, path, strerror(code), error);
    int status = dfr_output_open(&output, path, error);
    return status == DF_OK ? dfr_output_close(&output, false, error) : status;
}

/* Returns whether both paths have the same last part, in the same folder. */
static bool same_place(const char *a, const char *b)
{
    const char *a_slash = strrchr(a, '/'), *b_slash = strrchr(b, '/');
    struct stat a_folder, b_folder;
    if (strcmp(a_slash ? a_slash + 1 : a, b_slash ? b_slash + 1 : b) != 0)
        return false;
    char *a_name = a_slash ? strndup(a, (size_t)(a_slash - a) + 1) : strdup("."), *b_name = b_slash ? strndup(b, (size_t)(b_slash - b) + 1) : strdup(".");
    const bool same = a_name && b_name && stat(a_name, &a_folder) == 0 && stat(b_name, &b_folder) == 0 && a_folder.st_dev == b_folder.st_dev &&
                      a_folder.st_ino == b_folder.st_ino;
    free(a_name);
    free(b_name);
    return same;
}

bool dfr_output_is(const char *path, const char *other)
{
    struct stat a, b;
    const bool a_is = stat(path, &a) == 0, b_is = stat(other, &b) == 0;
    if (a_is && b_is)
        return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return !a_is && !b_is && (strcmp(path, other) == 0 || same_place(path, other));
}

void dfr_standard_files_hold(void)
{
    for (int fd = 0; fd <= 2; fd++) /* open() gives the lowest free number, which is this one */
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            return;
}

void dfr_output_flush_printed(void)
{
    if (ftrylockfile(stdout) == 0) {
        fflush_unlocked(stdout);
        funlockfile(stdout);
    }
}

void dfr_output_leave(int status)
{
    dfr_output_flush_printed();
    _exit(status);
}

void dfr_make_folders(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0777);
        *slash = '/';
    }
    free(copy);
}
