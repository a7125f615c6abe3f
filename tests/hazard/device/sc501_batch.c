// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=H2D event=cuMemcpyDtoHAsync_v2
// options: device=1
//
// A batch of many copies fills parts of a buffer, and another stream reads one of them, near the
// end, before the batch is done.
#include "batch.h"

enum { COPIES = 40, READ = 37 };

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    char *source = pinned_block(SMALL, WANTED);
    char *device = device_block(COPIES * SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES];

    for (size_t i = 0; i < COPIES; i++) {
        targets[i] = device + i * SMALL;
        sources[i] = source;
        sizes[i] = SMALL;
    }
    busy(up);
    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderStream, up);
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device + READ * SMALL, SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
