// expect: none
//
// A batch on the legacy stream is refused, and nothing of it happens: what it would have run into
// is none of its business. The program then makes the copies in order.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *other = device_block(SMALL, FOREIGN);
    void *result = pinned_block(SMALL, 0);
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    const void *source = other;
    size_t size = SMALL;
    size_t first = 0;

    busy(stream);
    CHECK(cudaMemcpyAsync(result, from, SMALL, cudaMemcpyDeviceToHost, stream));
    bool refused = cudaMemcpyBatchAsync(&result, &source, &size, 1, &attributes, &first, 1,
                                        cudaStreamLegacy) == cudaErrorInvalidValue;
    bool named = cudaGetLastError() == cudaErrorInvalidValue;
    batch_copy(from, other, SMALL, cudaMemcpySrcAccessOrderStream, stream);

    CHECK(cudaDeviceSynchronize());
    return finish(refused && named && holds(result, SMALL, WANTED) &&
                  device_holds(from, SMALL, FOREIGN));
}
