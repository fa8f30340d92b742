/* worker.c - a worker's side of the protocol (worker.h): a state machine that comm.c drives; replica.c reads its clock measurements. */
#include "runtime/ranks/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/array.h"
#include "runtime/base/error.h"
#include "runtime/link/pulse.h"

/* Messages that wait, in the order in which they came. */
struct fifo {
    struct dfr_message **messages;
    size_t first, n, capacity;          /* message i is at (first + i) % capacity */
};

struct dfr_worker {
    struct dfr_worker_options o;
    uint64_t epoch;                     /* 0: not welcome yet */
    struct dfr_message *welcome;
    struct fifo gives, verdicts;
    double heard_s, sent_s, due_s, tick_s;
    struct dfr_pulse pulse;
    int64_t progress;                   /* what beats tell */
    bool leaves;                        /* it asked for no more waves */
    bool hurries;                       /* a BEAT said that the run is to be stopped */
    bool gone;                          /* END or REFUSE came */
    uint32_t wants;                     /* of the END, until that was reported */
    struct dfr_trips trips[2];          /* at the start, and after END */
    unsigned n_trips;                   /* that are to begin */
    bool on_trip;                       /* one has begun, and has not ended */
    double origin_s;
    bool over, whole, done;
    int code;
    struct df_error error;
};

/* ---- messages that wait ---- */

/* false: out of memory. */
static bool fifo_put(struct fifo *fifo, struct dfr_message *message)
{
    if (!DFR_RING_ROOM(fifo->messages, fifo->first, fifo->n, fifo->capacity))
        return false;
    fifo->messages[(fifo->first + fifo->n++) % fifo->capacity] = dfr_message_hold(message);
    return true;
}

static struct dfr_message *fifo_take(struct fifo *fifo)
{
    if (fifo->n == 0)
        return NULL;
    struct dfr_message *message = fifo->messages[fifo->first];
    fifo->first = (fifo->first + 1) % fifo->capacity;
    fifo->n--;
    return message;
}

static void fifo_clear(struct fifo *fifo)
{
    while (fifo->n > 0)
        dfr_message_drop(fifo_take(fifo));
}

/* ---- what is sent ---- */

/* The first failure is told. */
static void fail(struct dfr_worker *w, int code, const char *sentence)
{
    if (w->code == DF_OK)
        w->code = dfr_error(&w->error, code, "%s", sentence);
}

static void fail_for_memory(struct dfr_worker *w)
{
    w->over = true;
    fail(w, DF_E_MEMORY, "out of memory");
}

/* Takes the message; NULL: there was no memory for it. */
static void send(struct dfr_worker *w, double now_s, struct dfr_message *message)
{
    if (!message) {
        fail_for_memory(w);
        return;
    }
    w->sent_s = now_s;
    w->o.send(w->o.send_arg, 0, message);
    dfr_message_drop(message);
}

static struct dfr_head head_of(const struct dfr_worker *w, enum dfr_message_kind kind)
{
    return (struct dfr_head){ .kind = kind, .epoch = w->epoch, .hash = w->o.hash };
}

static void say(struct dfr_worker *w, double now_s, enum dfr_message_kind kind)
{
    struct dfr_head head = head_of(w, kind);

    head.wave = kind == DFR_BEAT ? w->progress : 0;
    send(w, now_s, kind == DFR_BEAT ? dfr_pulse_beat(&w->pulse, now_s, &head) : dfr_message_make(&head, NULL, 0));
}

/* ---- clocks ---- */

static void ask_time(struct dfr_worker *w, double now_s)
{
    struct dfr_head head = head_of(w, DFR_CLOCK);

    w->n_trips--;
    w->on_trip = true;
    send(w, now_s, dfr_message_make(&head, &(struct dfr_value){ .data = &now_s, .bytes = sizeof now_s }, 1));
}

static void begin_trips(struct dfr_worker *w, double now_s)
{
    w->n_trips = DFR_TRIPS;
    ask_time(w, now_s);
}

static void end_trip(struct dfr_worker *w, double now_s, const struct dfr_message *clock)
{
    double sent_s, there_s[2];

    if (clock->n_values != 2 || clock->values[0].bytes != sizeof sent_s || clock->values[1].bytes != sizeof there_s)
        return;
    memcpy(&sent_s, clock->values[0].data, sizeof sent_s);
    memcpy(there_s, clock->values[1].data, sizeof there_s);
    w->origin_s = there_s[1];
    dfr_trips_add(&w->trips[w->gone], sent_s, there_s[0], now_s);
    w->on_trip = false;
    if (w->n_trips > 0)
        ask_time(w, now_s);
}

bool dfr_worker_hurries(const struct dfr_worker *w)
{
    return w->hurries;
}

const struct dfr_trips *dfr_worker_trips(const struct dfr_worker *w)
{
    return w->trips;
}

