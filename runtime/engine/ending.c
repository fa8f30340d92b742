/* ending.c - the reasons for which a run ends: failures, a request to end early, and the ends of its streams (ending.h). The engine, the workers of GPUs and
 * start/ report failures here; the engine asks how many waves there will be.
 */
#include "runtime/engine/ending.h"

#include <sched.h>
#include <stdarg.h>

#include "runtime/base/message.h"
#include "runtime/base/text.h"
#include "runtime/engine/gang.h"
#include "runtime/engine/live.h"
#include "runtime/engine/log.h"

/* ---- stopping ---- */

void dfr_engine_tell_feeder(struct df_run *run)
{
    if (!run->feed.slots)
        return;
    atomic_fetch_add_explicit(&run->feed.events, 1, memory_order_seq_cst);
    dfr_futex_wake(&run->feed.events, 1);
    if (run->options.fed)
        run->options.fed(run->options.fed_arg);
}

void dfr_engine_stop(struct df_run *run, enum dfr_stop how)
{
    uint32_t running = DFR_RUNNING;
    /* release: the failure's text; acquired only by df_run_wait(), after joining */
    if (!atomic_compare_exchange_strong_explicit(&run->outcome.stop, &running, how, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return;
    for (uint32_t u = 0; u < run->machine.n_units; u++)
        dfr_wake_all(&run->threads.wakes[u]);
    if (run->threads.gang)
        dfr_gang_wake(run->threads.gang);
    dfr_live_wake(run, true);
    dfr_engine_tell_feeder(run);
}

/* Which of several jobs is reported does not depend on which worker is faster. */
static void fail(struct df_run *run, int64_t wave, uint32_t node, int status, const char *format, va_list list)
{
    struct dfr_run_outcome *o = &run->outcome;
    while (atomic_exchange_explicit(&o->failure_locked, true, memory_order_acquire))
        dfr_relax();
    bool first = !o->failed, earlier = !first && wave >= 0 && (wave < o->failed_wave || (wave == o->failed_wave && node < o->failed_node));
    if (first || earlier) {
        o->failed = true;
        o->failed_wave = wave;
        o->failed_node = node;
        o->failure_status = status;
        dfr_message(o->failure.text, sizeof o->failure.text, format, list);
    }
    atomic_store_explicit(&o->failure_locked, false, memory_order_release);
    if (first)
        dfr_engine_stop(run, DFR_RUN_FAILED);
}

void dfr_engine_fail(struct df_run *run, int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(run, -1, DF_NONE, status, format, list);
    va_end(list);
}

__attribute__((format(printf, 4, 5)))
static void fail_of(struct df_run *run, int64_t wave, uint32_t node, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(run, wave, node, DF_E_KERNEL, format, list);
    va_end(list);
}

void dfr_engine_fail_job(struct df_run *run, uint64_t job, int64_t wave, const char *message)
{
    const int64_t told = dfr_told_wave(run, job, wave);
    char name[256];
    df_node_name(run->graph, dfr_job_node(job), name, sizeof name);
    fail_of(run, told, dfr_job_node(job), "node '%s', wave %lld: %s", name, (long long)told, message);
}

/* ---- what a job's kernel returned ---- */

bool dfr_engine_succeeded(struct df_run *run, const struct df_call *call, int code, bool *ended)
{
    static const char also[] = "; if the .df calls a function whose value is no status, '-> void' after that call says "
                               "so";
    char text[256];
    const char *message = call->message;
    bool stream = run->firing.nodes[dfr_job_node(call->job)].flags & DFR_N_STREAM;

    *ended = code == DF_END && stream && !call->failed;
    if ((code == DF_OK || *ended || (code == DF_SKIP && !dfr_is_once(run, dfr_job_node(call->job)))) && !call->failed)
        return true;
    if (!call->failed) {
        message = text;
        if (code == DF_END)
            snprintf(text, sizeof text, "returned %d (DF_END), which only a stream source may%s", code, also);
        else if (code == DF_SKIP)
            snprintf(text, sizeof text, "returned %d (DF_SKIP), but it fires once, for all waves%s", code, also);
        else if (code == DF_FAILED)
            snprintf(text, sizeof text, "returned %d (DF_FAILED) and gave no reason%s", code, also);
        else
            snprintf(text, sizeof text, "returned %d, which is no DF_... code%s", code, also);
    }
    dfr_engine_fail_job(run, call->job, call->wave, message);
    return false;
}

/* ---- the number of waves ---- */

int64_t dfr_engine_waves(const struct df_run *run)
{
    return run->skips.passes ? dfr_passes_waves(run->skips.passes)
                             : atomic_load_explicit(&((struct df_run *)run)->firing.limit, memory_order_seq_cst);
}

int64_t dfr_engine_limit(struct df_run *run)
{
    while (atomic_load_explicit(&run->firing.early, memory_order_seq_cst) == DFR_DECIDING)
        sched_yield();
    return atomic_load_explicit(&run->firing.limit, memory_order_seq_cst);
}

/* The wave is reserved before the limit is read. So a request to end early finds it there, or this thread sees the request. */
bool dfr_engine_may_begin(struct df_run *run, uint32_t slot, int64_t wave)
{
    atomic_store_explicit(&run->firing.slots[slot].reserved, wave, memory_order_seq_cst);
    return wave < dfr_engine_limit(run);
}

bool dfr_engine_end_early(struct df_run *run)
{
    uint32_t none = DFR_NOT_EARLY;
    int64_t end = 0, limit;
    if (run->skips.passes)
        return false;
    if (!atomic_compare_exchange_strong(&run->firing.early, &none, run->threads.list ? DFR_DECIDED : DFR_DECIDING) || run->threads.list) {
        dfr_live_wake(run, false);
        return true;                    /* the worker of a list sees it after each wave */
    }
    if (atomic_load_explicit(&run->firing.begun, memory_order_seq_cst))
        end = run->inflight;
    for (uint32_t s = 0; s < run->inflight; s++) {
        const int64_t wave = atomic_load_explicit(&run->firing.slots[s].reserved, memory_order_seq_cst);
        end = end > 0 && wave >= end ? wave + 1 : end;
    }
    limit = atomic_load_explicit(&run->firing.limit, memory_order_seq_cst);
    if (end < limit)
        atomic_store(&run->firing.early_waves, end);
    while (end < limit && !atomic_compare_exchange_weak_explicit(&run->firing.limit, &limit, end, memory_order_seq_cst, memory_order_seq_cst))
        ;
    atomic_store_explicit(&run->firing.early, DFR_DECIDED, memory_order_seq_cst);
    dfr_live_wake(run, false);
    return true;
}

/* A stream that ends behind it, or has said that it has no more waves, ends the run by itself. */
bool dfr_engine_is_early(const struct df_run *from)
{
    struct df_run *run = (struct df_run *)from; /* atomics of a const run can be read */
    const int64_t waves = atomic_load(&run->firing.early_waves), expected = atomic_load(&run->states.expected_waves);
    return atomic_load(&run->firing.early) != DFR_NOT_EARLY && waves >= 0 && waves == atomic_load(&run->firing.limit) && (expected == 0 || waves < expected);
}

/* ---- the ends of streams ---- */

void dfr_engine_tell_unlike(struct df_run *run, uint32_t node, int64_t waves, const char *what)
{
    char name[256];

    if (atomic_exchange_explicit(&run->firing.unlike, true, memory_order_relaxed))
        return;
    df_node_name(run->graph, node, name, sizeof name);
    dfr_log(run, DF_LOG_INFO, "streams differ in length: '%s' %s %lld waves; waves that not all of them have are discarded", name,
            what, (long long)waves);
}

void dfr_engine_lower_limit(struct df_run *run, int64_t wave, uint32_t node, int64_t new_limit)
{
    int64_t limit = atomic_load_explicit(&run->firing.limit, memory_order_seq_cst);
    uint32_t left = atomic_load_explicit(&run->firing.slots[dfr_slot_of(run, wave)].streams_left, memory_order_relaxed);

    if (wave < dfr_engine_waves(run) &&
        (run->threads.loop == DFR_LOOP_LIST ? node != run->firing.streams[0] : left < run->firing.n_streams))
        dfr_engine_tell_unlike(run, node, wave, "ended after");
    while (new_limit < limit && !atomic_compare_exchange_weak_explicit(&run->firing.limit, &limit, new_limit,
                                                                       memory_order_seq_cst, memory_order_seq_cst))
        ;
}

/* In pass 0 the end of a stream lowers the waves of all passes. The rounds behind them have none, and end. None of them has begun but those
 * in flight, because each waits for what all streams say. In later passes streams are called for these waves, and have them. */
int dfr_engine_stream_said(struct df_run *run, struct df_call *call, int code)
{
    struct dfr_passes *p = run->skips.passes;
    uint32_t node = dfr_job_node(call->job);
    char bytes[16];

    if (call->failed || !(run->firing.nodes[node].flags & DFR_N_STREAM))
        return code;
    if (code == DF_END && call->wave >= p->stride)
        return df_fail(call, "the stream is 'restart' and ended here in pass %lld; in pass 0 it had %lld waves",
                       (long long)(call->wave / p->stride), (long long)dfr_passes_waves(p));
    if (code == DF_END) {
        dfr_engine_lower_limit(run, call->wave, node, p->stride * (p->n - 1) + call->wave);
        dfr_skips_end(&run->skips, call->wave);
        return DF_SKIP;
    }
    if (p->reserved && call->wave + 1 == p->most_waves)
        return df_fail(call, "the stream has more than %lld waves: what the parts of an acc read of so many takes %s, and half of the host's "
                             "memory may keep it. 'restart' at the stream keeps nothing; --passes=1 copies the acc in each wave",
                       (long long)call->wave, dfr_text_bytes(p->kept_bytes * (uint64_t)call->wave, bytes, sizeof bytes));
    return code;
}

int dfr_engine_ended_apart(struct df_run *run, const struct df_call *call)
{
    int64_t wave = df_wave(call), end = atomic_load(&run->feed.end);

    if (call->failed || !(run->firing.nodes[dfr_job_node(call->job)].flags & DFR_N_STREAM))
        return DF_END;
    while (wave < end && !atomic_compare_exchange_weak(&run->feed.end, &end, wave))
        ;
    return DF_SKIP;
}
