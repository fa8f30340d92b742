/* link_mpi.c - the link over MPI, as a plug-in that is built with the site's mpicc: runtime/cluster/link.h says what it promises.
 *
 * Calls:    MPI_Isend, Iprobe, Irecv and Test alone, from the thread that opened the link (MPI_THREAD_FUNNELED). There is no
 *           collective call between the start and the end, because one rank may die at any time.
 * Pieces:   a message is cut into pieces of PIECE_BYTES; the tag says how many pieces of it follow. Pieces of one message
 *           arrive in order, because MPI keeps the order of what one rank sends to one other.
 * Death:    MPI's errors are returned, and count as the death of the other rank: what is sent to it stays on its way. A rank
 *           whose launcher is gone (its parent is another process now) is told so by poll(), and has to end.
 * Linking:  this file knows nothing of libdf but headers, so that the plug-in loads into any program.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cluster/link.h"

#ifndef PIECE_BYTES
#define PIECE_BYTES ((size_t)1 << 29)
#endif
#define MOST_PIECES 32768               /* tags up to 32767 are what every MPI has */
#define LEAST_RATE 100e6                /* bytes a second; what moves more slowly for long counts as stuck */
#define LEAST_MOVING_S 20e-3
#define LAUNCHER_POLLS 64               /* the launcher is looked for at each 64th poll that found nothing */

/* A message on its way out or in. */
struct moving {
    struct moving *next;
    int rank;                           /* in: who sends it */
    int n_begun, n;                     /* pieces */
    bool is_lost;                       /* MPI refused a piece: the message stays here */
    void *cookie;                       /* out */
    unsigned char *bytes;               /* in */
    size_t size;                        /* in: of the pieces that have begun */
    MPI_Request requests[];             /* a piece each; those that have not begun are MPI_REQUEST_NULL */
};

/* In the order in which they began. */
struct list {
    struct moving *first, **end;
};

struct mpi_link {
    struct dfr_link link;               /* first member */
    struct list out, in;
    double moving_until_s;              /* until then what is in these lists counts as moving */
    int launcher, polls;
};

