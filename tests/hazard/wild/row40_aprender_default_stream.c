// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// docs/wild-bugs.md, row 40: tensors are uploaded on the default stream, and the model runs on a
// non-blocking one, which the default stream does not hold back.
#include "twin.h"

int main(void)
{
    cudaStream_t before = blocking_stream();
    cudaStream_t model = new_stream();
    void *tensor = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, FOREIGN);
    void *output = device_block(SMALL, 0);

    busy(before);
    CHECK(cudaMemcpyAsync(input, tensor, SMALL, cudaMemcpyHostToDevice, cudaStreamLegacy));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(cudaMemcpyAsync(output, input, SMALL, cudaMemcpyDeviceToDevice, model));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(output, SMALL, WANTED));
}
