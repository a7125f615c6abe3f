// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A result and a line under it are written to a file before the copy that brings the result has
// run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    char line[] = "the end\n";
    struct iovec pieces[] = {{target, SMALL}, {line, sizeof line}};
    int fd = filled_file(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(writev(fd, pieces, 2), SMALL + sizeof line);

    CHECK(cudaDeviceSynchronize());
    return finish(file_holds(fd, SMALL, WANTED));
}
