/* Graphs and execs, and the memory that their nodes use.
 *
 * A graph keeps raw addresses. Memory that a graph or an exec names must not go back to where it
 * came from while a launch could still use it. So frees look here (sc_graphs_name), and are noted
 * here (sc_graphs_note_freed): whoever launches an exec that names freed memory is told.
 *
 * Graphs and execs have the same record: a handle with uses. The uses of an exec are also merged
 * into runs, at which its launches look.
 *
 * If device memory is watched, a use of device memory is a use of kind SC_DEVICE. An address among
 * the parameters of a kernel node is such a use as well, of one byte and without a direction. Frees
 * of device memory are not held and do not look here, so these uses lie behind no interval. A graph
 * that is no exec keeps them to know who added its nodes.
 *
 * The index knows allocations rather than uses: a thousand nodes that read one buffer lie behind
 * one interval.
 *
 * An orphan is a node that the program has changed and whose graph only the driver knows: the node
 * was captured, cloned or came with a child graph. What an orphan names is kept as a graph of its
 * own, until the node or its graph is destroyed.
 *
 * Locks: every function needs the owner's lock, except sc_graphs_find and sc_graphs_extra. These
 * are lock-free; what they return is valid as long as the program may use the handle. */
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
struct sc_heard_call;
struct sc_heard_launch;
struct sc_heard_node;
struct sc_order;
struct sc_point;

/* The call that captured, added or changed a node. */
struct sc_graph_author {
    const char *api;         /* lives for ever; NULL: not known */
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    uintptr_t stream;        /* the stream that was captured, or 0 */
    uint64_t time_ns;        /* exact to some milliseconds */
    int32_t thread;
    uint32_t stack;
};

/* What one node does with memory of the host or of a device. */
struct sc_graph_use {
    uintptr_t node; /* 0: not known */
    struct sc_shape shape;
    struct sc_graph_author author;
    uint32_t range;    /* id of the range in the tracker; 0: none */
    uint32_t origin;   /* origin of the range (track/origins.h) */
    uint32_t extra;    /* id of its struct sc_graph_extra, or 0 */
    uint32_t interval; /* id of the interval that it lies behind, or 0 */
    /* The next use behind the same interval, as its index + 1. For device memory: how many uses of
     * device memory the graph had been given before. */
    uint32_t interval_next;
    enum sc_direction direction : 8; /* bit-fields, as captures write thousands of these */
    enum sc_buffer_kind kind : 8;
    bool disabled : 1;
    uint32_t unsure : SC_UNSURE_BITS; /* enum sc_unsure: reasons from the nodes before and behind
                                         its node, or that a launch may leave the use out */
    uint32_t told : 5; /* the step that tells of it (track/told.h); 0: no node tells of it */
    bool freed : 1;
    bool redirected : 1; /* the node of the exec uses the `saved` copy instead */
    bool waits : 1;      /* the target of a copy: a launch returns only when the copy is complete */
    bool in_call : 1; /* a launch reads this source before it returns, although sources of its kind
                         are otherwise read late */
    bool reads_device : 1; /* SC_DEVICE: the node merely reads there */
};

/* In a node's flags, the reasons (enum sc_unsure) for its uses of device memory are shifted by
 * this; those for host memory are not shifted. */
enum { SC_UNSURE_OF_DEVICE = SC_UNSURE_BITS };

/* What only few uses have. */
struct sc_graph_extra {
    struct sc_hazard_event freed_by;
    struct sc_local local; /* on a stack: the function whose local it is */
    void *saved; /* a copy of what is on a stack, or the library's copy that the node names; NULL:
                    none */
    struct sc_fold fold;
    uintptr_t inner; /* the inner node that has the use, if `node` is the node of the outermost
                        graph around it; else 0 */
};

/* A node of an exec that records an event, or waits for one. */
struct sc_graph_event {
    uintptr_t node;
    uintptr_t inner; /* the inner node that records or waits, if `node` is the node of the outermost
                        graph around it; else 0 */
    uintptr_t event;
    bool waits;
    uint8_t tells;  /* the node tells up to this step; 0: of nothing */
    uint8_t stands; /* the lowest `tells` of all nodes that record the same event */
};

/* The allocation that the use's bytes are freed with. */
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

/* A race: two nodes of an exec use a common byte of device memory, and no edges order them. */
struct sc_graph_race {
    struct sc_graph_use of[2];   /* the uses, with the authors of the nodes; api NULL: not known */
    struct sc_hazard_event made; /* the call that made the exec with these nodes */
    bool is_told;
};

enum {
    /* The most uses of device memory, and the most addresses of kernels, of a graph. */
    SC_GRAPH_DEVICE_MAX = 8192,
    SC_GRAPH_RACES_MAX = 16,
    SC_GRAPH_OWN_MAX = 256,
};

/* What a change of a node has to keep of the node's former uses and events. */
struct sc_graph_flags {
    bool disabled;
    uint16_t unsure; /* reasons for uses of host memory, and << SC_UNSURE_OF_DEVICE for those of
                        device memory */
    uint8_t told;    /* the step that tells of the node's uses */
    uint8_t tells;   /* the step up to which the node tells, by an event or a host function */
};

