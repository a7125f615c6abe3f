/* What the survival programs share.
 *
 * A survival program makes no mistake with its copies. It does something that interposers are known
 * to break, and prints what it saw; tests/run.py runs it with and without the library and compares
 * stdout, stderr and the way it ended byte for byte. So nothing that differs between two runs may
 * be printed: no address, no process id, no time.
 */
#ifndef SC_TESTS_SURVIVAL_H
#define SC_TESTS_SURVIVAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Out of line, so that the compiler cannot elide the allocations that are the test. */
#define SURVIVAL_HELPER __attribute__((unused, noinline))

/* Prints the call as it is written, and its result. */
#define SHOW(call) printf("%s -> %ld\n", #call, (long)(call))

/* For calls that only have to work. */
#define CHECK(call) survival_check((int)(call), #call, __LINE__)

static SURVIVAL_HELPER void survival_check(int result, const char *call, int line)
{
    if (result == 0)
        return;
    fprintf(stderr, "line %d: %s returned %d\n", line, call, result);
    _exit(3);
}

/* A round trip through the device on a stream of its own: pinned memory up, registered heap memory
 * down, everything synchronised and given back. False if a byte is wrong. */
static SURVIVAL_HELPER bool round_trip(size_t size_bytes)
{
    void *pinned = NULL;
    void *device = NULL;
    cudaStream_t stream = NULL;
    unsigned char *heap = (unsigned char *)malloc(size_bytes);
    if (!heap)
        return false;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, size_bytes));
    CHECK(cudaMalloc(&device, size_bytes));
    CHECK(cudaHostRegister(heap, size_bytes, cudaHostRegisterDefault));
    memset(pinned, 0x5a, size_bytes);
    memset(heap, 0, size_bytes);
    CHECK(cudaMemcpyAsync(device, pinned, size_bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(heap, device, size_bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool right = memcmp(pinned, heap, size_bytes) == 0;
    CHECK(cudaHostUnregister(heap));
    free(heap);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
    return right;
}

static SURVIVAL_HELPER void use_cuda(const char *who)
{
    printf("%s: cuda %s\n", who, round_trip((size_t)64 << 10) ? "right" : "wrong");
}

/* Allocates and frees in many sizes: the hooks' fast path. */
static SURVIVAL_HELPER void churn(unsigned rounds)
{
    void *kept[64] = {NULL};
    for (unsigned i = 0; i < rounds; i++) {
        void **slot = &kept[i * 2654435761u % 64];
        free(*slot);
        *slot = malloc((size_t)16 << (i % 14));
        if (!*slot)
            abort();
        memset(*slot, (int)i, 16);
    }
    for (size_t i = 0; i < 64; i++)
        free(kept[i]);
}

#endif
