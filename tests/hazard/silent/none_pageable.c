// expect: none
// in-place: SC101 action=deferred kind=pageable
// in-place: SC102 action=deferred kind=pageable
// in-place: SC201 action=reported kind=stack
// in-place: wrong
//
// Pageable memory in ordinary asynchronous copies: staged in the call, or waited for by it. Stack
// and heap may go as soon as the call returns.
#include "twin.h"

static void upload_a_local(void *device, cudaStream_t stream)
{
    unsigned char local[4096];
    fill(local, sizeof local, WANTED);
    busy(stream);
    CHECK(cudaMemcpyAsync(device, local, sizeof local, cudaMemcpyHostToDevice, stream));
    memset(local, 0, sizeof local);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *small = device_block(4096, 0);
    void *large = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *target = filled_block(SMALL, 0);

    upload_a_local(small, stream);
    CHECK(cudaMemcpyAsync(large, source, SMALL, cudaMemcpyHostToDevice, stream));
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaMemcpyAsync(target, large, SMALL, cudaMemcpyDeviceToHost, stream));
    bool right = holds(target, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);
    free(target);
    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(small, 4096, WANTED));
}
