// expect: SC201 action=stalled kind=pageable certainty=observed event=cuMemcpyDtoH_v2
//
// A batch copy that reads pageable memory late, which a synchronous copy overwrites.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
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
    CHECK(cudaMemcpy(memory, next, LARGE, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, LARGE, WANTED) && holds(memory, LARGE, FOREIGN));
}
