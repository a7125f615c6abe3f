// expect-exit: 0
// needs: sim
//
// Coroutines on small stacks, above a page that nobody may touch, go on when the process may map
// nothing more. The real driver may need more.
#include "survival.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { PAGE = 4096, STACK = 8 * 1024, BYTES = 1 << 16, ROUNDS = 3 };

static ucontext_t outside;
static char *registered, *pinned, *pageable;
static void *device;
static cudaStream_t stream;

static void come_up(void)
{
    registered = (char *)aligned_alloc(PAGE, BYTES);
    pageable = (char *)malloc(BYTES);
    memset(registered, 1, BYTES);
    memset(pageable, 2, BYTES);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost((void **)&pinned, BYTES));
    CHECK(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
}

/* The simulated device maps what it needs at the first copies. Nothing is touched beside them. */
static void warm_up(void)
{
    CHECK(cudaMemcpyAsync(device, registered, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(device, pageable, 256, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(device, 0, BYTES, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost));
}

static void copy(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(cudaMemcpyAsync(device, registered, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(pinned, device, BYTES / 2 + 8, cudaMemcpyDeviceToHost, stream));
        pinned[BYTES / 2 + 64] = (char)i; /* beside the copy */
        CHECK(cudaStreamSynchronize(stream));
        registered[0] = (char)(pinned[0] + 1);
    }
}

static void copy_pageable(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(cudaMemcpyAsync(device, pageable, 256, cudaMemcpyHostToDevice, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost));
        pageable[0]++;
    }
    CHECK(cudaMemsetAsync(device, 0, BYTES, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void run(const char *what, void (*body)(void), char *pages)
{
    static ucontext_t inside;
    CHECK(getcontext(&inside));
    inside.uc_stack.ss_sp = pages + PAGE;
    inside.uc_stack.ss_size = STACK;
    inside.uc_link = &outside;
    makecontext(&inside, body, 0);
    printf("%s\n", what);
    CHECK(swapcontext(&outside, &inside));
}

/* What is mapped already, and no more. */
static void allow_no_more(void)
{
    struct rlimit none = {0, 0};
    CHECK(setrlimit(RLIMIT_AS, &none));
    SHOW(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

int main(void)
{
    char *pages = (char *)mmap(NULL, PAGE + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mprotect(pages + PAGE, STACK, PROT_READ | PROT_WRITE));
    come_up();
    warm_up();
    allow_no_more();
    run("copies", copy, pages);
    run("copies of pageable memory", copy_pageable, pages);
    printf("%d %d %d\n", registered[0], pinned[0], pageable[0]);
    return 0;
}
