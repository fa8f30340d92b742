/* link_mpi.c - implements the link between ranks (runtime/link/link.h) over MPI, as a plug-in that is built with the site's mpicc. link/link.c loads it into a
 * program, lets ranks exchange their addresses by it (mpi_gather), and opens it if TCP does not carry the messages.
 *
 * Calls:     only MPI_Isend, Iprobe, Irecv and Test, from the thread that opened the link (MPI_THREAD_FUNNELED). There
 *            are no collective calls between the start and the end, because a rank may die at any time.
 * Fragments: a message is sent in fragments (*pieces*) of PIECE_BYTES, whose tag is the number of fragments that
 *            follow. They arrive in order, because MPI preserves the order between two ranks. At most MOST_BEGUN
 *            fragments are in flight to one rank; the next one is sent when the receiver has got one of them, so MPI
 *            never buffers much for a dead rank. Urgent messages are a single fragment with a tag of their own, and
 *            need not wait.
 * Life:      each arriving fragment counts as a sign of life: DFR_LINK_HEARD.
 * Death:     MPI errors are returned, and count as the death of the other rank: messages to it remain in flight
 *            forever. A rank whose launcher has died (its parent process changed) is told so by poll(), and must exit.
 * Linking:   this file uses only headers of libdf, so the plug-in can be loaded into any program.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/link/launcher.h"
#include "runtime/link/link.h"

#ifndef PIECE_BYTES
#define PIECE_BYTES ((size_t)16 << 20)
#endif
#define MOST_PIECES 32767
#define URGENT 32767                    /* the tag of an urgent message; tags up to 32767 are what every MPI has */
#define MOST_BEGUN 4
#define MOVING_S 20e-3                  /* so long after a piece has begun or ended, messages count as moving */

/* A message on its way out or in. */
struct moving {
    struct moving *next;
    int rank;                           /* who sends it, or gets it */
    int n_done, n_begun, n;             /* pieces */
    bool is_lost;                       /* MPI refused a piece: the message stays here */
    void *cookie;                       /* out */
    bool urgent;
    unsigned char *bytes;               /* out: the sender's */
    size_t size;                        /* in: of the pieces that have begun */
    MPI_Request requests[];             /* a piece each; those that have not begun are MPI_REQUEST_NULL */
};

/* In the order in which they began. */
struct list {
    struct moving *first, **end;
};

struct other {
    int n_on_way;                       /* pieces that have begun and have not left */
    bool heard;                         /* a piece of a longer message has come since that was told */
};

