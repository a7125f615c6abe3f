// expect: none
//
// A prefetch of managed memory is in flight, which neither reads nor writes it.
#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    struct cudaMemLocation host = {.type = cudaMemLocationTypeHost};
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    char *managed = NULL;
    CHECK(cudaMallocManaged((void **)&managed, 2 * SMALL, cudaMemAttachGlobal));

    shut_gate(&gate, stream);
    CHECK(cudaMemPrefetchAsync(managed, 2 * SMALL, host, 0, stream));
    CHECK(cudaMemcpy(managed, from, SMALL, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(managed + SMALL, 0, SMALL));
    CHECK(cudaMemcpyAsync(managed + SMALL, from, SMALL, cudaMemcpyDeviceToHost, other));
    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaMemcpy(to, managed + SMALL, SMALL, cudaMemcpyHostToDevice));
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    return finish(!gate.gave_up && holds(managed, SMALL, WANTED) &&
                  device_holds(to, SMALL, WANTED));
}
