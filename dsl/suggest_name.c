/* suggest_name.c - spelling suggestions ("did you mean ...?"): finds the closest of a list of names, and translates
 * type and function names of other languages, for all messages about unknown names.
 */
#include <string.h>

#include "dsl/diag.h"
#include "runtime/base/suggest.h"

const char *dfl_suggest(const char *name, const char *const *names, size_t n)
{
    struct dfr_suggestion suggestion = { .name = name };
    for (size_t i = 0; i < n; i++)
        dfr_suggest(&suggestion, names[i]);
    return suggestion.closest;
}

const char *dfl_hint_function(const char *name)
{
    static const char *const hints[][2] = {
        { "mean", "a mean is 'sum(i in 0..n: v[i]) / f32(n)'" },
        { "average", "a mean is 'sum(i in 0..n: v[i]) / f32(n)'" },
        { "not", "'not' is '!'" },
        { "len", "the extents of a port are its dimensions: 'n' of 'v: f32[n]'" },
        { "size", "the extents of a port are its dimensions: 'n' of 'v: f32[n]'" },
        { "shape", "the extents of a port are its dimensions: 'n' of 'v: f32[n]'" },
        { "median", "of three values it is 'max(min(a, b), min(max(a, b), c))'; of more, a kernel of C code sorts" },
        { "percentile", "formulas sort nothing: a kernel of C code does" },
        { "quantile", "formulas sort nothing: a kernel of C code does" },
        { "sort", "formulas sort nothing: a kernel of C code does" },
        { "std", "with m for the mean it is 'sqrt(sum(i in 0..n: (v[i] - m) * (v[i] - m)) / f32(n))'" },
        { "var", "with m for the mean it is 'sum(i in 0..n: (v[i] - m) * (v[i] - m)) / f32(n)'" },
        { "dot", "a product of vectors is 'sum(i in 0..n: a[i] * b[i])'" },
        { "clip", "it is 'clamp(x, low, high)'" },
        { "where", "a choice is 'condition ? value : other'" },
        { "print", "formulas print nothing: a kernel of C code does" },
        { "printf", "formulas print nothing: a kernel of C code does" },
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (strcmp(hints[i][0], name) == 0)
            return hints[i][1];
    return NULL;
}

const char *dfl_suggest_type(const char *name)
{
    static const char *const types[][2] = {
        {"bool", "u8"}, {"byte", "u8"}, {"char", "u8"}, {"uchar", "u8"}, {"uint8", "u8"}, {"uint8_t", "u8"},
        {"int8", "i8"}, {"int8_t", "i8"}, {"schar", "i8"},
        {"int16", "i16"}, {"int16_t", "i16"}, {"short", "i16"}, {"uint32", "u32"}, {"uint32_t", "u32"}, {"uint", "u32"}, {"unsigned", "u32"}, {"uint16", "u16"}, {"uint16_t", "u16"}, {"ushort", "u16"}, {"int", "i32"}, {"int32", "i32"},
        {"int32_t", "i32"}, {"int64", "i64"}, {"int64_t", "i64"}, {"long", "i64"}, {"size_t", "i64"}, {"half", "f16"},
        {"float16", "f16"}, {"float", "f32"}, {"float32", "f32"}, {"double", "f64"}, {"float64", "f64"},
        {"string", "str"},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i][0], name) == 0)
            return types[i][1];
    return NULL;
}
