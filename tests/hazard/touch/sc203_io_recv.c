// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A peer's data are received into a destination whose copy would overwrite them.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    int ends[2];
    void *next = filled_block(SMALL, FOREIGN);
    connected(SOCK_STREAM, SMALL, ends);
    ALL(send(ends[0], next, SMALL, 0), SMALL);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(recv(ends[1], target, SMALL, MSG_WAITALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}
