/* emd.h - the earth mover's distance of two sets of regions (Rubner et al., IJCV 2000), exact.
 *
 * Problem:  n supplies and m demands with the same sum, and what a unit costs from i to j. What do the cheapest moves cost?
 * Method:   Successive shortest paths: from each supply in turn along a path of least reduced cost to a demand that is not yet met. u and v
 *           are the potentials of rows and columns: cost - u - v is 0 where something flows, and never negative. What a column gets
 *           comes from several rows, and each of them may send its part elsewhere instead.
 * Numbers:  All are integers, so CPUs and GPUs have the same bits. Costs are below 2^20, sums of supplies at most 2^16.
 * GPU:      the items of a work-group solve a problem together: columns and rows are shared among them, paths are found and flows changed by all in step.
 *           What stands outside of DF_PHASE is the same for all items. On a CPU one item does everything.
 */
#ifndef FERRET_EMD_H
#define FERRET_EMD_H

#include "region.h"

#ifdef __CUDACC__
#define IN_GROUP static __device__ inline
#else
#define IN_GROUP static inline
#endif
#ifndef DF_PHASE                        /* C without df_formula_gpu.h */
#define DF_PHASE
#define DF_BARRIER() ((void)0)
#define DF_ITEM 0
#define DF_ITEMS 1
#endif

enum { EMD_FAR = 1 << 30,
       EMD_UNIT = 1 << 16,              /* the cost of 1, and the sum of supplies */
       EMD_MOST = 4,                    /* regions that are further apart than this are as far apart as can be */
       EMD_ITEMS = MOST_CLUSTERS };     /* of a work-group: a warp, with an item for each row and each column */

struct emd {                            /* 9 KiB, which a work-group has in shared memory */
    int n, m;
    int32_t cost[MOST_CLUSTERS][MOST_CLUSTERS], flow[MOST_CLUSTERS][MOST_CLUSTERS];
    int32_t supply[MOST_CLUSTERS], demand[MOST_CLUSTERS]; /* what is left of them */
    int32_t u[MOST_CLUSTERS], v[MOST_CLUSTERS];
    int32_t to_row[MOST_CLUSTERS], to_column[MOST_CLUSTERS]; /* lengths of shortest paths */
    int by_row[MOST_CLUSTERS];          /* of a column: the row before it on the path */
    int by_column[MOST_CLUSTERS];       /* of a row that was reached: the column before it, but not of the source */
    int64_t row_cost[MOST_CLUSTERS];
};

/* A row was reached by a path of this length. Each item changes its own columns. */
IN_GROUP void emd_relax(struct emd *e, int row, int32_t length)
{
    const int32_t base = length - e->u[row];
    DF_PHASE {
        for (int j = DF_ITEM; j < e->m; j += DF_ITEMS) {
            const int32_t d = base + e->cost[row][j] - e->v[j];
            const int nearer = d < e->to_column[j];
            e->to_column[j] = nearer ? d : e->to_column[j];
            e->by_row[j] = nearer ? row : e->by_row[j];
        }
    }
}

/* The next column that a shortest path ends in; of several the first. */
IN_GROUP int emd_nearest(const struct emd *e, uint64_t done)
{
#ifdef __CUDA_ARCH__
    const int own = DF_ITEM;
    int64_t least = (int64_t)(own < e->m && !(done >> own & 1) ? e->to_column[own] : EMD_FAR) * MOST_CLUSTERS + own;
    for (int apart = EMD_ITEMS / 2; apart > 0; apart /= 2) {
        const int64_t other = __shfl_xor_sync(0xffffffff, least, apart);
        least = other < least ? other : least;
    }
    return least < (int64_t)EMD_FAR * MOST_CLUSTERS ? (int)(least % MOST_CLUSTERS) : 0;
#else
    int32_t least = EMD_FAR;
    int at = 0;
    for (int j = 0; j < e->m; j++)
        if (!(done >> j & 1) && e->to_column[j] < least) {
            least = e->to_column[j];
            at = j;
        }
    return at;
#endif
}

