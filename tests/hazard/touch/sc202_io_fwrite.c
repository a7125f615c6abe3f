// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A large fwrite takes its bytes straight from a destination whose copy has not run.
#include "files.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    int fd = filled_file(SMALL, FOREIGN);
    FILE *file = fdopen(fd, "w");
    if (!file)
        return 3;

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(fwrite(target, 1, SMALL, file), SMALL);
    CHECK(fflush(file));

    CHECK(cudaDeviceSynchronize());
    return finish(file_holds(fd, SMALL, WANTED));
}
