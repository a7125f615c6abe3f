// expect: SC403 action=stalled kind=pinned certainty=*
//
// A graph of one copy is launched behind a launch of which no call tells that its host node has
// run, and the host waits for that one. The graph is launched again on another stream, where it
// comes after its first launch, and the source is overwritten too early. Of the first launch, which
// is over and not waited for, a latent hazard is said besides where the device is quick.
#include "touch.h"
#include "unseen.h"

int main(void)
{
    cudaStream_t launcher = new_stream();
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, first);

    launch_unseen(launcher, first);
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaStreamSynchronize(launcher));
    busy(second);
    CHECK(cudaGraphLaunch(exec, second));
    if (fixed)
        CHECK(cudaStreamSynchronize(second));
    poke(source, 5);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
