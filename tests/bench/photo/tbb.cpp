// tbb.cpp - examples/photo under oneTBB: read, filters and write as the stages of a parallel_pipeline, the same kernels.
// tbb IN.png OUT.png THREADS
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "plain.h"

using namespace oneapi::tbb;

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fputs("usage: tbb IN.png OUT.png THREADS\n", stderr);
        return 2;
    }
    const std::size_t threads = std::strtoul(argv[3], nullptr, 10), inflight = 2 * threads;
    global_control control(global_control::max_allowed_parallelism, threads);
    std::vector<std::unique_ptr<tile>> tiles; // wave w lies in tile w % inflight: the last stage is in order, so it is free again
    for (std::size_t i = 0; i < inflight; i++)
        tiles.emplace_back(new tile());
    std::int64_t wave = 0;
    std::atomic<bool> ended{false}, failed{false};
    parallel_pipeline(
        inflight,
        make_filter<void, tile *>(filter_mode::serial_in_order,
                                  [&](flow_control &flow) -> tile * {
                                      tile *t = tiles[static_cast<std::size_t>(wave) % inflight].get();
                                      t->call.wave = wave++;
                                      int status = failed ? DF_END : tile_read(t, argv[1]);
                                      if (status == DF_OK)
                                          return t;
                                      if (status == DF_END)
                                          ended = true;
                                      flow.stop();
                                      return nullptr;
                                  }) &
            make_filter<tile *, tile *>(filter_mode::parallel,
                                        [&](tile *t) {
                                            if (!tile_filter(t))
                                                failed = true;
                                            return t;
                                        }) &
            make_filter<tile *, void>(filter_mode::serial_in_order, [&](tile *t) {
                if (tile_write(t, argv[2]) != DF_OK)
                    failed = true;
            }));
    return !ended || failed;
}
