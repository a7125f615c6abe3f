// expect: SC204 action=ordered kind=pinned certainty=observed
//
// The launches of one exec follow each other, also when the stream of the former one is destroyed
// and another made in its place. The racy build launches another graph at last.
#include "graphs.h"

static cudaGraphExec_t capture_work(cudaStream_t stream)
{
    void *scratch = device_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemsetAsync(scratch, 1, SMALL, stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = capture_work(up);
    cudaGraphExec_t other = capture_work(up);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaGraphLaunch(exec, up));
    CHECK(cudaStreamDestroy(up));
    up = new_stream();
    CHECK(cudaGraphLaunch(fixed ? exec : other, up));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
