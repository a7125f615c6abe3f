/* Graphs and execs, and the memory that their nodes use.
 *
 * A graph keeps raw addresses. Memory that a graph or an exec names must not go back to where it
 * came from while a launch could still use it. So frees look here (sc_graphs_name_memory), and are
 * noted here (sc_graphs_note_freed): whoever launches an exec that names freed memory is told.
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
struct sc_watched_call;
struct sc_watched_launch;
struct sc_watched_node;
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
    /* The next use of the same interval, as its index + 1. For a use of device memory instead: how
     * many such uses the graph had been given before this one. */
    uint32_t interval_next;
    enum sc_direction direction : 8; /* bit-fields, as captures write thousands of these */
    enum sc_buffer_kind kind : 8;
    bool disabled : 1;
    /* enum sc_unsure: why the order of this use is not certain: by the nodes before and behind its
     * node, or since a launch may leave the use out */
    uint32_t unsure : SC_UNSURE_BITS;
    uint32_t stage : 5; /* the stage (track/stages.h) that the use is in; 0: none */
    bool freed : 1;
    bool redirected : 1; /* the node of the exec uses the `saved` copy instead */
    bool waits : 1; /* the target of a copy whose launch returns only when the copy is complete */
    /* a launch reads this source before it returns, although the driver reads others of its kind
     * late */
    bool in_call : 1;
    bool reads_device : 1; /* SC_DEVICE: the node merely reads there */
};

/* In a node's flags `unsure` has the reasons for its uses of host memory, and, shifted by this,
 * those for its uses of device memory. */
enum { SC_UNSURE_OF_DEVICE = SC_UNSURE_BITS };

/* What only few uses have. */
struct sc_graph_extra {
    struct sc_hazard_event freed_by;
    struct sc_local local; /* on a stack: the function whose local it is */
    void *saved; /* a copy of what is on a stack, or the library's copy that the node names; NULL:
                    none */
    struct sc_fold fold;
    /* the node within `node` (in a child graph or a body) that has the use; 0: `node` itself */
    uintptr_t inner;
};

/* A node of an exec that records an event, or waits for one. */
struct sc_graph_event {
    uintptr_t node;
    uintptr_t inner; /* the node within `node` that records or waits; 0: `node` itself */
    uintptr_t event;
    bool waits;
    uint8_t tells;  /* the node tells up to this stage; 0: of nothing */
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

/* What has to stay the same of a node's uses and events when the node is given new parameters. */
struct sc_graph_flags {
    bool disabled;
    uint16_t unsure; /* reasons for uses of host memory, and << SC_UNSURE_OF_DEVICE for those of
                        device memory */
    uint8_t stage;   /* the stage that tells of the node's uses */
    uint8_t tells;   /* the stage up to which the node tells, by an event or a host function */
};

/* The handle under which an orphan is kept: odd, as handles of graphs and execs are even. */
static inline uintptr_t sc_graphs_orphan(uintptr_t node)
{
    return node | 1;
}

int sc_graphs_init(struct sc_graphs *graphs, struct sc_order *order); /* 0 or -ENOMEM */

/* The id of the graph or exec; 0: it is not known to name host memory or to have been launched. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle);

/* The graph or exec of the handle; if none is known, an empty one, to which nothing may be
 * added. */
struct sc_graph *sc_graphs_find_or_empty(struct sc_graphs *graphs, uintptr_t handle);

static inline bool sc_graph_is_of_device(const struct sc_graph_use *use)
{
    return use->kind == SC_DEVICE;
}

/* Is the use an address among a kernel's parameters? */
static inline bool sc_graph_is_address(const struct sc_graph_use *use)
{
    return sc_graph_is_of_device(use) && use->direction == SC_NO_DIRECTION;
}

const struct sc_graph *sc_graphs_get(struct sc_graphs *graphs, uint32_t id);

/* The use's struct sc_graph_extra; if it has none, one of zeros. */
const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use);

/* The id of the exec, which gets a record if it has none. 0: no memory. */
uint32_t sc_graphs_make_exec(struct sc_graphs *graphs, uintptr_t handle);

/* Begin and end the telling of all that is known of an exec. Begin forgets what was known before.
 * `is_empty`: the nodes of the exec do nothing. */
void sc_graphs_begin_exec(struct sc_graphs *graphs, uintptr_t handle, uint32_t context);
void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty);

/* Notes that a node of the exec may tell the host how far the launch has come, unseen by the
 * library (`signals`), or may wait for the host (`awaits`). */
void sc_graphs_note_host_contact(struct sc_graphs *graphs, uintptr_t handle, bool signals,
                                 bool awaits);

