// run: strict=1 -> cupti.state=yielded coverage.missed=0
// run: mode=report -> cupti.state=yielded coverage.missed=0
/* Many threads copy while a profiler comes and goes on two others. */
#include <pthread.h>

#include "profiler.h"

enum { COPIERS = 8, ROUNDS = 200 };

static void *copy_on(void *unused)
{
    cudaStream_t own;
    void *source;
    (void)unused;
    CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&source, BYTES));
    for (int i = 0; i < ROUNDS; i++) {
        CUDA(cudaMemcpyAsync(source, device, BYTES, cudaMemcpyDeviceToHost, own));
        CUDA(cudaStreamSynchronize(own));
    }
    CUDA(cudaFreeHost(source));
    return unused;
}

static void *profile(void *unused)
{
    CUpti_SubscriberHandle handle;
    for (int i = 0; i < ROUNDS; i++) {
        CUptiResult result = profiler.subscribe(&handle, profiler_hear, &profiler);
        CHECK(result == CUPTI_SUCCESS || result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        if (result == CUPTI_SUCCESS)
            CHECK(profiler.unsubscribe(handle) == CUPTI_SUCCESS);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[COPIERS + 2];
    set_up();
    profiler_load();
    for (int i = 0; i < COPIERS + 2; i++)
        CHECK(pthread_create(&threads[i], NULL, i < COPIERS ? copy_on : profile, NULL) == 0);
    for (int i = 0; i < COPIERS + 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
