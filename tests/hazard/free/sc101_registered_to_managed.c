// expect: SC101 action=deferred kind=registered certainty=observed
//
// Registered memory is freed while a copy to managed memory is still to read it.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = registered_block(SMALL, WANTED), *to = managed_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(from));
    }
    free(from);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
