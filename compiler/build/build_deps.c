/* build_deps.c - reads and writes make rules that name the files something was built from. build_program.c writes
 * PROGRAM.d (-MD), with the .df files, the user's sources, and the headers that they included; identity.c and
 * object_cache.c read the rules that compilers write, and tell the system's headers from the user's.
 */
#include "compiler/build/build_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool known(const struct dfc_list *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->items[i], name) == 0)
            return true;
    return false;
}

static void add(struct dfc_list *files, const char *name)
{
    if (*name && !known(files, name))
        dfc_list_add(files, "%s", name);
}

/* Adds the prerequisites of a rule as compilers and print_name() write it: they stand after the first ": ", separated by blanks, with a backslash before a
 * blank, '#' or ':' in a name, and "$$" for '$'. nvcc also lists what #line calls generated code, which is no file, so it is left out. */
static void add_rule(struct dfc_list *files, char *text)
{
    char *p = strstr(text, ": ");
    for (p = p ? p + 2 : text + strlen(text); *p;) {
        char *name = p, *end = p;
        while (*p && !strchr(" \n\t", *p)) {
            if (*p == '\\' && p[1] == '\n')
                break;
            if ((*p == '\\' && (p[1] == ' ' || p[1] == '#' || p[1] == ':')) || (*p == '$' && p[1] == '$'))
                p++;
            *end++ = *p++;
        }
        while (*p && strchr(" \n\t\\", *p))
            p++;
        *end = '\0';
        if (access(name, F_OK) == 0)
            add(files, strncmp(name, "./", 2) == 0 ? name + 2 : name);
        if (end >= p)
            break;
    }
}

bool dfc_prerequisites(const char *rule, struct dfc_list *files)
{
    FILE *file = fopen(rule, "r");
    char *text = NULL;
    size_t size = 0;
    bool good = file && getdelim(&text, &size, '\0', file) > 0;
    if (good)
        add_rule(files, text);
    if (file)
        fclose(file);
    free(text);
    return good;
}

bool dfc_is_system_header(const struct dfc_program *p, const char *path)
{
    const size_t n = p->tools.toolkit ? strlen(p->tools.toolkit) : 0;
    return !strncmp(path, "/usr/include/", 13) || !strncmp(path, "/usr/lib/", 9) || strstr(path, "/lib/gcc/") || strstr(path, "/lib/clang/") ||
           (n && !strncmp(path, p->tools.toolkit, n) && path[n] == '/');
}

/* Files in the work folder are dfc's own and are left out. So are the system's headers, as compilers do for -MMD. */
static bool add_unit(struct dfc_list *files, const struct dfc_program *p, const struct dfc_build_unit *unit)
{
    struct dfc_list read = { 0 };
    if (unit->path)
        add(files, unit->path);
    if (unit->kind == DFC_CODE_OBJECT)
        return true;
    bool good = dfc_prerequisites(unit->deps, &read);
    if (!good)
        dfc_error("cannot read '%s', where the compiler should have listed the files it read", unit->deps);
    for (size_t i = 0; i < read.n; i++)
        if (strncmp(read.items[i], p->work, strlen(p->work)) != 0 && !dfc_is_system_header(p, read.items[i]))
            add(files, read.items[i]);
    files->failed |= read.failed;
    dfc_list_free(&read);
    return good;
}

static void print_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#' || *name == ':')
            fputc('\\', out);
        if (*name == '$')
            fputc('$', out);
        fputc(*name, out);
    }
}

static void print_rule(FILE *out, const char *target, const struct dfc_list *files)
{
    print_name(out, target);
    fputc(':', out);
    for (size_t i = 0; i < files->n; i++) {
        fputs(" \\\n ", out);
        print_name(out, files->items[i]);
    }
    fputc('\n', out);
    for (size_t i = 0; i < files->n; i++) { /* empty rules: make does not stop if a file is gone */
        print_name(out, files->items[i]);
        fputs(":\n", out);
    }
}

bool dfc_write_prerequisites(const char *rule, const struct dfc_list *files)
{
    FILE *out = fopen(rule, "w");
    if (!out)
        return false;
    fputs("x:", out);
    for (size_t i = 0; i < files->n; i++) {
        fputc(' ', out);
        print_name(out, files->items[i]);
    }
    fputc('\n', out);
    const bool good = !ferror(out);
    return fclose(out) == 0 && good;
}

bool dfc_write_dependencies(const struct dfc_program *p)
{
    const struct dfc_front *front = p->loaded->front;
    struct dfc_list files = { 0 };
    struct dfc_output output;
    char *path = NULL;
    bool good = true;
    for (size_t i = 0; i < front->n_sources; i++)
        add(&files, front->sources[i].path);
    if (p->common->platform)
        add(&files, p->common->platform);
    if (p->common->lock)
        add(&files, p->common->lock);
    for (size_t i = 0; good && i < p->n_units; i++)
        good = add_unit(&files, p, &p->units[i]);
    if (good && (files.failed || asprintf(&path, "%s.d", p->output) < 0)) {
        dfc_error("out of memory");
        path = NULL;
        good = false;
    }
    if (good && (good = dfc_output_open(&output, path))) {
        print_rule(output.file, p->output, &files);
        good = dfc_output_close(&output, true);
    }
    free(path);
    dfc_list_free(&files);
    return good;
}
