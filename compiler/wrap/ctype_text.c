/* ctype_text.c - prints types of C and C++, as these languages spell them and as the .df language names them, and
 * prototypes, for kernel_text.c.
 */
#include <string.h>

#include "compiler/wrap/kernel_text.h"

enum { MOST_TEXT = 512 };

const char *dfc_ctype_elem(const struct dfc_ctype *type)
{
    const bool is_float = type->kind == DFC_CTYPE_FLOAT, is_signed = type->kind == DFC_CTYPE_SIGNED, is_unsigned = type->kind == DFC_CTYPE_UNSIGNED;
    if (!dfc_ctype_is_number(type))
        return NULL;
    switch (type->size_bytes) {
    case 1: return is_float ? NULL : is_signed ? "i8" : "u8";
    case 2: return is_float ? "f16" : is_signed ? "i16" : "u16";
    case 4: return is_float ? "f32" : is_unsigned ? "u32" : "i32";
    case 8: return is_float ? "f64" : "i64";
    default: return NULL;
    }
}

const char *dfc_ctype_scalar(const struct dfc_ctype *type)
{
    if (!dfc_ctype_is_number(type) || type->size_bytes > 8)
        return NULL;
    if (type->kind == DFC_CTYPE_FLOAT)
        return type->size_bytes == 8 ? "f64" : type->size_bytes == 4 ? "f32" : NULL;
    bool fits = type->size_bytes < 4 || (type->size_bytes == 4 && type->kind != DFC_CTYPE_UNSIGNED);
    return fits ? "i32" : "i64";
}

static void print_base(FILE *out, const struct dfc_ctype *type, const char *declarator, enum dfc_spelling spelling)
{
    const char *before = "", *word = type->kind == DFC_CTYPE_VOID ? "void" : *type->name ? type->name : "…";
    if (spelling == DFC_SPELL_ALONE && type->number)
        word = type->number->name;
    if (spelling == DFC_SPELL_C && !type->is_alias)
        before = type->kind == DFC_CTYPE_STRUCT ? "struct " : type->kind == DFC_CTYPE_ENUM ? "enum " : "";
    if (spelling == DFC_SPELL_ALONE)
        word = type->kind == DFC_CTYPE_ENUM ? "int" : type->kind == DFC_CTYPE_BOOL ? "_Bool" : word;
    if (type->kind == DFC_CTYPE_FUNCTION)
        word = "function";
    fprintf(out, "%s%s%s%s%s", type->is_const ? "const " : "", before, word,
            *declarator && *declarator != '[' ? " " : "", declarator);
}

void dfc_ctype_print(FILE *out, const struct dfc_ctype *type, const char *name, enum dfc_spelling spelling)
{
    char room[2][MOST_TEXT], *text = room[0], *longer = room[1], *swapped;
    snprintf(text, MOST_TEXT, "%s", name);
    for (; type->of; type = type->of, swapped = text, text = longer, longer = swapped)
        if (type->kind == DFC_CTYPE_ARRAY && type->extent > 0)
            snprintf(longer, MOST_TEXT, "%.400s[%ld]", text, type->extent);
        else if (type->kind == DFC_CTYPE_ARRAY)
            snprintf(longer, MOST_TEXT, "%.400s[]", text);
        else {
            bool nested = type->of->kind == DFC_CTYPE_ARRAY || type->of->kind == DFC_CTYPE_FUNCTION;
            snprintf(longer, MOST_TEXT, "%s%c%s%.400s%s", nested ? "(" : "",
                     type->kind == DFC_CTYPE_POINTER ? '*' : spelling == DFC_SPELL_ALONE ? '*' : '&',
                     type->is_const ? "const " : "", text,
                     nested ? ")" : "");
        }
    print_base(out, type, text, spelling);
}

void dfc_prototype_print(FILE *out, const struct dfc_function *f, const char *name, enum dfc_spelling spelling)
{
    dfc_ctype_print(out, f->result, "", spelling);
    fprintf(out, "%s%s(", f->result->kind == DFC_CTYPE_POINTER ? "" : " ", name);
    for (const struct dfc_parameter *p = f->parameters; p; p = p->next) {
        dfc_ctype_print(out, p->type, spelling == DFC_SPELL_ALONE ? "" : p->name, spelling);
        fputs(p->next || f->is_variadic ? ", " : "", out);
    }
    fputs(f->is_variadic ? "...)" : f->parameters || spelling == DFC_SPELL_CXX ? ")" : "void)", out);
}
