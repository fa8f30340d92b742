/* loaded.c - lists the shared libraries that this process has loaded (loaded.h), for the identity of a program (program_main.c). */
#include "runtime/program/loaded.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/record/facts.h"

struct looking {
    const struct dfr_facts *identity;
    struct dfr_facts *facts;
    bool good;
};

/* Returns whether the path is that of the library, with or without a version at its end. The name is that of -lNAME, or the library's file, libNAME.so. */
static bool is_library(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const bool is_file = strstr(name, ".so");
    if (!is_file && strncmp(file, "lib", 3) != 0)
        return false;
    file += is_file ? 0 : 3;
    if (strncmp(file, name, strlen(name)) != 0)
        return false;
    file += strlen(name);
    if (!is_file && strncmp(file, ".so", 3) != 0)
        return false;
    file += is_file ? 0 : 3;
    return *file == '\0' || *file == '.';
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct looking *l = arg;
    (void)size;
    for (size_t i = 0; l->good && i < l->identity->n; i++) {
        const struct dfr_fact *f = &l->identity->items[i];
        if (!strcmp(f->kind, "library") && is_library(info->dlpi_name, f->name))
            l->good = dfr_fact_add(l->facts, strdup("loaded"), strdup(f->name), dfr_fact_content(info->dlpi_name));
    }
    return !l->good;
}

char *dfr_loaded_identity(const char *identity)
{
    struct dfr_facts known = { 0 }, loaded = { 0 };
    struct looking l = { &known, &loaded, dfr_facts_read(&known, identity, strlen(identity)) };
    char *text = NULL, *all = NULL;
    if (l.good)
        dl_iterate_phdr(look_at, &l);
    if (l.good && (text = dfr_facts_text(&loaded)) && asprintf(&all, "%s%s", identity, text) < 0)
        all = NULL;
    free(text);
    dfr_facts_free(&known);
    dfr_facts_free(&loaded);
    return all;
}
