// Kernels that throw, each in its way.
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

struct mine { int code; };

extern "C" int middle_cpu(df_call *call, size_t k, const int32_t *a, int32_t *b, int32_t how)
{
    memcpy(b, a, k * sizeof *b);
    const int64_t wave = df_wave(call);
    if (wave < 3)
        return DF_OK;
    if (wave == 3)                      // the earliest that fails is the last to say so
        usleep(30000);
    if (how == 0)
        throw std::runtime_error("seven " + std::to_string(wave));
    if (how == 1)
        throw wave;
    if (how == 2)
        throw mine();
    if (how == 3)
        pthread_exit(nullptr);
    if (how == 4)
        throw "only text";
    return how == 5 ? df_fail(call, "five") : DF_OK;
}

// An existing function, which returns nothing.
void twice(int32_t *a, int k, int how)
{
    if (how == 10)
        throw std::out_of_range("no room");
    for (int i = 0; i < k; i++)
        a[i] *= 2;
}

extern "C" int opens(df_call *, size_t, int32_t how, void **)
{
    if (how == 20)
        throw std::logic_error("it does not open");
    return DF_OK;
}

static void piece(void *how, size_t i)
{
    if (*static_cast<int32_t *>(how) == 30 && i >= 5)
        throw std::length_error("a piece");
}

extern "C" int parted_cpu(df_call *call, size_t k, const int32_t *a, int32_t *b, int32_t how)
{
    memcpy(b, a, k * sizeof *b);
    df_pieces(call, 16, piece, &how);
    return DF_OK;
}
