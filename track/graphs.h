/* Graphs and execs, and the memory that their nodes use.
 *
 * The nodes of a graph keep addresses. Memory that a node uses must not go back to the driver or to
 * malloc while a launch could still use it. So calls that free memory ask here whether a graph uses
 * it (sc_graphs_name_memory), and note here that it was freed (sc_graphs_note_freed): a later
 * launch that uses freed memory is reported.
 *
 * A graph and an exec have the same record: a handle with a list of uses, each of which says what
 * one node does with one piece of memory. An exec also has runs: its uses, with adjoining ones
 * joined, as its launches record them.
 *
 * With the option device=1 uses of device memory are kept, too, with kind SC_DEVICE. An address
 * among the parameters of a kernel node is such a use as well, of one byte and without a direction.
 * Frees of device memory do not look here, so these uses are in no interval. A graph that is no
 * exec keeps them to know which call added its nodes.
 *
 * The index for frees has intervals, mostly one for each allocation: a thousand nodes that read one
 * buffer are listed in one interval.
 *
 * An orphan is a node that the program has changed and of which only the driver knows the graph:
 * the node was captured, cloned or came with a child graph. What an orphan uses is kept as a graph
 * of its own, until the node or its graph is destroyed.
 *
 * Locks: every function needs the tracker's lock, except sc_graphs_find and sc_graphs_extra. These
 * are lock-free, and what they return is valid as long as the program may use the handle. */

/* Terms (docs/glossary.md):
 *   author: the call that captured, added or changed a node of a graph
 *   body: a graph in a conditional node
 *   exec: an instantiated graph (CUgraphExec)
 *   inner node: a node in a child graph or a body
 *   not judged: of a touch or operation: it got no verdict; counted by reason
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   origin: the call that made a buffer or a stream, with its stack
 *   orphan: a node whose graph only the driver knows
 *   range: host memory that the driver knows: one allocation or one registration
 *   run: adjoining uses of an exec, recorded as one operation
 *   source: the memory that a copy reads
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   unjudged: of an operation of a graph: its order cannot be seen, so nothing about it is
 *       reported
 */

#ifndef SC_TRACK_GRAPHS_H
#define SC_TRACK_GRAPHS_H

#include "common/frames.h"
#include "common/hazard_event.h"
#include "common/op_kinds.h"
#include "common/shape.h"
#include "common/unsure.h"

enum sc_graph_place;
struct sc_graph;
struct sc_graphs;
struct sc_handles;
struct sc_watched_call;
struct sc_watched_launch;
struct sc_watched_node;
struct sc_order;
struct sc_point;

/* The author of a node: the call that captured, added or changed it. */
struct sc_graph_author {
    const char *api;         /* lives for ever; NULL: not known */
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    uintptr_t stream;        /* the stream that was captured, or 0 */
    uint64_t time_ns;        /* exact to some milliseconds */
    int32_t thread;
    uint32_t stack;
};

/* A use: what one node does with one piece of host or device memory. */
struct sc_graph_use {
    uintptr_t node; /* 0: not known */
    struct sc_shape shape;
    struct sc_graph_author author;
    uint32_t range;  /* id of the tracker's range (memory that the driver knows); 0: none */
    uint32_t origin; /* the call that made the range (track/origins.h) */
    uint32_t extra;  /* id of its struct sc_graph_extra, or 0 */
    /* id of the interval (the piece of memory in the index for frees) that lists it, or 0 */
    uint32_t interval;
    /* The next use in the interval's list, as its index + 1. Of a use of device memory instead: how
     * many such uses were added to the graph before. */
    uint32_t interval_next;
    enum sc_direction direction : 8; /* bit-fields, as captures write thousands of these */
    enum sc_buffer_kind kind : 8;
    bool disabled : 1;
    /* enum sc_unsure: why the order of this use is not certain: because of nodes before or after
     * its node, or because a launch may leave the use out */
    uint32_t unsure : SC_UNSURE_BITS;
    /* the node's stage: whether and by which node the host is told of its end (track/stages.h); 0:
     * none */
    uint32_t stage : 5;
    bool freed : 1;
    /* the exec's node uses the library's copy `saved` instead of this memory */
    bool redirected : 1;
    bool waits : 1; /* the target of a copy for which the launch waits before it returns */
    /* a launch reads this source before it returns, although the driver reads most others of its
     * kind later */
    bool in_call : 1;
    bool reads_device : 1; /* SC_DEVICE: the node only reads there */
};

