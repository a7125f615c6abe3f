// expect: none
//
// One exec on two streams. Its launches follow each other, so that there is nothing unordered about
// the buffer that both of them write.
#include "graphs.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, first);

    busy(first);
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaGraphLaunch(exec, second));
    CHECK(cudaStreamSynchronize(second));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaStreamSynchronize(first));
    return finish(right && holds(target, SMALL, WANTED));
}
