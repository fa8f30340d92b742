/* units.c - units of measure, for fold.c and for the values of platforms: the grammar accepts any name, and this table
 * defines those that exist. kB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of 1024.
 */
#include <string.h>

#include "compiler/types/frontend.h"

static const struct {
    enum dfc_unit_kind kind;
    double factor;
} units[] = {
    { DFC_UNIT_TIME, 1.0 },                             /* s */
    { DFC_UNIT_TIME, 1e-3 },
    { DFC_UNIT_TIME, 1e-6 },
    { DFC_UNIT_TIME, 1e-9 },
    { DFC_UNIT_BYTES, 1.0 },                            /* B */
    { DFC_UNIT_BYTES, 1e3 },
    { DFC_UNIT_BYTES, 1e6 },
    { DFC_UNIT_BYTES, 1e9 },
    { DFC_UNIT_BYTES, 1e12 },
    { DFC_UNIT_BYTES, 1024.0 },
    { DFC_UNIT_BYTES, 1024.0 * 1024 },
    { DFC_UNIT_BYTES, 1024.0 * 1024 * 1024 },
    { DFC_UNIT_BYTES, 1024.0 * 1024 * 1024 * 1024 },
};

const char *const dfc_unit_names[] = { "s", "ms", "us", "ns", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB" };
const size_t dfc_unit_n_names = sizeof dfc_unit_names / sizeof dfc_unit_names[0];
_Static_assert(sizeof dfc_unit_names / sizeof dfc_unit_names[0] == sizeof units / sizeof units[0], "one name per unit");

bool dfc_unit_find(const char *name, enum dfc_unit_kind *kind, double *factor)
{
    for (size_t i = 0; i < dfc_unit_n_names; i++)
        if (strcmp(dfc_unit_names[i], name) == 0) {
            *kind = units[i].kind;
            *factor = units[i].factor;
            return true;
        }
    return false;
}
