// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The source is freed between the capture and the instantiation: it is the graph that names it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    cudaGraph_t graph = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(instantiate(graph), stream);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(instantiate(graph), stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
