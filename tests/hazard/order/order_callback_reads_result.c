// expect: SC202 kind=pinned
//
// A host function reads the result of a copy that it was issued behind. In the racy build it runs
// on another stream.
#include "touch.h"

struct job {
    void *target;
    bool right;
};

static void read_result(void *argument)
{
    struct job *job = (struct job *)argument;
    job->right = holds(job->target, SMALL, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *device = device_block(SMALL, WANTED);
    struct job job = {.target = pinned_block(SMALL, 0)};

    busy(stream);
    CHECK(cudaMemcpyAsync(job.target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(fixed ? stream : other, read_result, &job));

    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaDeviceSynchronize());
    return finish(job.right);
}
