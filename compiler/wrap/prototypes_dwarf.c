/* prototypes_dwarf.c - reads for `dfc wrap` (commands/cmd_wrap.c) the functions of an object file and their types from DWARF
 * debug information: it implements prototypes.h with elfutils' libdw. It is the only file that uses libdw; the Makefile
 * omits it if libdw is missing, and dfc_prototypes_read, a weak symbol, is then NULL.
 *
 * A function's entry may refer to others that complete it: a definition to its declaration in a class or namespace, a
 * copy to what it is a copy of. dwarf_attr_integrate() follows both.
 */
#include "compiler/wrap/prototypes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/tools/messages.h"
#include "compiler/types/paths.h"

enum { MOST_LEVELS = 32 };              /* of a type, and of scopes: more is taken for something else */

struct reading {
    struct dfc_prototypes *prototypes;
    struct dfc_function **last;         /* where the next function is linked */
    const char *file;                   /* the name of the source, without its folder */
    bool is_cxx, has_units;
};

static const char *copy(struct reading *r, const char *text)
{
    return dfl_arena_copy(r->prototypes->arena, text, strlen(text));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- names ---- */

/* "ns::Class::name". Scopes without a name are left out: what is in them is seen in the file without one. */
static const char *qualified_name(struct reading *r, Dwarf_Die *die, const char *name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die declaration = *die, *scopes = NULL;
    char text[512];
    if (dwarf_attr(die, DW_AT_specification, &attribute))
        dwarf_formref_die(&attribute, &declaration);
    int n = dwarf_getscopes_die(&declaration, &scopes);
    size_t used = 0;
    for (int i = n - 1; i > 0; i--) {
        int tag = dwarf_tag(&scopes[i]);
        const char *scope = dwarf_diename(&scopes[i]);
        bool counts = tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
        if (counts && scope && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s::", scope);
    }
    free(scopes);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "%s", name);
    return copy(r, text);
}

/* ---- types ---- */

static const struct dfc_ctype *type_of(struct reading *r, Dwarf_Die *die, int levels);

static struct dfc_ctype *new_type(struct reading *r, enum dfc_ctype_kind kind)
{
    struct dfc_ctype *type = dfl_arena_alloc(r->prototypes->arena, sizeof *type);
    type->kind = kind;
    type->name = "";
    return type;
}

static Dwarf_Word encoding_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    if (dwarf_attr(die, DW_AT_encoding, &attribute))
        dwarf_formudata(&attribute, &encoding);
    return encoding;
}

static bool is_complex(Dwarf_Die *die)
{
    return encoding_of(die) == DW_ATE_complex_float;
}

static enum dfc_ctype_kind kind_of_number(Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    switch (encoding_of(die)) {
    case DW_ATE_boolean: return DFC_CTYPE_BOOL;
    case DW_ATE_float: return DFC_CTYPE_FLOAT;
    case DW_ATE_signed: return DFC_CTYPE_SIGNED;
    case DW_ATE_unsigned: return DFC_CTYPE_UNSIGNED;
    case DW_ATE_signed_char: return name && strcmp(name, "signed char") == 0 ? DFC_CTYPE_SIGNED : DFC_CTYPE_CHAR;
    case DW_ATE_unsigned_char: return DFC_CTYPE_UNSIGNED;
    default: return DFC_CTYPE_OTHER;
    }
}

/* Is it a type that the C code of a kernel has: those of runtime/elements.def? */
static bool is_exact(const struct dfc_ctype *type)
{
    static const struct { enum dfc_ctype_kind kind; unsigned size; const char *name; } exact[] = {
        { DFC_CTYPE_UNSIGNED, 1, "unsigned char" }, { DFC_CTYPE_UNSIGNED, 2, "short unsigned int" },
        { DFC_CTYPE_UNSIGNED, 2, "unsigned short" }, { DFC_CTYPE_UNSIGNED, 4, "unsigned int" }, { DFC_CTYPE_SIGNED, 1, "signed char" },
        { DFC_CTYPE_SIGNED, 2, "short int" }, { DFC_CTYPE_SIGNED, 2, "short" }, { DFC_CTYPE_SIGNED, 4, "int" },
        { DFC_CTYPE_SIGNED, 8, "long int" }, { DFC_CTYPE_SIGNED, 8, "long" }, { DFC_CTYPE_FLOAT, 4, "float" },
        { DFC_CTYPE_FLOAT, 8, "double" },
    };
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (type->kind == exact[i].kind && type->size_bytes == exact[i].size && strcmp(type->name, exact[i].name) == 0)
            return true;
    return false;
}

