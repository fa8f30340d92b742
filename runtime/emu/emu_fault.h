/* emu_fault.h - catches what kernels do wrong in the pools of emulated GPUs. emu_check.c uses it: it protects all of a
 * pool but the pages that the running job declared. A kernel that touches another page raises SIGSEGV. If the kernel
 * runs in a guarded call, that fault is caught here. Every other SIGSEGV goes to the handler that was there before.
 *
 * Words:    a *guarded call* is a call of a kernel whose faults in a watched pool are caught.
 * Stopping: a kernel that faults in a watched pool is left by siglongjmp. The memory and the locks that it held then
 *           are lost to the process. That is the price of a message in place of a crash, and the run ends with it.
 * Handler:  SIGSEGV's. It is put in place with the first pool that is watched and taken away with the last. A fault
 *           elsewhere goes to the handler that was there before. A fault in a pool by a thread that is in no guarded
 *           call is reported in one line on stderr and then goes to that handler too.
 * Threads:  guarded calls may be made from any thread; watch and unwatch are called from one thread at a time, and
 *           unwatch while no guarded call runs.
 */
#ifndef DFR_EMU_FAULT_H
#define DFR_EMU_FAULT_H

#include "runtime/device/device.h"

struct dfr_emu_pool {                   /* with its guards; the caller keeps it, unchanged, until unwatch */
    const unsigned char *base;
    uint64_t bytes;
    char device_name[48];
};

enum dfr_emu_access { DFR_EMU_TOUCHED, DFR_EMU_READ, DFR_EMU_WROTE };

struct dfr_emu_fault {
    const struct dfr_emu_pool *pool;
    uintptr_t address;
    enum dfr_emu_access access;         /* DFR_EMU_TOUCHED: this processor does not say whether it read or wrote */
};

/* false: too many pools are watched. */
bool dfr_emu_watch(const struct dfr_emu_pool *pool);
void dfr_emu_unwatch(const struct dfr_emu_pool *pool);

/* Runs the launch's function. true: *result is what it returned. false: it touched a watched pool, and *fault says
 * where. */
bool dfr_emu_call_guarded(const struct dfr_launch *launch, void *stream, int *result, struct dfr_emu_fault *fault);
/* The launch's function has ended its thread: called there, while the thread ends, in place of the call's return. */
void dfr_emu_call_abandon(void);

#endif
