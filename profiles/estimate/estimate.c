/* estimate.c - one estimator, for estimate_kernel.c and the report of `dfc profile`: stores its observations, and
 * estimates by nearest neighbours or by power laws, whichever validated better.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/estimate_impl.h"
#include "runtime/base/error.h"

#define FOLDS 10
#define LEAST_VALUE 1e-12               /* a very short time may be measured as 0, which has no logarithm */
#define MOST_LN_ERROR 1.3862943611198906 /* ln 4 */
#define FAR_LN 0.6931471805599453       /* ln 2: a size is far if its bytes are beyond the measured ones by so much */
#define FAR_PATIENCE 2                  /* a power law for a far size may have so many times the score of knn */
#define LEAST_OF_GROUP 3                /* so many observations with the same words have a fit of their own */
#define NO_FOLD UINT32_MAX             /* no item is left out */

struct item {
    struct dfw_features features;
    uint64_t job_bytes;
    double value, over;
    uint32_t group;                     /* items with the same words have the same group */
};

struct cached {                         /* a fit to all observations of a group */
    signed char state;                  /* 0: not made yet, 1: made, -1: there is none */
    struct dfw_power power;
};

struct dfw_estimator {
    uint32_t n, n_groups, n_folds;
    struct item *items;
    bool is_number[DFW_MAX_FEATURES], varies[DFW_MAX_FEATURES];
    double scale[DFW_MAX_FEATURES];     /* of a feature: its largest magnitude; 0: all its numbers are 0 */
    double assumed_exponent, least_ln_bytes, most_ln_bytes;
    double score[DFW_N_METHODS], error[DFW_N_METHODS];
    enum dfw_method method;
    struct cached *cached;              /* [method * (n_groups + 1) + group]; group n_groups: all together */
    double *x, *y;                      /* scratch of fits */
};

const char *dfw_method_name(enum dfw_method method)
{
    static const char *const names[] = { "knn", "bytes", "product", "each" };
    return method < DFW_N_METHODS ? names[method] : "none";
}

static double ln_bytes(const struct item *item)
{
    return log((double)item->job_bytes + 1);
}

/* ---- nearest neighbours ---- */

static double distance2(const struct dfw_estimator *e, const struct dfw_features *a, const struct dfw_features *b)
{
    double sum = 0;
    for (uint32_t f = 0; f < a->n; f++) {
        const struct dfw_feature *x = &a->at[f], *y = &b->at[f];
        double d;
        if (isnan(x->number) || isnan(y->number))
            d = !dfw_feature_same_word(x, y);
        else
            d = e->scale[f] > 0 ? (x->number - y->number) / e->scale[f] : x->number != y->number;
        sum += d * d;
    }
    return sum;
}

/* The estimate by the nearest neighbours; items of the fold `without` are left out. Ties go to the earlier item. */
static double by_neighbours(const struct dfw_estimator *e, uint32_t without, const struct item *query)
{
    double nearest[DFW_KNN_K], value = 0, over = 0;
    uint32_t which[DFW_KNN_K], n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        if (i % e->n_folds == without)
            continue;
        double d = distance2(e, &e->items[i].features, &query->features);
        if (n == DFW_KNN_K && d >= nearest[n - 1])
            continue;
        uint32_t k = n < DFW_KNN_K ? n++ : n - 1;
        for (; k && nearest[k - 1] > d; k--) {
            nearest[k] = nearest[k - 1];
            which[k] = which[k - 1];
        }
        nearest[k] = d;
        which[k] = i;
    }
    for (uint32_t k = 0; k < n; k++) {
        value += e->items[which[k]].value;
        over += e->items[which[k]].over;
    }
    return n ? value / over : NAN;
}

/* ---- power laws ---- */

