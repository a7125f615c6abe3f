// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2
//
// The result of a launch is sent on before it is there.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(between, from, SMALL, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
