/* held.c - files that get their names when their wave is accepted (held.h). outputs.c opens and closes them;
 * ranks/replica_waves.c settles them when rank 0 has accepted a wave, and clears the rest. outputs.c also uses its list of
 * folders. */
#include "runtime/record/held.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/unfinished.h"

struct file {
    struct file *next;
    int64_t round, wave;
    char *path, *temporary;
};

struct dfr_held {
    pthread_mutex_t lock;
    char name[32];                      /* of all rooms */
    bool syncs, over;                   /* over: no wave counts any more */
    struct file *files, **last;         /* in the order in which they were closed */
    struct dfr_folder *rooms;
};

bool dfr_held_writes(const struct df_graph *g)
{
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (g->nodes[v].flags & DF_NODE_WORKER && df_node_n_out(g, v) == 0)
            return true;
    return false;
}

static void name_room(uint64_t hash, char *name, size_t size)
{
    snprintf(name, size, ".dfc-%016llx", (unsigned long long)hash);
}

int dfr_held_create(uint64_t hash, bool syncs, struct dfr_held **held, struct df_error *error)
{
    struct dfr_held *h = calloc(1, sizeof *h);
    if (!h)
        return dfr_error_memory(error);
    pthread_mutex_init(&h->lock, NULL);
    name_room(hash, h->name, sizeof h->name);
    h->syncs = syncs;
    h->last = &h->files;
    *held = h;
    return DF_OK;
}

/* ---- rooms ---- */

/* The path of the folder in which this file is, without the '/' at its end. */
static size_t folder_length(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

struct dfr_folder *dfr_folder_note(struct dfr_folder **list, const char *path, size_t n)
{
    struct dfr_folder *f = *list;
    while (f && (strncmp(f->path, path, n) != 0 || f->path[n] != '\0'))
        f = f->next;
    if (f || !(f = calloc(1, sizeof *f + n + 1)))
        return f;
    memcpy(f->path, path, n);
    f->next = *list;
    return *list = f;
}

void dfr_folders_free(struct dfr_folder *list)
{
    for (struct dfr_folder *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/* Removes what is in the room and begins with these n bytes. */
static void sweep(const char *room, const char *begin, size_t n)
{
    const int fd = open(room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, begin, n) == 0 && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

void dfr_held_sweep(const char *folder, uint64_t hash)
{
    char name[32], *room;
    name_room(hash, name, sizeof name);
    if (asprintf(&room, "%s%s", folder, name) < 0)
        return;
    if (access(room, F_OK) == 0) {
        sweep(room, "", 0);
        rmdir(room);
    }
    free(room);
}

/* Removes what others have left of the same file and wave. */
static void sweep_others(char *temporary)
{
    const size_t n = folder_length(temporary);
    const char *name = temporary + n + 1;
    temporary[n] = '\0';
    sweep(temporary, name, (size_t)(strrchr(name, '-') - name) + 1);
    temporary[n] = '/';
}

/* ---- files ---- */

int dfr_held_open(struct dfr_held *h, const char *path, int64_t wave, struct dfr_output *to, struct df_error *error)
{
    int status = dfr_output_open_in(to, path, h->name, wave, error);
    if (status != DF_OK)
        return status;
    to->syncs = h->syncs;
    if (!to->temporary)
        return DF_OK;
    pthread_mutex_lock(&h->lock);
    status = dfr_folder_note(&h->rooms, to->temporary, folder_length(to->temporary)) ? DF_OK : dfr_error_memory(error);
    pthread_mutex_unlock(&h->lock);
    if (status != DF_OK)
        dfr_output_close(to, false, NULL);
    return status;
}

static void free_file(struct file *f)
{
    if (f->temporary)
        dfr_unfinished_drop(f->temporary);
    free(f->path);
    free(f->temporary);
    free(f);
}

int dfr_held_close(struct dfr_held *h, int64_t wave, int64_t round, struct dfr_output *to, struct df_error *error)
{
    struct file *f = calloc(1, sizeof *f);
    if (!f) {
        dfr_output_close(to, false, NULL);
        return dfr_error_memory(error);
    }
    f->round = round;
    f->wave = wave;
    int status = dfr_output_hold(to, &f->path, &f->temporary, error);
    if (status != DF_OK || !f->temporary) { /* or it was written directly */
        free_file(f);
        return status;
    }
    pthread_mutex_lock(&h->lock);
    const bool over = h->over;
    if (!over) {
        *h->last = f;
        h->last = &f->next;
    }
    pthread_mutex_unlock(&h->lock);
    if (over) {
        unlink(f->temporary);
        free_file(f);
    }
    return DF_OK;
}

/* Takes the first file of the round out of the list; NULL: there is none. */
static struct file *take(struct dfr_held *h, int64_t round)
{
    pthread_mutex_lock(&h->lock);
    struct file **at = &h->files, *f;
    while (*at && (*at)->round != round)
        at = &(*at)->next;
    if ((f = *at)) {
        *at = f->next;
        if (!f->next)
            h->last = at;
        f->next = NULL;
    }
    pthread_mutex_unlock(&h->lock);
    return f;
}

/* Gives the file its name. *gone: it is not there any more. */
static int place(const struct dfr_held *h, struct file *f, bool *gone, struct df_error *error)
{
    if (rename(f->temporary, f->path) != 0) {
        const int code = errno;
        *gone |= unlink(f->temporary) != 0 && code == ENOENT && errno == ENOENT;
        return *gone ? DF_OK : dfr_error(error, DF_E_IO, "cannot write '%s': %s", f->path, strerror(code));
    }
    if (h->syncs)
        dfr_output_sync_folder(f->path);
    sweep_others(f->temporary);
    return DF_OK;
}

int dfr_held_settle(struct dfr_held *h, int64_t round, bool counts, bool *stored, struct df_error *error)
{
    int status = DF_OK;
    bool gone = false;
    for (struct file *f; (f = take(h, round));) {
        if (counts && status == DF_OK && !gone)
            status = place(h, f, &gone, error);
        else
            unlink(f->temporary);
        free_file(f);
    }
    *stored = counts && !gone;
    return status;
}

void dfr_held_clear(struct dfr_held *h, bool all)
{
    pthread_mutex_lock(&h->lock);
    h->over = true;
    for (struct file *f = h->files, *next; f; f = next) {
        next = f->next;
        unlink(f->temporary);
        free_file(f);
    }
    h->files = NULL;
    h->last = &h->files;
    for (const struct dfr_folder *r = h->rooms; r; r = r->next) {
        if (all)
            sweep(r->path, "", 0);
        rmdir(r->path);                 /* unless others have files there */
    }
    pthread_mutex_unlock(&h->lock);
}

void dfr_held_free(struct dfr_held *h, bool all)
{
    if (!h)
        return;
    dfr_held_clear(h, all);
    dfr_folders_free(h->rooms);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
