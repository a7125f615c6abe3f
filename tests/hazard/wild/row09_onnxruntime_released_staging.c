// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// docs/wild-bugs.md, row 9: the arena shrinks after the capture, and gives the pinned staging block
// of a captured upload back to the driver. The session replays the graph for every request.
#include "graphs.h"

enum { REQUESTS = 3 };

static bool serve(cudaGraphExec_t exec, const void *device, cudaStream_t stream)
{
    bool right = true;
    for (int i = 0; i < REQUESTS; i++) {
        replay(exec, stream);
        right = right && device_holds(device, SMALL, WANTED);
    }
    return right;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *staging = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, staging, SMALL, cudaMemcpyHostToDevice, stream);

    bool right = !fixed || serve(exec, device, stream);
    CHECK(cudaFreeHost(staging));
    void *customer = pinned_block(SMALL, FOREIGN);
    right = right && (fixed || serve(exec, device, stream));

    CHECK(cudaGraphExecDestroy(exec));
    right = right && holds(customer, SMALL, FOREIGN);
    CHECK(cudaFreeHost(customer));
    return finish(right);
}