/* Makes an array of arrays of one entry with several ranges, as C has it. */
static const struct dfc_ctype *array_of(struct reading *r, Dwarf_Die *range, int status,
                                        const struct dfc_ctype *element)
{
    while (status == 0 && dwarf_tag(range) != DW_TAG_subrange_type)
        status = dwarf_siblingof(range, range);
    if (status != 0)
        return element;
    Dwarf_Attribute attribute;
    Dwarf_Word bound;
    Dwarf_Die next;
    struct dfc_ctype *type = new_type(r, DFC_CTYPE_ARRAY);
    if (dwarf_attr(range, DW_AT_count, &attribute) && dwarf_formudata(&attribute, &bound) == 0)
        type->extent = (long)bound;
    else if (dwarf_attr(range, DW_AT_upper_bound, &attribute) && dwarf_formudata(&attribute, &bound) == 0)
        type->extent = (long)bound + 1;
    if (type->extent < 0)
        type->extent = 0;
    type->of = array_of(r, &next, dwarf_siblingof(range, &next), element);
    return type;
}

static struct dfc_ctype *named(struct reading *r, Dwarf_Die *die, enum dfc_ctype_kind kind)
{
    struct dfc_ctype *type = new_type(r, kind);
    const char *name = dwarf_diename(die);
    int size = dwarf_bytesize(die);
    type->size_bytes = size > 0 ? (unsigned)size : 0;
    type->name = !name ? "" : dwarf_tag(die) == DW_TAG_base_type ? copy(r, name) : qualified_name(r, die, name);
    type->is_exact = is_exact(type);
    return type;
}

/* C's complex numbers are two numbers each. */
static const struct dfc_ctype *complex_number(struct reading *r, Dwarf_Die *die)
{
    struct dfc_ctype *type = named(r, die, DFC_CTYPE_STRUCT), *number = new_type(r, DFC_CTYPE_FLOAT);
    bool is_float = type->size_bytes == 2 * sizeof(float);
    if (!is_float && type->size_bytes != 2 * sizeof(double))
        return new_type(r, DFC_CTYPE_OTHER);
    type->name = is_float ? "_Complex float" : "_Complex double";
    type->is_alias = true;
    number->name = is_float ? "float" : "double";
    number->size_bytes = type->size_bytes / 2;
    number->is_exact = true;
    type->number = number;
    type->n_numbers = 2;
    return type;
}

/* The number, plain or complex, that a member is; NULL: it is something else. Types of other members are not followed,
 * because they may lead back to the struct. */
static const struct dfc_ctype *number_of(struct reading *r, Dwarf_Die *member)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type = *member;
    int tag = DW_TAG_typedef;
    for (int i = 0; i < MOST_LEVELS && (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type); i++) {
        if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type))
            return NULL;
        tag = dwarf_tag(&type);
    }
    if (tag != DW_TAG_base_type)
        return NULL;
    const struct dfc_ctype *number = is_complex(&type) ? complex_number(r, &type) : named(r, &type, kind_of_number(&type));
    return number->number || dfc_ctype_is_number(number) ? number : NULL;
}

/* If the struct holds equal numbers and nothing else, an array of it is an array of such numbers. */
static void find_numbers(struct reading *r, Dwarf_Die *die, struct dfc_ctype *type)
{
    const struct dfc_ctype *first = NULL;
    unsigned n = 0;
    Dwarf_Die child;
    for (int status = dwarf_child(die, &child); status == 0; status = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_member || dwarf_hasattr(&child, DW_AT_external))
            continue;                   /* functions, types and static members take no room */
        const struct dfc_ctype *member = number_of(r, &child);
        const struct dfc_ctype *number = member && member->number ? member->number : member;
        if (!number || (first && (first->kind != number->kind || first->size_bytes != number->size_bytes)))
            return;
        first = number;
        n += member->number ? member->n_numbers : 1;
    }
    if (!first || n * first->size_bytes != type->size_bytes)
        return;
    type->number = first;
    type->n_numbers = n;
}

