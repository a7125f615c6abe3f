// expect: SC202 action=stalled kind=pinned certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// A worker fetches on its own default stream and ends; whoever joined it reads.
#include "touch.h"

#include <pthread.h>

struct job {
    void *device;
    void *target;
};

static void *issue(void *argument)
{
    struct job *job = (struct job *)argument;
    busy(0);
    CHECK(cudaMemcpyAsync(job->target, job->device, SMALL, cudaMemcpyDeviceToHost, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct job job = {.device = device_block(SMALL, WANTED), .target = pinned_block(SMALL, 0)};
    if (pthread_create(&thread, NULL, issue, &job) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    bool right = holds(job.target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
