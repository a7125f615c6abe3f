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
#include "interpose/graph/notifiers.h"
#include "interpose/graph/stack_sources.h"
#include "interpose/graph/unjudged.h"
#include "interpose/streams/contexts.h"
#include "report/options.h"
#include "track/graph_records.h"
#include "track/graphs.h"
#include "track/track.h"
#include "track/track_graphs.h"

#include "common/poison.h"

/* How many searches for certain bodies an exec may cost. */
enum { SEARCHES_MAX = 16 };

/* What the walk over an exec's nodes knows, while it notes what they do. */
struct making {
    const struct sc_graph_call *call; /* with the exec as the graph */
    struct sc_handles *names; /* the graph's nodes -> the names by which the exec knows them; NULL:
                                 the exec has the graph's names */
    /* the exec's nodes -> why their order is not certain; made when needed */
    struct sc_handles doubts;
    bool works;         /* at least one node does something */
    bool is_blind;      /* a node records an event, and the driver does not tell which */
    bool may_watch;     /* the exec knows the outermost graph's nodes by their own names, so their
                           functions can be replaced */
    bool has_hosts;     /* the outermost graph has host nodes */
    bool has_notifiers; /* a node may tell the host in a way that is seen */
    bool has_unseen;    /* a node waits for a value or a semaphore */
    bool has_kernels;
    unsigned depth; /* how many conditional nodes' bodies are around the node that the walk meets */
    CUgraph certain_body[SC_NODE_WALK_DEPTH_MAX]; /* for each of these the body that runs in every
                                                     launch; NULL: none is known to */
    unsigned searches;                            /* how many searches for such bodies were made */
    uintptr_t parent; /* the node that is given the graph as its new child; 0: the graph is a whole
                         exec's */
};

/* Returns the handle by which the exec's uses know a node: the one that the node had in the graph
 * which the exec was first made of. After an update by another graph `names` has these handles. */
static uintptr_t name_of(const struct making *making, CUgraphNode node)
{
    uint64_t name = making->names ? sc_handles_get(making->names, (uintptr_t)node) : 0;
    return name ? (uintptr_t)name : (uintptr_t)node;
}

/* Returns the set, or NULL if nothing was put into it: sets are made at their first use. */
static struct sc_handles *made_set(struct sc_handles *set)
{
    return atomic_load_explicit(&set->table, memory_order_relaxed) ? set : NULL;
}

/* Puts the value into the set, which is made when it is needed. Returns false if there is no
 * memory. */
static bool put_into_set(struct sc_handles *set, uintptr_t name, uint64_t value)
{
    return (made_set(set) || sc_handles_init(set) == 0) && sc_handles_put(set, name, value) == 0;
}

/* Notes why the order of a node is not certain (`why`: as in a node's flags). The reasons are
 * collected, and passed to the tracker together, since one by one each would cost a search over the
 * exec's uses. Without memory for the set this one is passed at once. */
static void add_doubt(struct making *making, uintptr_t name, unsigned why)
{
    uint64_t known = made_set(&making->doubts) ? sc_handles_get(&making->doubts, name) : 0;
    if (!put_into_set(&making->doubts, name, known | why))
        SC_TRACKED(sc_graphs_add_unsure(track.graphs, making->call->graph, name, why));
}

/* ---- a node ---- */

/* A node, where the walk over the graph meets it. */
struct place {
    struct making *making;
    const struct sc_graph_call *call;
    const struct sc_walked_graph *in;
    CUgraphNode node;
    uintptr_t name; /* the name by which the exec knows the node */
};

/* Does the node run in every launch? It does in the exec's outermost graph, and in a body (the
 * graph in a conditional node) that is certain to run. A child graph within a body has that body as
 * its `base`. A call that changes an inner node does not tell where that is, so it proves
 * nothing. */
static bool is_certain(const struct place *place)
{
    const struct making *making = place->making;
    return !place->call->inner &&
           (!making->depth || place->in->base == making->certain_body[making->depth - 1]);
}

