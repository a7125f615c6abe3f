// expect: SC202 action=stalled kind=managed direction=D2H certainty=observed event=cuMemcpy*
// in-place: SC202 action=stalled kind=managed event=cuMemcpy*
// in-place: wrong
//
// A copy from pageable to managed memory has read its source when the call returns, and writes its
// target in the stream's order: a synchronous copy that reads it there comes too early.
#include "managed.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = filled_block(SMALL, WANTED), *managed = managed_block(SMALL, FOREIGN);
    void *to = filled_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(managed, from, SMALL, cudaMemcpyDefault, stream));
    fill(from, SMALL, FOREIGN);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, managed, SMALL, cudaMemcpyDefault));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(to, SMALL, WANTED));
}
