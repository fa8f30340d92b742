/* emu_check.h - memory protection for the emulated GPU: a page of its pool is accessible only while a job or copy that declared it is running. A kernel
 * that touches anything else is stopped at that access, and the message names it. emu.c creates one per device, unless --emu-check=off; emu_engine.c opens
 * and closes pages around each job and copy.
 *
 * Words:    a range is *open* while it has users. It is then readable, and writable if at least one user writes.
 * Grain:    pages. Whatever shares a page with a declared block is accessible with it, so the memory manager gives each block its own pages. Protection is
 *           per process: while a copy has a block open, a kernel that runs at that moment can access the block, too.
 * Faults:   emu_fault.h describes what happens to a kernel, or to other code, that touches a closed page.
 * Threads:  open, close and forget may be called from any thread; call, from the thread that runs the device's kernels;
 *           create and destroy, from one thread at a time.
 * Errors:   if the system refuses to protect memory (too many mappings), one line on stderr says so, and everything stays open.
 */
#ifndef DFR_EMU_CHECK_H
#define DFR_EMU_CHECK_H

#include "runtime/device/device.h"

struct dfr_emu_check;

/* `pool` is page aligned, `bytes` a multiple of the page; all of it is closed from here on. It lies between guards
 * (dfr_emu_host_alloc), and a kernel that touches one is stopped, too. device_name is copied. */
int dfr_emu_check_create(void *pool, uint64_t bytes, const char *device_name, struct dfr_emu_check **check,
                         struct df_error *error);
void dfr_emu_check_destroy(struct dfr_emu_check *check);

/* Parts outside the pool are ignored, so that a copy may pass both of its ends. A range may be opened several times;
 * it is closed by as many closes. */
void dfr_emu_check_open(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable);
void dfr_emu_check_close(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable);

/* Called when a copy has overwritten this range: the block that lies there is no longer known. */
void dfr_emu_check_forget(struct dfr_emu_check *check, const void *address, uint64_t bytes);

/* Calls the launch's function with exactly its ranges open, and returns its result. Returns DF_FAILED if it touched anything else; the call has the reason. */
int dfr_emu_check_call(struct dfr_emu_check *check, const struct dfr_launch *launch, void *stream);
/* Closes the ranges of a launch whose function has ended its thread. Called by that thread, as the call never returns. */
void dfr_emu_check_abandon(struct dfr_emu_check *check, const struct dfr_launch *launch);

#endif