static const struct dfc_ctype *structure(struct reading *r, Dwarf_Die *die)
{
    struct dfc_ctype *type = named(r, die, DFC_CTYPE_STRUCT);
    if (dwarf_tag(die) != DW_TAG_union_type)
        find_numbers(r, die, type);
    return type;
}

/* A struct goes by its typedef's name, and so does an enum without a name of its own. */
static const struct dfc_ctype *alias(struct reading *r, Dwarf_Die *die, int levels)
{
    const struct dfc_ctype *type = type_of(r, die, levels);
    if (type->is_alias || !(type->kind == DFC_CTYPE_STRUCT || (type->kind == DFC_CTYPE_ENUM && !*type->name)))
        return type;
    const char *name = dwarf_diename(die);
    if (!name)                          /* no compiler makes such an entry */
        return type;
    struct dfc_ctype *renamed = new_type(r, type->kind);
    *renamed = *type;
    renamed->name = qualified_name(r, die, name);
    renamed->is_alias = true;
    return renamed;
}

static const struct dfc_ctype *with_const(struct reading *r, const struct dfc_ctype *type)
{
    struct dfc_ctype *constant = new_type(r, type->kind);
    *constant = *type;
    constant->is_const = true;
    return constant;
}

static const struct dfc_ctype *atomic(struct reading *r, const struct dfc_ctype *type)
{
    struct dfc_ctype *shared = new_type(r, type->kind);
    *shared = *type;
    shared->is_atomic = true;
    return shared;
}

static const struct dfc_ctype *referenced_type(struct reading *r, Dwarf_Die *die, enum dfc_ctype_kind kind, int levels)
{
    struct dfc_ctype *type = new_type(r, kind);
    type->of = type_of(r, die, levels);
    return type;
}

static const struct dfc_ctype *type_of_entry(struct reading *r, Dwarf_Die *die, int levels)
{
    Dwarf_Die range;
    switch (dwarf_tag(die)) {
    case DW_TAG_typedef: return alias(r, die, levels);
    case DW_TAG_volatile_type: case DW_TAG_restrict_type: return type_of(r, die, levels);
    case DW_TAG_const_type: return with_const(r, type_of(r, die, levels));
    case DW_TAG_atomic_type: return atomic(r, type_of(r, die, levels));
    case DW_TAG_base_type: return is_complex(die) ? complex_number(r, die) : named(r, die, kind_of_number(die));
    case DW_TAG_enumeration_type: return named(r, die, DFC_CTYPE_ENUM);
    case DW_TAG_structure_type: case DW_TAG_class_type: case DW_TAG_union_type: return structure(r, die);
    case DW_TAG_subroutine_type: return new_type(r, DFC_CTYPE_FUNCTION);
    case DW_TAG_pointer_type: return referenced_type(r, die, DFC_CTYPE_POINTER, levels);
    case DW_TAG_reference_type: return referenced_type(r, die, DFC_CTYPE_REFERENCE, levels);
    case DW_TAG_array_type: return array_of(r, &range, dwarf_child(die, &range), type_of(r, die, levels));
    default: return new_type(r, DFC_CTYPE_OTHER);
    }
}

/* The type that the entry names; void if it names none. */
static const struct dfc_ctype *type_of(struct reading *r, Dwarf_Die *die, int levels)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute))
        return new_type(r, DFC_CTYPE_VOID);
    if (levels == 0 || !dwarf_formref_die(&attribute, &type))
        return new_type(r, DFC_CTYPE_OTHER);
    return type_of_entry(r, &type, levels - 1);
}

/* ---- functions ---- */

static bool has(Dwarf_Die *die, unsigned name)
{
    return dwarf_hasattr_integrate(die, name);
}

