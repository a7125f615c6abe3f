// expect: SC201 action=stalled kind=pinned certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy from the device overwrites what another stream is still to send.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *next = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(source, next, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
