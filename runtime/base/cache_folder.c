/* cache_folder.c - finds, makes and bounds the cache's folder (cache_folder.h), for dfc's caches of objects and programs and for the OpenCL back end's. */
#include "runtime/base/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/output.h"

enum { NAME_ROOM = 40 };

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

int dfr_cache_open(const char *entry)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(entry, '/') - entry), entry);
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool dfr_cache_is_entry(const char *name, const char *ending)
{
    return strlen(name) == DFR_CACHE_KEY_LETTERS + strlen(ending) && strcmp(name + DFR_CACHE_KEY_LETTERS, ending) == 0;
}

struct kept {
    char name[NAME_ROOM];
    uint64_t bytes;
    struct timespec used;
};

static int by_last_use(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Lists the entries, those that were used longest ago first. Returns their bytes. */
static uint64_t list_kept(int folder, const char *ending, struct dfr_array *kept)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* whose place in the list is its own */
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    uint64_t sum = 0;
    struct stat info;
    struct kept *one;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!dfr_cache_is_entry(entry->d_name, ending) || fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!(one = dfr_array_add(kept, sizeof *one, 1)))
            break;
        one->bytes = (uint64_t)info.st_size;
        one->used = info.st_mtim;
        snprintf(one->name, sizeof one->name, "%s", entry->d_name);
        sum += one->bytes;
    }
    if (dir)
        closedir(dir);
    if (kept->n)
        qsort(kept->items, kept->n, sizeof *one, by_last_use);
    return sum;
}

void dfr_cache_trim(int folder, const char *ending, const char *beside, uint64_t most_bytes)
{
    struct dfr_array all = { 0 };
    uint64_t sum = list_kept(folder, ending, &all);
    const struct kept *kept = all.items;
    char name[NAME_ROOM];

    for (uint32_t i = 0; i < all.n && sum > most_bytes; sum -= kept[i++].bytes) {
        unlinkat(folder, kept[i].name, 0);
        snprintf(name, sizeof name, "%.*s%s", DFR_CACHE_KEY_LETTERS, kept[i].name, beside ? beside : "");
        if (beside)
            unlinkat(folder, name, 0);
    }
    dfr_array_free(&all);
}
