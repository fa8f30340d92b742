/* program_cache.c - the cache of linked programs and libraries, for build_link.c: computes their keys, fetches and
 * stores them, and records what the linker read (program_cache.h).
 */
#include "compiler/build/program_cache.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compiler/build/cache_store.h"
#include "compiler/build/identity.h"
#include "compiler/build/object_cache.h"
#include "runtime/base/cache_folder.h"
#include "runtime/base/intern.h"

#define RULE "link.d"                   /* in the work folder */

static bool is_one_of(const char *word, const char *const *names)
{
    while (*names && strcmp(word, *names) != 0)
        names++;
    return *names != NULL;
}

static bool begins_with(const char *word, const char *beginning)
{
    return strncmp(word, beginning, strlen(beginning)) == 0;
}

/* ---- the key ---- */

/* Adds linker options, "-Wl,A,B", and the state of the files that they name to the key. Returns false if the linker may read or write a file for one of
 * them that is in no dependency list. */
static bool add_linker_words(uint64_t *hash, const char *words, const char *work)
{
    static const char *const alone[] = { "--gc-sections", "--no-gc-sections", "--as-needed", "--no-as-needed", "--strip-debug", "--strip-all", "-s", "-S",
                                         "--start-group", "--end-group", "--whole-archive", "--no-whole-archive", "--disable-new-dtags", "--enable-new-dtags",
                                         "-Bsymbolic", "-Bstatic", "-Bdynamic", "--export-dynamic", "-E", "--allow-multiple-definition", "-O1", "-O2",
                                         "--no-undefined", "--build-id", "--icf=safe", "--icf=all", NULL };
    static const char *const with_next[] = { "-rpath", "--rpath", "-rpath-link", "--rpath-link", "-z", "-u", "-soname", "--version-script", "--defsym", NULL };
    static const char *const joined[] = { "-rpath=", "--rpath=", "-rpath-link=", "--rpath-link=", "--build-id=", "--hash-style=", "--wrap=", "--defsym=", NULL };
    char *text = strdup(words), *rest = text, *part;
    bool value = false, known = text != NULL;
    while (known && (part = strsep(&rest, ","))) {
        bool with_value = false;
        for (size_t i = 0; joined[i]; i++)
            with_value |= begins_with(part, joined[i]);
        *hash = dfc_key_file(dfc_key_word(*hash, part, work), part);
        known = *part != '@' && (value || with_value || *part != '-' || is_one_of(part, alone) || is_one_of(part, with_next));
        value = !value && is_one_of(part, with_next);
    }
    free(text);
    return known && !value;
}

/* Returns whether the key does not cover the option: its argument follows as a separate word, or it adds an input that is in no dependency list. */
static bool is_unknown(const char *word)
{
    static const char *const names[] = { "-Xlinker", "-L", "-l", "-u", "-z", "-R", NULL };
    return is_one_of(word, names) || begins_with(word, "-T") || begins_with(word, "--ld-path") || dfc_is_beyond_cache(word);
}

/* Goes on over the words of the command and the files that they name. Returns false if it cannot be kept what they make. */
static bool add_command(uint64_t *hash, const struct dfc_list *argv, const char *work)
{
    for (size_t i = 0; i < argv->n; i++) {
        const char *word = argv->items[i];
        if (strcmp(word, "-o") == 0) {
            i++;
            continue;
        }
        if (begins_with(word, "-Wl,") ? !add_linker_words(hash, word + strlen("-Wl,"), work) : is_unknown(word))
            return false;
        *hash = dfc_key_word(*hash, word, work);
        if (*word != '-')
            *hash = dfc_key_file(*hash, word);
    }
    return !argv->failed;
}