/* Returns the call that makes the exec, with `inner` for a node of a child graph or body: its own
 * handle, by which the program may change it later. In a child graph that was given to an exec
 * afterwards (`parent`), the driver has other handles, and does not tell them. So there `inner` is
 * the node that was given the graph. */
static struct sc_graph_call call_for_node(const struct place *place)
{
    struct sc_graph_call call = *place->call;
    if (place->making->parent)
        call.inner = place->making->parent;
    else if (place->in->around)
        call.inner = (uintptr_t)place->node;
    return call;
}

/* Returns why the order of a node that may not run is not certain. With the option `kernels` its
 * uses are possible ones, which are judged with care. Else they are not judged, and kept only so
 * that frees of their memory are deferred. */
static enum sc_unsure unsure_if_possible(void)
{
    return sc_options.kernels == SC_KERNELS_OFF ? SC_UNSURE_UNJUDGED : SC_UNSURE_LEFT_OUT;
}

/* Adds what one side of a copy or memset node does with host memory to the exec's uses. A side
 * without host memory, or without bytes, is left out. The call that added the node is taken from
 * the graph's own use of the same bytes; if there is none, the call that makes the exec counts. In
 * the body of a conditional node (`depth`) nothing says that a launch waits for the copy, or reads
 * the source early. */
static void add_side(void *context, enum sc_direction direction, const struct sc_copy_side *side)
{
    const struct place *place = context;
    if (!side->used || sc_shape_hull_bytes(&side->shape) == 0)
        return;
    struct sc_graph_use use = sc_node_uses_of_side(place->name, direction, side);
    struct sc_graph_extra extra = {0};
    sc_node_uses_recognise(place->in, place->node, &use, &extra);
    const struct sc_graph_call call = call_for_node(place);
    extra.fold = side->fold; /* the recognised use may be another one of the same bytes */
    extra.inner = call.inner;
    /* Else the program has freed or unregistered the memory since, and the use keeps what the graph
     * knew of it; or it has registered pageable memory, for whose kind a launch waits all the same.
     */
    bool is_same_memory = use.kind == side->kind && !(use.kind == SC_REGISTERED && use.freed);
    use.waits = side->waits && is_same_memory && !place->making->depth;
    use.in_call = side->in_call && !place->making->depth;
    use.unsure = is_certain(place) ? 0 : unsure_if_possible();
    if (use.author.api)
        sc_track_graph_add(&sc_track, call.graph, &use,
                           use.extra || side->fold.pitch_bytes || call.inner ? &extra : NULL);
    else if (direction != SC_MEMSET || side->known) /* else it is device memory */
        sc_node_uses_add(&call, &use, &side->fold);
}

/* Notes that a node of the exec records an event, or waits for it: a launch then does to the event
 * what a record or wait in the stream would do. */
void sc_exec_uses_note_event(const struct sc_graph_call *call, uintptr_t node, CUevent event,
                             bool waits)
{
    const struct sc_graph_event noted = {
        .node = node, .inner = call->inner, .event = (uintptr_t)event, .waits = waits};
    SC_TRACKED(sc_graphs_add_event(track.graphs, call->graph, &noted));
}

/* Notes a node that tells the host how far the launch has come, or waits for the host, in a way
 * that the library does not see. For a value or a semaphore in the outermost graph the edges show
 * later which nodes that concerns. In other cases no device memory of the exec is judged. A record
 * of an event comes here if the driver does not tell the event: then no other notice to the host is
 * relied on either (`is_blind`). */
