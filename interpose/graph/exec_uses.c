#include "interpose/graph/exec_uses.h"

#include "common/handles.h"
#include "common/op_kinds.h"
#include "common/own_pages.h"
#include "common/shape.h"
#include "common/unsure.h"
#include "interpose/base/process.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/graph/certain_bodies.h"
#include "interpose/graph/conditional_bodies.h"
#include "interpose/graph/copy_sides.h"
#include "interpose/graph/device_nodes.h"
#include "interpose/graph/device_races.h"
#include "interpose/graph/driver_nodes.h"
#include "interpose/graph/host_nodes.h"
#include "interpose/graph/node_uses.h"
#include "interpose/graph/node_walk.h"
#include "interpose/graph/stack_sources.h"
#include "interpose/graph/tellers.h"
#include "interpose/graph/unjudged.h"
#include "interpose/streams/contexts.h"
#include "report/options.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/track_graphs.h"

#include "common/poison.h"

enum { LOOKS_MAX = 16 };

struct making {
    const struct sc_graph_call *call; /* with the exec as the graph */
    struct sc_handles *names;         /* the graph's nodes -> the exec's; NULL: they are the same */
    struct sc_handles doubts; /* the exec's nodes -> why their order is not certain; made when it is
                               * needed */
    bool works;               /* a node does something */
    bool is_blind;            /* which event a node records is not known */
    bool may_watch;           /* the exec knows the outermost graph's nodes by their own names */
    bool has_hosts;           /* there are host nodes among these */
    bool has_tellers;         /* a node may tell in a way that is seen */
    bool has_unseen;          /* a node waits for a value or a semaphore */
    bool has_kernels;
    unsigned bodies;                         /* of conditional nodes, around the node that is met */
    CUgraph certain[SC_NODE_WALK_DEPTH_MAX]; /* of these, those that run in every launch, or NULL */
    unsigned looks;                          /* for such bodies */
    uintptr_t parent; /* the exec's node that is given the graph as its child; 0: none is */
};

/* By which the exec's uses know a node. */
static uintptr_t name_of(const struct making *making, CUgraphNode node)
{
    uint64_t name = making->names ? sc_handles_get(making->names, (uintptr_t)node) : 0;
    return name ? (uintptr_t)name : (uintptr_t)node;
}

/* NULL: the set was not needed. */
static struct sc_handles *made(struct sc_handles *set)
{
    return atomic_load_explicit(&set->table, memory_order_relaxed) ? set : NULL;
}

/* In a set that is made when it is needed. */
static bool put(struct sc_handles *set, uintptr_t name, uint64_t value)
{
    return (made(set) || sc_handles_init(set) == 0) && sc_handles_put(set, name, value) == 0;
}

/* `why`: as a node's flags have it. All of them are told of together: there may be as many as the
 * exec has uses. */
static void doubt(struct making *making, uintptr_t name, unsigned why)
{
    uint64_t known = made(&making->doubts) ? sc_handles_get(&making->doubts, name) : 0;
    if (!put(&making->doubts, name, known | why))
        SC_TRACKED(sc_graphs_doubt_node(track.graphs, making->call->graph, name, why));
}

/* ---- a node ---- */

/* A node of the exec, as the walk over the graph meets it. */
struct met {
    struct making *making;
    const struct sc_graph_call *call;
    const struct sc_walked_graph *in;
    CUgraphNode node;
    uintptr_t name; /* what the exec calls it */
};

/* Child graphs in a body have the body as their base. */
static bool is_certain(const struct met *met)
{
    const struct making *making = met->making;
    return !met->call->inner &&
           (!making->bodies || met->in->base == making->certain[making->bodies - 1]);
}

/* An inner node is known by its own name besides. Those of a child that is given to an exec bear
 * other names there, which the driver does not tell. */
static struct sc_graph_call call_of(const struct met *met)
{
    struct sc_graph_call call = *met->call;
    if (met->making->parent)
        call.inner = met->making->parent;
    else if (met->in->around)
        call.inner = (uintptr_t)met->node;
    return call;
}

/* What may not run is a possible use where such uses are asked for, and else merely kept. */
static enum sc_unsure of_the_possible(void)
{
    return sc_options.kernels == SC_KERNELS_OFF ? SC_UNSURE_UNJUDGED : SC_UNSURE_LEFT_OUT;
}

