/* link_tcp.c - sends and receives frames over established connections (link_tcp.h), as the link that link.c opens for TCP; tcp_join.c establishes the
 * connections. */
#include "runtime/link/link_tcp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/link/launcher.h"
#include "runtime/link/tcp_join.h"
#include "runtime/threads/clock.h"

#define MARK 0x64667431u                /* "dft1" */
#define MOST_AT_ONCE ((size_t)1 << 20)  /* bytes sent or received for one peer before it is another one's turn */
#define MOVED_BYTES ((size_t)256 << 10) /* from so many on poll() returns DFR_LINK_MOVING */

enum { LANE_PLAIN, LANE_URGENT, N_LANES };

struct header {
    uint32_t mark, lane;
    uint64_t left;                      /* bytes of the message, this frame included. All frames but the last are full, so this gives the frame's length, too */
};

/* A message on its way out. */
struct packet {
    struct packet *next;
    const unsigned char *bytes;         /* the sender's */
    size_t size, at;
    void *cookie;
};

struct queue {
    struct packet *first, **end;
};

/* A message of which frames arrive. */
struct arrival {
    unsigned char *bytes;               /* NULL: none */
    size_t size, at;
};

struct peer {
    int fd;                             /* -1: lost, or this rank itself */
    bool wants_out;                     /* epoll watches for EPOLLOUT */
    bool cannot_send;                   /* a send has failed. What has arrived is still read, until the end of the connection */
    struct queue out[N_LANES];
    int lane_out;                       /* of the frame that is being sent; -1: none */
    struct header header_out;
    size_t header_out_at, frame_out;    /* bytes of the header that have left; of the frame that have not */
    struct arrival in[N_LANES];
    struct header header_in;
    size_t header_in_at, frame_in;
};

struct tcp_link {
    struct dfr_link link;               /* first member */
    struct peer *peers;
    int epoll;
    size_t moved_bytes;                 /* since the last DFR_LINK_MOVING */
    struct dfr_link_event *events;      /* a ring buffer: event i is at (first + i) % room */
    size_t first, n_events, room;
    struct dfr_launcher launcher;
};

/* ---- queued events ---- */

static bool note(struct tcp_link *t, struct dfr_link_event event)
{
    if (!DFR_RING_ROOM(t->events, t->first, t->n_events, t->room))
        return false;
    t->events[(t->first + t->n_events++) % t->room] = event;
    return true;
}

static bool take_event(struct tcp_link *t, struct dfr_link_event *event)
{
    if (t->n_events == 0)
        return false;
    *event = t->events[t->first];
    t->first = (t->first + 1) % t->room;
    t->n_events--;
    return true;
}

/* ---- a peer ---- */

static struct packet *take_packet(struct queue *queue)
{
    struct packet *packet = queue->first;

    queue->first = packet->next;
    if (!queue->first)
        queue->end = &queue->first;
    return packet;
}

static bool note_sent(struct tcp_link *t, struct packet *packet)
{
    void *cookie = packet->cookie;

    free(packet);
    return note(t, (struct dfr_link_event){ .kind = DFR_LINK_SENT, .cookie = cookie });
}

/* What was to be sent to it counts as sent. */
static bool drop_packets(struct tcp_link *t, struct peer *peer)
{
    bool ok = true;

    for (int lane = 0; lane < N_LANES; lane++)
        while (peer->out[lane].first)
            ok &= note_sent(t, take_packet(&peer->out[lane]));
    peer->lane_out = -1;
    return ok;
}

/* Its connection is at its end. */
static bool lose(struct tcp_link *t, int rank)
{
    struct peer *peer = &t->peers[rank];
    const bool ok = drop_packets(t, peer);

    close(peer->fd);
    peer->fd = -1;
    for (int lane = 0; lane < N_LANES; lane++) {
        free(peer->in[lane].bytes);
        peer->in[lane] = (struct arrival){ 0 };
    }
    return ok && note(t, (struct dfr_link_event){ .kind = DFR_LINK_LOST, .rank = rank });
}

