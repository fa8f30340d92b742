/* db_rig.h - what the tests of the profile database ask it: one key's samples, and the times of a graph. */
#ifndef DB_RIG_H
#define DB_RIG_H

#include "profiles/profiles.h"

/* The latest sample sets of one key, combined as dfw_points_load() combines them: its time is compared with what that
 * function gives for the key. DF_OK and *found false if there is none; DF_E_IO if the file cannot be read. */
int load_sample(struct dfw_db *db, const struct dfw_key *key, struct dfr_sample *sample, bool *found,
                struct df_error *error);

/* The times of the graph's works by what the database knows of its kernels, as dfc takes them; db may be NULL. */
int times_from_db(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, struct df_times *times);

#endif
