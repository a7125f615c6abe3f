// expect: SC101 action=deferred kind=registered
//
// Established by a cudaStreamAddCallback behind the copy that frees the source itself, as many
// pools do. In the racy build the callback is on another stream; the real driver runs it on the one
// thread that also keeps the first stream busy, so by then the copy may be complete.
#include "twin.h"

#include <stdatomic.h>

struct job {
    void *source;
    atomic_int freed;
};

static void CUDART_CB free_source(cudaStream_t stream, cudaError_t status, void *argument)
{
    (void)stream;
    (void)status;
    struct job *job = (struct job *)argument;
    free(job->source);
    atomic_store(&job->freed, 1);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(SMALL, 0);
    struct job job = {.source = registered_block(SMALL, WANTED), .freed = 0};

    busy(stream);
    CHECK(cudaMemcpyAsync(device, job.source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamAddCallback(fixed ? stream : other, free_source, &job, 0));
    while (atomic_load(&job.freed) == 0)
        usleep(500);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
