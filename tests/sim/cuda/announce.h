/*
 * What happens to contexts, streams and graphs, and which waits have ended: told to the callback of
 * sim_hooks.h, as libcupti's domains of resources and synchronisation have it.
 *
 * Events are noted under the lock and delivered by the same thread as soon as it has given the lock
 * back. What is about to end is told before it ends: sim_announce_now_locked drops the lock
 * meanwhile. Without a listener nothing is noted.
 */
#ifndef SIM_ANNOUNCE_H
#define SIM_ANNOUNCE_H

#include "sim.h"
#include "sim_hooks.h"

extern _Atomic(sim_event_callback *) sim_event_hook;

static inline bool sim_announces(void)
{
    return __builtin_expect(atomic_load_explicit(&sim_event_hook, memory_order_relaxed) != NULL, 0);
}

void sim_announce_locked(const struct sim_event *event);
void sim_announce_context_locked(enum sim_resource resource, CUcontext context);
void sim_announce_stream_locked(enum sim_resource resource, CUstream stream);
void sim_announce_graph_locked(enum sim_resource resource, CUgraph graph);
void sim_announce_node_locked(enum sim_resource resource, CUgraphNode node);
void sim_announce_exec_locked(enum sim_resource resource, CUgraphExec exec, CUgraph graph);

/* The graph is about to go, with its nodes, their children and bodies. */
void sim_announce_end_of_graph_locked(CUgraph graph);
void sim_announce_end_of_node_locked(CUgraphNode node);

/* The calling thread has waited for the stream, or with NULL for the context. */
void sim_announce_wait_locked(CUcontext context, CUstream stream);

/* Delivers what is noted. Without the lock. */
void sim_announce_deliver(void);

static inline void sim_announce_now_locked(void)
{
    if (sim_announces()) {
        sim_unlock();
        sim_lock();
    }
}

#endif