static void add_parameter(struct reading *r, struct dfc_function *f, struct dfc_parameter ***last, Dwarf_Die *die)
{
    struct dfc_parameter *p = dfl_arena_alloc(r->prototypes->arena, sizeof *p);
    const char *name = dwarf_diename(die);
    char number[16];
    snprintf(number, sizeof number, "p%u", ++f->n_parameters);
    p->name = copy(r, name ? name : number);
    p->type = type_of(r, die, MOST_LEVELS);
    **last = p;
    *last = &p->next;
}

static void read_parameters(struct reading *r, struct dfc_function *f, Dwarf_Die *die)
{
    struct dfc_parameter **last = &f->parameters;
    Dwarf_Die child;
    for (int status = dwarf_child(die, &child); status == 0; status = dwarf_siblingof(&child, &child)) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_formal_parameter && has(&child, DW_AT_artificial))
            f->is_member = true;        /* "this" */
        else if (tag == DW_TAG_formal_parameter)
            add_parameter(r, f, &last, &child);
        else if (tag == DW_TAG_unspecified_parameters)
            f->is_variadic = true;
    }
}

/* The file that the entry stands in; NULL: not known. In DWARF 5 files count from 0, and clang makes the source file 0, which dwarf_decl_file() of
 * elfutils before 0.189 takes for none. */
static const char *file_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Half version = 0;
    Dwarf_Files *files;
    Dwarf_Die unit;
    size_t n;
    const char *file = dwarf_decl_file(die);
    if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 || number != 0)
        return file;
    return dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) && version >= 5 && dwarf_getsrcfiles(&unit, &files, &n) == 0
               ? dwarf_filesrc(files, 0, NULL, NULL) : NULL;
}

/* The header that the entry stands in; NULL: it is in the source itself. */
static const char *header_of(const struct reading *r, Dwarf_Die *die)
{
    const char *file = file_of(die);
    return file && strcmp(base_name(file), r->file) != 0 ? file : NULL;
}

/* clang finds the headers of C++ in /usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12. */
static bool is_of_system(const char *file)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s", file) >= sizeof path)
        return false;
    dfc_path_tidy(path);
    return !strncmp(path, "/usr/include/", 13) || !strncmp(path, "/usr/lib", 8);
}

/* Does the entry have a name, and stand in a file that is not the system's? */
static bool is_of_user(Dwarf_Die *die)
{
    const char *file = file_of(die);
    return dwarf_diename(die) && file && !is_of_system(file);
}

/* Is it defined here, and is it no copy of another entry? */
static bool is_definition(Dwarf_Die *die)
{
    bool defined = dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges) ||
                   dwarf_hasattr(die, DW_AT_inline);
    return defined && is_of_user(die) && !dwarf_hasattr(die, DW_AT_abstract_origin) && !has(die, DW_AT_artificial);
}

static void read_function(struct reading *r, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    int line = 0;
    if (!is_definition(die))
        return;
    struct dfc_function *f = dfl_arena_alloc(r->prototypes->arena, sizeof *f);
    const char *header = header_of(r, die);
    const char *symbol = dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
    f->name = copy(r, dwarf_diename(die));
    f->qualified = qualified_name(r, die, f->name);
    f->symbol = symbol ? copy(r, symbol) : f->name;
    f->header = header ? copy(r, header) : NULL;
    dwarf_decl_line(die, &line);
    f->line = (unsigned)line;
    f->is_cxx = r->is_cxx;
    f->is_external = has(die, DW_AT_external);
    f->is_member = has(die, DW_AT_object_pointer);
    read_parameters(r, f, die);
    f->result = type_of(r, die, MOST_LEVELS);
    *r->last = f;
    r->last = &f->next;
}

/* A variable of the file that can be written: what makes calls depend on each other. */
static void read_variable(struct reading *r, Dwarf_Die *die)
{
    const char **names = header_of(r, die) ? &r->prototypes->header_globals : &r->prototypes->globals, *before = *names;
    char *text;
    if (!is_of_user(die) || !dwarf_hasattr(die, DW_AT_location))
        return;
    const struct dfc_ctype *type = type_of(r, die, MOST_LEVELS);
    while (type->kind == DFC_CTYPE_ARRAY)
        type = type->of;
    if (type->is_const || asprintf(&text, "%s%s%s", before ? before : "", before ? ", " : "",
                                   dwarf_diename(die)) < 0)
        return;
    *names = copy(r, text);
    free(text);
}

