/* identity.c - collects the facts on which a program's results depend, as the text that build_data.c puts into the
 * program (identity.h). Its hashes of a file and of a compiler's command serve the caches, too.
 */
#include "compiler/build/identity.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/intern.h"
#include "runtime/base/text.h"

#ifndef DFC_VERSION
#define DFC_VERSION "of unknown version"
#endif

static bool no_memory(void)
{
    dfc_error("out of memory");
    return false;
}

/* ---- files ---- */

bool dfc_content_of(const char *path, struct dfc_content *content)
{
    static unsigned char buffer[1 << 16];
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rbe") : NULL;
    size_t n;
    *content = (struct dfc_content){ 0 };
    if (!file)
        return false;
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) {
        content->bytes += n;
        content->hash = dfr_hash(content->hash, buffer, n);
    }
    const bool good = !ferror(file);
    fclose(file);
    return good;
}

/* Facts name files without their folders, because the same program may be built in several places. */
static const char *own_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- facts ---- */

static const struct dfr_fact *find(const struct dfr_facts *facts, const char *kind, const char *name)
{
    for (size_t i = 0; i < facts->n; i++)
        if (!strcmp(facts->items[i].kind, kind) && !strcmp(facts->items[i].name, name))
            return &facts->items[i];
    return NULL;
}

/* Adds a fact, and takes ownership of value. If a fact of that name has another value, the name gets a number: two folders may each have a util.h. */
static bool add(struct dfr_facts *facts, const char *kind, const char *name, char *value)
{
    char numbered[PATH_MAX];
    const struct dfr_fact *there;
    snprintf(numbered, sizeof numbered, "%s", name);
    for (char *p = numbered; *p; p++)
        *p = *p == ' ' || *p == '\n' ? '?' : *p;
    const size_t length = strlen(numbered);
    for (unsigned i = 2; value && (there = find(facts, kind, numbered)); i++) {
        if (!strcmp(there->value, value)) {
            free(value);
            return true;
        }
        snprintf(numbered + length, sizeof numbered - length, "#%u", i);
    }
    return dfr_fact_add(facts, strdup(kind), strdup(numbered), value) || no_memory();
}

/* ---- compilers ---- */

/* The content of a compiler's file, which is read once: it has megabytes, and each unit asks. */
static bool compiler_content(const char *path, struct dfc_content *content)
{
    static struct { char path[PATH_MAX]; struct dfc_content content; } known[4];
    static unsigned n;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].path, path) == 0) {
            *content = known[i].content;
            return true;
        }
    if (!dfc_content_of(path, content))
        return false;
    const unsigned i = n++ % (sizeof known / sizeof *known);
    snprintf(known[i].path, sizeof known[i].path, "%s", path);
    known[i].content = *content;
    return true;
}

