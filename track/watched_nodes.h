/* The host nodes of an exec whose runs the library sees, since the driver calls its function in
 * place of the program's. When such a node runs, the host learns that all before it in the graph is
 * done.
 *
 * The driver runs the launches of an exec one after the other, and each host node once in each. So
 * the n-th run of a node belongs to the n-th launch. The driver is given a record of ours as the
 * node's data, and keeps it for launches that were made, also when the node has changed or the exec
 * is gone. So a record lives until the last launch with it has run it.
 *
 * A node may run before the launching call has returned, and so before the launch's operations are
 * known. The launch then learns of the run when it notes its operations
 * (sc_watched_nodes_end_launch).
 *
 * Locks: every function needs the owner's lock. */
#ifndef SC_TRACK_WATCHED_NODES_H
#define SC_TRACK_WATCHED_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "track/stages.h"

struct sc_order;

struct sc_watched_nodes;

/* A watched host node, as it is or as it was until the program changed it. */
struct sc_watched_node {
    void (*function)(void *); /* the program's, and its data */
    void *data;
    struct sc_watched_nodes *of;
    struct sc_watched_node *next;
    uintptr_t node; /* the driver's handle of the node */
    uint8_t tells;  /* it tells of all stages up to this one (track/stages.h) */
    uint64_t first; /* number of the first launch with it */
    /* Number of the last launch with it; UINT64_MAX: launches to come have it, too. */
    uint64_t last;
    uint64_t ran; /* number of the latest launch that has run the node; first - 1: none has */
};

/* What the caller keeps with a launch, and gets back when a node of it runs. */
struct sc_watched_call {
    uint64_t ticks; /* just before the launch */
    unsigned open;  /* the caller's place for the launch among calls whose host functions have not
                       all run; 0: none */
};

/* A launch of which some host nodes have not run yet. */
struct sc_watched_launch {
    struct sc_watched_launch *next;
    struct sc_watched_nodes *of;
    uint64_t number;
    struct sc_watched_call call;
    uint32_t left;          /* nodes that have not run */
    bool is_known;          /* its operations are known: `stages` is set */
    bool has_begun;         /* a node has run */
    uint8_t reached;        /* the latest stage of which the nodes that have run tell */
    struct sc_point before; /* what the launch comes after */
    struct sc_stages stages;
};

/* The host nodes and launches of one exec. */
struct sc_watched_nodes {
    struct sc_watched_node *nodes;
    struct sc_watched_launch *oldest, *latest;
    uint64_t launches; /* how many were ever begun */
    uint32_t count;    /* how many nodes the next launch has */
    uint32_t waiting;  /* how many launches are in the list */
    bool is_left;      /* the exec is gone, or has other nodes: freed with its last record */
    bool is_lost;      /* the runs can no longer be matched with launches */
};

enum { SC_WATCHED_WAITING_MAX = 1024 };

/* Makes the record that the caller gives to the driver as the node's data. Makes *watched as well
 * if that is NULL. NULL: no memory. */
struct sc_watched_node *sc_watched_nodes_add(struct sc_order *order,
                                             struct sc_watched_nodes **watched, uintptr_t node,
                                             void (*function)(void *), void *data);
/* The driver has refused the record. */
void sc_watched_nodes_drop(struct sc_order *order, struct sc_watched_node *node);
/* The driver has accepted the record for the node: one that the node had before is for no later
 * launch. */
void sc_watched_nodes_replace(struct sc_order *order, struct sc_watched_node *node);

/* The record that the node has for the next launch, or NULL. */
struct sc_watched_node *sc_watched_nodes_find(const struct sc_watched_nodes *watched,
                                              uintptr_t node);

/* The exec is gone, or has other nodes now: no later launch runs with its records. Sets *watched to
 * NULL. */
void sc_watched_nodes_abandon(struct sc_order *order, struct sc_watched_nodes **watched);

/* Begins a launch, before the driver is called; copies the point `before`. NULL: the exec has no
 * current host node, or is lost; without memory it becomes lost. Beyond SC_WATCHED_WAITING_MAX
 * launches the oldest is given up: the host may hear of its end unseen (sc_order_note_past_signal).
 * *given_up: the `open` of that launch, or 0. */
struct sc_watched_launch *sc_watched_nodes_begin_launch(struct sc_order *order,
                                                        struct sc_watched_nodes *watched,
                                                        const struct sc_point *before,
                                                        const struct sc_watched_call *call,
                                                        unsigned *given_up);

/* The driver has refused the launch. */
void sc_watched_nodes_fail_launch(struct sc_order *order, struct sc_watched_launch *launch);

/* The launch's operations are known: copies `stages`. Returns the point of what nodes of it have
 * told the host already; of stream 0: nothing. The caller releases the point. */
struct sc_point sc_watched_nodes_end_launch(struct sc_order *order,
                                            struct sc_watched_launch *launch,
                                            const struct sc_stages *stages);

/* A run of a node. */
struct sc_watched_run {
    struct sc_point point;       /* what the host now knows to be done; the caller releases it */
    uint32_t stream;             /* of the launch; 0: the launch was given up */
    struct sc_watched_call call; /* of the launch; `open` is 0 unless this was its last node */
};

/* The driver runs the node. To be called before the program's function, which may write what copies
 * before the node have used. The record may be freed by the call. */
struct sc_watched_run sc_watched_nodes_note_run(struct sc_order *order,
                                                struct sc_watched_node *node);

#endif
