/* Memory beside a buffer in flight: correct programs use it as they like.
 *
 * `edge` bytes at the start of a registered block share their page with a buffer that a copy is
 * kept from writing between hold() and release(). Only what is done with the edge in between is the
 * test: a touch by the program itself would have the page let go, so arguments are laid out before.
 */
#ifndef SC_TESTS_SURVIVAL_IN_FLIGHT_H
#define SC_TESTS_SURVIVAL_IN_FLIGHT_H

#include "survival.h"

#ifdef __cplusplus
#include <atomic>
using std::atomic_bool;
using std::atomic_load;
using std::atomic_store;
#else
#include <stdatomic.h>
#endif

enum { EDGE = 2048, IN_FLIGHT = 64 << 10 };

static struct {
    unsigned char *block; /* EDGE bytes of the program's, then the buffer */
    void *device;
    cudaStream_t stream;
    atomic_bool held;
} beside;

/* Memory of the program's that is registered, or with SURVIVAL_PINNED pinned memory, which is kept
 * off in another way. */
static SURVIVAL_HELPER void *in_flight_block(size_t size_bytes)
{
    void *block = NULL;
    if (getenv("SURVIVAL_PINNED")) {
        CHECK(cudaMallocHost(&block, size_bytes));
        return block;
    }
    block = aligned_alloc(4096, size_bytes);
    if (!block)
        _exit(3);
    CHECK(cudaHostRegister(block, size_bytes, cudaHostRegisterDefault));
    return block;
}

static SURVIVAL_HELPER void *edge_start(void)
{
    beside.block = (unsigned char *)in_flight_block(EDGE + IN_FLIGHT + EDGE);
    memset(beside.block, 0, EDGE + IN_FLIGHT + EDGE);
    CHECK(cudaMalloc(&beside.device, IN_FLIGHT));
    CHECK(cudaMemset(beside.device, 0x5a, IN_FLIGHT));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&beside.stream, cudaStreamNonBlocking));
    return beside.block;
}

static SURVIVAL_HELPER void stay_held(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000 && atomic_load(&beside.held); i++)
        usleep(1000);
}

/* Until let_go(), at most two seconds. */
static SURVIVAL_HELPER void hold_stream(cudaStream_t stream)
{
    atomic_store(&beside.held, true);
    CHECK(cudaLaunchHostFunc(stream, stay_held, NULL));
}

static SURVIVAL_HELPER void let_go(void)
{
    atomic_store(&beside.held, false);
}

static SURVIVAL_HELPER void hold(void)
{
    hold_stream(beside.stream);
    CHECK(cudaMemcpyAsync(beside.block + EDGE, beside.device, IN_FLIGHT, cudaMemcpyDeviceToHost,
                          beside.stream));
}

static SURVIVAL_HELPER void release(void)
{
    let_go();
    CHECK(cudaStreamSynchronize(beside.stream));
    if (beside.block[EDGE] != 0x5a || beside.block[EDGE + IN_FLIGHT - 1] != 0x5a)
        puts("the copy is wrong");
}

/* A call beside a buffer in flight, its result, and its errno if that is -1. */
#define SHOW_BESIDE(call)                                                                          \
    do {                                                                                           \
        hold();                                                                                    \
        errno = 0;                                                                                 \
        long shown_result = (long)(call);                                                          \
        int shown_errno = errno;                                                                   \
        release();                                                                                 \
        printf("%s -> %ld %s\n", #call, shown_result,                                              \
               shown_result == -1 ? strerrorname_np(shown_errno) : "");                            \
    } while (0)

#endif
