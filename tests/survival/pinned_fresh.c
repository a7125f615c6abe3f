// expect-exit: 0
// run: guard=uffd -> hazards=0
// run: guard=uffd:mode=report -> hazards=0
// needs: userfaultfd
//
// Threads begin to use parts of a fresh pinned block at the same moment. Meanwhile others pass
// neighbouring pages through a pipe, and advise the kernel to take them out of the page tables. The
// program has put memory of its own over a part of the block, which keeps what is in it.
#include "survival.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bare_call.h"

enum { THREADS = 3, ROUNDS = 60, BLOCK = 4 << 20, PART = 40000, APART = 96 << 10, PAGE = 4096 };
enum { PASSED_AT = 1 << 20, PASSED = 60 * PAGE, OWN_AT = 3 << 20, OWN = 16 * PAGE };

static unsigned char *volatile block;
static pthread_barrier_t barrier;

static void *copy_parts(void *argument)
{
    size_t own = (size_t)(uintptr_t)argument;
    void *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(cudaMalloc(&device, PART));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < 4; i++) {
            unsigned char *part = block + own * APART + (i % 2 ? BLOCK / 2 : 0);
            CHECK(cudaMemcpyAsync(device, part, PART, cudaMemcpyHostToDevice, stream));
            CHECK(cudaStreamSynchronize(stream));
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *pass_pages(void *advises)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        unsigned char *pages = block + PASSED_AT + (advises ? PASSED : 0);
        for (size_t at = 0; at < PASSED; at += PAGE) {
            if (advises && madvise(pages + at, PAGE, MADV_DONTNEED) != 0)
                abort();
            if (write(ends[1], pages + at, PAGE) != PAGE || read(ends[0], pages + at, PAGE) != PAGE)
                abort();
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* No hook sees that the block's are gone. */
static void put_own_memory(unsigned char *at)
{
    if (bare_call(SYS_munmap, (long)at, OWN, 0) != 0 ||
        mmap(at, OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != at)
        abort();
    memset(at, 9, OWN);
}

int main(void)
{
    pthread_t threads[THREADS + 2];
    pthread_barrier_init(&barrier, NULL, THREADS + 3);
    for (int i = 0; i < THREADS + 2; i++)
        if (pthread_create(&threads[i], NULL, i < THREADS ? copy_parts : pass_pages,
                           i < THREADS ? (void *)(uintptr_t)i : (i > THREADS ? &barrier : NULL)))
            return 3;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *fresh = NULL;
        CHECK(cudaMallocHost((void **)&fresh, BLOCK));
        memset(fresh, 1, BLOCK);
        put_own_memory(fresh + OWN_AT);
        block = fresh;
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < OWN; i++)
            if (fresh[OWN_AT + i] != 9)
                abort();
        CHECK(cudaFreeHost(fresh));
    }
    for (int i = 0; i < THREADS + 2; i++)
        pthread_join(threads[i], NULL);
    puts("all is there");
    return 0;
}
