/* emit_python.c - prints the Python module of a library, for build/build_library.c: the text of
 * compiler/python/dfc/graphs.py, which is the same for all libraries, followed by the names of this library's graphs.
 * They are looked up and not assigned, so that a graph may have the name of a Python built-in.
 */
#include "compiler/emit/emit.h"

#include <string.h>

#include "compiler/types/frontend.h"

/* Words of Python, and what graphs.py itself calls by these names. */
static const char *const taken[] = {
    "False", "Graph", "GraphError", "Library", "None", "Stats", "True", "and", "as", "assert", "async", "await", "break",
    "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
    "is", "lambda", "load", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"
};

bool dfc_python_name(const char *name)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return name[0] != '_';
}

void dfc_emit_python(FILE *out, const struct dfc_front *front, const char *stem, const char *file, const char *source,
                     FILE *text)
{
    char buffer[4096];
    fprintf(out, "# %s.py - made by dfc of %s\n", stem, source);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, text)) > 0;)
        fwrite(buffer, 1, n, out);
    fprintf(out, "\n\n_LIBRARY = load(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), \"%s\"), [", file);
    for (size_t i = 0; i < front->n_exports; i++)
        fprintf(out, "%s\"%s\"", i ? ", " : "", front->exports[i]->name);
    fputs("])\n__all__ = [graph.__name__ for graph in _LIBRARY]\n\n\n"
          "def __getattr__(name):\n"
          "    if name in __all__:\n"
          "        return getattr(_LIBRARY, name)\n"
          "    raise AttributeError(f\"module {__name__!r} has no attribute {name!r}\")\n", out);
}