/* Which of the files that the linker would take for `-l` is in the folder. */
static uint64_t hash_candidates(uint64_t hash, const char *folder, size_t n, const char *name)
{
    static const char *const forms[] = { "lib%s.so", "lib%s.a", ":%s" };
    char file[PATH_MAX], path[PATH_MAX];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const bool whole = forms[i][0] == ':';
        if (whole != (name[0] == ':'))
            continue;
        snprintf(file, sizeof file, whole ? "%s" : forms[i], name + whole);
        if (snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, file) < (int)sizeof path)
            hash = dfc_key_file(hash, path);
    }
    return hash;
}

static uint64_t hash_libraries_in(uint64_t hash, const char *folder, size_t n, const struct dfc_list *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        if (begins_with(argv->items[i], "-l"))
            hash = hash_candidates(hash, folder, n, argv->items[i] + 2);
    return hash;
}

/* Folders of -L and $LIBRARY_PATH change often, as a library that is built there appears. */
static uint64_t hash_libraries(uint64_t hash, const struct dfc_list *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        if (begins_with(argv->items[i], "-L"))
            hash = hash_libraries_in(hash, argv->items[i] + 2, strlen(argv->items[i] + 2), argv);
    for (const char *path = getenv("LIBRARY_PATH"); path && *path;) {
        const size_t n = strcspn(path, ":");
        hash = hash_libraries_in(hash, path, n, argv);
        path += n + (path[n] == ':');
    }
    return hash;
}

static const struct dfc_list *compiler_of(const struct dfc_program *p)
{
    return dfc_has_unit(p, DFC_CODE_CXX) ? &p->tools.cxx : &p->tools.cc;
}

char *dfc_program_entry(const struct dfc_program *p, const struct dfc_list *argv, bool archive)
{
    static const char *const variables[] = { "LIBRARY_PATH", "LD_LIBRARY_PATH", "LD_RUN_PATH", "LDEMULATION", "GNUTARGET", "GCC_EXEC_PREFIX",
                                             "COMPILER_PATH", "COLLECT_NO_DEMANGLE", "SOURCE_DATE_EPOCH", NULL };
    static char *archivers[] = { "objcopy", "ar", NULL };
    const struct dfc_list makes_archive = { .items = archivers, .n = 2 };
    uint64_t hash = dfc_key_text(0, archive ? "archive" : "program");
    char *folder = dfc_is_cached(p) && add_command(&hash, argv, p->work) ? dfr_cache_folder() : NULL;
    if (!folder)
        return NULL;
    const uint64_t tools[] = { dfc_compiler_hash(compiler_of(p), NULL, 0), archive ? dfc_compiler_hash(&makes_archive, NULL, 0) : 0 };
    hash = dfr_hash(dfc_key_variables(hash, variables), tools, sizeof tools);
    return dfc_cache_entry(folder, hash_libraries(hash, argv));
}

/* ---- what the linker has read ---- */

void dfc_program_list(const struct dfc_program *p, struct dfc_list *argv)
{
    dfc_list_add(argv, "-Xlinker");     /* -Wl would split it at commas */
    dfc_list_add(argv, DFC_LINKER_LISTS "%s/" RULE, p->work);
}

/* lld writes a name as compilers do, GNU ld and gold as it is. */
static void unquote(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++) {
        from += (from[0] == '\\' && strchr(" #\\", from[1]) && from[1]) || (from[0] == '$' && from[1] == '$');
        *to++ = *from;
    }
    *to = '\0';
}

/* The compiler gives the linker objects in its folder of temporary files, made of what the key covers. They are gone now. */
static bool is_temporary_object(const char *name)
{
    const char *const folders[] = { getenv("TMPDIR"), getenv("TMP"), getenv("TEMP"), "/tmp", "/var/tmp" };
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    bool there = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = folders[i] ? strlen(folders[i]) : 0;
        while (n > 1 && folders[i][n - 1] == '/')
            n--;
        there |= slash && n == (size_t)(slash - name) && strncmp(name, folders[i], n) == 0;
    }
    return there && dot && strcmp(dot, ".o") == 0;
}

