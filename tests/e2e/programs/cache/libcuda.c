/* A driver that has the GPUs of $GPUS: "80 90". */
#include <stdio.h>
#include <stdlib.h>

static int capability(int device)
{
    int all[8] = { 0 };
    const char *gpus = getenv("GPUS");
    sscanf(gpus ? gpus : "", "%d %d %d", &all[0], &all[1], &all[2]);
    return device < 8 ? all[device] : 0;
}

int cuInit(unsigned flags)
{
    return flags != 0;
}

int cuDeviceGetCount(int *n)
{
    for (*n = 0; capability(*n);)
        ++*n;
    return 0;
}

int cuDeviceGet(int *device, int i)
{
    *device = i;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? capability(device) / 10 : capability(device) % 10;
    return 0;
}
