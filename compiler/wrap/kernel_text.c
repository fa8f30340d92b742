/* kernel_text.c - prints the kernel declaration of an existing function, or why it cannot be a kernel, for `dfc wrap`
 * in commands/cmd_wrap.c.
 *
 * If the function's types are those of a kernel, the variant is a plain call: cpu "f.c": f(a, n). Otherwise it is
 * inline code attached to the file, which casts, names a function in a namespace, stores a result, or declares a
 * function of an object file.
 */
#include "compiler/types/frontend.h"
#include "compiler/wrap/kernel_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 300 };

void dfc_prototypes_free(struct dfc_prototypes *prototypes)
{
    dfl_arena_free(prototypes->arena);
}

/* ---- what is refused ---- */

static const char *why_not_type(const struct dfc_ctype *type)
{
    bool to = type->kind == DFC_CTYPE_POINTER || type->kind == DFC_CTYPE_REFERENCE;
    unsigned rank = to;
    for (type = to ? type->of : type; type->kind == DFC_CTYPE_ARRAY; type = type->of)
        rank++;
    if (rank + (type->number != NULL) > 4)
        return "has more than four dimensions";
    switch (type->kind) {
    case DFC_CTYPE_POINTER: return "is a pointer to a pointer, and a port is one array of numbers";
    case DFC_CTYPE_STRUCT:
        if (to && type->number && *type->name && dfc_ctype_elem(type->number))
            return NULL;
        return to ? "points to a struct or object, and a port is an array of numbers"
                  : "is a struct or object, and scalars are numbers and text";
    case DFC_CTYPE_FUNCTION: return "is a function";
    case DFC_CTYPE_VOID: return NULL;
    default: return (to ? dfc_ctype_elem(type) : dfc_ctype_scalar(type)) ? NULL : "is of a type that kernels do not have";
    }
}

static bool is_atomic(const struct dfc_parameter *p)
{
    return p->type->of && p->type->of->is_atomic;
}

/* Nothing converts what an OpenCL kernel gets, and a launch has one piece of local memory. */
static const char *why_not_there(const struct dfc_parameter *p, bool is_opencl)
{
    if (!is_opencl)
        return is_atomic(p) ? "is of a type that kernels do not have" : NULL;
    if (is_atomic(p))
        return p->next ? "is local memory, which a launch gives to the last parameter alone" : NULL;
    return dfc_ctype_is_number(p->type) && p->type->size_bytes < 4 ? "has less than 32 bits, and scalars are i32, i64, f32 or f64" : NULL;
}

const char *dfc_kernel_refused(const struct dfc_function *f, const struct dfc_wrapped_file *file,
                               char why[DFC_WHY_BYTES])
{
    if (strcmp(f->name, "main") == 0)
        return "the program that dfc makes has a main() of its own";
    if (!f->is_external && !file->is_source)
        return "it is static, so only its own file can call it: name the source in place of the object";
    if (f->is_member || strncmp(f->name, "operator", 8) == 0)
        return "it is a member function or an operator, and needs an object";
    if (f->is_variadic)
        return "it takes any number of arguments";
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next) {
        const char *type = why_not_type(p->type);
        if (!type)
            type = why_not_there(p, file->is_opencl);
        if (type) {
            snprintf(why, DFC_WHY_BYTES, "'%.200s' %s", p->name, type);
            return why;
        }
    }
    return NULL;
}

static enum dfc_spelling spelling_of(const struct dfc_function *f, bool is_source)
{
    return !is_source ? DFC_SPELL_ALONE : f->is_cxx ? DFC_SPELL_CXX : DFC_SPELL_C;
}

/* ---- names ---- */

static bool is_word(const char *name)
{
    static const char *const words[] = { "acc", "arg", "else", "for", "graph", "if", "import", "in", "inout", "kernel",
                                         "link", "out", "param", "platform", "tmp", "type", NULL };
    for (const char *const *word = words; *word; word++)
        if (strcmp(name, *word) == 0)
            return true;
    return false;
}