/* Fills the row of ln x of an item for this method. Gives its length; 0: the item has no such row. */
static uint32_t row_of(const struct dfw_estimator *e, enum dfw_method method, const struct item *item, double *x)
{
    uint32_t n = 0, n_dims = 0;
    if (method == DFW_POWER_BYTES) {
        x[0] = ln_bytes(item);
        return 1;
    }
    double product = 0;
    for (uint32_t f = 0; f < item->features.n; f++) {
        const struct dfw_feature *feature = &item->features.at[f];
        if (!e->is_number[f] || !e->varies[f])
            continue;
        if (!(feature->number > 0)) {
            if (method == DFW_POWER_EACH || feature->is_dim)
                return 0;               /* it has no logarithm */
            continue;
        }
        if (method == DFW_POWER_EACH) {
            x[n++] = log(feature->number);
        } else if (feature->is_dim) {
            product += log(feature->number);
            n_dims++;
        }
    }
    if (method == DFW_POWER_EACH)
        return n;
    x[0] = product;
    return n_dims > 1;                  /* with one dimension only, this method is the same as `each` */
}

/* Gathers the rows of all items of a group (n_groups: of all groups) that are not in the fold `without`. */
static uint32_t gather(struct dfw_estimator *e, enum dfw_method method, uint32_t group, uint32_t without, uint32_t *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct item *item = &e->items[i];
        if (i % e->n_folds == without || (group < e->n_groups && item->group != group))
            continue;
        *d = row_of(e, method, item, e->x + (size_t)n * DFW_MAX_FEATURES);
        if (*d == 0)
            return 0;
        if (*d < DFW_MAX_FEATURES)      /* rows are shorter than where they were written: they move together */
            memmove(e->x + (size_t)n * *d, e->x + (size_t)n * DFW_MAX_FEATURES, *d * sizeof *e->x);
        e->y[n++] = log(item->value / item->over);
    }
    return n;
}

static bool fit(struct dfw_estimator *e, enum dfw_method method, uint32_t group, uint32_t without,
                struct dfw_power *power)
{
    uint32_t d = 0, n = gather(e, method, group, without, &d);
    if (n < LEAST_OF_GROUP && group < e->n_groups)
        n = gather(e, method, e->n_groups, without, &d);
    return n > 0 && dfw_power_fit(e->x, e->y, n, d, e->assumed_exponent, power);
}

static double by_power(const struct dfw_estimator *e, enum dfw_method method, const struct dfw_power *power,
                       const struct item *query)
{
    double row[DFW_MAX_FEATURES];
    uint32_t d = row_of(e, method, query, row);
    double value = d == power->n_exponents ? exp(dfw_power_ln(power, row)) : NAN;
    return isfinite(value) && value > 0 ? value : NAN;
}

/* ---- cross-validation ---- */

/* Estimates the items of one fold from the others. All items of a group share a fit. */
static void validate_fold(struct dfw_estimator *e, enum dfw_method method, uint32_t fold, double *estimates)
{
    for (uint32_t i = fold; i < e->n; i += e->n_folds)
        estimates[i] = NAN;
    if (method == DFW_KNN) {
        for (uint32_t i = fold; i < e->n; i += e->n_folds)
            estimates[i] = by_neighbours(e, fold, &e->items[i]);
        return;
    }
    for (uint32_t g = 0; g < e->n_groups; g++) {
        struct dfw_power power;
        int state = 0;
        for (uint32_t i = fold; i < e->n; i += e->n_folds) {
            if (e->items[i].group != g)
                continue;
            if (state == 0)
                state = fit(e, method, g, fold, &power) ? 1 : -1;
            if (state > 0)
                estimates[i] = by_power(e, method, &power, &e->items[i]);
        }
    }
}

static void validate(struct dfw_estimator *e, enum dfw_method method, double *estimates)
{
    double score = 0, error = 0;
    for (uint32_t fold = 0; fold < e->n_folds; fold++)
        validate_fold(e, method, fold, estimates);
    for (uint32_t i = 0; i < e->n; i++) {
        double value = e->items[i].value / e->items[i].over;
        score += fmin(fabs(log(estimates[i] / value)), MOST_LN_ERROR) + (isnan(estimates[i]) ? NAN : 0);
        error += fabs(estimates[i] - value) / value;
    }
    e->score[method] = score / e->n;
    e->error[method] = error / e->n;
}

