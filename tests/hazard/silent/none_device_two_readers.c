// expect: none
// options: device=1
//
// Two streams read the same device memory at once, into different memory.
#include "twin.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(first);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaMemcpyAsync(to, device, SMALL, cudaMemcpyDeviceToDevice, second));
    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED) && device_holds(to, SMALL, WANTED));
}
