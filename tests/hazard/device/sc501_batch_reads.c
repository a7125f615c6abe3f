// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=H2D event=cuMemcpyBatchAsync_v2
// options: device=1
//
// A batch of copies within the device reads, among others, what another stream is still to upload.
#include "batch.h"

enum { COPIES = 3 };

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t uploaded = new_event();
    char *source = pinned_block(SMALL, WANTED);
    char *from = device_block(COPIES * SMALL, FOREIGN);
    char *to = device_block(COPIES * SMALL, 0);
    void *targets[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES];

    for (size_t i = 0; i < COPIES; i++) {
        targets[i] = to + i * SMALL;
        sources[i] = from + i * SMALL;
        sizes[i] = SMALL;
    }
    busy(up);
    CHECK(cudaMemcpyAsync(from + SMALL, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(second, uploaded, 0));
    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderStream, second);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to + SMALL, SMALL, WANTED));
}
