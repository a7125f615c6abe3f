// expect-exit: 0
//
// An interpreter of Python is opened and closed again while other threads copy.
#include "survival.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 4096, COPIERS = 2, ROUNDS = 30 };

static atomic_bool ended;

struct copier {
    void *device, *host;
    cudaStream_t stream;
};

static struct copier start(void)
{
    struct copier copier;
    CHECK(cudaMalloc(&copier.device, SIZE));
    CHECK(cudaMallocHost(&copier.host, SIZE));
    CHECK(cudaStreamCreateWithFlags(&copier.stream, cudaStreamNonBlocking));
    return copier;
}

static void copy(const struct copier *copier)
{
    CHECK(cudaMemcpyAsync(copier->device, copier->host, SIZE, cudaMemcpyHostToDevice,
                          copier->stream));
    CHECK(cudaStreamSynchronize(copier->stream));
}

static void *copy_on(void *unused)
{
    struct copier copier = start();
    while (!atomic_load(&ended))
        copy(&copier);
    return unused;
}

/* From a place of its own each time, so that the stack is a new one. */
__attribute__((noinline)) static void copy_deep(const struct copier *copier, int depth)
{
    volatile char frame[64];
    frame[0] = 0;
    if (depth > 0)
        copy_deep(copier, depth - 1);
    else
        copy(copier);
    frame[1] = frame[0];
}

int main(void)
{
    pthread_t threads[COPIERS];
    struct copier own = start();
    copy(&own);
    for (int i = 0; i < COPIERS; i++)
        pthread_create(&threads[i], NULL, copy_on, NULL);
    for (int i = 1; i <= ROUNDS; i++) {
        void *interpreter = dlopen("libinterpreter.so", RTLD_NOW);
        copy_deep(&own, i);
        usleep(1000);
        if (!interpreter || dlclose(interpreter))
            puts(dlerror());
    }
    atomic_store(&ended, true);
    for (int i = 0; i < COPIERS; i++)
        pthread_join(threads[i], NULL);
    SHOW(dlopen("libinterpreter.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
    return 0;
}
