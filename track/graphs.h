/* Graphs and execs, and the memory that their nodes use.
 *
 * A graph keeps raw addresses. Memory that a graph or an exec names must not go back to where it
 * came from while a launch could still use it. So frees look here (sc_graphs_name), and are noted
 * here (sc_graphs_note_freed): whoever launches an exec that names freed memory is told.
 *
 * Graphs and execs are alike here: a handle with uses. The uses of an exec are put together as
 * runs, at which its launches look.
 *
 * A use of device memory is a use of kind SC_DEVICE, where device memory is watched. An address
 * among the parameters of a kernel node is such a use as well, of one byte and in no direction.
 * Nothing holds device memory, and nobody is asked about it when it is freed: such uses lie behind
 * no interval. A graph that is no exec keeps them to know who added its nodes.
 *
 * The index knows allocations rather than uses: a thousand nodes that read one buffer lie behind
 * one interval.
 *
 * An orphan is a node of which only the driver knows the graph, and that the program has changed:
 * it was captured, cloned or came with a child. What an orphan names is kept as a graph of its own,
 * until the node or its graph is destroyed.
 *
 * Locks: every function needs the owner's lock, except sc_graphs_find and sc_graphs_extra
 * (lock-free; what they return is good for as long as the program may use the handle).
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
struct sc_heard_call;
struct sc_heard_launch;
struct sc_heard_node;
struct sc_order;
struct sc_point;

/* The call that captured, added or changed a node. */
struct sc_graph_author {
    const char *api;         /* lives for ever; NULL: not known */
    const char *runtime_api; /* the runtime function that made the call; NULL: none, or unknown */
    uintptr_t stream;        /* that captured, or 0 */
    uint64_t time_ns;        /* to some milliseconds */
    int32_t thread;
    uint32_t stack;
};

/* What one node does with memory of either space. */
struct sc_graph_use {
    uintptr_t node; /* 0: not known */
    struct sc_shape shape;
    struct sc_graph_author author;
    uint32_t range;                  /* the tracker's, 0: none */
    uint32_t origin;                 /* of the range (track/origins.h) */
    uint32_t extra;                  /* id of what few uses have, or 0 */
    uint32_t interval;               /* that it lies behind, or 0 */
    uint32_t interval_next;          /* the next use behind the same one, as its index + 1; of
                                      * device memory: how many such uses were added before */
    enum sc_direction direction : 8; /* bit-fields, as captures write thousands of these */
    enum sc_buffer_kind kind : 8;
    bool disabled : 1;
    uint32_t unsure : SC_UNSURE_BITS; /* enum sc_unsure, by what stands before and behind the node;
                                       * or a launch may leave it out */
    uint32_t told : 5; /* the step that it is of (track/told.h); 0: no node tells of it */
    bool freed : 1;
    bool redirected : 1; /* the node of the exec uses the copy instead */
    bool waits : 1;      /* a target: a launch returns when the copy is complete */
    bool in_call : 1;    /* a launch reads the source before it returns, where memory of its kind is
                            read late elsewhere */
    bool reads_device : 1; /* SC_DEVICE: the node merely reads there */
};

/* What a use of device memory of the node does not share with one of host memory is shifted by
 * this: why the order of either is not certain (enum sc_unsure). */
enum { SC_UNSURE_OF_DEVICE = SC_UNSURE_BITS };

struct sc_graph_extra {
    struct sc_hazard_event freed_by;
    struct sc_local local; /* on a stack: whose it is */
    void *saved; /* a copy of what is on a stack, or the copy that the node names; NULL: none */
    struct sc_fold fold;
    uintptr_t inner; /* the inner node that uses it, where `node` is the outermost graph's; 0 */
};

/* A node of an exec that records an event, or waits for one. */
struct sc_graph_event {
    uintptr_t node;
    uintptr_t inner; /* the inner node that does, where `node` is the outermost graph's; 0 */
    uintptr_t event;
    bool waits;
    uint8_t tells;  /* up to this step; 0: of nothing in the graph */
    uint8_t stands; /* the least that a node tells of which records the same event */
};

