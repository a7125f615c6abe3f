#include "announce.h"

#include "graph.h"

#include <stdlib.h>

_Atomic(sim_event_callback *) sim_event_hook;

/* Noted by this thread, and not delivered yet. */
static __thread struct {
    struct sim_event *list;
    unsigned count, capacity;
} noted;

void sim_cuda_set_event_callback(sim_event_callback *callback)
{
    atomic_store(&sim_event_hook, callback);
}

void sim_announce_locked(const struct sim_event *event)
{
    if (!sim_announces())
        return;
    if (noted.count == noted.capacity) {
        unsigned capacity = noted.capacity ? 2 * noted.capacity : 16;
        struct sim_event *list = realloc(noted.list, capacity * sizeof *list);
        if (!list)
            return;
        noted.list = list;
        noted.capacity = capacity;
    }
    noted.list[noted.count++] = *event;
    sim_thread.announces = true;
}

/* Callbacks may call the driver, and note events of their own meanwhile. */
void sim_announce_deliver(void)
{
    sim_event_callback *hook = atomic_load(&sim_event_hook);
    __typeof__(noted) due = noted;
    noted.list = NULL;
    noted.count = noted.capacity = 0;
    sim_thread.announces = false;
    for (unsigned i = 0; hook && i < due.count; i++)
        hook(&due.list[i]);
    free(due.list);
}

void sim_announce_context_locked(enum sim_resource resource, CUcontext context)
{
    sim_announce_locked(&(struct sim_event){.resource = resource, .context = context});
}

void sim_announce_stream_locked(enum sim_resource resource, CUstream stream)
{
    sim_announce_locked(
        &(struct sim_event){.resource = resource, .context = stream->context, .stream = stream});
}

void sim_announce_graph_locked(enum sim_resource resource, CUgraph graph)
{
    sim_announce_locked(&(struct sim_event){.resource = resource, .graph = graph});
}

void sim_announce_node_locked(enum sim_resource resource, CUgraphNode node)
{
    struct sim_event event = {.resource = resource, .graph = node->graph, .node = node};
    if (resource == SIM_NODE_BEGINS)
        event.node_type = node->type;
    if (resource == SIM_NODE_CLONED) {
        event.original_node = node->twin;
        event.original_graph = node->twin->graph;
    }
    sim_announce_locked(&event);
}

void sim_announce_exec_locked(enum sim_resource resource, CUgraphExec exec, CUgraph graph)
{
    sim_announce_locked(&(struct sim_event){.resource = resource, .graph = graph, .exec = exec});
}

static void announce_end_of_node_locked(CUgraphNode node)
{
    sim_announce_node_locked(SIM_NODE_ENDS, node);
    if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->params.child)
        sim_announce_end_of_graph_locked(node->params.child);
    else if (node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        for (unsigned i = 0; i < node->params.condition.count; i++)
            sim_announce_end_of_graph_locked(node->params.condition.bodies[i]);
}

void sim_announce_end_of_graph_locked(CUgraph graph)
{
    if (!sim_announces())
        return;
    sim_announce_graph_locked(SIM_GRAPH_ENDS, graph);
    for (CUgraphNode node = graph->first; node; node = node->next)
        announce_end_of_node_locked(node);
}

void sim_announce_end_of_node_locked(CUgraphNode node)
{
    if (sim_announces())
        announce_end_of_node_locked(node);
}

void sim_announce_wait_locked(CUcontext context, CUstream stream)
{
    sim_announce_locked(&(struct sim_event){
        .wait = stream ? SIM_STREAM_WAITED_FOR : SIM_CONTEXT_WAITED_FOR,
        .context = context,
        .stream = stream,
    });
}