/* Notes that the exec, whose telling has begun, has a kernel node. */
void sc_graphs_note_kernel(struct sc_graphs *graphs, uintptr_t handle);

/* Allocates memory for a copy of a source that a node is to read; NULL: no memory. Unless
 * `for_ever`, it is freed with the last use that has it as `saved` or begins at its address. */
void *sc_graphs_alloc_copy(struct sc_graphs *graphs, size_t size_bytes, bool for_ever);

/* Adds a use to the graph, with a copy of `extra` unless that is NULL. The graph is made known if
 * it is not. `bounds`: the allocation around the use; NULL: not known. Uses of device memory beyond
 * SC_GRAPH_DEVICE_MAX are left out, and so are those that sc_graph_takes_device refuses. False: no
 * memory. */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use,
                   const struct sc_graph_extra *extra, const struct sc_graph_bounds *bounds);

/* Adds all uses of the graph `of` to the graph of the handle: that is a clone of `of`, or has `of`
 * as a child. */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of);

/* Drops the uses and events of a node; with node 0, those of all nodes. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Drops the use that a node had before a change, in whichever graph (no exec) has the node: its
 * name there is unknown, so the use is found by its bytes. Nothing is dropped if several graphs
 * could have it. */
void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former);

/* Enables or disables a node of the exec. A launch leaves a disabled node out. */
void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           bool enabled);

/* The flags of the node's own uses and events, without those that only nodes within it have. */
struct sc_graph_flags sc_graphs_get_flags(struct sc_graphs *graphs, uintptr_t handle,
                                          uintptr_t node);

/* The `saved` copy of the node's use in this direction; NULL: none. */
void *sc_graphs_find_saved(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           enum sc_direction direction);

/* Notes that the node of the exec uses its `saved` copies instead of a stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Adds reasons why the order of the node's uses is not certain. `unsure`: as in struct
 * sc_graph_flags. */
void sc_graphs_add_unsure(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                          unsigned unsure);

/* Adds reasons why the order of many nodes' uses is not certain, in one pass over the uses.
 * `nodes`: maps each node to its reasons. */
void sc_graphs_add_unsure_of_nodes(struct sc_graphs *graphs, uintptr_t handle,
                                   struct sc_handles *nodes);

/* Puts the node's uses, except kernels' addresses, into this stage (track/stages.h). False: the
 * node has no such use. */
bool sc_graphs_set_stage(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         unsigned stage);

/* Sets up to which stage the node notifies the host: the node records events, or is a host node
 * whose runs are seen. */
void sc_graphs_set_notifies(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                            unsigned stage);

/* Nodes in child graphs and bodies of an exec (track/graph_bodies.c). `inner`: such a node;
 * `around`: the node that it is directly inside of; `outer`: the node of the outermost graph around
 * it, by which the exec knows all that is inside. This one notes that `inner` is directly inside of
 * `around`. */
void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t around);

/* Where the node of the exec stands. *outer: the node of the exec's own graph that it is within; 0:
 * it is within none, or that is unknown. */
enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer);

/* Drops all uses and events of the inner node and of nodes within it, which is about to change.
 * Returns their flags, for sc_graphs_place_inner; if there were none, flags that say "unjudged". */
struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner);

/* Gives the flags to the inner node's new uses. */
void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags);

/* Some inner node of the exec has changed, and it is not known which one. The uses of all inner
 * nodes are disabled: frees still see their memory as named, and no launch is judged by them. */
void sc_graphs_disable_inner(struct sc_graphs *graphs, uintptr_t handle);

/* The next event that a node of the exec records (or, with `waits`, waits for), from index `*at`
 * on; 0: there is none. `*at` moves behind it. */
uintptr_t sc_graphs_next_event(struct sc_graphs *graphs, uint32_t exec, bool waits, uint32_t *at);

/* Notes that a launch of the exec was accepted and all its operations are recorded. */
void sc_graphs_note_launched(struct sc_graphs *graphs, uintptr_t handle, uint32_t stream);

/* Host nodes of execs (track/watched_nodes.h). Adds a record for the host node, to be given to the
 * driver as the node's data; NULL: no memory. */
struct sc_watched_node *sc_graphs_add_watched(struct sc_graphs *graphs, uintptr_t exec,
                                              uintptr_t node, void (*function)(void *), void *data);
