/* For the twins of SC305 whose left-out work writes memory that no captured work uses.
 *
 * Such a program sets the memory to 0, launches the graph, and reads the memory: it expects what
 * the work has written. `struct unused` is a graph with one copy of other memory.
 */
#ifndef SC_TESTS_HAZARD_UNUSED_H
#define SC_TESTS_HAZARD_UNUSED_H

#include "left_out.h"

struct unused {
    cudaStream_t stream; /* it captures */
    void *input, *result;
    cudaGraphExec_t exec;
};

/* The capture is open then. */
static TWIN_HELPER struct unused unused_begin(void)
{
    struct unused unused = {.stream = new_stream(),
                            .input = device_block(SMALL, WANTED),
                            .result = device_block(SMALL, 0)};
    CHECK(cudaStreamBeginCapture(unused.stream, cudaStreamCaptureModeRelaxed));
    return unused;
}

/* `nodes`: what was captured since. */
static TWIN_HELPER void unused_end(struct unused *unused, size_t nodes)
{
    capture_copy(unused->result, unused->input, unused->stream);
    unused->exec = end_capture(unused->stream, nodes + 1);
    CHECK(cudaDeviceSynchronize());
}

/* 64 KB that are 0, unless a launch behind this writes there. */
static TWIN_HELPER void unused_clear(void *memory)
{
    CHECK(cudaMemset(memory, 0, SMALL));
    CHECK(cudaDeviceSynchronize());
}

#endif