static void read_scope(struct reading *r, Dwarf_Die *scope, int levels)
{
    Dwarf_Die child;
    for (int status = dwarf_child(scope, &child); status == 0; status = dwarf_siblingof(&child, &child))
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram: read_function(r, &child); break;
        case DW_TAG_variable: read_variable(r, &child); break;
        case DW_TAG_namespace:
            if (levels > 0)
                read_scope(r, &child, levels - 1);
        }
}

static bool is_cxx(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus: case DW_LANG_C_plus_plus_03: case DW_LANG_C_plus_plus_11: case DW_LANG_C_plus_plus_14:
        return true;
    default:
        return false;
    }
}

static int by_line(const void *a, const void *b)
{
    const struct dfc_function *const *f = a, *const *g = b;
    int files = strcmp((*f)->header ? (*f)->header : "", (*g)->header ? (*g)->header : "");
    if (files)
        return files;
    return ((*f)->line > (*g)->line) - ((*f)->line < (*g)->line);
}

/* Links the functions again, in the order of their lines, and numbers those that share a name. */
static bool sort(struct dfc_prototypes *p)
{
    size_t n = 0, i = 0;
    for (struct dfc_function *f = p->functions; f; f = f->next)
        n++;
    struct dfc_function **list = malloc((n + 1) * sizeof *list);
    if (!list)
        return false;
    for (struct dfc_function *f = p->functions; f; f = f->next)
        list[i++] = f;
    qsort(list, n, sizeof *list, by_line);
    for (i = 0; i < n; i++) {
        unsigned earlier = 0, others = 0;
        for (size_t k = 0; k < n; k++)
            if (k != i && strcmp(list[k]->qualified, list[i]->qualified) == 0) {
                others++;
                earlier += k < i;
            }
        list[i]->overload = others ? earlier + 1 : 0;
        list[i]->next = i + 1 < n ? list[i + 1] : NULL;
    }
    if (n)
        p->functions = list[0];
    free(list);
    return true;
}

static int no_separate_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
                            const char *link, GElf_Word crc, char **found)
{
    (void)module; (void)user; (void)name; (void)base; (void)file; (void)link; (void)crc; (void)found;
    return -1;
}

static int no_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
    (void)module; (void)user; (void)name; (void)base; (void)file; (void)elf;
    return -1;
}

static void read_units(struct reading *r, Dwfl *dwfl)
{
    Dwarf_Addr bias;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_nextcu(dwfl, unit, &bias));) {
        const char *name = dwarf_diename(unit);
        r->has_units = true;
        r->file = name ? base_name(name) : "";
        r->is_cxx = is_cxx(unit);
        read_scope(r, unit, MOST_LEVELS);
    }
}

bool dfc_prototypes_read(const char *object, bool is_source, struct dfc_prototypes *prototypes)
{
    static const Dwfl_Callbacks callbacks = { .find_elf = no_file, .find_debuginfo = no_separate_file,
                                              .section_address = dwfl_offline_section_address };
    struct reading r = { .prototypes = prototypes, .last = &prototypes->functions };
    *prototypes = (struct dfc_prototypes){ .arena = dfl_arena_new() };
    Dwfl *dwfl = prototypes->arena ? dwfl_begin(&callbacks) : NULL;
    if (!dwfl) {
        dfc_error("out of memory");
        return false;
    }
    bool read = dwfl_report_offline(dwfl, object, object, -1) != NULL;
    if (!read)
        dfc_error("cannot read '%s' as an object file or archive: %s", object, dwfl_errmsg(-1));
    dwfl_report_end(dwfl, NULL, NULL);
    if (read)
        read_units(&r, dwfl);
    dwfl_end(dwfl);
    if (read && (dfl_arena_failed(prototypes->arena) || !sort(prototypes))) {
        dfc_error("out of memory");
        return false;
    }
    if (read && !r.has_units && !is_source) {
        dfc_error("'%s' has no debug information, which tells the types of its functions", object);
        dfc_note("compile it with -g, or name its source: 'dfc wrap' compiles that itself");
    }
    return read && (r.has_units || is_source);
}
