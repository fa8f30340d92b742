/* test_link_tcp.c - messages over TCP connections of the loopback, a link for each rank, polled in turn: order, bytes, lanes, deaths, strangers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "long.h"
#include "run_rig.h"
#include "runtime/link/link_tcp.h"

#define MOST_RANKS 5

static struct dfr_link *links[MOST_RANKS];
static struct dfr_tcp_door *doors[MOST_RANKS];
static struct dfr_tcp_card cards[MOST_RANKS];
static struct df_error errors[MOST_RANKS];
static int codes[MOST_RANKS], n_ranks;
static double join_s;

static void *join(void *arg)
{
    const int rank = (int)(intptr_t)arg;

    codes[rank] = dfr_tcp_join(doors[rank], rank, n_ranks, cards, join_s, &links[rank], &errors[rank]);
    return NULL;
}

static void listen_all(int n)
{
    n_ranks = n;
    join_s = 20;
    for (int rank = 0; rank < n; rank++)
        assert_int_equal(dfr_tcp_listen("127.0.0.0/8", &doors[rank], &cards[rank], &errors[rank]), DF_OK);
}

/* All but one, which is -1 or never comes. */
static void join_all(int absent)
{
    pthread_t threads[MOST_RANKS];

    for (int rank = 0; rank < n_ranks; rank++)
        if (rank != absent)
            pthread_create(&threads[rank], NULL, join, (void *)(intptr_t)rank);
    for (int rank = 0; rank < n_ranks; rank++)
        if (rank != absent)
            pthread_join(threads[rank], NULL);
}

static void open_all(int n)
{
    listen_all(n);
    join_all(-1);
    for (int rank = 0; rank < n; rank++)
        assert_int_equal(codes[rank], DF_OK);
}

static void *close_one(void *link)
{
    ((struct dfr_link *)link)->close(link, true);
    return NULL;
}

static void close_all(void)
{
    pthread_t threads[MOST_RANKS];

    for (int rank = 0; rank < n_ranks; rank++)
        if (links[rank])
            pthread_create(&threads[rank], NULL, close_one, links[rank]);
    for (int rank = 0; rank < n_ranks; rank++)
        if (links[rank])
            pthread_join(threads[rank], NULL);
    memset(links, 0, sizeof links);
}

/* The next event of a kind that is none of NOTHING and MOVING. */
static struct dfr_link_event next(int rank)
{
    struct dfr_link_event event;

    do
        assert_int_equal(links[rank]->poll(links[rank], &event, &errors[rank]), DF_OK);
    while (event.kind == DFR_LINK_NOTHING || event.kind == DFR_LINK_MOVING);
    return event;
}

/* ---- messages ---- */

struct text {
    size_t size;
    unsigned char bytes[];
};

static unsigned char byte_of(int from, int to, unsigned number, size_t i)
{
    return (unsigned char)((unsigned)from * 101 + (unsigned)to * 57 + number * 13 + i * 2654435761u / 65536);
}

static struct text *make(int from, int to, unsigned number, size_t size)
{
    struct text *text = malloc(sizeof *text + size);

    text->size = size;
    for (size_t i = 0; i < size; i++)
        text->bytes[i] = byte_of(from, to, number, i);
    return text;
}

static void check(const struct dfr_link_event *event, int to, unsigned number, size_t size)
{
    assert_int_equal(event->kind, DFR_LINK_ARRIVED);
    assert_int_equal(event->size, size);
    assert_int_equal((uintptr_t)event->bytes % DFR_LINK_ALIGN, 0);
    for (size_t i = 0; i < size; i++)
        if (event->bytes[i] != byte_of(event->rank, to, number, i))
            fail_msg("byte %zu of message %u from %d to %d is wrong", i, number, event->rank, to);
    free(event->bytes);
}

static void post(int from, int to, unsigned number, size_t size, bool urgent)
{
    struct text *text = make(from, to, number, size);
    assert_int_equal(links[from]->send(links[from], to, text->bytes, size, urgent, text, &errors[from]), DF_OK);
}

