/* link_rig.h - a mock of the link between ranks (runtime/link/link.h): all ranks are in one process. It delays, reorders
 * what MPI may reorder, and drops ranks.
 *
 * Delays:   a message is due after some polls of its receiver, up to `most_delay`, drawn by the seed. One pair of ranks keeps its
 *           order. Messages of different pairs overtake each other, and an urgent one may overtake all of its pair.
 * Pieces:   a rank is told now and then that a message is on its way to it (DFR_LINK_HEARD).
 * Deaths:   with an odd seed, the others hear of a rank's death (DFR_LINK_LOST) when they have what it sent.
 * Memory:   a message is copied when it is delivered, and not before, as large ones are by MPI. So a sender that does not keep
 *           it until then is found by a sanitizer.
 * Threads:  each rank may have a thread of its own. With one thread for all, everything is decided by the seed.
 */
#ifndef LINK_RIG_H
#define LINK_RIG_H

#include <stdint.h>

#include "runtime/link/link.h"

struct link_rig;

struct link_rig *link_rig_create(int n_ranks, uint32_t seed, unsigned most_delay);
struct dfr_link *link_rig_link(struct link_rig *rig, int rank);
/* The rank dies: what it sent may arrive or not, what is sent to it may count as sent or not. Its own calls fail. */
void link_rig_kill(struct link_rig *rig, int rank);
/* `drop` is called for what never left: it lets go of a cookie. The links are closed by this, too. */
void link_rig_destroy(struct link_rig *rig, void (*drop)(void *cookie));

#endif
