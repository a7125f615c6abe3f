// expect: SC202 action=stalled kind=pinned certainty=observed event=access
//
// The name of a file is used before the copy has brought it.
#include "files.h"

int main(void)
{
    static const char name[] = "/proc/self/exe";
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    char *target = (char *)pinned_block(SMALL, 0);
    CHECK(cudaMemcpy(device, name, sizeof name, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool found = access(target, R_OK) == 0;

    CHECK(cudaDeviceSynchronize());
    return finish(found);
}
