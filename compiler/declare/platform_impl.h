/* platform_impl.h - evaluation of properties, shared by the files that convert a declared platform or cluster:
 * platform_values.c evaluates them for platform_decl.c and cluster_decl.c, and the latter reads its files through the
 * former.
 *
 * Errors:   an invalid value is reported at its location, and clears `ok`.
 */
#ifndef DFC_PLATFORM_IMPL_H
#define DFC_PLATFORM_IMPL_H

#include "compiler/declare/platform_decl.h"

struct dfc_convert {
    struct dfc_unit *u;
    struct dfl_sink *sink;
    struct df_platform *platform;       /* the machine that is converted */
    bool ok;
    bool promise;                       /* its values are of a promise, and of no platform */
};

#define DFC_NO_UNIT (-1)
/* Evaluates a value in its base unit: seconds, bytes, or none (DFC_UNIT_TIME, DFC_UNIT_BYTES, DFC_NO_UNIT). `rate`: per second. The other
 * functions evaluate what their names say, and check the bounds of platform.h. */
bool dfc_take_number(struct dfc_convert *c, const struct dfl_expr *value, const char *what, int want, bool rate, double *result);
bool dfc_take_count(struct dfc_convert *c, const struct dfl_expr *value, const char *what, uint32_t least, uint32_t most,
                    uint32_t *result);
void dfc_take_bytes(struct dfc_convert *c, const struct dfl_expr *value, const char *what, uint64_t *result);
void dfc_take_delay(struct dfc_convert *c, const struct dfl_expr *value, const char *what, double *result);
bool dfc_take_rate(struct dfc_convert *c, const struct dfl_expr *value, const char *what, double *bytes_per_s);
/* BANDWIDTH [, LATENCY [, THRESHOLD]] */
void dfc_take_link(struct dfc_convert *c, const struct dfl_property *property, struct df_link *link);
/* Returns whether the declaration has nodes or a network. */
bool dfc_platform_is_cluster(const struct dfl_platform *ast);
/* Reads a file that declares a platform, and has `convert` make *result of it. */
bool dfc_platform_read_as(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                          bool (*convert)(struct dfc_unit *u, const struct dfl_platform *ast, void *result), void *result);
/* Refuses `value` with that sentence, if there is one. */
void dfc_refuse_value(struct dfc_convert *c, const struct dfl_expr *value, const char *what);

#endif
