/* Host nodes of an exec, which tell the host what stands before them by being run.
 *
 * The driver runs the launches of an exec one after the other, and each host node once in each. So
 * the n-th run of a node is that of the n-th launch. The driver is given a record of ours as the
 * node's data. It keeps the record for launches that were made, also when the node has changed or
 * the exec is gone. So a record lives until the last launch with it has run it.
 *
 * A node may run before the call that launches has returned, and with that before it is known which
 * operations the launch has. The launch then learns of it when it notes them.
 *
 * Locks: every function needs the owner's lock.
 */
#ifndef SC_TRACK_HEARD_H
#define SC_TRACK_HEARD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/points.h"
#include "track/told.h"

struct sc_order;

struct sc_heard;

/* A host node as it is, or was until it changed. */
struct sc_heard_node {
    void (*function)(void *); /* the program's, and its data */
    void *data;
    struct sc_heard *of;
    struct sc_heard_node *next;
    uintptr_t node; /* its name */
    uint8_t tells;  /* up to this step (track/told.h) */
    uint64_t first; /* launch with it */
    uint64_t last;  /* launch with it; UINT64_MAX: there will be others */
    uint64_t ran;   /* the latest launch that has run it; first - 1: none */
};

/* What the owner knows a launch by. */
struct sc_heard_call {
    uint64_t ticks; /* just before it */
    unsigned open;  /* its place among the calls whose functions are to come; 0: it has none */
};

/* A launch that has not run all of its host nodes. */
struct sc_heard_launch {
    struct sc_heard_launch *next;
    struct sc_heard *of;
    uint64_t number;
    struct sc_heard_call call;
    uint32_t left;          /* nodes that have not run */
    bool is_known;          /* what is told of it */
    bool has_begun;         /* a node has run before that */
    uint8_t steps;          /* of which such nodes tell */
    struct sc_point before; /* what the launch comes after */
    struct sc_told told;
};

/* What an exec has of this. */
struct sc_heard {
    struct sc_heard_node *nodes;
    struct sc_heard_launch *oldest, *latest;
    uint64_t launches; /* that were ever begun */
    uint32_t count;    /* nodes that the next launch has */
    uint32_t waiting;  /* launches */
    bool is_left;      /* the exec is gone, or has become another one */
    bool is_lost;      /* a node has run more often than there were launches */
};

enum { SC_HEARD_WAITING_MAX = 1024 };

/* Around the call that gives the driver the record. Add makes the record, and `heard` if there is
 * none; NULL: no memory. Drop: the driver has refused. Replace: the driver has taken the record in
 * place of the one that the node had, if any. */
struct sc_heard_node *sc_heard_add(struct sc_order *order, struct sc_heard **heard, uintptr_t node,
                                   void (*function)(void *), void *data);
void sc_heard_drop(struct sc_order *order, struct sc_heard_node *node);
void sc_heard_replace(struct sc_order *order, struct sc_heard_node *node);

/* The node as the next launch has it, or NULL. */
struct sc_heard_node *sc_heard_find(const struct sc_heard *heard, uintptr_t node);

/* The exec is gone, or has other nodes. */
void sc_heard_leave(struct sc_order *order, struct sc_heard **heard);

/* Before the driver is told to launch; takes a copy of the point. NULL: there is no memory, and the
 * exec is lost; or it was before, or has no such node. Beyond SC_HEARD_WAITING_MAX launches the
 * oldest is given up: the host may hear of it unseen (sc_order_signal). `given_up`: the place of
 * that one, or 0. */
struct sc_heard_launch *sc_heard_begin(struct sc_order *order, struct sc_heard *heard,
                                       const struct sc_point *before,
                                       const struct sc_heard_call *call, unsigned *given_up);

/* The driver has refused. */
void sc_heard_fail(struct sc_order *order, struct sc_heard_launch *launch);

/* The launch's operations are known: takes a copy. Returns what nodes have told already, as
 * a point that the host knows (it is released by the caller; of stream 0: nothing). */
struct sc_point sc_heard_launched(struct sc_order *order, struct sc_heard_launch *launch,
                                  const struct sc_told *told);

/* A run of a node. */
struct sc_heard_run {
    struct sc_point point;     /* what the host knows by that, as above */
    uint32_t stream;           /* of the launch; 0: it was given up */
    struct sc_heard_call call; /* the launch; `open` is 0 but of its last node */
};

/* The driver runs the node, before its function is called, which may write what was copied before.
 * The record may be gone then. */
struct sc_heard_run sc_heard_runs(struct sc_order *order, struct sc_heard_node *node);

#endif
