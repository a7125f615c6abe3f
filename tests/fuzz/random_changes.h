/* Nodes that are added and destroyed by hand, in bodies of conditional nodes as well, and nodes
 * that come to name other memory, in a graph or in an exec; execs that are brought up to date with
 * their graph; nodes that are disabled. From the next launch on: what is in flight stays as it is.
 * A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_CHANGES_H
#define SC_TESTS_FUZZ_RANDOM_CHANGES_H

static CUDA_MEMCPY3D copy_of(const struct graph_node *node)
{
    CUDA_MEMCPY3D copy = {.WidthInBytes = node->size_bytes, .Height = 1, .Depth = 1};
    const CUmemorytype own = is_unified() ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
    const CUmemorytype other = is_unified() ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
    copy.srcMemoryType = node->direction == H2D ? own : other;
    copy.dstMemoryType = node->direction == H2D ? other : own;
    if (node->direction == H2D) {
        copy.srcHost = (void *)node->address;
        copy.srcDevice = node->address;
        copy.dstDevice = world.device + node->cell->device_offset;
    } else {
        copy.srcDevice = world.device + node->device_offset;
        copy.dstHost = (void *)node->address;
        copy.dstDevice = node->address;
    }
    return copy;
}

static CUDA_MEMSET_NODE_PARAMS memset_of(const struct graph_node *node)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = node->address,
                                     .value = node->value,
                                     .elementSize = 1,
                                     .width = node->size_bytes,
                                     .height = 1};
}

/* `exec`: or NULL, in the graph. */
static void set_node(CUgraphExec exec, const struct graph_node *node)
{
    CUDA_MEMCPY3D copy = copy_of(node);
    CUDA_MEMSET_NODE_PARAMS fill = memset_of(node);
    if (node->direction == MEMSET && exec)
        CHECK(cuGraphExecMemsetNodeSetParams(exec, node->name, &fill, baton.context));
    else if (node->direction == MEMSET)
        CHECK(cuGraphMemsetNodeSetParams(node->name, &fill));
    else if (exec)
        CHECK(cuGraphExecMemcpyNodeSetParams(exec, node->name, &copy, baton.context));
    else
        CHECK(cuGraphMemcpyNodeSetParams(node->name, &copy));
}

/* The body of a new conditional node behind others, which runs in every launch. */
static CUgraph new_body(CUgraph graph, const CUgraphNode *nodes, size_t count, CUgraphNode *added)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.type = one_in(2) ? CU_GRAPH_COND_TYPE_IF : CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = 2;
    params.conditional.ctx = baton.context;
    unsigned value = (unsigned)below(2);
    CHECK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, baton.context, value,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CHECK(cuGraphAddNode(added, graph, nodes, NULL, count, &params));
    bool second = params.conditional.type == CU_GRAPH_COND_TYPE_IF ? !value : value;
    return params.conditional.phGraph_out[second];
}

/* In a body within a body, too. KNOWN: what a kernel may choose is not held against anything. */
static void add_in_body(const struct graph *graph, struct graph_node *node, CUgraph *into,
                        CUgraphNode *nodes, size_t *count)
{
    CUgraphNode inner;
    if (graph->own.address_count || one_in(3))
        return;
    *into = new_body(*into, nodes, *count, &node->around);
    *count = 0;
    if (one_in(3))
        *into = new_body(*into, nodes, 0, &inner);
    say("  in a body");
}

/* Behind all that there is. */
static void act_add_node(void)
{
    CUgraphNode nodes[64];
    size_t count = sizeof nodes / sizeof *nodes;
    struct graph *graph = pick_graph(has_handle);
    /* KNOWN: not judged is what stands behind a host node, or one that waits */
    if (graph && (graph->own.has_host || graph->own.wait_count))
        return;
    struct graph_node node = {.place = next_place(), .direction = below(7) % 3, .added = true};
    if (!graph || graph->own.count == GRAPH_NODES || !pick_memory(&node) ||
        clashes(&graph->own, NOBODY, &node) || !pick_content(&node))
        return;
    CUDA_MEMCPY3D copy = copy_of(&node);
    CUDA_MEMSET_NODE_PARAMS fill = memset_of(&node);
    say("a node is added to graph %d", (int)(graph - graphs));
    say_node("it is", &node);
    CUgraph into = graph->handle;
    CHECK(cuGraphGetNodes(into, nodes, &count));
    add_in_body(graph, &node, &into, nodes, &count);
    if (node.direction == MEMSET)
        CHECK(cuGraphAddMemsetNode(&node.name, into, nodes, count, &fill, baton.context));
    else
        CHECK(cuGraphAddMemcpyNode(&node.name, into, nodes, count, &copy, baton.context));
    graph->own.list[graph->own.count++] = node;
    graph->is_reshaped = true;
}

