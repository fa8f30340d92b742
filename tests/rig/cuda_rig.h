/* cuda_rig.h - what the tests of the CUDA back end on a mock of the CUDA runtime share (tests/mock). No GPU takes part,
 * so they say nothing of kernels or speed. But every call of CUDA's is made, in every order that the runtime makes them.
 *
 * The kernels of run_rig.h are launched as functions. These read and write their ports when their turn comes.
 */
#ifndef CUDA_RIG_H
#define CUDA_RIG_H

#include <stdint.h>

#include "run_rig.h"
#include "tests/mock/cuda_mock.h"

#define MEMORY (UINT64_C(64) << 20)     /* bytes of the mock's GPU */
#define WAVES 5

extern const struct dfr_device_ops *cuda; /* the back end. NULL: built without CUDA's headers */

/* What the host code of some kernels does beside its launch. */
enum misbehaviour { WELL, FAULTS, FAULTS_AND_TELLS, ALLOCATES, USES_BLAS, SELECTS, ENDS };
extern enum misbehaviour misbehaves;

int cuda_set_up(void **state);          /* cmocka's: a machine with one GPU, and kernels that do well */
void need_mock(void);                   /* skips the test if there is no mock */

/* Makes the rig's gpu variants launch. The runtime is told which of them do nothing else. */
void use_launches(struct rig *r);
/* A rig: source, so many kernels in a chain, and sink. The kernels can run on the GPU alone as well as on the CPU. */
void make_chain(struct rig *r, unsigned length);
struct df_options options_of(const char *policy); /* on the GPU, WAVES waves */
void assert_nothing_left(void);         /* see mock_left() */

#endif