uint64_t dfc_compiler_hash(const struct dfc_list *command, char *text, size_t size)
{
    uint64_t hash = 0;
    size_t at = 0;
    if (size)
        text[0] = '\0';
    for (size_t i = 0; i < command->n; i++) {
        struct dfc_content content = { 0 };
        char *found = command->items[i][0] == '-' ? NULL : dfc_find_program(command->items[i]), *path = found ? realpath(found, NULL) : NULL;
        const char *word = path ? path : command->items[i];
        hash = dfr_hash(hash, word, strlen(word) + 1);
        if (path && compiler_content(path, &content))
            hash = dfr_hash(hash, &content, sizeof content);
        if (at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", i ? " " : "", word);
        free(found);
        free(path);
    }
    return hash;
}

/* Copies the first string of the .comment section of an object. It names the compiler, also if a wrapper was called. "" if there is none. */
static void read_comment(const char *object, char *text, size_t size)
{
    struct stat info;
    int fd = open(object, O_RDONLY | O_CLOEXEC);
    const size_t n = fd >= 0 && fstat(fd, &info) == 0 ? (size_t)info.st_size : 0;
    const unsigned char *bytes = n > sizeof(ElfW(Ehdr)) ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    text[0] = '\0';
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return;
    const ElfW(Ehdr) *head = (const void *)bytes;
    const ElfW(Shdr) *sections = (const void *)(bytes + head->e_shoff);
    const bool is_elf = !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                        head->e_shentsize == sizeof *sections && head->e_shoff % sizeof(void *) == 0 && head->e_shoff <= n &&
                        (n - head->e_shoff) / sizeof *sections >= head->e_shnum && head->e_shstrndx < head->e_shnum;
    for (unsigned i = 0; is_elf && i < head->e_shnum; i++) {
        const ElfW(Shdr) *names = &sections[head->e_shstrndx], *s = &sections[i];
        static const char name[] = ".comment";
        if (s->sh_type == SHT_NOBITS || names->sh_offset > n || names->sh_size > n - names->sh_offset || s->sh_name + sizeof name > names->sh_size ||
            memcmp(bytes + names->sh_offset + s->sh_name, name, sizeof name) != 0 || s->sh_offset > n || s->sh_size > n - s->sh_offset)
            continue;
        const char *begin = (const char *)bytes + s->sh_offset;
        const size_t skip = s->sh_size > 0 && !*begin; /* some assemblers begin with an empty text */
        snprintf(text, size, "%.*s", (int)strnlen(begin + skip, s->sh_size - skip), begin + skip);
        break;
    }
    munmap((void *)bytes, n);
}

static const char *language_of(const struct dfc_build_unit *unit)
{
    return unit->kind == DFC_CODE_CUDA ? "cuda" : unit->kind == DFC_CODE_CXX ? "c++" : "c";
}

static bool add_compiler(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfr_facts *facts)
{
    const struct dfc_list *command = unit->kind == DFC_CODE_CUDA ? &p->tools.nvcc : unit->kind == DFC_CODE_CXX ? &p->tools.cxx : &p->tools.cc;
    char words[PATH_MAX], comment[200], *value;
    if (find(facts, "compiler", language_of(unit)))
        return true;
    const uint64_t hash = dfc_compiler_hash(command, words, sizeof words);
    read_comment(unit->object, comment, sizeof comment);
    if (asprintf(&value, "%s%s%s %016" PRIx64, comment, *comment ? ", " : "", words, hash) < 0)
        return no_memory();
    return add(facts, "compiler", language_of(unit), value);
}

/* ---- flags ---- */

/* Returns how many words from this one on only give paths or affect diagnostics; 0 if the word counts. */
static unsigned count_left_out(const struct dfc_list *argv, size_t i)
{
    static const char *const with_next[] = { "-I", "-iquote", "-isystem", "-idirafter", "-L", "-o", "-MF", "-MT", "-MQ", "-Xassembler", "--keep-dir", NULL };
    static const char *const beginnings[] = { "-I", "-iquote", "-isystem", "-idirafter", "-L", "-M", "-ffile-prefix-map=", "-fdebug-prefix-map=", "-fdiagnostics-",
                                              "-Xcompiler=-iquote,", "-Xcompiler=-ffile-prefix-map=", "--keep", "-Wl,-rpath", NULL };
    const char *word = argv->items[i];
    for (size_t k = 0; with_next[k]; k++)
        if (!strcmp(word, with_next[k]))
            return 2;
    for (size_t k = 0; beginnings[k]; k++)
        if (!strncmp(word, beginnings[k], strlen(beginnings[k])))
            return 1;
    return !strcmp(word, "-c");
}

/* Adds the fact of these flags from number `from` on. The flags before it are those that dfc gives to every program; the fact `dfc` covers them. */
static bool add_flags(const struct dfc_program *p, const struct dfc_list *list, size_t from, const char *variables, const char *name, struct dfr_facts *facts)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return no_memory();
    if (from)
        fputs(p->options->optimise ? p->options->optimise : "-O2", out);
    for (size_t i = from, skip; i < list->n; i += skip ? skip : 1)
        if (!(skip = count_left_out(list, i)))
            fprintf(out, "%s%s", ftell(out) ? " " : "", list->items[i]);
    if (variables && getenv(variables))
        fprintf(out, " %s=%s", variables, getenv(variables));
    return dfr_text_close(out, &text) ? add(facts, "flags", name, text) : no_memory();
}