/* The last one: with another its neighbours would lose their order. */
static void act_destroy_node(void)
{
    struct graph *graph = pick_graph(has_handle);
    struct graph_node *last = graph ? &graph->own.list[graph->own.count - 1] : NULL;
    if (!last || !last->added || graph->own.count == 1)
        return;
    say("the last node of graph %d is destroyed", (int)(graph - graphs));
    CHECK(cuGraphDestroyNode(last->around ? last->around : last->name));
    for (int i = 0; i < graph->made.count; i++)
        if (graph->made.list[i].name == last->name)
            graph->made.list[i].name = NULL;
    graph->own.count--;
    graph->is_reshaped = true;
}

/* An exec knows the nodes of the graph that it was made from, for as long as that is there. */
static bool knows_nodes(const struct graph *graph)
{
    return graph->exec && graph->handle && graph->is_original;
}

static void act_change_node(void)
{
    struct graph *graph = pick_graph(has_handle);
    if (!graph)
        return;
    bool in_exec = knows_nodes(graph) && !one_in(3);
    struct graph_nodes *nodes = in_exec ? &graph->made : &graph->own;
    int at = below(nodes->count);
    struct graph_node node = nodes->list[at];
    if (!node.name || !pick_memory(&node) || clashes(nodes, at, &node) || !pick_content(&node))
        return;
    say("node %d of %s %d is changed", at, in_exec ? "exec" : "graph", (int)(graph - graphs));
    say_node("to", &node);
    set_node(in_exec ? graph->exec : NULL, &node);
    if (in_exec)
        node.place = next_place();
    nodes->list[at] = node;
}

static CUDA_MEMCPY3D device_copy_of(const struct graph_device_node *node)
{
    return (CUDA_MEMCPY3D){.WidthInBytes = node->to.size_bytes,
                           .Height = 1,
                           .Depth = 1,
                           .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = address_of_use(&node->from),
                           .dstDevice = address_of_use(&node->to)};
}

static void set_device_node(CUgraphExec exec, const struct graph_device_node *node)
{
    const CUDA_MEMCPY3D copy = node->copies ? device_copy_of(node) : (CUDA_MEMCPY3D){0};
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = address_of_use(&node->to),
                                          .value = node->value,
                                          .elementSize = 1,
                                          .width = node->to.size_bytes,
                                          .height = 1};
    if (exec && node->copies)
        CHECK(cuGraphExecMemcpyNodeSetParams(exec, node->name, &copy, baton.context));
    else if (exec)
        CHECK(cuGraphExecMemsetNodeSetParams(exec, node->name, &fill, baton.context));
    else if (node->copies)
        CHECK(cuGraphMemcpyNodeSetParams(node->name, &copy));
    else
        CHECK(cuGraphMemsetNodeSetParams(node->name, &fill));
}

static void act_change_device_node(void)
{
    struct graph *graph = pick_graph(has_handle);
    bool in_exec = graph && knows_nodes(graph) && !one_in(3);
    struct graph_nodes *nodes = graph ? (in_exec ? &graph->made : &graph->own) : NULL;
    if (!nodes || !nodes->device_count)
        return;
    struct graph_nodes changed = *nodes;
    struct graph_device_node *node = &changed.device[below(nodes->device_count)];
    if (!node->name || !pick_uses(node))
        return;
    if (in_exec) {
        node->place = next_place();
        node->is_changed = true;
    }
    if (world.correct && have_races(&changed))
        return;
    say_device_node(in_exec ? "in the exec a node becomes" : "in the graph a node becomes", node);
    set_device_node(in_exec ? graph->exec : NULL, node);
    *nodes = changed;
}

static void act_enable_node(void)
{
    struct graph *graph = pick_graph(knows_nodes);
    if (!graph)
        return;
    int at = below(graph->made.count);
    struct graph_node *node = &graph->made.list[at];
    if (!node->name)
        return;
    node->disabled = !node->disabled;
    say("node %d of exec %d is %s", at, (int)(graph - graphs),
        node->disabled ? "disabled" : "enabled");
    CHECK(cuGraphNodeSetEnabled(graph->exec, node->name, !node->disabled));
}

/* What becomes of disabled nodes is not documented. */
static bool can_be_updated(const struct graph *graph)
{
    bool disabled = false;
    for (int i = 0; i < graph->made.count; i++)
        disabled |= graph->made.list[i].disabled;
    /* KNOWN: the driver tells of no way to a host node of an exec that was made from a clone. */
    bool knows_host = !graph->own.has_host || graph->is_original;
    return graph->exec && graph->handle && !graph->is_reshaped && !disabled && knows_host;
}

static void act_update(void)
{
    CUgraphExecUpdateResultInfo info;
    struct graph *graph = pick_graph(can_be_updated);
    if (!graph)
        return;
    say("exec %d is updated with its graph", (int)(graph - graphs));
    CHECK(cuGraphExecUpdate(graph->exec, graph->handle, &info));
    graph->made = graph->own;
    graph->races_told = false;
}

#endif
