// expect: SC201 action=stalled kind=registered certainty=observed
//
// Anonymous pages that the program mapped itself.
#include "mapping.h"

#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_pages(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && holds(source, LARGE, FOREIGN));
}
