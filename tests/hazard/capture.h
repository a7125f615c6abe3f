/* For the twins of a program that captures: what a capture refuses, and what became of its graph.
 *
 * Without the library a racy build breaks its capture, and the calls that fail then are the very
 * symptom: TRY notes them where CHECK would end the program. Any thread may TRY; the rest is as
 * single-threaded as twin.h.
 */
#ifndef SC_TESTS_HAZARD_CAPTURE_H
#define SC_TESTS_HAZARD_CAPTURE_H

#include "twin_driver.h"

#include <pthread.h>
#include <stdatomic.h>

/* A call was refused, or a graph is not what the program captured. */
static atomic_bool broken TWIN_UNUSED;

/* Whether the call went through. */
#define TRY(call) capture_try((int)(call), #call, __FILE__, __LINE__)

static TWIN_HELPER bool capture_try(int result, const char *call, const char *file, int line)
{
    if (result == 0)
        return true;
    fprintf(stderr, "%s:%d: %s returned %d\n", file, line, call, result);
    broken = true;
    return false;
}

/* One node of 64 KB. */
static inline void capture_copy(void *to, const void *from, cudaStream_t stream)
{
    TRY(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
}

static TWIN_HELPER void expect_nodes(size_t found, size_t wanted)
{
    if (found == wanted)
        return;
    fprintf(stderr, "the graph has %zu nodes instead of %zu\n", found, wanted);
    broken = true;
}

/* Ends the capture of a graph that must have so many nodes; NULL if there is none. */
static inline cudaGraphExec_t end_capture(cudaStream_t stream, size_t nodes)
{
    size_t found = 0;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    if (!TRY(cudaStreamEndCapture(stream, &graph)))
        return NULL;
    CHECK(cudaGraphGetNodes(graph, NULL, &found));
    expect_nodes(found, nodes);
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

/* Launches the graph, if there is one, and waits for it. */
static inline void replay(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec)
        return;
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
}

/* Ends a capture of which no more is wanted than that its end returns this. */
static inline bool ends_with(cudaError_t wanted, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (graph)
        CHECK(cudaGraphDestroy(graph));
    return ended == wanted && (graph != NULL) == (wanted == cudaSuccess);
}

static TWIN_HELPER bool device_is(const void *device, size_t size_bytes, unsigned char byte)
{
    unsigned char *image = (unsigned char *)filled_block(size_bytes, 0);
    bool same = true;
    CHECK(cudaMemcpy(image, device, size_bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < size_bytes; i++)
        same = same && image[i] == byte;
    free(image);
    return same;
}

/* Another thread does it, and is done with it on return. */
static TWIN_HELPER void on_other_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, argument) != 0 || pthread_join(thread, NULL) != 0)
        exit(3);
}

/* What driver_new_stream() makes is not blocking. */

static TWIN_HELPER CUstream driver_blocking_stream(void)
{
    CUstream stream = NULL;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    return stream;
}

static TWIN_HELPER CUgraphExec driver_end_capture(CUstream stream, size_t nodes)
{
    size_t found = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    if (!TRY(cuStreamEndCapture(stream, &graph)))
        return NULL;
    CHECK(cuGraphGetNodes(graph, NULL, &found));
    expect_nodes(found, nodes);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));
    return exec;
}

#endif
