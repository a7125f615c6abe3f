// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The local was on the stack of a thread that has ended; another thread has that stack now.
#include "graphs.h"

#include <pthread.h>

enum { BYTES = 256 };

struct job {
    cudaStream_t stream;
    void *device;
    cudaGraphExec_t exec;
};

static void *record(void *argument)
{
    struct job *job = (struct job *)argument;
    unsigned char local[BYTES];
    fill(local, sizeof local, WANTED);
    job->exec = captured_exec(job->device, local, BYTES, cudaMemcpyHostToDevice, job->stream);
    if (fixed)
        replay(job->exec, job->stream);
    return NULL;
}

static void *work(void *unused)
{
    reuse_stack();
    return unused;
}

static void run_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run, argument));
    CHECK(pthread_join(thread, NULL));
}

int main(void)
{
    struct job job = {.stream = new_stream(), .device = device_block(BYTES, 0), .exec = NULL};
    run_thread(record, &job);
    run_thread(work, NULL);

    if (!fixed)
        replay(job.exec, job.stream);
    return finish(device_holds(job.device, BYTES, WANTED));
}