/* The bytes that go when the use's bytes go: an allocation. */
struct sc_graph_bounds {
    uintptr_t address;
    size_t size_bytes;
};

/* Memory that a node of the exec allocates or frees. */
struct sc_graph_own {
    uintptr_t address;
    size_t size_bytes;  /* 0: it is not known how much is freed */
    uintptr_t freed_by; /* the node; 0: it allocates */
};

/* Two nodes that use a common byte of device memory, and that no edges order. */
struct sc_graph_race {
    struct sc_graph_use of[2];   /* with those who added them; api NULL: not known */
    struct sc_hazard_event made; /* the exec, with these nodes */
    bool is_told;
};

enum {
    SC_GRAPH_DEVICE_MAX = 8192, /* uses of device memory, and so many addresses of kernels */
    SC_GRAPH_RACES_MAX = 16,
    SC_GRAPH_OWN_MAX = 256,
};

struct sc_graph_flags {
    bool disabled;
    uint16_t unsure; /* of host memory, and of device memory << SC_UNSURE_OF_DEVICE */
    uint8_t told;    /* of a use of the node */
    uint8_t tells;   /* of an event or a host function of the node */
};

/* The handle under which an orphan is kept. It is no graph's and no exec's: theirs are even. */
static inline uintptr_t sc_graphs_orphan(uintptr_t node)
{
    return node | 1;
}

int sc_graphs_init(struct sc_graphs *graphs, struct sc_order *order); /* 0 or -ENOMEM */

/* The graph of the handle; 0 if it is not known to name host memory or to have been launched. */
uint32_t sc_graphs_find(struct sc_graphs *graphs, uintptr_t handle);

/* The graph of that handle; one of nothing if there is none. */
struct sc_graph *sc_graphs_known(struct sc_graphs *graphs, uintptr_t handle);

static inline bool sc_graph_is_of_device(const struct sc_graph_use *use)
{
    return use->kind == SC_DEVICE;
}

/* Is the use an address that a kernel has? */
static inline bool sc_graph_is_address(const struct sc_graph_use *use)
{
    return sc_graph_is_of_device(use) && use->direction == SC_NO_DIRECTION;
}

const struct sc_graph *sc_graphs_of_id(struct sc_graphs *graphs, uint32_t id);

/* What few uses have. A use that has none of it has zeros. */
const struct sc_graph_extra *sc_graphs_extra(struct sc_graphs *graphs,
                                             const struct sc_graph_use *use);

/* The exec of the handle, made known if it is not. 0: no memory. */
uint32_t sc_graphs_make_exec(struct sc_graphs *graphs, uintptr_t handle);

/* Around the telling of an exec's uses, which are all that are known of it then. `is_empty`: the
 * nodes of the exec do nothing. */
void sc_graphs_begin_exec(struct sc_graphs *graphs, uintptr_t handle, uint32_t context);
void sc_graphs_end_exec(struct sc_graphs *graphs, uintptr_t handle, bool is_empty);

/* A node may tell the host how far the graph has come (`signals`), or wait for the host (`awaits`).
 */
void sc_graphs_meets_host(struct sc_graphs *graphs, uintptr_t handle, bool signals, bool awaits);

/* There is a kernel among the nodes of the exec, whose telling has begun. */
void sc_graphs_meets_kernel(struct sc_graphs *graphs, uintptr_t handle);

/* Memory for a copy of what a node is to read. Unless the copy stays for ever, it goes with the
 * last use that has the copy as `saved` or begins at its address. NULL: no memory. */
void *sc_graphs_take_copy(struct sc_graphs *graphs, size_t size_bytes, bool for_ever);

/* Adds a use, with a copy of `extra` unless that is NULL. The graph is made known if it is not.
 * `bounds` is NULL where nothing is known but the use itself. Left out are uses of device memory
 * beyond SC_GRAPH_DEVICE_MAX, and those that the graph does not take (graph_device.c). False: no
 * memory. */
