/* flight.h - adapts the number of jobs in flight on a GPU while it runs, by Algorithm 1 of Anthill (Teodoro et al., HPDC 2010, section 5.1): the number
 * grows in steps that double as long as throughput grows, goes back when throughput falls, and changes in smaller steps from then on.
 *
 * Words:    A *round* is a set of jobs that end one after another while the number stays the same. Throughput is the work done in a round divided by its
 *           duration. The first jobs after a change began under the old number, so they are left out. If the GPU ran out of jobs during a round, the round
 *           is restarted, since its throughput says nothing about the number.
 * Use:      The worker of a GPU calls this, whether the GPU is real or emulated (runtime/gpu/) or simulated (runtime/simulate/). It has at most `jobs` jobs
 *           in flight, and reports each job that ended.
 * Against the paper: In the paper all jobs of a round begin together; here each job is replaced as it ends. Throughputs
 *           that differ by less than DFR_FLIGHT_EQUAL count as the same, because times are measured. The paper goes up
 *           whenever throughput grew, so it never looks below a number from which it came back. Here, once throughput
 *           has fallen, the next step goes in the same direction if the last one helped, else in the other.
 * Threads:  the worker's own.
 */
#ifndef DFR_FLIGHT_H
#define DFR_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define DFR_FLIGHT_EQUAL 0.01
#define DFR_FLIGHT_LIMIT 32u            /* no more than so many, if nobody says a number */

struct dfr_flight {
    uint32_t jobs, most;                /* jobs in flight; the most there may be */
    uint32_t step;
    bool fixed, found_top;              /* found_top: throughput has fallen once, so steps shrink */
    bool down;                          /* the next step goes down */
    uint32_t settling;                  /* jobs that are still to be left out */
    uint32_t ended, round;              /* jobs that ended in this round; jobs that make a round */
    double begin_s, work, last;         /* last: throughput of the round before; 0: there was none */
};

/* The number is fixed if first == most. */
void dfr_flight_start(struct dfr_flight *flight, uint32_t first, uint32_t most);
/* Reports the end of a job of size `work` (in any unit, the same for all jobs). Returns true if the number has changed. */
bool dfr_flight_ended(struct dfr_flight *flight, double work, double now_s);
/* Reports that the GPU could have taken another job, but none was ready. */
void dfr_flight_starved(struct dfr_flight *flight);

#endif
