// expect: none
//
// Managed memory: prefetched, sent and fetched, with the host at work in other parts of it all the
// while. It is the driver that protects its pages, and nobody else may.
#include "touch.h"

int main(void)
{
    char *managed = NULL;
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, WANTED);
    CHECK(cudaMallocManaged((void **)&managed, 4 * SMALL, cudaMemAttachGlobal));
    fill(managed, SMALL, WANTED);
    fill(managed + SMALL, SMALL, FOREIGN);

    CHECK(cudaMemcpyAsync(to, managed, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(managed + 2 * SMALL, from, SMALL, cudaMemcpyDeviceToHost, stream));
    bool right = holds(managed, SMALL, WANTED);
    fill(managed + SMALL, SMALL, WANTED);
    poke(managed + 3 * SMALL, 0);

    CHECK(cudaStreamSynchronize(stream));
    right = right && holds(managed + SMALL, SMALL, WANTED) && device_holds(to, SMALL, WANTED);
    return finish(right && holds(managed + 2 * SMALL, SMALL, WANTED));
}
