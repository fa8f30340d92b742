/* profiles.h - public header of profiles/, which knows how long works take on this machine and what the machine is.
 *
 * The room knows runtime/, but neither planners nor the compiler. profiles/estimate predicts times of works that were
 * never measured, profiles/db is the database of samples, profiles/probe measures the machine. Only profiles/estimate
 * is linked into programs: a program carries the times known when it was built, and with dynamic params also what
 * profiles/estimate/known.h needs for other sizes. The rest needs SQLite and is linked only into dfc.
 *
 * Words:    a *sample set* is the outcome of measuring one variant of one work once: a robust mean, its confidence
 *           interval, and the number of runs. A *point* is one measured size of one variant (profiles/estimate/known.h).
 * Database: one SQLite file: $DFC_PROFILE, else $XDG_DATA_HOME/dfc/profile.db, else ~/.local/share/dfc/profile.db.
 *           Without HOME it is dfc-UID/profile.db in $TMPDIR, or in /tmp. That folder is created with mode 0700; it is
 *           rejected if it is a symbolic link, owned by another user, or writable by others.
 * Sharing:  the file has a write-ahead log, and each sample set is one transaction, so concurrent writers lose nothing.
 *           A lock of another program is waited for at most 10 s; after 1 s a line on stderr says so. Sets are never
 *           overwritten; loading combines the latest ones of a key.
 * Learned:  a program that runs with --learn leaves a file in a folder named like the database with ".learned"
 *           appended. The next command that opens the database imports it.
 * Key:      machine (CPU model, cores, GPUs), device name ("cpu", "emu", or a GPU's own), variant ("cpu", "gpu"),
 *           kernel, dimensions and scalars, and a hash of the variant's source. An edited kernel has another hash, so
 *           it is measured again.
 * Errors:   DF_E_IO with the path and SQLite's own message. If the database cannot be opened, `-o` and `partition` warn
 *           and use the stated default; `profile` and `probe` fail.
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

struct dfw_imported {                   /* what was taken in that programs had learned (--learn) */
    uint32_t files, samples, rates;
    uint32_t unreadable;                /* files that could not be read: they were renamed to end in .bad */
    char why[320];                      /* about the first of these: its name, the line and the field */
    char failure[512];                  /* why nothing could be taken in; "": no failure */
};
/* What dfw_db_open() took in; see runtime/start/learn.h. */
const struct dfw_imported *dfw_db_imported(const struct dfw_db *db);

/* Implausible rows are skipped: times that are not positive and finite, no runs, negative bytes. Returns a description of the first
 * one found: "a sample of kernel 'f' has the runs '-1'"; "" if there was none. */
const char *dfw_db_senseless(const struct dfw_db *db);

/* path NULL: the default location above. With `create`, a missing file is created, and so are missing folders of the
 * default location. Without it, a missing file is no error: *db is NULL then, unless programs have left samples to put
 * into a database. A read-only file is opened for reading, and storing then fails. */
int dfw_db_open(const char *path, bool create, struct dfw_db **db, struct df_error *error);
void dfw_db_close(struct dfw_db *db);   /* NULL allowed */
const char *dfw_db_path(const struct dfw_db *db);

struct dfw_key {                        /* the machine is this one */
    const char *device, *variant;
    struct dfr_work_key work;
    bool loaded;                        /* given by dfw_sample_each(): it was measured under load, too */
};
int dfw_sample_store(struct dfw_db *db, const struct dfw_key *key, const struct dfr_sample *sample,
                     struct df_error *error);
/* The same with what was measured under load. If load->self_s is NaN, the sample itself was taken in a run of
 * load->workers. */
int dfw_sample_store_loaded(struct dfw_db *db, const struct dfw_key *key, const struct dfr_sample *sample,
                            const struct dfr_load *load, struct df_error *error);
/* Whether a kernel of this name has any sample on this machine. */
int dfw_sample_any(struct dfw_db *db, const char *kernel, bool *any, struct df_error *error);
/* Calls known() for every key that has a sample on this machine; strings are valid during the call. */
int dfw_sample_each(struct dfw_db *db, void (*known)(void *arg, const struct dfw_key *key), void *arg,
                    struct df_error *error);

struct dfw_pairs {                      /* links measured from device to device; bytes_per_s 0: not measured */
    struct df_link link[DF_MAX_UNITS][DF_MAX_UNITS]; /* [sender][receiver] */
};

/* How fast a unit is by so many threads, as the PAMS paper characterises its devices (section 5: STREAM, random access,
 * atomic access). All are counts per second: bytes, as STREAM counts them; operations; reads of 8 bytes; updates. */
enum dfw_figure {
    DFW_COPY, DFW_SCALE, DFW_ADD, DFW_TRIAD,    /* STREAM, with f64 */
    DFW_FLOPS_F32, DFW_FLOPS_F64,               /* chains of a multiplication and an addition that are not contracted */
    DFW_DEPENDENT, DFW_RANDOM,                  /* reads somewhere in memory: the address follows from the read before; or not */
    DFW_SHARED, DFW_SPREAD,                     /* atomic additions: to one place; or to one for each thread */
    DFW_FIGURES
};
/* "triad", "f32", …: the names in tables and in the database. */
extern const char *const dfw_figure_names[DFW_FIGURES];

