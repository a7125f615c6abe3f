// expect: SC101 action=deferred kind=registered certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// Built for the per-thread default stream: every call goes to its _ptsz variant. The same mistake.
#include "twin.h"

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(0);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, 0));
    if (fixed) {
        CHECK(cudaStreamSynchronize(0));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
