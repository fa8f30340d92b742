/* prompt.h - makes threads that wake often and run briefly wake on time: those that feed a GPU (gpu/gpu_worker.c) or
 * run the copies of an emulated one (emu/emu_engine.c). */
#ifndef DFR_PROMPT_H
#define DFR_PROMPT_H

#include <stdbool.h>

/* The calling thread wakes on time, to a microsecond; without this a pause of 2 µs takes 50 µs. `first`: it also takes a
 * core at once from a thread that computes. By default a woken thread may wait for 3 ms until the other's slice of time
 * has ended, with Linux's scheduler since 6.6. From 6.12 on a thread may have a shorter slice, and then goes first. Where
 * the system cannot, or the thread is not one of its usual kind (SCHED_OTHER), it stays as it is. */
void dfr_prompt(bool first);

#endif
