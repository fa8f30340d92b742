/* replica_parts.h - what goes between the first rank (rank0_parts.c) and one that has a share (replica_parts.c).
 *
 * GIVE:     the accs as the waves before have left them, unless they are as declared, and behind them a struct dfr_share_give.
 * RESULT:   the accs, and behind them a struct dfr_share_end. Both stand under the number of the graph's values.
 * Work:     A rank begins its share with some wave, and goes on to the last one. In steps it ends after some time, or when it is cut. An end brings accs
 *           from devices to the host.
 * Errors:   those of a run; DF_E_FORMAT: a value that is made once, or an acc, is missing or is not as large as it must be.
 */
#ifndef DFR_SHARE_RANK_H
#define DFR_SHARE_RANK_H

#include <stdint.h>

struct dfr_share_give {
    uint32_t first, end;                /* parts */
    int64_t first_wave, waves;          /* the wave with which it begins; how many there are in all; below 0: until streams end */
    double seconds;                     /* in steps: for so long; 0: until it is cut */
    int64_t in_steps;
};

struct dfr_share_end {
    int64_t waves;                      /* all waves before this one have changed the accs */
    int64_t whole;                      /* 1: there are no more */
};

#endif
