// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The thread that captured has freed its buffers and ended; another one replays.
#include "graphs.h"

#include <pthread.h>

struct job {
    cudaStream_t stream;
    void *device;
    cudaGraphExec_t exec;
};

static void *record(void *argument)
{
    struct job *job = (struct job *)argument;
    void *source = filled_block(SMALL, WANTED);
    job->exec = captured_exec(job->device, source, SMALL, cudaMemcpyHostToDevice, job->stream);
    if (fixed)
        replay(job->exec, job->stream);
    free(source);
    in_use(filled_block(SMALL, FOREIGN));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct job job = {.stream = new_stream(), .device = device_block(SMALL, 0), .exec = NULL};
    CHECK(pthread_create(&thread, NULL, record, &job));
    CHECK(pthread_join(thread, NULL));

    if (!fixed)
        replay(job.exec, job.stream);
    return finish(device_holds(job.device, SMALL, WANTED));
}
