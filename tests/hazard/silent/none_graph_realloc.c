// expect: none
//
// Buffers that a graph names grow and shrink once the last launch is complete. What they held goes
// along.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *shrunk = filled_block(SMALL, WANTED);
    void *grown = filled_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, shrunk, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(device, grown, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    replay(exec, stream);
    shrunk = realloc(shrunk, SMALL / 4);
    grown = realloc(grown, 4 * SMALL);
    if (!shrunk || !grown)
        return 3;
    bool right = holds(shrunk, SMALL / 4, WANTED) && holds(grown, SMALL, WANTED);

    CHECK(cudaGraphExecDestroy(exec));
    free(shrunk);
    free(grown);
    return finish(right && device_holds(device, SMALL, WANTED));
}
