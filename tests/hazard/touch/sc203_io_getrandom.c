// expect: SC203 action=stalled kind=pinned certainty=observed
//
// Random bytes are asked for in a destination whose copy would overwrite them.
#include "files.h"

#include <sys/random.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    unsigned char *target = pinned_block(SMALL, 0);
    unsigned char before[256];

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(getrandom(target + 4096, sizeof before, 0), sizeof before);
    memcpy(before, target + 4096, sizeof before);

    CHECK(cudaDeviceSynchronize());
    return finish(memcmp(target + 4096, before, sizeof before) == 0);
}
