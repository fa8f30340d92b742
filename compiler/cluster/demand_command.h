/* demand_command.h - the options, runs and output of `dfc scale --stream-policy`. scale_command.c calls it. */
#ifndef DFC_DEMAND_COMMAND_H
#define DFC_DEMAND_COMMAND_H

#include "compiler/cluster/demand_report.h"
#include "compiler/options/common.h"

enum { DFC_DEMAND_FIRES = 32 };

struct dfc_demand_options {
    bool policies[DFR_STREAM_POLICIES], given;  /* --stream-policy */
    struct { const char *stage; size_t length; double share; const char *text; } fires[DFC_DEMAND_FIRES];
    unsigned n_fires;
    unsigned long requests, most, places, homes; /* 0: not given */
    const char *sizes;
};

struct dfc_demand_asked {               /* what the other options of `dfc scale` say */
    const unsigned long *nodes;
    unsigned n_nodes;
    unsigned long waves;
    bool weak;
    enum dfr_form form;
    const char *plot;
};

/* The table that fills these options. */
extern const struct dfr_option dfc_options_demand[];
/* An option among them that was given and needs --stream-policy. NULL: none was. */
const char *dfc_demand_other(const struct dfc_demand_options *options);
/* Runs the command and returns its exit status. Modifies common->machine. */
int dfc_demand_command(const struct dfc_demand_options *options, const struct dfc_demand_asked *asked, struct dfc_common *common,
                       const struct dfc_cluster *cluster);

#endif
