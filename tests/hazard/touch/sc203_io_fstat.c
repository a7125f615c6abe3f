// expect: SC203 action=stalled kind=pinned certainty=observed event=fstat
//
// What the kernel says of a file is put into a destination whose copy would overwrite it.
#include "files.h"

#include <sys/stat.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    struct stat *said = (struct stat *)(void *)target;
    int fd = filled_file(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(fstat(fd, said));

    CHECK(cudaDeviceSynchronize());
    return finish(said->st_size == SMALL && S_ISREG(said->st_mode));
}