/* In a node's flags, `unsure` has the reasons why the order of its uses is not certain: for host
 * memory in the low bits, for device memory in the bits above SC_UNSURE_OF_DEVICE. */
enum { SC_UNSURE_OF_DEVICE = SC_UNSURE_BITS };

/* What only few uses have (a use: what one node does with one piece of memory), kept apart since
 * captures write thousands of uses. */
struct sc_graph_extra {
    struct sc_hazard_event freed_by;
    /* if the memory is on a stack: the function whose local variable it is */
    struct sc_local local;
    /* the library's copy that the node reads instead of memory on a stack, or that the use lies in;
     * NULL: none */
    void *saved;
    struct sc_fold fold;
    /* the node within `node` (in a child graph, or in a body of a conditional node) that has the
     * use; 0: `node` itself */
    uintptr_t inner;
};

/* A node of an exec that records an event, or waits for one. */
struct sc_graph_event {
    uintptr_t node;
    uintptr_t inner; /* the node within `node` that records or waits; 0: `node` itself */
    uintptr_t event;
    bool waits;
    /* the node tells the host that all work up to this stage (track/stages.h) is done; 0: of none
     */
    uint8_t tells;
    /* the lowest `tells` of all nodes that record the same event: a wait for the event proves no
     * more */
    uint8_t stands;
};

/* The allocation that contains the use's bytes, and with which they are freed. */
struct sc_graph_bounds {
    uintptr_t address;
    size_t size_bytes;
};

/* Memory that a node of the exec allocates or frees. */
struct sc_graph_own {
    uintptr_t address;
    size_t size_bytes;  /* 0: a free of unknown size */
    uintptr_t freed_by; /* the node that frees the memory; 0: the node allocates it */
};

/* Two nodes of an exec that race: they use a common byte of device memory, at least one writes it,
 * and no path of edges orders them. */
struct sc_graph_race {
    /* the two uses, and the calls that added their nodes; api NULL: not known */
    struct sc_graph_use of[2];
    struct sc_hazard_event made; /* the call that made the exec with these nodes */
    bool is_told;
};

enum {
    /* How many uses of device memory, and how many addresses of kernels, are kept for a graph at
     * most. */
    SC_GRAPH_DEVICE_MAX = 8192,
    SC_GRAPH_RACES_MAX = 16,
    SC_GRAPH_OWN_MAX = 256,
};

/* What stays the same of a node's uses and events when the program gives the node new parameters.
 */
struct sc_graph_flags {
    bool disabled;
    /* reasons why the order is not certain, of uses of host memory, and << SC_UNSURE_OF_DEVICE of
     * those of device memory */
    uint16_t unsure;
    uint8_t stage; /* the stage that the node's uses belong to (track/stages.h) */
    /* the node tells the host that all work up to this stage is done, by an event or a host node */
    uint8_t tells;
};

/* Returns the handle under which an orphan (a node whose graph only the driver knows) is kept. It
 * is odd, while handles of graphs and execs are even. */
static inline uintptr_t sc_graphs_orphan(uintptr_t node)
{
    return node | 1;
}

int sc_graphs_init(struct sc_graphs *graphs, struct sc_order *order); /* 0 or -ENOMEM */

/* Returns the id of the graph or exec; 0 if nothing is known of it: it uses no memory of interest
 * and was never launched. Lock-free. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle);

/* Returns the graph or exec of the handle. If none is known, returns an empty one, to which nothing
 * may be added. */
