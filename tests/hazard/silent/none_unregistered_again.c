// expect: none
// in-place: SC101 action=deferred kind=pageable
//
// An address that was registered and copied from in the past is ordinary heap memory now: a
// pageable copy from it may be freed at once.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *block = registered_block(SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(device, block, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(block));
    free(block);

    void *again = filled_block(SMALL, WANTED);
    busy(stream);
    CHECK(cudaMemcpyAsync(device, again, SMALL, cudaMemcpyHostToDevice, stream));
    free(again);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
