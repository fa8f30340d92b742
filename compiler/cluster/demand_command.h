/* demand_command.h - the part of `dfc scale` that --stream-policy asks for: its options, its runs, its output. */
#ifndef DFC_DEMAND_COMMAND_H
#define DFC_DEMAND_COMMAND_H

#include "compiler/cluster/demand_report.h"
#include "compiler/options/common.h"

enum { DFC_DEMAND_FIRES = 32 };

struct dfc_demand_options {
    bool policies[DFR_STREAM_POLICIES], given;  /* --stream-policy */
    struct { const char *stage; size_t length; double share; const char *text; } fires[DFC_DEMAND_FIRES];
    unsigned n_fires;
    unsigned long requests;             /* 0: the best is looked for */
    unsigned long most, places, homes;
    const char *sizes, *other;          /* files; `other`: an option that was given and needs --stream-policy */
};

struct dfc_demand_asked {               /* what the other options of `dfc scale` say */
    const unsigned long *nodes;
    unsigned n_nodes;
    unsigned long waves;
    bool weak;
    enum dfc_form form;
    const char *plot;
};

void dfc_demand_defaults(struct dfc_demand_options *options);
/* Gives 1, 0 and -1 as dfc_common_option() does. */
int dfc_demand_option(struct dfc_demand_options *options, int argc, char **argv, int *i);
/* Gives the exit status. The common options are those of the command; `machine` is changed. */
int dfc_demand_command(const struct dfc_demand_options *options, const struct dfc_demand_asked *asked, struct dfc_common *common,
                       const struct dfc_cluster *cluster);

#endif
