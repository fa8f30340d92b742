/* emu_check.h - the emulated GPU's memory protection. A page of the pool is reachable only while a job or a copy uses
 * it that declared it. So a kernel that touches what it did not declare is stopped at that access, and is named.
 * emu.c makes one for each device, unless --emu-check=off.
 *
 * Words:    a range is *open* while someone uses it. It is then readable, and it is writable if at least one of its
 *           users writes.
 * Grain:    pages. What shares a page with a declared block is reachable with that block; the memory manager
 *           therefore gives each block pages of its own. Protection is the whole process's: while a copy has a block
 *           open, a kernel that runs at that moment can reach the block too.
 * Faults:   emu_fault.h says what becomes of a kernel that touches a closed page, and of other code that does so.
 * Threads:  open, close and forget may be called from any thread; call, from the thread that runs the device's kernels;
 *           create and destroy, from one thread at a time.
 * Errors:   if the system refuses to protect (there are too many mappings), one line on stderr says so, and everything
 *           stays open.
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

/* A copy gave this range new contents. Which block lies there is no longer known. */
void dfr_emu_check_forget(struct dfr_emu_check *check, const void *address, uint64_t bytes);

/* Runs the launch's function while exactly its ranges are open. Gives what the function returned; if it touched
 * something else, gives DF_FAILED, and the reason stands in the call. */
int dfr_emu_check_call(struct dfr_emu_check *check, const struct dfr_launch *launch, void *stream);
/* The launch's function has ended its thread: closes the ranges. Called by that thread, in place of the call's
 * return. */
void dfr_emu_check_abandon(struct dfr_emu_check *check, const struct dfr_launch *launch);

#endif