#define DFW_MOST_COUNTS 10              /* 1, 2, 4, … 256 threads, and all */
struct dfw_figures {                    /* of one unit */
    uint32_t n;                         /* numbers of threads for which it was measured; 0: it was not */
    uint32_t threads[DFW_MOST_COUNTS];  /* rising; the last is all of them. A device: 1, which stands for the whole of it */
    double per_s[DFW_MOST_COUNTS][DFW_FIGURES]; /* 0: not measured */
    uint64_t array_bytes;               /* of each of STREAM's three arrays; reads are somewhere in one of them */
    uint64_t cache_bytes;               /* of the last cache, where all of them are one; 0: not known */
};
/* Copies to a unit the figures that estimates use. Nothing changes if n is 0. */
void dfw_figures_give(const struct dfw_figures *figures, struct df_unit *unit);

/* Stores a platform of this machine; loads the latest one. The loaded one has the bandwidth of the host that was measured
 * last, by the probe or with a kernel under load. devices: whose the platform's GPUs are. Links
 * between devices are stored pair by pair, and the units' peer links follow from these pairs. figures: by unit; the
 * units' figures follow from them. pairs or figures NULL: there are none. */
enum dfw_devices { DFW_OWN, DFW_EMULATED, DFW_OPENCL }; /* the machine's, the emulator's, OpenCL's; as the database has it */
/* Those of `--device`, bit d for devices d: several for a list. The first of them are of class gpu. */
uint32_t dfw_devices_of(const char *device);
/* The device name of the first one's samples: NULL for the machine's GPU, and if there is none. */
const char *dfw_devices_name(enum dfw_devices devices);
int dfw_platform_store(struct dfw_db *db, const struct df_platform *platform, const struct dfw_pairs *pairs,
                       const struct dfw_figures *figures, enum dfw_devices devices, struct df_error *error);
int dfw_platform_load_for(struct dfw_db *db, enum dfw_devices devices, struct df_platform *platform, bool *found,
                          struct df_error *error);

/* ---- rates ---- */

/* Which nodes of a program do not fire in each wave, by its latest run with --learn, in the order of strcmp(). */
struct dfw_rates {
    uint32_t waves;                     /* that the run had; 0: there was none. Of nodes it may be an earlier run, if this one had passes */
    size_t n;
    struct dfw_rate {
        char *node;
        float rate;
    } *items;
};
/* db NULL: nothing was learnt. *rates is freed by dfw_rates_free(). */
int dfw_rates_load(struct dfw_db *db, const struct df_graph *graph, struct dfw_rates *rates, struct df_error *error);
void dfw_rates_free(struct dfw_rates *rates);
/* 0: none was learnt. */
float dfw_rate_of(const struct dfw_rates *rates, const struct df_graph *graph, uint32_t node);
/* Sets the firing rates of nodes without @rate: learnt, or inherited from their inputs. */
int dfw_rates_give(const struct dfw_rates *rates, struct df_graph *graph, struct df_error *error);

/* ---- this machine ---- */

#define DFW_EMULATOR DFR_KEY_EMULATOR                  /* device name of the emulated GPU in keys */

/* This machine's name in the database, for example "AMD EPYC 9B14 x2 + NVIDIA H200". It is found once, then
 * remembered. */
void dfw_machine_name(char *buffer, size_t size);
/* The name of its first GPU, which is the device name of that GPU's samples. NULL: no GPU, or no back end for one. */
const char *dfw_machine_gpu(void);
void dfw_machine_cpu(char *name, size_t size, unsigned *cores, uint64_t *memory_bytes);

/* ---- all sizes of a kernel ---- */

/* Loads all points of one variant of a kernel on this machine; variant and hash are as in a key. The time of a point
 * combines its latest sample sets: sets that are far from the others are left out, and the rest is weighted by runs. If
 * a demand follows from what was measured under load, the time is that of the sets that were taken alone. */
int dfw_points_load(struct dfw_db *db, const char *device, const char *variant, const char *kernel, uint64_t hash,
                    struct dfw_points *points, struct df_error *error);

struct dfw_group {                      /* one variant of one kernel on one device; strings are valid during the call */
    const char *kernel, *device, *variant;
    uint64_t hash;
};
/* Calls found() for every group of this machine, in order of kernel, variant and device. Of groups that differ only by
 * their hash, the one that was stored last comes first. */
int dfw_groups_each(struct dfw_db *db, int (*found)(void *arg, const struct dfw_group *group, struct df_error *error),
                    void *arg, struct df_error *error);

/* ---- demand ---- */

/* Slowdown of a job under load, relative to running alone: `workers` in total run, the others the same kernel (self) or STREAM's triad. */
struct dfw_slowdown {
    uint32_t workers;
    double self, triad;                 /* NaN: not measured, as is self of a kernel that never runs beside itself */
    double triads;                      /* the demand of the other workers' triads, as a fraction of the bandwidth */
};
/* Finds demand and sensitivity by the model of simulate.h. With demand x, in shares of the bandwidth, N workers, and y
 * asked for by the triads: self = 1 + s max(0, N x - 1) and triad = 1 + s max(0, x + y - 1). Less than 5 % is no
 * slowdown. What two numbers leave open is decided so: s is 1 if it would be more, or if triad is not known; x is at
 * most 1, because one job has no more than all. false: nothing slows it. */