/* Can a kernel, port or scalar not be called so? */
static bool is_taken(const char *name)
{
    char why[DFC_WHY_RESERVED_BYTES];
    return is_word(name) || strcmp(name, "select") == 0 || dfc_name_is_reserved(name, why);
}

/* Writes a name of C as a name of the kernel language: its words, those that generated code has, and keywords of C++, which
 * are names in C, get a '_', and a 'p' in front if that is not enough. */
static void write_name(char to[MOST_NAME], const char *name)
{
    size_t n = 0;
    for (const char *p = name; *p && n + 3 < MOST_NAME; p++) {
        p += p[0] == ':' && p[1] == ':';
        to[n++] = isalnum((unsigned char)*p) ? *p : '_';
    }
    to[n] = '\0';
    if (is_taken(to))
        strcat(to, "_");
    if (!is_taken(to))
        return;
    memmove(to + 1, to, strlen(to) + 1);
    to[0] = 'p';
}

static void print_name(FILE *out, const char *name)
{
    char text[MOST_NAME];
    write_name(text, name);
    fputs(text, out);
}

/* The kernel's name; overloads are numbered. */
static void write_kernel_name(char to[MOST_NAME], const struct dfc_function *f)
{
    write_name(to, f->qualified);
    if (f->overload)
        snprintf(to + strlen(to), MOST_NAME - strlen(to), "_%u", f->overload);
}

/* ---- the signature ---- */

struct text {
    FILE *out;
    const struct dfc_function *f;
    const struct dfc_wrapped_file *file;
    struct dfc_role *roles;
    bool has_result;                    /* the value is an output of the kernel */
};

static bool is_input(const struct dfc_parameter *p)
{
    const struct dfc_ctype *type = p->type->of;
    while (type->kind == DFC_CTYPE_ARRAY)
        type = type->of;
    return type->is_const;
}

/* A number that a function gives is an output. But an int beside outputs is more often a status or a count. */
static bool has_result(const struct dfc_function *f, const struct dfc_role *roles)
{
    unsigned i = 0;
    if (!dfc_ctype_elem(f->result))
        return false;
    if (f->result->kind == DFC_CTYPE_FLOAT)
        return true;
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next, i++)
        if (roles[i].kind == DFC_ROLE_PORT && !is_input(p))
            return false;
    return true;
}

static const char *result_name(const struct dfc_function *f)
{
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next)
        if (strcmp(p->name, "result") == 0)
            return "value";
    return "result";
}

static void print_port(const struct text *t, const struct dfc_parameter *p, const struct dfc_role *role)
{
    const char *elem = role->elem ? dfc_ctype_elem(role->elem) : "bytes";
    fputs(is_input(p) ? "in " : "inout? ", t->out);
    print_name(t->out, p->name);
    fprintf(t->out, ": %s[", elem);
    for (unsigned d = 0; d < role->rank; d++) {
        fputs(d ? ", " : "", t->out);
        if (role->extents[d].name)
            print_name(t->out, role->extents[d].name);
        else if (role->extents[d].number)
            fprintf(t->out, "%ld", role->extents[d].number);
        else
            fputc('?', t->out);
    }
    fputs(role->guessed ? " /* a guess */]" : "]", t->out);
}

static void print_signature(const struct text *t)
{
    unsigned i = 0, n = 0, n_ports = t->has_result;
    for (unsigned k = 0; k < t->f->n_parameters; k++)
        n_ports += t->roles[k].kind == DFC_ROLE_PORT;
    const char *before = n_ports > 2 ? ",\n        " : ", "; /* many ports are easier to complete one below the other */
    fputs(n_ports > 2 ? "(\n        " : "(", t->out);
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next, i++)
        if (t->roles[i].kind == DFC_ROLE_PORT) {
            fputs(n++ ? before : "", t->out);
            print_port(t, p, &t->roles[i]);
        }
    if (t->has_result)
        fprintf(t->out, "%sout %s: %s[1]", n ? before : "", result_name(t->f), dfc_ctype_elem(t->f->result));
    i = n = 0;
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next, i++) {
        const struct dfc_ctype *type = p->type->kind == DFC_CTYPE_REFERENCE ? p->type->of : p->type;
        if (t->roles[i].kind != DFC_ROLE_SCALAR && t->roles[i].kind != DFC_ROLE_TEXT)
            continue;
        fputs(n++ ? ", " : "; ", t->out);
        print_name(t->out, p->name);
        const bool as_it_is = t->file->is_opencl && type->size_bytes == 4 && type->kind != DFC_CTYPE_FLOAT; /* a uint, too */
        fprintf(t->out, ": %s", t->roles[i].kind == DFC_ROLE_TEXT ? "str /* a guess */" : as_it_is ? "i32" : dfc_ctype_scalar(type));
    }
    fputc(')', t->out);
}

