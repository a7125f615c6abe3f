// expect: SC102 action=deferred kind=registered certainty=observed
//
// Registered memory is freed while a copy from managed memory is still to write it.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = registered_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(to));
    }
    free(to);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
