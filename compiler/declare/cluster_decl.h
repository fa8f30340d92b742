/* cluster_decl.h - a cluster as declared in a .df file: a platform that has types of nodes, each with devices of its
 * own, and a network. `dfc scale` and `dfc map` (cluster/scale_command.c, cluster/map_command.c) read it.
 *
 * Errors:   functions return false after they have reported every error to the sink.
 */
#ifndef DFC_CLUSTER_DECL_H
#define DFC_CLUSTER_DECL_H

#include "compiler/declare/platform_decl.h"

enum { DFC_MOST_NODE_TYPES = 16 };
#define DFC_MOST_NODES 100000
#define DFC_MESSAGE_S 5e-6              /* what rank 0 takes for a message, if the network does not say it */

struct dfc_node_type {                  /* node NAME { … } */
    char name[48];
    uint32_t count;
    double speed;                       /* how often as fast as the times of works say, which are for 1 */
    struct df_link link;                /* to the network, each way */
    struct df_platform platform;        /* one such machine */
};

struct dfc_cluster {
    char name[48];
    struct dfl_loc loc;                 /* of the name, for the sink that it was read with */
    struct dfc_node_type types[DFC_MOST_NODE_TYPES];
    uint32_t n_types;
    struct df_link link;                /* of rank 0: the network's `manager`, else the first type's */
    double total_bytes_per_s;           /* of all messages and files at once; 0: no bound */
    double files_bytes_per_s;           /* of the file system; 0: no bound */
    double message_s;
};

/* Reads a file that declares a cluster; the rest as dfc_platform_read(). */
bool dfc_cluster_read(struct dfl_sink *sink, const char *path, const struct dfc_define *defines, size_t n_defines,
                      struct dfc_cluster *cluster);

#endif