static void note_unseen(struct making *making, CUgraphNode node, CUgraphNodeType type)
{
    bool signals = sc_unjudged_is_signal(node, type);
    bool awaits = sc_unjudged_awaits_host(node, type);
    bool is_placed = !making->depth && (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ||
                                        type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
                                        type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    making->is_blind |= type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    making->has_unseen |= is_placed && awaits;
    if ((signals || awaits) && !is_placed)
        SC_TRACKED(sc_graphs_leave_out_device(track.graphs, making->call->graph));
    if (signals || awaits)
        SC_TRACKED(sc_graphs_note_host_contact(track.graphs, making->call->graph, signals, awaits));
}

/* Notes a node that may tell the host how far the launch has come, or may wait for it. An event is
 * kept with its node, and stands for what is before the launch and, in the outermost graph, before
 * the node. Where the driver does not tell the event, and for nodes of other kinds, the library
 * does not see what the node does. */
static void note_signal(const struct place *place, CUgraphNodeType type)
{
    CUevent event = NULL;
    bool waits = type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (waits && sc_real.cuGraphEventWaitNodeGetEvent)
        result = sc_real.cuGraphEventWaitNodeGetEvent(place->node, &event);
    else if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && sc_real.cuGraphEventRecordNodeGetEvent)
        result = sc_real.cuGraphEventRecordNodeGetEvent(place->node, &event);
    const struct sc_graph_call call = call_for_node(place);
    if (result == CUDA_SUCCESS)
        sc_exec_uses_note_event(&call, place->name, event, waits);
    else if (sc_unjudged_may_matter(type))
        note_unseen(place->making, place->node, type);
}

/* ---- the walk over the nodes ---- */

/* Notes what a copy or memset node does with host and device memory; other nodes are none of its
 * business. Where a call gives a node in a child graph or body a new child (`inner`), device memory
 * is left out: such uses are kept by outermost nodes. */
static void note_memory(struct place *place, CUgraphNodeType type)
{
    struct sc_copy_sides sides;
    if (!sc_node_uses_sides(place->node, type, &sides))
        return;
    sc_node_uses_each_side(&sides, add_side, place);
    const struct sc_graph_call call = call_for_node(place);
    if (!place->call->inner)
        sc_device_nodes_note(&call, place->name, &sides,
                             is_certain(place) ? 0 : SC_UNSURE_LEFT_OUT);
}

/* Notes that the exec has a kernel, once, and the addresses among the kernel's parameters. Not in a
 * body of a conditional node, or for an inner node that a call changes: there they could not be
 * told from those of other nodes. */
static void note_kernel(const struct place *place)
{
    struct making *making = place->making;
    const struct sc_graph_call call = call_for_node(place);
    if (!making->has_kernels)
        SC_TRACKED(sc_graphs_note_kernel(track.graphs, call.graph));
    making->has_kernels = true;
    if (!making->depth && !making->call->inner)
        sc_device_nodes_note_kernel(&call, place->name, place->node);
}

/* Called when the walk enters the bodies (graphs) of a conditional node: notes which of them runs
 * in every launch. None does unless the graph around is certain to run itself. Each search walks
 * over a whole graph, so an exec may cost SEARCHES_MAX of them. */
static void enter_bodies(struct making *making, const struct sc_walked_graph *in, CUgraphNode node)
{
    unsigned around = making->depth++;
    bool around_runs = around ? in->graph == making->certain_body[around - 1] : in->depth == 0;
    making->certain_body[around] =
        around_runs && sc_conditional_bodies_chosen(node) && making->searches++ < SEARCHES_MAX
            ? sc_certain_bodies_find(in->graph, node)
            : NULL;
}

/* Notes within which node an inner node (in a child graph or a body) lies, since the program may
 * change it by its own handle later. The outermost node has the name by which the exec knows it,
 * which may be another handle. Not in a child graph that was given to an exec afterwards
 * (`parent`): its nodes have other handles there. */
static void note_inner(const struct place *place)
{
    uintptr_t around = place->in->depth == 1 ? place->name : (uintptr_t)place->in->around;
    if (around && !place->making->parent)
        SC_TRACKED(
            sc_graphs_note_inner(track.graphs, place->call->graph, (uintptr_t)place->node, around));
}

/* The walk's function for each node of the exec: notes what the node does, by its type. Host nodes
 * of the outermost graph are left to watch_hosts, which can see their runs. `flag` of the graph
 * says that some node may tell the host something or wait for it: only then are the edges asked
 * for. */
