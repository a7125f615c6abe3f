// expect: SC103 kind=registered certainty=observed
//
// A registration ends under a copy, and the same memory is registered, sent and touched again.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *other = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(source));
    fill(source, SMALL, FOREIGN);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(other, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    fill(source, SMALL, WANTED);

    bool right = device_holds(device, SMALL, WANTED) && device_holds(other, SMALL, FOREIGN);
    return finish(right && holds(source, SMALL, WANTED));
}
