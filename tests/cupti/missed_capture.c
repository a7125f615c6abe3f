// run: strict=1 -> coverage.missed=3 hazards=0
// run: mode=report -> coverage.missed=3 hazards=0
// run: strict=1 LEGACY=1 -> hazard:code=SC301 hazard:action=rerouted exit=66
/* A capture that no wrapper saw: the library records nothing on its stream, and knows who would
 * break it. */
#include "around.h"

int main(void)
{
    CUgraph graph;
    size_t nodes = 0;
    set_up();
    copy();
    go_around();
    CUDA(direct.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUDA(direct.copy(on_device(), pinned, BYTES, stream));
    CUDA(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (getenv("LEGACY"))
        CUDA(cudaMemset(device, 0, BYTES));
    CUDA(direct.end_capture(stream, &graph));
    CUDA(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 2);
    CUDA(cuGraphDestroy(graph));
    copy();
    return 0;
}
