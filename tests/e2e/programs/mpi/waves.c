/* waves.c - waves over MPI, by the manager, the workers and the link of libdf, without a graph: each wave's token is multiplied
 * on a worker, and rank 0 writes a line for each result, in order.
 *
 *     waves WAVES [bytes=N] [work=SECONDS] [window=N] [idle=SECONDS] [until=FILE] [other-hash=RANK] [beat-timeout=SECONDS]
 *           [root-timeout=SECONDS] [wave-timeout=SECONDS] [hang=RANK]
 *
 * Each rank writes its process id into pid.RANK. Rank 0 writes the lines into out.txt, and says on stderr how the run ended.
 * bytes: of each token, at least 16. work: of each wave. idle: rank 0 offers the first wave so much later, and each rank says
 * how often it slept meanwhile, how often it may, and what processor time the wait cost. hang: that rank keeps its third wave.
 * until: there are more waves until that file is there, so a test decides when the run ends. beat-timeout: a worker that is silent for
 * so long counts as dead. root-timeout: a worker ends if rank 0 is silent for so long. Both are long, so that a busy machine kills nobody.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/ranks/comm.h"
#include "runtime/threads/clock.h"
#include "tests/rig/comm_sleeps.h"

#define HASH 0x1234

static struct {
    long waves, window, other_hash, hang;
    size_t bytes;
    double work_s, idle_s, beat_timeout_s, root_timeout_s, wave_timeout_s;
    const char *until;
} o = { .bytes = 16, .beat_timeout_s = 20, .root_timeout_s = 20 };

static struct dfr_comm comm;
static double began_s, cpu_began_s;

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_options(int n, char **words)
{
    o.waves = atol(words[1]);
    for (int i = 2; i < n; i++) {
        const char *value = strchr(words[i], '=') + 1;
        switch (words[i][0] << 8 | words[i][1]) {
        case 'b' << 8 | 'y': o.bytes = (size_t)atol(value); break;
        case 'w' << 8 | 'o': o.work_s = atof(value); break;
        case 'w' << 8 | 'i': o.window = atol(value); break;
        case 'w' << 8 | 'a': o.wave_timeout_s = atof(value); break;
        case 'i' << 8 | 'd': o.idle_s = atof(value); break;
        case 'u' << 8 | 'n': o.until = value; break;
        case 'r' << 8 | 'o': o.root_timeout_s = atof(value); break;
        case 'o' << 8 | 't': o.other_hash = atol(value); break;
        case 'b' << 8 | 'e': o.beat_timeout_s = atof(value); break;
        case 'h' << 8 | 'a': o.hang = atol(value); break;
        }
    }
}

static void say_cost(void)
{
    double waited_s = dfr_clock_s() - began_s;

    if (o.idle_s > 0)
        fprintf(stderr, "rank %d: waited %.2f s, %llu sleeps of at most %llu, %llu times something had happened, %.2f ms of a core a second\n",
                comm.link->rank, waited_s, (unsigned long long)comm.n_sleeps, (unsigned long long)comm_sleeps_most(waited_s, comm.n_active),
                (unsigned long long)comm.n_active, 1e3 * (cpu_s() - cpu_began_s) / waited_s);
}

/* ---- rank 0 ---- */

static long n_offered, n_written, n_ended;
static FILE *out;

static bool more_waves(void)
{
    return n_offered < o.waves || (o.until && access(o.until, F_OK) != 0);
}

static int next_wave(void *arg, const struct dfr_head *head, struct dfr_message **give, bool *over, struct df_error *error)
{
    unsigned char *token = arg;
    uint64_t number = (uint64_t)n_offered;

    (void)error;
    if (dfr_clock_s() - began_s < o.idle_s)
        return DF_OK;
    if (n_offered == 0)
        say_cost();
    if (more_waves()) {
        memcpy(token, &number, sizeof number);
        memcpy(token + o.bytes - sizeof number, &number, sizeof number);
        *give = dfr_message_make(head, &(struct dfr_value){ .data = token, .bytes = o.bytes }, 1);
        n_offered++;
    }
    *over = !more_waves();
    return DF_OK;
}

static int write_result(void *arg, const struct dfr_message *result, bool *taken, struct df_error *error)
{
    uint64_t first, last;

    (void)arg;
    (void)error;
    memcpy(&first, result->values[0].data, sizeof first);
    memcpy(&last, (const char *)result->values[0].data + o.bytes - sizeof last, sizeof last);
    fprintf(out, "%lld %llu %llu\n", (long long)result->head.wave, (unsigned long long)first, (unsigned long long)last);
    n_written++;
    *taken = true;
    return DF_OK;
}