bool dfw_demand_fit(const struct dfw_slowdown *slowdown, double bytes_per_s, struct df_demand *demand);

/* ---- times ---- */

/* Loads what was measured of the kernels of the graph's works; db NULL: nothing was. dfw_known_times() gives the times
 * that follow from it. Samples of class gpu are those of the named GPU (DFW_EMULATOR, or a GPU's own name). gpu_device
 * NULL: those of this machine's first GPU; without one those of the emulator if emu_all asks for it, else none. */
int dfw_known_load(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, bool emu_all,
                   struct dfw_known *known, struct df_error *error);

/* ---- probing ---- */

/* How fast bytes of host memory reach a device, or come from it, in bytes per second, measured with 16 MiB, or less if the
 * device has little memory, as a run copies them: pinned memory was pinned before the first copy. 0: not possible here. */
struct dfw_paths {
    double pinned;                      /* memory that host_alloc gave */
    double staged;                      /* ordinary memory, through the ring of memmgr/staging.h */
    double registered;                  /* ordinary memory that was pinned in its place */
    double pinning;                     /* pinning it there and undoing that, which a run does once */
    uint64_t bytes;                     /* of a copy */
};

struct dfw_probe_options {
    enum df_device_kind device;         /* AUTO: the first real back end with devices, or none */
    const struct df_platform *emulated; /* emu: the platform whose gpus it emulates; NULL, or none: the default's */
    bool quick;                         /* measures each thing for a quarter of the usual time, so less exactly */
    uint64_t array_bytes;               /* of STREAM's arrays on the host; 0: by STREAM's rule */
};
#define DFW_FIGURES_S 1.5               /* what the figures of the host take */
#define DFW_DEVICE_FIGURES_S 0.8        /* and those of a device */

struct dfw_probe_report {
    uint32_t n_units;
    struct dfw_paths h2d[DF_MAX_UNITS], d2h[DF_MAX_UNITS]; /* index: unit */
    struct dfw_pairs pairs;
    struct dfw_figures figures[DF_MAX_UNITS]; /* n 0: not measured, as of an emulated device: it computes on the host's
                                               * cores */
    char no_figures[DF_MAX_UNITS][256]; /* why a device has none; "": it has, or is emulated */
    char no_device[512];                /* why there is no GPU in the platform; "": there is one */
};

/* Measures this machine, which takes a few seconds. progress and report may be NULL. */
typedef void dfw_progress(void *arg, const char *what, double done_of_1);
int dfw_probe_with(const struct dfw_probe_options *options, struct df_platform *platform,
                   struct dfw_probe_report *report, dfw_progress *progress, void *arg, struct df_error *error);

/* Measures a device's links, engines and launch overhead. It is open, with a pool of so many bytes, a power of two: at
 * most DFW_PROBE_POOL_BYTES, and at least DFW_LEAST_POOL_BYTES. No copy is larger. */
#define DFW_PROBE_POOL_BYTES (64ull << 20)
#define DFW_LEAST_POOL_BYTES (1ull << 20)
int dfw_probe_device(const struct dfr_device_ops *ops, struct dfr_device *device, struct df_unit *unit,
                     uint64_t pool_bytes, bool quick, struct dfw_paths *h2d, struct dfw_paths *d2h, dfw_progress *progress, void *arg,
                     struct df_error *error);

/* Derives the peer links of units from the links measured between pairs. Only a group of units of one class that all send
 * to each other gets links: the largest such group that is found. So plans never count on a link that is not there. A
 * unit's link is that of its fastest pair, in the slower direction of it. For all units it is that of the slowest pair
 * instead if that is nearer to all that was measured. If each pair really takes the slower of its units' links, as
 * platform.h says, the platform gives exactly the measured times. */
void dfw_pairs_give(const struct dfw_pairs *pairs, struct df_platform *platform);

/* Prints the figures of the report: as a table in lines of comment of the language, as lines of CSV below a line of names,
 * or as one JSON object. Of an emulated device it is said that it shares the host's. DF_E_IO: writing
 * failed. */
int dfw_figures_print_text(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report);
int dfw_figures_print_csv(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report);
int dfw_figures_print_json(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report);

/* Fits the link model of platform.h to n >= 3 measured copies by robust least squares of the relative error. bytes[] >
 * 0 rises, seconds[] > 0. false: there are too few copies, or times do not grow with size. */
bool dfw_link_fit(const uint64_t *bytes, const double *seconds, unsigned n, struct df_link *link);

/* Prints the platform in the language, as `dfc probe` does and as --platform reads it. The report becomes comments; it
 * may be NULL. DF_E_IO: writing failed. */
int dfw_platform_print_report(FILE *out, const struct df_platform *platform, const struct dfw_probe_report *report);

#endif
