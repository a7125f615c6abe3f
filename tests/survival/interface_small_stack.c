// expect-exit: 0
// link: cuda
//
// The functions of safecopy.h are called by threads with the smallest stack there is, and in a
// coroutine with less, once with all signals blocked.
#include "include/safecopy.h"
#include "survival.h"

#include <cuda.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

enum { COROUTINE_BYTES = 8 << 10 };

static char json[1 << 18];
static CUcontext context;
static bool has_memory;

static void ask(void)
{
    struct safecopy_counts counts;
    safecopy_get_counts(&counts, sizeof counts);
    safecopy_set_pool("mine", 0, 1 << 20, 1 << 10, NULL);
    safecopy_dump();
    has_memory = safecopy_get_memory(json, sizeof json) == strlen(json);
}

static void *ask_on_thread(void *blocks)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(cuCtxSetCurrent(context));
    if (blocks)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    ask();
    return NULL;
}

static void run(void *blocks)
{
    pthread_t thread;
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN));
    CHECK(pthread_create(&thread, &attributes, ask_on_thread, blocks));
    CHECK(pthread_join(thread, NULL));
    CHECK(pthread_attr_destroy(&attributes));
    SHOW(has_memory);
}

static void run_coroutine(void)
{
    static _Alignas(16) char stack[COROUTINE_BYTES];
    ucontext_t outside, inside;
    CHECK(getcontext(&inside));
    inside.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    inside.uc_link = &outside;
    makecontext(&inside, ask, 0);
    CHECK(swapcontext(&outside, &inside));
    SHOW(has_memory);
}

int main(void)
{
    CUdeviceptr block = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc(&block, 1 << 20));
    run(NULL);
    run(&context);
    run_coroutine();
    CHECK(cuMemFree(block));
    return 0;
}
