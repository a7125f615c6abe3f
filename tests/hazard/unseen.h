/* For the twins of waits for the host that are not seen: a launch whose host node is in a child
 * graph, and streams that come after it.
 *
 * Whatever takes a stream is statically inline for the reason that busy() is.
 */
#ifndef SC_TESTS_HAZARD_UNSEEN_H
#define SC_TESTS_HAZARD_UNSEEN_H

#include "graphs.h"

static TWIN_HELPER void do_nothing(void *unused)
{
    (void)unused;
}

static TWIN_HELPER cudaGraphExec_t unseen_exec(void)
{
    const struct cudaHostNodeParams host = {do_nothing, NULL};
    cudaGraph_t child = empty_graph();
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddHostNode(&node, child, NULL, 0, &host));
    CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    return instantiate_only(graph);
}

/* Launched, and the other stream comes after it. Returns the event behind it. */
static inline cudaEvent_t launch_unseen(cudaStream_t stream, cudaStream_t behind)
{
    cudaEvent_t launched = new_event();
    CHECK(cudaGraphLaunch(unseen_exec(), stream));
    CHECK(cudaEventRecord(launched, stream));
    CHECK(cudaStreamWaitEvent(behind, launched, 0));
    return launched;
}

#endif
