/* partition.c - the table of partitioners. A new one is a file of its own and a line here. */
#include <string.h>

#include "partition/model/model.h"

const struct dfp_partitioner *const dfp_partitioners[] = {
    &dfp_partitioner_gp,
    &dfp_partitioner_gp_thesis,
    &dfp_partitioner_heft,
    &dfp_partitioner_peft,
    &dfp_partitioner_all_cpu,
    &dfp_partitioner_all_gpu,
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
