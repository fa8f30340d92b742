/* emu_fault.h - faults in the pools of emulated GPUs: caught where a kernel made them, handed on everywhere else.
 *
 * Stopping: a kernel that faults in a watched pool is left by siglongjmp: what it held then (memory, locks) is lost to
 *           the process. That is the price of a message in place of a crash, and the run ends with it.
 * Handler:  SIGSEGV's, put in place with the first pool watched and taken away with the last. Faults elsewhere go to
 *           the handler that was there before. A fault in a pool by a thread that is in no guarded call is reported in
 *           one line on stderr and then goes there too.
 * Threads:  calls from any; watch and unwatch from one at a time, unwatch with no guarded call running.
 */
#ifndef DFR_EMU_FAULT_H
#define DFR_EMU_FAULT_H

#include "runtime/device/device.h"

struct dfr_emu_pool {                   /* borrowed while watched */
    const unsigned char *base;
    uint64_t bytes;
    char device_name[48];
};

enum dfr_emu_access { DFR_EMU_TOUCHED, DFR_EMU_READ, DFR_EMU_WROTE };

struct dfr_emu_fault {
    const struct dfr_emu_pool *pool;
    uintptr_t address;
    enum dfr_emu_access access;         /* DFR_EMU_TOUCHED where the machine does not tell */
};

/* false: too many pools. */
bool dfr_emu_watch(const struct dfr_emu_pool *pool);
void dfr_emu_unwatch(const struct dfr_emu_pool *pool);

/* Runs the launch's function: true with what it returned, or false with where it touched a watched pool. */
bool dfr_emu_call_guarded(const struct dfr_launch *launch, void *stream, int *result, struct dfr_emu_fault *fault);

#endif
