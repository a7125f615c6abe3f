// expect: none
// in-place: SC101 action=deferred kind=pageable
// in-place: wrong
//
// A pageable source is read in the call that launches (docs/driver.md): it may be
// refilled at once, and freed at once if there is no launch to come.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = device_block(SMALL, 0);
    void *source = filled_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    fill(source, SMALL, WANTED);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(first, device, SMALL, cudaMemcpyDeviceToDevice, stream));
    fill(source, SMALL, WANTED + 1);
    CHECK(cudaGraphLaunch(exec, stream));
    fill(source, SMALL, FOREIGN);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    bool right = device_holds(first, SMALL, WANTED) && device_holds(device, SMALL, WANTED + 1);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
