/* estimate_impl.h - the features (sizes as numbers and words) on which estimators work. Private to the estimator:
 * estimate_features.c parses and compares them for estimate.c.
 */
#ifndef DFW_ESTIMATE_IMPL_H
#define DFW_ESTIMATE_IMPL_H

#include "profiles/estimate/estimate.h"

struct dfw_feature {                    /* borrows from the observation's text */
    const char *name, *text;
    uint32_t name_bytes, text_bytes;
    double number;                      /* NaN: the feature is a word */
    bool is_dim;
};
struct dfw_features {
    uint32_t n;
    struct dfw_feature at[DFW_MAX_FEATURES];
};

/* Makes features of texts as "k=1024 m=3" and "seed=1 name=\"a b\"". false: there are more than DFW_MAX_FEATURES, or a
 * text is not of this form. */
bool dfw_features_parse(const char *dims, const char *scalars, struct dfw_features *features);
/* Whether both have the same names in the same order. */
bool dfw_features_alike(const struct dfw_features *a, const struct dfw_features *b);
/* A total order of features that are alike: by their values, numbers before words. */
int dfw_features_compare(const struct dfw_features *a, const struct dfw_features *b);
bool dfw_feature_same_word(const struct dfw_feature *a, const struct dfw_feature *b);

#endif