/* ---- the variant ---- */

/* Does C, or C++, take what the kernel has for this parameter, without a cast? */
static bool fits(const struct text *t, const struct dfc_parameter *p, const struct dfc_role *role)
{
    const struct dfc_ctype *type = p->type;
    if (role->kind == DFC_ROLE_PORT)
        return type->kind == DFC_CTYPE_POINTER && (type->of->kind == DFC_CTYPE_VOID || type->of->is_exact);
    if (role->kind == DFC_ROLE_TEXT)
        return type->of->is_const;
    return !t->f->is_cxx || type->kind != DFC_CTYPE_ENUM;
}

static bool needs_code(const struct text *t)
{
    const struct dfc_function *f = t->f;
    unsigned i = 0;
    if (t->has_result || is_word(f->name) || !t->file->is_source || f->overload || strcmp(f->name, f->qualified) != 0 || strchr(f->name, '<'))
        return true;
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next, i++)
        if (!fits(t, p, &t->roles[i]))
            return true;
    return false;
}

/* What inline code writes for a parameter: its name, with a cast if the types differ or may choose an overload. */
static void print_argument(const struct text *t, const struct dfc_parameter *p, const struct dfc_role *role)
{
    bool is_port = role->kind == DFC_ROLE_PORT, is_reference = p->type->kind == DFC_CTYPE_REFERENCE;
    const struct dfc_ctype *type = is_reference ? p->type->of : p->type, *element = is_port && !is_reference ? type->of
                                                                                                            : type;
    enum dfc_spelling spelling = spelling_of(t->f, t->file->is_source);
    bool unknown = false;
    for (; element->kind == DFC_CTYPE_ARRAY; element = element->of)
        unknown |= element->extent == 0; /* its extents are other parameters */
    if (is_reference && spelling == DFC_SPELL_ALONE) { /* declared as a pointer, which it is for the machine */
        fputs(is_port ? "" : "&", t->out);
    } else if (is_port && is_reference) {
        struct dfc_ctype pointer = { .kind = DFC_CTYPE_POINTER, .of = type };
        fputs("*(", t->out);
        dfc_ctype_print(t->out, &pointer, "", spelling);
        fputc(')', t->out);
    } else if (unknown) {
        fputs("(void *)", t->out);
    } else if (t->f->is_cxx || !fits(t, p, role)) {
        fputc('(', t->out);
        dfc_ctype_print(t->out, type, "", spelling);
        fputc(')', t->out);
    }
    print_name(t->out, p->name);
}

/* The name under which inline code calls the function. One of an object has its own, because C has no namespaces. */
static const char *callee(const struct text *t, char room[MOST_NAME])
{
    if (t->file->is_source)
        return t->f->qualified;
    if (strcmp(t->f->symbol, t->f->name) == 0)
        return t->f->name;
    write_kernel_name(room, t->f);
    return room;
}

static void print_declaration(const struct text *t, const char *name)
{
    dfc_prototype_print(t->out, t->f, name, DFC_SPELL_ALONE);
    if (strcmp(t->f->symbol, t->f->name) != 0)
        fprintf(t->out, " __asm__(\"%s\")", t->f->symbol);
    fputs("; ", t->out);
}

