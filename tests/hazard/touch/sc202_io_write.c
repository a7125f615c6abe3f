// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A result is written to a file before the copy that brings it has run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    int fd = filled_file(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(write(fd, target, SMALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(file_holds(fd, SMALL, WANTED));
}
