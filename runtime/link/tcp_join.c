/* tcp_join.c - listens, and connects all ranks with each other (link_tcp.h), for link.c and link_tcp.c. All connections are made at the same time, and
 * connections of other programs are ignored. */
#include "runtime/link/tcp_join.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/threads/clock.h"

#define NOT_SENT_BYTES (1 << 20)        /* of a connection, at most, in the system's buffer and not on the network */

/* The first message of the rank that connects, and the reply. */
struct greeting {
    char magic[8];
    unsigned char secret[16];
    uint32_t from, to;
};

static const char magic[8] = "dfctcp1";

struct dfr_tcp_door {
    int fd;
};

/* A connection that is being made. */
struct attempt {
    int fd;
    int peer;                           /* the rank it connects to; -1: it was accepted, and its greeting names the rank */
    bool greets;                        /* connected, and the greeting was sent */
    struct greeting heard;
    size_t n_heard;
};

struct joining {
    int rank, size;
    const struct dfr_tcp_card *cards;
    int listener;
    int *fds;
    int n_missing;
    struct attempt *attempts;
    struct pollfd *polls;
    size_t n, room, polls_room;
    int why;                            /* errno of the last attempt that failed */
};

/* ---- addresses ---- */

static const void *bytes_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                         : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
}

/* Reads the length of a network's prefix. Returns false if the text is no number from 0 to 32. */
static bool read_prefix(const char *text, int *bits)
{
    char *end;
    const long n = strtol(text, &end, 10);

    *bits = (int)n;
    return end > text && !*end && n >= 0 && n <= 32;
}

/* Is `word` this interface's name, or an IPv4 network that has its address? */
static bool is_meant(const char *word, const struct ifaddrs *one)
{
    char text[64], *slash;
    struct in_addr network;
    uint32_t own;
    int bits = 32;

    if (!strcmp(word, one->ifa_name))
        return true;
    snprintf(text, sizeof text, "%s", word);
    if ((slash = strchr(text, '/')) != NULL)
        *slash = 0;
    if (one->ifa_addr->sa_family != AF_INET || inet_pton(AF_INET, text, &network) != 1 || (slash && !read_prefix(slash + 1, &bits)))
        return false;
    memcpy(&own, bytes_of(one->ifa_addr), sizeof own);
    return bits == 0 || ((ntohl(own) ^ ntohl(network.s_addr)) >> (32 - bits)) == 0;
}

static bool is_in(const char *only, const struct ifaddrs *one)
{
    char *words = strdup(only), *rest = words;
    bool is = false;

    for (const char *word; words && (word = strtok_r(rest, ", ", &rest)) != NULL;)
        is |= is_meant(word, one);
    free(words);
    return is;
}

static bool is_usable(const struct ifaddrs *one, const char *only)
{
    if (!one->ifa_addr || !(one->ifa_flags & IFF_UP) || (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6))
        return false;
    if (one->ifa_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes_of(one->ifa_addr)))
        return false;
    return only && only[0] ? is_in(only, one) : !(one->ifa_flags & IFF_LOOPBACK);
}

static int find_addresses(const char *only, struct dfr_tcp_card *card, struct df_error *error)
{
    struct ifaddrs *all;

    if (getifaddrs(&all) != 0)
        return dfr_error(error, DF_E_IO, "this host's addresses cannot be found: %s", strerror(errno));
    for (const struct ifaddrs *one = all; one && card->n_addresses < DFR_TCP_ADDRESSES; one = one->ifa_next)
        if (is_usable(one, only)) {
            const uint16_t family = one->ifa_addr->sa_family;
            card->addresses[card->n_addresses].family = family;
            memcpy(card->addresses[card->n_addresses++].bytes, bytes_of(one->ifa_addr), family == AF_INET ? 4 : 16);
        }
    freeifaddrs(all);
    if (card->n_addresses > 0)
        return DF_OK;
    return only && only[0] ? dfr_error(error, DF_E_IO, "no interface of this host is one of '%s'", only)
                           : dfr_error(error, DF_E_IO, "this host has no network that is up");
}

static socklen_t fill(const struct dfr_tcp_card *card, unsigned i, struct sockaddr_storage *address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof *address);
    address->ss_family = card->addresses[i].family;
    if (address->ss_family == AF_INET) {
        four->sin_port = htons(card->port);
        memcpy(&four->sin_addr, card->addresses[i].bytes, 4);
        return sizeof *four;
    }
    six->sin6_port = htons(card->port);
    memcpy(&six->sin6_addr, card->addresses[i].bytes, 16);
    return sizeof *six;
}

