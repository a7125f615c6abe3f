// expect: SC105 action=deferred
// sim: host_memory=1G
// needs: sim
//
// cudaFreeHost of 600 MB under a copy, and 600 MB more: of a gigabyte that may be page-locked the
// driver has given back the first when it hands out the second, since its cudaFreeHost waits.
#include "twin.h"

enum { ROOMY = 600 << 20 };

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
