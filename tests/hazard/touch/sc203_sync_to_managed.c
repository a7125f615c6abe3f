// expect: SC203 action=stalled kind=managed direction=D2H certainty=observed event=cuMemcpyHtoD_v2
//
// A synchronous copy of the kind that names managed memory as the device's writes there what a copy
// on another stream is still to write.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = pinned_block(SMALL, FOREIGN), *managed = managed_block(SMALL, FOREIGN);
    void *last = pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(managed, from, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(managed, last, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(managed, SMALL, WANTED));
}
