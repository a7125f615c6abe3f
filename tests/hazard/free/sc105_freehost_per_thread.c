// expect: SC105 action=deferred kind=pinned certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// The per-thread default stream of a thread that has ended: its copy outlives it.
#include "twin.h"

#include <pthread.h>

struct job {
    void *device;
    void *source;
};

static void *issue(void *argument)
{
    struct job *job = (struct job *)argument;
    busy(0);
    CHECK(cudaMemcpyAsync(job->device, job->source, SMALL, cudaMemcpyHostToDevice, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct job job = {.device = device_block(SMALL, 0), .source = pinned_block(SMALL, WANTED)};
    if (pthread_create(&thread, NULL, issue, &job) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    CHECK(cudaFreeHost(job.source));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(job.device, SMALL, WANTED));
}
