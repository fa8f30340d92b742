/* tcp_join.h - establishes the connections of link_tcp.h, once at the start. link_tcp.c calls it. */
#ifndef DFR_TCP_JOIN_H
#define DFR_TCP_JOIN_H

#include "runtime/link/link_tcp.h"

/* Closes the door. Sets fds[0..size) to a connected socket for each other rank, and to -1 for this one. After an error none is open. fds NULL:
 * DF_E_MEMORY. */
int dfr_tcp_connect(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, int *fds, struct df_error *error);

#endif
