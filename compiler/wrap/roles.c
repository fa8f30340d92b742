/* roles.c - guesses for kernel_text.c the role of each parameter of a function: port, dimension or scalar. A pointer's
 * type tells neither the length of the array nor whether it is written. Integers whose names look like sizes suggest
 * the length; such guesses are marked.
 */
#include <string.h>
#include <strings.h>

#include "compiler/wrap/kernel_text.h"

enum { MOST_SIZES = 3 };

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcasecmp(name, *names) == 0)
            return true;
    return false;
}

/* Does an integer with this name count elements? Rounds, steps and threads are counted, too, and are no extents. */
static bool is_size_name(const char *name)
{
    static const char *const whole[] = { "n", "m", "k", "h", "w", "nx", "ny", "nz", "ni", "nj", "nk", "nl", "nm", "np",
                                         "nr", "nc", "row", "col", "rows", "cols", "len", "dim", "count", "total",
                                         "elements", "points", NULL };
    static const char *const parts[] = { "size", "length", "width", "height", "rows", "cols", "columns", "num_el",
                                         "numel", "npoints", "nelem", NULL };
    static const char *const others[] = { "iter", "step", "time", "thread", "block", NULL };
    for (const char *const *part = others; *part; part++)
        if (strcasestr(name, *part))
            return false;
    for (const char *const *part = parts; *part; part++)
        if (strcasestr(name, *part))
            return true;
    return is_one_of(name, whole);
}

/* An OpenCL kernel gets dimensions in 64 bits, and nothing converts them. */
static bool is_size(const struct dfc_parameter *p, bool is_opencl)
{
    return p && (p->type->kind == DFC_CTYPE_SIGNED || p->type->kind == DFC_CTYPE_UNSIGNED) && p->type->size_bytes >= (is_opencl ? 8 : 4) &&
           is_size_name(p->name);
}

static bool ends(const char *name, size_t length, const char *with)
{
    size_t n = strlen(with);
    return length >= n && strncasecmp(name + length - n, with, n) == 0;
}

/* Is `a` a number of rows and `b` that of its columns: h and w, grid_rows and grid_cols? */
static bool is_pair(const char *a, const char *b)
{
    static const char *const pairs[][2] = { { "height", "width" }, { "rows", "cols" }, { "rows", "columns" },
                                            { "row", "col" }, { "h", "w" }, { "ny", "nx" }, { "nr", "nc" }, { "m", "n" } };
    size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t before = n - strlen(pairs[i][0]);
        if (ends(a, n, pairs[i][0]) && ends(b, m, pairs[i][1]) && m - strlen(pairs[i][1]) == before &&
            strncmp(a, b, before) == 0)
            return true;
    }
    return false;
}

/* A name that a single number or a few often have. */
static bool is_few_name(const char *name)
{
    static const char *const parts[] = { "max", "min", "sum", "mean", "norm", "taps", "coef", "weight", "alpha", "beta",
                                         NULL };
    for (const char *const *part = parts; *part; part++)
        if (strcasestr(name, *part))
            return true;
    return false;
}

/* A name that a matrix often has: one size does not tell how much it holds. */
static bool is_matrix_name(const char *name)
{
    return (name[0] >= 'A' && name[0] <= 'Z' && !name[1]) || strcasestr(name, "mat");
}

static void guess_extents(struct dfc_role *role, const struct dfc_parameter *p, const struct dfc_parameter *const *sizes,
                          unsigned n_sizes, bool is_opencl)
{
    bool swapped = n_sizes == 2 && is_pair(sizes[1]->name, sizes[0]->name);
    role->rank = 1;
    if (is_few_name(p->name))
        return;
    if (swapped || (n_sizes == 2 && is_pair(sizes[0]->name, sizes[1]->name))) {
        role->rank = 2;
        role->extents[0].name = sizes[swapped]->name;
        role->extents[1].name = sizes[!swapped]->name;
    } else if (n_sizes == 3 && strcasecmp(sizes[0]->name, "nx") == 0 && strcasecmp(sizes[2]->name, "nz") == 0) {
        role->rank = 3;
        for (unsigned i = 0; i < 3; i++)
            role->extents[i].name = sizes[2 - i]->name;
    } else if (n_sizes == 1 && !is_matrix_name(p->name))
        role->extents[0].name = sizes[0]->name;
    else if (n_sizes > 1 && is_size(p->next, is_opencl) && !is_size(p->next->next, is_opencl) && !is_matrix_name(p->name))
        role->extents[0].name = p->next->name;
    role->guessed = role->extents[0].name != NULL;
}

