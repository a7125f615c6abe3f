// expect: SC101 action=deferred kind=registered certainty=observed
//
// The block is large enough for glibc to have mapped it by itself, so free() unmaps it under the
// copy. A driver keeps the old pages pinned; the library must still name the mistake.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_block(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(LARGE, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && holds(owner, LARGE, FOREIGN));
}
