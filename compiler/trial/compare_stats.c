/* compare_stats.c - reads what a program prints for --stats=json, and makes the statistics of several runs.
 *
 * The reader takes any JSON object without recursion. It goes from value to value, keeps the keys that lead to the
 * present one in a stack of fixed depth, and picks the numbers and names that it knows. What it does not know it skips.
 * So it can read the statistics of a program that prints more than these.
 */
#include "compiler/trial/compare_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 8
#define MAX_NAMES 64                    /* of device memories */
#define NAME_BYTES 64

/* ---- JSON ---- */

struct reader {
    const char *at;
    unsigned depth;                     /* how many objects and arrays are open */
    char closers[MAX_DEPTH];            /* '}' or ']' for each of them */
    char keys[MAX_DEPTH][NAME_BYTES];   /* the latest key of each open object */
    void (*found)(void *arg, const struct reader *r, const char *text, double number); /* text NULL: a number */
    void (*closed)(void *arg, const struct reader *r); /* the object at r->depth ends */
    void *arg;
};

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

/* Reads a string, cut to size. An escape gives the character that it stands for; \uXXXX gives '?' if it
 * is not ASCII. */
static bool read_string(struct reader *r, char *to, size_t size)
{
    size_t n = 0;
    if (*r->at++ != '"')
        return false;
    for (; *r->at != '"'; r->at++) {
        char c = *r->at;
        if ((unsigned char)c < 0x20)
            return false;               /* an unexpected character, or the end of the text */
        if (c == '\\') {
            c = *++r->at;
            if (c == 'u') {
                if (strspn(r->at + 1, "0123456789abcdefABCDEF") < 4)
                    return false;
                char hex[5] = { r->at[1], r->at[2], r->at[3], r->at[4], 0 };
                unsigned long code = strtoul(hex, NULL, 16);
                c = code < 128 ? (char)code : '?';
                r->at += 4;
            } else {
                const char *plain = strchr("\"\\/bfnrt", c);
                if (!c || !plain)
                    return false;
                c = "\"\\/\b\f\n\r\t"[plain - "\"\\/bfnrt"];
            }
        }
        if (n + 1 < size)
            to[n++] = c;
    }
    r->at++;
    to[n] = 0;
    return true;
}

/* Reads a string, number, true, false or null. */
static bool read_scalar(struct reader *r)
{
    static const char *const words[] = { "true", "false", "null" };
    char text[NAME_BYTES];
    if (*r->at == '"') {
        if (!read_string(r, text, sizeof text))
            return false;
        r->found(r->arg, r, text, 0);
        return true;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
            r->at += strlen(words[i]);
            return true;
        }
    }
    if (*r->at != '-' && (*r->at < '0' || *r->at > '9'))
        return false;
    char *end;
    double number = strtod(r->at, &end);
    r->at = end;
    r->found(r->arg, r, NULL, number);
    return true;
}

static bool read_key(struct reader *r)
{
    skip_blanks(r);
    if (!read_string(r, r->keys[r->depth - 1], NAME_BYTES))
        return false;
    skip_blanks(r);
    return *r->at++ == ':';
}

static bool open_value(struct reader *r)
{
    if (r->depth == MAX_DEPTH)
        return false;
    r->closers[r->depth] = *r->at == '{' ? '}' : ']';
    r->keys[r->depth][0] = 0;
    r->depth++;
    r->at++;
    return true;
}

/* After a value: closes the objects and arrays that end here. *more: another value follows, and its key has been
 * read. */
static bool after_value(struct reader *r, bool *more)
{
    for (*more = false; r->depth > 0; r->depth--) {
        skip_blanks(r);
        char closer = r->closers[r->depth - 1];
        if (*r->at == ',') {
            r->at++;
            *more = true;
            return closer != '}' || read_key(r);
        }
        if (*r->at != closer)
            return false;
        r->at++;
        if (closer == '}')
            r->closed(r->arg, r);
    }
    return true;
}

static bool read_object(struct reader *r)
{
    bool more = true;
    while (more) {
        skip_blanks(r);
        if (*r->at == '{' || *r->at == '[') {
            if (!open_value(r))
                return false;
            skip_blanks(r);
            if (*r->at != r->closers[r->depth - 1]) {
                if (r->closers[r->depth - 1] == '}' && !read_key(r))
                    return false;
                continue;
            }
        } else if (!read_scalar(r)) {
            return false;
        }
        if (!after_value(r, &more))
            return false;
    }
    return true;
}

/* ---- what is known ---- */

struct collector {
    struct dfc_run_stats stats;
    bool has_makespan;
    /* about the worker or memory that is being read */
    char name[NAME_BYTES];
    uint64_t jobs;
    double busy_s;
    unsigned n_workers;
    struct { char name[NAME_BYTES]; uint64_t jobs; double busy_s; } workers[512];
    char memories[MAX_NAMES][NAME_BYTES];
};

static uint64_t as_count(double number)
{
    return number >= 0 && number < 0x1p63 ? (uint64_t)number : 0;
}

static void found_top(struct collector *c, const char *key, double number)
{
    if (strcmp(key, "makespan_s") == 0) {
        c->stats.makespan_s = number;
        c->has_makespan = isfinite(number) && number >= 0;
    } else if (strcmp(key, "waves") == 0) {
        c->stats.waves = as_count(number);
    } else if (strcmp(key, "jobs") == 0) {
        c->stats.jobs = as_count(number);
    }
}

