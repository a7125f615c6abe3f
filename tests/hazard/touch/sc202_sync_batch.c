// expect: SC202 action=stalled kind=pageable certainty=observed event=cuMemcpyHtoD_v2
//
// A batch copy is still to write pageable memory, which a synchronous copy sends on.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    const void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = filled_block(SMALL, FOREIGN);
    size_t size = SMALL, first = 0;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(&between, &from, &size, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
