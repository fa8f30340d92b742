/* queue_mutex.c - the job queue's contract in the simplest way: a ring under a mutex (queue_mutex.h). */
#include "queue_mutex.h"

#include <pthread.h>
#include <stdlib.h>

struct queue_mutex {
    pthread_mutex_t lock;
    uint32_t capacity, first, count;
    uint64_t *items;
};

struct queue_mutex *queue_mutex_create(uint32_t capacity)
{
    struct queue_mutex *queue = malloc(sizeof *queue);

    if (queue == NULL)
        return NULL;
    queue->items = malloc(((size_t)capacity + 1) * sizeof *queue->items);
    if (queue->items == NULL) {
        free(queue);
        return NULL;
    }
    pthread_mutex_init(&queue->lock, NULL);
    queue->capacity = capacity;
    queue->first = 0;
    queue->count = 0;
    return queue;
}

void queue_mutex_destroy(struct queue_mutex *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_destroy(&queue->lock);
    free(queue->items);
    free(queue);
}

bool queue_mutex_push(struct queue_mutex *queue, uint64_t item)
{
    bool room;

    pthread_mutex_lock(&queue->lock);
    room = queue->count < queue->capacity;
    if (room)
        queue->items[(queue->first + queue->count++) % queue->capacity] = item;
    pthread_mutex_unlock(&queue->lock);
    return room;
}

bool queue_mutex_pop(struct queue_mutex *queue, uint64_t *item)
{
    bool found;

    pthread_mutex_lock(&queue->lock);
    found = queue->count > 0;
    if (found) {
        *item = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

bool queue_mutex_is_empty(const struct queue_mutex *queue)
{
    struct queue_mutex *locked = (struct queue_mutex *)queue;
    bool empty;

    pthread_mutex_lock(&locked->lock);
    empty = locked->count == 0;
    pthread_mutex_unlock(&locked->lock);
    return empty;
}
