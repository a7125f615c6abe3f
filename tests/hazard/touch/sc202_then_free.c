// expect: SC202 kind=registered certainty=observed
// expect: SC102 kind=registered
//
// The same with memory of malloc, whose next owner must find it free to use.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, SMALL / 2);
    if (fixed)
        CHECK(cudaHostUnregister(target));
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(owner, SMALL, FOREIGN));
}
