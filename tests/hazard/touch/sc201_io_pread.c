// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A few bytes in the middle of a source are read anew from a file before its copy has run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = pinned_block(SMALL, WANTED);
    int fd = filled_file(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(pread(fd, source + 20000, 100, 0), 100);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source + 20000, 100, FOREIGN));
}
