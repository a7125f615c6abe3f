// expect: SC201 action=stalled kind=pinned certainty=observed
//
// The next batch is read from a file into a source whose copy has not run.
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
    ALL(read(fd, source, SMALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
