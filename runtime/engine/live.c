/* live.c - grabbers, the frames that wait for jobs, and the pace of sources (live.h). The ring of frames and the latencies are in policy/frames.c. */
#include "runtime/engine/live.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "runtime/base/error.h"
#include "runtime/base/pages.h"
#include "runtime/df_io.h"
#include "runtime/engine/call.h"
#include "runtime/engine/crash.h"
#include "runtime/engine/live_record.h"
#include "runtime/policy/frames.h"
#include "runtime/threads/clock.h"
#include "runtime/threads/host.h"

struct source {
    struct df_run *run;
    struct dfr_frames frames;
    pthread_mutex_t lock;               /* of all that follows, and of `frames` */
    pthread_cond_t changed;
    bool made, begun, stops;            /* lock and changed are made; there was a job; the run is over */
    double begun_s;                     /* of the first job */

    unsigned char *places;              /* NULL without @newest */
    size_t place_bytes;
    uint32_t *free_places, n_free;
    int *codes;                         /* by place: what the kernel returned */
    int end_code;                       /* DF_OK: the source goes on */
    char message[sizeof ((struct df_call *)NULL)->message]; /* of the end, if it is a failure */

    pthread_t grabber;
    bool started;
    df_function *variant;               /* what follows is the grabber's */
    const size_t *dims;
    const union df_scalar *scalars;
    struct df_call call;
    struct dfr_opened opened;
    void **ports;
    unsigned char *tmp;
};

struct dfr_live {
    int over;                           /* an eventfd: it can be read when the run is over */
    struct dfr_live_record *record;     /* of --record or --play; NULL: neither */
    uint32_t n;
    struct source sources[];
};

static struct source *source_of(const struct df_run *run, uint32_t node)
{
    return &run->live->sources[run->graph->nodes[node].live - 1];
}

static bool plays(const struct df_run *run)
{
    return run->live->record && dfr_live_record_plays(run->live->record);
}

/* ---- ports of a place ---- */

static const struct df_kport *ports_of(const struct df_graph *g, uint32_t node)
{
    return &g->kports[g->kernels[g->nodes[node].kernel].first_port];
}

static uint32_t n_ports_of(const struct df_graph *g, uint32_t node)
{
    return g->kernels[g->nodes[node].kernel].n_ports;
}

static uint64_t port_bytes(const struct df_graph *g, uint32_t node, uint32_t port)
{
    return g->port_bytes[g->works[g->nodes[node].work].first_port + port];
}

static void point_ports(struct source *s, uint32_t place)
{
    const struct df_graph *g = s->run->graph;
    const uint32_t node = s->frames.node;
    unsigned char *tmp = s->tmp;
    for (uint32_t p = 0; p < n_ports_of(g, node); p++)
        s->ports[p] = ports_of(g, node)[p].mode == DF_OUT ? s->places + place * s->place_bytes + dfr_frames_offset(g, node, p)
                                                          : df_tmp_take(&ports_of(g, node)[p], DF_ON_HOST, port_bytes(g, node, p), &tmp);
}

static void copy_frame(const struct source *s, uint32_t place, void *const *ports)
{
    const struct df_graph *g = s->run->graph;
    const uint32_t node = s->frames.node;
    for (uint32_t p = 0; p < n_ports_of(g, node); p++)
        if (ports_of(g, node)[p].mode == DF_OUT)
            memcpy(ports[p], s->places + place * s->place_bytes + dfr_frames_offset(g, node, p), port_bytes(g, node, p));
}

/* ---- waiting, with the lock ---- */

/* Was the run requested to end early? Then a wave without a frame does not begin. */
static bool ends_early(const struct source *s)
{
    return atomic_load(&s->run->firing.early) == DFR_DECIDED;
}

/* Waits until that time, or until the run is over, or is to end early. false: it is. */
static bool wait_until(struct source *s, double until_s)
{
    const struct timespec until = { (time_t)until_s, (long)((until_s - floor(until_s)) * 1e9) };
    while (!s->stops && !ends_early(s) && dfr_clock_s() < until_s)
        pthread_cond_timedwait(&s->changed, &s->lock, &until);
    return !s->stops && dfr_clock_s() >= until_s;
}

/* ---- the grabber ---- */

