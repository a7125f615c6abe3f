// expect: SC201 action=snapshotted kind=pinned
//
// A page of parameters is sent and at once filled with the next ones.
#include "touch.h"

enum { PARAMETERS = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, WANTED);

    CHECK(cudaMemcpyAsync(device, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, PARAMETERS, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, PARAMETERS, WANTED) && holds(source, PARAMETERS, FOREIGN));
}
