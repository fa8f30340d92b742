/* link_rig.c - a mock of the link between ranks: link_rig.h. */
#include "link_rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_rig.h"

struct mail {
    struct mail *next;
    const void *bytes;                  /* the sender's */
    size_t size;
    void *cookie;
    uint64_t due;                       /* polls of the receiver */
};

/* Messages in order: from one rank to another, or those that have left a rank and that it was not told of. */
struct mails {
    struct mail *first, **end;
};

struct rank {
    struct dfr_link link;               /* first member */
    struct link_rig *rig;
    uint64_t polls;
    bool is_dead;
    bool *knows;                        /* by rank: it has heard of its death */
    struct mails sent;
};

struct link_rig {
    pthread_mutex_t lock;
    int n_ranks;
    uint32_t random;
    unsigned most_delay;
    bool tells;                         /* of deaths */
    struct rank *ranks;
    struct mails *ways;                 /* [from * n_ranks + to] */
    struct mails lost;                  /* what a dead rank sent, or what never leaves for it */
};

static void put(struct mails *mails, struct mail *mail)
{
    mail->next = NULL;
    *mails->end = mail;
    mails->end = &mail->next;
}

static void put_first(struct mails *mails, struct mail *mail)
{
    mail->next = mails->first;
    mails->first = mail;
    if (!mail->next)
        mails->end = &mail->next;
}

static struct mail *take(struct mails *mails)
{
    struct mail *mail = mails->first;

    mails->first = mail->next;
    if (!mails->first)
        mails->end = &mails->first;
    return mail;
}

static struct mails *way(struct link_rig *rig, int from, int to)
{
    return &rig->ways[from * rig->n_ranks + to];
}

static int dead(struct df_error *error)
{
    snprintf(error->text, sizeof error->text, "this rank was killed");
    return DF_E_STOPPED;
}

static int rig_send(struct dfr_link *link, int to, const void *bytes, size_t size, bool urgent, void *cookie, struct df_error *error)
{
    struct rank *self = (struct rank *)link;
    struct link_rig *rig = self->rig;
    struct mail *mail = calloc(1, sizeof *mail);

    pthread_mutex_lock(&rig->lock);
    *mail = (struct mail){ .bytes = bytes, .size = size, .cookie = cookie };
    mail->due = rig->ranks[to].polls + rig_rand(&rig->random) % (rig->most_delay + 1);
    bool is_dead = self->is_dead;
    if (is_dead || (rig->ranks[to].is_dead && rig_rand(&rig->random) % 2))
        put(&rig->lost, mail);
    else if (rig->ranks[to].is_dead)
        put(&self->sent, mail);
    else
        (urgent && rig_rand(&rig->random) % 2 ? put_first : put)(way(rig, link->rank, to), mail);
    pthread_mutex_unlock(&rig->lock);
    return is_dead ? dead(error) : DF_OK;
}

/* Delivers a message that is due, from whichever rank the dice say. */
static bool deliver(struct rank *self, struct dfr_link_event *event)
{
    struct link_rig *rig = self->rig;
    int first = (int)(rig_rand(&rig->random) % (unsigned)rig->n_ranks);

    for (int i = 0; i < rig->n_ranks; i++) {
        int from = (first + i) % rig->n_ranks;
        struct mails *mails = way(rig, from, self->link.rank);
        if (mails->first && mails->first->due > self->polls && rig_rand(&rig->random) % 4 == 0) {
            *event = (struct dfr_link_event){ .kind = DFR_LINK_HEARD, .rank = from };
            return true;
        }
        if (!mails->first || mails->first->due > self->polls)
            continue;
        struct mail *mail = take(mails);
        size_t room = (mail->size + DFR_LINK_ALIGN - 1) / DFR_LINK_ALIGN * DFR_LINK_ALIGN;
        *event = (struct dfr_link_event){ DFR_LINK_ARRIVED, from, aligned_alloc(DFR_LINK_ALIGN, room), mail->size, NULL };
        memcpy(event->bytes, mail->bytes, mail->size);
        put(rig->ranks[from].is_dead ? &rig->lost : &rig->ranks[from].sent, mail);
        return true;
    }
    return false;
}

