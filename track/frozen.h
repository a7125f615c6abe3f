/* Memory that launches of a graph read as work beside its capture has left it, and whether they
 * read it twice.
 *
 * A capture during which other work wrote what the graph reads (left_out.h) is no mistake yet: the
 * program may write the memory again before each launch, or launch the graph once and capture the
 * next. What nobody has written again when the graph is launched for the second time is frozen.
 * Until then a memory waits here, as long as the graph or one of its execs is known.
 *
 * Memory that no captured work uses is read by no launch. Was it meant for each launch, the program
 * shows that where it sets the memory to something else, launches the graph, and has the host read
 * what it has set itself: it expects the launch to have written there. So such memory waits for a
 * memset of all its bytes to another value, a launch, and a copy to the host of nothing but what
 * was set, in this order. Whatever else may read or write it meanwhile (each kernel may, and each
 * other graph) speaks for the program.
 *
 * Whoever writes such memory must be known: a launch of another exec may, unless it is known what
 * that writes (graph_writes.h), so that the launches before it do not count any more. A kernel may
 * have addresses from memory; so where one is launched by the thread that captured, and not by one
 * that has its own work, anything may have been written.
 *
 * Plain data. Locks: none; the caller's lock guards every call.
 */
#ifndef SC_TRACK_FROZEN_H
#define SC_TRACK_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hazard.h"
#include "track/device_use.h"
#include "track/graph_writes.h"

/* UNUSED_MAX: of them, those that no captured work uses. */
enum { SC_FROZEN_MAX = 48, SC_FROZEN_UNUSED_MAX = 16, SC_FROZEN_EXECS_MAX = 4 };

struct sc_frozen_memory {
    struct sc_hazard hazard;     /* what is to be reported */
    struct sc_device_use memory; /* its bytes */
    uintptr_t base;              /* where the allocation begins */
    uintptr_t graph;             /* 0: it is destroyed */
    unsigned exec_count;
    uintptr_t execs[SC_FROZEN_EXECS_MAX]; /* further ones are not known */
    unsigned launches;
    bool is_unused; /* by captured work */
    bool is_set;    /* a memset of all of it has come since: */
    struct sc_device_use set;
};

struct sc_frozen {
    unsigned count;
    struct sc_frozen_memory memories[SC_FROZEN_MAX];
    struct sc_graph_writes writes; /* of graphs and execs */
};

/* Hazard, bytes, base, graph and whether it is unused are given. False: there is no room. */
bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory);

/* Work has used memory so, and may have written what is watched; or the bytes are another
 * allocation's now, which counts as written. A kernel without an address is told of with 0. */
void sc_frozen_used(struct sc_frozen *frozen, const struct sc_device_use *use);

/* The same work, if it is a copy to the host: does that show what a launch should have written?
 * Gives the hazard, with the bytes. */
bool sc_frozen_read(struct sc_frozen *frozen, const struct sc_device_use *use,
                    struct sc_hazard *hazard);

/* Anything may have been written. Returns how many memories are forgotten that launches read. */
unsigned sc_frozen_forget(struct sc_frozen *frozen);

/* The exec is the graph's from now on, and no other's: it was made, or updated. */
void sc_frozen_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec);

/* The handle of a graph or an exec names nothing any more. */
void sc_frozen_gone(struct sc_frozen *frozen, uintptr_t handle);

/* Some graph has other nodes than were captured, or they have other parameters: of no graph is it
 * known what its execs to come read, and of none what it writes. */
void sc_frozen_changed(struct sc_frozen *frozen);

/* The exec was launched by the thread. Behind it, sc_frozen_take gives what is frozen, until it
 * returns false. */
void sc_frozen_launched(struct sc_frozen *frozen, uintptr_t exec, int32_t thread);
bool sc_frozen_take(struct sc_frozen *frozen, struct sc_hazard *hazard);

#endif
