// expect: SC102 action=deferred kind=registered certainty=observed
//
// One block is the source of a finished copy and the target of an unfinished one: only the latter
// makes its free a mistake.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *block = registered_block(SMALL, WANTED);

    CHECK(cudaMemcpyAsync(device, block, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(block, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(block));
    }
    free(block);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