/* Adds the contents of files that the command line names, such as those of -include and -specs=. */
static bool add_named_files(const struct dfc_list *list, struct dfr_facts *facts)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *word = list->items[i], *value = word[0] == '@' ? word + 1 : strncmp(word, "-specs=", 7) ? word : word + 7;
        struct stat info;
        if (*value != '-' && stat(value, &info) == 0 && S_ISREG(info.st_mode) && !add(facts, "file", own_name(value), dfr_fact_content(value)))
            return false;
    }
    return true;
}

static bool add_flags_of(const struct dfc_program *p, const struct dfc_build_unit *unit, struct dfr_facts *facts)
{
    const bool cuda = unit->kind == DFC_CODE_CUDA;
    const struct dfc_list *flags = cuda ? &p->tools.cu_flags : &p->tools.c_flags;
    struct dfc_list own = { 0 };
    bool good = true;
    if (unit->level || unit->gpu_formulas)
        return true;
    if (!find(facts, "flags", language_of(unit)))
        good = add_flags(p, flags, cuda ? 0 : p->tools.n_own_flags, cuda ? "NVCC_APPEND_FLAGS" : NULL, language_of(unit), facts) && add_named_files(flags, facts);
    if (good && unit->flags) {
        dfc_list_add_words(&own, unit->flags);
        good = own.failed ? no_memory() : add_flags(p, &own, 0, NULL, own_name(unit->path), facts) && add_named_files(&own, facts);
        dfc_list_free(&own);
    }
    return good;
}

/* ---- files that are compiled or included ---- */

static int by_name(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    const int order = strcmp(own_name(x), own_name(y));
    return order ? order : strcmp(x, y);
}

/* Lists the files that the compilers of these units have read, sorted by name; a file may be there several times. A compiler that writes no list, such as a
 * wrapper that ignores -MF, gets a warning. */
static void list_files(const struct dfc_program *p, const struct dfc_build_unit *units, size_t n, struct dfc_list *files)
{
    bool told = false;
    for (size_t i = 0; i < n; i++)
        if (units[i].kind != DFC_CODE_OBJECT && !dfc_prerequisites(units[i].deps, files) && !told && !p->options->quiet) {
            dfc_warning("the compiler does not list the files that it reads (-MD -MF FILE), so --resume will not notice a changed header");
            told = true;
        }
    if (files->n)
        qsort(files->items, files->n, sizeof *files->items, by_name);
}

static bool is_source(const struct dfc_build_unit *units, size_t n, const char *path)
{
    bool is = false;
    for (size_t i = 0; i < n && !is; i++)
        is = units[i].path && !strcmp(units[i].path, path);
    return is;
}

static bool add_files(const struct dfc_program *p, const struct dfc_build_unit *units, size_t n, struct dfr_facts *facts)
{
    struct dfc_list files = { 0 };
    struct dfc_content content;
    uint64_t system = 0;
    unsigned n_system = 0;
    char *value;
    list_files(p, units, n, &files);
    bool good = !files.failed || no_memory();
    for (size_t i = 0; good && i < files.n; i++) {
        const char *path = files.items[i];
        if ((i && !strcmp(path, files.items[i - 1])) || !strncmp(path, p->work, strlen(p->work)) || is_source(units, n, path))
            continue;
        if (!dfc_is_system_header(p, path)) {
            good = add(facts, "file", own_name(path), dfr_fact_content(path));
        } else if (dfc_content_of(path, &content)) { /* they are many, and are replaced together */
            system = dfr_hash(system, &content, sizeof content);
            n_system++;
        }
    }
    dfc_list_free(&files);
    if (good && n_system)
        good = asprintf(&value, "%u files %016" PRIx64, n_system, system) < 0 ? no_memory() : add(facts, "file", "system-headers", value);
    return good;
}

