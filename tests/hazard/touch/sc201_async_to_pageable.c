// expect: SC201 action=stalled kind=pageable certainty=observed event=cuMemcpyDtoHAsync_v2
// in-place: SC204 action=ordered kind=pageable event=cuMemcpyDtoHAsync_v2
//
// The same by an asynchronous copy to pageable memory, which the driver completes in the call.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *to = device_block(LARGE, 0);
    void *next = device_block(LARGE, FOREIGN);
    void *memory = filled_block(LARGE, WANTED);
    const void *source = memory;
    size_t size = LARGE, first = 0;
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderAny};

    busy(stream);
    CHECK(cudaMemcpyBatchAsync(&to, &source, &size, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(memory, next, LARGE, cudaMemcpyDeviceToHost, other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, LARGE, WANTED) && holds(memory, LARGE, FOREIGN));
}
