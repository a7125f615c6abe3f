/* A stack that overflows with a copy in flight, and whose handler has an alternate stack of 8 KB,
 * as Rust's has, and no page below that. */
#ifndef SC_TESTS_SURVIVAL_OVERFLOWING_H
#define SC_TESTS_SURVIVAL_OVERFLOWING_H

#include "survival.h"

#include <limits.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SIZE = 64 << 10, USUAL_BYTES = 8 << 10, PAGE = 4096 };

static size_t alternate_bytes(void)
{
    size_t least = getauxval(AT_MINSIGSTKSZ);
    size_t bytes = least > USUAL_BYTES / 2 ? 2 * least : USUAL_BYTES;
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void handle_on_small_stack(void (*handler)(int number))
{
    size_t bytes = alternate_bytes();
    char *pages = mmap(NULL, PAGE + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = pages + PAGE, .ss_size = bytes};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    CHECK(mprotect(pages + PAGE, bytes, PROT_READ | PROT_WRITE));
    CHECK(sigaltstack(&stack, NULL));
    CHECK(sigaction(SIGSEGV, &action, NULL));
}

static SURVIVAL_HELPER int call_deeper(int depth)
{
    volatile char room[PAGE];
    room[depth % PAGE] = 1;
    return depth < INT_MAX ? call_deeper(depth + 1) + room[(depth + 1) % PAGE] : 0;
}

static SURVIVAL_HELPER int overflow_with_copy(void (*handler)(int number))
{
    struct rlimit no_core = {0, 0};
    void *pinned = NULL, *device = NULL;
    cudaStream_t stream = NULL;
    CHECK(setrlimit(RLIMIT_CORE, &no_core));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, SIZE));
    CHECK(cudaMalloc(&device, SIZE));
    handle_on_small_stack(handler);
    CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
    return call_deeper(0);
}

#endif
