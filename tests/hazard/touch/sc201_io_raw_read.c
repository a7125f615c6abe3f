// expect: SC201 action=stalled kind=pinned certainty=observed event=read
//
// The next batch is read into a source whose copy has not run, by the number of the system call.
#include "files.h"

#include <sys/syscall.h>

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
    ALL(syscall(SYS_read, fd, source, SMALL), SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