/* The handle under which an orphan is kept: odd, as handles of graphs and execs are even. */
static inline uintptr_t sc_graphs_orphan(uintptr_t node)
{
    return node | 1;
}

int sc_graphs_init(struct sc_graphs *graphs, struct sc_order *order); /* 0 or -ENOMEM */

/* The id of the graph or exec; 0: it is not known to name host memory or to have been launched. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle);

/* The graph or exec of the handle; if none is known, one without uses. */
struct sc_graph *sc_graphs_known(struct sc_graphs *graphs, uintptr_t handle);

static inline bool sc_graph_is_of_device(const struct sc_graph_use *use)
{
    return use->kind == SC_DEVICE;
}

/* Is the use an address among a kernel's parameters? */
static inline bool sc_graph_is_address(const struct sc_graph_use *use)
{
    return sc_graph_is_of_device(use) && use->direction == SC_NO_DIRECTION;
}

const struct sc_graph *sc_graphs_of_id(struct sc_graphs *graphs, uint32_t id);

/* The use's struct sc_graph_extra; if it has none, one of zeros. */
const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use);

/* The id of the exec, which is made known if it is not. 0: no memory. */
uint32_t sc_graphs_make_exec(struct sc_graphs *graphs, uintptr_t handle);

/* Begin and end the telling of all that is known of an exec. Begin forgets what was known before.
 * `is_empty`: the nodes of the exec do nothing. */
void sc_graphs_begin_exec(struct sc_graphs *graphs, uintptr_t handle, uint32_t context);
void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty);

/* Notes that a node of the exec may tell the host, unseen, how far the launch has come (`signals`),
 * or may wait for the host (`awaits`). */
void sc_graphs_meets_host(struct sc_graphs *graphs, uintptr_t handle, bool signals, bool awaits);

/* Notes that the exec, whose telling has begun, has a kernel node. */
void sc_graphs_meets_kernel(struct sc_graphs *graphs, uintptr_t handle);

/* Memory for a copy of what a node is to read; NULL: no memory. Unless `for_ever`, the copy is
 * freed with the last use that has it as `saved` or begins at its address. */
void *sc_graphs_take_copy(struct sc_graphs *graphs, size_t size_bytes, bool for_ever);

/* Adds a use to the graph, with a copy of `extra` unless that is NULL. The graph is made known if
 * it is not. `bounds`: the allocation around the use; NULL: not known. Uses of device memory beyond
 * SC_GRAPH_DEVICE_MAX are left out, and so are those that sc_graph_takes_device refuses. False: no
 * memory. */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use,
                   const struct sc_graph_extra *extra, const struct sc_graph_bounds *bounds);

/* Adds all uses of the graph `of` to the graph of the handle, which is a clone of it or has it as a
 * child. */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of);

/* Drops the uses and events of a node; with node 0, those of all nodes. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Drops a use that a node of unknown name had, in some graph that is no exec. Nothing is dropped if
 * several graphs could have the node. */
void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former);

/* Enables or disables a node of the exec. A launch leaves a disabled node out. */
void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           bool enabled);

/* The flags of the node, without those that come only from its inner nodes' bodies. */
struct sc_graph_flags sc_graphs_flags(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The `saved` copy of the node's use in this direction; NULL: none. */
void *sc_graphs_saved(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                      enum sc_direction direction);

/* Notes that the node of the exec uses its `saved` copies instead of a stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Adds reasons why the order of the node's uses is not certain. `unsure`: as in struct
 * sc_graph_flags. */
void sc_graphs_doubt_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                          unsigned unsure);

/* Adds reasons why the order of many nodes' uses is not certain, in one pass over the uses.
 * `nodes`: maps each node to its reasons. */
void sc_graphs_doubt_nodes(struct sc_graphs *graphs, uintptr_t handle, struct sc_handles *nodes);

/* Sets the step that tells of the node's uses, except of kernels' addresses. False: the node has no
 * such use. */
bool sc_graphs_tell_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, unsigned step);

/* Sets the step up to which the node tells. The node records events, or is a host node whose runs
 * are heard. */
void sc_graphs_let_tell(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, unsigned step);

/* Nodes in child graphs and bodies of an exec (track/graph_bodies.c). `inner`: such a node;
 * `around`: the node that it is directly inside of; `outer`: the node of the outermost graph around
 * it, by which the exec knows all that is inside. This one notes that `inner` is directly inside of
 * `around`. */
void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t around);

/* Where the node of the exec stands. Stores in *outer the node of the outermost graph around it; 0:
 * there is none, or it is unknown. */
enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer);

/* Drops what the inner node, and nodes within it, use and record. Returns the flags of these uses;
 * if there were none, it is unjudged. */
struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner);

/* Gives the flags to the inner node's new uses. */
void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags);

/* An inner node of the exec has changed, and which one is not known. The uses of all inner nodes
 * are disabled: their memory stays named, and no launch is judged by them. */
void sc_graphs_lose_inner(struct sc_graphs *graphs, uintptr_t handle);

