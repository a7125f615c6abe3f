/* Graphs, their nodes, and executable graphs. All `_locked` functions need the lock. */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "engine.h"
#include "sim.h"
#include "work.h"

enum { BODIES_MAX = 16 };

/* The driver owns the array of bodies, which programs read. */
struct sim_condition {
    CUgraphConditionalNodeType type;
    CUgraph bodies[BODIES_MAX];
    unsigned count;
    CUgraphConditionalHandle handle;
    unsigned now; /* in the launch that is being queued */
};

/* What a node does: the program's parameters as given, from which its work is made at launch. */
struct CUgraphNode_st {
    CUgraph graph;
    CUgraphNode next; /* in order of addition */
    CUgraphNodeType type;
    bool disabled, visited;
    CUgraphNode *deps;
    size_t dep_count;
    CUgraphNode twin;  /* a clone's or exec's node: the node it was made from */
    CUgraphNode image; /* the node in the clone being made */
    struct sim_work work;
    struct sim_values *values;         /* of a kernel's parameters */
    struct sim_semaphores *semaphores; /* semaphore.c: EXT_SEMAS_SIGNAL, EXT_SEMAS_WAIT */
    struct sim_memory_ops *operations; /* memory_ops.c: BATCH_MEM_OP */
    union {
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUevent event;
        CUgraph child;
        CUdeviceptr memory; /* MEM_ALLOC, MEM_FREE */
        struct sim_condition condition;
    } params;
};

struct CUgraph_st {
    uint32_t magic;
    CUgraphExec owner; /* with allocation nodes: the one exec that it may have */
    CUgraphNode first, *last;
    size_t count;
    struct sim_object_refs *objects; /* user objects that it refers to */
};

struct CUgraphExec_st {
    uint32_t magic;
    unsigned long long flags;
    CUgraph source;          /* what it was made of, where it allocates */
    CUgraph graph;           /* a private clone, nodes in an order that respects dependencies */
    struct sim_fence recent; /* its last launch: the next one waits */
};

CUgraph sim_graph_new_locked(void);
void sim_graph_free_locked(CUgraph graph);
/* The same for an exec's graph, whose user objects last until the launch at the fence is done. */
void sim_graph_retire_locked(CUgraph graph, const struct sim_fence *launch);
/* Adds a node without parameters; NULL without memory. */
CUgraphNode sim_graph_add_locked(CUgraph graph, CUgraphNodeType type, const CUgraphNode *deps,
                                 size_t count);
bool sim_graph_has_locked(CUgraph graph, CUgraphNode node);
CUgraph sim_graph_clone_locked(CUgraph graph);
void sim_graph_remove_locked(CUgraphNode node);

/* graph_conditions.c: nodes that choose one of their bodies. */
CUresult sim_condition_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                           CUDA_CONDITIONAL_NODE_PARAMS *params);
bool sim_condition_copy_locked(struct sim_condition *to, const struct sim_condition *from);
void sim_condition_retire_locked(struct sim_condition *condition, const struct sim_fence *launch);
CUgraph
sim_condition_chosen(const struct sim_condition *condition); /* now, of no loop; NULL: none */
/* A launch of the graph begins: each condition has the value of its handle. */
void sim_conditions_begin_locked(CUgraph graph);
/* A kernel of the graph makes the condition one less, unless that is 0. */
void sim_condition_count_down_locked(CUgraph graph, CUgraphConditionalHandle handle);
/* A graph with such a node can be neither cloned nor a child. */
bool sim_graph_has_condition_locked(CUgraph graph);

/* Fill in node->work from node->params, checking them; and the other way for captured work. */
CUresult sim_node_prepare_locked(CUgraphNode node);
void sim_node_keep_values_locked(CUgraphNode node); /* once it is accepted */
void sim_node_describe_locked(CUgraphNode node);

/* Without the lock: adding and changing nodes by the parameter struct of their type. An exec's
 * node is named by the graph's node that it was made from. */
CUresult sim_node_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                      CUgraphNodeType type, const void *params);
CUresult sim_node_add_child(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count,
                            CUgraph child, bool moves); /* or it is cloned */
CUresult sim_node_set(CUgraphNode node, CUgraphNodeType type, const void *params);
CUresult sim_node_set_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type,
                           const void *params);
CUresult sim_exec_set_child(CUgraphExec exec, CUgraphNode node, CUgraph child);
CUgraphNode sim_exec_node_locked(CUgraphExec exec, CUgraphNode node);

/* user_object.c: gives a clone references of its own, and ends those of a graph. */
CUresult sim_objects_share_locked(CUgraph from, CUgraph to);
void sim_objects_drop_locked(CUgraph graph, const struct sim_fence *after);

#endif