static void watch(struct tcp_link *t, int rank, bool out)
{
    struct peer *peer = &t->peers[rank];
    struct epoll_event event = { .events = EPOLLIN | (out ? EPOLLOUT : 0), .data = { .u32 = (uint32_t)rank } };

    if (peer->fd >= 0 && peer->wants_out != out) {
        peer->wants_out = out;
        epoll_ctl(t->epoll, EPOLL_CTL_MOD, peer->fd, &event);
    }
}

static size_t frame_of(size_t left)
{
    return left < DFR_TCP_FRAME ? left : DFR_TCP_FRAME;
}

/* ---- out ---- */

/* Starts the next frame. Returns false if no message is queued. */
static bool begin_frame(struct peer *peer)
{
    int lane = peer->out[LANE_URGENT].first ? LANE_URGENT : LANE_PLAIN;
    const struct packet *packet = peer->out[lane].first;

    if (!packet)
        return false;
    peer->lane_out = lane;
    peer->header_out = (struct header){ MARK, (uint32_t)lane, packet->size - packet->at };
    peer->header_out_at = 0;
    peer->frame_out = frame_of(packet->size - packet->at);
    return true;
}

/* Sends as much of the current frame as the socket takes. Returns the number of bytes, or -1 with errno. */
static ssize_t send_some(struct peer *peer, struct packet *packet)
{
    struct iovec parts[2] = { { (char *)&peer->header_out + peer->header_out_at, sizeof peer->header_out - peer->header_out_at },
                              { (void *)(packet->bytes + packet->at), peer->frame_out } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    ssize_t n = sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n <= 0)
        return n;
    size_t head = (size_t)n < parts[0].iov_len ? (size_t)n : parts[0].iov_len;
    peer->header_out_at += head;
    peer->frame_out -= (size_t)n - head;
    packet->at += (size_t)n - head;
    return n;
}

static bool failed_for_good(void)
{
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ENOBUFS && errno != ENOMEM;
}

/* false: out of memory. */
static bool write_some(struct tcp_link *t, int rank)
{
    struct peer *peer = &t->peers[rank];
    size_t moved = 0;

    while (peer->fd >= 0 && moved < MOST_AT_ONCE && (peer->lane_out >= 0 || begin_frame(peer))) {
        struct queue *queue = &peer->out[peer->lane_out];
        ssize_t n = send_some(peer, queue->first);
        if (n < 0 && failed_for_good()) {
            peer->cannot_send = true;
            if (!drop_packets(t, peer))
                return false;
            break;
        }
        if (n <= 0)
            break;
        moved += (size_t)n;
        if (peer->frame_out > 0)
            continue;
        peer->lane_out = -1;
        if (queue->first->at == queue->first->size && !note_sent(t, take_packet(queue)))
            return false;
    }
    t->moved_bytes += moved;
    watch(t, rank, peer->lane_out >= 0 || peer->out[LANE_PLAIN].first || peer->out[LANE_URGENT].first);
    return true;
}

static int tcp_send(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error)
{
    struct tcp_link *t = (struct tcp_link *)link;
    struct peer *peer = &t->peers[to];
    struct packet *packet = malloc(sizeof *packet);

    if (!packet)
        return dfr_error_memory(error);
    *packet = (struct packet){ .bytes = bytes, .size = size, .cookie = cookie };
    if (peer->fd < 0 || peer->cannot_send)
        return note_sent(t, packet) ? DF_OK : dfr_error_memory(error);
    struct queue *queue = &peer->out[urgent ? LANE_URGENT : LANE_PLAIN];
    *queue->end = packet;
    queue->end = &packet->next;
    return peer->wants_out || write_some(t, to) ? DF_OK : dfr_error_memory(error);
}

/* ---- in ---- */

static int wrong(int rank, struct df_error *error)
{
    return dfr_error(error, DF_E_FORMAT, "what comes from rank %d is no message of this version", rank);
}

