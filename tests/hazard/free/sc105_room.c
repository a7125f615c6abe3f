// expect: SC105 action=deferred
// sim: host_memory=100M
// needs: sim
//
// cudaFreeHost of 60 MB under a copy, and 60 MB more: of 100 MB that may be page-locked the
// driver has given back the first when it hands out the second, since its cudaFreeHost waits.
#include "twin.h"

enum { ROOMY = 60 << 20 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = NULL, *second = NULL;
    CHECK(cudaMallocHost(&target, ROOMY));

    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(target));

    bool has_room = cudaMallocHost(&second, ROOMY) == cudaSuccess;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost(second));
    return finish(has_room);
}
