/* worker.h - the threads that execute jobs. */
#ifndef DFR_WORKER_H
#define DFR_WORKER_H

#include "runtime/engine.h"

void *dfr_worker_main(void *worker);    /* of a CPU: struct dfr_worker */
void *dfr_gpu_main(void *worker);       /* of a GPU */

#endif
