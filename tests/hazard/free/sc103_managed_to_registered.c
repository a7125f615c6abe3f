// expect: SC103 action=stalled kind=registered certainty=observed
//
// Memory is unregistered while a copy from managed memory is still to write it, and read then.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = managed_block(SMALL, WANTED), *to = registered_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(to));

    bool right = holds(to, SMALL, WANTED);
    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
