/* learn_place.c - locates the folder for learned samples, and names the machine (learn.h). Used by programs, which
 * write the files, and by profiles/, which reads them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/output.h"
#include "runtime/graph/graph.h"
#include "runtime/start/learn.h"

/* Makes the folder, for the user alone. DF_E_IO: it is there, and somebody else could put a database into it. The folder
 * is made even if there is only something to read, so that nobody else makes it in the meantime. */
static int make_own_folder(const char *folder, struct df_error *error)
{
    struct stat info;
    const char *why = NULL;
    if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || lstat(folder, &info) != 0)
        why = strerror(errno);
    else if (S_ISLNK(info.st_mode))
        why = "it is a link";
    else if (!S_ISDIR(info.st_mode))
        why = "it is no folder";
    else if (info.st_uid != geteuid())
        why = "it belongs to another user";
    else if (info.st_mode & (S_IWGRP | S_IWOTH))
        why = "others may write into it";
    return !why ? DF_OK
                : dfr_error(error, DF_E_IO, "'%s' is refused as the folder of the profile database: %s; set HOME or"
                                            " DFC_PROFILE", folder, why);
}

/* The path for a user without a home folder. */
static int find_without_home(char **path, struct df_error *error)
{
    const char *temporary = getenv("TMPDIR");
    char *folder;
    if (asprintf(&folder, "%s/dfc-%u", temporary && *temporary == '/' ? temporary : "/tmp", (unsigned)geteuid()) < 0)
        return dfr_error_memory(error);
    int status = make_own_folder(folder, error);
    if (status == DF_OK && asprintf(path, "%s/profile.db", folder) < 0)
        status = dfr_error_memory(error);
    free(folder);
    return status;
}

int dfr_learn_database(char **path, struct df_error *error)
{
    const char *given = getenv("DFC_PROFILE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n;
    if (given && *given)
        n = asprintf(path, "%s", given);
    else if (data && *data == '/')      /* the XDG specification says that a relative path is to be ignored */
        n = asprintf(path, "%s/dfc/profile.db", data);
    else if (home && *home)
        n = asprintf(path, "%s/.local/share/dfc/profile.db", home);
    else
        return find_without_home(path, error);
    return n < 0 ? dfr_error_memory(error) : DF_OK;
}

char *dfr_learn_folder(const char *database)
{
    char *path = NULL;
    return asprintf(&path, "%s.learned", database) < 0 ? NULL : path;
}

int dfr_learn_check(struct df_error *error)
{
    char *database, *folder;
    int status = dfr_learn_database(&database, error);
    if (status != DF_OK)
        return status;
    folder = dfr_learn_folder(database);
    if (!folder) {
        status = dfr_error_memory(error);
    } else {
        dfr_make_folders(folder);
        if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || access(folder, W_OK | X_OK) != 0)
            status = dfr_error(error, DF_E_IO, "--learn: cannot write into '%s': %s", folder, strerror(errno));
    }
    free(database);
    free(folder);
    return status;
}

void dfr_learn_code(const struct df_graph *graph, char text[DFR_CODE_TEXT])
{
    snprintf(text, DFR_CODE_TEXT, "%016" PRIx64, df_graph_code_hash(graph));
}

void dfr_learn_machine(char *buffer, size_t size)
{
    char line[256], model[160] = "CPU";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(model, sizeof model, "%s", colon + 1 + strspn(colon + 1, " \t"));
            model[strcspn(model, "\n")] = 0;
            break;
        }
    }
    if (file)
        fclose(file);
    long n = sysconf(_SC_NPROCESSORS_CONF);
    snprintf(buffer, size, "%s x%ld", model, n > 0 ? n : 1);
}
