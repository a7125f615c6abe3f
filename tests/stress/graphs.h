/* Graphs: captured or made by hand, launched again and again, changed, and ended. */
#ifndef SC_TESTS_STRESS_GRAPHS_H
#define SC_TESTS_STRESS_GRAPHS_H

#include "touches.h"

static struct buffer *source_of(const struct node *node)
{
    switch (node->kind) {
    case NODE_UP:
        return &node->slot->host;
    case NODE_DOWN:
        return &node->slot->device;
    default:
        return NULL;
    }
}

static struct buffer *target_of(const struct node *node)
{
    bool host = node->kind == NODE_DOWN || node->kind == NODE_HOST || node->on_host;
    return host ? &node->slot->host : &node->slot->device;
}

static void add_to_bytes(unsigned char *bytes, size_t size_bytes, unsigned char value)
{
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(bytes[i] + value);
}

/* A node of the graph that is launched. It stays as it is while a launch is in flight. */
static void CUDART_CB run_node(void *given)
{
    const struct node *node = given;
    add_to_bytes(node->slot->host.bytes + node->to, node->size_bytes, node->value);
}

static void choose_part(struct node *node)
{
    struct part part = any_part(node->slot->host.size_bytes);
    node->size_bytes = part.size_bytes;
    node->from = part.at;
    node->to = below(node->slot->host.size_bytes - part.size_bytes + 1);
    node->value = (unsigned char)below(256);
}

static struct node any_node(void)
{
    static const enum node_kind kinds[] = {NODE_UP,   NODE_UP,  NODE_DOWN, NODE_DOWN,
                                           NODE_DOWN, NODE_SET, NODE_SET,  NODE_HOST};
    struct node node = {.kind = kinds[below(sizeof kinds / sizeof *kinds)]};

    do
        node.slot = me->slots[below(me->owned)];
    while (node.slot->host.pageable);
    node.on_host = node.kind == NODE_SET && (device_count > 1 || one_in(2));
    choose_part(&node);
    return node;
}

static enum cudaMemcpyKind kind_of(const struct node *node)
{
    return node->kind == NODE_UP ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
}

/* ---- making ---- */

static void issue_node(struct node *node, cudaStream_t stream)
{
    unsigned char *target = target_of(node)->bytes + node->to;

    if (node->kind == NODE_HOST)
        MUST(cudaLaunchHostFunc(stream, run_node, node));
    else if (node->kind == NODE_SET)
        MUST(cudaMemsetAsync(target, node->value, node->size_bytes, stream));
    else
        MUST(cudaMemcpyAsync(target, source_of(node)->bytes + node->from, node->size_bytes,
                             kind_of(node), stream));
}

/* In turns on two streams, each of which waits for the other. */
static void capture_nodes(struct graph *graph)
{
    struct lane *first = &me->lanes[0], *second = &me->lanes[1], *now = first;

    MUST(pthread_rwlock_rdlock(captures));
    on_lane(first);
    MUST(cudaStreamBeginCapture(first->stream, one_in(2) ? cudaStreamCaptureModeThreadLocal
                                                         : cudaStreamCaptureModeRelaxed));
    for (unsigned i = 0; i < graph->count; i++) {
        struct lane *next = one_in(3) ? second : first;
        if (next != now) {
            MUST(cudaEventRecord(now->event, now->stream));
            MUST(cudaStreamWaitEvent(next->stream, now->event, 0));
        }
        now = on_lane(next);
        issue_node(&graph->nodes[i], now->stream);
    }
    if (now != first) {
        MUST(cudaEventRecord(now->event, now->stream));
        MUST(cudaStreamWaitEvent(first->stream, now->event, 0));
    }
    MUST(cudaStreamEndCapture(first->stream, &graph->graph));
    MUST(pthread_rwlock_unlock(captures));
}

static void add_node(cudaGraph_t graph, struct node *node, const cudaGraphNode_t *after)
{
    unsigned char *target = target_of(node)->bytes + node->to;
    size_t count = after ? 1 : 0;
    struct cudaHostNodeParams call = {.fn = run_node, .userData = node};
    struct cudaMemsetParams set = {.dst = target,
                                   .value = node->value,
                                   .elementSize = 1,
                                   .width = node->size_bytes,
                                   .height = 1};

    if (node->kind == NODE_HOST)
        MUST(cudaGraphAddHostNode(&node->handle, graph, after, count, &call));
    else if (node->kind == NODE_SET)
        MUST(cudaGraphAddMemsetNode(&node->handle, graph, after, count, &set));
    else
        MUST(cudaGraphAddMemcpyNode1D(&node->handle, graph, after, count, target,
                                      source_of(node)->bytes + node->from, node->size_bytes,
                                      kind_of(node)));
}