/* ---- listening ---- */

static int open_listener(void)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = in6addr_any };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY) };
    const int off = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 && bind(fd, (struct sockaddr *)&six, sizeof six) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&four, sizeof four) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int port_of(int fd)
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;

    if (getsockname(fd, (struct sockaddr *)&own, &size) != 0)
        return 0;
    return ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port : ((struct sockaddr_in *)&own)->sin_port);
}

/* Raises the limit of open files: a connection per rank, and more while they are being established. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int dfr_tcp_listen(const char *only, struct dfr_tcp_door **door, struct dfr_tcp_card *card, struct df_error *error)
{
    struct dfr_tcp_door *made;
    int code;

    memset(card, 0, sizeof *card);
    gethostname(card->host, sizeof card->host - 1);
    if ((code = find_addresses(only, card, error)) != DF_OK)
        return code;
    if (getrandom(card->secret, sizeof card->secret, 0) != sizeof card->secret)
        return dfr_error(error, DF_E_IO, "no random bytes: %s", strerror(errno));
    if (!(made = malloc(sizeof *made)))
        return dfr_error_memory(error);
    made->fd = open_listener();
    card->port = made->fd >= 0 ? (uint16_t)port_of(made->fd) : 0;
    if (card->port == 0) {
        code = dfr_error(error, DF_E_IO, "cannot listen for other ranks: %s", strerror(errno));
        if (made->fd >= 0)
            close(made->fd);
        free(made);
        return code;
    }
    *door = made;
    return DF_OK;
}

void dfr_tcp_shut(struct dfr_tcp_door *door)
{
    close(door->fd);
    free(door);
}

/* ---- attempts ---- */

static bool add(struct joining *j, int fd, int peer)
{
    if (!DFR_ARRAY_ROOM(j->attempts, j->n, j->room) || !DFR_ARRAY_ROOM(j->polls, j->n + 1, j->polls_room))
        return false;
    j->attempts[j->n++] = (struct attempt){ .fd = fd, .peer = peer };
    return true;
}

static int try_address(struct joining *j, int peer, unsigned i, struct df_error *error)
{
    struct sockaddr_storage address;
    const socklen_t size = fill(&j->cards[peer], i, &address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || (connect(fd, (struct sockaddr *)&address, size) != 0 && errno != EINPROGRESS)) {
        j->why = errno;
        if (fd >= 0)
            close(fd);
        return DF_OK;                   /* another address may do */
    }
    if (add(j, fd, peer))
        return DF_OK;
    close(fd);
    return dfr_error_memory(error);
}

