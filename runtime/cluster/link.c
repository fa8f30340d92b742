/* link.c - finding and loading MPI's plug-in: link.h. */
#include "runtime/cluster/link.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"

/* The folder of this program's file, without a slash at its end. */
static bool find_program_folder(char *folder, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", folder, size - 1);

    if (n <= 0)
        return false;
    folder[n] = 0;
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

/* Loads folder/DFR_MPI_FILE if there is such a file. A file that is there and does not load is an error: *why. */
static void *load_from(const char *folder, const char *below, char *why, size_t size)
{
    char path[PATH_MAX + 32];
    void *plugin;

    if (snprintf(path, sizeof path, "%s%s/" DFR_MPI_FILE, folder, below) >= (int)sizeof path || access(path, F_OK) != 0)
        return NULL;
    plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!plugin && !why[0])
        snprintf(why, size, "%s", dlerror());
    return plugin;
}

static void *load(const char *folder, char *why, size_t size)
{
    const char *named = getenv("DF_MPI");
    char here[PATH_MAX];
    void *plugin = NULL;

    why[0] = 0;
    if (named && named[0]) {
        plugin = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    } else {
        if (folder)
            plugin = load_from(folder, "", why, size);
        if (!plugin && !why[0] && find_program_folder(here, sizeof here)) {
            plugin = load_from(here, "", why, size);
            if (!plugin && !why[0])
                plugin = load_from(here, "/../lib", why, size);
        }
        if (!plugin && !why[0])
            plugin = dlopen(DFR_MPI_FILE, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!plugin && !why[0])
        snprintf(why, size, "%s", dlerror());
    return plugin;
}

int dfr_link_open_mpi(struct dfr_link **link, const char *folder, struct df_error *error)
{
    char why[512];
    void *file = load(folder, why, sizeof why);

    if (!file)
        return dfr_error(error, DF_E_DEVICE, "cannot load MPI's plug-in: %s", why);
    /* It stays loaded: MPI cannot be started twice in a process. */
    const struct dfr_mpi_plugin *plugin = dlsym(file, "dfr_mpi_plugin");
    if (!plugin || plugin->version != DFR_MPI_VERSION)
        return dfr_error(error, DF_E_DEVICE, "MPI's plug-in is of another version of dfc: make it anew, and install it");
    return plugin->open(link, error);
}
