/* Finds memory that launches of a graph read as work beside the graph's capture has left it. Work
 * beside a capture is work that the capturing thread issues meanwhile and that runs at once, so no
 * launch repeats it. Memory is called frozen if the graph's launches read that result again and
 * again.
 *
 * If work beside the capture wrote memory that the graph reads (left_out.h), that is no mistake
 * yet: the program may write the memory again before each launch, or launch the graph only once.
 * Memory that nothing has written again when the graph is launched for the second time is frozen,
 * and is reported. Until then it is kept here, as long as the graph or one of its execs is known.
 *
 * Memory that no captured work uses is read by no launch. Such memory is reported only if the
 * program shows that it expects each launch to write it, by three steps in this order: a memset
 * sets all its bytes to another value, the graph is launched, and a copy to the host reads nothing
 * but what was set. If anything else may read or write the memory meanwhile (any kernel may, and
 * any other graph), it is not reported.
 *
 * The writers of frozen memory must be known. A launch of another exec may write it, unless it is
 * known what that exec writes (graph_writes.h); then earlier launches no longer count. A kernel may
 * load addresses from memory: so if the thread that captured launches another graph with kernels,
 * anything may have been written.
 *
 * Plain data. Locks: none; the caller's lock guards every call. */

/* Terms (docs/glossary.md):
 *   beside: of work: issued by the capturing thread during a capture, and run at once
 *   exec: an instantiated graph (CUgraphExec)
 *   frozen: of memory: launches read it as work beside the capture left it
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 */

#ifndef SC_TRACK_FROZEN_H
#define SC_TRACK_FROZEN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hazard.h"
#include "track/device_use.h"
#include "track/graph_writes.h"

/* How many pieces of memory, written by work beside a capture (issued meanwhile, run at once), are
 * kept at most; how many of these that no captured work uses; how many execs (instantiated graphs)
 * are known for each piece. */
enum { SC_FROZEN_MAX = 48, SC_FROZEN_UNUSED_MAX = 16, SC_FROZEN_EXECS_MAX = 4 };

struct sc_frozen_memory {
    /* the hazard that is reported if the memory turns out to be frozen */
    struct sc_hazard hazard;
    struct sc_device_use memory; /* its bytes */
    uintptr_t base;              /* where the allocation begins */
    uintptr_t graph;             /* 0: the graph is destroyed, or no longer known */
    unsigned exec_count;
    /* at most so many; further execs (instantiated graphs) are not known */
    uintptr_t execs[SC_FROZEN_EXECS_MAX];
    /* how often these execs (instantiated graphs) were launched since the memory was last written;
     * at the second launch it is frozen */
    unsigned launches;
    /* no captured work uses the memory, so no launch reads it; it is reported if a launch should
     * have written it */
    bool is_unused;
    bool is_set; /* a memset (`set`) has set all its bytes to another value since */
    struct sc_device_use set;
};

struct sc_frozen {
    unsigned count;
    struct sc_frozen_memory memories[SC_FROZEN_MAX];
    struct sc_graph_writes writes; /* of graphs and execs (instantiated graphs) */
};

/* Adds a piece of memory that work beside a capture (issued meanwhile, run at once) has written.
 * The caller sets its hazard, bytes, base, graph and is_unused. Returns false if there is no room.
 */
bool sc_frozen_add(struct sc_frozen *frozen, const struct sc_frozen_memory *memory);

/* Notes that work has used memory, and drops the pieces that it may have written. An allocation at
 * the bytes counts as a write. A kernel without any known address is passed with address 0. */
void sc_frozen_note_use(struct sc_frozen *frozen, const struct sc_device_use *use);

/* To be called after sc_frozen_note_use for the same use, if that is a copy to the host. Returns
 * true if the copy shows that a launch should have written the memory: then stores the hazard, with
 * the bytes that the copy reads, and drops the piece. */
bool sc_frozen_note_copy_to_host(struct sc_frozen *frozen, const struct sc_device_use *use,
                                 struct sc_hazard *hazard);

/* Forgets all pieces of memory, since anything may have been written. Returns how many of the
 * dropped pieces are read by launches. */
unsigned sc_frozen_forget(struct sc_frozen *frozen);

/* Notes that the exec (instantiated graph) was made from the graph, or updated by it: it belongs to
 * this graph from now on, and to no other. */
void sc_frozen_note_instantiated(struct sc_frozen *frozen, uintptr_t graph, uintptr_t exec);

/* Forgets the graph or exec (instantiated graph) of a handle that was destroyed, and the memory
 * that no other graph or exec reads. */
void sc_frozen_forget_handle(struct sc_frozen *frozen, uintptr_t handle);

/* Notes that some graph was changed: its nodes or their parameters are no longer those that were
 * captured. It is not known which graph, so what execs (instantiated graphs) made later read, and
 * what any graph writes, is unknown from now on. */
void sc_frozen_note_changed(struct sc_frozen *frozen);

/* Notes that the thread has launched the exec (instantiated graph). Then the caller calls
 * sc_frozen_take_hazard until it returns false. Each call stores the hazard of another piece of
 * frozen memory, and drops the piece. */
void sc_frozen_note_launch(struct sc_frozen *frozen, uintptr_t exec, int32_t thread);
bool sc_frozen_take_hazard(struct sc_frozen *frozen, struct sc_hazard *hazard);

#endif
