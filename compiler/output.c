/* output.c - a file that appears whole or not at all: written under a temporary name in its own folder and renamed when
 * it is complete. What is no regular file (a pipe, /dev/null) cannot be replaced and is written directly.
 */
#include "compiler/command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the file really is: a link is followed, so that renaming never replaces the link (nor, say, /dev/stdout).
 * NULL: no memory. */
static char *real_place(const char *path)
{
    char resolved[PATH_MAX];
    return strdup(realpath(path, resolved) ? resolved : path);
}

static bool fail(struct dfc_output *output, const char *path, const char *why)
{
    dfc_error("cannot write '%s': %s", path, why);
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
    return false;
}

/* The temporary file beside `place`; its descriptor, or -1 with errno. */
static int make_temporary(struct dfc_output *output, const char *place)
{
    const char *slash = strrchr(place, '/');
    int folder = slash ? (int)(slash - place) + 1 : 0;
    if (asprintf(&output->temporary, "%.*s.dfc-XXXXXX", folder, place) < 0) {
        output->temporary = NULL;
        errno = ENOMEM;
        return -1;
    }
    int fd = mkstemp(output->temporary);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fd;
}

bool dfc_output_open(struct dfc_output *output, const char *path)
{
    memset(output, 0, sizeof *output);
    if (!path || strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    if (!*path)
        return fail(output, path, "the name is empty");
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return fail(output, path, "it is a folder");
    output->path = real_place(path);
    if (!output->path)
        return fail(output, path, "out of memory");
    if (there && !S_ISREG(status.st_mode)) {
        output->file = fopen(path, "w");
        return output->file ? true : fail(output, path, strerror(errno));
    }
    if (there && access(path, W_OK) != 0)
        return fail(output, path, strerror(errno));
    int fd = make_temporary(output, output->path);
    if (fd < 0)
        return fail(output, path, strerror(errno));
    output->file = fdopen(fd, "w");
    if (!output->file) {
        int error = errno;
        close(fd);
        unlink(output->temporary);
        return fail(output, path, strerror(error));
    }
    return true;
}

bool dfc_output_close(struct dfc_output *output, bool keep)
{
    bool whole = true;
    if (output->file == stdout) {
        if (keep && (fflush(stdout) != 0 || ferror(stdout))) {
            dfc_error("cannot write to the standard output: %s", strerror(errno));
            whole = false;
        }
        memset(output, 0, sizeof *output);
        return whole;
    }
    if (output->file) {
        bool written = fflush(output->file) == 0 && !ferror(output->file);
        int error = errno;
        if (fclose(output->file) != 0 && written) {
            written = false;
            error = errno;
        }
        if (keep && !written) {
            dfc_error("cannot write '%s': %s", output->path, strerror(error));
            whole = false;
        }
    }
    if (output->temporary) {
        if (keep && whole && rename(output->temporary, output->path) != 0) {
            dfc_error("cannot write '%s': %s", output->path, strerror(errno));
            whole = false;
        }
        if (!keep || !whole)
            unlink(output->temporary);
    }
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
    return whole;
}
