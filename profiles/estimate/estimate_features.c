/* estimate_features.c - parses for estimate.c the dimensions and scalars of a work key into features, numbers and
 * words, and compares them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/estimate_impl.h"

/* The end of a value: after the closing quote of a string, else at the next blank. */
static const char *value_end(const char *at)
{
    if (*at != '"')
        return at + strcspn(at, " ");
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static double number_of(const char *text, const char *end)
{
    char *stop;
    double number = strtod(text, &stop);
    return stop == end && stop != text && isfinite(number) ? number : NAN;
}

static bool parse(const char *text, bool is_dim, struct dfw_features *f)
{
    while (*text) {
        const char *equals = strchr(text, '=');
        if (!equals || f->n == DFW_MAX_FEATURES)
            return false;
        const char *end = value_end(equals + 1);
        f->at[f->n++] = (struct dfw_feature){ .name = text, .name_bytes = (uint32_t)(equals - text),
                                              .text = equals + 1, .text_bytes = (uint32_t)(end - equals - 1),
                                              .number = number_of(equals + 1, end), .is_dim = is_dim };
        text = end + strspn(end, " ");
    }
    return true;
}

bool dfw_features_parse(const char *dims, const char *scalars, struct dfw_features *features)
{
    features->n = 0;
    return parse(dims, true, features) && parse(scalars, false, features);
}

static int compare_text(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

bool dfw_features_alike(const struct dfw_features *a, const struct dfw_features *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->at[i].is_dim != b->at[i].is_dim ||
            compare_text(a->at[i].name, a->at[i].name_bytes, b->at[i].name, b->at[i].name_bytes))
            return false;
    return true;
}

bool dfw_feature_same_word(const struct dfw_feature *a, const struct dfw_feature *b)
{
    return compare_text(a->text, a->text_bytes, b->text, b->text_bytes) == 0;
}

int dfw_features_compare(const struct dfw_features *a, const struct dfw_features *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct dfw_feature *x = &a->at[i], *y = &b->at[i];
        bool word_x = isnan(x->number), word_y = isnan(y->number);
        int order = word_x != word_y ? word_x - word_y
                    : word_x         ? compare_text(x->text, x->text_bytes, y->text, y->text_bytes)
                                     : (x->number > y->number) - (x->number < y->number);
        if (order)
            return order;
    }
    return 0;
}
