/* Watched nodes: host nodes of an exec of which the library sees each run, since the driver calls a
 * function of the library's in place of the program's. When such a node runs, the host learns that
 * all nodes before it in the graph are done.
 *
 * The driver runs the launches of an exec one after the other, and each host node once in each
 * launch. So the n-th run of a node belongs to the n-th launch. The driver is given a record of the
 * library's as the node's data. It keeps using that record for launches that were made before the
 * node was changed or the exec destroyed. So a record lives until the last launch with it has run
 * the node.
 *
 * A node may run before the call that launches has returned, and so before the launch's operations
 * are recorded. The launch then takes account of the run when its operations are recorded
 * (sc_watched_nodes_end_launch).
 *
 * Locks: every function needs the tracker's lock. */

/* Terms (docs/glossary.md):
 *   exec: an instantiated graph (CUgraphExec)
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   stage: the part of a graph's nodes that one notifier tells the host of
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 *   watched node: a host node each run of which the library sees
 */

#ifndef SC_TRACK_WATCHED_NODES_H
#define SC_TRACK_WATCHED_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "track/stages.h"

struct sc_order;

struct sc_watched_nodes;

/* A watched host node, as it is, or as it was until the program changed it. */
struct sc_watched_node {
    void (*function)(void *); /* the program's function, and its data */
    void *data;
    struct sc_watched_nodes *of;
    struct sc_watched_node *next;
    uintptr_t node; /* the driver's handle of the node */
    /* a run notifies the host that all stages up to this one (track/stages.h) are done */
    uint8_t tells;
    uint64_t first; /* number of the first launch that has this record */
    /* Number of the last launch that has it; UINT64_MAX: future launches have it, too. */
    uint64_t last;
    uint64_t ran; /* number of the latest launch that has run the node; first - 1: none has */
};

/* What the caller stores with a launch, and gets back when one of its nodes runs. */
struct sc_watched_call {
    uint64_t ticks; /* just before the launch */
    /* the launch's index in the caller's list of calls whose host functions have not all run; 0: it
     * has none */
    unsigned open;
};

/* A launch some of whose host nodes have not run yet. */
struct sc_watched_launch {
    struct sc_watched_launch *next;
    struct sc_watched_nodes *of;
    uint64_t number;
    struct sc_watched_call call;
    uint32_t left;  /* how many of its nodes have not run */
    bool is_known;  /* its operations are recorded: `stages` is set */
    bool has_begun; /* a node has run */
    /* the latest stage (track/stages.h) that the nodes which have run tell the host of */
    uint8_t reached;
    struct sc_point before; /* the point of all that the launch comes after */
    struct sc_stages stages;
};

/* The host nodes and launches of one exec. */
struct sc_watched_nodes {
    struct sc_watched_node *nodes;
    struct sc_watched_launch *oldest, *latest;
    uint64_t launches; /* how many launches were begun so far */
    uint32_t count;    /* how many nodes the next launch runs */
    uint32_t waiting;  /* how many launches are in the list */
    bool is_left; /* the exec is destroyed, or has other nodes now: freed with its last record */
    /* runs of its nodes can no longer be matched with launches, so nothing is concluded from them
     */
    bool is_lost;
};

enum { SC_WATCHED_WAITING_MAX = 1024 };

/* Makes the record of a host node that the caller passes to the driver as the node's data, with the
 * library's function. Also makes *watched if that is NULL. Returns NULL if there is no memory. */
struct sc_watched_node *sc_watched_nodes_add(struct sc_order *order,
                                             struct sc_watched_nodes **watched, uintptr_t node,
                                             void (*function)(void *), void *data);
/* Frees a record that the driver has refused. */
void sc_watched_nodes_drop(struct sc_order *order, struct sc_watched_node *node);
/* Notes that the driver has accepted the record for its node. A record that the node had before is
 * in no later launch. */
void sc_watched_nodes_replace(struct sc_order *order, struct sc_watched_node *node);

/* Returns the record that the node has for the next launch, or NULL. */
struct sc_watched_node *sc_watched_nodes_find(const struct sc_watched_nodes *watched,
                                              uintptr_t node);

/* Ends the records of an exec that is destroyed or has other nodes now: they are in no later
 * launch. Sets *watched to NULL. */
void sc_watched_nodes_abandon(struct sc_order *order, struct sc_watched_nodes **watched);

/* Begins a launch, before the driver is called; copies the point `before`. Returns NULL if the exec
 * has no watched host node at present, or is_lost, which it also becomes for want of memory. Beyond
 * SC_WATCHED_WAITING_MAX launches gives up the oldest one: the host may learn of its end in a way
 * that the library does not see (sc_order_note_past_signal). *given_up: the `open` of the launch
 * that was given up, or 0. */
struct sc_watched_launch *sc_watched_nodes_begin_launch(struct sc_order *order,
                                                        struct sc_watched_nodes *watched,
                                                        const struct sc_point *before,
                                                        const struct sc_watched_call *call,
                                                        unsigned *given_up);

/* Removes a launch that the driver has refused. */
void sc_watched_nodes_fail_launch(struct sc_order *order, struct sc_watched_launch *launch);

/* Notes that the launch's operations are recorded; copies `stages`. Returns the point of what nodes
 * that have run already have notified the host of; of stream 0 if that is nothing. The caller
 * releases the point. */
struct sc_point sc_watched_nodes_end_launch(struct sc_order *order,
                                            struct sc_watched_launch *launch,
                                            const struct sc_stages *stages);

/* What a run of a node shows. */
struct sc_watched_run {
    struct sc_point point; /* what the host knows to be done from now on; the caller releases it */
    uint32_t stream;       /* the launch's stream; 0: the launch was given up */
    struct sc_watched_call call; /* the launch's; `open` is 0 unless this was its last node */
};

/* Notes that the driver runs the node. To be called before the program's function, which may write
 * memory that copies before the node have used. The record may be freed by this call. */
struct sc_watched_run sc_watched_nodes_note_run(struct sc_order *order,
                                                struct sc_watched_node *node);

#endif
