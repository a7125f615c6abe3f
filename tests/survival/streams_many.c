// expect-exit: 0
//
// Streams come and go, each with a copy of its own bytes that nobody waits for: what the library
// remembers of them stops growing. It keeps the latest 65,536 copies that nothing waited for, so
// that many come first.
#include "survival.h"
#include "tests/process_memory.h"

enum { BYTES = 64, FIRST = 80000, MORE = 40000, PAUSE_EVERY = 100, GROWTH_MAX_KB = 48 << 10 };

static void copy_on_its_own(char *device, const void *pinned)
{
    cudaStream_t stream = NULL;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamDestroy(stream));
}

/* With time for the copies to run. */
static void copy_often(char *device, const void *pinned, int times)
{
    for (int i = 1; i <= times; i++) {
        copy_on_its_own(device + (size_t)i * BYTES, pinned);
        if (i % PAUSE_EVERY == 0)
            usleep(1000);
    }
}

int main(void)
{
    char *device = NULL;
    void *pinned = NULL;
    CHECK(cudaMalloc((void **)&device, (size_t)(FIRST + MORE + 1) * BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    copy_often(device, pinned, FIRST);
    long before_kb = resident_kb();
    copy_often(device + (size_t)FIRST * BYTES, pinned, MORE);
    puts(resident_kb() - before_kb > GROWTH_MAX_KB ? "it grows" : "it grows no more");
    CHECK(cudaDeviceSynchronize());
    return 0;
}