static enum sc_step meet_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                              CUgraphNodeType type)
{
    struct making *making = context;
    uintptr_t name = name_of(making, sc_node_walk_top(in, node));
    struct place place = {making, making->call, in, node, name};
    bool is_host = type == CU_GRAPH_NODE_TYPE_HOST && in->depth == 0;
    note_inner(&place);
    note_memory(&place, type);
    sc_device_nodes_note_own_memory(making->call->graph, name, node, type);
    making->has_hosts |= is_host;
    making->has_notifiers |= is_host || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    if (!is_host)
        note_signal(&place, type);
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        note_kernel(&place);
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        enter_bodies(making, in, node);
    making->works |= type != CU_GRAPH_NODE_TYPE_EMPTY && type != CU_GRAPH_NODE_TYPE_GRAPH;
    in->flag |= sc_unjudged_may_matter(type);
    return SC_STEP_INTO;
}

/* The walk's function behind what is inside of a node: leaves the bodies that enter_bodies has
 * entered. */
static void leave_node(void *context, struct sc_walked_graph *in, CUgraphNode node,
                       CUgraphNodeType type)
{
    struct making *making = context;
    (void)in;
    (void)node;
    making->depth -= type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/* A graph of the walk, for the functions that are called for its nodes. */
struct level {
    struct making *making;
    const struct sc_walked_graph *graph;
};

/* Notes why a node's uses are not judged. BEFORE_SIGNAL: the host may know that the node is done,
 * and device memory is ordered before other work by that. BEHIND_WAIT: the host may have done
 * anything to host memory before. BEHIND_HOST_NODE: the host node may have ordered it, which is
 * checked when a hazard is found (reaper/excuses.h). BEHIND_UNSEEN: a wait for a value or a
 * semaphore may order it behind any work. */
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
    add_doubt(level->making, name, doubts[why]);
}

/* For sc_notifiers_find_stages: the host may know that the node is done before it is told so. */
static void unjudge_for_notifier(void *context, CUgraphNode node)
{
    unjudge_around(context, node, SC_BEFORE_SIGNAL);
}

/* Does the exec use host memory, or watched device memory? If not, the order of its nodes matters
 * to nobody, and the edges are not asked for. */
static bool uses_judged_memory(uintptr_t exec)
{
    SC_TRACK_SCOPE(track);
    const struct sc_graph *graph = sc_graphs_find_or_empty(track.graphs, exec);
    return sc_graph_names_host(graph) || graph->device_count;
}

/* Will anybody ask for the exec's nodes by name: for their memory, their watched functions, or
 * nodes within them? Only then are the names kept for later updates. */
static bool has_known_nodes(uintptr_t exec)
{
    bool names = uses_judged_memory(exec);
    SC_TRACK_SCOPE(track);
    const struct sc_exec *known = &sc_graphs_find_or_empty(track.graphs, exec)->exec;
    return names || known->watched || known->has_inner;
}

/* For sc_notifiers_find_stages: puts a node's uses into a stage, the part of the graph that one
 * node tells the host of. Returns false if the node uses no memory. */
static bool set_stage(void *context, CUgraphNode node, unsigned stage)
{
    const struct level *level = context;
    return SC_TRACKED(sc_graphs_set_stage(track.graphs, level->making->call->graph,
                                          name_of(level->making, node), stage));
}

/* For sc_notifiers_find_stages: notes up to which stage the host knows the nodes to be done when
 * this node has run. */
static void set_notifies(void *context, CUgraphNode node, unsigned stage)
{
    const struct level *level = context;
    SC_TRACKED(sc_graphs_set_notifies(track.graphs, level->making->call->graph,
                                      name_of(level->making, node), stage));
}

/* Is it a host node? Asked of the driver, as the walk has told types only on the way. */
static bool is_host(CUgraphNode node)
{
    CUgraphNodeType type;
    return sc_real.cuGraphNodeGetType(node, &type) == CUDA_SUCCESS &&
           type == CU_GRAPH_NODE_TYPE_HOST;
}

/* Is it a host node each run of which the library sees, since the driver calls the library's
 * function? Only the outermost graph's are. */
static bool is_watched(const struct level *level, CUgraphNode node)
{
    return level->making->has_hosts && is_host(node) &&
           SC_TRACKED(sc_graphs_is_watched(track.graphs, level->making->call->graph,
                                           name_of(level->making, node)));
}

