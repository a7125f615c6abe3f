// expect: none
//
// Main's local, which a worker's launches read while main waits for the worker.
#include "graphs.h"

#include <pthread.h>

enum { BYTES = 512, TURNS = 5 };

struct job {
    cudaStream_t stream;
    void *device;
    unsigned char parameters[BYTES];
    bool right;
};

static void *work(void *argument)
{
    struct job *job = (struct job *)argument;
    cudaGraphExec_t exec =
        captured_exec(job->device, job->parameters, BYTES, cudaMemcpyHostToDevice, job->stream);
    job->right = true;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(job->parameters, BYTES, turn);
        replay(exec, job->stream);
        job->right = job->right && device_holds(job->device, BYTES, turn);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct job job = {.stream = new_stream(), .device = device_block(BYTES, 0)};
    CHECK(pthread_create(&thread, NULL, work, &job));
    CHECK(pthread_join(thread, NULL));
    return finish(job.right);
}