__attribute__((format(printf, 3, 4))) static int fail(struct df_error *error, int code, const char *format, ...)
{
    va_list list;

    if (error) {
        va_start(list, format);
        vsnprintf(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return code;
}

/* ---- messages that move ---- */

static struct moving *add(struct list *list, int rank, int n)
{
    struct moving *moving = calloc(1, sizeof *moving + (size_t)n * sizeof(MPI_Request));

    if (!moving)
        return NULL;
    moving->rank = rank;
    moving->n = n;
    for (int i = 0; i < n; i++)
        moving->requests[i] = MPI_REQUEST_NULL;
    *list->end = moving;
    list->end = &moving->next;
    return moving;
}

static void expect_to_move(struct mpi_link *m, size_t bytes)
{
    double now_s = MPI_Wtime();

    m->moving_until_s = (m->moving_until_s > now_s ? m->moving_until_s : now_s + LEAST_MOVING_S) + (double)bytes / LEAST_RATE;
}

static bool has_arrived(struct moving *moving)
{
    int done = 0;

    if (moving->is_lost || moving->n_begun < moving->n)
        return false;
    if (MPI_Testall(moving->n, moving->requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        moving->is_lost = true;
    return done && !moving->is_lost;
}

/* Does an older message of the same rank still move? */
static bool is_behind(const struct list *list, const struct moving *moving)
{
    for (const struct moving *other = list->first; other != moving; other = other->next)
        if (other->rank == moving->rank)
            return true;
    return false;
}

/* The oldest message that has arrived, no longer in the list; NULL: none. */
static struct moving *take_arrived(struct list *list, bool in_order)
{
    for (struct moving **at = &list->first; *at; at = &(*at)->next) {
        struct moving *moving = *at;
        if ((in_order && is_behind(list, moving)) || !has_arrived(moving))
            continue;
        *at = moving->next;
        if (list->end == &moving->next)
            list->end = at;
        return moving;
    }
    return NULL;
}

/* ---- out ---- */

static int mpi_send(struct dfr_link *link, int to, const void *bytes, size_t size, void *cookie, struct df_error *error)
{
    struct mpi_link *m = (struct mpi_link *)link;
    size_t n = (size + PIECE_BYTES - 1) / PIECE_BYTES;

    if (n > MOST_PIECES)
        return fail(error, DF_E_ARGUMENT, "a message of %zu bytes is too long for MPI", size);
    struct moving *moving = add(&m->out, to, (int)n);
    if (!moving)
        return fail(error, DF_E_MEMORY, "out of memory");
    moving->cookie = cookie;
    expect_to_move(m, size);
    for (int i = 0; i < moving->n && !moving->is_lost; i++) {
        size_t at = (size_t)i * PIECE_BYTES, part = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
        moving->is_lost = MPI_Isend((const char *)bytes + at, (int)part, MPI_BYTE, to, moving->n - 1 - i, MPI_COMM_WORLD,
                                    &moving->requests[i]) != MPI_SUCCESS;
        moving->n_begun++;
    }
    return DF_OK;
}

/* ---- in ---- */

/* The message of which rank `from` has more pieces to come. */
static struct moving *find_begun(struct mpi_link *m, int from)
{
    for (struct moving *moving = m->in.first; moving; moving = moving->next)
        if (moving->rank == from && moving->n_begun < moving->n)
            return moving;
    return NULL;
}

static struct moving *begin_message(struct mpi_link *m, int from, int n, size_t first_bytes)
{
    size_t most = first_bytes + (size_t)(n - 1) * PIECE_BYTES;
    unsigned char *bytes = aligned_alloc(DFR_LINK_ALIGN, (most + DFR_LINK_ALIGN) / DFR_LINK_ALIGN * DFR_LINK_ALIGN);
    struct moving *moving = bytes ? add(&m->in, from, n) : NULL;

    if (moving)
        moving->bytes = bytes;
    else
        free(bytes);
    return moving;
}

/* Begins to receive the piece that MPI has for this rank. */
static int receive(struct mpi_link *m, const MPI_Status *status, struct df_error *error)
{
    int from = status->MPI_SOURCE, follow = status->MPI_TAG, n = 0;
    struct moving *moving = find_begun(m, from);

    MPI_Get_count(status, MPI_BYTE, &n);
    if (n < 0 || (size_t)n > PIECE_BYTES || (follow > 0 && (size_t)n != PIECE_BYTES) || follow >= MOST_PIECES ||
        (moving && follow != moving->n - 1 - moving->n_begun))
        return fail(error, DF_E_FORMAT, "a piece of %d bytes from rank %d is wrong", n, from);
    if (!moving && !(moving = begin_message(m, from, follow + 1, (size_t)n)))
        return fail(error, DF_E_MEMORY, "out of memory");
    moving->is_lost |= MPI_Irecv(moving->bytes + moving->size, n, MPI_BYTE, from, follow, MPI_COMM_WORLD,
                                 &moving->requests[moving->n_begun]) != MPI_SUCCESS;
    moving->n_begun++;
    moving->size += (size_t)n;
    expect_to_move(m, (size_t)n);
    return DF_OK;
}

/* Begins to receive all that MPI has. */
static int receive_all(struct mpi_link *m, struct df_error *error)
{
    MPI_Status status;

    for (int is_there = 0;; is_there = 0) {
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status) != MPI_SUCCESS || !is_there)
            return DF_OK;               /* an error is another rank's death */
        int code = receive(m, &status, error);
        if (code != DF_OK)
            return code;
    }
}

static bool launcher_is_gone(struct mpi_link *m)
{
    return m->launcher > 1 && ++m->polls % LAUNCHER_POLLS == 0 && getppid() != m->launcher;
}

static int mpi_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    struct mpi_link *m = (struct mpi_link *)link;
    struct moving *moving;
    int code = receive_all(m, error);

    *event = (struct dfr_link_event){ .kind = DFR_LINK_NOTHING };
    if (code != DF_OK)
        return code;
    if ((moving = take_arrived(&m->in, true)) != NULL)
        *event = (struct dfr_link_event){ DFR_LINK_ARRIVED, moving->rank, moving->bytes, moving->size, NULL };
    else if ((moving = take_arrived(&m->out, false)) != NULL)
        *event = (struct dfr_link_event){ .kind = DFR_LINK_SENT, .cookie = moving->cookie };
    else if (launcher_is_gone(m))
        return fail(error, DF_E_STOPPED, "the launcher of this rank is gone");
    else if ((m->in.first || m->out.first) && MPI_Wtime() < m->moving_until_s)
        event->kind = DFR_LINK_MOVING;
    free(moving);
    return DF_OK;
}

/* ---- begin and end ---- */

/* What is still on its way is left as it is: MPI may yet write or read there. */
static void mpi_close(struct dfr_link *link, bool whole)
{
    if (whole)
        MPI_Finalize();
    free(link);
}

/* Starts MPI in this thread. */
static int start(struct df_error *error)
{
    int provided, code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);

    if (code != MPI_SUCCESS)
        return fail(error, DF_E_IO, "MPI does not start (code %d)", code);
    if (provided < MPI_THREAD_FUNNELED)
        return fail(error, DF_E_DEVICE, "this MPI allows no other threads in a process that uses it");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return DF_OK;
}

static int mpi_open(struct dfr_link **link, struct df_error *error)
{
    struct mpi_link *m = calloc(1, sizeof *m);
    int code = m ? start(error) : fail(error, DF_E_MEMORY, "out of memory");

    if (code != DF_OK) {
        free(m);
        return code;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &m->link.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->link.size);
    m->link.send = mpi_send;
    m->link.poll = mpi_poll;
    m->link.close = mpi_close;
    m->out.end = &m->out.first;
    m->in.end = &m->in.first;
    m->launcher = m->link.size > 1 ? (int)getppid() : 0;
    *link = &m->link;
    return DF_OK;
}

__attribute__((visibility("default"))) const struct dfr_mpi_plugin dfr_mpi_plugin = { DFR_MPI_VERSION, mpi_open };