/* For sc_node_walk_finds: does the node record an event? */
static bool is_record(CUgraphNode node, CUgraphNodeType type)
{
    (void)node;
    return type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

/* For sc_node_walk_finds: may the node tell the host what is done, otherwise than by an event? */
static bool is_other_signal(CUgraphNode node, CUgraphNodeType type)
{
    return !is_record(node, type) && sc_unjudged_is_signal(node, type);
}

/* For sc_notifiers_find_stages: does the library see it when the node tells the host that earlier
 * nodes are done? A watched host node does so, and a record of an event, which may be in the node's
 * child graph. */
static bool is_notifier(void *context, CUgraphNode node)
{
    return is_watched(context, node) || sc_node_walk_finds(node, is_record);
}

/* For sc_unjudged_find: does the library see all ways in which the node tells the host that earlier
 * nodes are done? If so, the nodes before it can be judged. */
static bool is_all_seen(void *context, CUgraphNode node)
{
    return is_watched(context, node) || !sc_node_walk_finds(node, is_other_signal);
}

/* Finds the stages of the graph: what each node that records an event, or is a watched host node,
 * tells the host of (graph/notifiers.h). Only those of the outermost graph count. Returns false if
 * that is not known, as when the driver does not tell an event (`is_blind`). Then nodes before a
 * notifier are not judged. */
static bool note_notifiers(struct level *level, const CUgraphNode *nodes, size_t count)
{
    const struct sc_notifiers notifiers = {level, is_notifier, set_stage, set_notifies,
                                           unjudge_for_notifier};
    return level->graph->depth == 0 && !level->making->is_blind && level->making->has_notifiers &&
           sc_notifiers_find_stages(nodes, count, &notifiers);
}

/* Makes the driver call the library's function in place of those of the exec's host nodes, so that
 * their runs are seen. That needs the handle by which the driver knows the exec's node, which is
 * certain only if it is the graph's own. A host node that keeps the program's function may tell the
 * host anything, or wait for it, unseen. */
static void watch_hosts(struct making *making, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_host(nodes[i]) &&
            !(making->may_watch && name_of(making, nodes[i]) == (uintptr_t)nodes[i] &&
              sc_host_nodes_watch((CUgraphExec)making->call->graph, nodes[i])))
            note_unseen(making, nodes[i], CU_GRAPH_NODE_TYPE_HOST);
}

/* For sc_device_races_find: the name by which the exec knows a node. */
static uintptr_t name_in(const void *making, CUgraphNode node)
{
    return name_of(making, node);
}

/* The walk's function behind the last node of a graph: finds which nodes are not judged, as nodes
 * around them tell the host something or wait for it. Races, and host nodes, are looked for in the
 * outermost graph alone. Without a node that may do such things (`flag`), or without memory that is
 * judged, the edges are not asked for. Nodes before one that tells the host are not judged,
 * unless the library sees what that node tells (`known`). If an edge is not known, no device memory
 * of the exec is judged; host memory is judged by what was found, so that nothing is left to do
 * where no device memory is watched. */
static void end_graph(void *context, struct sc_walked_graph *graph, const CUgraphNode *nodes,
                      size_t count)
{
    struct level level = {context, graph};
    if (graph->depth == 0 && sc_device_nodes_are_watched()) {
        SC_TRACKED(sc_graphs_end_own_memory(track.graphs, level.making->call->graph));
        sc_device_races_find(level.making->call, graph->graph, nodes, count, name_in, level.making);
    }
    if (graph->depth == 0 && level.making->has_hosts)
        watch_hosts(level.making, nodes, count);
    if (!graph->flag || !uses_judged_memory(level.making->call->graph))
        return;
    bool known = note_notifiers(&level, nodes, count);
    bool all = sc_unjudged_find(nodes, count, SC_BEFORE_SIGNAL, known ? is_all_seen : NULL,
                                unjudge_around, &level);
    all &= sc_unjudged_find(nodes, count, SC_BEHIND_WAIT, NULL, unjudge_around, &level);
    if (!sc_device_nodes_are_watched())
        return;
    if (graph->depth == 0 && level.making->has_hosts)
        all &= sc_unjudged_find(nodes, count, SC_BEHIND_HOST_NODE, NULL, unjudge_around, &level);
    if (level.making->has_unseen)
        all &= sc_unjudged_find(nodes, count, SC_BEHIND_UNSEEN, NULL, unjudge_around, &level);
    if (!all)
        SC_TRACKED(sc_graphs_leave_out_device(track.graphs, level.making->call->graph));
}

