// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A graph of an upload and a download. Only the buffer of the download is freed too early.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(target));
    }
    free(target);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaFreeHost(source));
    return finish(holds(owner, SMALL, FOREIGN) && device_holds(device, SMALL, WANTED));
}