static size_t size_of(int from, int to, unsigned number)
{
    static const size_t sizes[] = { 1, 15, 4096, DFR_TCP_FRAME - 1, DFR_TCP_FRAME, DFR_TCP_FRAME + 1, 3 * DFR_TCP_FRAME + 77 };
    return sizes[((unsigned)from + (unsigned)to * 3 + number) % (sizeof sizes / sizeof *sizes)];
}

/* Everyone sends to everyone: each message once, in order, each cookie back. */
static void test_messages(void **state)
{
    const unsigned N = IN_LONG(30u, 12u);
    unsigned n_in[MOST_RANKS][MOST_RANKS] = { { 0 } }, n_sent = 0, n_arrived = 0;

    (void)state;
    open_all(4);
    for (unsigned number = 0; number < N; number++)
        for (int from = 0; from < n_ranks; from++)
            for (int to = 0; to < n_ranks; to++)
                if (to != from)
                    post(from, to, number, size_of(from, to, number), false);
    while (n_sent < N * 12 || n_arrived < N * 12)
        for (int rank = 0; rank < n_ranks; rank++) {
            struct dfr_link_event event;
            assert_int_equal(links[rank]->poll(links[rank], &event, &errors[rank]), DF_OK);
            assert_int_not_equal(event.kind, DFR_LINK_LOST);
            if (event.kind == DFR_LINK_SENT) {
                free(event.cookie);
                n_sent++;
            } else if (event.kind == DFR_LINK_ARRIVED) {
                const unsigned number = n_in[event.rank][rank]++;
                check(&event, rank, number, size_of(event.rank, rank, number));
                n_arrived++;
            }
        }
    close_all();
}

/* Polls both of two ranks, because the sender moves messages only when it is polled, until a message arrives at rank 0. Counts the signs of life. */
static struct dfr_link_event next_from_1(unsigned *n_heard)
{
    struct dfr_link_event event, other;

    do {
        assert_int_equal(links[1]->poll(links[1], &other, &errors[1]), DF_OK);
        if (other.kind == DFR_LINK_SENT)
            free(other.cookie);
        assert_int_equal(links[0]->poll(links[0], &event, &errors[0]), DF_OK);
        *n_heard += event.kind == DFR_LINK_HEARD && event.rank == 1;
    } while (event.kind != DFR_LINK_ARRIVED);
    return event;
}

/* An urgent message gets between the frames of one that is on its way, and each piece of that is a sign of life. */
static void test_urgent(void **state)
{
    const size_t large = (size_t)24 << 20;
    struct dfr_link_event event;
    unsigned n_heard = 0;

    (void)state;
    open_all(2);
    post(1, 0, 0, large, false);
    post(1, 0, 1, 100, true);
    event = next_from_1(&n_heard);
    check(&event, 0, 1, 100);
    event = next_from_1(&n_heard);
    assert_int_equal(event.size, large);
    free(event.bytes);
    assert_true(n_heard > 10);
    close_all();
}

/* ---- ends ---- */