bool sc_graphs_add(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_use *use,
                   const struct sc_graph_extra *extra, const struct sc_graph_bounds *bounds);

/* Adds all uses of the graph `of`: the graph of the handle is its clone, or has it as a child. */
void sc_graphs_add_all(struct sc_graphs *graphs, uintptr_t handle, uintptr_t of);

/* The uses and events of a node are gone; with node 0, all. */
void sc_graphs_drop_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* A node of no known name, of some graph that is no exec, does this no more. Nothing is dropped
 * where several graphs could have the node. */
void sc_graphs_drop_former(struct sc_graphs *graphs, const struct sc_graph_use *former);

/* The node of the exec is enabled, or disabled: a launch leaves a disabled node out. */
void sc_graphs_enable_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                           bool enabled);

/* The flags of the node, but for what only bodies inside of it are. */
struct sc_graph_flags sc_graphs_flags(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The copy that a use of the node in this direction has; NULL: none. */
void *sc_graphs_saved(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                      enum sc_direction direction);

/* The node of the exec uses the copies instead of a stack. */
void sc_graphs_redirect_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The order of the node's uses is not certain for these reasons, as flags have them, besides. */
void sc_graphs_doubt_node(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                          unsigned unsure);

/* The same for each node in `nodes`, which are -> reasons, in one pass over the uses. */
void sc_graphs_doubt_nodes(struct sc_graphs *graphs, uintptr_t handle, struct sc_handles *nodes);

/* Uses of the node are of the step, but for addresses. False: the node has none. */
bool sc_graphs_tell_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, unsigned step);

/* The node, which records events or is a host node that is known, tells up to the step. */
void sc_graphs_let_tell(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node, unsigned step);

/* Nodes in child graphs and bodies of an exec (track/graph_bodies.c): `inner` is one, `around` the
 * node that it is directly inside of, and `outer` the node of the outermost graph around it, by
 * which the exec knows all that is inside. */
void sc_graphs_note_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t inner,
                          uintptr_t around);

/* What the node of the exec is. */
enum sc_graph_place sc_graphs_place_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                       uintptr_t *outer);

/* The flags of what the inner node uses, and what is within it. That is dropped. Where it used no
 * memory it is unjudged. */
struct sc_graph_flags sc_graphs_drop_inner(struct sc_graphs *graphs, uintptr_t handle,
                                           uintptr_t outer, uintptr_t inner);

/* Its new uses have the flags. */
void sc_graphs_place_inner(struct sc_graphs *graphs, uintptr_t handle, uintptr_t outer,
                           uintptr_t inner, const struct sc_graph_flags *flags);

/* An inner node has changed. Nobody knows which, so all that they use is only kept. */
void sc_graphs_lose_inner(struct sc_graphs *graphs, uintptr_t handle);

/* The next event that a node of the exec records, or waits for, from index `*at` on. `*at` moves
 * behind it. 0: there is none. */
uintptr_t sc_graphs_next_event(struct sc_graphs *graphs, uint32_t exec, bool waits, uint32_t *at);

/* The launch and its operations have been issued. */
void sc_graphs_launched(struct sc_graphs *graphs, uintptr_t handle, uint32_t stream);

/* Host nodes of execs (track/heard.h). Lose: the driver calls the node's function past ours, and
 * nothing is heard of the exec any more. */
struct sc_heard_node *sc_graphs_add_heard(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node,
                                          void (*function)(void *), void *data);
