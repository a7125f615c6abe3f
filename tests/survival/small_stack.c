// expect-exit: 0
// needs: sim
//
// A thread with the smallest stack there is allocates and frees, with buffers registered: the hooks
// may not need more stack than the functions they stand for. Copies are made on 64 KB where that
// may be.
#include "survival.h"

#include <limits.h>
#include <pthread.h>

static void *heap_only(void *unused)
{
    (void)unused;
    churn(500);
    free(strdup("small"));
    return NULL;
}

static void *copies(void *unused)
{
    (void)unused;
    static char wrong;
    return round_trip(4096) ? NULL : &wrong;
}

static void run(const char *who, size_t stack_bytes, void *(*body)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    void *result = NULL;
    CHECK(pthread_attr_init(&attributes));
    CHECK(pthread_attr_setstacksize(&attributes, stack_bytes));
    CHECK(pthread_create(&thread, &attributes, body, NULL));
    pthread_join(thread, &result);
    CHECK(pthread_attr_destroy(&attributes));
    printf("%s: %s\n", who, !result ? "right" : "wrong");
}

int main(void)
{
    void *block = malloc(1 << 16);
    size_t least_bytes = (size_t)PTHREAD_STACK_MIN; /* 128 KB on aarch64 */
    use_cuda("before");
    CHECK(cudaHostRegister(block, 1 << 16, cudaHostRegisterDefault));
    run("heap", least_bytes, heap_only);
    run("copies", least_bytes > (size_t)64 << 10 ? least_bytes : (size_t)64 << 10, copies);
    CHECK(cudaHostUnregister(block));
    free(block);
    return 0;
}
