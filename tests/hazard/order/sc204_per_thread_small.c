// expect: SC204 action=ordered kind=pinned
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// Two threads, each on its own default stream. The first copy is small enough to be sent from a
// snapshot; the second thread orders its own behind it all the same, and no thread but the first
// could say where it ends.
#include "twin.h"

#include <pthread.h>

enum { FEW = 1024 };

struct job {
    void *to;
    void *between;
    cudaEvent_t sent;
    pthread_barrier_t meeting;
};

static void *send(void *argument)
{
    struct job *job = (struct job *)argument;
    for (int i = 0; i < 8; i++) /* the last follow each other at once */
        CHECK(cudaMemcpyAsync(job->to, job->between, FEW, cudaMemcpyHostToDevice, 0));
    if (fixed)
        CHECK(cudaEventRecord(job->sent, 0));
    pthread_barrier_wait(&job->meeting);
    pthread_barrier_wait(&job->meeting); /* its stream lives as long as it does */
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *from = device_block(FEW, FOREIGN);
    struct job job = {
        .to = device_block(FEW, 0), .between = pinned_block(FEW, WANTED), .sent = new_event()};
    if (pthread_barrier_init(&job.meeting, NULL, 2) != 0 ||
        pthread_create(&thread, NULL, send, &job) != 0)
        return 3;
    pthread_barrier_wait(&job.meeting);
    if (fixed)
        CHECK(cudaStreamWaitEvent(0, job.sent, 0));
    CHECK(cudaMemcpyAsync(job.between, from, FEW, cudaMemcpyDeviceToHost, 0));

    pthread_barrier_wait(&job.meeting);
    if (pthread_join(thread, NULL) != 0)
        return 3;
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(job.to, FEW, WANTED));
}
