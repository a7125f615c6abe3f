/* For the twins of a launch that does nothing, and so orders nothing.
 *
 * A copy waits behind busy() on the first stream, graphs are launched there or elsewhere, and the
 * program writes the source when the second stream is done. Whatever takes a stream is statically
 * inline for the reason that busy() is.
 */
#ifndef SC_TESTS_HAZARD_EMPTY_LAUNCH_H
#define SC_TESTS_HAZARD_EMPTY_LAUNCH_H

#include "graphs.h"
#include "touch.h"

struct empty_launch {
    cudaGraphExec_t exec; /* fixed: clears `cleared` */
    void *cleared;
    void *source; /* of the copy to `device` */
    void *device;
};

/* The graph of the racy build is without nodes, or has one, which is empty. */
static TWIN_HELPER struct empty_launch new_empty_launch(bool with_empty_node)
{
    struct empty_launch launch = {.cleared = device_block(SMALL, 0),
                                  .source = pinned_block(SMALL, WANTED),
                                  .device = device_block(SMALL, 0)};
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = launch.cleared, .elementSize = 1, .width = SMALL, .height = 1};
    if (fixed)
        CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    else if (with_empty_node)
        CHECK(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    launch.exec = instantiate_only(graph);
    return launch;
}

static inline void send_late(const struct empty_launch *launch, cudaStream_t stream)
{
    busy(stream);
    CHECK(cudaMemcpyAsync(launch->device, launch->source, SMALL, cudaMemcpyHostToDevice, stream));
}

/* The source is written when `stream` is done. Was the copy right? */
static inline bool right_after_write(const struct empty_launch *launch, cudaStream_t stream)
{
    CHECK(cudaStreamSynchronize(stream));
    poke(launch->source, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return device_holds(launch->device, SMALL, WANTED);
}

#endif