static int count_ended(void *arg, unsigned most, unsigned *n, struct df_error *error)
{
    (void)arg;
    (void)error;
    (void)most;                         /* the workers write no files */
    *n = (unsigned)(n_written - n_ended);
    n_ended = n_written;
    fflush(out);
    return DF_OK;
}

static void tell(void *arg, const char *sentence)
{
    (void)arg;
    fprintf(stderr, "%s\n", sentence);
}

static int manage(struct df_error *error)
{
    unsigned char *token = calloc(1, o.bytes);
    struct dfr_manager_options options = { .epoch = 1, .hash = HASH, .window = (unsigned)o.window, .beat_s = o.beat_timeout_s / 10, .tell = tell,
                                           .beat_timeout_s = o.beat_timeout_s, .wave_timeout_s = o.wave_timeout_s, .lost_s = 5 };
    struct dfr_manage_side side = { .arg = token, .next = next_wave, .result = write_result, .ended = count_ended };
    struct dfr_manager_state state;

    out = fopen("out.txt", "w");
    int code = dfr_comm_manage(&comm, &options, &side, &state, error);
    fprintf(stderr, "rank 0: %ld waves, %d deaths, %s\n", n_written, state.n_deaths, state.whole ? "whole" : "not whole");
    fclose(out);
    free(token);
    return code;
}

/* ---- a worker: it runs one wave at a time ---- */

static struct dfr_head running;
static struct dfr_message *result;
static double ends_s;
static bool runs;

static int begin(void *arg, const struct dfr_message *welcome, struct df_error *error)
{
    (void)arg;
    (void)welcome;
    (void)error;
    return DF_OK;
}

static int begin_wave(void *arg, const struct dfr_message *give, const struct dfr_head *head, bool *started, struct df_error *error)
{
    static long n_begun;
    uint64_t first, last;

    (void)arg;
    (void)error;
    if (runs)
        return DF_OK;
    *started = runs = true;
    running = *head;
    if (n_begun++ == 0)
        say_cost();
    unsigned char *token = malloc(give->values[0].bytes);
    memcpy(token, give->values[0].data, give->values[0].bytes);
    memcpy(&first, token, sizeof first);
    memcpy(&last, token + o.bytes - sizeof last, sizeof last);
    first = first * 3 + 1;
    last = last * 5 + 2;
    memcpy(token + o.bytes - sizeof last, &last, sizeof last);
    memcpy(token, &first, sizeof first);
    result = dfr_message_make(&running, &(struct dfr_value){ .data = token, .bytes = o.bytes }, 1);
    free(token);
    ends_s = dfr_clock_s() + o.work_s + (n_begun == 3 && comm.link->rank == o.hang ? 1e9 : 0);
    return DF_OK;
}

static int finish(void *arg, struct dfr_message **gives, struct df_error *error)
{
    (void)arg;
    (void)error;
    if (!runs || dfr_clock_s() < ends_s)
        return DF_OK;
    *gives = result;
    result = NULL;
    runs = false;
    return DF_OK;
}

static int work(struct df_error *error)
{
    char host[64] = "";
    struct dfr_worker_options options = { .hash = HASH + (o.other_hash == comm.link->rank), .host = host, .beat_s = o.beat_timeout_s / 10,
                                          .beat_timeout_s = o.root_timeout_s };
    struct dfr_work_side side = { .begin = begin, .start = begin_wave, .finish = finish };

    gethostname(host, sizeof host - 1);
    return dfr_comm_work(&comm, &options, &side, error);
}

static void stop(int signal)
{
    (void)signal;
    dfr_comm_stop(&comm);
}

int main(int n, char **words)
{
    struct df_error error = { "" };
    char name[32];

    if (n < 2)
        return 2;
    read_options(n, words);
    if (dfr_link_open_mpi(&comm.link, NULL, &error) != DF_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 3;
    }
    signal(SIGTERM, stop);
    snprintf(name, sizeof name, "pid.%d", comm.link->rank);
    FILE *pid = fopen(name, "w");
    fprintf(pid, "%d\n", (int)getpid());
    fclose(pid);
    began_s = dfr_clock_s();
    cpu_began_s = cpu_s();
    int code = comm.link->rank == 0 ? manage(&error) : work(&error);
    if (code != DF_OK)
        fprintf(stderr, "rank %d: %s\n", comm.link->rank, error.text);
    comm.link->close(comm.link, comm.whole);
    return code == DF_OK ? 0 : code == DF_E_STOPPED ? 75 : 1;
}
