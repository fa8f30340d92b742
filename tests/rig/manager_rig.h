/* manager_rig.h - a manager of the cluster whose workers are made of messages: what a test says they send, what it sends back, and what it says in
 * words. Each test file that includes this has its own.
 */
#ifndef MANAGER_RIG_H
#define MANAGER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/ranks/manager.h"

#define MOST_SENT 4096

static struct df_error error;
static struct dfr_manager *manager;
static struct dfr_manager_options options;
static double offered_s;                /* when waves are offered */

/* What was sent: to whom, and what. */
static struct {
    int to;
    struct dfr_head head;
    char text[200];
} sent[MOST_SENT];
static unsigned n_sent;
static char told[4096], windows[4096];

static inline void send(void *arg, int to, struct dfr_message *message)
{
    (void)arg;
    assert_true(n_sent < MOST_SENT);
    sent[n_sent].to = to;
    sent[n_sent].head = message->head;
    dfr_message_text_of(message, sent[n_sent].text, sizeof sent[n_sent].text);
    n_sent++;
}

static inline void tell(void *arg, const char *sentence)
{
    (void)arg;
    strncat(told, sentence, sizeof told - strlen(told) - 2);
    strcat(told, "\n");
}

static inline void window_changed(void *arg, double now_s, int rank, unsigned window, double rate)
{
    char text[64];

    (void)arg;
    (void)now_s;
    snprintf(text, sizeof text, "%d:%u:%.0f ", rank, window, rate);
    strncat(windows, text, sizeof windows - strlen(windows) - 1);
}

static inline int set_up(void **state)
{
    (void)state;
    options = (struct dfr_manager_options){ .n_ranks = 3, .epoch = 5, .hash = 7, .window = 2, .places = 8, .send = send, .tell = tell,
                                            .window_changed = window_changed };
    n_sent = 0;
    told[0] = windows[0] = 0;
    manager = NULL;
    offered_s = 0;
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    dfr_manager_destroy(manager);
    return 0;
}

static inline void begin(void)
{
    assert_int_equal(dfr_manager_create(&options, 0, &manager, &error), DF_OK);
}

static inline void hear_head(double now_s, int from, struct dfr_head head, const char *text)
{
    dfr_manager_arrived(manager, now_s, from, text ? dfr_message_make_text(&head, text) : dfr_message_make(&head, NULL, 0));
}

static inline void hear(double now_s, int from, enum dfr_message_kind kind, int64_t wave)
{
    hear_head(now_s, from, (struct dfr_head){ .kind = kind, .epoch = kind == DFR_HELLO ? 0 : 5, .hash = 7, .wave = wave },
              kind == DFR_HELLO ? "node7" : NULL);
}

static inline void offer(unsigned n)
{
    for (; n > 0; n--) {
        struct dfr_head head = dfr_manager_give_head(manager);
        assert_true(dfr_manager_room(manager) > 0);
        dfr_manager_offer(manager, offered_s, dfr_message_make(&head, NULL, 0));
    }
}

/* Takes and ends all results that are there; gives how many. */
static inline unsigned end_all(double now_s)
{
    struct dfr_message *result;
    unsigned n = 0;

    for (; (result = dfr_manager_take(manager)) != NULL; n++) {
        dfr_message_drop(result);
        dfr_manager_ended(manager, now_s);
    }
    return n;
}

/* The messages of a kind that were sent since, as "rank:wave ", and forgets all. */
static inline const char *sent_of(enum dfr_message_kind kind)
{
    static char text[1000];
    size_t n = 0;

    text[0] = 0;
    for (unsigned i = 0; i < n_sent; i++)
        if (sent[i].head.kind == kind)
            n += (size_t)snprintf(text + n, sizeof text - n, "%d:%lld%s ", sent[i].to, (long long)sent[i].head.wave,
                                  sent[i].head.flags ? "!" : "");
    n_sent = 0;
    return text;
}

/* Ticks as often as is due until then; those ranks beat before each. */
static inline void pass(double from_s, double until_s, const char *beating)
{
    for (double now_s = from_s; now_s <= until_s; now_s = fmax(dfr_manager_due_s(manager), now_s + 0.01)) {
        for (const char *rank = beating; *rank; rank++)
            hear(now_s, *rank - '0', DFR_BEAT, 0);
        dfr_manager_tick(manager, now_s);
    }
}

static inline void hear_flagged(double now_s, int from, enum dfr_message_kind kind, int64_t wave, uint32_t flags)
{
    hear_head(now_s, from, (struct dfr_head){ .kind = kind, .epoch = 5, .hash = 7, .wave = wave, .flags = flags }, NULL);
}

/* What the run has come to, in words. */
static inline const char *outcome(int code)
{
    assert_int_equal(dfr_manager_outcome(manager, &error), code);
    return error.text;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