static void end_frames(struct source *s, int code, const char *message)
{
    pthread_mutex_lock(&s->lock);
    s->end_code = code;
    memcpy(s->message, message, sizeof s->message);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Waits for the time of frame k, and takes a place for it. false: the run is over. */
static bool begin_frame(struct source *s, int64_t k, uint32_t *place)
{
    pthread_mutex_lock(&s->lock);
    const bool goes_on = wait_until(s, s->begun_s + (double)k * s->frames.how.every_s);
    *place = s->free_places[--s->n_free];
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

/* The frame waits for a job. false: the run is over. */
static bool give_frame(struct source *s, uint32_t place, int code)
{
    struct dfr_frame dropped;
    pthread_mutex_lock(&s->lock);
    s->codes[place] = code;
    if (dfr_frames_come(&s->frames, (struct dfr_frame){ place, dfr_clock_s() }, &dropped))
        s->free_places[s->n_free++] = dropped.place;
    const bool goes_on = !s->stops;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return goes_on;
}

static void grab(struct source *s)
{
    uint32_t place;
    int code = DF_OK;
    for (int64_t k = 0; begin_frame(s, k, &place); k++) {
        s->call.wave = k;
        point_ports(s, place);
        code = s->variant(&s->call, NULL, s->dims, s->ports, s->scalars);
        if ((code != DF_OK && code != DF_SKIP) || s->call.failed) {
            end_frames(s, s->call.failed ? DF_FAILED : code, s->call.message);
            return;
        }
        if (!give_frame(s, place, code))
            return;
    }
}

/* A handler of pthread_cleanup_push(): the kernel has ended the thread. */
static void thread_ends(void *source)
{
    char message[sizeof ((struct source *)NULL)->message];
    dfr_crash_thread_ends();
    strncpy(message, dfr_crash_ended, sizeof message - 1);
    message[sizeof message - 1] = '\0';
    end_frames(source, DF_FAILED, message);
}

static void *grabber_main(void *source)
{
    struct source *s = source;
    struct dfr_crash_frame frame;
    dfr_crash_enter(&frame, &s->call);
    pthread_cleanup_push(thread_ends, s);
    grab(s);
    pthread_cleanup_pop(0);
    dfr_crash_leave(&frame);
    return NULL;
}

/* ---- jobs ---- */

static bool begin(struct source *s, struct df_call *call, df_function *variant, const size_t *dims, const union df_scalar *scalars)
{
    if (s->begun)
        return true;
    s->begun = true;
    s->begun_s = dfr_clock_s();
    s->variant = variant;
    s->dims = dims;
    s->scalars = scalars;
    s->call = (struct df_call){ .run = s->run, .job = call->job, .threads = 1, .opened = &s->opened };
    s->started = s->places && dfr_thread_create(&s->grabber, 0, false, grabber_main, s) == 0;
    if (s->places && !s->started)
        df_fail(call, "cannot make a thread that waits for its frames");
    return !call->failed;
}

/* The job's wave has no frame, because the run is over or is to end early: it is as if the stream had ended here. */
static int end_without(struct source *s, const struct df_call *call)
{
    _Atomic int64_t *early = &s->run->firing.early_waves;
    int64_t waves = atomic_load(early);
    while (ends_early(s) && (waves < 0 || call->wave < waves) && !atomic_compare_exchange_weak(early, &waves, call->wave))
        ;
    return DF_END;
}

/* @every alone: the job itself calls the kernel. */
static int call_when_due(struct source *s, struct df_call *call, void *const *ports)
{
    const double due_s = s->begun_s + (double)call->wave * s->frames.how.every_s;
    pthread_mutex_lock(&s->lock);
    const bool goes_on = wait_until(s, due_s);
    s->frames.frames += goes_on;
    s->frames.taken_s[dfr_job_slot(call->job)] = due_s;
    pthread_mutex_unlock(&s->lock);
    return goes_on ? s->variant(call, NULL, s->dims, ports, s->scalars) : end_without(s, call);
}

/* The oldest frame that waits. DF_OK or DF_SKIP: *place has it. */
static int take_frame(struct source *s, struct df_call *call, uint32_t *place)
{
    struct dfr_frame frame;
    bool found;
    int code;
    pthread_mutex_lock(&s->lock);
    while (!(found = dfr_frames_take(&s->frames, &frame)) && !s->stops && !ends_early(s) && s->end_code == DF_OK)
        pthread_cond_wait(&s->changed, &s->lock);
    if (found)
        s->frames.taken_s[dfr_job_slot(call->job)] = frame.time_s;
    *place = found ? frame.place : 0;
    code = found ? s->codes[frame.place] : s->end_code;
    pthread_mutex_unlock(&s->lock);
    if (!found && s->message[0])
        df_fail(call, "%s", s->message);
    return code == DF_OK && !found ? end_without(s, call) : code;
}

/* With @newest a frame that was taken, else one that the job makes. */
static int get_frame(struct source *s, struct df_call *call, void *const *ports)
{
    uint32_t place;
    if (!s->places)
        return call_when_due(s, call, ports);
    const int code = take_frame(s, call, &place);
    if (code != DF_OK && code != DF_SKIP)
        return code;
    if (code == DF_OK)
        copy_frame(s, place, ports);
    pthread_mutex_lock(&s->lock);
    s->free_places[s->n_free++] = place;
    pthread_mutex_unlock(&s->lock);
    return code;
}

static int play_frame(struct df_call *call, void *const *ports)
{
    const struct df_run *run = call->run;
    int code;
    const int status = dfr_live_record_read(run->live->record, run->graph->nodes[dfr_job_node(call->job)].live - 1, call->wave, &code, ports);
    return status == 0 ? code : df_fail(call, "cannot read '%s': %s", run->options.play_path, strerror(status));
}

static int record_frame(struct df_call *call, int code, void *const *ports)
{
    const struct df_run *run = call->run;
    if (!run->live->record || (code != DF_OK && code != DF_SKIP) || call->failed)
        return code;
    const int status = dfr_live_record_write(run->live->record, run->graph->nodes[dfr_job_node(call->job)].live - 1, call->wave, code, ports);
    return status == 0 ? code : df_fail(call, "cannot write '%s': %s", run->options.record_path, strerror(status));
}

int dfr_live_job(struct df_call *call, df_function *variant, const size_t *dims, void *const *ports, const union df_scalar *scalars)
{
    struct source *s = source_of(call->run, dfr_job_node(call->job));
    if (plays(call->run))
        return play_frame(call, ports);
    if (!begin(s, call, variant, dims, scalars))
        return DF_FAILED;
    return record_frame(call, get_frame(s, call, ports), ports);
}

double dfr_live_job_s(struct df_run *run, uint64_t job, int64_t wave)
{
    struct source *s = source_of(run, dfr_job_node(job));
    pthread_mutex_lock(&s->lock);
    const double job_s = dfr_frames_job_s(&s->frames, dfr_job_slot(job), wave, dfr_clock_s());
    pthread_mutex_unlock(&s->lock);
    return job_s;
}

void dfr_live_wave_ended(struct df_run *run, uint32_t slot)
{
    for (uint32_t i = 0; i < run->live->n; i++) {
        struct source *s = &run->live->sources[i];
        pthread_mutex_lock(&s->lock);
        dfr_frames_wave_ended(&s->frames, slot, dfr_clock_s());
        pthread_mutex_unlock(&s->lock);
    }
}

/* ---- the run ---- */

static int refuse(const struct df_run *run, struct df_error *error)
{
    const char *why = run->calls.on ? "a session" : run->options.feed ? "a run with a journal, a chunk or ranks" : NULL;
    const uint32_t node = df_graph_live(run->graph);
    char name[256];
    df_node_name(run->graph, node, name, sizeof name);
    if (why)
        return dfr_error(error, DF_E_REFUSED, "node '%s' depends on the clock (@newest, @every), and %s may need a wave's frame again", name, why);
    if (run->skips.passes)
        return dfr_error(error, DF_E_REFUSED, "node '%s' depends on the clock (@newest, @every), and the waves go by %u times: with --passes=1 they do once", name,
                         run->skips.passes->n);
    return DF_OK;
}

static int make_places(struct source *s, struct df_error *error)
{
    const struct df_graph *g = s->run->graph;
    const uint32_t n = s->frames.how.newest + DFR_FRAMES_SPARE, node = s->frames.node;
    const uint64_t tmp_bytes = df_node_tmp_bytes(g, node, DF_ON_HOST);
    if (s->frames.how.newest == 0 || s->run->rehearsal || plays(s->run))
        return DF_OK;
    s->place_bytes = dfr_frames_offset(g, node, n_ports_of(g, node));
    s->places = s->place_bytes <= SIZE_MAX / n ? dfr_pages_alloc(n * s->place_bytes) : NULL;
    s->free_places = malloc(n * sizeof *s->free_places);
    s->codes = malloc(n * sizeof *s->codes);
    s->ports = calloc(n_ports_of(g, node) + 1, sizeof *s->ports);
    s->tmp = tmp_bytes ? dfr_pages_alloc(tmp_bytes) : NULL;
    if (!s->places || !s->free_places || !s->codes || !s->ports || (tmp_bytes && !s->tmp))
        return dfr_error_memory(error);
    while (s->n_free < n) {
        s->free_places[s->n_free] = s->n_free;
        s->n_free++;
    }
    return DF_OK;
}

static int make_source(struct df_run *run, uint32_t node, struct df_error *error)
{
    struct source *s = source_of(run, node);
    const double takes_s = run->rehearsal ? run->choice.time_s[run->graph->nodes[node].work] : NAN;
    pthread_condattr_t clock;
    s->run = run;
    if (pthread_condattr_init(&clock) != 0 || pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) != 0 || pthread_cond_init(&s->changed, &clock) != 0 ||
        pthread_mutex_init(&s->lock, NULL) != 0)
        return dfr_error_memory(error);
    pthread_condattr_destroy(&clock);
    s->made = true;
    int status = dfr_frames_create(&s->frames, run->graph, node, run->inflight, takes_s, error);
    return status == DF_OK ? make_places(s, error) : status;
}

int dfr_live_create(struct df_run *run, struct df_error *error)
{
    const struct df_graph *g = run->graph;
    int status = DF_OK;
    if (g->n_live == 0)
        return DF_OK;
    if ((status = refuse(run, error)) != DF_OK)
        return status;
    run->live = calloc(1, sizeof *run->live + g->n_live * sizeof *run->live->sources);
    if (!run->live)
        return dfr_error_memory(error);
    run->live->n = g->n_live;
    run->live->over = eventfd(0, EFD_CLOEXEC);
    if (run->live->over < 0)
        return dfr_error(error, DF_E_MEMORY, "cannot make an event for live sources: %s", strerror(errno));
    if (run->options.record_path || run->options.play_path)
        status = dfr_live_record_open(g, run->options.record_path, run->options.play_path, &run->live->record, error);
    for (uint32_t v = 0; v < g->n_nodes && status == DF_OK; v++)
        if (g->nodes[v].live)
            status = make_source(run, v, error);
    return status;
}

void dfr_live_wake(struct df_run *run, bool over)
{
    if (!run->live)
        return;
    if (over)
        eventfd_write(run->live->over, 1);
    for (uint32_t i = 0; i < run->live->n; i++) {
        struct source *s = &run->live->sources[i];
        pthread_mutex_lock(&s->lock);
        s->stops |= over;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
    }
}

void dfr_live_end(struct df_run *run)
{
    dfr_live_wake(run, true);
    for (uint32_t i = 0; run->live && i < run->live->n; i++) {
        struct source *s = &run->live->sources[i];
        if (s->started)
            pthread_join(s->grabber, NULL);
        s->started = false;
    }
}

int dfr_live_keep_record(struct df_run *run, struct df_error *error)
{
    struct dfr_live_record *record = run->live ? run->live->record : NULL;
    if (record)
        run->live->record = NULL;
    return dfr_live_record_close(record, true, error);
}

void dfr_live_destroy(struct df_run *run)
{
    if (run->live)
        dfr_live_record_close(run->live->record, false, NULL);
    for (uint32_t i = 0; run->live && i < run->live->n; i++) {
        struct source *s = &run->live->sources[i];
        if (s->made) {
            pthread_mutex_destroy(&s->lock);
            pthread_cond_destroy(&s->changed);
        }
        dfr_opened_close(&s->opened, run->graph);
        dfr_frames_destroy(&s->frames);
        free(s->places);
        free(s->free_places);
        free(s->codes);
        free(s->ports);
        free(s->tmp);
    }
    if (run->live && run->live->over >= 0)
        close(run->live->over);
    free(run->live);
}

void dfr_live_stats(const struct df_run *run, struct df_stats *stats)
{
    for (uint32_t i = 0; run->live && !plays(run) && i < run->live->n; i++)
        dfr_frames_stats(&run->live->sources[i].frames, &stats->live[stats->n_live++]);
}

/* ---- for kernels ---- */

int df_file_wait(struct df_call *call, int file)
{
    const struct dfr_live *live = call->run ? call->run->live : NULL;
    struct pollfd files[] = { { .fd = file, .events = POLLIN }, { .fd = live ? live->over : -1, .events = POLLIN } };
    while (poll(files, 2, -1) < 0 && errno == EINTR)
        ;
    return files[1].revents ? DF_END : DF_OK;
}

bool dfr_live_drops(const struct df_call *call)
{
    const struct df_live *live = df_node_live(call->run->graph, dfr_job_node(call->job));
    return live && live->newest;
}