static void note_side(void *context, enum sc_direction direction, const struct sc_copy_side *side)
{
    const struct met *met = context;
    if (!side->used || sc_shape_hull_bytes(&side->shape) == 0)
        return;
    struct sc_graph_use use = sc_node_uses_bare(met->name, direction, side);
    struct sc_graph_extra extra = {0};
    sc_node_uses_recognise(met->in, met->node, &use, &extra);
    const struct sc_graph_call call = call_of(met);
    extra.fold = side->fold; /* of the same bytes' use, perhaps another */
    extra.inner = call.inner;
    bool is_it = use.kind == side->kind; /* or the memory was freed, and is kept as it was */
    use.waits = side->waits && is_it && !met->making->bodies;
    use.in_call = side->in_call && !met->making->bodies;
    use.unsure = is_certain(met) ? 0 : of_the_possible();
    if (use.author.api)
        sc_track_graph_add(&sc_track, call.graph, &use,
                           use.extra || side->fold.pitch_bytes || call.inner ? &extra : NULL);
    else if (direction != SC_MEMSET || side->known) /* or it is device memory */
        sc_node_uses_add(&call, &use, &side->fold);
}

void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits)
{
    const struct sc_graph_event noted = {
        .node = node, .inner = call->inner, .event = (uintptr_t)event, .waits = waits};
    SC_TRACKED(sc_graphs_add_event(track.graphs, call->graph, &noted));
}

/* Edges say which nodes stand around one that tells or waits by a value or a semaphore. Around
 * others that are not seen, and around any in a body, device memory is not judged. */
static void note_unseen(struct making *making, CUgraphNode node, CUgraphNodeType type)
{
    bool signals = sc_unjudged_is_signal(node, type);
    bool awaits = sc_unjudged_awaits_host(node, type);
    bool is_placed = !making->bodies && (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ||
                                         type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
                                         type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    making->is_blind |= type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    making->has_unseen |= is_placed && awaits;
    if ((signals || awaits) && !is_placed)
        SC_TRACKED(sc_graphs_leave_out_device(track.graphs, making->call->graph));
    if (signals || awaits)
        SC_TRACKED(sc_graphs_meets_host(track.graphs, making->call->graph, signals, awaits));
}

/* Events are known by the nodes, and stand for what comes before the launch and, in the outermost
 * graph, before the node. What else tells the host of that is not seen. */
static void note_signal(const struct met *met, CUgraphNodeType type)
{
    CUevent event = NULL;
    bool waits = type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (waits && sc_real.cuGraphEventWaitNodeGetEvent)
        result = sc_real.cuGraphEventWaitNodeGetEvent(met->node, &event);
    else if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && sc_real.cuGraphEventRecordNodeGetEvent)
        result = sc_real.cuGraphEventRecordNodeGetEvent(met->node, &event);
    const struct sc_graph_call call = call_of(met);
    if (result == CUDA_SUCCESS)
        sc_exec_uses_note_event(&call, met->name, event, waits);
    else if (sc_unjudged_may_matter(type))
        note_unseen(met->making, met->node, type);
}

/* ---- the walk over the nodes ---- */

static void note_memory(struct met *met, CUgraphNodeType type)
{
    struct sc_copy_sides sides;
    if (!sc_node_uses_sides(met->node, type, &sides))
        return;
    sc_node_uses_each_side(&sides, note_side, met);
    const struct sc_graph_call call = call_of(met);
    if (!met->call->inner)
        sc_device_nodes_note(&call, met->name, &sides, is_certain(met) ? 0 : SC_UNSURE_LEFT_OUT);
}

static void note_kernel(const struct met *met)
{
    struct making *making = met->making;
    const struct sc_graph_call call = call_of(met);
    if (!making->has_kernels)
        SC_TRACKED(sc_graphs_meets_kernel(track.graphs, call.graph));
    making->has_kernels = true;
    if (!making->bodies && !making->call->inner)
        sc_device_nodes_note_kernel(&call, met->name, met->node);
}

/* Each look walks over the whole graph. */
static void enter_bodies(struct making *making, const struct sc_walked_graph *in, CUgraphNode node)
{
    unsigned around = making->bodies++;
    bool runs = around ? in->graph == making->certain[around - 1] : in->depth == 0;
    making->certain[around] =
        runs && sc_conditional_bodies_chosen(node) && making->looks++ < LOOKS_MAX
            ? sc_certain_bodies_of(in->graph, node)
            : NULL;
}

/* The outermost node's name may be another graph's. */
static void note_inner(const struct met *met)
{
    uintptr_t around = met->in->depth == 1 ? met->name : (uintptr_t)met->in->around;
    if (around && !met->making->parent)
        SC_TRACKED(
            sc_graphs_note_inner(track.graphs, met->call->graph, (uintptr_t)met->node, around));
}

