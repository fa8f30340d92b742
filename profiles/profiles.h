/* profiles.h - weights: what is known about how long works take on this machine, and what the machine is. Linked
 * into dfc alone (SQLite); programs carry the times that were known when they were made, and those with dynamic params
 * what known.h needs for other sizes.
 *
 * Words:    a *sample set* is the outcome of measuring one variant of one work once: a robust mean, its interval,
 *           how many runs.
 * Database: one SQLite file, $DFC_PROFILE, else $XDG_DATA_HOME/dfc/profile.db, else ~/.local/share/dfc/profile.db.
 *           Write-ahead log, busy timeout, one transaction a sample set: two runs at once lose nothing. Sets are
 *           never overwritten; loading combines the latest ones of a key.
 * Learned:  a program that runs with --learn leaves a file in the folder named as the database with ".learned" added;
 *           whoever opens the database next moves what is in it there.
 * Key:      machine (CPU model, cores, GPUs), device name ("cpu", "emu", a GPU's own), variant ("cpu", "gpu"),
 *           kernel, dimensions and scalars, hash of the variant's source. An edited kernel has another hash, so it
 *           is measured again.
 * Errors:   DF_E_IO with the path and SQLite's own words. A database that cannot be opened is a warning for -o and
 *           partition (the stated default is used), an error for profile and probe.
 */
#ifndef DFW_PROFILES_H
#define DFW_PROFILES_H

#include <stdio.h>

#include "profiles/estimate/known.h"
#include "runtime/device/device.h"
#include "runtime/measure/measure.h"
#include "runtime/base/sampler.h"

/* ---- the database ---- */

struct dfw_db;

struct dfw_imported {                   /* what programs had learned (--learn) since a dfc was here last */
    uint32_t files, samples;
    uint32_t unreadable;                /* files that are none: renamed to end in .bad */
    char failure[512];                  /* why nothing could be taken in; "" */
};
/* Opening takes it in: see runtime/start/learn.h. */
const struct dfw_imported *dfw_db_imported(const struct dfw_db *db);

/* path NULL: as above. create: makes the file, and the folders of the default place, where missing; without it a
 * file that is not there is no error: *db is NULL then, unless programs have left something to put into one. A file
 * that cannot be written is opened for reading; storing then fails. */
int dfw_db_open(const char *path, bool create, struct dfw_db **db, struct df_error *error);
void dfw_db_close(struct dfw_db *db);   /* NULL allowed */
const char *dfw_db_path(const struct dfw_db *db);

struct dfw_key {                        /* machine: this one */
    const char *device, *variant;
    struct dfr_work_key work;
};
int dfw_sample_store(struct dfw_db *db, const struct dfw_key *key, const struct dfr_sample *sample,
                     struct df_error *error);
/* Whether a kernel of this name has any sample on this machine. */
int dfw_sample_any(struct dfw_db *db, const char *kernel, bool *any, struct df_error *error);
/* Calls known() for every key that has a sample on this machine; strings are valid during the call. */
int dfw_sample_each(struct dfw_db *db, void (*known)(void *arg, const struct dfw_key *key), void *arg,
                    struct df_error *error);

struct dfw_pairs {                      /* what was measured from device to device, by unit; bytes_per_s 0: nothing */
    struct df_link link[DF_MAX_UNITS][DF_MAX_UNITS]; /* [sender][receiver] */
};

/* The latest platform stored for this machine; emulated: the one whose GPUs are the emulator's. Links between devices
 * are stored pair by pair: the units' peer links are what follows from `pairs` (NULL: none). */
int dfw_platform_store(struct dfw_db *db, const struct df_platform *platform, const struct dfw_pairs *pairs,
                       bool emulated, struct df_error *error);
int dfw_platform_load_for(struct dfw_db *db, bool emulated, struct df_platform *platform, bool *found,
                          struct df_error *error);

/* ---- this machine ---- */

#define DFW_EMULATOR DFR_KEY_EMULATOR                  /* device name of the emulated GPU in keys */