static void found_memory(struct collector *c, const char *key, double number)
{
    const struct { const char *key; uint64_t *sum; } sums[] = {
        { "h2d_copies", &c->stats.h2d_copies },   { "d2h_copies", &c->stats.d2h_copies },
        { "peer_copies", &c->stats.peer_copies }, { "h2d_bytes", &c->stats.h2d_bytes },
        { "d2h_bytes", &c->stats.d2h_bytes },     { "peer_bytes", &c->stats.peer_bytes },
        { "evictions", &c->stats.evictions },     { "writebacks", &c->stats.writebacks },
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (strcmp(key, sums[i].key) == 0)
            *sums[i].sum += as_count(number);
    }
}

static void found(void *arg, const struct reader *r, const char *text, double number)
{
    struct collector *c = arg;
    const char *key = r->keys[r->depth - 1], *list = r->keys[0];
    if (r->depth == 1 && !text)
        found_top(c, key, number);
    if (r->depth == 1 && text && strcmp(key, "policy") == 0)
        snprintf(c->stats.policy, sizeof c->stats.policy, "%s", text);
    if (r->depth != 3)                  /* only {"workers": [{ … and such lists count */
        return;
    if (text && strcmp(key, "name") == 0)
        strcpy(c->name, text);
    else if (!text && strcmp(list, "workers") == 0 && strcmp(key, "jobs") == 0)
        c->jobs = as_count(number);
    else if (!text && strcmp(list, "workers") == 0 && strcmp(key, "busy_s") == 0)
        c->busy_s = number;
    else if (!text && strcmp(list, "memories") == 0)
        found_memory(c, key, number);
}

static void closed(void *arg, const struct reader *r)
{
    struct collector *c = arg;
    if (r->depth == 3 && strcmp(r->keys[0], "workers") == 0 && c->n_workers < 512) {
        strcpy(c->workers[c->n_workers].name, c->name);
        c->workers[c->n_workers].busy_s = c->busy_s;
        c->workers[c->n_workers++].jobs = c->jobs;
    }
    if (r->depth == 3 && strcmp(r->keys[0], "memories") == 0 && c->stats.n_gpus < MAX_NAMES)
        strcpy(c->memories[c->stats.n_gpus++], c->name);
    c->name[0] = 0;
    c->jobs = 0;
    c->busy_s = 0;
}

static bool is_memory(const struct collector *c, const char *name)
{
    for (unsigned i = 0; i < c->stats.n_gpus; i++) {
        if (strcmp(c->memories[i], name) == 0)
            return true;
    }
    return false;
}

bool dfc_run_stats_read(const char *text, struct dfc_run_stats *stats)
{
    struct collector *c = malloc(sizeof *c);
    bool good = false;
    for (const char *line = text; c && line && *line && !good;
         line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (*line != '{')
            continue;
        memset(c, 0, sizeof *c);
        struct reader r = { .at = line, .found = found, .closed = closed, .arg = c };
        good = read_object(&r) && c->has_makespan;
    }
    if (good) {
        for (unsigned i = 0; i < c->n_workers; i++) {
            bool gpu = is_memory(c, c->workers[i].name);
            *(gpu ? &c->stats.gpu_jobs : &c->stats.cpu_jobs) += c->workers[i].jobs;
            *(gpu ? &c->stats.gpu_busy_s : &c->stats.cpu_busy_s) += c->workers[i].busy_s;
        }
        *stats = c->stats;
    }
    free(c);
    return good;
}

/* ---- several runs ---- */

static int compare_runs(const void *a, const void *b)
{
    double x = ((const struct dfc_run_stats *)a)->makespan_s, y = ((const struct dfc_run_stats *)b)->makespan_s;
    return (x > y) - (x < y);
}

/* A quantile, interpolated between the two runs around its place as most statistics programs do (Hyndman and Fan's type
 * 7). */
static double quantile(const struct dfc_run_stats *sorted, unsigned n, double q)
{
    double place = q * (n - 1);
    unsigned below = (unsigned)place;
    unsigned above = below + 1 < n ? below + 1 : below;
    return sorted[below].makespan_s + (place - below) * (sorted[above].makespan_s - sorted[below].makespan_s);
}

void dfc_policy_stats_of(const char *policy, struct dfc_run_stats *runs, unsigned n, struct dfc_policy_stats *stats)
{
    qsort(runs, n, sizeof *runs, compare_runs);
    *stats = (struct dfc_policy_stats){ .runs = n,
                                        .median_s = quantile(runs, n, 0.5),
                                        .least_s = runs[0].makespan_s,
                                        .most_s = runs[n - 1].makespan_s,
                                        .first_quartile_s = quantile(runs, n, 0.25),
                                        .third_quartile_s = quantile(runs, n, 0.75),
                                        .ratio = 1,
                                        .typical = runs[(n - 1) / 2] };
    if (strcmp(policy, DFC_NO_POLICY) == 0 && stats->typical.policy[0])
        snprintf(stats->policy, sizeof stats->policy, "%s (%s)", policy, stats->typical.policy);
    else
        snprintf(stats->policy, sizeof stats->policy, "%s", policy);
    if (stats->median_s > 0)
        stats->spread = (stats->third_quartile_s - stats->first_quartile_s) / stats->median_s;
}

unsigned dfc_policy_stats_rank(struct dfc_policy_stats *stats, unsigned n)
{
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++) {
        if (stats[i].median_s < stats[best].median_s)
            best = i;
    }
    for (unsigned i = 0; i < n; i++)
        stats[i].ratio = stats[best].median_s > 0 ? stats[i].median_s / stats[best].median_s : 1;
    return best;
}
