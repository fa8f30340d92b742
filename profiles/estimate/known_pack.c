/* known_pack.c - serialises measurements for a program's image (compiler/build/build_program.c), and reads them back in the program
 * (front/replan.c).
 *
 * Format:   "DFTIME1\0"; flags (1: emulated, 2: emu_all, 4: some point has a bandwidth demand, 8: the machine is
 *           known, 16: a device of another class follows); with flag 8 the machine's figures of the cpu and of the
 *           device; the number of kernels. For each kernel its name, then for the cpu and for the device the number of
 *           points and the points. A point is dims, scalars, bytes and mean, and with flag 4 its demand and
 *           sensitivity. With flag 16 then the name of the other class, and all of this of it, from the flags on.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/estimate/known.h"
#include "runtime/base/bytes.h"
#include "runtime/base/error.h"

static const unsigned char magic[DFR_BYTES_MAGIC] = "DFTIME1";

enum { EMULATED = 1, EMU_ALL = 2, DEMANDS = 4, MACHINE = 8, OTHER = 16 };

/* ---- writing ---- */

static bool any_demand(const struct dfw_known *known)
{
    for (uint32_t k = 0; k < known->n_kernels; k++)
        for (int cls = 0; cls < 2; cls++)
            for (uint32_t i = 0; i < known->kernels[k].of[cls].n; i++)
                if (known->kernels[k].of[cls].at[i].demand.sensitivity > 0)
                    return true;
    return false;
}

static void put_points(struct dfr_bytes_writer *w, const struct dfw_points *points, bool demands)
{
    dfr_bytes_put_number(w, points->n);
    for (uint32_t i = 0; i < points->n; i++) {
        const struct dfw_point *p = &points->at[i];
        dfr_bytes_put_text(w, p->dims, strlen(p->dims));
        dfr_bytes_put_text(w, p->scalars, strlen(p->scalars));
        dfr_bytes_put_number(w, p->job_bytes);
        dfr_bytes_put_real(w, p->mean_s);
        if (demands) {
            dfr_bytes_put_real(w, p->demand.bytes_per_s);
            dfr_bytes_put_real(w, p->demand.sensitivity);
        }
    }
}

static bool has_machine(const struct dfw_known *known)
{
    return known->machine[0].figures.flops[0] > 0 || known->machine[1].figures.flops[0] > 0;
}

/* All of them are reals. */
static void put_machine(struct dfr_bytes_writer *w, const struct dfw_machine *machine)
{
    const struct df_figures *f = &machine->figures;
    dfr_bytes_put_real(w, machine->bytes_per_s);
    for (unsigned i = 0; i < DF_BANDWIDTHS; i++)
        dfr_bytes_put_real(w, f->bytes_per_s[i]);
    for (unsigned i = 0; i < 2; i++) {
        dfr_bytes_put_real(w, f->flops[i]);
        dfr_bytes_put_real(w, f->random_s[i]);
        dfr_bytes_put_real(w, f->atomic_s[i]);
    }
}

static void put_all(struct dfr_bytes_writer *w, const struct dfw_known *known)
{
    bool demands = any_demand(known);
    dfr_bytes_put_number(w, (known->emulated ? EMULATED : 0) | (known->emu_all ? EMU_ALL : 0) |
                                (demands ? DEMANDS : 0) | (has_machine(known) ? MACHINE : 0) |
                                (known->other ? OTHER : 0));
    for (int cls = 0; cls < 2 && has_machine(known); cls++)
        put_machine(w, &known->machine[cls]);
    dfr_bytes_put_number(w, known->n_kernels);
    for (uint32_t k = 0; k < known->n_kernels; k++) {
        const struct dfw_kernel_points *points = &known->kernels[k];
        dfr_bytes_put_text(w, points->kernel, strlen(points->kernel));
        put_points(w, &points->of[0], demands);
        put_points(w, &points->of[1], demands);
    }
    if (known->other) {
        dfr_bytes_put_text(w, known->other->cls, strlen(known->other->cls));
        put_all(w, known->other);
    }
}

int dfw_known_pack(const struct dfw_known *known, unsigned char **bytes, size_t *size, struct df_error *error)
{
    struct dfr_bytes_writer count = { NULL, 0 };
    dfr_bytes_put(&count, magic, sizeof magic);
    put_all(&count, known);
    struct dfr_bytes_writer fill = { malloc(count.n), 0 };
    if (!fill.to)
        return dfr_error_memory(error);
    dfr_bytes_put(&fill, magic, sizeof magic);
    put_all(&fill, known);
    *bytes = fill.to;
    *size = fill.n;
    return DF_OK;
}

/* ---- reading ---- */

#define LEAST_KERNEL_BYTES 25           /* a text and two numbers */
#define LEAST_POINT_BYTES 34            /* two texts and two numbers */

