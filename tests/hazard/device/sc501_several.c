// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// Three streams upload a part each, and a fourth downloads all of it.
#include "twin.h"

enum { PARTS = 3 };

int main(void)
{
    cudaStream_t down = new_stream();
    char *source = pinned_block(PARTS * SMALL, WANTED);
    char *target = pinned_block(PARTS * SMALL, 0);
    char *device = device_block(PARTS * SMALL, FOREIGN);

    for (size_t i = 0; i < PARTS; i++) {
        cudaStream_t up = new_stream();
        cudaEvent_t uploaded = new_event();
        busy(up);
        CHECK(cudaMemcpyAsync(device + i * SMALL, source + i * SMALL, SMALL, cudaMemcpyHostToDevice,
                              up));
        CHECK(cudaEventRecord(uploaded, up));
        if (fixed)
            CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    }
    CHECK(cudaMemcpyAsync(target, device, PARTS * SMALL, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, PARTS * SMALL, WANTED));
}
