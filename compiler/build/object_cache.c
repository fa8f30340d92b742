/* object_cache.c - keeps and finds compiled objects (object_cache.h). Paths in the work folder, whose name is new
 * in every build, are written with "@" in its place.
 */
#include "compiler/build/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compiler/build/identity.h"
#include "runtime/base/intern.h"
#include "runtime/start/learn.h"

#define HEAD "dfc object 2\n"

/* ---- the folder ---- */

/* malloc'ed; NULL: there is no cache. */
static char *cache_folder(void)
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

/* Makes the folder, and those above it. false: it is not there, or is not the user's own. */
static bool is_own_folder(const char *folder)
{
    char inside[PATH_MAX];
    struct stat info;
    if (snprintf(inside, sizeof inside, "%s/", folder) >= (int)sizeof inside)
        return false;
    dfr_learn_make_folders(inside);
    return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
           !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/* ---- hashes ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return dfr_hash(hash, text, strlen(text) + 1);
}

/* The word with "@" in place of the work folder. */
static uint64_t hash_word(uint64_t hash, const char *word, const char *work)
{
    const char *at = strstr(word, work);
    if (!at)
        return hash_text(hash, word);
    hash = dfr_hash(hash, word, (size_t)(at - word));
    return hash_text(hash_text(hash, "@"), at + strlen(work));
}

/* The processor, if a flag has the compiler look at it: homes are shared by unlike machines. */
static uint64_t hash_processor(uint64_t hash)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 1) /* those of the first one */
        if (strncmp(line, "model", 5) == 0 || strncmp(line, "flags", 5) == 0 || strncmp(line, "vendor", 6) == 0)
            hash = hash_text(hash, line);
    free(line);
    if (file)
        fclose(file);
    return hash;
}

/* By such flags a compiler reads files that it does not list, or writes others than the object. */
static bool is_beyond(const char *word)
{
    static const char *const beginnings[] = { "@", "-fprofile", "-fauto-profile", "-fbranch-probabilities", "--coverage", "-coverage", "-ftest-coverage",
                                              "-fplugin", "-specs", "--specs", "-B", "-fdump", "-save-temps", "--save-temps", "-gsplit-dwarf",
                                              "-fstack-usage", "-fcallgraph-info", "-Wa,", "-wrapper" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Does the text mean something else tomorrow, or is there more of it in a file that is not listed? */
static bool is_elsewhere(const char *path)
{
    static const char *const words[] = { "__DATE__", "__TIME__", "__TIMESTAMP__", "incbin" };
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    bool found = false;
    if (file && getdelim(&text, &room, '\0', file) > 0)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            found |= strstr(text, words[i]) != NULL;
    free(text);
    if (file)
        fclose(file);
    return found;
}

static bool can_be_kept(const struct dfc_build_unit *unit, const struct dfc_list *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        if (is_beyond(argv->items[i]))
            return false;
    return !argv->failed && (!unit->path || !is_elsewhere(unit->source));
}

/* What the unit of the program includes beside what its compiler lists. */
static uint64_t hash_image(uint64_t hash, const struct dfc_program *p, const struct dfc_build_unit *unit)
{
    char path[PATH_MAX];
    struct dfc_content image = { 0 };
    if (!unit->path && !unit->level && !unit->gpu_formulas && snprintf(path, sizeof path, "%s/%s.image", p->work, p->stem) < (int)sizeof path)
        dfc_content_of(path, &image);
    return dfr_hash(hash, &image, sizeof image);
}

static uint64_t hash_compilers(uint64_t hash, const struct dfc_program *p, const struct dfc_build_unit *unit)
{
    static char *host_names[] = { "gcc", "c++", NULL };
    const struct dfc_list host = { .items = host_names, .n = 2 }, *own = unit->kind == DFC_CODE_CUDA ? &p->tools.nvcc : unit->kind == DFC_CODE_CXX ? &p->tools.cxx : &p->tools.cc;
    const uint64_t hashes[] = { dfc_compiler_hash(own, NULL, 0), unit->kind == DFC_CODE_CUDA ? dfc_compiler_hash(&host, NULL, 0) : 0 };
    return dfr_hash(hash, hashes, sizeof hashes);
}

char *dfc_cache_entry(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_list *argv)
{
    static const char *const variables[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH",
                                             "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "SOURCE_DATE_EPOCH" };
    char here[PATH_MAX], *folder = cache_folder(), *entry = NULL;
    struct dfc_content text;
    uint64_t hash = hash_text(0, HEAD);
    if (folder && can_be_kept(unit, argv) && is_own_folder(folder) && getcwd(here, sizeof here) && dfc_content_of(unit->source, &text)) {
        if (unit->kind == DFC_CODE_CUDA || dfc_flags_decide_on_debug(p))
            hash = hash_text(hash, here);
        for (size_t i = 0; i < argv->n; i++) {
            hash = hash_word(hash, argv->items[i], p->work);
            if (strstr(argv->items[i], "native"))
                hash = hash_processor(hash);
        }
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
            hash = hash_text(hash, getenv(variables[i]) ? getenv(variables[i]) : "");
        hash = dfr_hash(hash_image(hash_compilers(hash, p, unit), p, unit), &text, sizeof text);
        if (asprintf(&entry, "%s/%016" PRIx64, folder, hash) < 0)
            entry = NULL;
    }
    free(folder);
    return entry;
}

/* ---- copies ---- */

static FILE *open_part(const char *entry, const char *ending, const char *mode)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s%s", entry, ending) < (int)sizeof path ? fopen(path, mode) : NULL;
}

/* Copies all bytes. false: reading or writing failed. */
static bool copy(FILE *from, FILE *to)
{
    static unsigned char buffer[1 << 16];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n)
            return false;
    return !ferror(from);
}

static bool copy_to_object(const char *entry, const char *object)
{
    FILE *from = open_part(entry, ".o", "rb"), *to = from ? fopen(object, "wb") : NULL;
    bool good = to && copy(from, to);
    if (to)
        good &= fclose(to) == 0;
    if (from)
        fclose(from);
    return good;
}

/* ---- finding ---- */

/* Does a line of a record, "BYTES HASH PATH", say what the file is now? Adds the file. */
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
    return dfc_content_of(path, &is) && is.bytes == want.bytes && is.hash == want.hash;
}

