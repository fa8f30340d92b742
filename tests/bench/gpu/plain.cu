/* plain.cu - what CUDA alone reaches, to compare with: copies of BYTES each way in a loop from pinned memory, and a
 * chain of LENGTH small kernels launched one by one and as a graph, each the best of five. It begins with 0.6 s of work
 * that is not counted, because the clocks of an idle GPU are low. Prints CSV: figure,value,unit.
 *   plain BYTES COPIES LENGTH TIMES
 */
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                   \
    do {                                                                                                              \
        cudaError_t status_ = (call);                                                                                 \
        if (status_ != cudaSuccess) {                                                                                 \
            fprintf(stderr, "plain: error: %s: %s\n", #call, cudaGetErrorString(status_));                            \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

static __global__ void add_one(const int *a, int *b, int k)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < k)
        b[i] = a[i] + 1;
}

static cudaStream_t up, down;
static cudaEvent_t begin, end;

/* Seconds of what `enqueue` puts on `up` (and `down`). */
template <class F> static double seconds_once(F enqueue)
{
    float ms;

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin, up));
    CHECK(cudaStreamWaitEvent(down, begin, 0));
    enqueue();
    cudaEvent_t other;
    CHECK(cudaEventCreate(&other));
    CHECK(cudaEventRecord(other, down));
    CHECK(cudaStreamWaitEvent(up, other, 0));
    CHECK(cudaEventRecord(end, up));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    CHECK(cudaEventDestroy(other));
    return 1e-3 * ms;
}

template <class F> static double seconds(F enqueue)
{
    double best = seconds_once(enqueue);

    for (int i = 1; i < 5; i++) {
        double s = seconds_once(enqueue);
        best = s < best ? s : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: plain BYTES COPIES LENGTH TIMES\n");
        return 2;
    }
    size_t bytes = strtoull(argv[1], NULL, 10);
    int copies = atoi(argv[2]), length = atoi(argv[3]), times = atoi(argv[4]);
    void *host[2], *device[2];
    int *a, *b;

    CHECK(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaHostAlloc(&host[i], bytes, cudaHostAllocDefault));
        CHECK(cudaMalloc(&device[i], bytes));
        CHECK(cudaMemcpy(device[i], host[i], bytes, cudaMemcpyHostToDevice));
    }
    double total = 1e-9 * (double)bytes * copies;
    auto to = [&] {
        for (int i = 0; i < copies; i++)
            CHECK(cudaMemcpyAsync(device[0], host[0], bytes, cudaMemcpyHostToDevice, up));
    };
    auto from = [&] {
        for (int i = 0; i < copies; i++)
            CHECK(cudaMemcpyAsync(host[1], device[1], bytes, cudaMemcpyDeviceToHost, down));
    };
    for (double s = 0; s < 0.6;)
        s += seconds_once([&] { to(); from(); });
    printf("plain h2d,%.3f,GB/s\n", total / seconds(to));
    printf("plain d2h,%.3f,GB/s\n", total / seconds(from));
    printf("plain h2d beside d2h,%.3f,GB/s each\n", total / seconds([&] { to(); from(); }));

    CHECK(cudaMalloc(&a, 1024));
    CHECK(cudaMalloc(&b, 1024));
    auto chain = [&] {
        for (int i = 0; i < length; i++)
            add_one<<<1, 256, 0, up>>>(i % 2 ? b : a, i % 2 ? a : b, 256);
    };
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(up, cudaStreamCaptureModeThreadLocal));
    chain();
    CHECK(cudaStreamEndCapture(up, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    chain();
    CHECK(cudaGetLastError());
    CHECK(cudaGraphLaunch(exec, up));
    double n = (double)length * times;
    printf("plain launches,%.3f,us per kernel\n", 1e6 / n * seconds([&] { for (int i = 0; i < times; i++) chain(); }));
    auto replay = [&] {
        for (int i = 0; i < times; i++)
            CHECK(cudaGraphLaunch(exec, up));
    };
    printf("plain graph,%.3f,us per kernel\n", 1e6 / n * seconds(replay));
    CHECK(cudaGetLastError());
    return 0;
}
