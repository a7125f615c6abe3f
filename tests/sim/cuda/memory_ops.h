/* Batch memory operations: they write values, and wait for them. Streams have them (value.c), and
 * nodes do (memory_ops.c). */
#ifndef SIM_MEMORY_OPS_H
#define SIM_MEMORY_OPS_H

#include "graph.h"

enum { OPERATIONS_MAX = 256 }; /* at a time */

/* value.c. The work of an operation; WORK_MARK: it neither writes nor waits. */
CUresult sim_memory_op_work_locked(const CUstreamBatchMemOpParams *params, struct sim_work *work);

/* Queues them. */
CUresult sim_memory_ops_queue_locked(CUstream stream, unsigned count,
                                     const CUstreamBatchMemOpParams *params);

/* What a node does, which clones share. NULL: nothing happens. */
void sim_memory_ops_share_locked(struct sim_memory_ops *operations);
void sim_memory_ops_give_locked(struct sim_memory_ops *operations);

/* Queues that. */
CUresult sim_memory_ops_work_locked(const struct sim_memory_ops *operations, CUstream stream);

/* Adds a node to the stream's capture. */
CUresult sim_memory_ops_capture_locked(CUstream stream, unsigned count,
                                       const CUstreamBatchMemOpParams *params);

/* Without the lock. */
CUresult sim_memory_ops_add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params);
CUresult sim_memory_ops_set_node(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params);
CUresult sim_memory_ops_set_exec(CUgraphExec exec, CUgraphNode node,
                                 const CUDA_BATCH_MEM_OP_NODE_PARAMS *params);

#endif