double dfr_worker_origin_s(const struct dfr_worker *w)
{
    return w->origin_s;
}

/* ---- what arrives ---- */

static void be_welcome(struct dfr_worker *w, double now_s, struct dfr_message *welcome)
{
    fifo_clear(&w->gives);
    fifo_clear(&w->verdicts);
    dfr_message_drop(w->welcome);
    w->welcome = dfr_message_hold(welcome);
    w->epoch = welcome->head.epoch;
    w->hurries = false;
    memset(w->trips, 0, sizeof w->trips);
    if (welcome->head.flags & DFR_WANTS_TRACE)
        begin_trips(w, now_s);
    if (w->leaves)
        say(w, now_s, DFR_BYE);
}

/* No more waves: this worker answers, when it has told what is wanted, and waits for CLOSE. */
static void let_go(struct dfr_worker *w, double now_s, uint32_t wants)
{
    if (!w->gone && !wants)
        say(w, now_s, DFR_BYE);
    if (!w->gone)
        w->wants = wants;
    if (!w->gone && wants & DFR_WANTS_TRACE)
        begin_trips(w, now_s);
    w->gone = true;
    fifo_clear(&w->gives);
}

static void be_refused(struct dfr_worker *w, double now_s, const struct dfr_message *refuse)
{
    char why[256], sentence[300];

    dfr_message_text_of(refuse, why, sizeof why);
    snprintf(sentence, sizeof sentence, "rank 0 refuses this rank: %s", why);
    fail(w, DF_E_REFUSED, sentence);
    let_go(w, now_s, 0);
}

static void be_closed(struct dfr_worker *w, const struct dfr_message *close)
{
    w->over = true;
    w->whole = close->head.flags & DFR_WHOLE;
}

static void keep(struct dfr_worker *w, struct fifo *fifo, struct dfr_message *message)
{
    if (!fifo_put(fifo, message))
        fail_for_memory(w);
}

/* A message of the manager that this worker serves. */
static void obey(struct dfr_worker *w, struct dfr_message *message)
{
    if (message->head.kind == DFR_GIVE || message->head.kind == DFR_NONE)
        keep(w, &w->gives, message);
    else if (message->head.kind == DFR_VERDICT)
        keep(w, &w->verdicts, message);
    else if (message->head.kind == DFR_BEAT)
        w->hurries |= message->head.flags & DFR_STOPS;
}

void dfr_worker_heard(struct dfr_worker *w, double now_s)
{
    w->heard_s = now_s;
}

void dfr_worker_lost(struct dfr_worker *w)
{
    if (!w->over && !w->gone)
        fail(w, DF_E_STOPPED, "rank 0 has ended, or the connection to it has");
    w->over = true;
}

void dfr_worker_arrived(struct dfr_worker *w, double now_s, struct dfr_message *message)
{
    const struct dfr_head *head = &message->head;

    if (!w->over && head->epoch >= w->epoch) {
        w->heard_s = now_s;
        if (head->kind == DFR_BEAT)
            dfr_pulse_hear(&w->pulse, now_s, message, w->o.beat_timeout_s);
        w->done |= head->kind == DFR_END && head->flags & DFR_WHOLE;
        if (head->kind == DFR_REFUSE)
            be_refused(w, now_s, message);
        else if (head->kind == DFR_WELCOME && head->hash == w->o.hash && head->epoch > w->epoch)
            be_welcome(w, now_s, message);
        else if (head->kind == DFR_END)
            let_go(w, now_s, head->flags & DFR_WANTS);
        else if (head->kind == DFR_CLOSE)
            be_closed(w, message);
        else if (head->kind == DFR_CLOCK && head->epoch == w->epoch)
            end_trip(w, now_s, message);
        else if (head->epoch == w->epoch && !w->gone)
            obey(w, message);
    }
    dfr_message_drop(message);
}

void dfr_worker_tick(struct dfr_worker *w, double now_s)
{
    double limit_s = w->epoch > 0 ? dfr_pulse_limit_s(&w->pulse, w->o.beat_timeout_s) : w->o.welcome_timeout_s, late_s = now_s - w->due_s;
    char sentence[80];

    if (late_s > w->tick_s)
        w->heard_s += late_s;           /* a time in which this process did not run is not the manager's silence */
    w->due_s = now_s + w->tick_s;
    if (w->over)
        return;
    if (now_s - w->heard_s >= limit_s) {
        snprintf(sentence, sizeof sentence, "rank 0 was silent for %g s", round(10 * limit_s) / 10);
        w->over = true;
        if (!w->gone)
            fail(w, DF_E_STOPPED, sentence);
    } else if ((w->epoch > 0 || w->gone) && now_s - w->sent_s >= w->o.beat_s) {
        say(w, now_s, DFR_BEAT);
    }
}

double dfr_worker_due_s(const struct dfr_worker *w)
{
    return w->due_s;
}

/* ---- waves ---- */