struct sc_graph *sc_graphs_find_or_empty(struct sc_graphs *graphs, uintptr_t handle);

static inline bool sc_graph_is_of_device(const struct sc_graph_use *use)
{
    return use->kind == SC_DEVICE;
}

/* Returns true if the use is an address among a kernel's parameters. */
static inline bool sc_graph_is_address(const struct sc_graph_use *use)
{
    return sc_graph_is_of_device(use) && use->direction == SC_NO_DIRECTION;
}

const struct sc_graph *sc_graphs_get(struct sc_graphs *graphs, uint32_t id);

/* Returns what only few uses have, or zeros if the use has nothing of it. Lock-free. */
const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use);

/* Returns the id of the exec, and makes a record if it has none. 0: no memory. */
uint32_t sc_graphs_make_exec(struct sc_graphs *graphs, uintptr_t handle);

/* Begin and end to note all uses of an exec that was made or updated. Begin forgets all that was
 * known of the exec. `is_empty`: the exec's nodes do nothing. */
void sc_graphs_begin_exec(struct sc_graphs *graphs, uintptr_t handle, uint32_t context);
void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty);

/* Notes that a node of the exec may tell the host how far the launch has come (`signals`), or may
 * wait for the host (`awaits`), in a way that the library does not see. */
void sc_graphs_note_host_contact(struct sc_graphs *graphs, uintptr_t handle, bool signals,
                                 bool awaits);

/* Notes that the exec has a kernel node. Called between sc_graphs_begin_exec and
 * sc_graphs_end_exec. */
void sc_graphs_note_kernel(struct sc_graphs *graphs, uintptr_t handle);

/* Allocates memory for a copy that a node is to read in place of its source; NULL: no memory. The
 * copy is freed with the last use that has it as `saved` or begins at its address, or never with
 * `for_ever`. */
void *sc_graphs_alloc_copy(struct sc_graphs *graphs, size_t size_bytes, bool for_ever);

/* Adds a use (what a node does with one piece of memory) to the graph, with a copy of `extra`
 * unless that is NULL. Makes a record for a graph that has none. `bounds`: the allocation around
 * the use; NULL: not known. Silently leaves out a use of device memory that sc_graph_takes_device
 * refuses, as beyond SC_GRAPH_DEVICE_MAX. Returns false if there is no memory. */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use,
                   const struct sc_graph_extra *extra, const struct sc_graph_bounds *bounds);

/* Adds all uses of the graph `of` to the graph of the handle, which is a clone of `of` or has `of`
 * as a child graph. */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of);

/* Drops the uses and events of a node of the graph or exec; with node 0, those of all its nodes. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Drops the use that a node had before the program changed it, in whichever graph has the node;
 * execs are not searched. Which graph that is only the driver knows, so the use is found by its
 * bytes. Drops nothing if several graphs have such a use. */
void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former);

/* Enables or disables a node of the exec. Launches leave out a disabled node. */
void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           bool enabled);

/* Returns what stays the same of the node when it gets new parameters, without that of nodes within
 * it. */
struct sc_graph_flags sc_graphs_get_flags(struct sc_graphs *graphs, uintptr_t handle,
                                          uintptr_t node);

/* Returns the library's copy (`saved`) that the node's use in this direction has; NULL: none. */
void *sc_graphs_find_saved(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           enum sc_direction direction);

/* Notes that the node of the exec reads the library's copies (`saved`) instead of memory on a
 * stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Adds reasons why the order of the node's uses is not certain: nodes around it wait for the host
 * or tell it something, unseen. `unsure`: as in struct sc_graph_flags. */
void sc_graphs_add_unsure(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                          unsigned unsure);

/* Adds reasons why the order of many nodes' uses is not certain, in one pass over the graph's uses.
 * `nodes` maps each node to its reasons. */
