/* placers.c - the table of partitioners, gp and those that DFP_OTHER_PARTITIONERS of partition/model/model.h lists, and the default options; make_plan.c and the
 * commands look policies up in it.
 */
#include <string.h>

#include "partition/model/model.h"

const struct dfp_partitioner *const dfp_partitioners[] = {
    &dfp_partitioner_gp,
    DFP_OTHER_PARTITIONERS,
    NULL,
};

const struct dfp_partitioner *dfp_partitioner_find(const char *name)
{
    for (size_t i = 0; dfp_partitioners[i]; i++)
        if (!strcmp(dfp_partitioners[i]->name, name))
            return dfp_partitioners[i];
    return NULL;
}

void dfp_options_default(struct dfp_options *options)
{
    *options = (struct dfp_options){ .ratio = DFP_RATIO_TOTAL, .vertex_weight = DFP_WEIGHT_GPU, .seed = 1 };
}
