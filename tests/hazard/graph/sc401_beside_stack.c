// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A graph copies registered memory and a local variable. The memory is unregistered before the
// graph is instantiated, for which the copy of the local variable is pointed elsewhere.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0), *other = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    unsigned char local[64];
    fill(local, sizeof local, WANTED);

    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(other, local, sizeof local, cudaMemcpyHostToDevice, stream));
    cudaGraph_t graph = end_capture(stream);
    if (!fixed)
        CHECK(cudaHostUnregister(source));
    cudaGraphExec_t exec = instantiate_only(graph);
    replay(exec, stream);
    if (fixed)
        CHECK(cudaHostUnregister(source));

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && device_holds(other, sizeof local, WANTED));
}
