/* loaded.c - which shared libraries this process has loaded: loaded.h. */
#include "runtime/program/loaded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/io/digest.h"
#include "runtime/io/facts.h"

struct looking {
    const struct dfr_facts *identity;
    struct dfr_facts *facts;
    bool good;
};

/* Is it the file of this library: /…/libNAME.so, or with a version behind that? */
static bool is_library(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    return !strncmp(file, "lib", 3) && !strncmp(file + 3, name, n) && !strncmp(file + 3 + n, ".so", 3) && (file[n + 6] == '\0' || file[n + 6] == '.');
}

static char *content_of(const char *path)
{
    struct df_error why;
    uint64_t digest;
    int64_t n;
    char *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool is_read = fd >= 0 && dfr_bytes_digest(fd, 0, INT64_MAX, &digest, &n, &why) == DF_OK;
    if (fd >= 0)
        close(fd);
    return !is_read ? strdup("unreadable") : asprintf(&text, "%" PRId64 " bytes %016" PRIx64, n, digest) < 0 ? NULL : text;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct looking *l = arg;
    (void)size;
    for (size_t i = 0; l->good && i < l->identity->n; i++) {
        const struct dfr_fact *f = &l->identity->items[i];
        if (!strcmp(f->kind, "library") && is_library(info->dlpi_name, f->name))
            l->good = dfr_fact_add(l->facts, strdup("loaded"), strdup(f->name), content_of(info->dlpi_name));
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
