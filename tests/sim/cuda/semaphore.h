/* semaphore.c: external semaphores, and the nodes that signal them or wait for them. */
#ifndef SIM_SEMAPHORE_H
#define SIM_SEMAPHORE_H

#include "graph.h"

/* What a node does with its semaphores, which clones share. NULL: nothing happens. */
void sim_semaphores_share_locked(struct sim_semaphores *semaphores);
void sim_semaphores_give_locked(struct sim_semaphores *semaphores);

/* Queues that. */
CUresult sim_semaphores_work_locked(const struct sim_semaphores *semaphores, CUstream stream);

static inline bool sim_semaphores_are_of(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
}

/* Without the lock: nodes by the parameter struct of their type. */
CUresult sim_semaphores_add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, CUgraphNodeType type, const void *params);
CUresult sim_semaphores_set_node(CUgraphNode node, CUgraphNodeType type, const void *params);
CUresult sim_semaphores_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                                 const void *params);

#endif
