// expect: SC104 action=stalled kind=registered certainty=observed event=end-of-thread
// not-by: threads
//
// The local is registered memory.
#include "late_copy.h"

#include <pthread.h>

struct job {
    void *device;
    cudaStream_t stream;
};

static TWIN_HELPER void send(const struct job *job)
{
    _Alignas(64 << 10) unsigned char local[64 << 10];
    fill(local, sizeof local, WANTED);
    CHECK(cudaHostRegister(local, sizeof local, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(job->device, local, sizeof local, cudaMemcpyHostToDevice, job->stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(job->stream));
        CHECK(cudaHostUnregister(local));
    }
}

/* What a function has uppermost on its stack is overwritten by the thread's end. */
static void *run(void *argument)
{
    volatile unsigned char room[16 << 10];
    room[0] = room[sizeof room - 1] = 0;
    send((const struct job *)argument);
    return room[0] ? argument : NULL;
}

static void *work(void *unused)
{
    volatile unsigned char locals[1 << 20];
    for (size_t i = 0; i < sizeof locals; i++)
        locals[i] = (unsigned char)FOREIGN;
    return unused;
}

static void run_thread(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, start, argument));
    CHECK(pthread_join(thread, NULL));
}

int main(void)
{
    struct job job = {device_block(SMALL, 0), new_stream()};
    busy(job.stream);
    run_thread(run, &job);
    run_thread(work, NULL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(job.device, SMALL, WANTED));
}
