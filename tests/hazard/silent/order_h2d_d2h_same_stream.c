// expect: none
//
// A small source that a later copy of the same stream overwrites. Behind a synchronise it differs
// from what was sent, and nobody wrote it too early.
#include "touch.h"

enum { PARAMETERS = 1024 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(PARAMETERS, 0);
    void *from = device_block(PARAMETERS, FOREIGN);
    void *between = pinned_block(PARAMETERS, WANTED);

    CHECK(cudaMemcpyAsync(to, between, PARAMETERS, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(between, from, PARAMETERS, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, PARAMETERS, WANTED) && holds(between, PARAMETERS, FOREIGN));
}
