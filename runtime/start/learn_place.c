/* learn_place.c - where programs leave what they learned, and on which machine they learned it (learn.h). Both sides
 * call this: the programs that write, and profiles/, which reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/start/learn.h"

char *dfr_learn_database(void)
{
    const char *given = getenv("DFC_PROFILE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int n;
    if (given && *given)
        return strdup(given);
    if (data && *data == '/')           /* the XDG specification says that a relative path is to be ignored */
        n = asprintf(&path, "%s/dfc/profile.db", data);
    else if (home && *home)
        n = asprintf(&path, "%s/.local/share/dfc/profile.db", home);
    else
        n = asprintf(&path, "/tmp/dfc-%u/profile.db", (unsigned)geteuid());
    return n < 0 ? NULL : path;
}

char *dfr_learn_folder(const char *database)
{
    char *path = NULL;
    return asprintf(&path, "%s.learned", database) < 0 ? NULL : path;
}

void dfr_learn_make_folders(const char *path)
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

int dfr_learn_check(struct df_error *error)
{
    char *database = dfr_learn_database(), *folder = database ? dfr_learn_folder(database) : NULL;
    int status = folder ? DF_OK : dfr_error_memory(error);
    if (folder) {
        dfr_learn_make_folders(folder);
        if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || access(folder, W_OK | X_OK) != 0)
            status = dfr_error(error, DF_E_IO, "--learn: cannot write into '%s': %s", folder, strerror(errno));
    }
    free(database);
    free(folder);
    return status;
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