/* Are the runs of the exec's node seen? */
bool sc_graphs_is_watched(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* The driver calls the node's function directly, and not by our record: the runs of the exec can no
 * longer be told apart. */
void sc_graphs_end_watch(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
/* Begins a launch of the exec as far as its watched host nodes are concerned
 * (sc_watched_nodes_begin_launch). `exec`: the exec's id. */
struct sc_watched_launch *sc_graphs_begin_watched(struct sc_graphs *graphs, uint32_t exec,
                                                  const struct sc_point *before,
                                                  const struct sc_watched_call *call,
                                                  unsigned *given_up);

/* Sets the stream of the exec's last launch; 0: forgets that launch. */
void sc_graphs_set_last_launch(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t stream);

/* The names of the exec's nodes. They are the handles of nodes in the graph that the exec was first
 * made from, also after an update by another graph. The driver lists nodes always in the same
 * order, by which names and nodes are matched. */
void sc_graphs_set_names(struct sc_graphs *graphs, uintptr_t handle, const uintptr_t *names,
                         uint32_t count);
/* Stores the names by which the exec knows its nodes, in the driver's order. False: it does not
 * have `count` of them. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count);

/* Notes that a node of the exec records or waits for this event. */
void sc_graphs_add_event(struct sc_graphs *graphs, uintptr_t handle,
                         const struct sc_graph_event *event);

/* Notes memory that a node of the exec allocates or frees. False: there is no room for more. */
bool sc_graphs_note_own_memory(struct sc_graphs *graphs, uintptr_t handle,
                               const struct sc_graph_own *own);
/* All such memory of the exec is noted: uses of it are dropped, and later ones are not added. A
 * free of memory that no node allocates becomes a use, of the memory's first byte. */
void sc_graphs_end_own_memory(struct sc_graphs *graphs, uintptr_t handle);

/* Drops the exec's uses of device memory, except kernels' addresses, since not all are known. None
 * is added until the exec is made anew. */
void sc_graphs_leave_out_device(struct sc_graphs *graphs, uintptr_t handle);

/* Adds a race, which is dropped with either node. False: there is no room for more. */
bool sc_graphs_add_race(struct sc_graphs *graphs, uintptr_t handle,
                        const struct sc_graph_race *race);

/* Stores the next pair of nodes that race and were not reported yet, if neither is disabled or
 * unjudged. It counts as reported from now on. False: there is none. */
bool sc_graphs_next_race(struct sc_graphs *graphs, uint32_t id, struct sc_graph_race *into);

/* Drops the kernels' addresses of the node, or with node 0 of all nodes. */
void sc_graphs_drop_addresses(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* Makes the exec's runs, which its launches issue as operations, when all its uses are known. Uses
 * of neighbouring bytes of one range of host memory, in the same direction and stage, become one
 * run. Stacks and disabled nodes are left out. Runs come stage by stage, and those of no stage
 * last. If several nodes record one event, nobody knows which record the host has waited for: the
 * event stands for what all these nodes tell of, and what only some of them tell of is not
 * judged. */
void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle);

/* Selects runs of device memory. To be held against what came before a launch: ALL; FREE, those
 * that are not gated; GATED. To be noted behind a launch: IN_FLIGHT, or those of one stage (0 or
 * more). */
enum { SC_RUNS_ALL = -1, SC_RUNS_FREE = -2, SC_RUNS_GATED = -3, SC_RUNS_IN_FLIGHT = -4 };
/* Is the run selected, and its order not unknown? Pure. */
bool sc_graphs_run_is_selected(const struct sc_graph_use *run, int which);

/* The graph's use of the same bytes in the same direction; NULL: none. Begins to look behind the
 * use that was found last, so that look-ups in the graph's order are quick. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use);

/* Completes a use that the driver has told of: if the graph, or the orphan `node`, already has the
 * same use, takes over its author, and whether its memory was freed since. `node`: the driver's
 * handle. */
void sc_graphs_recognise(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Stores use number `at` of the graph. False: the graph has no more. */
bool sc_graphs_get_use(struct sc_graphs *graphs, uint32_t graph, uint32_t at,
                       struct sc_graph_use *use, struct sc_graph_extra *extra);

/* Which call added the node to the graph, as the node's uses say. Captured nodes have no name, so
 * for them uses of the same bytes as `use` are looked at. api NULL: not known, or several calls. */
struct sc_graph_author sc_graphs_find_author(struct sc_graphs *graphs, uintptr_t handle,
                                             uintptr_t node, const struct sc_graph_use *use);

/* Are there orphans? */
bool sc_graphs_have_orphans(struct sc_graphs *graphs);

/* The handle of the graph that has a use of the node, or of the node as an orphan; 0: none. Execs
 * do not count. */
uintptr_t sc_graphs_find_of_node(struct sc_graphs *graphs, uintptr_t node);

#endif
