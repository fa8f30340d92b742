/* compare.h - between compare.c and the calls of a library's graphs, which compare.py writes. */
#ifndef FORMULA_COMPARE_H
#define FORMULA_COMPARE_H

#include <stddef.h>
#include <stdint.h>

struct scalar {
    int64_t i;
    double f;
};

struct call {                     /* one way in which a library runs a graph */
    const char *graph, *way;      /* way: after the graph's name in messages; "" if it has one alone */
    int (*open)(const char *options, void **session);
    int (*run)(void *session, int64_t waves, void *const *data, const int64_t *dims, const struct scalar *scalars);
    int (*shape)(void *session, const int64_t *dims, unsigned port, size_t extents[4]);
    int (*close)(void *session);
    const char *(*error)(void);
};

extern const struct call calls[];
extern const unsigned n_calls;

#endif
