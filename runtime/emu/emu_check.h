/* emu_check.h - the emulated GPU's memory protection: a page of the pool is reachable only while a job or copy that
 * declared it uses it, so a kernel that touches what it did not declare is stopped there and then, by name.
 *
 * Words:    a range is *open* while someone uses it: readable, or writable where at least one of its users writes.
 * Grain:    pages. What shares a page with a declared block is reachable with it; the memory manager therefore gives
 *           each block pages of its own. Protection is the process's: while a copy has a block open, a kernel that
 *           runs at that moment can reach it too.
 * Faults:   emu_fault.h says what becomes of a kernel that touches a closed page, and of other code that does.
 * Threads:  open, close and forget from any; call from the thread that runs the device's kernels; create and destroy
 *           from one at a time.
 * Errors:   where the system refuses to protect (too many mappings), it says so once on stderr and everything stays
 *           open.
 */
#ifndef DFR_EMU_CHECK_H
#define DFR_EMU_CHECK_H

#include "runtime/device/device.h"

struct dfr_emu_check;

/* `pool` is page aligned, `bytes` a multiple of the page; all of it is closed from here on. device_name is copied. */
int dfr_emu_check_create(void *pool, uint64_t bytes, const char *device_name, struct dfr_emu_check **check,
                         struct df_error *error);
void dfr_emu_check_destroy(struct dfr_emu_check *check);

/* Parts outside the pool are ignored, so that a copy may pass both its ends. Opens nest. */
void dfr_emu_check_open(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable);
void dfr_emu_check_close(struct dfr_emu_check *check, const void *address, uint64_t bytes, bool writable);

/* A copy gave this range new contents: whose block it was is no longer known. */
void dfr_emu_check_forget(struct dfr_emu_check *check, const void *address, uint64_t bytes);

/* Runs the launch's function with exactly its ranges open; gives what it returned, or DF_FAILED with the reason
 * recorded in the call where it touched something else. */
int dfr_emu_check_call(struct dfr_emu_check *check, const struct dfr_launch *launch, void *stream);

#endif
