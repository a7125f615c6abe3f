// expect: none
//
// Threads end while copies are in flight that they have issued: of the heap, and of another
// thread's stack, which lives. What they had sent of their own is done. No end waits.
#include "late_copy.h"

#include "touch.h"

#include <pthread.h>

struct job {
    void *device;
    cudaStream_t stream, own;
    void *heap, *of_main;
};

static void *send(void *argument)
{
    const struct job *job = (const struct job *)argument;
    unsigned char local[1 << 20];
    fill(local, sizeof local, WANTED);
    late_copy(job->device, local, sizeof local, job->own);
    CHECK(cudaStreamSynchronize(job->own));
    late_copy((char *)job->device + LARGE, job->heap, LARGE, job->stream);
    late_copy((char *)job->device + 2 * LARGE, job->of_main, LARGE, job->stream);
    return NULL;
}

int main(void)
{
    struct gate gate = {false, false};
    unsigned char local[1 << 20];
    struct job job = {device_block(3 * LARGE, 0), new_stream(), new_stream(),
                      mapped_pages(NULL, LARGE, WANTED), local};
    pthread_t thread;
    fill(local, sizeof local, WANTED);
    shut_gate(&gate, job.stream);
    CHECK(pthread_create(&thread, NULL, send, &job));
    CHECK(pthread_join(thread, NULL));
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(job.stream));
    bool right = true;
    for (size_t i = 0; i < 3; i++)
        right = right && device_holds((char *)job.device + i * LARGE, LARGE, WANTED);
    return finish(right && !gate.gave_up);
}
