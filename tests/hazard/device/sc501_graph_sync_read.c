// expect: SC501 action=stalled kind=device direction=D2D event=cuMemcpyDtoH_v2 certainty=observed
// options: device=1
//
// A synchronous copy, for which no non-blocking stream waits, fetches what a graph has still to
// write.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream();
    void *input = device_block(SMALL, WANTED);
    void *result = device_block(SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(result, input, SMALL, cudaMemcpyDeviceToDevice, work);

    busy(work);
    CHECK(cudaGraphLaunch(exec, work));
    if (fixed)
        CHECK(cudaStreamSynchronize(work));
    CHECK(cudaMemcpy(target, result, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
