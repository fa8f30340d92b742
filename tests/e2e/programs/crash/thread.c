#include <pthread.h>
#include <stdlib.h>
static void *leave(void *arg) { (void)arg; exit(7); }
int middle_cpu(struct df_call *call, size_t k, const int32_t *a, int32_t *b)
{
    pthread_t t;
    (void)call, (void)k, (void)a, (void)b;
    return pthread_create(&t, NULL, leave, NULL) || pthread_join(t, NULL);
}
