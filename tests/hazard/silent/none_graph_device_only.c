// expect: none
//
// A graph that stays on the device, while the program overwrites host memory in flight of nobody.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *host = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemsetAsync(to, 0, SMALL, stream));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    fill(host, SMALL, FOREIGN);
    CHECK(cudaFreeHost(host));
    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, SMALL, WANTED));
}
