/* queue.c - the same chunks through Work Queue (coop-computing-tools). `queue US CHUNKS WORKERS PORTFILE` is the manager: it writes its port
 * into the file, waits for so many workers, and prints the seconds from the first chunk to the last result. `queue US` is a chunk.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cctools/work_queue.h>

#include "chunk.h"

static bool write_port(const char *path, int port)
{
    FILE *file = fopen(path, "w");
    bool good = file && fprintf(file, "%d\n", port) > 0;
    return file && fclose(file) == 0 && good;
}

static void wait_for_workers(struct work_queue *queue, int workers)
{
    struct work_queue_stats stats = { 0 };
    while (stats.workers_connected < workers) {
        work_queue_wait(queue, 1);
        work_queue_get_stats(queue, &stats);
    }
}

/* Submits all chunks and waits for their results. */
static bool run(struct work_queue *queue, const char *command, long chunks)
{
    for (long n = 0; n < chunks; n++) {
        struct work_queue_task *task = work_queue_task_create(command);
        work_queue_task_specify_cores(task, 1);
        work_queue_submit(queue, task);
    }
    bool good = true;
    for (struct work_queue_task *task; !work_queue_empty(queue);)
        if ((task = work_queue_wait(queue, 5))) {
            good = good && task->result == WORK_QUEUE_RESULT_SUCCESS && task->return_status == 0;
            work_queue_task_delete(task);
        }
    return good;
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        chunk_work(atol(argv[1]));
        return 0;
    }
    struct work_queue *queue = argc == 5 ? work_queue_create(0) : NULL; /* 0: a free port */
    char self[4096], command[4200];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!queue || n < 0 || !write_port(argv[4], work_queue_port(queue)))
        return 1;
    self[n] = 0;
    snprintf(command, sizeof command, "%s %s", self, argv[1]);
    wait_for_workers(queue, atoi(argv[3]));
    double begin_s = chunk_clock_s();
    bool good = run(queue, command, atol(argv[2]));
    printf("%.6f\n", chunk_clock_s() - begin_s);
    work_queue_delete(queue);
    return good ? 0 : 1;
}
