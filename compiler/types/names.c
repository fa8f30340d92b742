/* names.c - the front end's symbol tables, its memory, and error messages about names, also about reserved ones, for
 * all rooms from compiler/declare to compiler/proof.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/types/frontend.h"

/* ---- tables ---- */

static bool same_name(const void *context, uint32_t id, const void *key)
{
    return strcmp(dfc_index_names(context)[id], key) == 0;
}

static uint32_t hash_name(const char *name)
{
    return dfr_hash_fold(dfr_hash(0, name, strlen(name)));
}

bool dfc_index_find(const struct dfc_index *index, const char *name, uint32_t *id)
{
    return dfr_table_find(&index->table, hash_name(name), same_name, index, name, id);
}

bool dfc_index_add(struct dfc_index *index, const char *name, uint32_t *id, bool *fresh)
{
    uint32_t hash = hash_name(name);
    *fresh = !dfr_table_find(&index->table, hash, same_name, index, name, id);
    if (!*fresh)
        return true;
    const char **item = dfr_table_reserve(&index->table) ? dfr_array_add(&index->names, sizeof *item, 1) : NULL;
    if (!item)
        return false;
    *item = name;
    *id = index->names.n - 1;
    dfr_table_put(&index->table, hash, *id);
    return true;
}

void dfc_index_free(struct dfc_index *index)
{
    dfr_table_free(&index->table);
    dfr_array_free(&index->names);
}

/* ---- memory ---- */

bool dfc_no_memory(struct dfc_unit *u)
{
    u->no_memory = true;
    return false;
}

void *dfc_alloc(struct dfc_unit *u, size_t size)
{
    void *given = NULL;
    if (size <= DFL_ARENA_SPARE) {
        given = dfl_arena_alloc(u->arena, size);
        if (dfl_arena_failed(u->arena))
            given = NULL;
    } else if (size < SIZE_MAX - 16) {
        char *text = dfl_arena_text(u->arena, size + 16);
        if (text)
            given = text + (16 - (uintptr_t)text % 16) % 16;
    }
    if (!given)
        u->no_memory = true;
    return given;
}

const char *dfc_printf(struct dfc_unit *u, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : dfl_arena_text(u->arena, (size_t)length);
    if (!text) {
        u->no_memory = true;
        return "";
    }
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

/* ---- messages ---- */

bool dfc_hint_name(struct dfc_unit *u, const char *name, const char *const *names, size_t n)
{
    const char *close = n && dfl_sink_shows(u->sink) ? dfl_suggest(name, names, n) : NULL;
    if (close)
        dfl_hint(u->sink, "did you mean '%s'?", close);
    return close != NULL;
}

/* Where "_f32" of load_npy_f32_2d begins; NULL: no type is a word of the name. */
static const char *find_element(const char *name, enum df_elem *elem)
{
    const char *at = NULL;
    for (enum df_elem e = 0; e < DF_N_ELEMS; e++) {
        const char *word = df_elem_name(e);
        for (const char *p = strstr(name, word); p; p = strstr(p + 1, word)) {
            const char after = p[strlen(word)];
            if (p > name && p[-1] == '_' && (after == '\0' || after == '_') && (!at || p > at)) {
                at = p - 1;
                *elem = e;
            }
        }
    }
    return at;
}

enum df_elem dfc_element_in(const char *name)
{
    enum df_elem elem = DF_N_ELEMS;
    find_element(name, &elem);
    return elem;
}

bool dfc_name_for_element(const struct dfc_unit *u, const char *name, enum df_elem elem, char other[DFC_OTHER_NAME])
{
    enum df_elem old = DF_N_ELEMS;
    const char *at = find_element(name, &old), *rest = at ? at + 1 + strlen(df_elem_name(old)) : name + strlen(name);
    const int before = (int)(at ? at - name : (ptrdiff_t)strlen(name));
    uint32_t id;
    for (int plain = 0; plain <= (elem == DF_U8); plain++) {
        int n = snprintf(other, DFC_OTHER_NAME, "%.*s%s%s%s", before, name, plain ? "" : "_", plain ? "" : df_elem_name(elem), rest);
        if (n < DFC_OTHER_NAME && strcmp(other, name) != 0 && dfc_index_find(&u->callees, other, &id))
            return true;
    }
    return false;
}

static const char *const reserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
    "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await",
    "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
    "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unsigned",
    "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
};

/* The types of prototypes that are no keywords. Macros need not be known: generated code is safe from them. */
static const char *const types[] = { "cudaStream_t", "int32_t", "int64_t", "size_t", "uint16_t", "uint8_t" };

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool dfc_name_is_reserved(const char *name, char why[DFC_WHY_RESERVED_BYTES])
{
    if (strcmp(name, "call") == 0 || strcmp(name, "stream") == 0)
        snprintf(why, DFC_WHY_RESERVED_BYTES, "kernels have an argument of that name");
    else if (strncmp(name, "df_", 3) == 0 || strncmp(name, "DF_", 3) == 0)
        snprintf(why, DFC_WHY_RESERVED_BYTES, "names that begin with '%.3s' belong to the runtime", name);
    else if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])))
        snprintf(why, DFC_WHY_RESERVED_BYTES, "names that begin with '%.2s' belong to the C compiler", name);
    else if (is_among(types, sizeof types / sizeof types[0], name))
        snprintf(why, DFC_WHY_RESERVED_BYTES, "kernels have arguments of that type");
    else if (strcmp(name, "defined") == 0)  /* nor can a macro of that name be undefined */
        snprintf(why, DFC_WHY_RESERVED_BYTES, "it has a meaning in C's #if");
    else if (is_among(reserved, sizeof reserved / sizeof reserved[0], name))
        snprintf(why, DFC_WHY_RESERVED_BYTES, "it is a keyword of C or C++");
    else
        return false;
    return true;
}

bool dfc_name_reserved(struct dfc_unit *u, const char *what, const struct dfl_name *name)
{
    char why[DFC_WHY_RESERVED_BYTES];
    if (!dfc_name_is_reserved(name->text, why))
        return false;
    dfl_error(u->sink, name->loc, "'%s' cannot be the name of %s %s: %s", name->text, strchr("aeiou", *what) ? "an" : "a", what, why);
    return true;
}