struct mpi_link {
    struct dfr_link link;               /* first member */
    struct list out, in;
    double moved_s;                     /* when a piece began or ended last */
    struct other *others;               /* by rank */
    int n_heard;                        /* of them */
    struct dfr_launcher launcher;
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

static void note_heard(struct mpi_link *m, int rank)
{
    m->n_heard += !m->others[rank].heard;
    m->others[rank].heard = true;
}

static int take_heard(struct mpi_link *m)
{
    int rank = 0;

    while (!m->others[rank].heard)
        rank++;
    m->others[rank].heard = false;
    m->n_heard--;
    return rank;
}

/* Looks at its pieces, in order. Gives whether all have moved. */
static bool has_arrived(struct mpi_link *m, struct moving *moving, bool out)
{
    while (moving->n_done < moving->n_begun && !moving->is_lost) {
        int done = 0;
        if (MPI_Test(&moving->requests[moving->n_done], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            moving->is_lost = true;
        if (!done || moving->is_lost)
            return false;
        moving->n_done++;
        m->moved_s = MPI_Wtime();
        if (out && !moving->urgent)
            m->others[moving->rank].n_on_way--;
        else if (!out && moving->n_done < moving->n)
            note_heard(m, moving->rank);
    }
    return moving->n_done == moving->n;
}

/* Does an older message of the same rank still move? */
static bool is_behind(const struct list *list, const struct moving *moving)
{
    for (const struct moving *other = list->first; other != moving; other = other->next)
        if (other->rank == moving->rank && !other->urgent)
            return true;
    return false;
}

/* The oldest message that has arrived, no longer in the list; NULL: none. */
static struct moving *take_arrived(struct mpi_link *m, struct list *list)
{
    for (struct moving **at = &list->first; *at; at = &(*at)->next) {
        struct moving *moving = *at;
        const bool has = has_arrived(m, moving, list == &m->out);
        if (!has || (list == &m->in && !moving->urgent && is_behind(list, moving)))
            continue;
        *at = moving->next;
        if (list->end == &moving->next)
            list->end = at;
        return moving;
    }
    return NULL;
}

/* ---- out ---- */

/* Begins a piece. */
static void begin_piece(struct mpi_link *m, struct moving *moving)
{
    const size_t at = (size_t)moving->n_begun * PIECE_BYTES, part = moving->size - at < PIECE_BYTES ? moving->size - at : PIECE_BYTES;
    const int tag = moving->urgent ? URGENT : moving->n - 1 - moving->n_begun;

    moving->is_lost = MPI_Isend((const char *)moving->bytes + at, (int)part, MPI_BYTE, moving->rank, tag, MPI_COMM_WORLD,
                                &moving->requests[moving->n_begun]) != MPI_SUCCESS;
    moving->n_begun++;
    m->others[moving->rank].n_on_way += !moving->urgent;
    m->moved_s = MPI_Wtime();
}

/* Begins what may leave now. Messages to one rank begin in order. */
static void begin_pieces(struct mpi_link *m)
{
    for (struct moving *moving = m->out.first; moving; moving = moving->next) {
        while (!moving->is_lost && moving->n_begun < moving->n && m->others[moving->rank].n_on_way < MOST_BEGUN)
            begin_piece(m, moving);
    }
}

static int mpi_send(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error)
{
    struct mpi_link *m = (struct mpi_link *)link;
    const size_t n = (size + PIECE_BYTES - 1) / PIECE_BYTES;

    if (n > MOST_PIECES)
        return fail(error, DF_E_ARGUMENT, "a message of %zu bytes is too long for MPI", size);
    struct moving *moving = add(&m->out, to, (int)n);
    if (!moving)
        return fail(error, DF_E_MEMORY, "out of memory");
    moving->cookie = cookie;
    moving->bytes = (unsigned char *)bytes;
    moving->size = size;
    moving->urgent = urgent && n == 1;
    if (moving->urgent)
        begin_piece(m, moving);
    else
        begin_pieces(m);
    return DF_OK;
}

/* ---- in ---- */

/* The message of which rank `from` has more pieces to come. */
static struct moving *find_begun(struct mpi_link *m, int from)
{
    for (struct moving *moving = m->in.first; moving; moving = moving->next)
        if (moving->rank == from && moving->n_begun < moving->n && !moving->urgent)
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
    const bool urgent = status->MPI_TAG == URGENT;
    int from = status->MPI_SOURCE, follow = urgent ? 0 : status->MPI_TAG, n = 0;
    struct moving *moving = urgent ? NULL : find_begun(m, from);

    MPI_Get_count(status, MPI_BYTE, &n);
    if (n < 0 || (size_t)n > PIECE_BYTES || (follow > 0 && (size_t)n != PIECE_BYTES) || follow >= MOST_PIECES ||
        (moving && follow != moving->n - 1 - moving->n_begun))
        return fail(error, DF_E_FORMAT, "a piece of %d bytes from rank %d is wrong", n, from);
    if (!moving && !(moving = begin_message(m, from, follow + 1, (size_t)n)))
        return fail(error, DF_E_MEMORY, "out of memory");
    moving->urgent = urgent;
    moving->is_lost |= MPI_Irecv(moving->bytes + moving->size, n, MPI_BYTE, from, status->MPI_TAG, MPI_COMM_WORLD,
                                 &moving->requests[moving->n_begun]) != MPI_SUCCESS;
    moving->n_begun++;
    moving->size += (size_t)n;
    m->moved_s = MPI_Wtime();
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

static int mpi_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    struct mpi_link *m = (struct mpi_link *)link;
    struct moving *moving;
    int code = receive_all(m, error);

    *event = (struct dfr_link_event){ .kind = DFR_LINK_NOTHING };
    if (code != DF_OK)
        return code;
    begin_pieces(m);
    if ((moving = take_arrived(m, &m->in)) != NULL)
        *event = (struct dfr_link_event){ DFR_LINK_ARRIVED, moving->rank, moving->bytes, moving->size, NULL };
    else if ((moving = take_arrived(m, &m->out)) != NULL)
        *event = (struct dfr_link_event){ .kind = DFR_LINK_SENT, .cookie = moving->cookie };
    else if (m->n_heard > 0)
        *event = (struct dfr_link_event){ .kind = DFR_LINK_HEARD, .rank = take_heard(m) };
    else if (dfr_launcher_is_gone(&m->launcher))
        return fail(error, DF_E_STOPPED, "the launcher of this rank is gone");
    else if ((m->in.first || m->out.first) && MPI_Wtime() < m->moved_s + MOVING_S)
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
    free(((struct mpi_link *)link)->others);
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
    m->launcher = dfr_launcher_of(m->link.size);
    m->others = calloc((size_t)m->link.size, sizeof *m->others);
    if (!m->others) {
        free(m);
        return fail(error, DF_E_MEMORY, "out of memory");
    }
    *link = &m->link;
    return DF_OK;
}

static int mpi_gather(const void *mine, void *all, size_t bytes, struct df_error *error)
{
    const int code = MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);

    return code == MPI_SUCCESS ? DF_OK : fail(error, DF_E_IO, "the ranks cannot tell each other their addresses (MPI's code %d)", code);
}

__attribute__((visibility("default"))) const struct dfr_mpi_plugin dfr_mpi_plugin = { DFR_MPI_VERSION, mpi_open, mpi_gather };
