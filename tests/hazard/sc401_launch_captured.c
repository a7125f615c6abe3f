// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A launch is captured itself: what it would copy becomes part of another graph, which outlives the
// exec and the source.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    cudaGraphExec_t inner = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    begin_capture(stream);
    CHECK(cudaGraphLaunch(inner, stream));
    cudaGraphExec_t outer = instantiate_only(end_capture(stream));
    CHECK(cudaGraphExecDestroy(inner));

    if (fixed)
        replay(outer, stream);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(outer, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
