/* lock_impl.h - what the files of compiler/lock/ share. */
#ifndef DFC_LOCK_IMPL_H
#define DFC_LOCK_IMPL_H

#include <jansson.h>

#include "compiler/lock/lock.h"

struct dfc_lock {
    json_t *root;
    char *path, *text;                  /* of a lock that was read; NULL: it was made of a plan */
    size_t length;
};

/* Reports an error at the line of a member, found by its name; NULL: at the first line. The hint may be NULL. Returns false. */
bool dfc_lock_wrong(const struct dfc_lock *lock, const char *member, const char *hint, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "'dfc plan GRAPH.df -o PATH' makes it anew", as a hint. */
const char *dfc_lock_remedy(const struct dfc_lock *lock, char *text, size_t size);

static inline const char *dfc_lock_text(const json_t *object, const char *name) { return json_string_value(json_object_get(object, name)); }
static inline json_t *dfc_lock_list(const struct dfc_lock *lock, const char *name) { return json_object_get(lock->root, name); }
static inline uint32_t dfc_lock_count(const struct dfc_lock *lock, const char *name) { return (uint32_t)json_integer_value(json_object_get(lock->root, name)); }

/* A unit's name in locks: its own, or "NAME#k" if an earlier unit has that. */
const char *dfc_lock_unit_name(const struct df_platform *platform, uint32_t unit, char *text, size_t size);
/* A node's name; with "~" if it is an inserted copy, and a written kernel has the name of these. malloc'ed; NULL: no memory. */
char *dfc_lock_node_name(const struct df_graph *graph, uint32_t node);

/* fingerprint.c: what plans depend on, as 16 hex digits. `text` has 17 bytes. false: no memory. */
bool dfc_lock_graph_hash(const struct df_graph *graph, char *text);
void dfc_lock_times_hash(const struct dfp_problem *problem, char *text);
void dfc_lock_platform_hash(const struct df_platform *platform, char *text);

#endif
