/* colliding.h - a group of tests in which all keys of hash tables have one hash, so that what is equal is told by the keys alone. Two hashes of 32 bits are
 * hardly ever equal, so that a wrong comparison would never be asked. The test is linked with --wrap=dfr_hash_fold (Makefile).
 */
#ifndef COLLIDING_H
#define COLLIDING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/intern.h"

static bool colliding;

uint32_t __real_dfr_hash_fold(uint64_t hash);
uint32_t __wrap_dfr_hash_fold(uint64_t hash);

uint32_t __wrap_dfr_hash_fold(uint64_t hash)
{
    return colliding ? 7 : __real_dfr_hash_fold(hash);
}

/* The set-up of the group. */
static int begin_colliding(void **state)
{
    (void)state;
    colliding = true;
    return 0;
}

#endif
