/* common.h - the options that all commands for graphs share. The commands in compiler/commands/ and compiler/cluster/
 * parse their command lines with it. */
#ifndef DFC_COMMON_H
#define DFC_COMMON_H

#include "compiler/load/load.h"
#include "compiler/options/option.h"
#include "runtime/base/report_table.h"

/* The table of these options, which fills a struct dfc_common. */
extern const struct dfr_option dfc_options_common[];

/* --format, for commands that can print in several forms: those of `forms`. The field is an enum dfr_form. */
#define DFC_OPTION_FORMAT(forms, struct_, field, text) { "--format", forms, text, DFR_FIELD(WORD, struct_, field) }
/* Options that several commands have, of a request that begins with the struct dfc_common. */
#define DFC_OPTION_WAVES { "--waves", "N", "plan for runs of so many waves (one, or many if the graph has streams or accs)", \
    DFR_COUNT(struct dfc_common, waves, 1, UINT32_MAX) }
#define DFC_OPTION_GRAPH { "--graph", "NAME:DIM=SIZE,…", "a graph with ports in place of main, for these sizes; its inputs are there at the start", \
    DFR_FIELD(TEXT, struct dfc_common, graph) }
#define DFC_OPTION_LOCK { "--lock", "FILE", "keep the plan of this lock file, which 'dfc plan' wrote: the same units and priorities, and no search", \
    DFR_FIELD(NAME, struct dfc_common, lock) }
#define DFC_OPTION_OUTPUT(text) { "-o", "FILE", text, DFR_FIELD(NAME, struct dfc_common, output) }
#define DFC_OPTION_POLICY(value, text) { "--policy", value, text, DFR_FIELD(NAME, struct dfc_common, policy) }
#define DFC_OPTION_PLATFORM(text) { "--platform", "FILE", text, DFR_FIELD(NAME, struct dfc_common, platform) }
/* A sentence about an option's value that dfc_error() has reported. */
#define DFC_REPORTED(good) ((good) ? DF_OK : DF_E_ARGUMENT)

/* Several policies. */
enum { DFC_MOST_POLICIES = 32 };
struct dfc_policies {
    const char *names[DFC_MOST_POLICIES];
    unsigned n;
    bool all;                           /* "all" was named */
};
/* Reads "gp,dmda" or "all", what --policy says. `also`: another name that may stand there; NULL: there is none. once: a policy that is named twice is taken
 * once. false: reported. */
bool dfc_policies_read(struct dfc_policies *policies, const char *text, const char *also, bool once);
/* Does this policy place nodes before the run? NULL is the default one, which does. false: reported. */
bool dfc_policy_places(const char *policy);
/* --policy and --lock exclude each other: false, reported, if both are given. */
bool dfc_policy_or_lock(const struct dfc_common *common);
/* Reads the whole command line of a command for one graph. Its request begins with `common`. Returns 0, or 2 for a usage error (reported). */
int dfc_parse_options(const struct dfc_command *command, int argc, char **argv, struct dfc_common *common);
/* dfp_options.budget, "N|Nx". */
dfr_set_option dfc_set_budget;
void dfc_common_free(struct dfc_common *common);

#endif
