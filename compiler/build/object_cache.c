/* object_cache.c - the cache of compiled objects, for build_units.c: computes their keys, fetches and stores them, and
 * keeps which flags a compiler takes (object_cache.h).
 */
#include "compiler/build/object_cache.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/build/cache_store.h"
#include "compiler/build/identity.h"
#include "runtime/base/cache_folder.h"
#include "runtime/base/intern.h"

/* Hashes the processor's model and features, for -march=native: machines with different processors may share a home folder. */
static uint64_t hash_processor(uint64_t hash)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 1) /* those of the first one */
        if (strncmp(line, "model", 5) == 0 || strncmp(line, "flags", 5) == 0 || strncmp(line, "vendor", 6) == 0)
            hash = dfc_key_text(hash, line);
    free(line);
    if (file)
        fclose(file);
    return hash;
}

bool dfc_is_beyond_cache(const char *word)
{
    static const char *const beginnings[] = { "@", "-fprofile", "-fauto-profile", "-fbranch-probabilities", "--coverage", "-coverage", "-ftest-coverage",
                                              "-fplugin", "-specs", "--specs", "-B", "-fdump", "-fopt-info", "-fsave-optimization-record", "-ftime-trace", "-MJ",
                                              "-save-temps", "--save-temps", "-gsplit-dwarf",
                                              "-fstack-usage", "-fcallgraph-info", "-Wa,", "-wrapper" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Returns whether the object depends on the time, or on a file that the compiler does not list. */
static bool has_hidden_input(const char *path)
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
        if (dfc_is_beyond_cache(argv->items[i]))
            return false;
    return !argv->failed && (!unit->path || !has_hidden_input(unit->source));
}

static uint64_t hash_compilers(uint64_t hash, const struct dfc_program *p, const struct dfc_build_unit *unit)
{
    static char *host_names[] = { "gcc", "c++", NULL };
    const struct dfc_list host = { .items = host_names, .n = 2 }, *own = unit->kind == DFC_CODE_CUDA ? &p->tools.nvcc : unit->kind == DFC_CODE_CXX ? &p->tools.cxx : &p->tools.cc;
    const uint64_t hashes[] = { dfc_compiler_hash(own, NULL, 0), unit->kind == DFC_CODE_CUDA ? dfc_compiler_hash(&host, NULL, 0) : 0 };
    return dfr_hash(hash, hashes, sizeof hashes);
}

static const char *const variables[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH",
                                         "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS", "COMPILER_PATH", "SOURCE_DATE_EPOCH", NULL };

char *dfc_object_entry(const struct dfc_program *p, const struct dfc_build_unit *unit, const struct dfc_list *argv)
{
    char here[PATH_MAX], *folder = can_be_kept(unit, argv) ? dfr_cache_folder() : NULL;
    struct dfc_content text;
    uint64_t hash = dfc_key_text(0, "object");
    if (!folder || !getcwd(here, sizeof here) || !dfc_content_of(unit->source, &text)) {
        free(folder);
        return NULL;
    }
    if (unit->kind == DFC_CODE_CUDA || dfc_flags_decide_on_debug(p))
        hash = dfc_key_text(hash, here);
    for (size_t i = 0; i < argv->n; i++) {
        hash = dfc_key_word(hash, argv->items[i], p->work);
        if (strstr(argv->items[i], "native"))
            hash = hash_processor(hash);
    }
    hash = dfc_key_variables(hash, variables);
    hash = dfr_hash(hash_compilers(hash, p, unit), &text, sizeof text);
    return dfc_cache_entry(folder, hash);
}

static struct dfc_cache_file file_of(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry)
{
    return (struct dfc_cache_file){ .kind = DFC_CACHE_OBJECTS, .entry = entry, .work = p->work, .path = unit->object };
}

bool dfc_object_get(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry)
{
    const struct dfc_cache_file file = file_of(p, unit, entry);
    struct dfc_list files = { 0 };
    const bool good = dfc_cache_get(&file, &files) && dfc_write_prerequisites(unit->deps, &files);
    dfc_list_free(&files);
    return good;
}

/* Returns whether that holds for a header of the user's. */
static bool any_has_hidden_input(const struct dfc_program *p, const struct dfc_list *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (strncmp(files->items[i], p->work, strlen(p->work)) != 0 && !dfc_is_system_header(p, files->items[i]) && has_hidden_input(files->items[i]))
            return true;
    return false;
}

void dfc_object_put(const struct dfc_program *p, const struct dfc_build_unit *unit, const char *entry)
{
    const struct dfc_cache_file file = file_of(p, unit, entry);
    struct dfc_list files = { 0 };
    struct stat log;
    /* Nothing was written to the log, so its time is that when it was made. */
    if (stat(unit->log, &log) == 0 && log.st_size == 0 && dfc_prerequisites(unit->deps, &files) && !files.failed && !any_has_hidden_input(p, &files))
        dfc_cache_put(&file, &files, log.st_mtim);
    dfc_list_free(&files);
}

/* ---- what compilers were asked ---- */

enum { ANSWER_ROOM = 8 };

static char *answer_entry(const struct dfc_program *p, const struct dfc_list *argv)
{
    char *folder = dfc_is_cached(p) ? dfr_cache_folder() : NULL;
    uint64_t hash = dfc_key_variables(dfc_key_text(0, "answer"), variables);
    if (!folder)
        return NULL;
    const uint64_t command = dfc_compiler_hash(argv, NULL, 0);
    return dfc_cache_entry(folder, dfr_hash(hash, &command, sizeof command));
}

static bool read_answer(const char *path, bool *yes)
{
    char text[ANSWER_ROOM] = "";
    FILE *file = fopen(path, "re");
    const bool there = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    *yes = strcmp(text, "yes\n") == 0;
    return there;
}

static bool write_answer(const char *path, bool yes)
{
    FILE *file = fopen(path, "we");
    const bool good = file && fputs(yes ? "yes\n" : "no\n", file) >= 0;
    return file && fclose(file) == 0 && good;
}

bool dfc_compiler_takes(const struct dfc_program *p, const struct dfc_list *argv)
{
    char path[PATH_MAX], *entry = argv->failed ? NULL : answer_entry(p, argv);
    const struct dfc_cache_file file = { .kind = DFC_CACHE_OBJECTS, .entry = entry, .work = p->work, .path = path };
    struct dfc_list none = { 0 };
    bool yes = false;
    snprintf(path, sizeof path, "%s/answer", p->work);
    if (!entry || !dfc_cache_get(&file, &none) || !read_answer(path, &yes)) {
        const int status = argv->failed ? -1 : dfc_run_tool(argv->items, &dfc_discard, &dfc_discard);
        yes = status == 0;
        if (entry && status >= 0 && !dfc_signals_caught() && write_answer(path, yes))
            dfc_cache_put(&file, &none, (struct timespec){ 0 });
    }
    free(entry);
    return yes;
}