bool sc_graphs_hears(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
void sc_graphs_lose_heard(struct sc_graphs *graphs, uintptr_t exec, uintptr_t node);
struct sc_heard_launch *sc_graphs_begin_heard(struct sc_graphs *graphs, uint32_t exec,
                                              const struct sc_point *before,
                                              const struct sc_heard_call *call, unsigned *given_up);

/* The exec was launched on this stream (0: is launched no more). */
void sc_graphs_set_last_launch(struct sc_graphs *graphs, struct sc_graph *graph, uint32_t stream);

/* The nodes of an exec bear the names of the graph from which the exec was first made, also after
 * an update by another graph. The order of the nodes tells which is which. */
void sc_graphs_set_names(struct sc_graphs *graphs, uintptr_t handle, const uintptr_t *names,
                         uint32_t count);
/* Stores them in `names`. False: the exec has not `count` names. */
bool sc_graphs_names_of(struct sc_graphs *graphs, uintptr_t handle, uintptr_t *names,
                        uint32_t count);

/* A node of the exec records the event, or waits for the event. */
void sc_graphs_add_event(struct sc_graphs *graphs, uintptr_t handle,
                         const struct sc_graph_event *event);

/* A node of the exec allocates or frees this memory. False: there is no room for more. When all of
 * it is known it is settled: uses of it are dropped, and the next ones are not added. The free of
 * what no node allocates is a use, of its first byte. */
bool sc_graphs_own(struct sc_graphs *graphs, uintptr_t handle, const struct sc_graph_own *own);
void sc_graphs_settle_own(struct sc_graphs *graphs, uintptr_t handle);

/* Drops the exec's uses of device memory. None is added until the exec is made anew. */
void sc_graphs_leave_out_device(struct sc_graphs *graphs, uintptr_t handle);

/* A race goes with either node. False: there is no room for more. */
bool sc_graphs_add_race(struct sc_graphs *graphs, uintptr_t handle,
                        const struct sc_graph_race *race);

/* The next race that was not told of and of which no node is disabled, or unjudged: it counts as
 * told. False: there is none. */
bool sc_graphs_next_race(struct sc_graphs *graphs, uint32_t id, struct sc_graph_race *into);

/* The addresses of the node are dropped, or with 0 of all. */
void sc_graphs_drop_addresses(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node);

/* The exec's uses are complete: makes the runs. Plain uses of neighbouring bytes of one range of
 * host memory in the same direction and of the same step become one; stacks and disabled nodes are
 * left out. Those of a step come before those of later steps, and what no node tells of comes last.
 * Where several nodes record one event, nobody knows which of them the host has heard of: the event
 * stands for what all of them tell of, and what only some of them do is not judged. */
void sc_graphs_make_runs(struct sc_graphs *graphs, uintptr_t handle);

/* Is the run of device memory one of these? To be held against what came before a launch: all,
 * those that are not gated, those that are. To be noted behind a launch: those in flight, or of
 * them those of a step (0 or more). Pure. */
enum { SC_RUNS_ALL = -1, SC_RUNS_FREE = -2, SC_RUNS_GATED = -3, SC_RUNS_IN_FLIGHT = -4 };
bool sc_graphs_run_is(const struct sc_graph_use *run, int which);

/* A use of the same bytes in the same direction, as the graph that an exec is made from has it, or
 * NULL. */
const struct sc_graph_use *sc_graphs_same_use(struct sc_graphs *graphs, uintptr_t handle,
                                              const struct sc_graph_use *use);

/* Fills in where the use came from, and whether its memory was freed since, if the graph or an
 * orphan has such a one. `node` is the driver's handle of the node that has the use. */
void sc_graphs_recognise(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                         struct sc_graph_use *use, struct sc_graph_extra *extra);

/* The use of this index. False: the graph has no more. */
bool sc_graphs_use(struct sc_graphs *graphs, uint32_t graph, uint32_t at, struct sc_graph_use *use,
                   struct sc_graph_extra *extra);

/* Who has added the node to the graph of that handle, as this use of the node says or another one.
 * api NULL: that is not known, or it is one of several callers. */
struct sc_graph_author sc_graphs_author(struct sc_graphs *graphs, uintptr_t handle, uintptr_t node,
                                        const struct sc_graph_use *use);

/* Is an orphan kept? */
bool sc_graphs_have_orphans(struct sc_graphs *graphs);

/* The handle of the graph that knows the node, or of the orphan; 0: none. Execs do not count. */
uintptr_t sc_graphs_of_node(struct sc_graphs *graphs, uintptr_t node);

#endif