/* Reads a number of things, each of which takes at least so many bytes. */
static uint32_t get_count(struct dfr_bytes_reader *r, size_t least_bytes)
{
    uint64_t n = dfr_bytes_get_number(r);
    r->ok = r->ok && n < UINT32_MAX && n <= r->left / least_bytes;
    return r->ok ? (uint32_t)n : 0;
}

static struct df_demand get_demand(struct dfr_bytes_reader *r)
{
    struct df_demand d;
    d.bytes_per_s = dfr_bytes_get_real(r);
    d.sensitivity = dfr_bytes_get_real(r);
    r->ok = r->ok && d.bytes_per_s >= 0 && d.bytes_per_s <= DF_MOST_RATE && d.sensitivity >= 0 && d.sensitivity <= 1;
    return d;
}

static void get_machine(struct dfr_bytes_reader *r, struct dfw_machine *machine)
{
    struct df_figures *f = &machine->figures;
    machine->bytes_per_s = dfr_bytes_get_real(r);
    for (unsigned i = 0; i < DF_BANDWIDTHS; i++)
        f->bytes_per_s[i] = dfr_bytes_get_real(r);
    for (unsigned i = 0; i < 2; i++) {
        f->flops[i] = dfr_bytes_get_real(r);
        f->random_s[i] = dfr_bytes_get_real(r);
        f->atomic_s[i] = dfr_bytes_get_real(r);
    }
    r->ok = r->ok && df_figures_usable(f) && machine->bytes_per_s >= 0 && machine->bytes_per_s <= DF_MOST_RATE;
}

/* false: no memory. All other failures are told by r->ok. */
static bool get_points(struct dfr_bytes_reader *r, struct dfw_points *points, bool demands)
{
    uint32_t n = get_count(r, LEAST_POINT_BYTES);
    if (!n)
        return true;
    if (!(points->at = calloc(n, sizeof *points->at)))
        return false;
    for (; points->n < n && r->ok; points->n++) {
        struct dfw_point *p = &points->at[points->n];
        p->dims = strdup(dfr_bytes_get_text(r, NULL));
        p->scalars = strdup(dfr_bytes_get_text(r, NULL));
        p->job_bytes = dfr_bytes_get_number(r);
        p->mean_s = dfr_bytes_get_real(r);
        if (demands)
            p->demand = get_demand(r);
        if (!p->dims || !p->scalars) {
            points->n++;
            return false;
        }
        r->ok = r->ok && p->mean_s >= 0 && p->mean_s < DF_LIMIT_JOB_S &&
                (!points->n || dfw_point_compare(p - 1, p) < 0);
    }
    return true;
}

static bool get_kernels(struct dfr_bytes_reader *r, struct dfw_known *known, bool demands)
{
    uint32_t n = get_count(r, LEAST_KERNEL_BYTES);
    known->kernels = calloc((size_t)n + 1, sizeof *known->kernels);
    if (!known->kernels)
        return false;
    for (; known->n_kernels < n && r->ok; known->n_kernels++) {
        struct dfw_kernel_points *points = &known->kernels[known->n_kernels];
        points->kernel = strdup(dfr_bytes_get_text(r, NULL));
        if (!points->kernel || !get_points(r, &points->of[0], demands) || !get_points(r, &points->of[1], demands)) {
            known->n_kernels++;
            return false;
        }
    }
    return true;
}

/* Reads it all; `other`: what has no further one. false: no memory. */
static bool get_all(struct dfr_bytes_reader *r, struct dfw_known *known, bool other)
{
    const uint64_t flags = dfr_bytes_get_number(r);
    r->ok = r->ok && flags <= (EMULATED | EMU_ALL | DEMANDS | MACHINE | (other ? 0 : OTHER));
    if (!r->ok)
        return true;
    known->emulated = flags & EMULATED;
    known->emu_all = flags & EMU_ALL;
    for (int i = 0; i < 2 && flags & MACHINE; i++)
        get_machine(r, &known->machine[i]);
    if (!get_kernels(r, known, flags & DEMANDS))
        return false;
    if (!(flags & OTHER) || !r->ok)
        return true;
    if (!(known->other = calloc(1, sizeof *known->other)))
        return false;
    const char *cls = dfr_bytes_get_text(r, NULL);
    r->ok = r->ok && *cls && strlen(cls) < sizeof known->other->cls;
    if (r->ok)
        strcpy(known->other->cls, cls);
    return !r->ok || get_all(r, known->other, true);
}

int dfw_known_open(const unsigned char *bytes, size_t size, struct dfw_known *known, struct df_error *error)
{
    struct dfr_bytes_reader r = dfr_bytes_read(bytes, size, magic);
    struct dfw_known made = { .other = NULL };
    bool memory = get_all(&r, &made, false);
    if (memory && r.ok && !r.left) {
        *known = made;
        return DF_OK;
    }
    dfw_known_free(&made);
    return memory ? dfr_error(error, DF_E_FORMAT, "the program's measured times cannot be read")
                  : dfr_error_memory(error);
}
