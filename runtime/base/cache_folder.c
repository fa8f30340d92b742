/* cache_folder.c - finds and makes the cache's folder (cache_folder.h). */
#include "runtime/base/cache_folder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/output.h"

/* malloc'ed; NULL: there is no cache. */
static char *name_folder(void)
{
    const char *given = getenv("DFC_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *folder = NULL;
    int n;
    if (given && strcmp(given, "none") == 0)
        return NULL;
    if (given && *given)
        n = asprintf(&folder, "%s", given);
    else if (cache && *cache == '/')
        n = asprintf(&folder, "%s/dfc", cache);
    else if (home && *home)
        n = asprintf(&folder, "%s/.cache/dfc", home);
    else
        return NULL;
    return n < 0 ? NULL : folder;
}

/* Makes the folder, and those above it. Returns false if it is not there, or is not the user's own. */
static bool is_own_folder(const char *folder)
{
    char inside[PATH_MAX];
    struct stat info;
    if (snprintf(inside, sizeof inside, "%s/", folder) >= (int)sizeof inside)
        return false;
    dfr_make_folders(inside);
    return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

char *dfr_cache_folder(void)
{
    char *folder = name_folder();
    if (folder && is_own_folder(folder))
        return folder;
    free(folder);
    return NULL;
}
