/* build_main.c - handles for build_units.c the user files that define a main() of their own, as a benchmark does: the
 * generated program has one already, so theirs are made local to their objects, where the linker discards them as
 * unreferenced.
 *
 * The object is changed and not the source: a macro `main` would rename other uses of the word, too, and C and C++
 * compilers let only the real main() end without a return.
 */
#include "compiler/build/build_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maps a file into memory. NULL: it is empty, or cannot be read, which others report. */
static char *map(const char *path, size_t *size)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0) {
        *size = (size_t)info.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0)
        close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((unsigned char)(c | 32) >= 'a' && (unsigned char)(c | 32) <= 'z');
}

/* Is there the word "main", and after it "("? */
static bool calls_main(const char *text, size_t size)
{
    for (const char *at = text, *end = text + size; (at = memmem(at, (size_t)(end - at), "main", 4)); at += 4) {
        const char *next = at + 4;
        while (next < end && strchr(" \t\r\n", *next) && *next)
            next++;
        if (next < end && *next == '(' && (at == text || !is_letter(at[-1])))
            return true;
    }
    return false;
}

bool dfc_may_have_main(const char *source)
{
    size_t size;
    char *text = map(source, &size);
    bool may = text && calls_main(text, size);
    if (text)
        munmap(text, size);
    return may;
}

/* Is there a symbol "main"? Tables of names share endings, so "domain" may be all that is there; that does no harm. */
static bool may_name_main(const char *object)
{
    size_t size;
    char *bytes = map(object, &size);
    bool may = bytes && memmem(bytes, size, "main", sizeof "main");
    if (bytes)
        munmap(bytes, size);
    return may;
}

bool dfc_hide_main(const struct dfc_program *p, struct dfc_build_unit *unit)
{
    if (!unit->path || !may_name_main(unit->object))
        return true;
    char *hidden, *said = NULL;
    const char *ending = strcmp(unit->object + strlen(unit->object) - 2, ".a") == 0 ? "a" : "o"; /* as link_command()
                                                                                                   * tells archives */
    if (asprintf(&hidden, "%s/%zu_main.%s", p->work, (size_t)(unit - p->units), ending) < 0) {
        dfc_error("out of memory");
        return false;
    }
    char *const argv[] = { "objcopy", "--localize-symbol=main", unit->object, hidden, NULL };
    int status = dfc_run_tool(argv, &dfc_discard, &said), error = errno;
    if (status < 0)
        dfc_error("'%s' may have a main() of its own, and objcopy, which hides it, cannot be run: %s", unit->path,
                  strerror(error));
    else if (status > 0 && !dfc_signals_caught())
        dfc_error("objcopy could not hide the main() of '%s': %s", unit->path, said ? said : "");
    free(said);
    free(unit->object);
    unit->object = hidden;
    return status == 0;
}
