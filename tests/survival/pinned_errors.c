// expect-exit: 0
// link: cuda
//
// Pinned memory misused: every call fails as it does for the driver's own, and what was done to it
// in vain does no harm.
#include "survival.h"

#include <cuda.h>
#include <sys/mman.h>

static void misuse(size_t bytes, unsigned flags)
{
    void *host = NULL;
    CUdeviceptr device = 0;
    printf("%zu bytes, flags %u\n", bytes, flags);
    CHECK(cuMemHostAlloc(&host, bytes, flags));
    CHECK(cuMemAlloc(&device, bytes + 4096));
    char *inside = (char *)host + bytes / 2;
    SHOW(cuMemHostUnregister(host));
    SHOW(cuMemHostUnregister(inside));
    SHOW(cuMemHostRegister(host, bytes, 0));
    SHOW(cuMemHostRegister(inside, 1, 0));
    SHOW(cuMemHostRegister(inside, bytes, 0));
    SHOW(cuMemFreeHost(inside));
    SHOW(cuMemFree((CUdeviceptr)(uintptr_t)host));
    SHOW(cuMemcpyHtoD(device, host, bytes));
    SHOW(cuMemcpyHtoDAsync(device, inside, bytes, 0));
    SHOW(cuMemFreeHost(host));
    SHOW(cuMemFreeHost(host));
    SHOW(cuMemFree(device));
}

static void ask_for(size_t bytes, unsigned flags)
{
    void *host = (void *)1;
    CUresult result = cuMemHostAlloc(&host, bytes, flags);
    printf("%#zx bytes, flags %#x -> %d\n", bytes, flags, (int)result);
}

/* Pages that the program registers itself, next to pinned ones and at addresses that were theirs.
 */
static void register_beside(void)
{
    void *host = NULL;
    CHECK(cuMemHostAlloc(&host, 4 << 20, 0));
    CHECK(cuMemFreeHost(host));
    for (unsigned i = 0; i < 20; i++) {
        void *own = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(cuMemHostRegister(own, 4 << 20, 0));
        CHECK(cuMemHostAlloc(&host, 1 << 20, 0));
        CHECK(cuMemHostUnregister(own));
        CHECK(cuMemFreeHost(host));
        munmap(own, 4 << 20);
    }
    printf("registered beside\n");
}

int main(void)
{
    CHECK(cudaFree(NULL));
    for (unsigned flags = 0; flags < 4; flags++) {
        misuse(8, flags);
        misuse(70000, flags);
        misuse(1 << 20, flags);
        misuse(5000000, flags);
    }
    ask_for((size_t)1 << 60, 0);
    ask_for((size_t)-1, 0);
    ask_for((size_t)-4096, 1);
    ask_for((size_t)1 << 46, 0);
    ask_for((size_t)1 << 43, 0);
    ask_for(1 << 20, 8);
    ask_for(8, 0x10);
    SHOW(cuMemHostAlloc(NULL, 1 << 20, 0));
    SHOW(cuMemAllocHost(NULL, 8));
    SHOW(cuMemFreeHost(NULL));
    register_beside();
    return 0;
}