/* Interprets a complete header. */
static int begin_arrival(struct peer *peer, int rank, struct df_error *error)
{
    const struct header *header = &peer->header_in;

    if (header->mark != MARK || header->lane >= N_LANES || header->left == 0 || header->left > SIZE_MAX / 2)
        return wrong(rank, error);
    struct arrival *arrival = &peer->in[header->lane];
    if (arrival->bytes && header->left != arrival->size - arrival->at)
        return wrong(rank, error);
    if (!arrival->bytes) {
        unsigned char *bytes = aligned_alloc(DFR_LINK_ALIGN, (header->left + DFR_LINK_ALIGN - 1) / DFR_LINK_ALIGN * DFR_LINK_ALIGN);
        if (!bytes)
            return dfr_error_memory(error);
        *arrival = (struct arrival){ bytes, header->left, 0 };
    }
    peer->frame_in = frame_of(header->left);
    return DF_OK;
}

/* Reads into the current header or frame. *n: the result of recv(). Sets *whole if a message is complete. */
static int receive_some(struct tcp_link *t, int rank, ssize_t *n, bool *whole, struct df_error *error)
{
    struct peer *peer = &t->peers[rank];
    const bool head = peer->header_in_at < sizeof peer->header_in;
    struct arrival *arrival = head ? NULL : &peer->in[peer->header_in.lane];

    *n = head ? recv(peer->fd, (char *)&peer->header_in + peer->header_in_at, sizeof peer->header_in - peer->header_in_at, MSG_DONTWAIT)
              : recv(peer->fd, arrival->bytes + arrival->at, peer->frame_in, MSG_DONTWAIT);
    if (*n <= 0)
        return DF_OK;
    if (head) {
        peer->header_in_at += (size_t)*n;
        return peer->header_in_at < sizeof peer->header_in ? DF_OK : begin_arrival(peer, rank, error);
    }
    arrival->at += (size_t)*n;
    if ((peer->frame_in -= (size_t)*n) > 0)
        return DF_OK;
    peer->header_in_at = 0;
    if (arrival->at < arrival->size)
        return DF_OK;
    *whole = true;
    const struct dfr_link_event event = { DFR_LINK_ARRIVED, rank, arrival->bytes, arrival->size, NULL };
    *arrival = (struct arrival){ 0 };
    if (note(t, event))
        return DF_OK;
    free(event.bytes);
    return dfr_error_memory(error);
}

static int read_some(struct tcp_link *t, int rank, struct df_error *error)
{
    size_t moved = 0;
    bool whole = false;

    while (t->peers[rank].fd >= 0 && moved < MOST_AT_ONCE) {
        ssize_t n;
        int code = receive_some(t, rank, &n, &whole, error);
        if (code != DF_OK)
            return code;
        if (n == 0 || (n < 0 && failed_for_good()))
            return lose(t, rank) ? DF_OK : dfr_error_memory(error);
        if (n < 0)
            break;
        moved += (size_t)n;
    }
    t->moved_bytes += moved;
    if (moved > 0 && !whole && !note(t, (struct dfr_link_event){ .kind = DFR_LINK_HEARD, .rank = rank }))
        return dfr_error_memory(error);
    return DF_OK;
}

/* ---- polls ---- */

/* Sends and receives what is possible without blocking. */
static int move(struct tcp_link *t, struct df_error *error)
{
    struct epoll_event ready[64];
    int n = epoll_wait(t->epoll, ready, sizeof ready / sizeof *ready, 0), code = DF_OK;

    for (int i = 0; i < n && code == DF_OK; i++) {
        int rank = (int)ready[i].data.u32;
        if (ready[i].events & ~(uint32_t)EPOLLOUT && t->peers[rank].fd >= 0)
            code = read_some(t, rank, error);
        if (code == DF_OK && ready[i].events & EPOLLOUT && t->peers[rank].fd >= 0 && !write_some(t, rank))
            code = dfr_error_memory(error);
    }
    return code;
}

static int tcp_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    struct tcp_link *t = (struct tcp_link *)link;
    int code;

    *event = (struct dfr_link_event){ .kind = DFR_LINK_NOTHING };
    if (take_event(t, event))
        return DF_OK;
    if ((code = move(t, error)) != DF_OK || take_event(t, event))
        return code;
    if (dfr_launcher_is_gone(&t->launcher))
        return dfr_error(error, DF_E_STOPPED, "the launcher of this rank is gone");
    if (t->moved_bytes >= MOVED_BYTES) {
        t->moved_bytes = 0;
        event->kind = DFR_LINK_MOVING;
    }
    return DF_OK;
}