static void print_code(const struct text *t)
{
    char room[MOST_NAME];
    const char *name = callee(t, room);
    unsigned i = 0;
    fputs(" {{ ", t->out);
    if (!t->file->is_source)
        print_declaration(t, name);
    if (t->has_result)
        fprintf(t->out, "%s[0] = ", result_name(t->f));
    fprintf(t->out, "%s(", name);
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next, i++) {
        print_argument(t, p, &t->roles[i]);
        fputs(p->next ? ", " : "", t->out);
    }
    fputs("); }};\n", t->out);
}

/* A kernel of OpenCL. Its group is a guess, and how many there are only its code tells. */
static void print_launch(const struct text *t)
{
    unsigned i = 0;
    fprintf(t->out, ": %s<<<?, 64", t->f->name);
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next, i++)
        if (t->roles[i].kind == DFC_ROLE_LOCAL)
            fprintf(t->out, ", 64 * %u", p->type->of->size_bytes ? p->type->of->size_bytes : 1);
    fputs(" /* a guess */>>>(", t->out);
    i = 0;
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next, i++)
        if (t->roles[i].kind != DFC_ROLE_LOCAL) {
            fputs(i ? ", " : "", t->out);
            print_name(t->out, p->name);
        }
    fputs(");\n", t->out);
}

static void print_call(const struct text *t)
{
    fprintf(t->out, ": %s(", t->f->name);
    for (const struct dfc_parameter *p = t->f->parameters; p; p = p->next) {
        print_name(t->out, p->name);
        fputs(p->next ? ", " : "", t->out);
    }
    fprintf(t->out, ")%s;\n", t->f->result->kind == DFC_CTYPE_VOID ? "" : " -> void");
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', out);
}

static void print_file(FILE *out, const struct dfc_wrapped_file *file)
{
    fputs(file->is_opencl ? "gpu " : "cpu ", out);
    print_string(out, file->path);
    if (file->flags && file->is_source) {
        fputs(" flags ", out);
        print_string(out, file->flags);
    }
}

static void print_prototype(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file)
{
    fprintf(out, "// %s:%u: ", f->header ? f->header : file->path, f->line);
    dfc_prototype_print(out, f, f->qualified, spelling_of(f, true));
    fputc('\n', out);
}

bool dfc_kernel_print(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file)
{
    struct text t = { .out = out, .f = f, .file = file, .roles = calloc(f->n_parameters + 1, sizeof *t.roles) };
    char name[MOST_NAME];
    if (!t.roles)
        return false;
    dfc_roles(f, file->is_opencl, t.roles);
    t.has_result = has_result(f, t.roles);
    print_prototype(out, f, file);
    if (f->result->kind == DFC_CTYPE_POINTER)
        fprintf(out, "// Its value, a pointer, is ignored. If the caller is to free what it points to, each call leaks it. Then write inline code that\n"
                     "// copies it into an out port and frees it: {{ void *value = %s(...); memcpy(PORT, value, BYTES); free(value); }}\n", f->qualified);
    else if (f->result->kind != DFC_CTYPE_VOID && !t.has_result)
        fputs("// Its value is ignored. If it is a status, 0 for success, a call without '-> void' makes others fail.\n", out);
    write_kernel_name(name, f);
    fprintf(out, "kernel %s", name);
    print_signature(&t);
    fputs("\n    ", out);
    print_file(out, file);
    (file->is_opencl ? print_launch : needs_code(&t) ? print_code : print_call)(&t);
    free(t.roles);
    return true;
}

/* ---- functions for which a person writes inline code ---- */

static const struct dfc_parameter *first_of(const struct dfc_function *f, enum dfc_ctype_kind kind)
{
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next)
        if ((p->type->kind == kind || (p->type->of && p->type->of->kind == kind)) && !(p->type->of && p->type->of->number))
            return p;
    return NULL;
}

/* The function among `all` that gives a pointer to such a struct, as the maker of a plan or a handle does. */
static const struct dfc_function *maker_of(const struct dfc_ctype *type, const struct dfc_function *all)
{
    for (; all; all = all->next)
        if (all->result->kind == DFC_CTYPE_POINTER && all->result->of->kind == DFC_CTYPE_STRUCT && *type->name &&
            strcmp(all->result->of->name, type->name) == 0)
            return all;
    return NULL;
}

