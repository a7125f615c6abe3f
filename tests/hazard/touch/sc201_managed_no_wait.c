// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A copy from pinned to managed memory returns at once, and says nothing of what came before it on
// its stream: the source of the upload there is still to be read.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *word = pinned_block(ROW_BYTES, WANTED), *managed = managed_block(ROW_BYTES, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(managed, word, ROW_BYTES, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