/* This machine's name in the database, e.g. "AMD EPYC 9B14 x2 + NVIDIA H200". Found once, then remembered. */
void dfw_machine_name(char *buffer, size_t size);
/* The name of its first GPU, as `dfc profile` stores its samples under; NULL: none, or libdf has no CUDA. */
const char *dfw_machine_gpu(void);
void dfw_machine_cpu(char *name, size_t size, unsigned *cores, uint64_t *memory_bytes);

/* ---- all sizes of a kernel ---- */

/* Of this machine; variant and hash as in a key. Each size's time combines its latest sample sets: sets far from the
 * others are left out, the rest weighs by its runs. */
int dfw_points_load(struct dfw_db *db, const char *device, const char *variant, const char *kernel, uint64_t hash,
                    struct dfw_points *points, struct df_error *error);

struct dfw_group {                      /* one variant of one kernel on one device; strings are valid in the call */
    const char *kernel, *device, *variant;
    uint64_t hash;
};
/* Calls found() for every group of this machine, by kernel, variant and device; the group stored last comes first
 * among those that differ by their hash alone. */
int dfw_groups_each(struct dfw_db *db, int (*found)(void *arg, const struct dfw_group *group, struct df_error *error),
                    void *arg, struct df_error *error);

/* ---- times ---- */

/* What was measured of the kernels that the graph's works are of; db NULL: nothing. Samples of class gpu are those of
 * the GPU that is named (DFW_EMULATOR, or a GPU's own name); gpu_device NULL: of this machine's GPU, or of the emulator
 * where there is none. */
int dfw_known_load(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, bool emu_all,
                   struct dfw_known *known, struct df_error *error);

/* ---- probing ---- */

/* How fast bytes of ordinary memory reach a device, by 16 MiB: bytes per second, 0: not possible here. */
struct dfw_paths {
    double pinned;                      /* host_alloc'ed all along */
    double staged;                      /* copied into such memory, then sent */
    double registered;                  /* pinned where they lie (and released again), then sent */
};

struct dfw_probe_options {
    enum df_device_kind device;         /* AUTO: cuda or none */
    const struct df_platform *emulated; /* emu: whose gpus to emulate; NULL, or it has none: the stated default's */
};

struct dfw_probe_report {
    uint32_t n_units;
    struct dfw_paths h2d[DF_MAX_UNITS], d2h[DF_MAX_UNITS]; /* index: unit */
    struct dfw_pairs pairs;
    char no_device[512];                /* why there is no GPU in the platform; "" */
};

/* Measures this machine (a few seconds). progress and report may be NULL. */
typedef void dfw_progress(void *arg, const char *what, double done_of_1);
int dfw_probe_with(const struct dfw_probe_options *options, struct df_platform *platform,
                   struct dfw_probe_report *report, dfw_progress *progress, void *arg, struct df_error *error);

/* One device that is open with a pool of at least DFW_PROBE_POOL_BYTES: its links, engines and launch overhead. */
#define DFW_PROBE_POOL_BYTES (64ull << 20)
int dfw_probe_device(const struct dfr_device_ops *ops, struct dfr_device *device, struct df_unit *unit,
                     struct dfw_paths *h2d, struct dfw_paths *d2h, dfw_progress *progress, void *arg,
                     struct df_error *error);

/* Each unit's peer link from what was measured between pairs. Units get one where all of them send to each other (the
 * largest such group of a class that is found), and so their plans never count on a link that is not there: that of
 * their fastest pair, the slower direction of it, or where that is nearer to all that was measured, of their slowest
 * pair. Where pairs take the slower of two units' links, as platform.h says, the time of each pair comes back. */
void dfw_pairs_give(const struct dfw_pairs *pairs, struct df_platform *platform);

/* Fits the model of platform.h to n >= 3 measured copies (bytes > 0 rising, seconds > 0) by robust least squares of
 * the relative error. false: too few points, or times that do not grow with size. */
bool dfw_link_fit(const uint64_t *bytes, const double *seconds, unsigned n, struct df_link *link);

/* As text in the language: what `dfc probe` prints and --platform reads. report (may be NULL) becomes comments. */
int dfw_platform_print_report(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report);

#endif
