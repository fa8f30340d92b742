/* link_tcp.h - a link over TCP connections, one between each two ranks. It sees at once when a rank ends, and waits for none.
 *
 * Joining:  each rank listens, and tells the others its addresses by a *card*, which something else carries (MPI, once, at the start). The rank with
 *           the higher number connects, to all addresses at once; the first connection that answers is kept. Both sides show a secret of rank 0's card.
 * Frames:   a message is cut into frames of DFR_TCP_FRAME bytes, the last one shorter, each behind a header of 16 bytes: a mark, the lane, and the bytes
 *           of the message from this frame on. The numbers are those of the machine: all ranks run the same program. Urgent messages have a lane
 *           of their own, so they travel between the frames of others, and little waits in the system's buffer (TCP_NOTSENT_LOWAT).
 * Death:    the end of a connection is the other rank's death: DFR_LINK_LOST, after all that has arrived. What was to be sent counts as sent.
 *           A network that falls silent ends no connection.
 * Ends:     close() says that nothing follows, and reads until the others have said so, too, for DFR_TCP_LINGER_S seconds at most: what was sent
 *           last would be lost if bytes were left unread.
 * Signals:  a broken connection sends no SIGPIPE.
 */
#ifndef DFR_LINK_TCP_H
#define DFR_LINK_TCP_H

#include <stdint.h>

#include "runtime/cluster/link.h"

#define DFR_TCP_FRAME ((size_t)256 << 10)
#define DFR_TCP_LINGER_S 2
#define DFR_TCP_JOIN_S 30.0
#define DFR_TCP_ADDRESSES 8

struct dfr_tcp_card {
    unsigned char secret[16];
    char host[64];
    uint16_t port, n_addresses;
    struct {
        uint16_t family;
        unsigned char bytes[16];
    } addresses[DFR_TCP_ADDRESSES];
};

struct dfr_tcp_door;                    /* what listens */

/* Begins to listen, and writes this rank's card. `only`: NULL, or the interfaces whose addresses it shows: names or IPv4 networks such as 10.0.0.0/8, with
 * commas between them; without it all but the loopback's. DF_E_IO, DF_E_MEMORY. */
int dfr_tcp_listen(const char *only, struct dfr_tcp_door **door, struct dfr_tcp_card *card, struct df_error *error);
/* Listens no longer. */
void dfr_tcp_shut(struct dfr_tcp_door *door);
/* Connects to all ranks, whose cards these are, and takes the door in any case. A rank that cannot be reached within join_s seconds is named. */
int dfr_tcp_join(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, struct dfr_link **link,
                 struct df_error *error);

#endif
