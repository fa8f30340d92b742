/* bind_impl.h - the representation of cores in bind.c, exposed for its test, which describes a machine of two sockets in a folder. */
#ifndef DFR_BIND_IMPL_H
#define DFR_BIND_IMPL_H

#include <sched.h>
#include <stddef.h>

struct dfr_core {
    int package, first;                 /* first: its CPU of the lowest number */
    cpu_set_t cpus;                     /* those that this process may use */
};

struct dfr_cores {
    cpu_set_t allowed;
    size_t n;
    struct dfr_core core[];
};

/* The cores of these CPUs, as FOLDER/cpuN/topology/ says it. NULL: there are none, or no memory. */
struct dfr_cores *dfr_cores_find(const char *folder, const cpu_set_t *allowed);

#endif