bool dfc_cache_get(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry)
{
    FILE *record = open_part(entry, ".record", "r");
    struct dfc_list files = { 0 };
    char *line = NULL, object[PATH_MAX + 48];
    size_t room = 0;
    struct dfc_content of_object;
    uint64_t bytes, hash;
    bool good = record && getline(&line, &room, record) > 0 && strcmp(line, HEAD) == 0 &&
                getline(&line, &room, record) > 0 &&
                sscanf(line, "%" SCNu64 " %" SCNx64 " object", &bytes, &hash) == 2;
    for (ssize_t n; good && (n = getline(&line, &room, record)) > 0;) {
        line[n - (line[n - 1] == '\n')] = '\0';
        good = agrees(line, p->work, &files);
    }
    good = good && !files.failed && dfc_write_prerequisites(unit->deps, &files) && copy_to_object(entry, unit->object) && dfc_content_of(unit->object, &of_object) &&
           of_object.bytes == bytes && of_object.hash == hash;
    if (good && snprintf(object, sizeof object, "%s.o", entry) > 0)
        utimensat(AT_FDCWD, object, NULL, 0); /* it was used now */
    dfc_list_free(&files);
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

static bool write_object(FILE *out, const void *object)
{
    FILE *from = fopen(object, "rb");
    bool good = from && copy(from, out);
    if (from)
        fclose(from);
    return good;
}

struct record {
    const struct dfc_program *p;
    const struct dfc_build_unit *unit;
    const struct dfc_list *files;
    struct timespec began;              /* the compiler */
};

/* Was the file changed after the compiler began? Then nobody knows which text it read. */
static bool is_newer(const char *path, struct timespec began)
{
    struct stat info;
    return stat(path, &info) != 0 || info.st_mtim.tv_sec > began.tv_sec ||
           (info.st_mtim.tv_sec == began.tv_sec && info.st_mtim.tv_nsec >= began.tv_nsec);
}

static bool write_record(FILE *out, const void *arg)
{
    const struct record *r = arg;
    struct dfc_content content;
    size_t n_work = strlen(r->p->work);
    if (!dfc_content_of(r->unit->object, &content))
        return false;
    fprintf(out, HEAD "%" PRIu64 " %" PRIx64 " object\n", content.bytes, content.hash);
    for (size_t i = 0; i < r->files->n; i++) {
        const char *name = r->files->items[i];
        bool inside = strncmp(name, r->p->work, n_work) == 0 && name[n_work] == '/';
        if (strchr(name, '\n') || (name[0] == '@' && name[1] == '/') || !dfc_content_of(name, &content) ||
            (!inside && is_newer(name, r->began)))
            return false;
        fprintf(out, "%" PRIu64 " %" PRIx64 " %s%s\n", content.bytes, content.hash, inside ? "@" : "",
                name + (inside ? n_work : 0));
    }
    return true;
}

/* ---- the bound ---- */

struct kept {
    char name[32];
    uint64_t bytes;
    struct timespec used;
};

static int longest_ago_first(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Lists the objects of the folder. Gives how many there are; -1: no memory. */
static long list_kept(DIR *dir, struct kept **kept, uint64_t *sum)
{
    long n = 0, room = 0;
    struct stat info;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length != 18 || strcmp(entry->d_name + 16, ".o") != 0 ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (n == room) {
            struct kept *grown = realloc(*kept, (size_t)(room = 2 * room + 64) * sizeof *grown);
            if (!grown)
                return -1;
            *kept = grown;
        }
        (*kept)[n] = (struct kept){ .bytes = (uint64_t)info.st_size, .used = info.st_mtim };
        memcpy((*kept)[n++].name, entry->d_name, 16);
        *sum += (uint64_t)info.st_size;
    }
    return n;
}

/* What a process that was killed has left: it is an hour old then. */
static void remove_leftovers(DIR *dir)
{
    const time_t now = time(NULL);
    struct stat info;
    char object[32];
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *name = entry->d_name;
        bool left = strncmp(name, ".dfc-", 5) == 0;
        if (strlen(name) == 23 && strcmp(name + 16, ".record") == 0) {
            snprintf(object, sizeof object, "%.16s.o", name);
            left = faccessat(dirfd(dir), object, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        }
        if (left && fstatat(dirfd(dir), name, &info, AT_SYMLINK_NOFOLLOW) == 0 && now - info.st_mtim.tv_sec > 3600)
            unlinkat(dirfd(dir), name, 0);
    }
    rewinddir(dir);
}

void dfc_cache_trim(const char *entry)
{
    char folder[PATH_MAX], name[40];
    struct kept *kept = NULL;
    uint64_t sum = 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(entry, '/') - entry), entry);
    DIR *dir = opendir(folder);
    if (dir)
        remove_leftovers(dir);
    long n = dir ? list_kept(dir, &kept, &sum) : 0;
    if (n > 0)
        qsort(kept, (size_t)n, sizeof *kept, longest_ago_first);
    for (long i = 0; i < n && sum > DFC_CACHE_MOST_BYTES; i++) {
        snprintf(name, sizeof name, "%s.o", kept[i].name);
        unlinkat(dirfd(dir), name, 0);
        snprintf(name, sizeof name, "%s.record", kept[i].name);
        unlinkat(dirfd(dir), name, 0);
        sum -= kept[i].bytes;
    }
    free(kept);
    if (dir)
        closedir(dir);
}

void dfc_cache_put(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry)
{
    struct dfc_list files = { 0 };
    struct stat log;
    /* Nothing was written to the log, so its time is that when it was made. */
    if (stat(unit->log, &log) == 0 && log.st_size == 0 && dfc_prerequisites(unit->deps, &files) && !files.failed) {
        struct record record = { p, unit, &files, log.st_mtim };
        if (keep_part(entry, ".o", write_object, unit->object))
            keep_part(entry, ".record", write_record, &record);
    }
    dfc_list_free(&files);
}
