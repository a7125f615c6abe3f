// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A message is received into a source whose copy has not run; datagrams come only once.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = pinned_block(SMALL, WANTED);
    int ends[2];
    struct iovec piece = {source, SMALL};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    void *next = filled_block(SMALL, FOREIGN);
    connected(SOCK_DGRAM, SMALL, ends);
    ALL(send(ends[0], next, SMALL, 0), SMALL);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(recvmsg(ends[1], &message, 0), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
