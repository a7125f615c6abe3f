// expect: SC202 action=stalled kind=pageable certainty=observed event=cuMemcpyHtoDAsync_v2
// in-place: SC204 action=ordered kind=pageable event=cuMemcpyHtoDAsync_v2
//
// The driver stages a pageable source in the call, while a batch copy on another stream is still to
// write it.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    const void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = filled_block(SMALL, FOREIGN);
    size_t size = SMALL, first = 0;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(&between, &from, &size, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
