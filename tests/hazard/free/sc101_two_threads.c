// expect: SC101 action=deferred kind=registered certainty=observed
//
// One thread issues the copy and ends; another, which joined it, frees. Joining a thread waits for
// its calls and not for its copies.
#include "twin.h"

#include <pthread.h>

struct job {
    cudaStream_t stream;
    void *device;
    void *source;
};

static void *issue(void *argument)
{
    struct job *job = (struct job *)argument;
    busy(job->stream);
    CHECK(cudaMemcpyAsync(job->device, job->source, SMALL, cudaMemcpyHostToDevice, job->stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(job->stream));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct job job = {
        .stream = new_stream(),
        .device = device_block(SMALL, 0),
        .source = registered_block(SMALL, WANTED),
    };
    if (pthread_create(&thread, NULL, issue, &job) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    if (fixed)
        CHECK(cudaHostUnregister(job.source));
    free(job.source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(job.device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
