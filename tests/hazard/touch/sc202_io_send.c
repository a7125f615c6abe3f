// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A result is sent to a peer before the copy that brings it has run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    int ends[2];
    void *arrived = filled_block(SMALL, 0);
    connected(SOCK_STREAM, SMALL, ends);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(send(ends[0], target, SMALL, 0), SMALL);
    ALL(recv(ends[1], arrived, SMALL, MSG_WAITALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(arrived, SMALL, WANTED));
}
