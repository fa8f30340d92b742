/* flight.h - how many jobs a GPU has in flight: found while it runs, by Algorithm 1 of Anthill (Teodoro et al., HPDC
 * 2010, section 5.1): more and more of them, in doubling steps, as long as throughput grows; back where it falls, and
 * from then on in smaller steps.
 *
 * Words:    a *round* is a set of jobs that end one after another while the number stays the same; throughput is the
 *           work done in a round by the time that it took. The first jobs after a change began under the old number, so
 *           they are left out. A round in which the GPU had less to do than it could take says nothing of the number:
 *           it begins anew.
 * Use:      the worker of a GPU, real, emulated or simulated, alike: it has at most dfr_flight_most() jobs in flight,
 *           and tells of each that ended.
 * Against the paper: there all jobs of a round begin together, here each is replaced as it ends; what differs by less
 *           than DFR_FLIGHT_EQUAL counts as the same, because times are measured; and once throughput fell, a step is
 *           followed by one in the same direction where it helped, in the other where it did not: the paper's always
 *           goes up where throughput grew, so it never looks below a number from which it came back.
 * Threads:  the worker's own.
 */
#ifndef DFR_FLIGHT_H
#define DFR_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#define DFR_FLIGHT_EQUAL 0.01
#define DFR_FLIGHT_LIMIT 32u            /* no more than so many, where nobody says a number */

struct dfr_flight {
    uint32_t jobs, most;                /* jobs == most from the start: fixed */
    uint32_t step;
    bool fixed, found_top;              /* found_top: throughput fell once, so steps shrink */
    bool down;                          /* direction of the next step */
    uint32_t settling;                  /* jobs to leave out still */
    uint32_t ended, round;              /* of this round; how many make one */
    double begin_s, work, last;         /* throughput of the round before; 0: there was none */
};

/* Jobs are fixed where first == most. */
void dfr_flight_start(struct dfr_flight *flight, uint32_t first, uint32_t most);
/* A job that was `work` (in any unit, the same for all) ended. true: the number has changed. */
bool dfr_flight_ended(struct dfr_flight *flight, double work, double now_s);
/* The GPU wanted another job, and there was none. */
void dfr_flight_starved(struct dfr_flight *flight);

#endif
