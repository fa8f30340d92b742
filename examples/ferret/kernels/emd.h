/* emd.h - the earth mover's distance of two sets of regions (Rubner et al., IJCV 2000), exact.
 *
 * Problem:  n supplies and m demands with the same sum, and what a unit costs from i to j. What do the cheapest moves cost?
 * Method:   Successive shortest paths: from each supply in turn along a path of least reduced cost to a demand that is not yet met. u and v
 *           are the potentials of rows and columns: cost - u - v is 0 where something flows, and never negative. What a column gets
 *           comes from several rows, and each of them may send its part elsewhere instead.
 * Numbers:  All are integers, so CPUs and GPUs have the same bits. Costs are below 2^20, sums of supplies at most 2^16.
 */
#ifndef FERRET_EMD_H
#define FERRET_EMD_H

#include "region.h"

enum { EMD_FAR = 1 << 30,
       EMD_UNIT = 1 << 16,              /* the cost of 1, and the sum of supplies */
       EMD_MOST = 4 };                  /* regions that are further apart than this are as far apart as can be */

struct emd {
    int n, m;
    int32_t cost[MOST_CLUSTERS][MOST_CLUSTERS], flow[MOST_CLUSTERS][MOST_CLUSTERS];
    int32_t supply[MOST_CLUSTERS], demand[MOST_CLUSTERS]; /* what is left of them */
    int32_t u[MOST_CLUSTERS], v[MOST_CLUSTERS];
    int32_t to_row[MOST_CLUSTERS], to_column[MOST_CLUSTERS]; /* lengths of shortest paths */
    int by_row[MOST_CLUSTERS];          /* of a column: the row before it on the path */
    int by_column[MOST_CLUSTERS];       /* of a row: the column before it; -1: it is the source, -2: it was not reached */
};

ON_BOTH void emd_relax(struct emd *e, int row)
{
    const int32_t base = e->to_row[row] - e->u[row];
    for (int j = 0; j < e->m; j++) {
        const int32_t d = base + e->cost[row][j] - e->v[j];
        const int nearer = d < e->to_column[j];
        e->to_column[j] = nearer ? d : e->to_column[j];
        e->by_row[j] = nearer ? row : e->by_row[j];
    }
}

/* The next column that a shortest path ends in. */
ON_BOTH int emd_nearest(const struct emd *e, uint64_t done)
{
    int32_t least = EMD_FAR;
    int at = 0;
    for (int j = 0; j < e->m; j++)
        if (!(done >> j & 1) && e->to_column[j] < least) {
            least = e->to_column[j];
            at = j;
        }
    return at;
}

/* Finds the shortest path from a row to a column whose demand is not met, and changes the potentials. Gives the column. */
ON_BOTH int emd_path(struct emd *e, int source)
{
    uint64_t done = 0;
    int at;
    for (int i = 0; i < e->n; i++)
        e->by_column[i] = -2;
    for (int j = 0; j < e->m; j++)
        e->to_column[j] = EMD_FAR;
    e->by_column[source] = -1;
    e->to_row[source] = 0;
    emd_relax(e, source);
    while (at = emd_nearest(e, done), e->demand[at] == 0) {
        done |= (uint64_t)1 << at;
        for (int i = 0; i < e->n; i++)
            if (e->by_column[i] == -2 && e->flow[i][at] > 0) {
                e->by_column[i] = at;
                e->to_row[i] = e->to_column[at];
                emd_relax(e, i);
            }
    }
    const int32_t length = e->to_column[at];
    for (int i = 0; i < e->n; i++)
        if (e->by_column[i] != -2)
            e->u[i] += length - e->to_row[i];
    for (int j = 0; j < e->m; j++)
        if (done >> j & 1)
            e->v[j] -= length - e->to_column[j];
    return at;
}

/* Sends along the path to a column as much as goes. */
ON_BOTH void emd_send(struct emd *e, int source, int column)
{
    int32_t much = e->supply[source] < e->demand[column] ? e->supply[source] : e->demand[column];
    for (int j = column, i = e->by_row[j]; i != source; i = e->by_row[j]) {
        j = e->by_column[i];
        much = e->flow[i][j] < much ? e->flow[i][j] : much;
    }
    e->supply[source] -= much;
    e->demand[column] -= much;
    for (int j = column;;) {
        const int i = e->by_row[j];
        e->flow[i][j] += much;
        if (i == source)
            return;
        j = e->by_column[i];
        e->flow[i][j] -= much;
    }
}

/* n, m, cost, supply and demand are set; the last two have the same sum. What the moves cost. */
ON_BOTH int64_t emd_solve(struct emd *e)
{
    int64_t sum = 0;
    for (int j = 0; j < e->m; j++)
        e->v[j] = 0;
    for (int i = 0; i < e->n; i++) {
        e->u[i] = EMD_FAR;
        for (int j = 0; j < e->m; j++) {
            e->u[i] = e->cost[i][j] < e->u[i] ? e->cost[i][j] : e->u[i];
            e->flow[i][j] = 0;
        }
    }
    for (int i = 0; i < e->n; i++)
        while (e->supply[i] > 0)
            emd_send(e, i, emd_path(e, i));
    for (int i = 0; i < e->n; i++)
        for (int j = 0; j < e->m; j++)
            sum += (int64_t)e->flow[i][j] * e->cost[i][j];
    return sum;
}

/* How far two regions are apart: the sum of the differences of their features, but at most EMD_MOST. */
ON_BOTH float apart(const float *a, const float *b)
{
    float sum = 0;
    for (int k = 0; k < 14; k++)
        sum += a[k] < b[k] ? b[k] - a[k] : a[k] - b[k];
    return sum < (float)EMD_MOST ? sum : (float)EMD_MOST;
}

/* The distance of a picture with n regions from one that is stored: up to `most` regions, each 14 features and a share; a share of 0 ends
 * them. In units of EMD_UNIT². */
ON_BOTH int64_t picture_distance(struct emd *e, int n, const float *f, const int32_t *share, int most, const float *known)
{
    e->n = n;
    for (e->m = 0; e->m < most && known[15 * e->m + 14] > 0; e->m++)
        e->demand[e->m] = (int32_t)known[15 * e->m + 14];
    for (int i = 0; i < n; i++) {
        e->supply[i] = share[i];
        for (int j = 0; j < e->m; j++)
            e->cost[i][j] = (int32_t)(apart(f + 14 * i, known + 15 * j) * (float)EMD_UNIT);
    }
    return emd_solve(e);
}
#endif