void sc_graphs_add_unsure_of_nodes(struct sc_graphs *graphs, uintptr_t handle,
                                   struct sc_handles *nodes);

/* Puts the node's uses, except kernels' addresses, into a stage: the work of whose end one node
 * tells the host (track/stages.h). Returns false if the node has no such use. */
bool sc_graphs_set_stage(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         unsigned stage);

/* Sets up to which stage (track/stages.h) the node tells the host that work is done. The node
 * records events, or is a host node whose runs the library sees. */
void sc_graphs_set_notifies(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                            unsigned stage);

/* Notes that the node `inner` lies directly within the node `around`, in a child graph or a body.
 * In this and the next functions (track/graph_bodies.c): `inner` is such a node, and `outer` is the
 * node of the exec's own graph around it, under which the exec keeps all that is within. */
void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t around);

/* Returns where the node lies: in the exec's own graph, or within one of its nodes. *outer: that
 * node; 0: there is none, or it is unknown. */
enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer);

/* Drops all uses and events of the inner node (in a child graph or a body), which is about to
 * change, and of nodes within it. Returns their flags, for sc_graphs_place_inner; if it had no
 * uses, flags with SC_UNSURE_UNJUDGED, as nothing says how it is ordered. */
struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner);

/* The inner node (in a child graph or a body) was changed: gives its new uses these flags, which
 * its former ones had. */
void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags);

/* Disables the uses of all inner nodes of the exec, because one of them has changed and it is not
 * known which. Frees still find their memory as used, and no launch is judged by them. */
void sc_graphs_disable_inner(struct sc_graphs *graphs, uintptr_t handle);

/* Returns the next event that a node of the exec records (or, with `waits`, waits for), from index
 * `*at` on, and moves `*at` past it. 0: there is none. */
uintptr_t sc_graphs_next_event(struct sc_graphs *graphs, uint32_t exec, bool waits, uint32_t *at);

/* Notes that the driver has accepted a launch of the exec on the stream, and that all its
 * operations are recorded. */
void sc_graphs_note_launched(struct sc_graphs *graphs, uintptr_t handle, uint32_t stream);

/* Adds a record for a host node whose runs the library is to see (track/watched_nodes.h). The
 * caller passes the record to the driver as the node's data. NULL: no memory. */
struct sc_watched_node *sc_graphs_add_watched(struct sc_graphs *graphs, uintptr_t exec,
                                              uintptr_t node, void (*function)(void *), void *data);