/* Walks over the graph and notes what its nodes do. `top`: the exec's node that has been given the
 * graph as its child; NULL: the graph is the exec's own. The reasons why nodes are not judged are
 * passed to the tracker at the end, together. */
static void note_nodes(struct making *making, CUgraph graph, CUgraphNode top)
{
    static const struct sc_node_walk walk = {
        .meet = meet_node, .leave = leave_node, .end = end_graph};
    sc_node_walk_graph(&walk, making, graph, top);
    uintptr_t exec = making->call->graph;
    struct sc_handles *doubts = made_set(&making->doubts);
    if (!doubts)
        return;
    SC_TRACKED(sc_graphs_add_unsure_of_nodes(track.graphs, exec, doubts));
    sc_handles_destroy(doubts);
}

/* Called when the program has given a node of the exec another child graph: notes what the nodes of
 * that graph do, under the node that has it. */
void sc_exec_uses_note_child(const struct sc_graph_call *call, CUgraphNode node, CUgraph child)
{
    note_nodes(&(struct making){.call = call, .parent = sc_graph_call_node(call, node)}, child,
               node);
}

/* ---- an exec ---- */

/* Notes the nodes that read copies of stacks: the driver has made the exec from nodes that were
 * pointed at the copies meanwhile. A launch has to update such copies. */
static void note_redirected(const struct sc_stack_sources *redirects, const struct making *making)
{
    SC_TRACK_SCOPE(track);
    for (size_t i = 0; i < redirects->count; i++)
        sc_graphs_redirect_node(track.graphs, making->call->graph,
                                name_of(making, redirects->list[i].top));
}

/* Notes all nodes of a new or updated exec, after sc_graphs_begin_exec has forgotten what was known
 * of it. The driver is asked in the relaxed capture mode: the thread may be capturing, and
 * questions must not break that. `works`: an exec whose nodes do nothing has no order with
 * others. */
static void note_exec(struct making making, CUgraph graph, const struct sc_stack_sources *redirects)
{
    const struct sc_graph_call *call = making.call;
    SC_RELAXED();
    const struct sc_context *context = sc_contexts_current();
    SC_TRACKED(sc_graphs_begin_exec(track.graphs, call->graph, context ? context->legacy : 0));
    note_nodes(&making, graph, NULL);
    note_redirected(redirects, &making);
    SC_TRACKED(sc_graphs_end_exec(track.graphs, call->graph, !making.works));
}

/* Finds the names that the exec has for the nodes of another graph, by which it was updated: the
 * handles of the graph that it was made of. Nodes are matched by their place in the driver's lists,
 * as the driver does it. Returns false if the names are not known, or there is no memory. */
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

/* Notes what the nodes of a new exec do. Keeps the nodes' handles in the driver's order, by which
 * an update with another graph is matched (pair_names), if anybody will ask for them. */
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

/* Notes what the nodes of an exec do after an update by a graph. If their names are not known, the
 * graph's handles stand for them, and host nodes are not watched, since the exec may know other
 * ones. */
void sc_exec_uses_note_updated(const struct sc_graph_call *call, CUgraph graph,
                               const struct sc_stack_sources *redirects)
{
    struct sc_handles names; /* valid if paired: else nodes have no names to watch them by */
    bool paired = pair_names(call->graph, graph, &names);
    note_exec((struct making){.call = call, .names = paired ? &names : NULL, .may_watch = paired},
              graph, redirects);
    if (paired)
        sc_handles_destroy(&names);
}
