/* Graphs of copies for the twins: captured, instantiated, launched; and stacks that are used again.
 *
 * Whatever takes a stream is statically inline for the reason that busy() is. Only what runtime 11
 * has too is called here, so that the twins are built with every runtime that can run them.
 */
#ifndef SC_TESTS_HAZARD_GRAPHS_H
#define SC_TESTS_HAZARD_GRAPHS_H

#include "tests/process_memory.h"
#include "twin.h"

static inline void begin_capture(cudaStream_t stream)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static inline cudaGraph_t end_capture(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

static TWIN_HELPER cudaGraph_t empty_graph(void)
{
    cudaGraph_t graph = NULL;
    CHECK(cudaGraphCreate(&graph, 0));
    return graph;
}

static TWIN_HELPER cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* From a graph that nobody needs any more. */
static TWIN_HELPER cudaGraphExec_t instantiate_only(cudaGraph_t graph)
{
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* A graph of one copy, captured; the stream has nothing in flight. */
static inline cudaGraph_t captured_copy(void *to, const void *from, size_t size_bytes,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(to, from, size_bytes, kind, stream));
    return end_capture(stream);
}

static inline cudaGraphExec_t captured_exec(void *to, const void *from, size_t size_bytes,
                                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return instantiate_only(captured_copy(to, from, size_bytes, kind, stream));
}

/* A node that depends on no other. */
static TWIN_HELPER cudaGraphNode_t added_copy(cudaGraph_t graph, void *to, const void *from,
                                              size_t size_bytes, enum cudaMemcpyKind kind)
{
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, to, from, size_bytes, kind));
    return node;
}

/* Of a graph that has one node. */
static TWIN_HELPER cudaGraphNode_t only_node(cudaGraph_t graph)
{
    cudaGraphNode_t node = NULL;
    size_t count = 1;
    CHECK(cudaGraphGetNodes(graph, &node, &count));
    return node;
}

/* Launched and complete. */
static inline void replay(cudaGraphExec_t exec, cudaStream_t stream)
{
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
}

/* Frames of this size cover those of the functions that were called before from the same place. */
enum { FRAME = 32 << 10 };

/* Keeps the compiler from leaving out what is written to `memory`. */
static inline void in_use(void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* What a program does next overwrites what the functions that returned left behind. */
static TWIN_HELPER void reuse_stack(void)
{
    unsigned char frame[FRAME];
    fill(frame, sizeof frame, FOREIGN);
    in_use(frame);
}

#endif
