/* home.c - locates dfc's own headers, libraries and plug-ins, for builds, imports and `dfc doctor`, and Graphviz's
 * plug-ins for commands that draw. The build tree, a bundle and an installation have the same layout: bin/dfc, lib/,
 * include/ and share/dfc/. The location therefore follows from the path of the executable. $DFC_HOME overrides it.
 */
#include "compiler/tools/home.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/tools/messages.h"

static char include_dir[PATH_MAX], lib_dir[PATH_MAX], share_dir[PATH_MAX];

/* The folder above the executable's folder. false: the system does not tell. */
static bool beside_executable(char *root, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", root, size - 1);
    if (n <= 0)
        return false;
    root[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(root, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return true;
}

static bool holds(char *dir, size_t size, const char *root, const char *sub, const char *file)
{
    char probe[PATH_MAX];
    int n = snprintf(probe, sizeof probe, "%s/%s/%s", root, sub, file);
    if (n < 0 || (size_t)n >= sizeof probe || access(probe, R_OK) != 0)
        return false;
    n = snprintf(dir, size, "%s/%s", root, sub);
    return n > 0 && (size_t)n < size;
}

/* Finds the folder `sub` that holds `file`. NULL: there is none (reported). */
static const char *find(char *dir, size_t size, const char *sub, const char *file)
{
    if (*dir)
        return dir;
    const char *named = getenv("DFC_HOME");
    char root[PATH_MAX];
    if (named && *named) {
        if (holds(dir, size, named, sub, file))
            return dir;
        dfc_error("$DFC_HOME is '%s', and there is no '%s/%s' in it", named, sub, file);
    } else if (!beside_executable(root, sizeof root)) {
        dfc_error("cannot tell where dfc is installed: set DFC_HOME to the folder that holds %s/%s", sub, file);
    } else {
        if (holds(dir, size, root, sub, file))
            return dir;
        dfc_error("'%s/%s/%s' is missing: install dfc again, or set DFC_HOME to the folder that holds %s/%s", root, sub,
                  file, sub, file);
    }
    *dir = '\0';
    return NULL;
}

const char *dfc_home_include(void)
{
    return find(include_dir, sizeof include_dir, "include", "df.h");
}

const char *dfc_home_lib(void)
{
    return find(lib_dir, sizeof lib_dir, "lib", "libdf.a");
}

/* The folder that holds bin/, lib/ and the others. NULL: nobody tells. */
static const char *home(char *root, size_t size)
{
    const char *named = getenv("DFC_HOME");
    return named && *named ? named : beside_executable(root, size) ? root : NULL;
}

const char *dfc_home_share(void)
{
    char root[PATH_MAX];
    const char *named = home(root, sizeof root);
    return named && holds(share_dir, sizeof share_dir, named, "share/dfc", "std/io.df") ? share_dir : NULL;
}

void dfc_home_graphviz(void)
{
    char root[PATH_MAX], dir[PATH_MAX];
    const char *named = home(root, sizeof root);
    if (named && holds(dir, sizeof dir, named, "lib/graphviz", "config6a"))
        setenv("GVBINDIR", dir, 0);
}