/* The next event that a node of the exec records (or, with `waits`, waits for), from index `*at`
 * on; 0: there is none. `*at` moves behind it. */
uintptr_t sc_graphs_next_event(struct sc_graphs *graphs, uint32_t exec, bool waits, uint32_t *at);

/* A launch of the exec on the stream, and its operations, have been issued. */
void sc_graphs_launched(struct sc_graphs *graphs, uintptr_t handle, uint32_t stream);

/* Host nodes of execs (track/heard.h). Adds a record for the host node, to be given to the driver
 * as the node's data; NULL: no memory. */
struct sc_heard_node *sc_graphs_add_heard(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node,
                                          void (*function)(void *), void *data);
/* Are the runs of the exec's node heard? */
bool sc_graphs_hears(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* The driver calls the node's function directly, and not by our record: the runs of the exec can no
 * longer be told apart. */
void sc_graphs_lose_heard(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* Begins a launch of the exec for its host nodes (sc_heard_begin). `exec`: the exec's id. */
struct sc_heard_launch *sc_graphs_begin_heard(struct sc_graphs *graphs, uint32_t exec,
                                              const struct sc_point *before,
                                              const struct sc_heard_call *call, unsigned *given_up);

/* The exec was launched on this stream last; 0: forgets its last launch. */
void sc_graphs_set_last_launch(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t stream);

/* The names of the exec's nodes. They are the handles of nodes in the graph that the exec was first
 * made from, also after an update by another graph. The driver lists nodes always in the same
 * order, by which names and nodes are matched. */
void sc_graphs_set_names(struct sc_graphs *graphs, uintptr_t handle, const uintptr_t *names,
                         uint32_t count);
/* Stores the names in `names`. False: the exec does not have `count` names. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count);

/* Adds an event that a node of the exec records or waits for. */
void sc_graphs_add_event(struct sc_graphs *graphs, uintptr_t handle,
                         const struct sc_graph_event *event);

/* Notes memory that a node of the exec allocates or frees. False: there is no room for more. */
bool sc_graphs_own(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_own *own);
/* All such memory of the exec is noted: uses of it are dropped, and later ones are not added. A
 * free of memory that no node allocates becomes a use, of the memory's first byte. */
void sc_graphs_settle_own(struct sc_graphs *graphs, uintptr_t handle);

/* Drops the exec's uses of device memory, except kernels' addresses. None is added until the exec
 * is made anew. */
void sc_graphs_leave_out_device(struct sc_graphs *graphs, uintptr_t handle);

/* Adds a race, which is dropped with either node. False: there is no room for more. */
bool sc_graphs_add_race(struct sc_graphs *graphs, uintptr_t handle,
                        const struct sc_graph_race *race);

/* Stores the next race that was not told of before and of which neither node is disabled or
 * unjudged. It counts as told from now on. False: there is none. */
bool sc_graphs_next_race(struct sc_graphs *graphs, uint32_t id, struct sc_graph_race *into);

/* Drops the kernels' addresses of the node, or with node 0 of all nodes. */
void sc_graphs_drop_addresses(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Makes the exec's runs, when its uses are complete. Plain uses of neighbouring bytes of one range
 * of host memory, in the same direction and of the same step, become one run. Stacks and disabled
 * nodes are left out. Runs of a step come before those of later steps, and runs of which no node
 * tells come last. If several nodes record one event, nobody knows which of the records the host
 * has heard of. So the event stands for what all these nodes tell of, and what only some of them
 * tell of is not judged. */
void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle);

/* Selects runs of device memory. To be held against what came before a launch: ALL; FREE, those
 * that are not gated; GATED. To be noted behind a launch: IN_FLIGHT, or those of one step (0 or
 * more). */
enum { SC_RUNS_ALL = -1, SC_RUNS_FREE = -2, SC_RUNS_GATED = -3, SC_RUNS_IN_FLIGHT = -4 };
/* Is the run selected, and its order not unknown? Pure. */
bool sc_graphs_run_is(const struct sc_graph_use *run, int which);

/* The graph's use of the same bytes in the same direction; NULL: none. Begins to look behind the
 * use that was found last, so that look-ups in the graph's order are quick. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use);

/* If the graph, or the orphan `node`, has the same use: fills in that use's author, and whether its
 * memory was freed since. `node`: the driver's handle of the node that has the use. */
void sc_graphs_recognise(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Stores the graph's use with the index `at`. False: the graph has no more. */
bool sc_graphs_use(struct sc_graphs *graphs, uint32_t graph, uint32_t at, struct sc_graph_use *use,
                   struct sc_graph_extra *extra);

/* Who added the node to the graph. Looks at the node's uses, or, as captured nodes have no name, at
 * uses of the same bytes as `use`. api NULL: not known, or one of several callers. */
struct sc_graph_author sc_graphs_author(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                        const struct sc_graph_use *use);

/* Are there orphans? */
bool sc_graphs_have_orphans(struct sc_graphs *graphs);

/* The handle of the graph that has a use of the node, or of the node as an orphan; 0: none. Execs
 * do not count. */
uintptr_t sc_graphs_of_node(struct sc_graphs *graphs, uintptr_t node);

#endif
