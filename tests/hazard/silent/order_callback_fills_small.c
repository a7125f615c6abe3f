// expect: none
//
// A host function fills the source of a small copy behind it, long after the copy was issued: the
// source's bytes must not be taken at the call.
#include "touch.h"

enum { PARAMETERS = 1024, STEPS = 4 };

struct job {
    void *source;
    int step;
};

static void fill_source(void *argument)
{
    struct job *job = (struct job *)argument;
    sleep_patiently(10000);
    fill(job->source, PARAMETERS, WANTED + job->step);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *targets[STEPS];
    struct job jobs[STEPS];
    void *source = pinned_block(PARAMETERS, FOREIGN);
    for (int i = 0; i < STEPS; i++) {
        targets[i] = device_block(PARAMETERS, 0);
        jobs[i] = (struct job){.source = source, .step = i};
    }

    for (int i = 0; i < STEPS; i++) {
        CHECK(cudaLaunchHostFunc(stream, fill_source, &jobs[i]));
        CHECK(cudaMemcpyAsync(targets[i], source, PARAMETERS, cudaMemcpyHostToDevice, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    bool right = true;
    for (int i = 0; i < STEPS; i++)
        right = right && device_holds(targets[i], PARAMETERS, WANTED + i);
    return finish(right);
}