/* Arrays in a type say their extents, but for the first one, which C drops. */
static void port_role(struct dfc_role *role, const struct dfc_parameter *p, const struct dfc_parameter *const *sizes,
                      unsigned n_sizes, bool is_opencl)
{
    const struct dfc_ctype *type = p->type->of;
    role->kind = DFC_ROLE_PORT;
    if (p->type->kind == DFC_CTYPE_REFERENCE && type->kind != DFC_CTYPE_ARRAY) {
        role->rank = 1;
        role->extents[0].number = 1;
    } else if (type->kind == DFC_CTYPE_ARRAY) {
        role->rank = p->type->kind == DFC_CTYPE_POINTER;
        for (; type->kind == DFC_CTYPE_ARRAY && role->rank < 4; type = type->of)
            role->extents[role->rank++].number = type->extent;
    } else
        guess_extents(role, p, sizes, n_sizes, is_opencl);
    if (type->number && role->rank < 4)
        role->extents[role->rank++].number = type->n_numbers;
    role->elem = type->kind == DFC_CTYPE_VOID ? NULL : type->number ? type->number : type;
}

/* Is it text and no array of bytes, by its name? */
static bool is_text(const struct dfc_parameter *p)
{
    static const char *const parts[] = { "name", "path", "file", "text", "str", "msg", "message", "format", NULL };
    if (p->type->kind != DFC_CTYPE_POINTER || p->type->of->kind != DFC_CTYPE_CHAR)
        return false;
    for (const char *const *part = parts; *part; part++)
        if (strcasestr(p->name, *part))
            return true;
    return false;
}

/* Integers that some port has as its extent are dimensions. */
static void find_dimensions(const struct dfc_function *f, struct dfc_role *roles)
{
    unsigned i = 0;
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next, i++)
        for (unsigned k = 0; k < f->n_parameters; k++)
            for (unsigned d = 0; d < roles[k].rank; d++)
                if (roles[k].extents[d].name && strcmp(roles[k].extents[d].name, p->name) == 0)
                    roles[i].kind = DFC_ROLE_DIMENSION;
}

void dfc_roles(const struct dfc_function *f, bool is_opencl, struct dfc_role *roles)
{
    const struct dfc_parameter *sizes[MOST_SIZES];
    unsigned n_sizes = 0, i = 0;
    bool has_arrays = false;            /* sizes are theirs, and a plain pointer beside them is something else */
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next)
        has_arrays |= p->type->of && p->type->of->kind == DFC_CTYPE_ARRAY;
    for (const struct dfc_parameter *p = f->parameters; p && !has_arrays; p = p->next)
        if (is_size(p, is_opencl) && n_sizes++ < MOST_SIZES)
            sizes[n_sizes - 1] = p;
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next, i++) {
        roles[i] = (struct dfc_role){ .kind = DFC_ROLE_SCALAR };
        bool by_value = !p->type->of || (p->type->kind == DFC_CTYPE_REFERENCE && p->type->of->is_const &&
                                         dfc_ctype_is_number(p->type->of));
        if (is_opencl && p->type->of && p->type->of->is_atomic)
            roles[i].kind = DFC_ROLE_LOCAL;
        else if (is_text(p) && !is_opencl)
            roles[i].kind = DFC_ROLE_TEXT;
        else if (!by_value)
            port_role(&roles[i], p, sizes, n_sizes, is_opencl);
    }
    find_dimensions(f, roles);
}
