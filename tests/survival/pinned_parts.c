// expect-exit: 0
// run: guard=uffd -> guard.userfaultfd>500 hazards=0
// run: guard=uffd:mode=report -> guard.userfaultfd>500 hazards=0
// run: guard=mprotect -> guard.mprotect>500 hazards=0
// needs: userfaultfd
//
// Threads cut buffers out of pinned blocks of more than 1 MB, each of its own and all of one that
// they share: fill, upload, download, read, and hand parts to the kernel while others are in
// flight. Every byte arrives.
#include "survival.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200, PART = 20000, BLOCK = 5 << 20, SHARED = 6 << 20, SLOTS = 12 };

static unsigned char *shared;

static void fill(unsigned char *part, unsigned value)
{
    for (unsigned i = 0; i < PART; i++)
        part[i] = (unsigned char)(value * 31 + i);
}

static void pass_through_pipe(const int *ends, unsigned char *part)
{
    if (write(ends[1], part, 4096) != 4096 || read(ends[0], part, 4096) != 4096)
        abort();
}

/* What the kernel works on lies beside what is in flight, on other pages. */
static void one_round(unsigned char *up, unsigned char *down, unsigned char *beside,
                      const int *ends, void *device, cudaStream_t stream, unsigned round)
{
    fill(up, round);
    CHECK(cudaMemcpyAsync(device, up, PART, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(down, device, PART, cudaMemcpyDeviceToHost, stream));
    memset(beside, (int)round | 1, 4096);
    pass_through_pipe(ends, beside);
    CHECK(cudaStreamSynchronize(stream));
    if (memcmp(up, down, PART) != 0 || beside[7] != (unsigned char)(round | 1))
        abort();
}

static void *work(void *argument)
{
    unsigned own = (unsigned)(uintptr_t)argument;
    unsigned char *block = NULL;
    void *device = NULL;
    cudaStream_t stream = NULL;
    int ends[2];
    CHECK(cudaMallocHost((void **)&block, BLOCK));
    CHECK(cudaMalloc(&device, PART));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (pipe(ends) != 0)
        abort();
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char *of = round % 2 ? block : shared + (size_t)own * (SHARED / THREADS);
        size_t most = round % 2 ? BLOCK : SHARED / THREADS;
        size_t at = (size_t)(round * 7919) % SLOTS * (most / SLOTS) & ~(size_t)4095;
        unsigned char *up = of + at, *down = of + (at + 2 * 40960) % (most - 81920);
        if (down < up + 40960 && up < down + 40960)
            down = up + 40960 + 20480 <= of + most ? up + 40960 : up - 40960;
        one_round(up, down, of + most - 4096, ends, device, stream, round);
    }
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(block));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECK(cudaMallocHost((void **)&shared, SHARED));
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return 3;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(cudaFreeHost(shared));
    puts("every byte arrived");
    return 0;
}