/* A thin archive only names its members. */
static bool is_thin(const char *path)
{
    static const char magic[] = "!<thin>\n";
    char begin[sizeof magic - 1] = "";
    FILE *file = fopen(path, "rbe");
    const bool thin = file && fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, magic, sizeof begin) == 0;
    if (file)
        fclose(file);
    return thin;
}

/* Adds a file that the linker lists, unless the key has it. Returns false if its content may change unnoticed. */
static bool add_listed(const struct dfc_program *p, char *name, struct dfc_list *files)
{
    if (begins_with(name, p->work))
        return true;
    if (access(name, F_OK) != 0)
        unquote(name);
    if (access(name, F_OK) != 0)
        return is_temporary_object(name);
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->items[i], name) == 0)
            return true;
    dfc_list_add(files, "%s", name);
    return !is_thin(name);
}

/* Adds the files of the rule that the linker has written: "PRODUCT: \", and then each of them in a line, up to an empty line. */
static bool read_rule(const struct dfc_program *p, struct dfc_list *files)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    FILE *file = snprintf(path, sizeof path, "%s/" RULE, p->work) < (int)sizeof path ? fopen(path, "re") : NULL;
    bool good = file && getline(&line, &room, file) > 0;
    for (ssize_t n; good && (n = getline(&line, &room, file)) > 0;) {
        char *name = line + strspn(line, " "), *end = line + n;
        while (end > name && strchr(" \\\n", end[-1]))
            *--end = '\0';
        if (!*name)
            break;
        good = add_listed(p, name, files);
    }
    free(line);
    if (file)
        fclose(file);
    return good && files->n > 0;
}

/* Adds the linker that the compiler runs. */
static bool add_linker(const struct dfc_program *p, const struct dfc_list *argv, struct dfc_list *files)
{
    struct dfc_list ask = { 0 };
    char *said = NULL, *path = NULL;
    const char *name = NULL;
    for (size_t i = 0; i < argv->n; i++)
        if (begins_with(argv->items[i], "-fuse-ld="))
            name = argv->items[i] + strlen("-fuse-ld=");
    dfc_list_add_all(&ask, compiler_of(p));
    dfc_list_add(&ask, "-print-prog-name=ld%s%s", name ? "." : "", name ? name : "");
    if (!ask.failed && dfc_run_tool(ask.items, &said, &dfc_discard) == 0 && said) {
        said[strcspn(said, "\n")] = '\0';
        path = dfc_find_program(said);
    }
    if (path)
        dfc_list_add(files, "%s", path);
    const bool found = path != NULL;
    free(path);
    free(said);
    dfc_list_free(&ask);
    return found;
}

/* ---- getting and keeping ---- */

static struct dfc_cache_file file_of(const struct dfc_program *p, const char *entry, const char *path)
{
    return (struct dfc_cache_file){ .kind = DFC_CACHE_PROGRAMS, .entry = entry, .work = p->work, .path = path,
                                    .executable = dfc_product_of(p->output) != DFC_ARCHIVE || !p->common->exported };
}

bool dfc_program_get(const struct dfc_program *p, const char *entry, const char *path)
{
    const struct dfc_cache_file file = file_of(p, entry, path);
    struct dfc_list files = { 0 };
    const bool good = dfc_cache_get(&file, &files);
    dfc_list_free(&files);
    return good;
}

struct timespec dfc_program_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the one by which files get their times */
    return now;
}

void dfc_program_put(const struct dfc_program *p, const char *entry, const char *path, const struct dfc_list *argv, struct timespec began)
{
    const struct dfc_cache_file file = file_of(p, entry, path);
    struct dfc_list files = { 0 };
    if (read_rule(p, &files) && add_linker(p, argv, &files)) {
        dfc_cache_put(&file, &files, began);
        dfc_cache_trim(entry);
    }
    dfc_list_free(&files);
}