/* What a rank sent before it ended arrives, then its death is told, once. What was to go to it counts as sent. */
static void test_death(void **state)
{
    struct dfr_link_event event;
    bool lost[3] = { false };

    (void)state;
    open_all(3);
    post(1, 0, 0, 5000, false);
    event = next(1);
    assert_int_equal(event.kind, DFR_LINK_SENT);
    free(event.cookie);
    post(0, 1, 0, (size_t)64 << 20, false); /* more than the system takes */
    pthread_t closer;
    pthread_create(&closer, NULL, close_one, links[1]);
    links[1] = NULL;
    event = next(0);
    check(&event, 0, 0, 5000);
    for (unsigned n = 0; n < 2; n++) {
        event = next(0);
        if (event.kind == DFR_LINK_SENT)
            free(event.cookie);
        else
            assert_int_equal(event.kind, DFR_LINK_LOST);
        lost[0] |= event.kind == DFR_LINK_LOST && event.rank == 1;
    }
    assert_true(lost[0]);
    event = next(2);
    assert_int_equal(event.kind, DFR_LINK_LOST);
    assert_int_equal(event.rank, 1);
    post(0, 1, 1, 100, false);          /* nobody is there: it counts as sent */
    event = next(0);
    assert_int_equal(event.kind, DFR_LINK_SENT);
    free(event.cookie);
    post(0, 2, 0, 100, false);          /* the others go on */
    event = next(2);
    check(&event, 2, 0, 100);
    event = next(0);
    assert_int_equal(event.kind, DFR_LINK_SENT);
    free(event.cookie);
    pthread_join(closer, NULL);
    close_all();
}

/* ---- joining ---- */

