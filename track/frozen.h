/* Memory that launches of a graph read as work beside its capture has left it, and whether they
 * read it twice.
 *
 * If other work wrote, during a capture, what the graph reads (left_out.h), that is no mistake yet.
 * The program may write the memory again before each launch, or launch the graph once and capture
 * the next. Memory that nobody has written again when the graph is launched for the second time is
 * frozen. Until then it waits here, as long as the graph or one of its execs is known.
 *
 * Memory that no captured work uses is read by no launch. If the work was meant for each launch,
 * the program shows that: it sets the memory to something else, launches the graph, and has the
 * host read what it has set itself. It expects the launch to have written there. So such memory
 * waits for three things, in this order: a memset of all its bytes to another value, a launch, and
 * a copy to the host of nothing but what was set. Whatever else may read or write it meanwhile
 * (each kernel may, and each other graph) speaks for the program.
 *
 * Whoever writes frozen memory must be known. A launch of another exec may write it, unless it is
 * known what that exec writes (graph_writes.h); then the launches before it do not count any more.
 * A kernel may load addresses from memory. So if a kernel is launched by the thread that captured,
 * and not by one that has its own work, anything may have been written.
 *
 * Plain data. Locks: none; the caller's lock guards every call. */
#ifndef SC_TRACK_FROZEN_H
#define SC_TRACK_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hazard.h"
#include "track/device_use.h"
#include "track/graph_writes.h"

/* How many pieces of memory wait at most; how many of these that no captured work uses; how many
 * execs are known of each. */
enum { SC_FROZEN_MAX = 48, SC_FROZEN_UNUSED_MAX = 16, SC_FROZEN_EXECS_MAX = 4 };

struct sc_frozen_memory {
    struct sc_hazard hazard;     /* what is to be reported */
    struct sc_device_use memory; /* its bytes */
    uintptr_t base;              /* where the allocation begins */
    uintptr_t graph;             /* 0: it is destroyed */
    unsigned exec_count;
    uintptr_t execs[SC_FROZEN_EXECS_MAX]; /* at most so many; further execs are not known */
    unsigned launches;                    /* how many have come since the memory was last written */
    bool is_unused;                       /* no captured work uses the memory */
    bool is_set;                          /* a memset of all its bytes came since: `set` */
    struct sc_device_use set;
};

struct sc_frozen {
    unsigned count;
    struct sc_frozen_memory memories[SC_FROZEN_MAX];
    struct sc_graph_writes writes; /* of graphs and execs */
};

/* Adds a memory. Its hazard, bytes, base, graph and is_unused are given. False: there is no room.
 */
bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory);

/* Notes that work has used memory, and may have written a piece that waits here. To be called for
 * an allocation at the bytes as well, which counts as a write, and for a kernel that has no
 * address, with address 0. */
void sc_frozen_note_use(struct sc_frozen *frozen, const struct sc_device_use *use);

/* If the same work is a copy to the host: does it show that a launch should have written there?
 * Then stores the hazard, with the bytes that are read, and the memory waits no longer. */
bool sc_frozen_note_copy_to_host(struct sc_frozen *frozen, const struct sc_device_use *use,
                                 struct sc_hazard *hazard);

/* Forgets all pieces, since anything may have been written. Returns how many of them launches
 * read. */
unsigned sc_frozen_forget(struct sc_frozen *frozen);

/* The exec was made from the graph, or updated by it: it is the graph's from now on, and no
 * other's. */
void sc_frozen_note_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec);

/* The graph or exec of the handle is gone. */
void sc_frozen_forget_handle(struct sc_frozen *frozen, uintptr_t handle);

/* Some graph was changed: it has other nodes than were captured, or they have other parameters. So
 * it is not known any more what later execs of any graph read, nor what any graph writes. */
void sc_frozen_note_changed(struct sc_frozen *frozen);

/* Notes that the thread has launched the exec. The caller then calls sc_frozen_take_hazard, which
 * stores the hazard of the next frozen memory, until it returns false. */
void sc_frozen_note_launch(struct sc_frozen *frozen, uintptr_t exec, int32_t thread);
bool sc_frozen_take_hazard(struct sc_frozen *frozen, struct sc_hazard *hazard);

#endif