/* Sends the greeting, which fits in the empty send buffer. */
static bool greet(struct joining *j, struct attempt *one, int peer)
{
    struct greeting own = { .from = (uint32_t)j->rank, .to = (uint32_t)peer };
    int why = 0;
    socklen_t size = sizeof why;

    if (!one->greets && (getsockopt(one->fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0 || why != 0)) {
        j->why = why ? why : errno;
        return false;
    }
    memcpy(own.magic, magic, sizeof own.magic);
    memcpy(own.secret, j->cards[0].secret, sizeof own.secret);
    one->greets = true;
    return send(one->fd, &own, sizeof own, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof own;
}

static void keep(struct joining *j, struct attempt *one, int peer)
{
    const int on = 1, not_sent = NOT_SENT_BYTES;

    setsockopt(one->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(one->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &not_sent, sizeof not_sent);
    setsockopt(one->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    j->fds[peer] = one->fd;
    j->n_missing--;
    one->fd = -1;
}

/* Handles a complete greeting. Returns false if it is not of a rank of this run, or if that rank has a connection. */
static bool accept_greeting(struct joining *j, struct attempt *one)
{
    const struct greeting *heard = &one->heard;
    const int from = heard->from < (uint32_t)j->size ? (int)heard->from : -1;

    if (memcmp(heard->magic, magic, sizeof magic) != 0 || memcmp(heard->secret, j->cards[0].secret, sizeof heard->secret) != 0 ||
        heard->to != (uint32_t)j->rank || from < 0 || from == j->rank || j->fds[from] >= 0)
        return false;
    if (one->peer >= 0 ? from != one->peer : from < j->rank || !greet(j, one, from))
        return false;
    keep(j, one, from);
    return true;
}

/* Continues an attempt whose socket is ready. Returns false if it has failed. */
static bool step(struct joining *j, struct attempt *one)
{
    if (one->peer >= 0 && j->fds[one->peer] >= 0)
        return false;
    if (one->peer >= 0 && !one->greets)
        return greet(j, one, one->peer);
    ssize_t n = recv(one->fd, (char *)&one->heard + one->n_heard, sizeof one->heard - one->n_heard, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (n <= 0)
        return false;
    one->n_heard += (size_t)n;
    return one->n_heard < sizeof one->heard || accept_greeting(j, one);
}

static void drop_ended(struct joining *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n; i++)
        if (j->attempts[i].fd >= 0)
            j->attempts[n++] = j->attempts[i];
    j->n = n;
}

static int wait_for_some(struct joining *j, int wait_ms, struct df_error *error)
{
    const size_t n = j->n;

    for (size_t i = 0; i < n; i++)
        j->polls[i] = (struct pollfd){ j->attempts[i].fd, j->attempts[i].peer >= 0 && !j->attempts[i].greets ? POLLOUT : POLLIN, 0 };
    j->polls[n] = (struct pollfd){ j->listener, POLLIN, 0 };
    if (poll(j->polls, n + 1, wait_ms) < 0 && errno != EINTR)
        return dfr_error(error, DF_E_IO, "cannot wait for other ranks: %s", strerror(errno));
    for (size_t i = 0; i < n; i++)
        if (j->polls[i].revents && !step(j, &j->attempts[i])) {
            close(j->attempts[i].fd);
            j->attempts[i].fd = -1;
        }
    for (int fd; j->polls[n].revents && (fd = accept4(j->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; )
        if (!add(j, fd, -1)) {
            close(fd);
            return dfr_error_memory(error);
        }
    drop_ended(j);
    return DF_OK;
}

/* Reports a rank that has no connection. */
static int miss(const struct joining *j, double join_s, struct df_error *error)
{
    char text[INET6_ADDRSTRLEN] = "?";
    int peer = 0;

    while (peer == j->rank || j->fds[peer] >= 0)
        peer++;
    const struct dfr_tcp_card *card = &j->cards[peer];
    if (card->n_addresses > 0)
        inet_ntop(card->addresses[0].family, card->addresses[0].bytes, text, sizeof text);
    return dfr_error(error, DF_E_IO, "there is no TCP connection between rank %d and rank %d on %s after %g s (its first address is %s, port %u%s%s). "
                     "DF_TCP_IF=NAME chooses the network; DF_LINK=mpi has MPI carry the messages", j->rank, peer, card->host, join_s, text, card->port,
                     j->why ? "; " : "", j->why ? strerror(j->why) : "");
}

static int join(struct joining *j, double join_s, struct df_error *error)
{
    const double until_s = dfr_clock_s() + join_s;
    int code = DF_OK;

    for (int peer = 0; peer < j->rank; peer++)
        for (unsigned i = 0; i < j->cards[peer].n_addresses && code == DF_OK; i++)
            code = try_address(j, peer, i, error);
    while (code == DF_OK && j->n_missing > 0) {
        const double left_s = until_s - dfr_clock_s();
        code = left_s <= 0 ? miss(j, join_s, error) : wait_for_some(j, (int)(1e3 * (left_s < 0.5 ? left_s : 0.5)) + 1, error);
    }
    return code;
}

int dfr_tcp_connect(struct dfr_tcp_door *door, int rank, int size, const struct dfr_tcp_card *cards, double join_s, int *fds, struct df_error *error)
{
    struct joining j = { .rank = rank, .size = size, .cards = cards, .listener = door->fd, .fds = fds, .n_missing = size - 1 };
    int code = fds && (j.polls = malloc(sizeof *j.polls)) ? DF_OK : dfr_error_memory(error);

    allow_files();
    for (int i = 0; fds && i < size; i++)
        fds[i] = -1;
    if (code == DF_OK)
        code = join(&j, join_s, error);
    for (size_t i = 0; i < j.n; i++)
        if (j.attempts[i].fd >= 0)
            close(j.attempts[i].fd);
    for (int i = 0; fds && code != DF_OK && i < size; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    dfr_tcp_shut(door);
    free(j.attempts);
    free(j.polls);
    return code;
}