static cudaGraph_t graph_of_nodes(struct graph *graph)
{
    cudaGraph_t made;

    MUST(cudaGraphCreate(&made, 0));
    for (unsigned i = 0; i < graph->count; i++)
        add_node(made, &graph->nodes[i], i ? &graph->nodes[i - 1].handle : NULL);
    return made;
}

static void make_graph(struct graph *graph)
{
    *graph = (struct graph){.count = 1 + (unsigned)below(NODES_MAX), .by_hand = one_in(2)};
    for (unsigned i = 0; i < graph->count; i++) {
        graph->nodes[i] = any_node();
        graph->nodes[i].slot->named++;
        graph->calls_host = graph->calls_host || graph->nodes[i].kind == NODE_HOST;
    }
    if (graph->by_hand)
        graph->graph = graph_of_nodes(graph);
    else
        capture_nodes(graph);
    if (!graph->by_hand && one_in(3)) {
        cudaGraph_t clone;
        MUST(cudaGraphClone(&clone, graph->graph));
        MUST(cudaGraphDestroy(graph->graph));
        graph->graph = clone;
    }
    MUST(cudaGraphInstantiate(&graph->exec, graph->graph, 0));
    if (!graph->by_hand && one_in(2)) {
        MUST(cudaGraphDestroy(graph->graph));
        graph->graph = NULL;
    }
}

/* ---- using ---- */

static void play_node(const struct node *node)
{
    unsigned char *target = target_of(node)->wanted + node->to;

    if (node->kind == NODE_HOST)
        add_to_bytes(target, node->size_bytes, node->value);
    else if (node->kind == NODE_SET)
        memset(target, node->value, node->size_bytes);
    else
        memcpy(target, source_of(node)->wanted + node->from, node->size_bytes);
}

static void launch_graph(struct graph *graph, struct lane *lane)
{
    for (unsigned i = 0; i < graph->count; i++) {
        struct node *node = &graph->nodes[i];
        if (source_of(node))
            lane_may_read(lane, source_of(node));
        lane_may_write(lane, target_of(node));
    }
    MUST(cudaGraphLaunch(graph->exec, lane->stream));
    graph->latest = point_on(lane);
    for (unsigned i = 0; i < graph->count; i++) {
        struct node *node = &graph->nodes[i];
        if (source_of(node))
            lane_reads(lane, source_of(node));
        lane_writes(lane, target_of(node));
        play_node(node);
    }
}

/* Other bytes for its nodes, by changing the exec node by node or as a whole. */
static void change_graph(struct graph *graph)
{
    if (graph->calls_host || one_in(2))
        host_after(&graph->latest);
    if (one_in(2)) {
        struct node *node = &graph->nodes[below(graph->count)];
        if (!source_of(node))
            return;
        choose_part(node);
        MUST(cudaGraphExecMemcpyNodeSetParams1D(
            graph->exec, node->handle, target_of(node)->bytes + node->to,
            source_of(node)->bytes + node->from, node->size_bytes, kind_of(node)));
        return;
    }
    for (unsigned i = 0; i < graph->count; i++)
        choose_part(&graph->nodes[i]);
    cudaGraphExecUpdateResultInfo result;
    cudaGraph_t other = graph_of_nodes(graph);
    MUST(cudaGraphExecUpdate(graph->exec, other, &result));
    MUST(cudaGraphDestroy(other));
    graph->by_hand = false; /* the nodes that the exec was made of have other handles */
}

static void end_graph(struct graph *graph)
{
    if (!graph->exec)
        return;
    if (graph->calls_host || one_in(2))
        host_after(&graph->latest);
    MUST(cudaGraphExecDestroy(graph->exec));
    if (graph->graph)
        MUST(cudaGraphDestroy(graph->graph));
    for (unsigned i = 0; i < graph->count; i++)
        graph->nodes[i].slot->named--;
    *graph = (struct graph){0};
}

static void step_graph(void)
{
    struct graph *graph = &me->graphs[below(GRAPHS)];

    if (!graph->exec)
        make_graph(graph);
    for (size_t turns = 1 + below(4); turns > 0; turns--) {
        struct lane *lane = any_lane();
        launch_graph(graph, lane);
        if (one_in(3)) { /* its input is filled again, or its result looked at, when it is done */
            struct slot *slot = graph->nodes[below(graph->count)].slot;
            host_may_write(&slot->host);
            expect_bytes(slot->host.bytes, slot->host.wanted, slot->host.size_bytes,
                         "after a launch");
            rewrite(slot);
        }
    }
    if (graph->by_hand && one_in(3))
        change_graph(graph);
    if (one_in(6))
        end_graph(graph);
}

#endif
