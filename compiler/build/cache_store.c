/* cache_store.c - the store below object_cache.c and program_cache.c: builds hash keys, fetches and stores products
 * with the state of the files that they depend on, and removes leftovers and the least recently used (cache_store.h).
 */
#include "compiler/build/cache_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/build/identity.h"
#include "runtime/base/cache_folder.h"
#include "runtime/base/intern.h"
#include "runtime/base/output.h"

#define HEAD "dfc entry 3\n"

const uint64_t DFC_CACHE_MOST_BYTES[DFC_CACHE_KINDS] = { UINT64_C(384) << 20, UINT64_C(128) << 20 };
static const char *const endings[DFC_CACHE_KINDS] = { ".o", ".program" };
static const char *const added[DFC_CACHE_KINDS] = { "added-objects", "added-programs" };
enum { NAME_ROOM = 40, LEFT_AFTER_S = 3600, TICK_NS = 20000000, SLACK = 8, COUNT_UNIT = 1024 };

/* ---- the folder ---- */

char *dfc_cache_entry(char *folder, uint64_t key)
{
    char *entry;
    if (asprintf(&entry, "%s/%016" PRIx64, folder, key) < 0)
        entry = NULL;
    free(folder);
    return entry;
}

/* ---- states and keys ---- */

/* Returns false if it is no regular file that can be read. */
static bool state_of(const char *path, struct dfc_content *state)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    if ((uint64_t)info.st_size <= DFC_CACHE_HASHED_BYTES)
        return dfc_content_of(path, state);
    const int64_t numbers[] = { (int64_t)info.st_dev, (int64_t)info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec };
    *state = (struct dfc_content){ (uint64_t)info.st_size, dfr_hash(0, numbers, sizeof numbers) };
    return true;
}

uint64_t dfc_key_text(uint64_t hash, const char *text)
{
    return dfr_hash(hash, text, strlen(text) + 1);
}

uint64_t dfc_key_word(uint64_t hash, const char *word, const char *work)
{
    const char *at = strstr(word, work);
    if (!at)
        return dfc_key_text(hash, word);
    hash = dfr_hash(hash, word, (size_t)(at - word));
    return dfc_key_text(dfc_key_text(hash, "@"), at + strlen(work));
}

uint64_t dfc_key_variables(uint64_t hash, const char *const *names)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        hash = dfc_key_text(hash, value ? value : "");
    }
    return hash;
}

uint64_t dfc_key_file(uint64_t hash, const char *path)
{
    struct dfc_content state = { 0 };
    if (!state_of(path, &state))
        state = (struct dfc_content){ 0 };
    return dfr_hash(hash, &state, sizeof state);
}

/* Returns whether the file was changed after the command began. Times of files are those of the system's last tick, so a file whose state includes its
 * times must be older. */
static bool is_newer(const char *path, struct timespec began)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return true;
    const bool by_times = (uint64_t)info.st_size > DFC_CACHE_HASHED_BYTES;
    const struct timespec changed = by_times && info.st_ctim.tv_sec > info.st_mtim.tv_sec ? info.st_ctim : info.st_mtim;
    const int64_t age_ns = (began.tv_sec - changed.tv_sec) * INT64_C(1000000000) + began.tv_nsec - changed.tv_nsec;
    return age_ns <= (by_times ? TICK_NS : 0);
}

/* ---- copies ---- */

/* Opens FOLDER/KEY.ending. */
static FILE *open_part(const char *entry, const char *ending, const char *mode)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s%s", entry, ending) < (int)sizeof path ? fopen(path, mode) : NULL;
}

/* Copies all bytes. Returns false if reading or writing failed. */
static bool copy(FILE *from, FILE *to)
{
    static unsigned char buffer[1 << 16];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return !ferror(from);
}

/* Who may read it may execute it, as after linking. */
static bool make_executable(FILE *file)
{
    struct stat info;
    return fstat(fileno(file), &info) == 0 && fchmod(fileno(file), (info.st_mode & 0777) | (info.st_mode & 0444) >> 2) == 0;
}

static bool copy_out(const struct dfc_cache_file *file)
{
    FILE *from = open_part(file->entry, endings[file->kind], "rbe"), *to = from ? fopen(file->path, "wbe") : NULL;
    bool good = to && copy(from, to) && (!file->executable || make_executable(to));
    if (to)
        good &= fclose(to) == 0;
    if (from)
        fclose(from);
    return good;
}

/* ---- finding ---- */

/* Returns whether a line of a record, "BYTES HASH PATH", matches the state of the file. Adds the file to the list. */
static bool agrees(const char *line, const char *work, struct dfc_list *files)
{
    struct dfc_content want, is;
    char path[PATH_MAX];
    int at = 0;
    if (sscanf(line, "%" SCNu64 " %" SCNx64 " %n", &want.bytes, &want.hash, &at) < 2 || !at)
        return false;
    const char *name = line + at;
    bool inside = name[0] == '@' && name[1] == '/';
    if (snprintf(path, sizeof path, "%s%s", inside ? work : "", name + inside) >= (int)sizeof path)
        return false;
    dfc_list_add(files, "%s", path);
    return state_of(path, &is) && is.bytes == want.bytes && is.hash == want.hash;
}

/* The file was used now. */
static void touch(const struct dfc_cache_file *file)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s%s", file->entry, endings[file->kind]) < (int)sizeof path)
        utimensat(AT_FDCWD, path, NULL, 0);
}

