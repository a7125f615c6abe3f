// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// Two threads capture their per-thread default streams one after the other, and each copies on the
// legacy stream meanwhile. Fixed, each copies first.
#include "capture.h"

struct job {
    void *from, *to, *result;
    bool right;
};

static void *capture(void *argument)
{
    struct job *job = (struct job *)argument;
    if (fixed)
        CHECK(cudaMemcpy(job->result, job->to, SMALL, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    capture_copy(job->to, job->from, cudaStreamPerThread);
    if (!fixed)
        TRY(cudaMemcpy(job->result, job->to, SMALL, cudaMemcpyDeviceToHost));
    replay(end_capture(cudaStreamPerThread, 1), cudaStreamPerThread);
    job->right = holds(job->result, SMALL, FOREIGN) && device_holds(job->to, SMALL, WANTED);
    return NULL;
}

int main(void)
{
    bool right = true;
    for (int i = 0; i < 2; i++) {
        struct job job = {.from = device_block(SMALL, WANTED),
                          .to = device_block(SMALL, FOREIGN),
                          .result = filled_block(SMALL, 0)};
        on_other_thread(capture, &job);
        right = right && job.right;
    }
    return finish(!broken && right);
}