/* Returns true if the library sees the runs of the exec's node. */
bool sc_graphs_is_watched(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* Notes that the driver calls the node's own function and not the library's: the runs of the exec
 * can no longer be matched with its launches. */
void sc_graphs_end_watch(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* Begins a launch of the exec for its watched host nodes (sc_watched_nodes_begin_launch). `exec`:
 * the exec's id. */
struct sc_watched_launch *sc_graphs_begin_watched(struct sc_graphs *graphs, uint32_t exec,
                                                  const struct sc_point *before,
                                                  const struct sc_watched_call *call,
                                                  unsigned *given_up);

/* Notes that the exec was last launched on the stream, at this moment: work that follows the launch
 * is told from that. Stream 0: forgets its last launch. */
void sc_graphs_set_last_launch(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t stream);

/* Stores the names of the exec's nodes: their handles in the graph from which the exec was first
 * made, also after an update by another graph. The driver lists the nodes of such graphs in the
 * same order, by which nodes and names are matched. */
void sc_graphs_set_names(struct sc_graphs *graphs, uintptr_t handle, const uintptr_t *names,
                         uint32_t count);
/* Stores the names of the exec's nodes, in the driver's order. Returns false if the exec does not
 * have exactly `count` names. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count);

/* Notes an event that a node of the exec records or waits for. */
void sc_graphs_add_event(struct sc_graphs *graphs, uintptr_t handle,
                         const struct sc_graph_event *event);

/* Notes memory that a node of the exec allocates or frees. Returns false if there is no room. */
bool sc_graphs_note_own_memory(struct sc_graphs *graphs, uintptr_t handle,
                               const struct sc_graph_own *own);
/* Called when all memory that the exec's nodes allocate and free is noted: drops uses of it, and
 * refuses later ones. A free of memory that no node of the exec allocates becomes a use of the
 * memory's first byte. */
void sc_graphs_end_own_memory(struct sc_graphs *graphs, uintptr_t handle);

/* Drops the exec's uses of device memory, except kernels' addresses, because not all are known;
 * none is added until the exec is made or updated anew. */
void sc_graphs_leave_out_device(struct sc_graphs *graphs, uintptr_t handle);

/* Adds a race: two nodes of the exec use a common byte without order. It is dropped when either
 * node's uses are. Returns false if there is no room. */
bool sc_graphs_add_race(struct sc_graphs *graphs, uintptr_t handle,
                        const struct sc_graph_race *race);

/* Stores the next race (two nodes that use a common byte without order) that was not reported yet,
 * and counts it as reported. Leaves out races of a node that is disabled, or whose order cannot be
 * seen. Returns false if there is none. */
bool sc_graphs_next_race(struct sc_graphs *graphs, uint32_t id, struct sc_graph_race *into);

/* Drops the addresses among the parameters of the kernel node; with node 0, those of all nodes. */
void sc_graphs_drop_addresses(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Makes the exec's runs, which its launches record as operations. Called when all its uses are
 * known. Adjoining uses of one range of host memory with equal direction and stage (track/stages.h)
 * become one run. Stacks and disabled nodes are left out. Runs are sorted by stage; those of no
 * stage come last. If several nodes record the same event, it is not known which record the host
 * has waited for. Then the event stands for the stages that all these nodes tell of, and runs of
 * their other stages are not judged. */
void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle);

/* Which runs (uses of an exec, as launches record them) of device memory are meant. Before a
 * launch, to be compared with earlier work: ALL of them; FREE, those before which no node may wait
 * for the program; GATED, the others. After a launch, to be recorded: IN_FLIGHT, all that are
 * recorded; or, as a number of 0 or more, those of one stage. */
enum { SC_RUNS_ALL = -1, SC_RUNS_FREE = -2, SC_RUNS_GATED = -3, SC_RUNS_IN_FLIGHT = -4 };
/* Returns true if the run is one of those that `which` means. One of unknown order never is, since
 * nothing about it may be reported. Pure. */
bool sc_graphs_run_is_selected(const struct sc_graph_use *run, int which);

/* Returns the graph's use of the same bytes in the same direction; NULL: none. The search begins
 * after the use that was found last, so look-ups in the graph's order are quick. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use);

/* Completes a use that the driver has described by what is known of it: if the graph, or the node
 * itself as an orphan (its graph is unknown), has the same use, copies into `use` which call made
 * it and whether its memory was freed. `node`: the driver's handle. */
void sc_graphs_recognise(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Stores the graph's use with index `at`. Returns false if the graph has no more. */
bool sc_graphs_get_use(struct sc_graphs *graphs, uint32_t graph, uint32_t at,
                       struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Returns the author of the node: the call that captured, added or changed it. A captured node is
 * not known by its handle, so a use of the same bytes as `use` is looked up for it. `api` is NULL
 * if no author is known, or several are. */
struct sc_graph_author sc_graphs_find_author(struct sc_graphs *graphs, uintptr_t handle,
                                             uintptr_t node, const struct sc_graph_use *use);

/* Are there orphans (nodes that the program has changed and of which only the driver knows the
 * graph)? */
bool sc_graphs_have_orphans(struct sc_graphs *graphs);

/* Returns the handle of the graph that has a use of the node; that of the node itself if its graph
 * is unknown (sc_graphs_orphan); 0: none. Execs are not searched. */
uintptr_t sc_graphs_find_of_node(struct sc_graphs *graphs, uintptr_t node);

#endif
