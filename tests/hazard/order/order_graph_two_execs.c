// expect: SC204 action=ordered certainty=observed
//
// One graph brings data to a pinned buffer, another carries it on: in one stream. The racy build
// launches them in two.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaGraphExec_t down = captured_exec(between, from, SMALL, cudaMemcpyDeviceToHost, stream);
    cudaGraphExec_t up = captured_exec(to, between, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(down, stream));
    CHECK(cudaGraphLaunch(up, fixed ? stream : other));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
