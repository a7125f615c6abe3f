/* probe_capture: asks the CUDA driver how captures and graphs really behave.
 *
 *     gcc -std=gnu11 -O2 -pthread -rdynamic -I/usr/local/cuda/include
 * tests/gpu/probes/probe_capture.c \ tests/gpu/probes/probe_capture/[a-z]*.c tests/gpu/asking.c -o
 * probe_capture -ldl -lcuda
 *     ./probe_capture          every question, under 40 s
 *     ./probe_capture 4 7      these only
 *
 * The questions are in the folder probe_capture, by subject. Each is answered in a child process;
 * one that crashes or hangs costs the line it was at, and a fresh child goes on with the next part
 * of the question (asking.h).
 *
 * Words in the answers: B is a blocking stream, N a non-blocking one, L the legacy stream; "a/b" is
 * the result of a call during a capture and of cuStreamEndCapture, with "+n" for n nodes that it
 * added to the graph.
 */
// cflags: -rdynamic
#include "probe_capture/world.h"

static CUresult set_up(void)
{
    CUmodule module = NULL;
    CUresult rc = enter_primary();

    if (rc != CUDA_SUCCESS)
        return rc;
    spin_kernel = load_kernel("spin", &module);
    if (!spin_kernel)
        return CUDA_ERROR_NOT_FOUND;
    TRY(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&blocking2, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamCreate(&nonblocking2, CU_STREAM_NON_BLOCKING));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuEventCreate(&event2, CU_EVENT_DISABLE_TIMING));
    TRY(cuMemAlloc(&dev_a, BUFFER_BYTES));
    rc = TRY(cuMemAlloc(&dev_b, BUFFER_BYTES));
    occupy(nonblocking, 1);
    TRY(cuMemsetD8(dev_a, 0, BUFFER_BYTES));
    settle();
    return rc;
}

static const struct question questions[] = {
    {.name = "1", .ask = q1},   {.name = "2", .ask = q2},   {.name = "3", .ask = q3},
    {.name = "4", .ask = q4},   {.name = "5", .ask = q5},   {.name = "6", .ask = q6},
    {.name = "7", .ask = q7},   {.name = "8", .ask = q8},   {.name = "9", .ask = q9},
    {.name = "10", .ask = q10}, {.name = "11", .ask = q11},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_capture",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 12,
        .total_s = 38,
    };

    return ask_all(&inquiry, argc, argv);
}
