/* probe: asks the CUDA driver how it really behaves, one line of output per question.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probes/probe.c \
 *         tests/gpu/probes/probe/[a-z]*.c tests/gpu/asking.c -o probe -ldl -lcuda
 *     ./probe              every question, under a minute
 *     ./probe 5 14         these only
 *
 * The questions, by subject in the folder probe, are answered in one child process, in order. One
 * that crashes, hangs or leaves the context unusable costs its own line only: a fresh child goes on
 * with the next one (asking.h).
 *
 * Words in the answers: "kernel" and "host" are the two kinds of work that keep a stream busy, a
 * spinning kernel and a host function that sleeps; B is a blocking stream, N a non-blocking one, L
 * the legacy stream; times are milliseconds; "a/b" beside a capture is the result of the call and
 * of cuStreamEndCapture.
 */
#include "probe/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUfunction spin_kernel;
CUstream blocking, nonblocking, nonblocking2;
CUdeviceptr dev_a, dev_b;
unsigned char *pinned, *pinned2, *pageable;
CUevent event, event2;
const char *const work_names[WORKS] = {"kernel", "host"};

void occupy(enum work work, CUstream stream, unsigned ms)
{
    if (work == KERNEL)
        launch_spin(spin_kernel, stream, ms);
    else
        TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)ms));
}

const char *readiness(CUresult rc)
{
    static char other[4][24];
    static unsigned turn;

    if (rc == CUDA_SUCCESS)
        return "ready";
    if (rc == CUDA_ERROR_NOT_READY)
        return "not ready";
    char *text = other[turn++ % COUNT(other)];
    snprintf(text, sizeof other[0], "error %d", (int)rc);
    return text;
}

/* "old", "NEW", or how many bytes of either. */
void say_bytes(const unsigned char *bytes, size_t size_bytes, unsigned char old_value)
{
    size_t old_count = 0;

    for (size_t i = 0; i < size_bytes; i++)
        old_count += bytes[i] == old_value;
    if (old_count == size_bytes)
        say(" old");
    else if (old_count == 0)
        say(" NEW");
    else
        say(" MIXED(%zu of %zu old)", old_count, size_bytes);
}

/* First uses load code and build staging buffers; none of that belongs in an answer. */
static void warm_up(void)
{
    occupy(KERNEL, nonblocking, 1);
    occupy(HOST, blocking, 1);
    cuMemcpyHtoD(dev_a, pageable, BUFFER_BYTES);
    cuMemcpyHtoD(dev_a, pinned, BUFFER_BYTES);
    cuMemcpyDtoH(pageable, dev_a, BUFFER_BYTES);
    cuMemcpyHtoDAsync(dev_a, pageable, 64 * KB, nonblocking2);
    cuMemcpyDtoHAsync(pinned, dev_a, BUFFER_BYTES, nonblocking2);
    cuMemsetD8((CUdeviceptr)(uintptr_t)pinned, 0, 4 * KB);
    cuMemsetD8(dev_a, 0, 4 * KB);
    cuEventRecord(event, blocking);
    cuEventRecord(event2, nonblocking);
    settle();
}

CUfunction load_spin(void)
{
    CUmodule spin;

    return load_kernel("spin", &spin);
}

static CUresult set_up(void)
{
    CUresult rc = enter_primary();

    if (rc != CUDA_SUCCESS)
        return rc;
    spin_kernel = load_spin();
    TRY(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    TRY(cuStreamCreate(&nonblocking, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamCreate(&nonblocking2, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAlloc(&dev_a, BUFFER_BYTES));
    TRY(cuMemAlloc(&dev_b, BUFFER_BYTES));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuEventCreate(&event2, CU_EVENT_DISABLE_TIMING));
    rc = TRY(cuMemAllocHost((void **)&pinned, BUFFER_BYTES));
    if (rc != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuMemAllocHost((void **)&pinned2, BUFFER_BYTES));
    pageable = malloc(BUFFER_BYTES);
    if (rc != CUDA_SUCCESS || !pageable)
        return rc;
    memset(pageable, 0, BUFFER_BYTES);
    warm_up();
    return CUDA_SUCCESS;
}

static const struct question questions[] = {
    {"1", q1, "event on an idle blocking stream right after work on the legacy stream", false},
    {"2", q2, "event on the legacy stream while another stream is busy", false},
    {"3", q3, "query and synchronize of the legacy stream while another stream is busy", false},
    {"4", q4, "query and synchronize of an idle stream while the legacy stream is busy", false},
    {"5", q5, "sync cuMemcpyHtoD of 16 B, 4 KB, 64 KB, 1 MB beside a busy stream", false},
    {"6", q6, "sync cuMemsetD8 and cuMemcpyDtoH of 4 KB beside a busy stream", false},
    {"7", q7, "do calls of another thread block while a free waits", false},
    {"8", q8, "ns per call", false},
    {"9", q9, "are the pointers of cuGetProcAddress exported symbols", false},
    {"10", q10, "host pointers in cuMemcpyDtoDAsync and cuMemcpyAsync behind 100 ms", false},
    {"11", q11, "2D, 3D copies and memset of pinned memory behind 100 ms", false},
    {"12", q12, "whom cuMemFreeHost and cuMemHostUnregister wait for (100 ms)", false},
    {"13", q13, "contexts destroyed with 200 ms pending", true},
    {"14", q14, "batch copy H2D pageable behind 100 ms, source overwritten on return", false},
    {"15", q15, "cuStreamDestroy with a copy pending behind 100 ms", false},
    {"16", q16, "cuEventRecord by another thread", false},
    {"18", q18, "error codes of registrations and frees", false},
    {"19", q19, "free and munmap called through the PLT by the driver", false},
    {"20", q20, "call/end of our own calls during a capture in Global mode", false},
    {"21", q21, "identity of streams while one captures", false},
    {"23", q23, "has the D2H before it landed when a host function starts", false},
    {"24", q24, "does an event on a blocking stream cover the legacy copy, and no more", false},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = set_up,
        .question_s = 15,
        .total_s = 58,
        .share_child = true,
    };

    return ask_all(&inquiry, argc, argv);
}
