// expect: SC102 action=deferred kind=registered certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// The per-thread default stream: a sleep on it holds up its copies and no other stream's.
#include "twin.h"

int main(void)
{
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    busy(0);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, 0));
    if (fixed) {
        CHECK(cudaStreamSynchronize(0));
        CHECK(cudaHostUnregister(target));
    }
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
