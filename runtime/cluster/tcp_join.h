/* tcp_join.h - the connections of link_tcp.h, made once at the start. */
#ifndef DFR_TCP_JOIN_H
#define DFR_TCP_JOIN_H

#include "runtime/cluster/link_tcp.h"

/* Takes the door. fds[0..size) get a connection for each other rank, and -1 for this one; NULL: out of memory. After an error none is open. */
int dfr_tcp_connect(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, int *fds, struct df_error *error);

#endif