static int connect_to(int rank)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(cards[rank].port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Who connects and says nothing, or something else, or the right thing without the secret, does no harm. */
static void test_strangers(void **state)
{
    unsigned char greeting[32] = "dfctcp1";
    int fds[3];

    (void)state;
    listen_all(3);
    for (int i = 0; i < 3; i++)
        fds[i] = connect_to(0);
    assert_int_equal(write(fds[1], "GET / HTTP/1.0\r\nHost: rank.of.this.run\r\n\r\n", 43), 43);
    greeting[24] = 2;                   /* from rank 2, to rank 0 */
    assert_int_equal(write(fds[2], greeting, sizeof greeting), sizeof greeting);
    join_all(-1);
    for (int rank = 0; rank < 3; rank++)
        assert_int_equal(codes[rank], DF_OK);
    post(2, 0, 0, 70, false);
    struct dfr_link_event event = next(0);
    check(&event, 0, 0, 70);
    free(next(2).cookie);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close_all();
}

/* A host with several addresses: one that is of no use here, and two that both lead there. One connection is kept, and all sent over it arrives. */
static void test_addresses(void **state)
{
    (void)state;
    listen_all(4);
    for (int rank = 0; rank < n_ranks; rank++) {
        struct dfr_tcp_card *card = &cards[rank];
        card->n_addresses = 3;
        card->addresses[1] = card->addresses[2] = card->addresses[0];
        card->addresses[0].family = 9999;
        card->addresses[2].bytes[3] = 2;
    }
    join_all(-1);
    for (int rank = 0; rank < n_ranks; rank++)
        assert_int_equal(codes[rank], DF_OK);
    for (int from = 0; from < n_ranks; from++)
        for (int to = 0; to < n_ranks; to++)
            if (from != to)
                post(from, to, 7, 1000, false);
    for (int rank = 0; rank < n_ranks; rank++)
        for (int n = 0; n < 2 * (n_ranks - 1); n++) {
            struct dfr_link_event event = next(rank);
            if (event.kind == DFR_LINK_SENT)
                free(event.cookie);
            else
                check(&event, rank, 7, 1000);
        }
    close_all();
}

/* Of two ranks rank 0 has a link, and this is the other end of its connection. */
static int join_as_rank_1(void)
{
    unsigned char greeting[32] = "dfctcp1", heard[32];
    pthread_t joiner;

    listen_all(2);
    memcpy(greeting + 8, cards[0].secret, sizeof cards[0].secret);
    greeting[24] = 1;                   /* from rank 1, to rank 0 */
    pthread_create(&joiner, NULL, join, (void *)(intptr_t)0);
    const int fd = connect_to(0);
    assert_int_equal(write(fd, greeting, sizeof greeting), sizeof greeting);
    assert_int_equal(recv(fd, heard, sizeof heard, MSG_WAITALL), sizeof heard);
    pthread_join(joiner, NULL);
    assert_int_equal(codes[0], DF_OK);
    return fd;
}

/* A rank that was killed has left data unread, so sending to it fails at once. What it sent before still arrives. */
static void test_reset(void **state)
{
    struct { uint32_t mark, lane; uint64_t left; unsigned char bytes[100]; } message = { 0x64667431u, 0, sizeof message.bytes, { 0 } };
    struct dfr_link_event event;

    (void)state;
    const int fd = join_as_rank_1();
    for (size_t i = 0; i < sizeof message.bytes; i++)
        message.bytes[i] = byte_of(1, 0, 3, i);
    post(0, 1, 0, 50, false);
    assert_int_equal(write(fd, &message, 16 + sizeof message.bytes), 16 + sizeof message.bytes);
    close(fd);
    post(0, 1, 1, 50, false);
    for (unsigned n = 0; n < 2; n++) {
        event = next(0);
        assert_int_equal(event.kind, DFR_LINK_SENT);
        free(event.cookie);
    }
    event = next(0);
    check(&event, 0, 3, 100);
    event = next(0);
    assert_int_equal(event.kind, DFR_LINK_LOST);
    assert_int_equal(event.rank, 1);
    dfr_tcp_shut(doors[1]);
    close_all();
}

/* What comes over a connection is no message of this program: the run ends with a sentence. */
static void test_wrong_bytes(void **state)
{
    static const char words[32] = "GET / HTTP/1.0";
    struct dfr_link_event event;

    (void)state;
    const int fd = join_as_rank_1();
    assert_int_equal(write(fd, words, sizeof words), sizeof words);
    int code = DF_OK;
    while (code == DF_OK)
        code = links[0]->poll(links[0], &event, &errors[0]);
    assert_int_equal(code, DF_E_FORMAT);
    assert_string_equal(errors[0].text, "what comes from rank 1 is no message of this version");
    close(fd);
    dfr_tcp_shut(doors[1]);
    close_all();
}

static void test_rank_does_not_come(void **state)
{
    (void)state;
    listen_all(2);
    join_s = 0.2;
    join_all(1);
    assert_int_equal(codes[0], DF_E_IO);
    assert_non_null(strstr(errors[0].text, "there is no TCP connection between rank 0 and rank 1 on "));
    assert_non_null(strstr(errors[0].text, " after 0.2 s (its first address is 127.0.0.1, port "));
    assert_non_null(strstr(errors[0].text, "DF_TCP_IF=NAME chooses the network; DF_LINK=mpi has MPI carry the messages"));
    dfr_tcp_shut(doors[1]);
    listen_all(2);
    dfr_tcp_shut(doors[0]);             /* nobody listens there */
    join_s = 0.2;
    join_all(0);
    assert_int_equal(codes[1], DF_E_IO);
    assert_non_null(strstr(errors[1].text, "; Connection refused"));
}

static void test_no_such_network(void **state)
{
    static const char *const wrong[] = { "127.0.0.0/x", "127.0.0.0/", "127.0.0.0/8x", "127.0.0.0/33", "127.0.0.0/-1", "127.0.0.0/4294967304" };

    (void)state;
    assert_int_equal(dfr_tcp_listen("no-such0,203.0.113.0/24", &doors[0], &cards[0], &errors[0]), DF_E_IO);
    assert_string_equal(errors[0].text, "no interface of this host is one of 'no-such0,203.0.113.0/24'");
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dfr_tcp_listen(wrong[i], &doors[0], &cards[0], &errors[0]), DF_E_IO);
    assert_int_equal(dfr_tcp_listen("lo", &doors[0], &cards[0], &errors[0]), DF_OK);
    dfr_tcp_shut(doors[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_messages), cmocka_unit_test(test_urgent), cmocka_unit_test(test_death),
                                        cmocka_unit_test(test_strangers), cmocka_unit_test(test_addresses),
                                        cmocka_unit_test(test_wrong_bytes), cmocka_unit_test(test_reset), cmocka_unit_test(test_rank_does_not_come),
                                        cmocka_unit_test(test_no_such_network) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
