// expect: SC501 action=ordered kind=device direction=H2D certainty=observed
// options: device=1
//
// docs/wild-bugs.md, row 47: an array of CuPy's is uploaded on the default stream and handed over
// by __cuda_array_interface__, which names that stream. Who takes the array downloads it on a
// non-blocking stream, and has not waited for the one that was named.
#include "twin.h"

int main(void)
{
    cudaStream_t others = blocking_stream();
    cudaStream_t consumer = new_stream();
    void *uploaded = pinned_block(SMALL, WANTED);
    void *array = device_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);

    busy(others);
    CHECK(cudaMemcpyAsync(array, uploaded, SMALL, cudaMemcpyHostToDevice, cudaStreamLegacy));
    if (fixed) {
        cudaEvent_t ready = new_event();
        CHECK(cudaEventRecord(ready, cudaStreamLegacy));
        CHECK(cudaStreamWaitEvent(consumer, ready, 0));
    }
    CHECK(cudaMemcpyAsync(result, array, SMALL, cudaMemcpyDeviceToHost, consumer));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(result, SMALL, WANTED));
}