/* ---- begin and end ---- */

/* Reads and drops what arrives until the other ranks have closed, too. */
static void linger(struct tcp_link *t)
{
    static char away[1 << 16];
    const double until_s = dfr_clock_s() + DFR_TCP_LINGER_S;
    int n_open = 0;

    for (int rank = 0; rank < t->link.size; rank++) {
        watch(t, rank, false);
        if (t->peers[rank].fd >= 0)
            shutdown(t->peers[rank].fd, SHUT_WR);
        n_open += t->peers[rank].fd >= 0;
    }
    while (n_open > 0 && dfr_clock_s() < until_s) {
        struct epoll_event ready[64];
        int n = epoll_wait(t->epoll, ready, sizeof ready / sizeof *ready, 50);
        for (int i = 0; i < n; i++) {
            struct peer *peer = &t->peers[ready[i].data.u32];
            ssize_t got = peer->fd >= 0 ? recv(peer->fd, away, sizeof away, MSG_DONTWAIT) : -1;
            if (peer->fd < 0 || (got < 0 && !failed_for_good()) || got > 0)
                continue;
            close(peer->fd);
            peer->fd = -1;
            n_open--;
        }
    }
}

static void free_link(struct tcp_link *t)
{
    for (int rank = 0; t->peers && rank < t->link.size; rank++) {
        struct peer *peer = &t->peers[rank];
        if (peer->fd >= 0)
            close(peer->fd);
        for (int lane = 0; lane < N_LANES; lane++) {
            while (peer->out[lane].first)
                free(take_packet(&peer->out[lane]));
            free(peer->in[lane].bytes);
        }
    }
    struct dfr_link_event event;
    while (take_event(t, &event))
        free(event.bytes);
    if (t->epoll >= 0)
        close(t->epoll);
    free(t->events);
    free(t->peers);
    free(t);
}

static void tcp_close(struct dfr_link *link, bool whole)
{
    struct tcp_link *t = (struct tcp_link *)link;

    (void)whole;
    linger(t);
    free_link(t);
}

/* Takes the connections in any case. */
static int make(int rank, int size, const int *fds, struct tcp_link **made, struct df_error *error)
{
    struct tcp_link *t = calloc(1, sizeof *t);
    int code = t ? DF_OK : dfr_error_memory(error);

    for (int i = 0; !t && i < size; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (code != DF_OK)
        return code;
    t->link = (struct dfr_link){ rank, size, tcp_send, tcp_poll, tcp_close };
    t->launcher = dfr_launcher_of(size);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->peers = calloc((size_t)size, sizeof *t->peers);
    for (int i = 0; i < size && t->peers; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = (uint32_t)i } };
        struct peer *peer = &t->peers[i];
        peer->fd = fds[i];
        peer->lane_out = -1;
        for (int lane = 0; lane < N_LANES; lane++)
            peer->out[lane].end = &peer->out[lane].first;
        if (peer->fd >= 0 && (t->epoll < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, peer->fd, &event) != 0))
            code = dfr_error(error, DF_E_IO, "cannot wait for other ranks: %s", strerror(errno));
    }
    if (!t->peers)
        code = dfr_error_memory(error);
    for (int i = 0; !t->peers && i < size; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (code != DF_OK)
        free_link(t);
    else
        *made = t;
    return code;
}

int dfr_tcp_join(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, struct dfr_link **link,
                 struct df_error *error)
{
    int *fds = malloc((size_t)size * sizeof *fds);
    struct tcp_link *t = NULL;
    int code = dfr_tcp_connect(door, rank, size, cards, join_s, fds, error);

    if (code == DF_OK)
        code = make(rank, size, fds, &t, error);
    free(fds);
    if (code == DF_OK)
        *link = &t->link;
    return code;
}