bool dfc_cache_get(const struct dfc_cache_file *file, struct dfc_list *files)
{
    FILE *record = open_part(file->entry, ".record", "re");
    char *line = NULL;
    size_t room = 0;
    struct dfc_content want, is;
    bool good = record && getline(&line, &room, record) > 0 && strcmp(line, HEAD) == 0 &&
                getline(&line, &room, record) > 0 &&
                sscanf(line, "%" SCNu64 " %" SCNx64 " made", &want.bytes, &want.hash) == 2;
    for (ssize_t n; good && (n = getline(&line, &room, record)) > 0;) {
        line[n - (line[n - 1] == '\n')] = '\0';
        good = agrees(line, file->work, files);
    }
    good = good && !files->failed && copy_out(file) && dfc_content_of(file->path, &is) && is.bytes == want.bytes && is.hash == want.hash;
    if (good)
        touch(file);
    free(line);
    if (record)
        fclose(record);
    return good;
}

/* ---- keeping ---- */

/* Writes one part of the entry, whole or not at all. */
static bool keep_part(const char *entry, const char *ending, bool (*write)(FILE *out, const void *arg), const void *arg)
{
    struct dfr_output output;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s%s", entry, ending) >= (int)sizeof path ||
        dfr_output_open(&output, path, NULL) != DF_OK)
        return false;
    bool good = write(output.file, arg);
    return dfr_output_close(&output, good, NULL) == DF_OK && good;
}

static bool write_file(FILE *out, const void *path)
{
    FILE *from = fopen(path, "rbe");
    bool good = from && copy(from, out);
    if (from)
        fclose(from);
    return good;
}

struct record {
    const struct dfc_cache_file *file;
    const struct dfc_list *files;
    struct timespec began;              /* the command */
};

static bool write_record(FILE *out, const void *arg)
{
    const struct record *r = arg;
    struct dfc_content state;
    size_t n_work = strlen(r->file->work);
    if (!dfc_content_of(r->file->path, &state))
        return false;
    fprintf(out, HEAD "%" PRIu64 " %" PRIx64 " made\n", state.bytes, state.hash);
    for (size_t i = 0; i < r->files->n; i++) {
        const char *name = r->files->items[i];
        bool inside = strncmp(name, r->file->work, n_work) == 0 && name[n_work] == '/';
        if (strchr(name, '\n') || (name[0] == '@' && name[1] == '/') || !state_of(name, &state) ||
            (!inside && is_newer(name, r->began)))
            return false;
        fprintf(out, "%" PRIu64 " %" PRIx64 " %s%s\n", state.bytes, state.hash, inside ? "@" : "",
                name + (inside ? n_work : 0));
    }
    return true;
}

/* Counts the file as added: its counter grows by a byte for each COUNT_UNIT bytes. Appending needs no lock, and leaves a valid count if the process is killed. */
static void count_added(const struct dfc_cache_file *file)
{
    static const char zeros[1 << 12];
    struct stat info;
    const int folder = dfr_cache_open(file->entry), counter = folder < 0 ? -1 : openat(folder, added[file->kind], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (counter >= 0 && stat(file->path, &info) == 0)
        for (uint64_t left = (uint64_t)info.st_size / COUNT_UNIT + 1; left;) {
            const ssize_t n = write(counter, zeros, left < sizeof zeros ? left : sizeof zeros);
            if (n <= 0)
                break;
            left -= (uint64_t)n;
        }
    if (counter >= 0)
        close(counter);
    if (folder >= 0)
        close(folder);
}

void dfc_cache_put(const struct dfc_cache_file *file, const struct dfc_list *files, struct timespec began)
{
    const struct record record = { file, files, began };
    if (files->failed)
        return;
    count_added(file);
    if (keep_part(file->entry, endings[file->kind], write_file, file->path))
        keep_part(file->entry, ".record", write_record, &record);
}

/* ---- the bound ---- */

/* Is it a record whose file is not there? */
static bool is_bare_record(int folder, const char *name)
{
    char file[NAME_ROOM];
    bool bare = dfr_cache_is_entry(name, ".record");
    for (int kind = 0; bare && kind < DFC_CACHE_KINDS; kind++) {
        snprintf(file, sizeof file, "%.*s%s", DFR_CACHE_KEY_LETTERS, name, endings[kind]);
        bare = faccessat(folder, file, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    }
    return bare;
}

/* Removes what killed processes have left, once it is an hour old. */
static void remove_leftovers(int folder)
{
    const time_t now = time(NULL);
    const int again = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    struct stat info;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if ((strncmp(entry->d_name, ".dfc-", 5) == 0 || is_bare_record(folder, entry->d_name)) &&
            fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && now - info.st_mtim.tv_sec > LEFT_AFTER_S)
            unlinkat(folder, entry->d_name, 0);
    if (dir)
        closedir(dir);
}

/* Returns whether so much was added since the last trim that the bound may be exceeded. A folder without a counter is trimmed. */
static bool may_exceed(int folder, enum dfc_cache_kind kind)
{
    struct stat info;
    return fstatat(folder, added[kind], &info, 0) != 0 || (uint64_t)info.st_size * COUNT_UNIT >= DFC_CACHE_MOST_BYTES[kind] / SLACK;
}

/* Counts from 0 again. */
static void reset_counter(int folder, enum dfc_cache_kind kind)
{
    const int counter = openat(folder, added[kind], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (counter >= 0)
        close(counter);
}

void dfc_cache_trim(const char *entry)
{
    const int folder = dfr_cache_open(entry);
    bool trimmed = false;
    if (folder < 0)
        return;
    for (int kind = 0; kind < DFC_CACHE_KINDS; kind++) {
        if (!may_exceed(folder, kind))
            continue;
        dfr_cache_trim(folder, endings[kind], ".record", DFC_CACHE_MOST_BYTES[kind] - DFC_CACHE_MOST_BYTES[kind] / SLACK);
        reset_counter(folder, kind);            /* after that: a process that is killed before leaves the trim to the next one */
        trimmed = true;
    }
    if (trimmed)
        remove_leftovers(folder);
    close(folder);
}