bool dfc_identify(const struct dfc_program *p, const struct dfc_build_unit *units, size_t n, struct dfr_facts *facts)
{
    bool good = true;
    for (int pass = 0; pass < 2; pass++)        /* facts of one kind stand together */
        for (size_t i = 0; good && i < n; i++)
            if (units[i].kind != DFC_CODE_OBJECT)
                good = (pass == 0 ? add_compiler(p, &units[i], facts) : add_flags_of(p, &units[i], facts));
    return good && add_files(p, units, n, facts);
}

/* ---- libraries ---- */

/* Returns the file that the linker probably takes for -lNAME: the first one in the folders of -L, then in those of the compiler. malloc'ed; NULL: not
 * found, or no memory. */
static char *find_library(const struct dfc_program *p, const struct dfc_list *flags, const char *name)
{
    static const char *const endings[] = { "so", "a" };
    struct dfc_list argv = { 0 };
    char *path = NULL, *text = NULL;
    for (size_t i = 0; i < flags->n; i++)
        for (unsigned e = 0; e < 2 && !strncmp(flags->items[i], "-L", 2); e++) {
            if (asprintf(&path, "%s/lib%s.%s", flags->items[i] + 2, name, endings[e]) < 0)
                return NULL;
            if (access(path, R_OK) == 0)
                return path;
            free(path);
        }
    path = NULL;
    for (unsigned e = 0; e < 2 && !path; e++) {
        dfc_list_add_all(&argv, &p->tools.cc);
        dfc_list_add(&argv, "-print-file-name=lib%s.%s", name, endings[e]);
        if (!argv.failed && dfc_run_tool(argv.items, &text, &dfc_discard) == 0 && text && text[0] == '/')
            path = strndup(text, strcspn(text, "\n"));
        free(text);
        text = NULL;
        dfc_list_free(&argv);
        argv = (struct dfc_list){ 0 };
    }
    return path;
}

static bool add_libraries(const struct dfc_program *p, struct dfr_facts *facts)
{
    const struct dfc_list *flags = &p->tools.link_flags;
    bool good = true;
    for (size_t i = 0; good && i < flags->n; i++) {
        const char *word = flags->items[i], *name = word + 2;
        if (word[0] != '-')             /* pkg-config may give the file itself */
            good = add(facts, "library", own_name(word), dfr_fact_content(word));
        if (strncmp(word, "-l", 2) != 0 || find(facts, "library", name))
            continue;
        char *path = find_library(p, flags, name);
        good = add(facts, "library", name, path ? dfr_fact_content(path) : strdup("not found"));
        free(path);
    }
    return good;
}

/* ---- dfc ---- */

/* The build ID in the notes of the program that runs, dfc itself, as text. */
static int read_build_id(struct dl_phdr_info *info, size_t size, void *arg)
{
    char *text = arg;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_NOTE)
            continue;
        const unsigned char *at = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), *end = at + info->dlpi_phdr[i].p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            const unsigned char *id = at + sizeof *note + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && note->n_descsz <= 32)
                for (unsigned k = 0; k < note->n_descsz; k++)
                    sprintf(text + 2 * k, "%02x", id[k]);
            at = id + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1;                           /* the first one is the program */
}

static bool add_dfc(struct dfr_facts *facts)
{
    char id[80] = "", *value;
    dl_iterate_phdr(read_build_id, id);
    char *content = *id ? NULL : dfr_fact_content("/proc/self/exe");
    const int n = asprintf(&value, "version " DFC_VERSION ", build %s", *id ? id : content ? content : "");
    free(content);
    return n < 0 ? no_memory() : add(facts, "dfc", "dfc", value);
}

/* ---- the program ---- */

char *dfc_identity_text(const struct dfc_program *p)
{
    struct dfr_facts facts = { 0 };
    char *text = NULL;
    if (add_dfc(&facts) && dfc_identify(p, p->units, p->n_units, &facts) && add_libraries(p, &facts) && !(text = dfr_facts_text(&facts)))
        no_memory();
    dfr_facts_free(&facts);
    return text;
}