static enum sc_step meet_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                              CUgraphNodeType type)
{
    struct making *making = context;
    uintptr_t name = name_of(making, sc_node_walk_top(in, node));
    struct met met = {making, making->call, in, node, name};
    bool is_host = type == CU_GRAPH_NODE_TYPE_HOST && in->depth == 0;
    note_inner(&met);
    note_memory(&met, type);
    sc_device_nodes_meet(making->call->graph, name, node, type);
    making->has_hosts |= is_host;
    making->has_tellers |= is_host || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    if (!is_host)
        note_signal(&met, type);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        note_kernel(&met);
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        enter_bodies(making, in, node);
    making->works |= type != CU_GRAPH_NODE_TYPE_EMPTY && type != CU_GRAPH_NODE_TYPE_GRAPH;
    in->flag |= sc_unjudged_may_matter(type);
    return SC_STEP_INTO;
}

static void leave_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                       CUgraphNodeType type)
{
    struct making *making = context;
    (void)in;
    (void)node;
    making->bodies -= type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

struct level {
    struct making *making;
    const struct sc_walked_graph *graph;
};

/* Device memory is judged behind a node that waits for an event, since it is known what that is.
 * What a host node may have put in order is asked about it (reaper/excuses.h). A value or a
 * semaphore may order with anything what stands behind the wait. One that is written orders others
 * behind what stands before it. */
static void unjudge_around(void *context, CUgraphNode node, enum sc_unjudged_why why)
{
    const struct level *level = context;
    uintptr_t name = name_of(level->making, sc_node_walk_top(level->graph, node));
    static const unsigned doubts[] = {
        [SC_BEFORE_SIGNAL] = SC_UNSURE_UNJUDGED | SC_UNSURE_ENDS << SC_UNSURE_OF_DEVICE,
        [SC_BEHIND_WAIT] = SC_UNSURE_UNJUDGED,
        [SC_BEHIND_HOST_NODE] = SC_UNSURE_GATED << SC_UNSURE_OF_DEVICE,
        [SC_BEHIND_UNSEEN] = SC_UNSURE_UNJUDGED << SC_UNSURE_OF_DEVICE,
    };
    doubt(level->making, name, doubts[why]);
}

static void unjudge(void *context, CUgraphNode node)
{
    unjudge_around(context, node, SC_BEFORE_SIGNAL);
}

static bool names_memory(uintptr_t exec)
{
    SC_TRACK_SCOPE(track);
    const struct sc_graph *graph = sc_graphs_known(track.graphs, exec);
    return sc_graph_names_host(graph) || graph->device_count;
}

/* Are its nodes asked for by their names? */
static bool has_known_nodes(uintptr_t exec)
{
    bool names = names_memory(exec);
    SC_TRACK_SCOPE(track);
    const struct sc_exec *known = &sc_graphs_known(track.graphs, exec)->exec;
    return names || known->heard || known->has_inner;
}

static bool tell_of(void *context, CUgraphNode node, unsigned step)
{
    const struct level *level = context;
    return SC_TRACKED(sc_graphs_tell_of(track.graphs, level->making->call->graph,
                                        name_of(level->making, node), step));
}

static void let_tell(void *context, CUgraphNode node, unsigned step)
{
    const struct level *level = context;
    SC_TRACKED(sc_graphs_let_tell(track.graphs, level->making->call->graph,
                                  name_of(level->making, node), step));
}

static bool is_host(CUgraphNode node)
{
    CUgraphNodeType type;
    return sc_real.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS &&
           type == CU_GRAPH_NODE_TYPE_HOST;
}

static bool is_watched(const struct level *level, CUgraphNode node)
{
    return level->making->has_hosts && is_host(node) &&
           SC_TRACKED(sc_graphs_hears(track.graphs, level->making->call->graph,
                                      name_of(level->making, node)));
}

static bool is_record(CUgraphNode node, CUgraphNodeType type)
{
    (void)node;
    return type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

static bool is_other_signal(CUgraphNode node, CUgraphNodeType type)
{
    return !is_record(node, type) && sc_unjudged_is_signal(node, type);
}

static bool is_teller(void *context, CUgraphNode node)
{
    return is_watched(context, node) || sc_node_walk_finds(node, is_record);
}

static bool is_seen(void *context, CUgraphNode node)
{
    return is_watched(context, node) || !sc_node_walk_finds(node, is_other_signal);
}

/* Only the nodes of the outermost graph tell. */
static bool note_tellers(struct level *level, const CUgraphNode *nodes, size_t count)
{
    const struct sc_tellers tellers = {level, is_teller, tell_of, let_tell, unjudge};
    return level->graph->depth == 0 && !level->making->is_blind && level->making->has_tellers &&
           sc_tellers_each(nodes, count, &tellers);
}

static void watch_hosts(struct making *making, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_host(nodes[i]) &&
            !(making->may_watch && name_of(making, nodes[i]) == (uintptr_t)nodes[i] &&
              sc_host_nodes_watch((CUgraphExec)making->call->graph, nodes[i])))
            note_unseen(making, nodes[i], CU_GRAPH_NODE_TYPE_HOST);
}

static uintptr_t name_in(const void *making, CUgraphNode node)
{
    return name_of(making, node);
}

static void end_graph(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                      size_t count)
{
    struct level level = {context, graph};
    if (graph->depth == 0 && sc_device_nodes_are_asked()) {
        sc_device_nodes_met_all(level.making->call->graph);
        sc_device_races_find(level.making->call, graph->graph, nodes, count, name_in, level.making);
    }
    if (graph->depth == 0 && level.making->has_hosts)
        watch_hosts(level.making, nodes, count);
    if (!graph->flag || !names_memory(level.making->call->graph))
        return;
    bool known = note_tellers(&level, nodes, count);
    bool all = sc_unjudged_each(nodes, count, known ? is_seen : NULL, unjudge_around, &level);
    if (!sc_device_nodes_are_asked())
        return;
    if (graph->depth == 0 && level.making->has_hosts)
        all &= sc_unjudged_behind_hosts(nodes, count, unjudge_around, &level);
    if (level.making->has_unseen)
        all &= sc_unjudged_behind_unseen(nodes, count, unjudge_around, &level);
    if (!all)
        SC_TRACKED(sc_graphs_leave_out_device(track.graphs, level.making->call->graph));
}

static void note_nodes(struct making *making, CUgraph graph, CUgraphNode top)
{
    static const struct sc_node_walk walk = {
        .meet = meet_node, .leave = leave_node, .end = end_graph};
    sc_node_walk_graph(&walk, making, graph, top);
    uintptr_t exec = making->call->graph;
    struct sc_handles *doubts = made(&making->doubts);
    if (!doubts)
        return;
    SC_TRACKED(sc_graphs_doubt_nodes(track.graphs, exec, doubts));
    sc_handles_destroy(doubts);
}

void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child)
{
    note_nodes(&(struct making){.call = call, .parent = sc_graph_call_node(call, node)}, child,
               node);
}