/* Tells of a death, behind all that the rank has sent. */
static bool tell_of_death(struct rank *self, struct dfr_link_event *event)
{
    struct link_rig *rig = self->rig;

    for (int from = 0; rig->tells && from < rig->n_ranks; from++)
        if (rig->ranks[from].is_dead && !self->knows[from] && !way(rig, from, self->link.rank)->first) {
            self->knows[from] = true;
            *event = (struct dfr_link_event){ .kind = DFR_LINK_LOST, .rank = from };
            return true;
        }
    return false;
}

static int rig_poll(struct dfr_link *link, struct dfr_link_event *event, struct df_error *error)
{
    struct rank *self = (struct rank *)link;

    *event = (struct dfr_link_event){ .kind = DFR_LINK_NOTHING };
    pthread_mutex_lock(&self->rig->lock);
    self->polls++;
    bool is_dead = self->is_dead;
    if (!is_dead && !deliver(self, event) && !tell_of_death(self, event) && self->sent.first) {
        struct mail *mail = take(&self->sent);
        *event = (struct dfr_link_event){ .kind = DFR_LINK_SENT, .cookie = mail->cookie };
        free(mail);
    }
    pthread_mutex_unlock(&self->rig->lock);
    return is_dead ? dead(error) : DF_OK;
}

static void rig_close(struct dfr_link *link, bool whole)
{
    (void)link;
    (void)whole;
}

struct link_rig *link_rig_create(int n_ranks, uint32_t seed, unsigned most_delay)
{
    struct link_rig *rig = calloc(1, sizeof *rig);

    pthread_mutex_init(&rig->lock, NULL);
    rig->n_ranks = n_ranks;
    rig->random = seed * 2654435761u | 1;
    rig->most_delay = most_delay;
    rig->tells = seed % 2;
    rig->ranks = calloc((size_t)n_ranks, sizeof *rig->ranks);
    rig->ways = calloc((size_t)n_ranks * (size_t)n_ranks, sizeof *rig->ways);
    rig->lost.end = &rig->lost.first;
    for (int i = 0; i < n_ranks * n_ranks; i++)
        rig->ways[i].end = &rig->ways[i].first;
    for (int rank = 0; rank < n_ranks; rank++) {
        rig->ranks[rank] = (struct rank){ { rank, n_ranks, rig_send, rig_poll, rig_close }, rig, 0, false, calloc((size_t)n_ranks, sizeof(bool)), { 0 } };
        rig->ranks[rank].sent.end = &rig->ranks[rank].sent.first;
    }
    return rig;
}

struct dfr_link *link_rig_link(struct link_rig *rig, int rank)
{
    return &rig->ranks[rank].link;
}

void link_rig_kill(struct link_rig *rig, int rank)
{
    pthread_mutex_lock(&rig->lock);
    rig->ranks[rank].is_dead = true;
    for (int other = 0; other < rig->n_ranks; other++) {
        struct mails *in = way(rig, other, rank), *out = way(rig, rank, other);
        while (in->first)
            put(rig_rand(&rig->random) % 2 ? &rig->lost : &rig->ranks[other].sent, take(in));
        /* The first of what it sent may still arrive; behind a message that is lost nothing does. */
        struct mails kept = { NULL, &kept.first };
        while (out->first && rig_rand(&rig->random) % 2)
            put(&kept, take(out));
        while (out->first)
            put(&rig->lost, take(out));
        while (kept.first)
            put(out, take(&kept));
    }
    while (rig->ranks[rank].sent.first)
        put(&rig->lost, take(&rig->ranks[rank].sent));
    pthread_mutex_unlock(&rig->lock);
}

static void drop_all(struct mails *mails, void (*drop)(void *cookie))
{
    while (mails->first) {
        struct mail *mail = take(mails);
        drop(mail->cookie);
        free(mail);
    }
}

void link_rig_destroy(struct link_rig *rig, void (*drop)(void *cookie))
{
    for (int i = 0; i < rig->n_ranks * rig->n_ranks; i++)
        drop_all(&rig->ways[i], drop);
    for (int rank = 0; rank < rig->n_ranks; rank++) {
        drop_all(&rig->ranks[rank].sent, drop);
        free(rig->ranks[rank].knows);
    }
    drop_all(&rig->lost, drop);
    pthread_mutex_destroy(&rig->lock);
    free(rig->ranks);
    free(rig->ways);
    free(rig);
}
