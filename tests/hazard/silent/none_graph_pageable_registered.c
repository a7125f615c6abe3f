// expect: none
// in-place: SC403 action=stalled
// in-place: wrong
//
// Memory is captured while it is pageable, registered for a time, and unregistered before a launch.
// A node uses its memory as it was captured: each launch has read its source when it returns, and
// waits until its target is written, whatever is registered by then (docs/driver.md, Q28).
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0), *other = device_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED), *target = filled_block(SMALL, 0);
    cudaGraph_t up = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t down = captured_copy(target, other, SMALL, cudaMemcpyDeviceToHost, stream);
    cudaGraphExec_t early_up = instantiate(up), early_down = instantiate(down);
    CHECK(cudaHostRegister(source, SMALL, 0));
    CHECK(cudaHostRegister(target, SMALL, 0));
    cudaGraphExec_t late_up = instantiate_only(up), late_down = instantiate_only(down);
    replay(late_up, stream);
    replay(early_up, stream);
    bool good = device_holds(device, SMALL, WANTED);
    replay(late_down, stream);
    replay(early_down, stream);
    good = holds(target, SMALL, FOREIGN) && good;

    fill(source, SMALL, WANTED + 2);
    busy(stream);
    CHECK(cudaGraphLaunch(late_up, stream));
    fill(source, SMALL, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    good = device_holds(device, SMALL, WANTED + 2) && good;
    fill(target, SMALL, 0);
    busy(stream);
    CHECK(cudaGraphLaunch(late_down, stream));
    good = holds(target, SMALL, FOREIGN) && good;

    CHECK(cudaHostUnregister(source));
    CHECK(cudaHostUnregister(target));
    fill(source, SMALL, WANTED + 1);
    replay(early_up, stream);
    replay(late_up, stream);
    replay(early_down, stream);
    replay(late_down, stream);
    return finish(device_holds(device, SMALL, WANTED + 1) && holds(target, SMALL, FOREIGN) && good);
}