/* Finds the shortest path from a row to a column whose demand is not met, and changes the potentials. Gives the column. */
IN_GROUP int emd_path(struct emd *e, int source)
{
    uint64_t done = 0, reached = (uint64_t)1 << source;
    int at;
    int32_t length;
    DF_PHASE {
        for (int j = DF_ITEM; j < e->m; j += DF_ITEMS)
            e->to_column[j] = EMD_FAR;
        if (DF_ITEM == 0)
            e->to_row[source] = 0;
    }
    emd_relax(e, source, 0);
    for (;;) {
        DF_BARRIER();
        at = emd_nearest(e, done);
        length = e->to_column[at];
        if (e->demand[at] != 0)
            break;
        done |= (uint64_t)1 << at;
        DF_BARRIER();
        for (int i = 0; i < e->n; i++)
            if (!(reached >> i & 1) && e->flow[i][at] > 0) {
                reached |= (uint64_t)1 << i;
                DF_PHASE {
                    if (DF_ITEM == 0) {
                        e->by_column[i] = at;
                        e->to_row[i] = length;
                    }
                }
                emd_relax(e, i, length);
            }
    }
    DF_PHASE {
        for (int i = DF_ITEM; i < e->n; i += DF_ITEMS)
            if (reached >> i & 1)
                e->u[i] += length - e->to_row[i];
        for (int j = DF_ITEM; j < e->m; j += DF_ITEMS)
            if (done >> j & 1)
                e->v[j] -= length - e->to_column[j];
    }                                   /* emd_send() has barriers before u and v are read again */
    return at;
}

/* Sends along the path to a column as much as goes. */
IN_GROUP void emd_send(struct emd *e, int source, int column)
{
    int32_t much = e->supply[source] < e->demand[column] ? e->supply[source] : e->demand[column];
    for (int j = column, i = e->by_row[j]; i != source; i = e->by_row[j]) {
        j = e->by_column[i];
        much = e->flow[i][j] < much ? e->flow[i][j] : much;
    }
    DF_BARRIER();
    DF_PHASE {
        if (DF_ITEM == 0) {
            e->supply[source] -= much;
            e->demand[column] -= much;
            for (int j = column;;) {
                const int i = e->by_row[j];
                e->flow[i][j] += much;
                if (i == source)
                    break;
                j = e->by_column[i];
                e->flow[i][j] -= much;
            }
        }
    }
    DF_BARRIER();
}

/* n, m, cost, supply and demand are set; the last two have the same sum. What the moves cost. */
IN_GROUP int64_t emd_solve(struct emd *e)
{
    int64_t sum = 0;
    DF_PHASE {
        for (int j = DF_ITEM; j < e->m; j += DF_ITEMS)
            e->v[j] = 0;
        for (int i = DF_ITEM; i < e->n; i += DF_ITEMS) {
            int32_t least = EMD_FAR;
            for (int j = 0; j < e->m; j++) {
                least = e->cost[i][j] < least ? e->cost[i][j] : least;
                e->flow[i][j] = 0;
            }
            e->u[i] = least;
        }
    }
    DF_BARRIER();
    for (int i = 0; i < e->n; i++)
        while (e->supply[i] > 0)
            emd_send(e, i, emd_path(e, i));
    DF_PHASE {
        for (int i = DF_ITEM; i < e->n; i += DF_ITEMS) {
            e->row_cost[i] = 0;
            for (int j = 0; j < e->m; j++)
                e->row_cost[i] += (int64_t)e->flow[i][j] * e->cost[i][j];
        }
    }
    DF_BARRIER();
    for (int i = 0; i < e->n; i++)
        sum += e->row_cost[i];
    return sum;
}

/* How far two regions are apart: the sum of the differences of their features, but at most EMD_MOST. */
IN_GROUP float apart(const float *a, const float *b)
{
    float sum = 0;
    for (int k = 0; k < 14; k++)
        sum += a[k] < b[k] ? b[k] - a[k] : a[k] - b[k];
    return sum < (float)EMD_MOST ? sum : (float)EMD_MOST;
}

/* The distance of a picture with n regions from one that is stored: up to `most` regions, each 14 features and a share; a share of 0 ends
 * them. In units of EMD_UNIT². */
IN_GROUP int64_t picture_distance(struct emd *e, int n, const float *f, const int32_t *share, int most, const float *known)
{
    int m = 0;
    while (m < most && known[15 * m + 14] > 0)
        m++;
    DF_PHASE {
        if (DF_ITEM == 0) {
            e->n = n;
            e->m = m;
        }
        for (int i = DF_ITEM; i < n; i += DF_ITEMS)
            e->supply[i] = share[i];
        for (int j = DF_ITEM; j < m; j += DF_ITEMS) {
            e->demand[j] = (int32_t)known[15 * j + 14];
            for (int i = 0; i < n; i++)
                e->cost[i][j] = (int32_t)(apart(f + 14 * i, known + 15 * j) * (float)EMD_UNIT);
        }
    }
    DF_BARRIER();
    return emd_solve(e);
}
#endif
