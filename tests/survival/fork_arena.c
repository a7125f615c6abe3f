// expect-exit: 0
//
// fork waits for the allocator's locks, and a thread that has one uses blocks beside a buffer in
// flight: its arena goes on, and so does fork.
#include "process.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

enum { BLOCKS = 256, TARGET = BLOCKS / 2, BLOCK = 3000, NEAR = 16, FORKS = 400, PAGE = 4096 };

static void *blocks[BLOCKS];
static atomic_bool ready, stop;

/* In an arena of its own. What it uses lies on pages of the target, or next to those. */
static void *use_neighbours(void *unused)
{
    (void)unused;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = calloc(1, BLOCK);
    atomic_store(&ready, true);
    for (unsigned i = 0; !atomic_load(&stop); i++) {
        void **block = &blocks[TARGET - NEAR / 2 + i % NEAR];
        if (block == &blocks[TARGET])
            continue;
        free(*block);
        *block = malloc(BLOCK);
    }
    return NULL;
}

static void *page_of(const void *address)
{
    return (void *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1));
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = NULL;
    void *device = NULL;
    int bad = 0;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, BLOCK));
    CHECK(cudaMemset(device, 1, BLOCK));
    CHECK(cudaDeviceSynchronize());
    CHECK(pthread_create(&thread, NULL, use_neighbours, NULL));
    while (!atomic_load(&ready))
        usleep(100);
    unsigned char *target = (unsigned char *)blocks[TARGET];
    void *pages = page_of(target);
    CHECK(cudaHostRegister(pages, (size_t)2 * PAGE, cudaHostRegisterDefault));
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        CHECK(cudaMemcpyAsync(target, device, BLOCK, cudaMemcpyDeviceToHost, stream));
        pid_t child = fork();
        if (child == 0)
            _exit(target[0] | target[BLOCK - 1]);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status);
        CHECK(cudaStreamSynchronize(stream));
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    CHECK(cudaHostUnregister(pages));
    printf("children that failed: %d, the copy is %s\n", bad, target[0] == 1 ? "right" : "wrong");
    return 0;
}