static int choose(struct dfw_estimator *e, struct df_error *error)
{
    double *estimates = malloc((e->n + 1) * sizeof *estimates);
    if (!estimates)
        return dfr_error_memory(error);
    e->method = DFW_POWER_BYTES;
    for (unsigned m = 0; m < DFW_N_METHODS; m++)
        e->score[m] = e->error[m] = NAN;
    for (unsigned m = 0; m < DFW_N_METHODS && e->n > 2; m++) {
        validate(e, (enum dfw_method)m, estimates);
        if (isnan(e->score[e->method]) || e->score[m] < e->score[e->method])
            e->method = (enum dfw_method)m;
    }
    free(estimates);
    return DF_OK;
}

/* ---- making one ---- */

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = dfw_features_compare(&x->features, &y->features);
    if (order)
        return order;
    if (x->job_bytes != y->job_bytes)
        return x->job_bytes < y->job_bytes ? -1 : 1;
    double u = x->value / x->over, v = y->value / y->over;
    return (u > v) - (u < v);
}

static uint32_t count_alike(const struct dfw_estimator *e, uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < e->n; k++)
        n += dfw_features_alike(&e->items[i].features, &e->items[k].features);
    return n;
}

/* Keeps the items whose features are the most frequent, and sorts them. If they are too many, some are left out
 * evenly. */
static void keep_alike(struct dfw_estimator *e)
{
    uint32_t best = 0, best_count = 0, n = 0;
    for (uint32_t i = 0; i < e->n && best_count <= e->n / 2; i++) {
        uint32_t count = count_alike(e, i);
        if (count > best_count) {
            best = i;
            best_count = count;
        }
    }
    struct dfw_features like = e->items[best].features;
    for (uint32_t i = 0; i < e->n; i++)
        if (dfw_features_alike(&like, &e->items[i].features))
            e->items[n++] = e->items[i];
    qsort(e->items, n, sizeof *e->items, compare_items);
    if (n > DFW_MAX_OBSERVATIONS) {
        for (uint32_t i = 0; i < DFW_MAX_OBSERVATIONS; i++)
            e->items[i] = e->items[(uint64_t)i * (n - 1) / (DFW_MAX_OBSERVATIONS - 1)];
        n = DFW_MAX_OBSERVATIONS;
    }
    e->n = n;
}

static void describe(struct dfw_estimator *e)
{
    e->least_ln_bytes = INFINITY;
    e->most_ln_bytes = -INFINITY;
    for (uint32_t f = 0; f < e->items[0].features.n; f++) {
        const struct dfw_feature *first = &e->items[0].features.at[f];
        e->is_number[f] = true;
        for (uint32_t i = 0; i < e->n; i++) {
            const struct dfw_feature *feature = &e->items[i].features.at[f];
            e->is_number[f] = e->is_number[f] && !isnan(feature->number);
            e->varies[f] = e->varies[f] || !dfw_feature_same_word(first, feature);
            e->scale[f] = fmax(e->scale[f], fabs(feature->number)); /* fmax ignores NaN */
        }
    }
    for (uint32_t i = 0; i < e->n; i++) {
        e->least_ln_bytes = fmin(e->least_ln_bytes, ln_bytes(&e->items[i]));
        e->most_ln_bytes = fmax(e->most_ln_bytes, ln_bytes(&e->items[i]));
    }
}

static bool same_words(const struct dfw_estimator *e, const struct item *a, const struct item *b)
{
    for (uint32_t f = 0; f < a->features.n; f++)
        if (!e->is_number[f] && !dfw_feature_same_word(&a->features.at[f], &b->features.at[f]))
            return false;
    return true;
}

/* The group with the item's words, of the first n items; n_groups: there is none. */
static uint32_t group_of(const struct dfw_estimator *e, uint32_t n, const struct item *item)
{
    for (uint32_t i = 0; i < n; i++)
        if (same_words(e, &e->items[i], item))
            return e->items[i].group;
    return e->n_groups;
}

static void make_groups(struct dfw_estimator *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        e->items[i].group = group_of(e, i, &e->items[i]);
        e->n_groups += e->items[i].group == e->n_groups;
    }
}

