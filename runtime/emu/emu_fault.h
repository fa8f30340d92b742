/* emu_fault.h - catches invalid accesses of kernels to the pools of emulated GPUs. emu_check.c protects all of a pool except the pages that the running job
 * declared. If a kernel in a guarded call touches another page, the resulting SIGSEGV is caught here. Every other SIGSEGV goes to the handler that was
 * installed before.
 *
 * Words:    a *guarded call* is a call of a kernel whose faults in a watched pool are caught.
 * Stopping: a kernel that faults in a watched pool is left by siglongjmp. Memory and locks that it held are lost to the process; that is the price of a
 *           message in place of a crash, and the run ends with it.
 * Handler:  for SIGSEGV; installed with the first watched pool and removed with the last. A fault elsewhere goes to the handler installed before. A fault
 *           in a pool by a thread outside any guarded call is reported in one line on stderr, and then goes to that handler, too.
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

/* Returns false if too many pools are watched. */
bool dfr_emu_watch(const struct dfr_emu_pool *pool);
void dfr_emu_unwatch(const struct dfr_emu_pool *pool);

/* Calls the launch's function. Returns true with its result in *result, or false if it touched a watched pool, with the place in *fault. */
bool dfr_emu_call_guarded(const struct dfr_launch *launch, void *stream, int *result, struct dfr_emu_fault *fault);
/* Called by a thread that the launch's function has ended, as the call never returns. */
void dfr_emu_call_abandon(void);

#endif
