// expect: SC401 action=held certainty=observed event=cuGraphLaunch
// sim: driver=13050
// needs: sim
//
// A driver that makes nodes of a batch in a capture: nothing is missing from the graph, and the
// graph names the sources.
#include "batch.h"
#include "graphs.h"

enum { COPIES = 2 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[COPIES];
    void *staging[COPIES];
    const void *sources[COPIES];
    size_t sizes[COPIES] = {SMALL, SMALL};
    cudaGraph_t graph = NULL;
    for (int i = 0; i < COPIES; i++) {
        targets[i] = device_block(SMALL, 0);
        sources[i] = staging[i] = pinned_block(SMALL, WANTED);
    }

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    batch_copies(targets, sources, sizes, COPIES, cudaMemcpySrcAccessOrderStream, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = instantiate(graph);

    if (fixed)
        replay(exec, stream);
    CHECK(cudaFreeHost(staging[1]));
    void *owner = pinned_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);
    return finish(device_holds(targets[0], SMALL, WANTED) &&
                  device_holds(targets[1], SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