int dfw_estimator_new(const struct dfw_observation *observations, uint32_t n, double assumed_exponent,
                      struct dfw_estimator **estimator, struct df_error *error)
{
    struct dfw_estimator *e = calloc(1, sizeof *e);
    if (!e)
        return dfr_error_memory(error);
    e->items = malloc((n + 1) * sizeof *e->items);
    int status = e->items ? DF_OK : dfr_error_memory(error);
    for (uint32_t i = 0; i < n && status == DF_OK; i++) {
        const struct dfw_observation *o = &observations[i];
        struct item *item = &e->items[e->n];
        *item = (struct item){ .job_bytes = o->job_bytes, .value = fmax(o->value, LEAST_VALUE),
                               .over = fmax(o->over, LEAST_VALUE) };
        e->n += dfw_features_parse(o->dims, o->scalars, &item->features);
    }
    if (status == DF_OK && e->n == 0)
        status = dfr_error(error, DF_E_ARGUMENT, "there is no observation to estimate from");
    if (status == DF_OK) {
        keep_alike(e);
        e->n_folds = e->n < FOLDS ? e->n : FOLDS;
        e->assumed_exponent = assumed_exponent;
        describe(e);
        make_groups(e);
        e->cached = calloc((size_t)DFW_N_METHODS * (e->n_groups + 1), sizeof *e->cached);
        e->x = malloc((size_t)(e->n + 1) * DFW_MAX_FEATURES * sizeof *e->x);
        e->y = malloc((e->n + 1) * sizeof *e->y);
        status = e->cached && e->x && e->y ? choose(e, error) : dfr_error_memory(error);
    }
    if (status != DF_OK) {
        dfw_estimator_free(e);
        return status;
    }
    *estimator = e;
    return DF_OK;
}

void dfw_estimator_free(struct dfw_estimator *e)
{
    if (!e)
        return;
    free(e->items);
    free(e->cached);
    free(e->x);
    free(e->y);
    free(e);
}

/* ---- asking it ---- */

uint32_t dfw_estimator_count(const struct dfw_estimator *e)
{
    return e->n;
}

enum dfw_method dfw_estimator_method(const struct dfw_estimator *e)
{
    return e->method;
}

double dfw_estimator_score(const struct dfw_estimator *e)
{
    return e->score[e->method];
}

double dfw_estimator_error(const struct dfw_estimator *e, enum dfw_method method)
{
    return e->error[method];
}

static double value_by(struct dfw_estimator *e, enum dfw_method method, const struct item *query)
{
    if (method == DFW_KNN)
        return by_neighbours(e, NO_FOLD, query);
    struct cached *c = &e->cached[method * (e->n_groups + 1) + query->group];
    if (c->state == 0)
        c->state = fit(e, method, query->group, NO_FOLD, &c->power) ? 1 : -1;
    return c->state > 0 ? by_power(e, method, &c->power, query) : NAN;
}

/* Far outside of what was measured, the best power law stands in for knn, if it is not much worse. */
static enum dfw_method method_for(const struct dfw_estimator *e, const struct item *query)
{
    double ln = ln_bytes(query);
    if (e->method != DFW_KNN || (ln >= e->least_ln_bytes - FAR_LN && ln <= e->most_ln_bytes + FAR_LN))
        return e->method;
    enum dfw_method best = DFW_KNN;
    double best_score = FAR_PATIENCE * e->score[DFW_KNN];
    for (unsigned m = DFW_POWER_BYTES; m < DFW_N_METHODS; m++)
        if (e->score[m] <= best_score) {
            best_score = e->score[m];
            best = (enum dfw_method)m;
        }
    return best;
}

static bool make_query(const struct dfw_estimator *e, const char *dims, const char *scalars, uint64_t job_bytes,
                       struct item *query)
{
    *query = (struct item){ .job_bytes = job_bytes };
    if (!dfw_features_parse(dims, scalars, &query->features) ||
        !dfw_features_alike(&query->features, &e->items[0].features))
        return false;
    query->group = group_of(e, e->n, query);
    return true;
}

double dfw_estimator_value(struct dfw_estimator *e, const char *dims, const char *scalars, uint64_t job_bytes)
{
    struct item query;
    if (!make_query(e, dims, scalars, job_bytes, &query))
        return NAN;
    double value = value_by(e, method_for(e, &query), &query);
    return isnan(value) ? value_by(e, DFW_POWER_BYTES, &query) : value; /* a size of 0 has no logarithm */
}
