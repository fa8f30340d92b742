/* db_rig.h - what the tests of the profile database ask it: one key's samples, and the times of a graph. */
#ifndef DB_RIG_H
#define DB_RIG_H

#include "profiles/profiles.h"

/* Gives the latest sample sets of one key, combined as dfw_points_load() combines them. Fails the test if that function
 * gives another time for the key. If there are no samples: DF_OK, and *found is false. If the file cannot be read:
 * DF_E_IO. */
int load_sample(struct dfw_db *db, const struct dfw_key *key, struct dfr_sample *sample, bool *found,
                struct df_error *error);

/* Gives the times of the graph's works, made as dfc makes them from what the database knows. db may be NULL. */
int times_from_db(struct dfw_db *db, const struct df_graph *graph, const char *gpu_device, struct df_times *times);

#endif
