// expect: SC204 action=ordered kind=pinned certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// Two threads, each on its own default stream: "0" is a different stream in each of them.
#include "twin.h"

#include <pthread.h>

struct job {
    void *from;
    void *between;
    cudaEvent_t arrived;
};

static void *bring(void *argument)
{
    struct job *job = (struct job *)argument;
    busy(0);
    CHECK(cudaMemcpyAsync(job->between, job->from, SMALL, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaEventRecord(job->arrived, 0));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *to = device_block(SMALL, 0);
    struct job job = {.from = device_block(SMALL, WANTED),
                      .between = pinned_block(SMALL, FOREIGN),
                      .arrived = new_event()};
    if (pthread_create(&thread, NULL, bring, &job) != 0 || pthread_join(thread, NULL) != 0)
        return 3;
    if (fixed)
        CHECK(cudaStreamWaitEvent(0, job.arrived, 0));
    CHECK(cudaMemcpyAsync(to, job.between, SMALL, cudaMemcpyHostToDevice, 0));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