/* A struct that a function of the file makes is made once for each thread, since calls may write to it. Else the person
 * fills one. */
static void print_object(FILE *out, const struct dfc_function *f, const struct dfc_parameter *p, const struct dfc_function *all)
{
    struct dfc_ctype type = p->type->kind == DFC_CTYPE_STRUCT ? *p->type : *p->type->of;
    const struct dfc_function *maker = p->type->kind == DFC_CTYPE_POINTER ? maker_of(&type, all) : NULL;
    type.is_const = false;
    if (maker) {
        fprintf(out, "static %s ", f->is_cxx ? "thread_local" : "_Thread_local");
        dfc_ctype_print(out, maker->result, p->name, spelling_of(f, true));
        fprintf(out, "; if (!%s) %s = %s(...); %s(%s, ...);", p->name, p->name, maker->qualified, f->qualified, p->name);
        return;
    }
    dfc_ctype_print(out, &type, p->name, spelling_of(f, true));
    fprintf(out, " = { data, w, h }; %s(%s%s, ...);", f->qualified, p->type->kind == DFC_CTYPE_POINTER ? "&" : "", p->name);
}

/* The first parameter that is a pointer to a pointer. */
static const struct dfc_parameter *rows_of(const struct dfc_function *f)
{
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next)
        if (p->type->kind == DFC_CTYPE_POINTER && p->type->of->kind == DFC_CTYPE_POINTER)
            return p;
    return NULL;
}

static void print_inline(FILE *out, const struct dfc_wrapped_file *file)
{
    fputs("//     ", out);
    print_file(out, file);
    fputs(" {{ ", out);
}

/* A pointer to a pointer is an array of rows, or the place in which the function puts the address of what it allocates. The type tells them
 * apart only if the pointer is const. */
static void print_rows(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file, const struct dfc_parameter *rows)
{
    struct dfc_ctype pointer = *rows->type->of;
    const bool may_allocate = !pointer.is_const;
    const char *before = rows == f->parameters ? "" : "..., ", *after = rows->next ? ", ..." : "";
    pointer.is_const = false;
    fprintf(out, "// Inline code of yours can call it, in the file's own unit. If '%s' is an array of rows, for example:\n", rows->name);
    print_inline(out, file);
    dfc_ctype_print(out, &pointer, "", spelling_of(f, true));
    fprintf(out, "%s[h]; for (size_t i = 0; i < h; i++) %s[i] = data + i * w; %s(%s%s%s); }}\n", rows->name, rows->name, f->qualified, before,
            rows->name, after);
    if (!may_allocate)
        return;
    fprintf(out, "// If it allocates what '%s' then points to, copy that into an out port and free it, as else each call leaks it:\n", rows->name);
    print_inline(out, file);
    dfc_ctype_print(out, &pointer, "", spelling_of(f, true));
    fprintf(out, "%s = NULL; %s(%s&%s%s); memcpy(PORT, %s, BYTES); free(%s); }}\n", rows->name, f->qualified, before, rows->name, after, rows->name,
            rows->name);
}

void dfc_kernel_print_refused(FILE *out, const struct dfc_function *f, const struct dfc_wrapped_file *file,
                              const char *why, const struct dfc_function *all)
{
    const struct dfc_parameter *rows = rows_of(f), *object = first_of(f, DFC_CTYPE_STRUCT);
    print_prototype(out, f, file);
    fprintf(out, "// Not wrapped: %s.\n", why);
    if (!file->is_source || file->is_opencl || strcmp(f->name, "main") == 0)
        return;
    if (rows) {
        print_rows(out, f, file, rows);
        return;
    }
    fputs("// Inline code of yours can call it, in the file's own unit, for example:\n", out);
    print_inline(out, file);
    if (object)
        print_object(out, f, object, all);
    else
        fprintf(out, "%s%s(...);", f->is_member ? "object." : "", f->is_member ? f->name : f->qualified);
    fputs(" }}\n", out);
}
