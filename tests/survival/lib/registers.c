/* Pinned memory of another kind: each allocation is memory that is mapped here and registered.
 * REGISTERS says which: shared (without a file), memfd (shared memory of a file in memory), or
 * private. Memory that is mapped for kernels, or write-combined, stays the driver's. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 1 << 16, PAGE = 4096 };

static struct {
    void *start;
    size_t size_bytes;
} blocks[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_kind(const char *kind)
{
    const char *wanted = getenv("REGISTERS");
    return wanted && strcmp(wanted, kind) == 0;
}

static void *map(size_t size_bytes)
{
    int file = is_kind("memfd") ? memfd_create("registers", MFD_CLOEXEC) : -1;
    int flags = (is_kind("private") ? MAP_PRIVATE : MAP_SHARED) | (file < 0 ? MAP_ANONYMOUS : 0);
    if (file >= 0 && ftruncate(file, (off_t)size_bytes) != 0)
        abort();
    void *start = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (file >= 0)
        close(file);
    return start == MAP_FAILED ? NULL : start;
}

/* Notes the block, in the place of `former`. Returns the size that was noted there. */
static size_t note(void *start, size_t size_bytes, void *former)
{
    size_t before = 0;
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < BLOCKS && blocks[i].start != former)
        i++;
    if (i < BLOCKS) {
        before = blocks[i].size_bytes;
        blocks[i].start = start;
        blocks[i].size_bytes = size_bytes;
    }
    pthread_mutex_unlock(&lock);
    return before;
}

cudaError_t cudaMallocHost(void **start, size_t size_bytes)
{
    size_t whole = (size_bytes + !size_bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    void *block = start ? map(whole) : NULL;
    if (!block)
        return cudaErrorMemoryAllocation;
    cudaError_t result = cudaHostRegister(block, whole, cudaHostRegisterPortable);
    if (result != cudaSuccess) {
        munmap(block, whole);
        return result;
    }
    note(block, whole, NULL);
    *start = block;
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **start, size_t size_bytes, unsigned flags)
{
    typedef cudaError_t function(void **, size_t, unsigned);
    if (flags & (cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return ((function *)dlsym(RTLD_NEXT, "cudaHostAlloc"))(start, size_bytes, flags);
    return cudaMallocHost(start, size_bytes);
}

cudaError_t cudaFreeHost(void *start)
{
    typedef cudaError_t function(void *);
    size_t size_bytes = start ? note(NULL, 0, start) : 0;
    if (!size_bytes)
        return ((function *)dlsym(RTLD_NEXT, "cudaFreeHost"))(start);
    cudaError_t result = cudaHostUnregister(start);
    munmap(start, size_bytes);
    return result;
}
