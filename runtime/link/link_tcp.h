/* link_tcp.h - a link over TCP connections, one per pair of ranks. It detects the end of a rank at once, and no call blocks.
 *
 * Joining:  each rank listens and publishes its addresses in a *card*, which another channel exchanges (MPI, once, at the start). The rank with the
 *           higher number connects to all addresses of the other at once; the first connection that is answered is kept. Both sides authenticate by a
 *           random secret in rank 0's card.
 * Frames:   a message is sent as frames with a payload of DFR_TCP_FRAME bytes (the last one is shorter). Each frame has a header of 16 bytes in host byte
 *           order: magic number, lane, and the bytes of the message from this frame on. Urgent messages have a lane of their own and are sent
 *           between the frames of others; TCP_NOTSENT_LOWAT keeps the socket's send buffer short.
 * Death:    the end of a connection counts as the other rank's death. DFR_LINK_LOST follows all messages that have arrived. Messages that are not sent
 *           yet get their DFR_LINK_SENT. A network that drops packets silently ends no connection.
 * Ends:     close() shuts the sending side down, and reads until the other ranks have done so, at most for DFR_TCP_LINGER_S seconds: closing a
 *           socket with unread bytes would reset the connection and lose what was sent last.
 * Signals:  sending over a broken connection raises no SIGPIPE.
 */
#ifndef DFR_LINK_TCP_H
#define DFR_LINK_TCP_H

#include <stdint.h>

#include "runtime/link/link.h"

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

struct dfr_tcp_door;                    /* a listening socket */

/* Starts to listen, and fills this rank's card. `only`: the interfaces whose addresses are published, as a comma-separated list of names and IPv4 networks
 * such as 10.0.0.0/8; NULL: all but the loopback's. DF_E_IO, DF_E_MEMORY. */
int dfr_tcp_listen(const char *only, struct dfr_tcp_door **door, struct dfr_tcp_card *card, struct df_error *error);
/* Stops listening. */
void dfr_tcp_shut(struct dfr_tcp_door *door);
/* Connects to all ranks by their cards. Closes the door, also after an error. The error names a rank that was not reached within join_s seconds. */
int dfr_tcp_join(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, struct dfr_link **link,
                 struct df_error *error);

#endif
