// expect: none
//
// The program knows which bodies will not run: their conditions begin as false or choose another
// body, and no kernel sets them. It uses and frees what those bodies name while the launch is in
// flight, and nothing waits for the launch.
#include "conditional.h"

enum { GRAPHS = 5 };

struct named {
    CUdeviceptr device;
    void *source, *result;
};

static void add_copies(CUgraph body, const struct named *named)
{
    add_copy(body, named->device, named->source);
    add_download(body, named->result, named->device);
}

static CUgraph graph_of(int which, const struct named *named)
{
    CUgraph graph = new_graph();
    if (which == 0)
        add_copies(bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 1, 0)[0], named);
    else if (which == 1)
        add_copies(bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 2, 1)[1], named);
    else if (which == 2)
        add_copies(bodies_of(graph, CU_GRAPH_COND_TYPE_SWITCH, 3, 1)[2], named);
    else if (which == 3)
        add_copies(bodies_of(graph, CU_GRAPH_COND_TYPE_WHILE, 1, 0)[0], named);
    else
        add_copies(body_of_if(bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 1, 0)[0]), named);
    return graph;
}

static bool is_left_alone(int which, CUstream stream)
{
    const struct named named = {driver_device_block(SMALL, WANTED),
                                driver_registered_block(SMALL, FOREIGN),
                                driver_pinned_block(SMALL, WANTED)};
    CUgraphExec exec = exec_of(graph_of(which, &named));
    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    fill(named.source, SMALL, which);
    bool right = holds(named.result, SMALL, WANTED);
    fill(named.result, SMALL, FOREIGN);
    bool in_flight = cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    CHECK(cuMemHostUnregister(named.source));
    free(named.source);
    CHECK(cuCtxSynchronize());
    return right && in_flight && driver_device_holds(named.device, SMALL, WANTED) &&
           holds(named.result, SMALL, FOREIGN);
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    bool right = true;
    for (int which = 0; which < GRAPHS; which++)
        right = is_left_alone(which, stream) && right;
    return finish(right);
}
