// expect: SC502 action=ordered kind=device direction=free event=cuMemcpyHtoDAsync_v2
// options: device=1
//
// A graph frees memory that another one has allocated, and another stream fills the memory without
// an order. In the fixed build the memory is filled before the launch, which comes after that. (A
// real driver refuses the copy from the launch on: H100, driver 580.)
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream(), other = new_stream();
    cudaEvent_t done = new_event();
    void *source = pinned_block(SMALL, WANTED), *memory = NULL;
    begin_capture(other);
    CHECK(cudaMallocAsync(&memory, SMALL, other));
    cudaGraphExec_t allocates = instantiate_only(end_capture(other));
    begin_capture(other);
    CHECK(cudaFreeAsync(memory, other));
    cudaGraphExec_t frees = instantiate_only(end_capture(other));

    CHECK(cudaGraphLaunch(allocates, other));
    CHECK(cudaStreamSynchronize(other));
    if (fixed)
        CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, work));
    CHECK(cudaEventRecord(done, work));
    CHECK(cudaStreamWaitEvent(other, done, 0));
    busy(other);
    CHECK(cudaGraphLaunch(frees, other));
    if (!fixed) {
        cudaError_t result = cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, work);
        CHECK(result != cudaSuccess && result != cudaErrorInvalidValue);
    }

    CHECK(cudaDeviceSynchronize());
    return finish(true);
}