const struct dfr_message *dfr_worker_welcome(const struct dfr_worker *w)
{
    return w->welcome;
}

struct dfr_message *dfr_worker_take(struct dfr_worker *w)
{
    return w->over ? NULL : fifo_take(&w->gives);
}

struct dfr_head dfr_worker_result_head(const struct dfr_worker *w, const struct dfr_head *give)
{
    struct dfr_head head = head_of(w, DFR_RESULT);

    head.epoch = give->epoch;
    head.wave = give->wave;
    head.stage = give->stage;
    return head;
}

void dfr_worker_result(struct dfr_worker *w, double now_s, struct dfr_message *result)
{
    if (!w->over && !w->gone && result->head.epoch == w->epoch)
        send(w, now_s, result);
    else
        dfr_message_drop(result);
}

void dfr_worker_failed(struct dfr_worker *w, double now_s, const char *sentence)
{
    struct dfr_head head = head_of(w, DFR_WAVE_FAILED);

    if (!w->over && !w->gone)
        send(w, now_s, dfr_message_make_text(&head, sentence));
}

void dfr_worker_progress(struct dfr_worker *w, int64_t steps)
{
    w->progress = steps;
}

uint32_t dfr_worker_wanted(const struct dfr_worker *w)
{
    return w->over || w->on_trip ? 0 : w->wants;
}

struct dfr_head dfr_worker_report_head(const struct dfr_worker *w)
{
    return head_of(w, DFR_REPORT);
}

void dfr_worker_report(struct dfr_worker *w, double now_s, struct dfr_message *report, bool last)
{
    if (w->over || !w->wants) {
        dfr_message_drop(report);
        return;
    }
    if (report)
        send(w, now_s, report);
    if (last) {
        w->wants = 0;
        say(w, now_s, DFR_BYE);
    }
}

bool dfr_worker_verdict(struct dfr_worker *w, int64_t *wave, bool *accepted)
{
    struct dfr_message *message = fifo_take(&w->verdicts);

    if (!message)
        return false;
    *wave = message->head.wave;
    *accepted = !(message->head.flags & DFR_DROPPED);
    dfr_message_drop(message);
    return true;
}

void dfr_worker_stored(struct dfr_worker *w, double now_s, int64_t wave, bool there)
{
    struct dfr_head head = head_of(w, DFR_STORED);

    head.wave = wave;
    head.flags = there ? 0 : DFR_DROPPED;
    if (!w->over && !w->gone)
        send(w, now_s, dfr_message_make(&head, NULL, 0));
}

bool dfr_worker_is_done(const struct dfr_worker *w)
{
    return w->done;
}

void dfr_worker_leave(struct dfr_worker *w, double now_s)
{
    if (w->leaves || w->gone || w->over)
        return;
    w->leaves = true;
    if (w->epoch > 0)
        say(w, now_s, DFR_BYE);
}

/* ---- begin and outcome ---- */

bool dfr_worker_is_over(const struct dfr_worker *w)
{
    return w->over;
}

bool dfr_worker_is_whole(const struct dfr_worker *w)
{
    return w->whole;
}

int dfr_worker_outcome(const struct dfr_worker *w, struct df_error *error)
{
    if (w->code != DF_OK && error)
        *error = w->error;
    return w->code;
}

int dfr_worker_create(const struct dfr_worker_options *options, double now_s, struct dfr_worker **worker,
                      struct df_error *error)
{
    struct dfr_worker *w = calloc(1, sizeof *w);

    if (!w)
        return dfr_error_memory(error);
    w->o = *options;
    w->o.beat_s = w->o.beat_s > 0 ? w->o.beat_s : 1;
    w->o.beat_timeout_s = w->o.beat_timeout_s > 0 ? w->o.beat_timeout_s : 10;
    w->o.welcome_timeout_s = w->o.welcome_timeout_s > 0 ? w->o.welcome_timeout_s : 60;
    w->heard_s = w->due_s = now_s;
    w->tick_s = (w->o.beat_s < w->o.beat_timeout_s ? w->o.beat_s : w->o.beat_timeout_s) / 4;
    struct dfr_head hello = head_of(w, DFR_HELLO);
    hello.wave = options->inflight;
    hello.stage = options->classes;
    const char *const texts[] = { options->host ? options->host : "", options->files ? options->files : "", options->facts };
    send(w, now_s, dfr_message_make_texts(&hello, texts, options->facts ? 3 : options->files ? 2 : 1));
    w->o.host = w->o.files = w->o.facts = NULL;
    *worker = w;
    return DF_OK;
}

void dfr_worker_destroy(struct dfr_worker *w)
{
    if (!w)
        return;
    fifo_clear(&w->gives);
    fifo_clear(&w->verdicts);
    free(w->gives.messages);
    free(w->verdicts.messages);
    dfr_message_drop(w->welcome);
    free(w);
}