/* ---- an exec ---- */

/* The exec has been made from the nodes as they were. */
static void note_redirected(const struct sc_stack_sources *redirects, const struct making *making)
{
    SC_TRACK_SCOPE(track);
    for (size_t i = 0; i < redirects->count; i++)
        sc_graphs_redirect_node(track.graphs, making->call->graph,
                                name_of(making, redirects->list[i].top));
}

static void note_exec(struct making making, CUgraph graph, const struct sc_stack_sources *redirects)
{
    const struct sc_graph_call *call = making.call;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    const struct sc_context *context = sc_contexts_current();
    SC_TRACKED(sc_graphs_begin_exec(track.graphs, call->graph, context ? context->legacy : 0));
    note_nodes(&making, graph, NULL);
    note_redirected(redirects, &making);
    SC_TRACKED(sc_graphs_end_exec(track.graphs, call->graph, !making.works));
    sc_relaxed_end(&relaxed);
}

/* The driver pairs the nodes of two graphs that are built alike by their order. */
static bool pair_names(uintptr_t exec, CUgraph graph, struct sc_handles *names)
{
    size_t count = 0;
    CUgraphNode *nodes = has_known_nodes(exec) ? sc_driver_nodes_of(graph, &count) : NULL;
    uintptr_t *known = nodes ? sc_pages_map(count * sizeof *known) : NULL;
    bool paired = known &&
                  SC_TRACKED(sc_graphs_names_of(track.graphs, exec, known, (uint32_t)count)) &&
                  sc_handles_init(names) == 0;
    for (size_t i = 0; paired && i < count; i++)
        sc_handles_put(names, (uintptr_t)nodes[i], known[i]);
    sc_pages_unmap(known, count * sizeof *known);
    sc_driver_nodes_free(nodes, count);
    return paired;
}

void sc_exec_uses_note_made(const struct sc_graph_call *call, CUgraph graph,
                            const struct sc_stack_sources *redirects)
{
    note_exec((struct making){.call = call, .may_watch = true}, graph, redirects);
    size_t count = 0;
    CUgraphNode *nodes = has_known_nodes(call->graph) ? sc_driver_nodes_of(graph, &count) : NULL;
    if (!nodes)
        return;
    SC_TRACKED(
        sc_graphs_set_names(track.graphs, call->graph, (const uintptr_t *)nodes, (uint32_t)count));
    sc_driver_nodes_free(nodes, count);
}

void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects)
{
    struct sc_handles names;
    bool paired = pair_names(call->graph, graph, &names);
    note_exec((struct making){.call = call, .names = paired ? &names : NULL, .may_watch = paired},
              graph, redirects);
    if (paired)
        sc_handles_destroy(&names);
}
